/* The stability map: load against the length of the hit. */
#include "sim/study/stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/model/model_copy.h"
#include "sim/study/pool.h"
#include "sim/study/recovery.h"

static const int64_t least_tail_ns = INT64_C(60000000000);

const char *sim_fate_name(enum sim_fate fate)
{
    static const char *const names[] = { "unknown", "recovers", "vulnerable",
                                         "never", "overloaded" };

    return names[fate];
}

/* ===== points ===== */

static void add_stop(struct sim_model *d)
{
    int64_t from_ns = d->warm_up_ns + d->duration_ns / 4;

    sim_copy_fault(d, &(struct sim_fault){ .kind = SIM_STOP,
                                           .service = d->fleets[0].service,
                                           .shard = SIM_NONE,
                                           .fleet = SIM_NONE,
                                           .from_ns = from_ns,
                                           .to_ns = from_ns });
}

/* How much time a run has to recover: at first, and the second time. */
static int64_t short_tail(int64_t length_ns)
{
    return 4 * length_ns > least_tail_ns ? 4 * length_ns : least_tail_ns;
}

static int64_t long_tail(const struct sim_model *m, int64_t length_ns)
{
    int64_t own_ns = m->n_faults ? m->duration_ns - sim_model_faults_end(m) : 0;

    return own_ns > short_tail(length_ns) ? own_ns : short_tail(length_ns);
}

static struct sim_model *make_point(const struct sim_model *m, double factor,
                                    int64_t length_ns)
{
    struct sim_model *d = sim_copy_new(m);

    if (d->n_faults == 0)
        add_stop(d);
    for (uint32_t i = 0; i < d->n_faults; i++)
        d->faults[i].to_ns = d->faults[i].from_ns + length_ns;
    d->duration_ns = sim_model_faults_end(d) + short_tail(length_ns);
    for (uint32_t i = 0; i < d->n_fleets; i++)
        sim_fleet_scale(&d->fleets[i], factor);
    return d;
}

const char *sim_stability_new(struct sim_stability **ret,
                              const struct sim_model *m, const double *loads,
                              uint32_t n_loads, const int64_t *lengths_ns,
                              uint32_t n_lengths)
{
    double use = sim_utilisation(m), rate = 0;

    if (!(use > 0) || !isfinite(use))
        return "nothing limits what its services can serve, or no fleet comes "
               "at a rate; expected `rate` clients and a service with "
               "`workers`";
    struct sim_stability *s = sim_new(1, sizeof *s);
    for (uint32_t i = 0; i < m->n_fleets; i++)
        rate += sim_fleet_rate(&m->fleets[i], m->duration_ns);
    *s = (struct sim_stability){ .model = m,
                                 .capacity = rate / use,
                                 .n_loads = n_loads,
                                 .n_lengths = n_lengths,
                                 .n_variants = sim_model_runs(m) };
    s->loads = sim_new(n_loads, sizeof *s->loads);
    memcpy(s->loads, loads, n_loads * sizeof *loads);
    s->lengths_ns = sim_new(n_lengths, sizeof *s->lengths_ns);
    memcpy(s->lengths_ns, lengths_ns, n_lengths * sizeof *lengths_ns);
    s->points = sim_new(n_loads * n_lengths, sizeof(struct sim_model *));
    for (uint32_t i = 0; i < n_loads * n_lengths; i++)
        s->points[i] =
            make_point(m, loads[i % n_loads] / use, lengths_ns[i / n_loads]);
    *ret = s;
    return NULL;
}

void sim_stability_free(struct sim_stability *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->n_loads * s->n_lengths; i++)
        sim_copy_free(s->points[i]);
    free(s->points);
    free(s->cells);
    free(s->loads);
    free(s->lengths_ns);
    free(s);
}

/* ===== runs ===== */

/* Threads: shared by the pool; each job has its own place in `recover`. */
struct mapping {
    const struct sim_stability *map;
    const struct sim_run_conf *run_conf;
    double *recover; /* s; infinite: never; -infinite: overloaded; NaN: not
                        * run. [seed][cell] */
    int64_t longest_ns, beat_ns; /* of the points: what they share twins by */
    uint32_t *todo;              /* the runs of this pass */
    double from, size; /* this pass as a part of the whole, for progress */
    uint64_t before;   /* events of the first pass */
};

static uint32_t n_cells(const struct sim_stability *s)
{
    return s->n_variants * s->n_lengths * s->n_loads;
}

static void get_job(void *self, uint32_t n, struct sim_job *ret)
{
    const struct mapping *all = self;
    const struct sim_stability *s = all->map;
    uint32_t run = all->todo[n];
    uint32_t cell = run % n_cells(s), points = s->n_loads * s->n_lengths;

    ret->model = s->points[cell % points];
    ret->variant = s->model->n_variants ? cell / points : SIM_NONE;
    ret->seed = s->seed + run / n_cells(s);
    /* The lengths of the hit differ in nothing else. */
    ret->twin =
        (run / n_cells(s) * s->n_variants + cell / points) * s->n_loads +
        cell % s->n_loads;
    ret->twin_duration_ns = all->longest_ns;
}

static void take_result(void *self, uint32_t n, struct sim_result *r)
{
    struct mapping *all = self;
    uint32_t run = all->todo[n];

    if (!r->cut_short)
        all->recover[run] = r->figure[SIM_FIG_RECOVER];
    sim_result_free(r);
}

