/* Row 2: the waits that the engine asks for, one call after the other. */
#include <stdlib.h>

#include "bide/bide.h"
#include "sim/model/luck.h"
#include "sim/model/memory.h"
#include "sim/model/number.h"
#include "sim/oracle/harness.h"
#include "sim/oracle/oracle.h"
#include "sim/oracle/waits.h"

enum { CALLS = 20000, RETRIES = 4 };

static const int64_t base = 100 * BIDE_MILLISECOND;

/* What is known about the waits before retry n (from 0), and samples of
 * them. */
struct waits {
    bide_jitter jitter;
    double mean[RETRIES]; /* expected, of base */
    double sum[RETRIES], squares[RETRIES];
    double *place[RETRIES]; /* of each in its range, from 0 to 1 */
};

static double compare(double x, double y)
{
    return (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
    return (int)compare(*(const double *)a, *(const double *)b);
}

/* The distance of a sample from the uniform distribution, scaled so that it is
 * comparable over all n (Stephens 1970). */
static double ks(double *x, int n)
{
    double most = 0, root = sim_sqrt(n);
    qsort(x, (size_t)n, sizeof *x, by_size);
    for (int i = 0; i < n; i++) {
        double above = (i + 1.0) / n - x[i], below = x[i] - (double)i / n;
        most = above > most ? above : most;
        most = below > most ? below : most;
    }
    return most * (root + 0.12 + 0.11 / root);
}

/* The range according to the design, not to the engine. */
static void range(const struct waits *w, int n, double previous, double *lo,
                  double *hi)
{
    double v = (double)(base << n);
    *lo = w->jitter == BIDE_JITTER_EQUAL ? v / 2 : 0;
    *hi = v;
    if (w->jitter == BIDE_JITTER_DECORRELATED) {
        *lo = (double)base;
        *hi = 3 * previous;
    }
}

/* A call whose attempts all fail at once; its waits are added to `w`. */
static void one_call(struct waits *w, bide_dep *dep, struct sim_luck *luck,
                     int i)
{
    static const bide_outcome failed = { .cls = BIDE_TRANSIENT };
    bide_rng rng = sim_luck_rng(luck);
    bide_call call;
    int64_t now = 0;
    double previous = (double)base;
    bide_call_begin(&call, dep, &(bide_op){ .idempotent = true, .rng = &rng },
                    now);
    for (int n = -1;;) {
        luck->attempt = bide_call_attempts(&call);
        luck->draw = 0;
        bide_decision d = bide_call_next(&call, now);
        if (d.action == BIDE_DONE)
            break;
        if (d.action == BIDE_TRY) {
            bide_call_report(&call, d.attempt, &failed, now);
            n++;
            continue;
        }
        double wait = (double)(d.at_ns - now), lo, hi;
        range(w, n, previous, &lo, &hi);
        w->sum[n] += wait;
        w->squares[n] += wait * wait;
        w->place[n][i] = (wait - lo + 0.5) / (hi - lo + 1);
        previous = wait;
        now = d.at_ns;
    }
    bide_call_end(&call, now);
}

static void check(struct sim_report *r, struct waits *w)
{
    const char *name = bide_jitter_name(w->jitter);
    for (int n = 0; n < RETRIES; n++) {
        double mean = w->sum[n] / CALLS / (double)base;
        double square = w->squares[n] / CALLS / (double)base / (double)base;
        double variance = square - mean * mean;
        double sigma = variance > 0 ? sim_sqrt(variance / CALLS) : 0;
        sim_expect(r, SIM_NEAR, w->mean[n], mean,
                   w->jitter == BIDE_JITTER_NONE ? 0 : 4 * sigma,
                   "%s, mean wait %d, of base", name, n + 1);
        if (w->jitter != BIDE_JITTER_NONE) /* alpha = 1e-4 */
            sim_expect(r, SIM_SHAPE, 2.2253, ks(w->place[n], CALLS), 0,
                       "%s, shape of wait %d (KS)", name, n + 1);
    }
}

static void run(struct sim_report *r, struct waits *w)
{
    bide_policy_conf conf = sim_bare_policy(RETRIES + 1);
    bide_dep *dep;
    conf.backoff.jitter = w->jitter;
    conf.backoff.base_ns = base;
    conf.backoff.cap_ns = BIDE_HOUR;
    if (bide_dep_new_in(&dep, "waits", &conf,
                        &(bide_host){ .seed = &r->seed }) < 0)
        abort();
    for (int n = 0; n < RETRIES; n++)
        w->place[n] = sim_new(CALLS, sizeof(double));
    for (int i = 0; i < CALLS; i++) {
        struct sim_luck luck = { .seed = r->seed,
                                 .client = (uint64_t)i,
                                 .call = w->jitter };
        one_call(w, dep, &luck, i);
    }
    check(r, w);
    r->events += (uint64_t)CALLS * (2 * RETRIES + 1);
    for (int n = 0; n < RETRIES; n++)
        free(w->place[n]);
    bide_dep_free(dep);
}

void sim_oracle_waits(struct sim_report *r)
{
    struct waits all[] = {
        { .jitter = BIDE_JITTER_NONE, .mean = { 1, 2, 4, 8 } },
        { .jitter = BIDE_JITTER_FULL, .mean = { 0.5, 1, 2, 4 } },
        { .jitter = BIDE_JITTER_EQUAL, .mean = { 0.75, 1.5, 3, 6 } },
        { .jitter = BIDE_JITTER_DECORRELATED, .mean = { 2, 3.5, 5.75, 9.125 } },
    };
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        run(r, &all[i]);
}
