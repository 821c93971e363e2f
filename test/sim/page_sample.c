/* page_sample KIND: the report of a made-up summary on standard output, for
 * page.py to look at. The numbers come from a coarse model of an overload, not
 * from the simulator: what is tested is the page.
 *
 *     storm     two variants, everything in it, maps and sweeps
 *     hostile   names that would be markup
 *     odd       NaN, infinities, a gap, no calls at all
 *     step      one step of time
 *     none      no variants
 *     one       one that has no name, and no fault
 *     mixed     two models side by side
 *     picture, picture-hostile, ...   the SVG of the same
 *     map, grid, lines, map-hostile, ...   the SVG of a stability map, and of
 *                                          sweeps of two settings and of one
 *     chart, chart-hostile, ...       the terminal's, 80 wide; with -ascii and
 *                                     -colour what they say */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/report/page.h"
#include "cmd/sim/chart.h"

enum { CLIENTS = 6 };

static const char hostile[] =
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;"
    "\x1b[31m\xff\xe2\x80\xae https://example.org/";

static struct sim_model model;
static uint32_t steps = 240;
static int64_t step_ns = 500000000;
static uint32_t luck = 1;

static double shake(double by)
{
    luck = luck * 1664525u + 1013904223u;
    return 1 + by * ((double)(luck >> 8) / 8388608.0 - 1);
}

static void make_model(const char *name)
{
    static struct sim_model_policy policies[2] = {
        { .conf = BIDE_POLICY_CONF_INIT }, { .conf = BIDE_POLICY_CONF_INIT }
    };
    static struct sim_model_fleet fleet = { .clients = 1000,
                                            .processes = 10,
                                            .rate = 280 };
    static struct sim_model_service service = { .workers = 30, .shards = 1 };
    static struct sim_fault fault = { .kind = SIM_STOP,
                                      .shard = SIM_NONE,
                                      .fleet = SIM_NONE,
                                      .from_ns = 30000000000,
                                      .to_ns = 40000000000 };
    static uint32_t first[1] = { 0 }, second[1] = { 1 };
    static struct sim_model_variant variants[2] = {
        { .fleet_policy = first }, { .fleet_policy = second }
    };

    policies[0].name = strdup(name ? name : "naive");
    policies[0].conf.attempts = 3;
    policies[0].conf.budget.kind = BIDE_BUDGET_OFF;
    policies[1].name = strdup(name ? name : "default");
    fleet.name = strdup(name ? name : "web");
    service.name = strdup(name ? name : "api");
    variants[0].name = strdup(name ? name : "naive");
    variants[1].name = strdup(name ? name : "with a budget");
    model = (struct sim_model){
        .title = strdup(name ? name : "Metastable overload"),
        .about = strdup(name ? name : "A service stops for ten seconds."),
        .look_at = strdup(name ? name : "The load after the stop has ended."),
        .duration_ns = 120000000000,
        .warm_up_ns = 10000000000,
        .seed = 1,
        .policies = policies,
        .fleets = &fleet,
        .services = &service,
        .faults = &fault,
        .variants = variants,
        .n_policies = 2,
        .n_fleets = 1,
        .n_services = 1,
        .n_faults = 1,
        .n_variants = 2,
    };
}

/* ===== one run ===== */

static void fill_step(struct sim_result *r, uint32_t i, bool calm)
{
    double dt = (double)step_ns / 1e9, t = i * dt;
    bool stop = t >= 30 && t < 40;
    bool calm_again = calm && t > 46;
    double load = t < 30 || calm_again ? 280 : calm ? 310 : t < 40 ? 560 : 840;
    double good = stop ? 0 : t < 30 || calm_again ? 279 : calm ? 250 : 12;
    double capacity = stop ? 0 : 300, all = load * dt * shake(0.06);
    struct sim_caller_result *c = &r->callers[0];
    struct sim_service_result *s = &r->services[0];

    c->value[SIM_CALLS][i] = 280 * dt * shake(0.06);
    c->value[SIM_ATTEMPTS][i] = all;
    c->value[SIM_RETRIES][i] = all > 280 * dt ? all - 280 * dt : 0;
    c->value[SIM_SUCCESSES][i] = good * dt * shake(0.04);
    c->value[SIM_FAILURES][i] = (280 - good) * dt;
    c->value[SIM_WAITING][i] = load - 280;
    c->value[SIM_BUDGET][i] = calm ? (stop ? 0 : 100) : -1;
    c->value[SIM_BREAKER_OPEN][i] = calm && stop ? 0.8 : 0;
    c->value[SIM_BREAKER_HALF][i] = calm && t >= 40 && t < 46 ? 0.5 : 0;
    c->value[SIM_P50_NS][i] = good > 0 ? 1.1e8 * shake(0.1) : 0;
    c->value[SIM_P99_NS][i] = good > 0 ? 5.2e8 * shake(0.3) * (load / 280) : 0;
    s->value[SIM_ARRIVED][i] = all;
    s->value[SIM_SERVED][i] = good * dt;
    s->value[SIM_WASTED][i] = stop ? 0 : (capacity - good) * dt;
    s->value[SIM_QUEUE][i] = stop ? (t - 30) * 300 : calm ? 20 : 3000;
    s->value[SIM_CAPACITY_RATE][i] = capacity * dt;
    for (int k = 0; k < 2; k++)
        c->by_reason[k ? BIDE_BECAUSE_BUDGET : BIDE_BECAUSE_ATTEMPTS][i] =
            (uint32_t)((280 - good) * dt * (calm == k ? 0.9 : 0.1));
}

