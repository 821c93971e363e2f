/* Many threads on one thing: they start together, go through rounds together,
 * and count what went wrong instead of asserting, which cmocka does not do on
 * any thread but its own. Time is virtual, and shared. */
#ifndef BIDE_TEST_TEAM_H
#define BIDE_TEST_TEAM_H

#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "fixture.h"

enum { TEAM = 64 };

struct member {
    int who;
    bide_rng_seeded seeded;
    bide_rng rng;
    void (*work)(struct member *me);
    void *ctx;
};

static pthread_barrier_t team_barrier;
static _Atomic int team_errors;
static _Atomic int64_t team_clock;

/* Waits for all; true for one of them, which may then look and prepare while
 * the others wait for the next one. */
static inline bool together(void)
{
    return pthread_barrier_wait(&team_barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
}

/* Lets one of them do something that the others wait for. */
#define ONE_OF_US(...)                                                         \
    do {                                                                       \
        if (together()) {                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
        together();                                                            \
    } while (0)

#define EXPECT(what)                                                           \
    do {                                                                       \
        if (!(what)) {                                                         \
            if (atomic_fetch_add(&team_errors, 1) < 3)                         \
                print_message("# %s:%d: not so: %s\n", __FILE__, __LINE__,     \
                              #what);                                          \
        }                                                                      \
    } while (0)

static inline int64_t now_ns(void)
{
    return atomic_load(&team_clock);
}

static inline int64_t chance(struct member *me, int64_t n)
{
    return bide_rng_between(&me->rng, 0, n - 1);
}

static inline void *member_main(void *arg)
{
    struct member *me = arg;
    me->rng = bide_rng_seed(&me->seeded, (uint64_t)me->who + 1);
    together();
    me->work(me);
    return NULL;
}

/* Runs `work` on TEAM threads, from the time `start` on. */
static inline void run_team(void (*work)(struct member *me), void *ctx,
                            int64_t start)
{
    static struct member members[TEAM];
    pthread_t threads[TEAM];
    atomic_store(&team_errors, 0);
    atomic_store(&team_clock, start);
    assert_int_equal(pthread_barrier_init(&team_barrier, NULL, TEAM), 0);
    for (int i = 0; i < TEAM; i++) {
        members[i] = (struct member){ .who = i, .work = work, .ctx = ctx };
        assert_int_equal(
            pthread_create(&threads[i], NULL, member_main, &members[i]), 0);
    }
    for (int i = 0; i < TEAM; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&team_barrier);
    assert_int_equal(atomic_load(&team_errors), 0);
}

#endif
