/* bide/store.h: who does an operation, and what came of it, remembered outside
 * of one process (libbide-store): each operation takes effect once.
 *
 *     bide_store *store;
 *     char why[256];
 *     if (bide_store_open(&store, "sqlite:payments.db", NULL, why,
 *                         sizeof why) < 0)
 *         die(why);
 *     bide_store_op op = BIDE_STORE_OP_INIT;
 *     op.scope = "/pay";
 *     op.key = "8e03978e";                       // the client's Idempotency-Key
 *     bide_store_sha256(op.fingerprint, body, body_len);
 *     bide_store_do(store, &op);                 // at most 250 ms
 *     switch (op.result) {
 *     case BIDE_STORE_FIRST:                     // it is ours: do it, then
 *         bide_store_complete(store, &op, 201, answer, answer_len);
 *         break;
 *     case BIDE_STORE_DONE:                      // done before: the same answer
 *         reply(op.status, op.data, op.len);
 *         break;
 *     default:
 *         refuse(bide_store_result_name(op.result));
 *     }
 *     bide_store_op_done(&op);
 *     bide_store_close(store);
 *
 * A claim is durable before FIRST is reported, an answer before OK is. What
 * happens to a record:
 *
 *   (absent) --CLAIM--> claimed --COMPLETE--> done, or too large
 *       ^                  |                      |
 *       +----RELEASE-------+     keep_ns has passed: absent, at once
 *
 * A claim has a lease, which its owner renews while he works, and a token. If
 * the lease ends, the outcome is unknown: the next claim is told so, or with
 * `take_over` gets it, with a new token. An owner who is late changes nothing
 * that is no longer his (LOST); while nobody took over he may still complete.
 * All time is the store's.
 *
 * One thread of the store's takes whatever was submitted meanwhile as one batch
 * and commits it once, so that many clients share an fsync. Nobody waits longer
 * than `timeout_ns`: then the result is DOWN, and DOWN at once for everybody
 * until the store has answered again. A claim that was given up so and succeeds
 * after all is released; an answer or a release is kept and tried again. */
#ifndef BIDE_STORE_H
#define BIDE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

BIDE_BEGIN_DECLS

/* ===== opening ===== */

/* Records, and the thread that asks for them. Threads: shared. */
typedef struct bide_store bide_store;

/* Called when it goes down, on the thread that notices; on the store's own, when
 * it stays down for another reason, and when it is back. `why` is a sentence
 * without keys or data, NULL when it is back. It must not call the store, and not
 * wait. */
typedef void (*bide_store_change_fn)(void *ctx, bool up, const char *why);

typedef struct bide_store_conf {
    int64_t timeout_ns;     /* how long an operation may take; 1 ms .. 60 s;
                               250 ms */
    uint64_t limit_bytes;   /* of all records together; >= 1 MiB; 1 GiB */
    bool relaxed;           /* accepts a server that may lose what it has
                               acknowledged; false */
    bide_store_change_fn on_change; /* NULL: nobody is told */
    void *ctx;              /* of on_change */
} bide_store_conf;

#define BIDE_STORE_CONF_INIT                                                   \
    {                                                                          \
        INT64_C(250000000), UINT64_C(1) << 30, false, NULL, NULL               \
    }

/* Opens the store that `url` names: "memory", "sqlite:PATH", "redis://..." or
 * "postgresql://...". conf may be NULL. BIDE_ENAME: no such kind of store.
 * BIDE_EINVAL: the URL or a number of conf. BIDE_ESTATE: it cannot be used as it
 * is. BIDE_ENOMEM, BIDE_ESIZE. `why`, if not NULL, then has a sentence for
 * people. A server that does not answer yet is no error: the store is down. */
BIDE_API int bide_store_open_sized(bide_store **ret, const char *url,
                                   const bide_store_conf *conf, size_t size,
                                   char *why, size_t why_size);
static inline int bide_store_open(bide_store **ret, const char *url,
                                  const bide_store_conf *conf, char *why,
                                  size_t why_size)
{
    return bide_store_open_sized(ret, url, conf, sizeof *conf, why, why_size);
}

