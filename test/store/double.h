/* A store that can be told to hang, to fail, or to fail after it has done what it was
 * asked: the memory store with a switch before it.
 *
 *     struct double_store d;
 *     bide_store *store = double_open(&d, 500 * BIDE_MILLISECOND);
 *     double_set(&d, HANGS);
 *     ...
 *     double_set(&d, WORKS);
 *     bide_store_close(store);
 */
#ifndef BIDE_TEST_STORE_DOUBLE_H
#define BIDE_TEST_STORE_DOUBLE_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "store/front.h"

enum double_mode { WORKS, HANGS, FAILS, REFUSES, DOES_AND_FAILS };

struct double_store {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum double_mode mode;
    int hanging, closed, changes;
    bool up;
    char why[256];
    void *memory;
};

static inline void double_set(struct double_store *d, enum double_mode mode)
{
    pthread_mutex_lock(&d->lock);
    d->mode = mode;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

static inline int double_open_kind(void **ret,
                                   const struct bide__store_setup *setup,
                                   char *why, size_t why_size)
{
    struct double_store *d = setup->now_ctx;
    struct bide__store_setup plain = *setup;
    plain.now_ctx = NULL;
    int rc = bide__store_memory.open(&d->memory, &plain, why, why_size);
    *ret = d;
    return rc;
}

static inline int double_run(void *self, bide_store_op *const ops[], size_t n,
                             char *why, size_t why_size)
{
    struct double_store *d = self;
    pthread_mutex_lock(&d->lock);
    d->hanging++;
    while (d->mode == HANGS)
        pthread_cond_wait(&d->changed, &d->lock);
    d->hanging--;
    enum double_mode mode = d->mode;
    pthread_mutex_unlock(&d->lock);
    if (mode != FAILS && mode != REFUSES) {
        int rc = bide__store_memory.run(d->memory, ops, n, why, why_size);
        if (rc < 0 || mode == WORKS)
            return rc;
    }
    snprintf(why, why_size, "the double %s",
             mode == REFUSES ? "refuses\x1b[2J" : "fails");
    return BIDE_ESTATE;
}

static inline int double_sweep(void *self, int most, char *why, size_t size)
{
    struct double_store *d = self;
    return bide__store_memory.sweep(d->memory, most, why, size);
}

static inline int double_count(void *self, struct bide__store_count *ret,
                               char *why, size_t size)
{
    struct double_store *d = self;
    return bide__store_memory.count(d->memory, ret, why, size);
}

static inline void double_close(void *self)
{
    struct double_store *d = self;
    bide__store_memory.close(d->memory);
    pthread_mutex_lock(&d->lock);
    d->closed = 1;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

static const struct bide__store_kind double_kind = {
    .name = "double",
    .open = double_open_kind,
    .run = double_run,
    .sweep = double_sweep,
    .count = double_count,
    .close = double_close,
};

static inline void double_changed(void *ctx, bool up, const char *why)
{
    struct double_store *d = ctx;
    pthread_mutex_lock(&d->lock);
    d->changes++;
    d->up = up;
    snprintf(d->why, sizeof d->why, "%s", why ? why : "");
    pthread_mutex_unlock(&d->lock);
}

static inline bide_store *double_open(struct double_store *d,
                                      int64_t timeout_ns)
{
    bide_store *store = NULL;
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    struct bide__store_setup setup = { .url = "double",
                                       .rest = "double",
                                       .limit_bytes = conf.limit_bytes,
                                       .timeout_ns = timeout_ns,
                                       .now_ctx = d };
    *d = (struct double_store){ .mode = WORKS, .up = true };
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    conf.timeout_ns = timeout_ns;
    conf.on_change = double_changed;
    conf.ctx = d;
    assert_int_equal(
        bide__store_start(&store, &double_kind, &setup, &conf, NULL, 0), 0);
    return store;
}

/* Waits until something is so, for a minute at most. */
#define UNTIL(what)                                                            \
    do {                                                                       \
        int64_t until_ = bide_now_ns() + 60 * BIDE_SECOND;                     \
        while (!(what)) {                                                      \
            if (bide_now_ns() > until_)                                        \
                fail_msg("not so after a minute: %s", #what);                  \
            bide_sleep_until(bide_now_ns() + BIDE_MILLISECOND, NULL);          \
        }                                                                      \
    } while (0)

static inline bool is_up(bide_store *store)
{
    bide_store_stats stats;
    bide_store_stats_get(store, &stats);
    return stats.up;
}

static inline uint64_t owed(bide_store *store)
{
    bide_store_stats stats;
    bide_store_stats_get(store, &stats);
    return stats.owed;
}

static inline bide_store_op op_for(bide_store_verb verb, const char *key)
{
    bide_store_op op = BIDE_STORE_OP_INIT;
    op.verb = verb;
    op.key = key;
    return op;
}

static inline bide_store_result ask(bide_store *store, bide_store_verb verb,
                                    const char *key)
{
    bide_store_op op = op_for(verb, key);
    assert_int_equal(bide_store_do(store, &op), 0);
    bide_store_op_done(&op);
    return op.result;
}

#endif
