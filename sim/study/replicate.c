/* Runs the replications of every variant in the pool. Replication 0 of each
 * variant runs first, so that variants can be compared even if the user stops
 * early. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/study/plan.h"
#include "sim/study/pool.h"

/* What is kept of a run. */
struct outcome {
    bool done; /* it ran to its end */
    struct sim_result *run; /* if it is needed for bands; or NULL */
    double *figures; /* of the model, then of each fleet: SIM_FIGURES each; then
                      * utilisation and queue wait of each service */
};

/* Threads: shared. Each run has its own outcome; the lock protects the sums.
 * Counts are whole numbers, so their sum does not depend on the order. */
struct replication {
    const struct sim_plan *plan;
    struct sim_summary *summary;
    struct outcome *outcomes; /* [replication * n_variants + variant] */
    pthread_mutex_t lock;
};

/* ===== one run ===== */

/* The first variant that is the same as this one. */
static uint32_t twin_of(const struct sim_model *m, uint32_t variant)
{
    uint32_t first = 0;

    while (first < variant && !sim_same_variant(m, first, variant))
        first++;
    return first;
}

static void get_job(void *self, uint32_t n, struct sim_job *ret)
{
    const struct replication *all = self;
    uint32_t variants = all->summary->n_variants;

    ret->model = all->plan->model;
    ret->variant = ret->model->n_variants ? n % variants : SIM_NONE;
    ret->seed = all->plan->seed + n / variants;
    ret->twin = twin_of(ret->model, n % variants) + n / variants * variants;
    ret->samples = n < variants ? all->plan->run_conf.samples : 0;
}

static void add_fleets(double **sum, const struct sim_result *r,
                       enum sim_caller_channel channel)
{
    if (!*sum)
        *sum = sim_new(r->n_steps, sizeof **sum);
    for (uint32_t c = 0; c < r->n_callers; c++)
        for (uint32_t i = 0; r->callers[c].is_fleet && i < r->n_steps; i++)
            (*sum)[i] += r->callers[c].value[channel][i];
}

static void add_series(struct sim_variant_summary *v,
                       const struct sim_result *r)
{
    add_fleets(&v->mean[0], r, SIM_ATTEMPTS);
    add_fleets(&v->mean[1], r, SIM_SUCCESSES);
}

static size_t n_figures(const struct sim_model *m)
{
    return (size_t)SIM_FIGURES * (1 + m->n_fleets) + 2 * m->n_services;
}

static double *copy_figures(const struct sim_result *r)
{
    const struct sim_model *m = r->model;
    double *to = sim_new(n_figures(m), sizeof *to), *at = to;

    memcpy(at, r->figure, sizeof r->figure);
    for (uint32_t i = 0; i < m->n_fleets; i++)
        memcpy(at += SIM_FIGURES, r->callers[i].figure, sizeof r->figure);
    at += SIM_FIGURES;
    for (uint32_t i = 0; i < m->n_services; i++) {
        *at++ = r->services[i].utilisation;
        *at++ = r->services[i].queue_wait_s;
    }
    return to;
}

static void take_result(void *self, uint32_t n, struct sim_result *r)
{
    struct replication *all = self;
    struct outcome *o = &all->outcomes[n];
    struct sim_variant_summary *v =
        &all->summary->variants[n % all->summary->n_variants];

    o->done = !r->cut_short;
    o->figures = copy_figures(r);
    if (o->done) {
        pthread_mutex_lock(&all->lock);
        add_series(v, r);
        v->n++;
        pthread_mutex_unlock(&all->lock);
    }
    if (n < all->summary->n_variants)
        v->first = r;
    else if (o->done && n / all->summary->n_variants < SIM_KEPT)
        o->run = r;
    else
        sim_result_free(r);
}

static bool stop_now(void *self, double done, uint64_t events)
{
    (void)self;
    (void)done;
    (void)events;
    return false;
}

/* For a variant that had not begun when the user stopped: an empty result of
 * the right shape. */
static void fill_gap(struct replication *all, uint32_t variant)
{
    struct sim_run_conf run_conf = { .steps = all->plan->run_conf.steps,
                                  .progress = stop_now };
    struct sim_job job = { .samples = 0 };

    get_job(all, variant, &job);
    take_result(all, variant,
                sim_run(job.model, job.variant, job.seed, &run_conf));
}

/* ===== all together ===== */

/* Figure f, at that place among those of a run, over the finished runs; if none
 * has finished, that of the first run as far as it got. */
