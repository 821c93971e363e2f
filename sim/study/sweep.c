/* Sweeps: creates the points as copies of the model, and runs them in the
 * pool. */
#include "sim/study/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bide/error.h"
#include "sim/model/memory.h"
#include "sim/scenario/setting.h"
#include "sim/study/pool.h"

/* ===== points ===== */

static int set_axis(struct sim_sweep *s, struct sim_model *draft, uint32_t axis,
                    uint32_t value, struct sim_fuss *fuss)
{
    const struct sim_axis *a = &s->axes[axis];
    const char *expected = "", *text = a->values[value];
    enum sim_set rc = sim_setting(draft, a->key, text, &expected);

    if (rc == SIM_SET_UNKNOWN)
        sim_fuss_set(fuss, axis, SIM_NONE,
                     "there is nothing to set called `%s`", a->key);
    else if (rc == SIM_SET_WRONG)
        sim_fuss_set(fuss, axis, value, "%s: found `%s`, expected %s", a->key,
                     text, expected);
    return rc == SIM_SET_OK ? 0 : -1;
}

/* Values that are valid by themselves may not be valid together. */
static int check(const struct sim_sweep *s, const struct sim_model *draft,
                 uint32_t axis, uint32_t value, struct sim_fuss *fuss)
{
    const char *why = NULL;
    const char *key = s->axes[axis].key, *text = s->axes[axis].values[value];

    for (uint32_t i = 0; i < draft->n_policies && !why; i++) {
        int rc = bide_policy_check(&draft->policies[i].conf);
        if (rc < 0) {
            sim_fuss_set(fuss, axis, value, "%s=%s: policy `%s`: %s", key, text,
                         draft->policies[i].name, bide_strerror(rc));
            return -1;
        }
    }
    why = sim_model_check(draft);
    if (why)
        sim_fuss_set(fuss, axis, value, "%s=%s: %s", key, text, why);
    return why ? -1 : 0;
}

static int make_point(struct sim_sweep *s, uint32_t n, struct sim_fuss *fuss)
{
    struct sim_model *draft = sim_copy_new(s->model);
    uint32_t x = n % s->axes[0].n, y = n / s->axes[0].n;
    int rc;

    s->points[n] = draft;
    rc = set_axis(s, draft, 0, x, fuss);
    if (rc == 0 && s->n_axes > 1)
        rc = set_axis(s, draft, 1, y, fuss);
    return rc < 0 ? rc : check(s, draft, 0, x, fuss);
}

int sim_sweep_new(struct sim_sweep **ret, const struct sim_model *m,
                  const struct sim_axis *axes, uint32_t n_axes,
                  struct sim_fuss *fuss)
{
    struct sim_sweep *s = sim_new(1, sizeof *s);

    *s = (struct sim_sweep){ .model = m, .axes = axes, .n_axes = n_axes };
    s->n_points = axes[0].n * (n_axes > 1 ? axes[1].n : 1);
    s->n_variants = sim_model_runs(m);
    s->points = sim_new(s->n_points, sizeof(struct sim_model *));
    if (s->n_points > SIM_SWEEP_MOST) {
        sim_fuss_set(fuss, 0, SIM_NONE, "found %u points, expected at most %d",
                     s->n_points, SIM_SWEEP_MOST);
        sim_sweep_free(s);
        return -1;
    }
    for (uint32_t i = 0; i < s->n_points; i++) {
        if (make_point(s, i, fuss) < 0) {
            sim_sweep_free(s);
            return -1;
        }
    }
    *ret = s;
    return 0;
}

void sim_sweep_free(struct sim_sweep *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->n_points; i++)
        sim_copy_free(s->points[i]);
    free(s->points);
    free(s->cells);
    free(s);
}

/* ===== runs ===== */

/* Threads: shared by the pool, each job has its own part of `values`. */
struct sweeping {
    const struct sim_sweep *sweep;
    double *values; /* [replication][point][variant][figure]; NaN: not run */
};

/* The first point that is the same without its faults. */
static uint32_t twin_point(const struct sim_sweep *s, uint32_t point)
{
    uint32_t x = point % s->axes[0].n, y = point / s->axes[0].n;

    if (strncmp(s->axes[0].key, "faults.", 7) == 0)
        x = 0;
    if (s->n_axes > 1 && strncmp(s->axes[1].key, "faults.", 7) == 0)
        y = 0;
    return y * s->axes[0].n + x;
}

static void get_job(void *self, uint32_t n, struct sim_job *ret)
{
    const struct sim_sweep *s = ((struct sweeping *)self)->sweep;
    uint32_t each = s->n_points * s->n_variants, i = n % each;

    ret->model = s->points[i / s->n_variants];
    ret->variant = s->model->n_variants ? i % s->n_variants : SIM_NONE;
    ret->seed = s->seed + n / each;
    ret->twin = n / each * each +
                twin_point(s, i / s->n_variants) * s->n_variants +
                i % s->n_variants;
}

static void take_result(void *self, uint32_t n, struct sim_result *r)
{
    double *values =
        ((struct sweeping *)self)->values + (size_t)n * SIM_FIGURES;

    if (!r->cut_short)
        memcpy(values, r->figure, sizeof r->figure);
    sim_result_free(r);
}

static void sum_up(struct sim_sweep *s, const double *values)
{
    size_t each = (size_t)s->n_points * s->n_variants * SIM_FIGURES;
    double *one = sim_new(s->replications, sizeof *one);

    s->cells = sim_new(each, sizeof *s->cells);
    for (size_t i = 0; i < each; i++) {
        for (uint32_t k = 0; k < s->replications; k++)
            one[k] = values[k * each + i];
        s->cells[i] = sim_interval_of((enum sim_figure)(i % SIM_FIGURES), one,
                                      s->replications);
    }
    free(one);
}

void sim_sweep_run(struct sim_sweep *s, const struct sim_plan *plan)
{
    uint32_t n = s->n_points * s->n_variants * plan->replications;
    size_t n_values = (size_t)n * SIM_FIGURES;
    struct sweeping all = { s, sim_new(n_values, sizeof *all.values) };
    struct sim_pool pool = { .n_jobs = n,
                             .n_twins = n,
                             .threads = plan->threads,
                             .run_conf = plan->run_conf,
                             .self = &all,
                             .job = get_job,
                             .take = take_result };

    for (size_t i = 0; i < n_values; i++)
        all.values[i] = NAN;
    s->seed = plan->seed;
    s->replications = plan->replications;
    s->cut_short = !sim_pool_run(&pool, &s->events);
    sum_up(s, all.values);
    free(all.values);
}

const struct sim_interval *sim_sweep_at(const struct sim_sweep *s, uint32_t x,
                                        uint32_t y, uint32_t variant)
{
    size_t point = (size_t)y * s->axes[0].n + x;

    return &s->cells[(point * s->n_variants + variant) * SIM_FIGURES];
}
