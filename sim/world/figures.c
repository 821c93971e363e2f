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

/* ===== calls ===== */

/* Of one fleet, or of all of them. */
struct sums {
    double calls, attempts, hedges, good, bad, late;
};

/* How long a call takes if nobody else is around, on average. */
static double usual_ns(const struct sim_model *m, uint32_t service)
{
    const struct sim_model_service *s = &m->services[service];
    double ns = sim_dist_mean(&s->time) + 2 * sim_dist_mean(&s->network);
    for (uint32_t i = 0; i < s->n_edges; i++)
        ns += s->edges[i].times * usual_ns(m, s->edges[i].service);
    return ns;
}

/* Calls that could have ended by the end of the run (result.h). */
static uint64_t unfinished(const struct sim_record *rec, uint32_t fleet)
{
    const struct sim_model *m = rec->build->model;
    int64_t end = rec->result->ended_ns;
    double most = (double)(end - m->warm_up_ns) / 10;
    double ns = 10 * usual_ns(m, m->fleets[fleet].service);
    int64_t before = end - sim_to_ns(ns < most ? ns : most);
    return sim_caller_older(&rec->build->fleet_callers[fleet], before);
}

static double reached(const struct sim_record *rec, uint32_t i)
{
    return (double)(sim_reached(&rec->result->callers[i].total) -
                    sim_reached(&rec->warm.callers[i]));
}

static struct sums count(const struct sim_record *rec, uint32_t i)
{
    const struct sim_caller_totals *t = &rec->result->callers[i].total;
    const struct sim_caller_totals *warm = &rec->warm.callers[i];
    return (struct sums){
        .calls = (double)(t->calls - warm->calls),
        .attempts = reached(rec, i),
        .hedges = (double)(t->hedges - warm->hedges),
        .good = (double)(t->successes - warm->successes),
        .bad = (double)(t->failures - warm->failures),
        .late = (double)unfinished(rec, i),
    };
}

static void add(struct sums *all, const struct sums *s)
{
    all->calls += s->calls;
    all->attempts += s->attempts;
    all->hedges += s->hedges;
    all->good += s->good;
    all->bad += s->bad;
    all->late += s->late;
}

static void figure_calls(const struct sim_record *rec, const struct sums *s,
                         double *figure)
{
    const struct sim_result *r = rec->result;
    double seconds = (double)(r->ended_ns - r->model->warm_up_ns) / 1e9;
    double all = s->good + s->bad + s->late;
    figure[SIM_FIG_GOODPUT] = by(s->good, seconds);
    figure[SIM_FIG_SUCCESS] = by(s->good, all);
    figure[SIM_FIG_FAILURES] = by(s->bad, all);
    figure[SIM_FIG_UNFINISHED] = by(s->late, all);
    figure[SIM_FIG_ATTEMPTS] = by(s->attempts, seconds);
    figure[SIM_FIG_AMPLIFICATION] = by(s->attempts, s->calls);
    figure[SIM_FIG_HEDGES] = by(s->hedges, s->calls);
}

/* ===== latency ===== */

static void add_latency(struct sim_histogram *sum,
                        const struct sim_histogram *all,
                        const struct sim_histogram *warm)
{
    sum->count += all->count - warm->count;
    sum->sum_ns += all->sum_ns - warm->sum_ns;
    for (int i = 0; i < SIM_BUCKETS; i++)
        sum->bucket[i] += all->bucket[i] - warm->bucket[i];
}

/* Of the fleets from the first to before the last. */
static void figure_latency(struct sim_record *rec, uint32_t from, uint32_t to,
                           double *figure)
{
    const struct sim_result *r = rec->result;
    struct sim_histogram *h = &rec->scratch;
    *h = (struct sim_histogram){ 0 };
    for (uint32_t i = from; i < to; i++)
        add_latency(h, &r->callers[i].latency, &rec->warm.latency[i]);
    figure[SIM_FIG_TIMED] = (double)h->count;
    if (h->count == 0)
        return;
    figure[SIM_FIG_MEAN] = sim_histogram_mean(h) / 1e9;
    figure[SIM_FIG_P50] = sim_histogram_quantile(h, 0.5) / 1e9;
    figure[SIM_FIG_P99] = sim_histogram_quantile(h, 0.99) / 1e9;
    figure[SIM_FIG_P999] = sim_histogram_quantile(h, 0.999) / 1e9;
}

/* ===== services ===== */

/* The greater of a figure and a value; either may be NaN. */
static void raise_to(double *figure, double x)
{
    if (!(*figure >= x) && !isnan(x))
        *figure = x;
}

static void figure_service(struct sim_record *rec, uint32_t i, double *figure)
{
    const struct sim_model *m = rec->build->model;
    struct sim_service_result *s = &rec->result->services[i];
    const struct sim_service_result *warm = &rec->warm.services[i];
    double there_ns = (double)(rec->result->ended_ns - m->warm_up_ns) *
                      m->services[i].workers *
                      sim_service_servers(&m->services[i]);
    s->utilisation = s->queue_wait_s = NAN;
    if (m->services[i].workers == SIM_UNBOUNDED)
        return;
    s->utilisation =
        by(s->busy_ns + s->held_ns - warm->busy_ns - warm->held_ns, there_ns);
    s->queue_wait_s = by((s->queued_ns - warm->queued_ns) / 1e9,
                         (double)(s->begun - warm->begun));
    raise_to(&figure[SIM_FIG_UTILISATION], s->utilisation);
    raise_to(&figure[SIM_FIG_QUEUE_WAIT], s->queue_wait_s);
}