/* How long those that did not recover were watched. */
static int64_t tail_of(const struct sim_stability *s, int64_t length_ns)
{
    return long_tail(s->model, length_ns);
}

static void judge(const struct sim_stability *s, const double *recover,
                  uint32_t cell, struct sim_cell *ret)
{
    double sum = 0;
    int64_t length_ns = s->lengths_ns[cell / s->n_loads % s->n_lengths];
    double patience_s = 3 * (double)length_ns / 1e9;

    uint32_t back;

    if (patience_s < 10)
        patience_s = 10;
    ret->watched_s = (double)tail_of(s, length_ns) / 1e9;
    for (uint32_t k = 0; k < s->seeds; k++) {
        double x = recover[k * n_cells(s) + cell];
        ret->runs += isnan(x) ? 0 : 1;
        ret->stuck += isinf(x) && x > 0 ? 1 : 0;
        ret->overloaded += isinf(x) && x < 0 ? 1 : 0;
        sum += isfinite(x) ? x : 0;
    }
    back = ret->runs - ret->stuck - ret->overloaded;
    ret->recover_s = back > 0 ? sum / back : NAN;
    sim_wilson(ret->stuck, ret->runs - ret->overloaded, &ret->low, &ret->high);
    ret->fate = ret->runs == 0        ? SIM_FATE_UNKNOWN
                : ret->overloaded > 0 ? SIM_FATE_OVERLOADED
                : back == 0           ? SIM_FATE_NEVER
                : ret->stuck > 0 || ret->recover_s > patience_s
                    ? SIM_FATE_VULNERABLE
                    : SIM_FATE_RECOVERS;
}

static bool tell(void *self, double done, uint64_t events)
{
    const struct mapping *all = self;

    return !all->run_conf->progress ||
           all->run_conf->progress(all->run_conf->self, all->from + done * all->size,
                                all->before + events);
}

static bool run_jobs(struct mapping *all, const struct sim_plan *plan,
                     uint32_t n, uint64_t *ret_events)
{
    const struct sim_stability *s = all->map;
    struct sim_pool pool = { .n_jobs = n,
                             .n_twins = s->n_variants * s->n_loads *
                                        plan->replications,
                             .threads = plan->threads,
                             .run_conf = plan->run_conf,
                             .self = all,
                             .job = get_job,
                             .take = take_result };

    all->longest_ns = 0;
    for (uint32_t i = 0; i < s->n_loads * s->n_lengths; i++)
        if (s->points[i]->duration_ns > all->longest_ns)
            all->longest_ns = s->points[i]->duration_ns;
    pool.run_conf.beat_ns = all->beat_ns;
    pool.run_conf.self = all;
    pool.run_conf.progress = tell;
    return sim_pool_run(&pool, ret_events);
}

/* Runs that have not recovered get as much time as the scenario allows. */
static bool run_again(struct mapping *all, struct sim_stability *s,
                      const struct sim_plan *plan)
{
    uint32_t n = n_cells(s) * plan->replications, n_again = 0;
    uint64_t events = 0;
    bool whole;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t point = i % (s->n_loads * s->n_lengths);
        int64_t length_ns = s->lengths_ns[point / s->n_loads];
        if (isinf(all->recover[i]) && all->recover[i] > 0 &&
            long_tail(s->model, length_ns) > short_tail(length_ns))
            all->todo[n_again++] = i;
    }
    for (uint32_t i = 0; i < s->n_loads * s->n_lengths; i++)
        s->points[i]->duration_ns =
            sim_model_faults_end(s->points[i]) +
            long_tail(s->model, s->lengths_ns[i / s->n_loads]);
    whole = n_again == 0 || run_jobs(all, plan, n_again, &events);
    s->events += events;
    return whole;
}

void sim_stability_run(struct sim_stability *s, const struct sim_plan *plan)
{
    uint32_t n = n_cells(s) * plan->replications, n_todo = 0;
    struct mapping all = { .map = s, .run_conf = &plan->run_conf, .size = 0.4 };

    all.recover = sim_new(n, sizeof *all.recover);
    all.todo = sim_new(n, sizeof *all.todo);
    /* What is too much without a hit need not be run with one. */
    for (uint32_t i = 0; i < n; i++) {
        bool over =
            sim_is_overloaded(s->points[i % (s->n_loads * s->n_lengths)]);
        all.recover[i] = over ? -INFINITY : NAN;
        if (!over)
            all.todo[n_todo++] = i;
    }
    all.beat_ns = BIDE_SECOND;
    for (uint32_t i = 0; i < s->n_loads * s->n_lengths; i++)
        if (sim_beat_length(s->points[i]->duration_ns) < all.beat_ns)
            all.beat_ns = sim_beat_length(s->points[i]->duration_ns);
    s->seed = plan->seed;
    s->seeds = plan->replications;
    s->cut_short = n_todo > 0 && !run_jobs(&all, plan, n_todo, &s->events);
    all.from = 0.4;
    all.size = 0.6;
    all.before = s->events;
    if (!s->cut_short)
        s->cut_short = !run_again(&all, s, plan);
    s->cells = sim_new(n_cells(s), sizeof *s->cells);
    for (uint32_t i = 0; i < n_cells(s); i++)
        judge(s, all.recover, i, &s->cells[i]);
    free(all.recover);
    free(all.todo);
}

const struct sim_cell *sim_stability_at(const struct sim_stability *s,
                                        uint32_t variant, uint32_t load,
                                        uint32_t length)
{
    return &s->cells[(variant * s->n_lengths + length) * s->n_loads + load];
}
