/* store/front.h: what stands before a kind of store: one thread that takes all
 * that was submitted meanwhile as one batch (group commit), and the rule that
 * nobody waits longer than timeout_ns.
 *
 *   caller             lists, under one lock            the store's thread
 *   ------             ----------------------           ------------------
 *   submit, do  ---->  queue  ------------ batch ---->  kind->run()
 *                      owed   --- first of all --->       |
 *   reap        <----  done of a port  <---- result ------+
 *
 * A job is the store's copy of an operation. Its caller may give it up at any
 * time (a timeout, bide_store_forget()): then job->theirs is NULL. What was given
 * up, or ran into an error, and must be seen to its end is owed: an answer, a
 * release, and the release of a claim that may have been granted. What is owed is
 * tried again, first of all, until its time is over.
 *
 * Down: an operation has taken too long, or run() has failed. While it is down,
 * operations end in DOWN at once, and the thread knocks, with a backoff, by
 * trying what is owed or an empty batch. Up: run() has succeeded. */
#ifndef BIDE_STORE_FRONT_H
#define BIDE_STORE_FRONT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "bide/rng.h"
#include "bide/store.h"
#include "store/kind.h"

enum {
    BIDE__STORE_BATCH = 256,     /* operations in one commit */
    BIDE__STORE_QUEUE = 65536,   /* operations that wait; more end in DOWN */
    BIDE__STORE_OWED = 65536,    /* operations that are owed ... */
    BIDE__STORE_OWED_BYTES = 64 << 20, /* ... and their data */
};

/* Threads: shared, under the store's lock; the thread alone has those it took. */
struct bide__store_job {
    bide_store_op op;      /* its strings and data follow it in memory */
    bide_store_op *theirs; /* NULL: nobody waits for it */
    bide_store_port *port; /* where the result goes; NULL: bide_store_do() */
    struct bide__list line;    /* in the queue, in owed, or in no list */
    struct bide__list pending; /* in its port's, in the order of deadlines */
    int64_t deadline_ns;   /* given up then; if owed, dropped then */
    bool taken;            /* by the thread */
    bool again;            /* it found no room before a sweep */
    size_t bytes;          /* of data */
};

/* Threads: shared. */
struct bide_store {
    const struct bide__store_kind *kind;
    void *self;            /* the kind's; the thread alone uses it */
    bide_store_conf conf;
    pthread_t thread;
    pthread_mutex_t lock;  /* of all that follows */
    pthread_cond_t work;   /* something for the thread to do */
    struct bide__list queue, owed;
    size_t n_queue, n_owed, owed_bytes;
    bool down, ending, ended, orphan;
    uint32_t failures;     /* for the backoff; those of a store that was up for a
                              while before are forgotten */
    int64_t up_ns;         /* since when it is up */
    int64_t knock_ns, previous_wait_ns, sweep_ns; /* when next */
    bool active;           /* operations since the last sweep */
    bide_rng_seeded seeded;
    bide_store_stats stats;
    char why[256];         /* it is down for: what was told */
    char failed[256];      /* what the last attempt failed for */
};

/* Threads: owned, but for what the store's lock protects. */
struct bide_store_port {
    bide_store *store;
    int fd, event_fd, timer_fd;
    struct bide__list pending; /* jobs */
    bide_store_op *done, **done_end;
    bool signalled;        /* the eventfd is readable */
    int64_t armed_ns;      /* when the timer fires; 0: not armed */
};

/* Opens a store of this kind: bide_store_open(), and tests with kinds of their
 * own. The setup's strings are used during the call only. */
int bide__store_start(bide_store **ret, const struct bide__store_kind *kind,
                      const struct bide__store_setup *setup,
                      const bide_store_conf *conf, char *why, size_t why_size);

/* The thread. At its end it frees a store that nobody waits for (`orphan`). */
void *bide__store_main(void *store);
void bide__store_free(bide_store *store);

#endif
