/* What the benchmarks share: a clock, cores to run on, and rounds.
 *
 * Each measurement is a function that gives ns per operation. All of them are
 * made once per round, one after the other, and the rounds are repeated: a
 * machine that is busy for a while then hits every row, not one. What counts is
 * the median; the minimum shows what is possible when nobody disturbs. */
#ifndef BIDE_BENCH_H
#define BIDE_BENCH_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BENCH_ROUNDS = 15, BENCH_THREADS = 2 };

static inline int64_t bench_read_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The time that this thread has been running: waiting for a cache line counts,
 * waiting for another program to leave the core does not. */
static inline int64_t bench_clock_ns(void)
{
    return bench_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Makes the compiler believe that a result is used. */
static inline void bench_use(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* Keeps this thread on one core, the nth that the program was given; if that is
 * not possible, it goes where it likes. The main thread must be the first to
 * ask: from then on its own set is that one core, and threads inherit it. */
static inline void bench_pin(int nth)
{
    static cpu_set_t all;
    static int known;
    size_t n = CPU_SETSIZE;
    if (!known && sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    known = 1;
    for (size_t cpu = 0; cpu < n; cpu++) {
        if (!CPU_ISSET(cpu, &all) || nth-- > 0)
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

/* ===== two threads at once ===== */

/* On a machine with other things to do, two threads seldom run at once, and
 * only then do they get in each other's way. So the work is cut into chunks of
 * some microseconds, and a chunk counts only if the other thread got ahead
 * meanwhile. The median of those is not moved by the few that were interrupted.
 */
enum { BENCH_CHUNKS = 400 };

#define BENCH_PATIENCE_NS 400000000 /* for the chunks of one measurement */

struct bench_seat {
    _Alignas(
        128) _Atomic uint64_t beats; /* chunks done, for the other to see */
    _Alignas(128) struct bench_seat *other;
    _Atomic int *finished;
    void (*work)(void *arg, int64_t n);
    void *arg;
    int64_t n; /* operations in a chunk */
    int core;
    int n_chunks;
    double chunk_ns[BENCH_CHUNKS];
};

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void bench_chunk(struct bench_seat *seat)
{
    uint64_t before = atomic_load(&seat->other->beats);
    int64_t start = bench_read_ns(CLOCK_MONOTONIC);
    seat->work(seat->arg, seat->n);
    int64_t took = bench_read_ns(CLOCK_MONOTONIC) - start;
    atomic_fetch_add(&seat->beats, 1);
    if (seat->n_chunks < BENCH_CHUNKS &&
        atomic_load(&seat->other->beats) != before)
        seat->chunk_ns[seat->n_chunks++] = (double)took;
}

static inline void *bench_seat_run(void *arg)
{
    struct bench_seat *seat = arg;
    bench_pin(seat->core);
    int64_t until = bench_read_ns(CLOCK_MONOTONIC) + BENCH_PATIENCE_NS;
    while (seat->n_chunks < BENCH_CHUNKS &&
           bench_read_ns(CLOCK_MONOTONIC) < until)
        bench_chunk(seat);
    atomic_fetch_add(seat->finished, 1);
    while (atomic_load(seat->finished) < BENCH_THREADS)
        bench_chunk(seat); /* the other is not to finish alone */
    return NULL;
}

/* Runs the same work in two threads, each on a core of its own; gives ns per
 * operation of a thread while both run, or 0 if they never did. */
static inline double bench_both(void (*work)(void *, int64_t), void *a, void *b,
                                int64_t n)
{
    static struct bench_seat seat[BENCH_THREADS];
    void *arg[BENCH_THREADS] = { a, b };
    pthread_t thread[BENCH_THREADS];
    _Atomic int finished = 0;
    double rate = 0;
    for (int i = 0; i < BENCH_THREADS; i++) {
        seat[i].other = &seat[1 - i];
        seat[i].finished = &finished;
        seat[i].work = work;
        seat[i].arg = arg[i];
        seat[i].n = n;
        seat[i].core = i;
        seat[i].n_chunks = 0;
    }
    for (int i = 0; i < BENCH_THREADS; i++)
        if (pthread_create(&thread[i], NULL, bench_seat_run, &seat[i]) != 0)
            abort();
    for (int i = 0; i < BENCH_THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < BENCH_THREADS; i++) {
        size_t chunks = (size_t)seat[i].n_chunks;
        if (chunks == 0)
            return 0;
        qsort(seat[i].chunk_ns, chunks, sizeof(double), bench_compare);
        rate += (double)n / seat[i].chunk_ns[chunks / 2];
    }
    return BENCH_THREADS / rate;
}

/* ===== rounds ===== */

struct bench_row {
    const char *name;
    double (*measure)(void); /* ns per operation */
    double ns[BENCH_ROUNDS];
};

static inline void bench_sort(double *x)
{
    qsort(x, BENCH_ROUNDS, sizeof *x, bench_compare);
}

/* Of sorted ones. */
static inline double bench_median(const double *sorted)
{
    return sorted[BENCH_ROUNDS / 2];
}

static inline void bench_run(struct bench_row *rows, int n)
{
    for (int i = 0; i < n; i++)
        rows[i].measure(); /* the first time does not count */
    for (int round = 0; round < BENCH_ROUNDS; round++)
        for (int i = 0; i < n; i++)
            rows[i].ns[round] = rows[i].measure();
}

static inline const char *bench_verdict(int ok)
{
    return ok ? "ok" : "MISSED";
}

#endif
