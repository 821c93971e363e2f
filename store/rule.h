/* store/rule.h: what becomes of a record. The one place where claims, leases,
 * tokens, expiry and room are decided; kinds of store find the record, ask, and
 * write what is said.
 *
 *     struct bide__store_record record;
 *     bool there = find(op, &record);
 *     struct bide__store_space space = { limit, total, used };
 *     switch (bide__store_rule(op, there ? &record : NULL, &record, space, now_ns)) {
 *     case BIDE__STORE_LEAVE:                    // op->result says it all
 *         break;
 *     case BIDE__STORE_INSERT:                   // in place of what was found
 *         put(op, &record);
 *         break;
 *     case BIDE__STORE_UPDATE:
 *         change(op, &record);
 *         break;
 *     case BIDE__STORE_REMOVE:
 *         drop(op);
 *         break;
 *     }
 *
 * Pure: time and what is known are arguments. An expired record is absent. */
#ifndef BIDE_STORE_RULE_H
#define BIDE_STORE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/store.h"

enum bide__store_state {
    BIDE__STORE_CLAIMED,
    BIDE__STORE_KEPT,      /* done, with its answer */
    BIDE__STORE_BIG,       /* done, without */
};

/* Times are the store's, in ns since 1970. */
struct bide__store_record {
    enum bide__store_state state;
    uint64_t token;
    int64_t created_ns, lease_until_ns, expires_ns;
    uint8_t fingerprint[32], binding[32];
    int32_t status;
    const void *data;      /* of KEPT; not the record's to free */
    size_t len;
    uint64_t bytes;        /* of room that it takes */
};

/* The room for all, what all records take, and what those of the caller take
 * whose record it is (for a claim: whose it would be). */
struct bide__store_space {
    uint64_t limit, total, used;
};

enum bide__store_change {
    BIDE__STORE_LEAVE,
    BIDE__STORE_INSERT,    /* a new record, its room that of the claim; what was
                              found has expired and is replaced */
    BIDE__STORE_UPDATE,    /* the same record, room and creation */
    BIDE__STORE_REMOVE,
};

/* Decides. Sets op->result, and token, status, left_ns, age_ns as they apply; for
 * DONE, data and len, which still are the record's own. `found` is the record as
 * it is, or NULL; *ret (which may be the same) is what is to be written. */
enum bide__store_change bide__store_rule(bide_store_op *op,
                                         const struct bide__store_record *found,
                                         struct bide__store_record *ret,
                                         struct bide__store_space space,
                                         int64_t now_ns);

/* Returns the room that the record of a claim takes before it has an answer: its
 * texts, and a flat charge. */
uint64_t bide__store_bytes(const bide_store_op *claim);

/* Whether `purge` may remove it: nobody is working on it. */
bool bide__store_at_rest(const struct bide__store_record *record,
                         int64_t now_ns);

/* Returns now + ns, or the end of time. */
int64_t bide__store_after(int64_t now_ns, int64_t ns);

#endif
