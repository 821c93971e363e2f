/* What a closed breaker counts, to know when to open.
 *
 * Rates over the last seconds (kind time: windows in the lanes) or over the
 * last results (kind count: a ring), and failures in a row. A success costs one
 * counter. Sums are computed only when they can change anything: after a failure,
 * and after any result while the rates are reached but min_calls is not (NEAR). */
#include "lib/breaker.h"

#include <stddef.h>

bool bide__reaches(uint64_t part, uint64_t all, int64_t rate_millionths)
{
    return (int64_t)part * BIDE__MILLION >= (int64_t)all * rate_millionths;
}

static bool is_near(const struct bide__breaker *b)
{
    return atomic_load_explicit(&b->mode, memory_order_relaxed) &
           BIDE__BREAKER_NEAR;
}

static void set_near(struct bide__breaker *b, bool near)
{
    if (near && !is_near(b))
        atomic_fetch_or_explicit(&b->mode, BIDE__BREAKER_NEAR,
                                 memory_order_relaxed);
    else if (!near && is_near(b))
        atomic_fetch_and_explicit(&b->mode, ~(uint32_t)BIDE__BREAKER_NEAR,
                                  memory_order_relaxed);
}

static bool rates_reached(const struct bide__breaker_env *env, uint64_t all,
                          uint64_t failed, uint64_t slow)
{
    const struct bide__policy *p = env->policy;
    bool bad = (failed != 0 && bide__reaches(failed, all, p->failure_rate)) ||
               (slow != 0 && bide__reaches(slow, all, p->slow_rate));
    bool enough = all >= p->conf.breaker.min_calls;
    set_near(env->breaker, bad && !enough);
    return bad && enough;
}

static bool count_in_time(const struct bide__breaker_env *env, uint8_t era,
                          bool ill, bool slow, int64_t now)
{
    const struct bide__policy *p = env->policy;
    uint64_t tick = bide__tick(p->breaker_ticks, now);

    if (slow)
        bide__window_add(&env->lane->slow, tick, era);
    if (!ill) {
        bide__window_add(&env->lane->succeeded, tick, era);
        if (!slow && !is_near(env->breaker))
            return false; /* a success opens nothing: the usual exit */
    } else {
        bide__window_add(&env->lane->failed, tick, era);
    }

#define SUM(member)                                                            \
    bide__lanes_sum(env->lanes, p->conf.lanes,                                 \
                    offsetof(struct bide__lane, member), tick, era)
    uint64_t failed = SUM(failed);
    uint64_t all = failed + SUM(succeeded);
    return rates_reached(env, all, failed, SUM(slow));
#undef SUM
}

/* ===== kind count: a ring of the last results ===== */

/* A result is 13 bits of its generation and these. */
enum { RESULT_FAILED = 1, RESULT_SLOW = 2, RESULT_SEEN = 4, RESULT_BITS = 3 };
enum { SUM_BITS = 16 };

/* Sums may be off by a few for a moment, even below zero, while threads replace
 * each other's results; they are kept modulo 2^16 and read as signed. */
static int64_t sum_of(uint64_t sums, int field)
{
    int64_t raw =
        (int64_t)(sums >> (SUM_BITS * field) & ((1u << SUM_BITS) - 1));
    return raw >= 1 << (SUM_BITS - 1) ? raw - (1 << SUM_BITS) : raw;
}

static uint64_t with_sum(uint64_t sums, int field, int64_t change)
{
    uint64_t mask = (uint64_t)((1u << SUM_BITS) - 1) << (SUM_BITS * field);
    uint64_t now = (uint64_t)(sum_of(sums, field) + change)
                   << (SUM_BITS * field);
    return (sums & ~mask) | (now & mask);
}

static int bit(unsigned result, unsigned which)
{
    return (result & which) != 0;
}

static uint64_t generation_of_sums(uint64_t sums)
{
    return sums >> (3 * SUM_BITS);
}

/* The bits of a result of this generation; a result of another one is not in
 * the sums. */
static unsigned bits_in(unsigned result, uint64_t generation)
{
    bool in = result >> RESULT_BITS == (generation & 0x1fff);
    return in ? result : 0;
}

static uint64_t replace_result(uint64_t sums, unsigned old, unsigned new)
{
    old = bits_in(old, generation_of_sums(sums));
    new = bits_in(new, generation_of_sums(sums));
    sums = with_sum(sums, 0, bit(new, RESULT_SLOW) - bit(old, RESULT_SLOW));
    sums = with_sum(sums, 1, bit(new, RESULT_FAILED) - bit(old, RESULT_FAILED));
    return with_sum(sums, 2, bit(new, RESULT_SEEN) - bit(old, RESULT_SEEN));
}

/* The sums to add to: zero if a new closed period has begun. A thread that was
 * delayed until its own period was over leaves those of the next alone. */
static uint64_t sums_of_now(const struct bide__breaker *b, uint64_t sums,
                            uint16_t generation)
{
    uint16_t current;
    bide__breaker_idle(b, &current);
    if (current != generation || generation_of_sums(sums) == generation)
        return sums;
    return (uint64_t)generation << (3 * SUM_BITS);
}

static uint64_t at_least_0(int64_t n)
{
    return n > 0 ? (uint64_t)n : 0;
}

static _Atomic uint16_t *ring_of(struct bide__breaker *b)
{
    return (_Atomic uint16_t *)(void *)((char *)b + b->ring_at);
}

