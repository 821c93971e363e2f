/* store/batch.h: a batch of operations on records that a server holds.
 *
 *     static const struct bide__batch_io io = { read_slots, write_slots };
 *     struct bide__batch batch = { 0 };                  // kept between batches
 *     batch.limit_bytes = setup->limit_bytes;
 *     rc = bide__batch_run(&batch, ops, n, &io, self);   // one durable commit
 *     bide__batch_done(&batch);
 *
 * The rules are those of rule.h, and they are applied here, not in the server:
 *
 *   read     every record of the batch, by one request
 *   decide   in the order of the operations; one sees what those before it in
 *            the batch have done
 *   write    what has changed, by one request that is one transaction, each
 *            record only if it is still the one that was read (its version)
 *
 * and again for the records that somebody else has changed in between. So no
 * lock is held and no transaction is open while the client thinks, or after it
 * was killed. */
#ifndef BIDE_STORE_BATCH_H
#define BIDE_STORE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/store.h"
#include "store/rule.h"

/* One record of the batch, whatever number of operations ask for it. */
struct bide__slot {
    uint8_t id[32];           /* SHA-256 of scope, owner and key */
    const bide_store_op *op;  /* the first of them: has the texts */
    /* Filled in by `read`; pointers are valid until after `write`. */
    bool there;
    uint64_t version;         /* not 0 */
    struct bide__store_record was;
    const char *was_room;     /* whose room it takes */
    uint64_t was_used;        /* by the records of that room ... */
    uint64_t asked_used;      /* ... and by those of op->room */
    int32_t lane;             /* the kind's own */
    /* What is to be written. */
    bool is;                  /* false: remove it */
    struct bide__store_record now;
    const char *room;
    uint64_t new_version;
    /* Set by `write`: it was as it was read, and is written. */
    bool written;
    bool full;                /* or: the server had no memory for it */
    bool dirty;               /* batch.c's own, these two */
    size_t first_op;
};

struct bide__batch;

struct bide__batch_io {
    /* Reads slots, the batch's total_bytes and its now_ns. n may be 0. 0, or
     * negative: no answer. */
    int (*read)(void *self, struct bide__batch *batch,
                struct bide__slot *const slots[], size_t n);

    /* Writes slots, and counts the room that they take. 0, or negative: it is
     * not known what was done. */
    int (*write)(void *self, struct bide__batch *batch,
                 struct bide__slot *const slots[], size_t n);
};

/* All zero is an empty one. Threads: owned. */
struct bide__batch {
    uint64_t limit_bytes;
    uint64_t total_bytes; /* that all records take */
    int64_t now_ns;       /* of the server, since 1970 */
    /* Below: batch.c's own. */
    struct bide__slot *slots;
    struct bide__slot **open;  /* those that are not settled */
    struct bide__slot **dirty; /* of these, those that are to be written */
    size_t *next;              /* operation: the next one of its slot */
    size_t *table;             /* of slots, by id; of shares, by room */
    struct bide__batch_share *shares;
    size_t size, n_slots, n_open, n_shares;
};

/* What a kind's `run` does. 0, BIDE_ENOMEM, or what `io` returned. */
int bide__batch_run(struct bide__batch *batch, bide_store_op *const ops[],
                    size_t n, const struct bide__batch_io *io, void *self);

void bide__batch_done(struct bide__batch *batch);

/* How long a kind waits for a server's answer: longer than an operation is waited
 * for, because connecting anew costs more than a slow answer. */
int64_t bide__batch_patience(int64_t timeout_ns);

/* The id of a record. */
void bide__slot_id(uint8_t id[32], const char *scope, const char *owner,
                   const char *key);

#endif
