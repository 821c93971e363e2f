/* Compares a run with its twin, as recovery.h explains. */
#include "sim/study/recovery.h"

#include <math.h>
#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/model/number.h"
#include "sim/study/stability.h"

enum { LEAST_BEATS = 5, SCALES = 3 };

static const double least_calls = 2.5;

/* ===== twins ===== */

/* Takes it out of a result. */
static struct sim_twin *twin_of(struct sim_result *r)
{
    struct sim_twin *t = sim_new(1, sizeof *t);

    t->beats = r->beats;
    t->success = r->figure[SIM_FIG_SUCCESS];
    t->utilisation = r->figure[SIM_FIG_UTILISATION];
    t->events = r->events;
    r->beats = (struct sim_beats){ .n = 0 };
    return t;
}

struct sim_twin *sim_twin_run(const struct sim_model *m, uint32_t variant,
                              uint64_t seed,
                              const struct sim_run_conf *run_conf,
                              int64_t duration_ns)
{
    struct sim_model calm = *m;
    struct sim_run_conf plain = { .steps = 1 };
    struct sim_result *r;
    struct sim_twin *t;

    if (run_conf) {
        plain.self = run_conf->self;
        plain.progress = run_conf->progress;
        plain.beat_ns = run_conf->beat_ns;
    }
    if (plain.beat_ns == 0)
        plain.beat_ns = sim_beat_length(m->duration_ns);
    calm.n_faults = 0;
    calm.duration_ns = duration_ns;
    r = sim_run(&calm, variant, seed, &plain);
    t = r->cut_short ? NULL : twin_of(r);
    sim_result_free(r);
    return t;
}

void sim_twin_free(struct sim_twin *t)
{
    if (!t)
        return;
    free(t->beats.begun);
    free(t->beats.ended);
    free(t->beats.good);
    free(t->beats.arrived);
    free(t);
}

/* ===== overload ===== */

/* A fleet that comes for a while only is no lasting load. */
bool sim_is_overloaded(const struct sim_model *m)
{
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (m->fleets[i].until_ns > 0 || m->fleets[i].most_calls > 0 ||
            m->fleets[i].from_ns > 0)
            return false;
    return sim_utilisation(m) >= 1;
}

static bool is_worn_out(const struct sim_twin *t)
{
    return t->utilisation >= 0.98 && t->success < 0.9;
}

/* ===== noise ===== */

/* What happened in beat i, of totals. */
static double in_beat(const uint64_t *sums, uint32_t i)
{
    return (double)(sums[i] - (i ? sums[i - 1] : 0));
}

/* The stretch of beats that is judged; and where the twin is measured. */
struct watch {
    const struct sim_beats *run, *twin;
    uint32_t from, to; /* after the last fault */
    uint32_t warm;     /* the first beat after the warm-up */
    bool waits;        /* some clients wait for their answers */
};

/* The noise of a count, a beat: its mean, and how much it clusters. */
struct noise {
    double mean, cluster;
};

static double failed_in(const struct sim_beats *b, uint32_t i)
{
    return in_beat(b->ended, i) - in_beat(b->good, i);
}

static double good_in(const struct sim_beats *b, uint32_t i)
{
    return in_beat(b->good, i);
}

typedef double counts(const struct sim_beats *b, uint32_t i);

/* Variance by mean of the count in windows of so many beats. */
static double dispersion(const struct watch *w, counts *count, uint32_t width)
{
    double sum = 0, squares = 0;
    uint32_t n = (w->to - w->warm) / width;

    for (uint32_t i = 0; i < n; i++) {
        double here = 0;
        for (uint32_t k = 0; k < width; k++)
            here += count(w->twin, w->warm + i * width + k);
        sum += here;
        squares += here * here;
    }
    if (!(sum > 0))
        return 1;
    return (squares - sum * sum / n) / (n - 1) / (sum / n);
}

static struct noise noise_of(const struct watch *w, counts *count)
{
    struct noise noise = { 1, 1 };
    uint32_t n = w->to - w->warm;

    for (uint32_t i = w->warm; i < w->to; i++)
        noise.mean += count(w->twin, i);
    noise.mean /= n;
    for (uint32_t width = 1; n / width >= 8; width *= 2)
        noise.cluster = fmax(noise.cluster, dispersion(w, count, width));
    return noise;
}

/* How much what is in progress varies in the twin. */
static double range_in_progress(const struct watch *w)
{
    double least = INFINITY, most = 0;

    for (uint32_t i = w->warm; i < w->to; i++) {
        double now = (double)(w->twin->begun[i] - w->twin->ended[i]);
        least = fmin(least, now);
        most = fmax(most, now);
    }
    return most - least;
}

/* The root of 2 l (cosh x - 1) = x k. */
static double exponent(double l, double k)
{
    double low = 0, high = 40;

    for (int i = 0; i < 60; i++) {
        double x = (low + high) / 2;
        double cosh_x = (sim_exp(x) + sim_exp(-x)) / 2;
        if (2 * l * (cosh_x - 1) > x * k)
            high = x;
        else
            low = x;
    }
    return (low + high) / 2;
}

static double threshold(const struct watch *w, const struct noise *noise,
                        double k)
{
    double n = 2.0 * SCALES * (w->to - w->from);

    if (!(k > 0))
        return least_calls;
    return fmax(least_calls, noise->cluster / exponent(noise->mean, k) *
                                 sim_log(n / SIM_RECOVERY_ERROR));
}

