/* The figures of the table: everything after the warm-up, over all fleets. */
#include "sim/world/figures.h"

#include <math.h>
#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/world/record.h"

/* NaN if there is nothing to divide by. */
static double by(double x, double y)
{
    return y > 0 ? x / y : NAN;
}

/* ===== sums ===== */

struct sums {
    double calls, attempts, hedges, good, bad;
    double duplicates, busy_ns, wasted_ns;
};

static struct sums add_up(const struct sim_record *rec)
{
    const struct sim_result *r = rec->result;
    struct sums s = { 0 };
    for (uint32_t i = 0; i < r->model->n_fleets; i++) {
        const struct sim_caller_totals *t = &r->callers[i].total;
        const struct sim_caller_totals *warm = &rec->warm.callers[i];
        s.calls += (double)(t->calls - warm->calls);
        s.attempts += (double)(t->attempts - warm->attempts);
        s.hedges += (double)(t->hedges - warm->hedges);
        s.good += (double)(t->successes - warm->successes);
        s.bad += (double)(t->failures - warm->failures);
    }
    for (uint32_t i = 0; i < r->model->n_services; i++) {
        const struct sim_service_result *t = &r->services[i];
        const struct sim_service_result *warm = &rec->warm.services[i];
        s.duplicates += (double)(t->duplicates - warm->duplicates);
        s.busy_ns += t->busy_ns - warm->busy_ns;
        s.wasted_ns += t->wasted_ns - warm->wasted_ns;
    }
    return s;
}

/* ===== latency ===== */

static void add_latency(struct sim_histogram *sum,
                        const struct sim_histogram *all,
                        const struct sim_histogram *warm)
{
    sum->count += all->count - warm->count;
    for (int i = 0; i < SIM_BUCKETS; i++)
        sum->bucket[i] += all->bucket[i] - warm->bucket[i];
}

static void figure_latency(struct sim_record *rec, double *figure)
{
    const struct sim_result *r = rec->result;
    struct sim_histogram *h = &rec->scratch;
    *h = (struct sim_histogram){ 0 };
    for (uint32_t i = 0; i < r->model->n_fleets; i++)
        add_latency(h, &r->callers[i].latency, &rec->warm.latency[i]);
    bool any = h->count > 0;
    figure[SIM_FIG_P50] = any ? sim_histogram_quantile(h, 0.5) / 1e9 : NAN;
    figure[SIM_FIG_P99] = any ? sim_histogram_quantile(h, 0.99) / 1e9 : NAN;
    figure[SIM_FIG_P999] = any ? sim_histogram_quantile(h, 0.999) / 1e9 : NAN;
}

/* ===== load ===== */

/* Attempts at the service that gets most of them. Callers are in the order of
 * the fleets, then of the edges. */
static double most_attempts(const struct sim_record *rec)
{
    const struct sim_model *m = rec->build->model;
    double most = 0, *sent = sim_new(m->n_services, sizeof *sent);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_fleets; i++, n++)
        sent[m->fleets[i].service] +=
            (double)(rec->result->callers[n].total.attempts -
                     rec->warm.callers[n].attempts);
    for (uint32_t i = 0; i < m->n_services; i++)
        for (uint32_t e = 0; e < m->services[i].n_edges; e++, n++)
            sent[m->services[i].edges[e].service] +=
                (double)(rec->result->callers[n].total.attempts -
                         rec->warm.callers[n].attempts);
    for (uint32_t i = 0; i < m->n_services; i++)
        most = sent[i] > most ? sent[i] : most;
    free(sent);
    return most;
}

static double peak(const struct sim_record *rec)
{
    const struct sim_beats *b = &rec->beats;
    int64_t warm = rec->build->model->warm_up_ns;
    uint32_t first = (uint32_t)((warm + b->length_ns - 1) / b->length_ns);
    double most = 0;
    if (first >= b->n)
        return NAN;
    for (uint32_t i = first; i < b->n; i++) {
        double here = (double)(b->arrived[i] - (i ? b->arrived[i - 1] : 0));
        most = here > most ? here : most;
    }
    double all = (double)(b->arrived[b->n - 1] -
                          (first ? b->arrived[first - 1] : 0));
    return by(most * (b->n - first), all);
}

/* ===== all of them ===== */

static void figure_recovery(struct sim_record *rec, double *figure)
{
    double recover = sim_recovery(rec, rec->result->ended_ns);
    figure[SIM_FIG_RECOVER] = recover;
    figure[SIM_FIG_STUCK] = isnan(recover) ? NAN : isinf(recover) ? 1 : 0;
}

void sim_figures(struct sim_record *rec)
{
    struct sim_result *r = rec->result;
    double *figure = r->figure;
    struct sums s = add_up(rec);
    double seconds = (double)(r->ended_ns - r->model->warm_up_ns) / 1e9;
    figure[SIM_FIG_GOODPUT] = by(s.good, seconds);
    figure[SIM_FIG_SUCCESS] = by(s.good, s.good + s.bad);
    figure[SIM_FIG_FAILURES] = by(s.bad, s.good + s.bad);
    figure[SIM_FIG_ATTEMPTS] = by(s.attempts, seconds);
    figure[SIM_FIG_AMPLIFICATION] = by(s.attempts, s.calls);
    figure[SIM_FIG_DEEPEST] = by(most_attempts(rec), s.calls);
    figure[SIM_FIG_DUPLICATES] = s.duplicates;
    figure[SIM_FIG_PEAK] = peak(rec);
    figure[SIM_FIG_WASTED] = by(s.wasted_ns, s.busy_ns);
    figure[SIM_FIG_HEDGES] = by(s.hedges, s.calls);
    figure_latency(rec, figure);
    figure_recovery(rec, figure);
}