static struct sim_interval sum_figure(const struct replication *all,
                                      uint32_t variant, enum sim_figure f,
                                      size_t at, double *values)
{
    uint32_t variants = all->summary->n_variants, n = 0;

    for (uint32_t k = 0; k < all->plan->replications; k++) {
        const struct outcome *o = &all->outcomes[k * variants + variant];
        if (o->done)
            values[n++] = o->figures[at];
    }
    if (n == 0)
        values[n++] = all->outcomes[variant].figures[at];
    return sim_interval_of(f, values, n);
}

/* Each fleet, and each service. */
static void sum_parts(const struct replication *all, uint32_t variant,
                      double *values)
{
    const struct sim_model *m = all->plan->model;
    struct sim_variant_summary *v = &all->summary->variants[variant];
    size_t at = SIM_FIGURES, n = (size_t)m->n_fleets * SIM_FIGURES;

    v->fleets = sim_new(n, sizeof *v->fleets);
    for (size_t i = 0; i < n; i++)
        v->fleets[i] = sum_figure(
            all, variant, (enum sim_figure)(i % SIM_FIGURES), at++, values);
    v->services = sim_new(m->n_services, sizeof *v->services);
    for (uint32_t i = 0; i < m->n_services; i++) {
        v->services[i].utilisation =
            sum_figure(all, variant, SIM_FIG_UTILISATION, at++, values);
        v->services[i].queue_wait =
            sum_figure(all, variant, SIM_FIG_QUEUE_WAIT, at++, values);
    }
}

/* Those that bands are made of, in the order of their seeds. */
static void keep_runs(struct replication *all, uint32_t variant)
{
    struct sim_variant_summary *v = &all->summary->variants[variant];

    v->runs = sim_new(SIM_KEPT, sizeof(struct sim_result *));
    v->runs[v->n_runs++] = v->first;
    for (uint32_t k = 1; k < all->plan->replications && k < SIM_KEPT; k++) {
        struct sim_result *r =
            all->outcomes[k * all->summary->n_variants + variant].run;
        if (r)
            v->runs[v->n_runs++] = r;
    }
}

static void sum_up(struct replication *all, uint32_t variant)
{
    struct sim_variant_summary *v = &all->summary->variants[variant];
    double *values = sim_new(all->plan->replications, sizeof *values);

    all->summary->cut_short |= v->n < all->plan->replications;
    for (int f = 0; f < SIM_FIGURES; f++)
        v->figure[f] =
            sum_figure(all, variant, (enum sim_figure)f, (size_t)f, values);
    sum_parts(all, variant, values);
    v->watched_s = v->first->watched_s;
    if (v->n == 0)
        add_series(v, v->first);
    for (int c = 0; c < 2; c++)
        for (uint32_t i = 0; v->n > 1 && i < v->first->n_steps; i++)
            v->mean[c][i] /= v->n;
    free(values);
}

static struct sim_summary *make_summary(const struct sim_plan *plan)
{
    struct sim_summary *s = sim_new(1, sizeof *s);

    s->model = plan->model;
    s->seed = plan->seed;
    s->replications = plan->replications;
    s->n_variants = sim_model_runs(plan->model);
    s->variants = sim_new(s->n_variants, sizeof *s->variants);
    for (uint32_t v = 0; v < s->n_variants; v++)
        s->variants[v].name = sim_model_variant_name(plan->model, v);
    return s;
}

struct sim_summary *sim_replicate(const struct sim_plan *plan)
{
    struct replication all = { .plan = plan, .summary = make_summary(plan) };
    struct sim_summary *s = all.summary;
    uint32_t n = s->n_variants * plan->replications;
    struct sim_pool pool = { .n_jobs = n,
                             .n_twins = n,
                             .threads = plan->threads,
                             .run_conf = plan->run_conf,
                             .self = &all,
                             .job = get_job,
                             .take = take_result };

    pthread_mutex_init(&all.lock, NULL);
    all.outcomes = sim_new(n, sizeof *all.outcomes);
    sim_pool_run(&pool, &s->events);
    for (uint32_t v = 0; v < s->n_variants; v++) {
        if (!s->variants[v].first)
            fill_gap(&all, v);
        sum_up(&all, v);
        keep_runs(&all, v);
    }
    pthread_mutex_destroy(&all.lock);
    for (uint32_t i = 0; i < n; i++)
        free(all.outcomes[i].figures);
    free(all.outcomes);
    return s;
}