/* Ends its thread, after one more try for what is still to be written, and frees
 * it. Nobody may be using it, and its ports are freed before. NULL is fine. */
BIDE_API void bide_store_close(bide_store *store);

/* ===== operations ===== */

typedef enum bide_store_verb {
    BIDE_STORE_CLAIM,       /* may I do it?  FIRST, IN_PROGRESS, DONE, TOO_LARGE,
                               UNKNOWN, MISMATCH, FULL */
    BIDE_STORE_RENEW,       /* I still work at it.  OK, LOST */
    BIDE_STORE_COMPLETE,    /* it is done.  OK; TOO_LARGE: done, but there was no
                               room for the answer; LOST */
    BIDE_STORE_RELEASE,     /* it was not done: forget it.  OK, LOST */
    BIDE_STORE_LOOK_UP,     /* what is known?  ABSENT, IN_PROGRESS, DONE,
                               TOO_LARGE, UNKNOWN */
} bide_store_verb;

/* X(name, text). Any verb may end in DOWN. */
#define BIDE_STORE_RESULTS(X)                                                  \
    X(BIDE_STORE_OK, "ok")                                                     \
    X(BIDE_STORE_FIRST, "first")              /* yours; `token` says so */     \
    X(BIDE_STORE_IN_PROGRESS, "in progress")  /* another's, for `left_ns` */   \
    X(BIDE_STORE_DONE, "done")                /* `status`, `data`, `len` */    \
    X(BIDE_STORE_TOO_LARGE, "too large")      /* done, `status`; no answer */  \
    X(BIDE_STORE_UNKNOWN, "unknown")          /* its owner was lost */         \
    X(BIDE_STORE_MISMATCH, "mismatch")        /* the key of another request */ \
    X(BIDE_STORE_FULL, "full")                /* no room for this caller */    \
    X(BIDE_STORE_LOST, "lost")                /* no longer yours */            \
    X(BIDE_STORE_ABSENT, "absent")                                             \
    X(BIDE_STORE_DOWN, "down")                /* not answered in time */

typedef enum bide_store_result {
#define BIDE__X(name, text) name,
    BIDE_STORE_RESULTS(BIDE__X)
#undef BIDE__X
} bide_store_result;

/* Returns "first", "in progress", ... Never NULL. */
BIDE_API const char *bide_store_result_name(bide_store_result result);

/* One operation, in and out. Strings and data belong to the caller; they are
 * copied. Threads: owned, and the store's between submit and reap. */
typedef struct bide_store_op {
    /* In: what is asked, and of which record. */
    bide_store_verb verb;   /* CLAIM */
    bide_store_result result; /* out */
    const char *scope;      /* keys are per scope; at most 1 KiB; "" */
    const char *owner;      /* and per owner; at most 1 KiB; "" */
    const char *key;        /* at most 1 KiB */
    const char *room;       /* CLAIM: whose share of the room it takes; at most
                               255 bytes; "" */
    uint64_t token;         /* out of CLAIM, in for RENEW, COMPLETE, RELEASE */
    uint8_t fingerprint[32]; /* CLAIM: of what is asked for ... */
    uint8_t binding[32];    /* ... and of who asks: both must be those of the
                               first claim */
    int64_t lease_ns;       /* CLAIM, RENEW: the claim is his so long; > 0;
                               30 s */
    int64_t keep_ns;        /* CLAIM, COMPLETE: how long the record is kept from
                               now on. COMPLETE and RELEASE, when the store is
                               down: how long it is tried again; > 0; 24 h */
    bool take_over;         /* CLAIM: after the lease, FIRST; false: UNKNOWN */
    bool too_large;         /* COMPLETE: there was an answer, but it is not to be
                               kept */
    /* In for COMPLETE, out for DONE. */
    int32_t status;
    const void *data;       /* out: freed by _op_done() */
    size_t len;
    /* Out. */
    int64_t left_ns;        /* IN_PROGRESS: until the lease ends */
    int64_t age_ns;         /* since it was first claimed */
    void *tag;              /* the caller's own; untouched */
    void *_answer;          /* what data points to, if the store allocated it */
    void *_job;             /* while it is submitted */
    struct bide_store_op *_next; /* while it waits to be reaped */
    uint32_t _over;
    uint64_t _room[4];
} bide_store_op;

