/* The adaptive cap; adaptive.h explains the rules and the word. */
#include "lib/limit/adaptive.h"

#include <stdbool.h>
#include <string.h>

/* Netflix's defaults. */
#define AIMD_RATIO 0.9
#define SMOOTHING 0.2
#define QUEUE 4.0
#define TOLERANCE 1.5
#define LEAST_SLOPE 0.5
#define DECAY 0.95 /* of a long-term latency that is far too high */

enum { WARM_UP = 10, LONG_WINDOW = 600 };
enum { CAP_BITS = 28, FRACTION = 256, SAMPLE_BITS = 4 };

/* What the word holds. */
struct state {
    double cap;
    double latency; /* long-term, ns */
    unsigned samples; /* of it, up to WARM_UP */
};

static uint64_t pack(const struct state *s)
{
    float latency = (float)s->latency;
    uint32_t bits;
    memcpy(&bits, &latency, sizeof bits);
    return (uint64_t)bits << 32 | (uint64_t)s->samples << CAP_BITS |
           (uint64_t)(s->cap * FRACTION + 0.5);
}

static struct state unpack(uint64_t word)
{
    uint32_t bits = (uint32_t)(word >> 32);
    float latency;
    memcpy(&latency, &bits, sizeof latency);
    return (struct state){
        (double)(word & ((UINT64_C(1) << CAP_BITS) - 1)) / FRACTION,
        (double)latency,
        (unsigned)(word >> CAP_BITS & ((1u << SAMPLE_BITS) - 1)),
    };
}

/* ===== the rules ===== */

static bool says_overload(const bide_outcome *out)
{
    return out->cls == BIDE_THROTTLED || out->cls == BIDE_OVERLOADED ||
           (out->cls == BIDE_TRANSIENT &&
            (out->status == 503 || out->fault == BIDE_FAULT_TIMEOUT));
}

/* Whole numbers, as there: 0.9 of 20 is 18, and of 19 it is 17. */
static void aimd(struct state *s, bool overload, uint64_t in_flight)
{
    if (overload)
        s->cap = (double)(uint32_t)(s->cap * AIMD_RATIO);
    else if ((double)in_flight * 2 >= s->cap)
        s->cap += 1;
}

/* The plain mean of the first samples; from then on an exponential one. */
static void add_sample(struct state *s, double took)
{
    const double factor = 2.0 / (LONG_WINDOW + 1);
    if (s->samples < WARM_UP) {
        s->latency = (s->latency * s->samples + took) / (s->samples + 1);
        s->samples++;
    } else {
        s->latency = s->latency * (1 - factor) + took * factor;
    }
}

static double slope_of(double latency, double took)
{
    double slope = TOLERANCE * latency / took;
    if (slope > 1)
        return 1;
    return slope > LEAST_SLOPE ? slope : LEAST_SLOPE;
}

/* After a long overload the latency to compare with is too high, and would let
 * the cap rise into the next one: then it falls faster than by the mean. */
static void gradient(struct state *s, bool overload, int64_t took_ns,
                     uint64_t in_flight)
{
    double took = took_ns > 0 ? (double)took_ns : 1, slope = LEAST_SLOPE;
    if (!overload) {
        add_sample(s, took);
        slope = slope_of(s->latency, took);
        if (s->latency > 2 * took)
            s->latency *= DECAY;
    }
    if ((double)in_flight < s->cap / 2)
        return; /* the cap was not what held it back */
    double next = s->cap * slope + QUEUE;
    s->cap = s->cap * (1 - SMOOTHING) + next * SMOOTHING;
}

/* ===== the word ===== */

void bide__adaptive_init(struct bide__adaptive *a, const bide_limit_conf *conf)
{
    atomic_init(&a->word, pack(&(struct state){ conf->adaptive_initial, 0, 0 }));
}

uint32_t bide__adaptive_limit(const struct bide__adaptive *a)
{
    return (uint32_t)unpack(
               atomic_load_explicit(&a->word, memory_order_relaxed)).cap;
}

int64_t bide__adaptive_latency(const struct bide__adaptive *a)
{
    return (int64_t)unpack(
               atomic_load_explicit(&a->word, memory_order_relaxed)).latency;
}

void bide__adaptive_report(struct bide__adaptive *a,
                           const bide_limit_conf *conf, const bide_outcome *out,
                           int64_t took, uint64_t in_flight)
{
    bool overload = says_overload(out);
    if (!overload && out->cls != BIDE_SUCCESS)
        return;
    uint64_t seen = atomic_load_explicit(&a->word, memory_order_relaxed), want;
    do {
        struct state s = unpack(seen);
        if (conf->adaptive == BIDE_ADAPTIVE_AIMD)
            aimd(&s, overload, in_flight);
        else
            gradient(&s, overload, took, in_flight);
        if (s.cap > conf->adaptive_max)
            s.cap = conf->adaptive_max;
        if (s.cap < conf->adaptive_min)
            s.cap = conf->adaptive_min;
        want = pack(&s);
    } while (want != seen && !atomic_compare_exchange_weak_explicit(
                                 &a->word, &seen, want, memory_order_acq_rel,
                                 memory_order_relaxed));
}
