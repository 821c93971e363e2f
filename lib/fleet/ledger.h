/* The rules of a fleet's ledger: who is there, what was spent, who may probe.
 *
 *     struct bide__ledger ledger = { 0 };
 *     bide__ledger_sync(&ledger, &rule, id, &row, now_ns, &reply);
 *
 * In production the ledger is in Redis, and these rules are a script there
 * (store/fleet/script.c), because each step must be one. This is the same in C,
 * for tests and for the simulator; a test runs both side by side.
 *
 *   rows       of instances, by id; forgotten after a window of silence: whatever
 *              they have spent has then left the window. One under 3 s counts as
 *              that long here: else it would end between two reports
 *   instances  those that reported within 3 s
 *   since      when all was first known. A ledger that is new, or was not
 *              written to for 2 s, may not know all that was spent: it leases
 *              nothing for a window
 *   lease      at most a half of what is left, divided by the instances, and at
 *              least 1: so leases shrink to 1 as it runs out. An instance
 *              without traffic holds 1 for its next call, unless there is less
 *              than one for each and another wants it
 *   probes     go to one instance at a time, which loses them after a second
 *              unless they run. None goes while a failed one holds them up; and
 *              none to the instance whose last probe failed, if another waits.
 *              If they are wanted for 2 s and nobody makes one, calls are rare,
 *              and come elsewhere: then each that wants one has one, until one
 *              is seen to run or to fail */
#ifndef BIDE_LIB_FLEET_LEDGER_H
#define BIDE_LIB_FLEET_LEDGER_H

#include <stdint.h>

#include "bide/share.h"

enum { BIDE__LEDGER_ROWS = 128 };

/* Times are in milliseconds, as in Redis. */
enum {
    BIDE__LEDGER_ALIVE_MS = 3000,
    BIDE__LEDGER_SILENT_MS = 2000,
    BIDE__LEDGER_PROBE_MS = 1000,
    BIDE__LEDGER_UNUSED_MS = 2000,
    BIDE__LEDGER_HOLD_MS = 3600000 /* no failed probe holds up for longer */
};

struct bide__ledger_row {
    uint64_t id; /* 0: free */
    int64_t seen_ms;
    bide_share_row told;
};

/* All zero is an empty one. Threads: owned. */
struct bide__ledger {
    int64_t since_ms, last_ms; /* 0: new */
    uint64_t prober, failed;   /* ids, or 0 */
    int64_t prober_until_ms;
    int64_t hold_until_ms;
    int64_t asked_ms, asking_ms; /* probes were wanted, and none was made, from
                                    then to then; 0: none is wanted */
    int64_t recovered_ms;      /* 0: never */
    struct bide__ledger_row row[BIDE__LEDGER_ROWS];
};

/* Takes a report, and replies. `id` is not 0. */
void bide__ledger_sync(struct bide__ledger *l, const bide_share_rule *rule,
                       uint64_t id, const bide_share_row *row, int64_t now_ns,
                       bide_share_reply *ret);

#endif
