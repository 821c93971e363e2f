/* store/job.h: jobs, from an operation to its result: see front.h. All with the
 * store's lock held, but for bide__store_job_new(). */
#ifndef BIDE_STORE_JOB_H
#define BIDE_STORE_JOB_H

#include "store/front.h"

/* Copies an operation, all but its data if `with_data` is false. BIDE_EINVAL: a
 * member is out of range; BIDE_ENOMEM; BIDE_EENTROPY: a claim has no token. */
int bide__store_job_new(struct bide__store_job **ret, const bide_store_op *op);
void bide__store_job_free(struct bide__store_job *job);

/* Puts it into the queue, or answers DOWN at once. The job is the store's. */
void bide__store_enqueue(bide_store *store, struct bide__store_job *job,
                         int64_t now_ns);

/* Whoever waits for it gets its result: op->result and what belongs to it. */
void bide__store_answer(struct bide__store_job *job, bide_store_result result);

/* Nobody waits for it any more. It is forgotten, or seen to its end. */
void bide__store_give_up(bide_store *store, struct bide__store_job *job,
                         int64_t now_ns);

/* The time of those jobs has come: DOWN, and the store is down. */
void bide__store_late(bide_store *store, struct bide__store_job *job,
                      int64_t now_ns);

/* Keeps a COMPLETE or RELEASE that is to be seen to its end, and frees any
 * other. A CLAIM that may have been granted becomes a RELEASE. It is tried for as
 * long as its record is kept, also when the lease is over: until somebody takes
 * over, an answer that comes late is better than none. */
void bide__store_owe(bide_store *store, struct bide__store_job *job,
                     int64_t now_ns);

/* The store is down, or up again; tells on_change if that is new. */
void bide__store_set_down(bide_store *store, const char *why);

/* It is down, and was asked again in vain. Tells on_change of another reason once
 * it has held twice: a server that has come back, but cannot be used, stays down
 * until somebody hears why; one that is starting gives many reasons. */
void bide__store_still_down(bide_store *store, const char *why);
void bide__store_set_up(bide_store *store, int64_t now_ns);

#endif
