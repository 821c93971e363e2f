/* The adaptive rate: a token bucket that CUBIC grows and throttling cuts.
 *
 * The algorithm is that of the AWS SDKs' adaptive mode: beta 0.7, scale 0.4,
 * smoothing 0.8 over half seconds, at least one attempt every two seconds.
 * Theirs keeps ten variables under a lock; here it is computed from three
 * words. */
#include "lib/limit/limit.h"

#include <math.h>
#include <string.h>

#define BETA 0.7
#define SCALE 0.4
#define SMOOTH 0.8
#define LEAST_RATE 0.5
#define HALF_SECOND_NS (BIDE_SECOND / 2)

/* ===== rates in few bits: 6 of exponent, 15 of fraction, from 2^-10 up ===== */

enum { FRACTION_BITS = 15, RATE_BITS = 21, LOWEST_EXPONENT = -10 };

static double scaled(double x, int by)
{
    for (; by > 0; by--)
        x *= 2;
    for (; by < 0; by++)
        x /= 2;
    return x;
}

/* For rates of LEAST_RATE and more. */
static uint64_t pack_rate(double rate)
{
    int exponent = 0;
    while (rate >= 2 && exponent < 53 + LOWEST_EXPONENT) {
        rate /= 2;
        exponent++;
    }
    while (rate < 1 && exponent > LOWEST_EXPONENT) {
        rate *= 2;
        exponent--;
    }
    if (rate > 1.99999)
        rate = 1.99999;
    return (uint64_t)(exponent - LOWEST_EXPONENT) << FRACTION_BITS |
           (uint64_t)((rate - 1) * (1 << FRACTION_BITS));
}

static double unpack_rate(uint64_t bits)
{
    double fraction = (double)(bits & ((1 << FRACTION_BITS) - 1));
    int exponent = (int)(bits >> FRACTION_BITS) + LOWEST_EXPONENT;
    return scaled(1 + fraction / (1 << FRACTION_BITS), exponent);
}

/* ===== the sending rate ===== */

