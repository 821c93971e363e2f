/* The results of a simulation as JSON. */
#include "sim/report/json.h"

#include "sim/report/bands.h"
#include "sim/study/figure_text.h"

void sim_json_begin(struct bide__json *j, FILE *out,
                    const struct sim_json_head *h)
{
    const struct sim_model *m = h->model;
    char digits[24];

    bide__json_init(j, out, true);
    bide__json_object(j, NULL);
    bide__json_text(j, "command", h->command);
    bide__json_text(j, "scenario", h->scenario);
    bide__json_text(j, "title", m->title ? m->title : "");
    if (h->seed <= INT64_MAX) {
        bide__json_integer(j, "seed", (int64_t)h->seed);
    } else { /* JSON readers would round it */
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)h->seed);
        bide__json_text(j, "seed", digits);
    }
    bide__json_integer(j, "replications", h->replications);
    bide__json_number(j, "duration_s", (double)m->duration_ns / 1e9);
    bide__json_number(j, "warm_up_s", (double)m->warm_up_ns / 1e9);
}

/* ===== figures ===== */

static void put_interval(struct bide__json *j, enum sim_figure f,
                         const struct sim_interval *i)
{
    bide__json_text(j, "unit", sim_figure_unit_name(f));
    bide__json_number(j, "mean", i->mean);
    bide__json_number(j, "low", i->low);
    bide__json_number(j, "high", i->high);
    bide__json_number(j, "least", i->least);
    bide__json_number(j, "most", i->most);
    bide__json_integer(j, "n", i->n);
    bide__json_integer(j, "infinite", i->infinite);
    bide__json_integer(j, "overloaded", i->overloaded);
}

/* Durations say how many calls they are of. */
static bool is_duration(enum sim_figure f)
{
    return f == SIM_FIG_MEAN || f == SIM_FIG_P50 || f == SIM_FIG_P99 ||
           f == SIM_FIG_P999;
}

void sim_json_figures(struct bide__json *j, const struct sim_interval *figures)
{
    bide__json_object(j, "figures");
    for (int f = 0; f < SIM_FIGURES; f++) {
        bide__json_object(j, sim_figure_name((enum sim_figure)f));
        put_interval(j, (enum sim_figure)f, &figures[f]);
        if (is_duration((enum sim_figure)f))
            bide__json_number(j, "calls", figures[SIM_FIG_TIMED].mean);
        bide__json_end(j);
    }
    bide__json_end(j);
}

/* How "recover" and "stuck" were judged. */
static void put_recovery(struct bide__json *j,
                         const struct sim_variant_summary *v)
{
    const struct sim_interval *i = &v->figure[SIM_FIG_RECOVER];
    double low, high;

    if (!(v->watched_s > 0)) {
        bide__json_null(j, "recovery");
        return;
    }
    sim_wilson(i->infinite, i->n + i->infinite, &low, &high);
    bide__json_object(j, "recovery");
    bide__json_integer(j, "recovered", i->n);
    bide__json_integer(j, "never", i->infinite);
    bide__json_integer(j, "overloaded", i->overloaded);
    bide__json_number(j, "never_low", low);
    bide__json_number(j, "never_high", high);
    bide__json_number(j, "watched_s", v->watched_s);
    bide__json_end(j);
}

static void put_parts(struct bide__json *j, const struct sim_variant_summary *v)
{
    const struct sim_model *m = v->first->model;

    bide__json_list(j, "fleets");
    for (uint32_t i = 0; v->fleets && i < m->n_fleets; i++) {
        bide__json_object(j, NULL);
        bide__json_text(j, "name", m->fleets[i].name);
        sim_json_figures(j, &v->fleets[(size_t)i * SIM_FIGURES]);
        bide__json_end(j);
    }
    bide__json_end(j);
    bide__json_list(j, "services");
    for (uint32_t i = 0; v->services && i < m->n_services; i++) {
        bide__json_object(j, NULL);
        bide__json_text(j, "name", m->services[i].name);
        bide__json_object(j, "utilisation");
        put_interval(j, SIM_FIG_UTILISATION, &v->services[i].utilisation);
        bide__json_end(j);
        bide__json_object(j, "queue_wait");
        put_interval(j, SIM_FIG_QUEUE_WAIT, &v->services[i].queue_wait);
        bide__json_end(j);
        bide__json_end(j);
    }
    bide__json_end(j);
}

/* ===== totals of the first replication ===== */