static void fill_marks(struct sim_result *r)
{
    r->marks = sim_new(CLIENTS * 60, sizeof *r->marks);
    for (uint32_t c = 0; c < CLIENTS; c++)
        for (uint32_t k = 0; k < 20; k++) {
            int64_t at = (int64_t)(20e9 + k * 2e9 * shake(0.3));
            bool bad = k > 4 && k < 12;

            for (uint32_t a = 0; a < (bad ? 3u : 1u); a++) {
                int64_t took = bad ? 1000000000 : 120000000;
                r->marks[r->n_marks++] = (struct sim_mark){
                    0,
                    c * 160,
                    k,
                    a + 1,
                    at,
                    at + took,
                    bad ? (a == 2 ? SIM_MARK_ERROR : SIM_MARK_TIMEOUT)
                        : SIM_MARK_OK,
                    bad ? BIDE_BECAUSE_ATTEMPTS : BIDE_BECAUSE_SUCCESS,
                    !bad || a == 2
                };
                at += took + (int64_t)(2e8 * shake(0.9));
            }
        }
}

static struct sim_result *make_result(uint32_t variant)
{
    struct sim_result *r = sim_new(1, sizeof *r);
    struct sim_caller_result *c = sim_new(1, sizeof *c);

    *r = (struct sim_result){ .model = &model,
                              .variant = variant,
                              .seed = 1,
                              .step_ns = step_ns,
                              .n_steps = steps,
                              .callers = c,
                              .n_callers = 1,
                              .n_services = 1,
                              .services = sim_new(1, sizeof *r->services) };
    c->name = model.fleets[0].name;
    c->policy = model.policies[variant].name;
    c->is_fleet = true;
    for (int i = 0; i < SIM_CALLER_CHANNELS; i++)
        c->value[i] = sim_new(steps, sizeof(double));
    for (int i = 0; i < SIM_SERVICE_CHANNELS; i++)
        r->services[0].value[i] = sim_new(steps, sizeof(double));
    c->by_reason[BIDE_BECAUSE_ATTEMPTS] = sim_new(steps, sizeof(uint32_t));
    c->by_reason[BIDE_BECAUSE_BUDGET] = sim_new(steps, sizeof(uint32_t));
    c->total.by_reason[BIDE_BECAUSE_ATTEMPTS] = 1000;
    c->total.retries = 20000;
    c->total.by_number[0] = c->total.by_number[1] = 10000;
    for (uint32_t i = 0; i < steps; i++)
        fill_step(r, i, variant == 1);
    for (int i = 0; i < 20000; i++)
        sim_histogram_add(&c->wait,
                          (int64_t)(1e8 * (1 + i % 2) * (shake(0.5) - 0.5)));
    fill_marks(r);
    return r;
}

/* ===== all of it ===== */

static struct sim_interval around(double mean, double half)
{
    return (struct sim_interval){ .mean = mean,
                                  .low = mean - half,
                                  .high = mean + half,
                                  .least = mean,
                                  .most = mean,
                                  .n = 20 };
}

static void fill_figures(struct sim_variant_summary *v, bool calm)
{
    for (int f = 0; f < SIM_FIGURES; f++)
        v->figure[f] = around(calm ? 0.98 : 0.31, 0.011);
    v->figure[SIM_FIG_GOODPUT] = around(calm ? 268 : 86, 1.4);
    v->figure[SIM_FIG_ATTEMPTS] = around(calm ? 290 : 12700, 3);
    v->figure[SIM_FIG_AMPLIFICATION] = around(calm ? 1.04 : 2.4, 0.01);
    v->figure[SIM_FIG_P99] = around(calm ? 0.52 : 2.31, 0.02);
    v->figure[SIM_FIG_DUPLICATES] = around(0, 0);
    v->figure[SIM_FIG_RECOVER] = around(5.9, 0.4);
    if (!calm)
        v->figure[SIM_FIG_RECOVER] =
            (struct sim_interval){ .mean = NAN, .infinite = 20 };
}