#define BIDE_STORE_OP_INIT                                                     \
    {                                                                          \
        BIDE_STORE_CLAIM, BIDE_STORE_OK, "", "", "", "", 0, { 0 }, { 0 },      \
            INT64_C(30000000000), INT64_C(86400000000000), false, false, 0,    \
            NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0, { 0 }                    \
    }

/* Does it, and waits for the result. 0: op->result is set, to DOWN at the
 * latest after timeout_ns. BIDE_EINVAL: a member is out of range. BIDE_ENOMEM.
 * On an error the result is DOWN as well, so that nobody takes it for more. */
BIDE_API int bide_store_do(bide_store *store, bide_store_op *op);

/* Frees the answer that it holds, if any. The operation can be used again. */
BIDE_API void bide_store_op_done(bide_store_op *op);

/* Does COMPLETE or RELEASE for the claim `op`, which was FIRST, and waits. What
 * bide_store_do() returns; op->result is the result. */
BIDE_API int bide_store_complete(bide_store *store, bide_store_op *op,
                                 int32_t status, const void *data, size_t len);
BIDE_API int bide_store_release(bide_store *store, bide_store_op *op);

/* Computes the SHA-256 of some bytes, for fingerprint and binding. */
BIDE_API void bide_store_sha256(uint8_t digest[32], const void *data,
                                size_t len);

/* ===== from an event loop ===== */

/* Where the results of one event loop arrive:
 *
 *     bide_store_port *port;
 *     bide_store_port_new(&port, store);
 *     poll_for_reading(bide_store_port_fd(port));
 *     bide_store_submit(port, op);
 *     ...                                   // the descriptor is readable:
 *     for (bide_store_op *o; (o = bide_store_reap(port)) != NULL;)
 *         resume(o->tag, o->result);
 *
 * The descriptor also becomes readable when an operation has taken too long, so
 * the loop needs no timer for it. Threads: owned. */
typedef struct bide_store_port bide_store_port;

/* BIDE_EINVAL, BIDE_ENOMEM (also: no more descriptors). */
BIDE_API int bide_store_port_new(bide_store_port **ret, bide_store *store);

/* Gives up whatever is still submitted, as a timeout does: the store is done
 * with those operations, and they do not come out any more. NULL is fine. */
BIDE_API void bide_store_port_free(bide_store_port *port);

/* Readable when something is to be reaped. */
BIDE_API int bide_store_port_fd(const bide_store_port *port);

/* Submits it; it comes out of bide_store_reap(), once. Never waits. On an error
 * (those of bide_store_do()) it does not come out. */
BIDE_API int bide_store_submit(bide_store_port *port, bide_store_op *op);

/* Returns an operation that has its result; NULL: no more for now. */
BIDE_API bide_store_op *bide_store_reap(bide_store_port *port);

/* Gives it up: it does not come out, and what it did is undone as after a
 * timeout (a claim is released, an answer still written). */
BIDE_API void bide_store_forget(bide_store_port *port, bide_store_op *op);

/* ===== what can be seen ===== */

typedef struct bide_store_stats {
    bool up;
    uint64_t records;       /* kept; as of a second ago */
    uint64_t bytes;         /* that they take, of ... */
    uint64_t limit_bytes;
    int64_t oldest_ns;      /* age of the oldest record */
    uint64_t operations;    /* answered by the store, since it was opened */
    uint64_t commits;       /* batches that they shared */
    uint64_t down;          /* operations that ended in DOWN */
    uint64_t owed;          /* answers and releases that are still to be written */
    uint64_t dropped;       /* of those: given up, because it took too long */
    uint64_t swept;         /* records removed after they had expired */
} bide_store_stats;

/* BIDE_EINVAL. Costs no request to the store. */
BIDE_API int bide_store_stats_get_sized(bide_store *store,
                                        bide_store_stats *ret, size_t size);
static inline int bide_store_stats_get(bide_store *store, bide_store_stats *ret)
{
    return bide_store_stats_get_sized(store, ret, sizeof *ret);
}

BIDE_END_DECLS
#endif