static bool count_in_ring(const struct bide__breaker_env *env,
                          uint16_t generation, bool ill, bool slow)
{
    struct bide__breaker *b = env->breaker;
    unsigned new = (generation & 0x1fffu) << RESULT_BITS | RESULT_SEEN |
                   (ill ? RESULT_FAILED : 0) | (slow ? RESULT_SLOW : 0);
    uint64_t place =
        atomic_fetch_add_explicit(&b->ring_next, 1, memory_order_relaxed) %
        env->policy->conf.breaker.window_calls;
    unsigned old = atomic_exchange_explicit(&ring_of(b)[place], (uint16_t)new,
                                            memory_order_acq_rel);
    uint64_t sums = atomic_load_explicit(&b->ring_sums, memory_order_relaxed);
    uint64_t want;
    do {
        want = replace_result(sums_of_now(b, sums, generation), old, new);
    } while (!atomic_compare_exchange_weak_explicit(&b->ring_sums, &sums, want,
                                                    memory_order_acq_rel,
                                                    memory_order_relaxed));
    return (ill || slow || is_near(b)) &&
           generation_of_sums(want) == generation &&
           rates_reached(env, at_least_0(sum_of(want, 2)),
                         at_least_0(sum_of(want, 1)),
                         at_least_0(sum_of(want, 0)));
}

/* The ring is shorter than what a window of time may have counted: then the
 * same shares of it. The bad results come first. */
static void start_ring(const struct bide__breaker_env *env,
                       const bide_dep_state *state)
{
    uint64_t places = env->policy->conf.breaker.window_calls;
    uint64_t all = state->attempts, failed = state->failed, slow = state->slow;
    if (all > places) {
        failed = failed * places / all;
        slow = slow * places / all;
        all = places;
    }
    for (uint64_t i = 0; i < all; i++)
        count_in_ring(env, 0, i < failed, i < slow);
}

void bide__breaker_start_counts(const struct bide__breaker_env *env,
                                const bide_dep_state *state, int64_t now)
{
    uint64_t tick = bide__tick(env->policy->breaker_ticks, now);
    struct bide__lane *lane = env->lane;

    atomic_store(&env->breaker->in_a_row, state->failed_in_a_row);
    if (env->policy->conf.breaker.kind == BIDE_BREAKER_COUNT) {
        start_ring(env, state);
        return;
    }
    bide__window_start(&lane->succeeded, tick, 0,
                       state->attempts - state->failed);
    bide__window_start(&lane->failed, tick, 0, state->failed);
    bide__window_start(&lane->slow, tick, 0, state->slow);
    rates_reached(env, state->attempts, state->failed, state->slow);
}

void bide__breaker_reclaim(struct bide__breaker *b,
                           const struct bide__policy *p)
{
    bide__breaker_probe_anew(b);
    if (p->conf.breaker.kind != BIDE_BREAKER_COUNT)
        return;
    uint64_t sums = generation_of_sums(atomic_load(&b->ring_sums))
                    << (3 * SUM_BITS);
    for (uint32_t i = 0; i < p->conf.breaker.window_calls; i++)
        sums = replace_result(sums, 0, atomic_load(&ring_of(b)[i]));
    atomic_store(&b->ring_sums, sums);
}

struct bide__breaker_counts bide__breaker_counted(
    const struct bide__breaker *b, const struct bide__policy *p,
    const struct bide__lane *lanes, uint16_t generation, int64_t now)
{
    if (p->conf.breaker.kind == BIDE_BREAKER_COUNT) {
        uint64_t sums =
            atomic_load_explicit(&b->ring_sums, memory_order_acquire);
        if (generation_of_sums(sums) != generation)
            return (struct bide__breaker_counts){ 0, 0, 0 };
        return (struct bide__breaker_counts){ at_least_0(sum_of(sums, 2)),
                                              at_least_0(sum_of(sums, 1)),
                                              at_least_0(sum_of(sums, 0)) };
    }
    uint64_t tick = bide__tick(p->breaker_ticks, now);
    uint8_t era = bide__breaker_era(generation);
#define SUM(member)                                                            \
    bide__lanes_sum(lanes, p->conf.lanes, offsetof(struct bide__lane, member), \
                    tick, era)
    uint64_t failed = SUM(failed);
    return (struct bide__breaker_counts){ failed + SUM(succeeded), failed,
                                          SUM(slow) };
#undef SUM
}

/* ===== failures in a row ===== */

static bool count_in_a_row(const struct bide__breaker_env *env,
                           uint16_t generation, bool ill)
{
    struct bide__breaker *b = env->breaker;
    uint32_t limit = env->policy->conf.breaker.consecutive;
    if (limit == 0)
        return false;
    uint64_t tag = (uint64_t)generation << 32;
    uint64_t seen = atomic_load_explicit(&b->in_a_row, memory_order_relaxed);
    uint64_t want;
    do {
        uint64_t count = seen >> 32 == generation ? (uint32_t)seen : 0;
        want = tag | (ill ? count + 1 : 0);
        if (want == seen)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        &b->in_a_row, &seen, want, memory_order_relaxed, memory_order_relaxed));
    return ill && (uint32_t)want >= limit;
}

bool bide__breaker_count(const struct bide__breaker_env *env,
                         uint16_t generation, bool ill, bool slow, int64_t now)
{
    bool rates =
        env->policy->conf.breaker.kind == BIDE_BREAKER_COUNT
            ? count_in_ring(env, generation, ill, slow)
            : count_in_time(env, bide__breaker_era(generation), ill, slow, now);
    return count_in_a_row(env, generation, ill) || rates;
}