/* ===== comparing ===== */

/* How much worse the run is than its twin in a beat, in calls; and how much of
 * that is allowed for each allowance of 1. */
struct test {
    double (*worse)(const struct watch *w, uint32_t i);
    counts *base;
    double allowances[SCALES];
    struct noise noise;
    double slack; /* added to the threshold */
};

static double more_failures(const struct watch *w, uint32_t i)
{
    return failed_in(w->run, i) - failed_in(w->twin, i);
}

static double less_goodput(const struct watch *w, uint32_t i)
{
    return good_in(w->twin, i) - good_in(w->run, i);
}

static double ended_in(const struct sim_beats *b, uint32_t i)
{
    return in_beat(b->ended, i);
}

/* The beat from which on the run is as well as its twin. */
static uint32_t back_at(const struct watch *w, const struct test *t,
                        double allowed)
{
    double k = 0, sum = 0, most;
    uint32_t zero = w->to;

    for (uint32_t i = w->from; i < w->to; i++)
        k += allowed * t->base(w->twin, i) / (w->to - w->from);
    most = threshold(w, &t->noise, k) + t->slack;
    for (uint32_t i = w->to; i-- > w->from;) {
        sum += t->worse(w, i) - allowed * t->base(w->twin, i);
        if (sum > most)
            return zero;
        if (!(sum > 0)) {
            sum = 0;
            zero = i;
        }
    }
    return w->from;
}

static uint32_t latest(const struct watch *w, const struct test *t)
{
    uint32_t at = w->from;

    for (int s = 0; s < SCALES; s++) {
        uint32_t back = back_at(w, t, t->allowances[s]);
        at = back > at ? back : at;
    }
    return at;
}

static uint32_t compare(const struct watch *w)
{
    struct test failures = { .worse = more_failures,
                             .base = ended_in,
                             .allowances = { 0.01, 0.1, 0.5 },
                             .noise = noise_of(w, failed_in) };
    struct test goodput = { .worse = less_goodput,
                            .base = good_in,
                            .allowances = { 0.05, 0.2, 0.5 },
                            .noise = failures.noise };
    uint32_t a, b;

    if (w->waits)
        goodput.noise = noise_of(w, good_in);
    else
        goodput.slack = 2 * range_in_progress(w);
    a = latest(w, &failures);
    b = latest(w, &goodput);
    return a > b ? a : b;
}

/* ===== judging ===== */

static uint32_t beat_after(const struct sim_beats *b, int64_t at_ns)
{
    return (uint32_t)((at_ns + b->length_ns - 1) / b->length_ns);
}

static bool some_wait(const struct sim_model *m)
{
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (m->fleets[i].arrival == SIM_CLOSED)
            return true;
    return false;
}

static double seconds_to(const struct watch *w, int64_t fault_ns)
{
    uint32_t at = compare(w), watched = w->to - w->from;
    uint32_t tail = watched / 10 > LEAST_BEATS ? watched / 10 : LEAST_BEATS;

    if (at > w->to - tail && at > w->from)
        return INFINITY;
    return at == w->from ? 0
                         : (double)(at * w->run->length_ns - fault_ns) / 1e9;
}

static void set_figures(struct sim_result *r, double seconds)
{
    bool overloaded = isinf(seconds) && seconds < 0;

    r->figure[SIM_FIG_RECOVER] = seconds;
    r->figure[SIM_FIG_OVERLOADED] = overloaded;
    r->figure[SIM_FIG_STUCK] = overloaded || isnan(seconds) ? NAN
                               : isinf(seconds)             ? 1
                                                            : 0;
}

void sim_recovery_judge(struct sim_result *run, const struct sim_twin *twin)
{
    const struct sim_model *m = run->model;
    const struct sim_beats *b = &run->beats;
    int64_t fault_ns = sim_model_faults_end(m);
    uint32_t from = beat_after(b, fault_ns);
    struct watch w = { .run = b,
                       .from = from,
                       .to = b->n,
                       .warm = beat_after(b, m->warm_up_ns),
                       .waits = some_wait(m) };

    if (m->n_faults == 0 || fault_ns > run->ended_ns ||
        from + LEAST_BEATS > b->n)
        return;
    run->watched_s = (double)((b->n - from) * b->length_ns) / 1e9;
    if (!twin || is_worn_out(twin)) {
        set_figures(run, -INFINITY);
        return;
    }
    w.twin = &twin->beats;
    w.warm = w.warm < from ? w.warm : from;
    set_figures(run, seconds_to(&w, fault_ns));
}

struct sim_result *sim_run_judged(const struct sim_model *m, uint32_t variant,
                                  uint64_t seed,
                                  const struct sim_run_conf *run_conf)
{
    bool overloaded = sim_is_overloaded(m);
    struct sim_twin *twin =
        m->n_faults == 0 || overloaded
            ? NULL
            : sim_twin_run(m, variant, seed, run_conf, m->duration_ns);
    struct sim_result *r = sim_run(m, variant, seed, run_conf);

    if (twin || overloaded)
        sim_recovery_judge(r, twin);
    sim_twin_free(twin);
    return r;
}
