/* store/fleet/script.h: the ledger of a fleet as a script that Redis runs.
 *
 *     redis_script_begin(r, &script, 1, FLEET_ARGS);
 *     redis_arg(r, "{bide:shop:pay}:ledger");
 *     fleet_put_report(r, id, &rule, &row, false);
 *     if (redis_next(r, until_ns, &reply) == 0 &&
 *         fleet_read_reply(&reply, &said))
 *         bide_share_apply(&share, &said, now_ns);
 *
 * The rules are those of lib/fleet/ledger.h; a test compares the two. One key, a
 * hash: `i:ID` is the row of an instance, the rest are times in milliseconds on
 * Redis' clock and ids. The key begins with its hash tag, so that it stays on one
 * node of a cluster. Whatever else is found in it is dropped. */
#ifndef BIDE_STORE_FLEET_SCRIPT_H
#define BIDE_STORE_FLEET_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/share.h"
#include "store/redis/redis.h"

enum { FLEET_ARGS = 20 };

extern const char fleet_script[];

/* Writes the arguments; `leaves`: the instance is not counted from now on. */
void fleet_put_report(struct redis *r, const char *id,
                      const bide_share_rule *rule, const bide_share_row *row,
                      bool leaves);

/* False: it is not what the script returns. */
bool fleet_read_reply(const struct redis_reply *reply, bide_share_reply *ret);

#endif