static void figure_work(struct sim_record *rec, double *figure)
{
    const struct sim_result *r = rec->result;
    double duplicates = 0, busy_ns = 0, wasted_ns = 0;
    for (uint32_t i = 0; i < r->model->n_services; i++) {
        const struct sim_service_result *s = &r->services[i];
        const struct sim_service_result *warm = &rec->warm.services[i];
        duplicates += (double)(s->duplicates - warm->duplicates);
        busy_ns += s->busy_ns - warm->busy_ns;
        wasted_ns += s->wasted_ns - warm->wasted_ns;
        figure_service(rec, i, figure);
    }
    figure[SIM_FIG_DUPLICATES] = duplicates;
    figure[SIM_FIG_WASTED] = by(wasted_ns, busy_ns);
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
        sent[m->fleets[i].service] += reached(rec, n);
    for (uint32_t i = 0; i < m->n_services; i++)
        for (uint32_t e = 0; e < m->services[i].n_edges; e++, n++)
            sent[m->services[i].edges[e].service] += reached(rec, n);
    for (uint32_t i = 0; i < m->n_services; i++)
        most = sent[i] > most ? sent[i] : most;
    free(sent);
    return most;
}

static double peak(const struct sim_record *rec)
{
    const struct sim_beats *b = &rec->result->beats;
    int64_t warm = rec->build->model->warm_up_ns;
    uint32_t first = (uint32_t)((warm + b->length_ns - 1) / b->length_ns);
    double most = 0;
    if (first >= b->n)
        return NAN;
    for (uint32_t i = first; i < b->n; i++) {
        double here = (double)(b->arrived[i] - (i ? b->arrived[i - 1] : 0));
        most = here > most ? here : most;
    }
    double all =
        (double)(b->arrived[b->n - 1] - (first ? b->arrived[first - 1] : 0));
    return by(most * (b->n - first), all);
}

/* ===== queues ===== */

static void figure_queue(const struct sim_record *rec, uint32_t fleet,
                         double *figure)
{
    const struct sim_queue *q = &rec->build->queues[fleet];
    const struct sim_model *m = rec->build->model;
    int64_t end = rec->result->ended_ns;
    double there_ns = (double)(end - m->warm_up_ns) * q->conf.workers;
    if (!q->caller)
        return;
    struct sim_queue_totals t = sim_queue_totals(q, end);
    figure[SIM_FIG_DEAD] = (double)t.dead;
    figure[SIM_FIG_DEAD_AFTER] = by(t.dead_ns / 1e9, (double)t.dead);
    figure[SIM_FIG_NUMBER] = t.most_attempts;
    figure[SIM_FIG_DEPTH] = (double)t.most;
    figure[SIM_FIG_OLDEST] = (double)t.oldest_ns / 1e9;
    figure[SIM_FIG_FIRST_WAIT] = by(t.first_wait_ns / 1e9, (double)t.firsts);
    figure[SIM_FIG_RETRY_WAIT] = t.retry_wait > 0 ? t.retry_wait : NAN;
    figure[SIM_FIG_PAUSES] = (double)t.pauses;
    figure[SIM_FIG_PAUSED] = by((double)t.paused_ns, there_ns);
    figure[SIM_FIG_PROBES] = by((double)t.probes, (double)t.paused_ns / 1e9);
}

/* Of all queues together: how many in all, and of the rest the greatest. */
static void gather_queue(const double *of_one, double *figure)
{
    for (int f = 0; f < SIM_FIGURES; f++) {
        bool sums = f == SIM_FIG_DEAD || f == SIM_FIG_PAUSES;
        if (!sim_figure_of_queues((enum sim_figure)f))
            continue;
        if (sums && figure[f] >= 0 && !isnan(of_one[f]))
            figure[f] += of_one[f];
        else
            raise_to(&figure[f], of_one[f]);
    }
}

/* ===== all of them ===== */

/* When the last of the affected calls of a fleet ended; NaN: there are none, or
 * the fault goes on. */
static double all_back(const struct sim_record *rec, uint32_t fleet)
{
    const struct sim_caller *c = &rec->build->fleet_callers[fleet];
    bool stops = c->affected_ns == INT64_MAX;
    if (c->affected_ns == 0 ||
        (!stops && c->affected_ns > rec->result->ended_ns))
        return NAN;
    if (sim_caller_older(c, c->affected_ns) > 0)
        return INFINITY;
    return c->last_back_ns ? (double)c->last_back_ns / 1e9 : NAN;
}

static void figure_fleet(struct sim_record *rec, uint32_t i, struct sums *all)
{
    double *figure = rec->result->callers[i].figure;
    struct sums s = count(rec, i);
    add(all, &s);
    figure_calls(rec, &s, figure);
    figure_latency(rec, i, i + 1, figure);
    figure_queue(rec, i, figure);
    gather_queue(figure, rec->result->figure);
    figure[SIM_FIG_ALL_BACK] = all_back(rec, i);
    raise_to(&rec->result->figure[SIM_FIG_ALL_BACK], figure[SIM_FIG_ALL_BACK]);
}

static void clear(double *figure)
{
    for (int f = 0; f < SIM_FIGURES; f++)
        figure[f] = NAN;
}

void sim_figures(struct sim_record *rec)
{
    struct sim_result *r = rec->result;
    struct sums all = { 0 };
    clear(r->figure);
    for (uint32_t i = 0; i < r->n_callers; i++)
        clear(r->callers[i].figure);
    for (uint32_t i = 0; i < r->model->n_fleets; i++)
        figure_fleet(rec, i, &all);
    figure_calls(rec, &all, r->figure);
    figure_latency(rec, 0, r->model->n_fleets, r->figure);
    figure_work(rec, r->figure);
    r->figure[SIM_FIG_DEEPEST] = by(most_attempts(rec), all.calls);
    r->figure[SIM_FIG_PEAK] = peak(rec);
}