static float float_of(uint64_t word)
{
    uint32_t bits = (uint32_t)word;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint64_t measured_word(uint64_t half_second, float rate)
{
    uint32_t bits;
    memcpy(&bits, &rate, sizeof bits);
    return half_second << 32 | bits;
}

/* A span of half-seconds is over: it had `count` attempts in all. */
static void measure(struct bide__rate *r, uint64_t from, uint64_t to,
                    uint64_t count)
{
    double sent = (double)count / ((double)(to - from) * 0.5);
    uint64_t seen = atomic_load_explicit(&r->measured, memory_order_relaxed);
    uint64_t want;
    do {
        double rate = sent * SMOOTH + (double)float_of(seen) * (1 - SMOOTH);
        want = measured_word(to & 0xffffffff, (float)rate);
    } while (!atomic_compare_exchange_weak_explicit(&r->measured, &seen, want,
                                                    memory_order_acq_rel,
                                                    memory_order_relaxed));
}

enum { SENT_BITS = 24 };

#define SENT_MASK ((UINT64_C(1) << SENT_BITS) - 1)

static void count_sending(struct bide__rate *r, int64_t now)
{
    uint64_t half = (uint64_t)(now / HALF_SECOND_NS);
    uint64_t seen = atomic_load_explicit(&r->sending, memory_order_relaxed);
    uint64_t want, since;
    do {
        bool full = (seen & SENT_MASK) == SENT_MASK;
        since = seen >> SENT_BITS;
        want = half > since ? half << SENT_BITS : full ? seen : seen + 1;
    } while (!atomic_compare_exchange_weak_explicit(&r->sending, &seen, want,
                                                    memory_order_acq_rel,
                                                    memory_order_relaxed));
    if (half > since)
        measure(r, since, half, (seen & SENT_MASK) + 1);
}

static double measured_rate(const struct bide__rate *r)
{
    return (double)float_of(
        atomic_load_explicit(&r->measured, memory_order_relaxed));
}

/* ===== the allowed rate ===== */

static double cube_root(double x)
{
    double guess = x > 1 ? x : 1;
    for (int i = 0; i < 200; i++) {
        double better = (2 * guess + x / (guess * guess)) / 3;
        if (better >= guess)
            break; /* Newton approaches from above; it has arrived */
        guess = better;
    }
    return guess;
}

static double cubic(double rate_at_cut, double seconds)
{
    double k = cube_root(rate_at_cut * (1 - BETA) / SCALE);
    double t = seconds - k;
    return SCALE * t * t * t + rate_at_cut;
}

enum { CUT_TIME_SHIFT = 20 };

double bide__rate_allowed(const struct bide__rate *r, int64_t now)
{
    uint64_t cut = atomic_load_explicit(&r->cut, memory_order_acquire);
    if (cut == 0)
        return (double)INFINITY;
    int64_t cut_ns = (int64_t)((cut >> RATE_BITS) << CUT_TIME_SHIFT);
    double seconds = (double)bide__elapsed_ns(cut_ns, now) / 1e9;
    double rate = cubic(unpack_rate(cut & ((1u << RATE_BITS) - 1)), seconds);
    double most = 2 * measured_rate(r);
    if (rate > most)
        rate = most;
    return rate > LEAST_RATE ? rate : LEAST_RATE;
}

static int64_t interval_of(double rate)
{
    return bide__scale_ns(BIDE_SECOND, 1 / rate);
}

/* No tokens were taken before the first cut, so the bucket looks full; letting
 * that burst through would be an odd way to slow down. The first token is due
 * one interval later. */
static void empty_bucket(struct bide__rate *r, int64_t now)
{
    int64_t first = bide__add_ns(now, interval_of(bide__rate_allowed(r, now)));
    int64_t due = atomic_load_explicit(&r->next_ns, memory_order_relaxed);
    while (due < first && !atomic_compare_exchange_weak_explicit(
                              &r->next_ns, &due, first, memory_order_acq_rel,
                              memory_order_relaxed))
        ;
}

static void cut_rate(struct bide__rate *r, int64_t now)
{
    double sent = measured_rate(r);
    double allowed = bide__rate_allowed(r, now);
    double rate = sent < allowed ? sent : allowed;
    if (rate < LEAST_RATE)
        rate = LEAST_RATE;
    uint64_t time = (uint64_t)now >> CUT_TIME_SHIFT;
    if (atomic_exchange_explicit(&r->cut, time << RATE_BITS | pack_rate(rate),
                                 memory_order_acq_rel) == 0)
        empty_bucket(r, now);
}

void bide__rate_start(struct bide__rate *r, double rate, int64_t now)
{
    uint64_t half = (uint64_t)(now / HALF_SECOND_NS);
    double least = rate > LEAST_RATE ? rate : LEAST_RATE;
    atomic_store(&r->sending, half << SENT_BITS);
    atomic_store(&r->measured, measured_word(half & 0xffffffff, (float)least));
    atomic_store(&r->cut, ((uint64_t)now >> CUT_TIME_SHIFT) << RATE_BITS |
                              pack_rate(least / BETA));
    empty_bucket(r, now);
}

void bide__rate_report(struct bide__rate *r, bool throttled, int64_t now)
{
    count_sending(r, now);
    if (throttled)
        cut_rate(r, now);
}

/* The bucket holds a second's worth. `next_ns` is when the next token is due:
 * as far in the past as the bucket is full. */
int64_t bide__rate_take(struct bide__rate *r, int64_t now, int64_t latest)
{
    double rate = bide__rate_allowed(r, now);
    if (!(rate < 1e9))
        return 0;
    int64_t interval = interval_of(rate);
    int64_t burst = interval > BIDE_SECOND ? interval : BIDE_SECOND;
    int64_t due = atomic_load_explicit(&r->next_ns, memory_order_relaxed);
    int64_t at;
    do {
        at = due > now - burst + interval ? due : now - burst + interval;
        if (at > latest)
            return -1;
    } while (!atomic_compare_exchange_weak_explicit(&r->next_ns, &due,
                                                    bide__add_ns(at, interval),
                                                    memory_order_acq_rel,
                                                    memory_order_relaxed));
    return at <= now ? 0 : at;
}