static void make_odd(struct sim_summary *s)
{
    double odd[] = { NAN, INFINITY, -INFINITY, 1e300, -1, 0 };

    for (int f = 0; f < SIM_FIGURES; f++)
        s->variants[0].figure[f] =
            (struct sim_interval){ .mean = odd[f % 6],
                                   .low = odd[(f + 1) % 6],
                                   .high = odd[(f + 2) % 6],
                                   .n = (uint32_t)f % 3,
                                   .infinite = 1,
                                   .overloaded = (uint32_t)f % 2 };
    for (int c = 0; c < SIM_CALLER_CHANNELS; c++)
        for (uint32_t i = 0; i < steps; i++)
            s->variants[0].first->callers[0].value[c][i] = odd[(i / 7) % 6];
    for (int c = 0; c < SIM_SERVICE_CHANNELS; c++)
        for (uint32_t i = 0; i < steps; i++)
            s->variants[0].first->services[0].value[c][i] = odd[(i / 5) % 6];
    for (int c = 0; c < SIM_CALLER_CHANNELS; c++)
        memset(s->variants[1].first->callers[0].value[c], 0,
               steps * sizeof(double));
    memset(&s->variants[1].first->callers[0].wait, 0,
           sizeof s->variants[1].first->callers[0].wait);
    s->variants[1].first->n_marks = 0;
}

/* The second variant is of a model with other names and no faults. */
static void make_mixed(struct sim_variant_summary *v)
{
    static struct sim_model other;
    static struct sim_model_service service;

    other = model;
    service = model.services[0];
    service.name = strdup("another");
    other.services = &service;
    other.n_faults = 0;
    v->first->model = &other;
}

static struct sim_page_context make_context(const char *name)
{
    static const char *ticks[] = { "50ms", "100ms", "200ms", "400ms" };
    static struct sim_interval cells[16];
    static struct sim_cell fates[16];
    static struct sim_page_grid grids[2];
    static struct sim_page_map map;

    if (name)
        ticks[1] = name;
    for (int i = 0; i < 16; i++) {
        cells[i] = around(1 + i * 0.3, 0.05);
        fates[i] =
            (struct sim_cell){ .fate = i == 15             ? SIM_FATE_OVERLOADED
                                       : i % 4 == 3        ? SIM_FATE_NEVER
                                       : i % 4 + i / 4 > 3 ? SIM_FATE_VULNERABLE
                                                           : SIM_FATE_RECOVERS,
                               .stuck = (uint32_t)i,
                               .runs = 20,
                               .recover_s = i * 0.7 };
    }
    cells[5] = (struct sim_interval){ .mean = NAN, .infinite = 20 };
    cells[6] = (struct sim_interval){ .mean = NAN };
    struct sim_page_axis x = { name ? name : "backoff.base", ticks, 4 };
    struct sim_page_axis y = { name ? name : "attempts", ticks, 4 };
    grids[0] =
        (struct sim_page_grid){ name, SIM_FIG_AMPLIFICATION, x, y, cells };
    y.n = 1;
    grids[1] = (struct sim_page_grid){ name, SIM_FIG_RECOVER, x, y, cells };
    y.n = 4;
    map = (struct sim_page_map){ name, x, y, fates };
    return (struct sim_page_context){
        name ? name : "bide sim metastable", "0.0", grids, 2, &map, 1
    };
}

/* Only one kind of study in each picture. */
static int show_study(const char *kind, const struct sim_summary *s,
                      struct sim_page_context ctx)
{
    ctx.n_maps = *kind == 'm';
    ctx.n_grids = 1;
    ctx.grids += *kind == 'l';
    return sim_page_picture(stdout, s, &ctx);
}

static int show(const char *kind, const struct sim_summary *s,
                const struct sim_page_context *ctx)
{
    if (strncmp(kind, "picture", 7) == 0)
        return sim_page_picture(stdout, s, NULL);
    if (strncmp(kind, "map", 3) == 0 || strncmp(kind, "grid", 4) == 0 ||
        strncmp(kind, "lines", 5) == 0)
        return show_study(kind, s, *ctx);
    if (strncmp(kind, "chart", 5) != 0)
        return sim_page_write(stdout, s, ctx);
    sim_chart_print(stdout, s, 80, strstr(kind, "colour"),
                    !strstr(kind, "ascii"));
    return 0;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "storm";
    const char *name = strstr(kind, "hostile") ? hostile : NULL;
    static struct sim_variant_summary variants[2] = { { .n = 20 },
                                                      { .n = 20 } };
    struct sim_summary s = { .model = &model,
                             .seed = 1,
                             .replications = 20,
                             .events = 1234567,
                             .variants = variants,
                             .n_variants = 2 };

    if (strstr(kind, "step"))
        steps = 1;
    make_model(name);
    struct sim_page_context ctx = make_context(name);
    for (uint32_t v = 0; v < 2; v++) {
        variants[v].name = model.variants[v].name;
        variants[v].first = make_result(v);
        fill_figures(&variants[v], v == 1);
    }
    if (strstr(kind, "odd"))
        make_odd(&s);
    if (strstr(kind, "none"))
        s.n_variants = 0;
    if (strstr(kind, "one")) {
        s.n_variants -= s.n_variants > 1;
        variants[0].name = "";
        model.n_faults = 0;
    }
    if (strstr(kind, "mixed"))
        make_mixed(&variants[1]);
    return show(kind, &s, &ctx) == 0 && fflush(stdout) == 0 ? 0 : 1;
}