static void put_caller(struct bide__json *j, const struct sim_caller_result *c)
{
    const struct sim_caller_totals *t = &c->total;

    bide__json_object(j, NULL);
    bide__json_text(j, "name", c->name);
    bide__json_text(j, "policy", c->policy);
    bide__json_flag(j, "is_fleet", c->is_fleet);
    bide__json_integer(j, "calls", (int64_t)t->calls);
    bide__json_integer(j, "attempts", (int64_t)sim_reached(t));
    bide__json_integer(j, "unreached", (int64_t)t->unreached);
    bide__json_integer(j, "retries", (int64_t)t->retries);
    bide__json_integer(j, "hedges", (int64_t)t->hedges);
    bide__json_integer(j, "hedge_wins", (int64_t)t->hedge_wins);
    bide__json_integer(j, "successes", (int64_t)t->successes);
    bide__json_integer(j, "failures", (int64_t)t->failures);
    bide__json_integer(j, "timeouts", (int64_t)t->timeouts);
    bide__json_integer(j, "unfinished", (int64_t)t->unfinished);
    bide__json_object(j, "by_reason");
    for (int r = 0; r < BIDE_N_REASONS; r++)
        if (t->by_reason[r])
            bide__json_integer(j, bide_reason_name((bide_reason)r),
                               (int64_t)t->by_reason[r]);
    bide__json_end(j);
    bide__json_end(j);
}

static void put_service(struct bide__json *j,
                        const struct sim_service_result *s)
{
    bide__json_object(j, NULL);
    bide__json_text(j, "name", s->name);
    bide__json_integer(j, "arrived", (int64_t)s->arrived);
    bide__json_integer(j, "served", (int64_t)s->served);
    bide__json_integer(j, "wasted", (int64_t)s->wasted);
    bide__json_integer(j, "refused", (int64_t)s->refused);
    bide__json_integer(j, "throttled", (int64_t)s->throttled);
    bide__json_integer(j, "dropped", (int64_t)s->dropped);
    bide__json_integer(j, "errors", (int64_t)s->errors);
    bide__json_integer(j, "commits", (int64_t)s->commits);
    bide__json_integer(j, "duplicates", (int64_t)s->duplicates);
    bide__json_number(j, "busy_s", s->busy_ns / 1e9);
    bide__json_number(j, "wasted_s", s->wasted_ns / 1e9);
    bide__json_number(j, "queued_s", s->queued_ns / 1e9);
    bide__json_end(j);
}

static void put_first(struct bide__json *j, const struct sim_result *r)
{
    bide__json_object(j, "first");
    bide__json_number(j, "ended_s", (double)r->ended_ns / 1e9);
    bide__json_integer(j, "events", (int64_t)r->events);
    bide__json_list(j, "callers");
    for (uint32_t i = 0; i < r->n_callers; i++)
        put_caller(j, &r->callers[i]);
    bide__json_end(j);
    bide__json_list(j, "services");
    for (uint32_t i = 0; i < r->model->n_services; i++)
        put_service(j, &r->services[i]);
    bide__json_end(j);
    bide__json_end(j);
}

static void put_series(struct bide__json *j, const char *key,
                       const double *values, uint32_t n)
{
    bide__json_list(j, key);
    for (uint32_t i = 0; i < n; i++)
        bide__json_number(j, NULL, values[i]);
    bide__json_end(j);
}

/* Of each series the median over the seeds, and what nine in ten are above and
 * below. */
static void put_band(void *self, const struct sim_band *b)
{
    struct bide__json *j = self;

    bide__json_object(j, NULL);
    bide__json_text(j, "of", b->of);
    bide__json_text(j, "series", b->series);
    bide__json_text(j, "unit", b->unit);
    bide__json_integer(j, "runs", b->runs);
    put_series(j, "low", b->curve.low, b->curve.n);
    put_series(j, "median", b->curve.y, b->curve.n);
    put_series(j, "high", b->curve.high, b->curve.n);
    bide__json_end(j);
}

void sim_json_variants(struct bide__json *j, const struct sim_summary *s)
{
    bide__json_flag(j, "cut_short", s->cut_short);
    bide__json_list(j, "variants");
    for (uint32_t i = 0; i < s->n_variants; i++) {
        const struct sim_variant_summary *v = &s->variants[i];

        bide__json_object(j, NULL);
        bide__json_text(j, "name", v->name);
        bide__json_integer(j, "replications", v->n);
        sim_json_figures(j, v->figure);
        put_recovery(j, v);
        put_parts(j, v);
        put_first(j, v->first);
        bide__json_number(j, "step_s", (double)v->first->step_ns / 1e9);
        put_series(j, "attempts", v->mean[0], v->first->n_steps);
        put_series(j, "successes", v->mean[1], v->first->n_steps);
        bide__json_list(j, "bands");
        sim_bands(s, i, put_band, j);
        bide__json_end(j);
        bide__json_end(j);
    }
    bide__json_end(j);
}
