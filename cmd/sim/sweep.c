/* bide sim --sweep: many values of one or two settings. */
#include "cmd/sim/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/common/output.h"
#include "cmd/sim/asserts.h"
#include "cmd/sim/files.h"
#include "cmd/sim/plan.h"
#include "cmd/sim/progress.h"
#include "sim/report/json.h"
#include "sim/report/sweep.h"
#include "sim/scenario/setting.h"
#include "sim/study/figure_text.h"

enum { USUAL_REPLICATIONS = 5 };

const enum sim_figure usual_figures[N_USUAL] = { SIM_FIG_SUCCESS,
                                                 SIM_FIG_AMPLIFICATION,
                                                 SIM_FIG_P99, SIM_FIG_WASTED,
                                                 SIM_FIG_RECOVER };

/* ===== asking ===== */

static int unknown_key(const struct sweep_cmd *c, const struct sim_fuss *fuss)
{
    const char *key = c->axes[fuss->at].key;
    char **keys = sim_setting_keys(c->model);

    complain("sim", "--sweep: %s", fuss->message);
    suggest(key, (const char *const *)keys);
    fprintf(stderr, "  options of policies as in bide-policy(5), load, "
                    "clients.NAME.rate, services.NAME.workers ...\n");
    sim_setting_keys_free(keys);
    return EXIT_USAGE;
}

static int make_sweep(struct sweep_cmd *c)
{
    struct sim_fuss fuss;

    for (uint32_t i = 0; i < c->ask->n_sweeps; i++)
        if (sim_axis_parse(&c->axes[i], c->ask->sweeps[i], &fuss) < 0)
            return complain_at("sweep", c->ask->sweeps[i], &fuss);
    if (sim_sweep_new(&c->sweep, c->model, c->axes, c->ask->n_sweeps, &fuss) ==
        0)
        return -1;
    if (fuss.len == SIM_NONE && strstr(fuss.message, "called"))
        return unknown_key(c, &fuss);
    return complain("sim", "--sweep: %s", fuss.message);
}

static int choose_metric(struct sweep_cmd *c)
{
    const char *known[SIM_FIGURES + 1];
    const char *name = c->ask->metric;

    c->metric = SIM_FIG_SUCCESS;
    if (!name)
        return -1;
    c->chosen = true;
    c->metric = sim_figure_find(name, strlen(name));
    if (c->metric != SIM_FIGURES)
        return -1;
    for (int f = 0; f < SIM_FIGURES; f++)
        known[f] = sim_figure_name((enum sim_figure)f);
    known[SIM_FIGURES] = NULL;
    complain("sim", "--metric: there is no figure `%s`", name);
    suggest(name, known);
    return EXIT_USAGE;
}

static void name_variants(struct sweep_cmd *c)
{
    for (uint32_t v = 0; v < c->sweep->n_variants && v < MOST_NAMED; v++)
        c->names[c->n_names++] = sim_model_variant_name(c->model, v);
}

/* ===== the command ===== */

/* An assertion must hold at every point. */
static int judge(const struct sweep_cmd *c, const struct asserts *a)
{
    uint32_t failed = 0;
    char where[200];
    bool shown = prints_for_people(c->ask) || c->ask->quiet;

    if (a->n && prints_for_people(c->ask))
        putchar('\n');
    for (uint32_t i = 0; i < c->sweep->n_points; i++) {
        uint32_t x = i % c->axes[0].n, y = i / c->axes[0].n;
        snprintf(where, sizeof where, "%s=%s%s%s%s%s", c->axes[0].key,
                 c->axes[0].values[x], c->sweep->n_axes > 1 ? " " : "",
                 c->sweep->n_axes > 1 ? c->axes[1].key : "",
                 c->sweep->n_axes > 1 ? "=" : "",
                 c->sweep->n_axes > 1 ? c->axes[1].values[y] : "");
        failed += asserts_judge(a, shown ? stdout : NULL,
                                sim_sweep_at(c->sweep, x, y, 0), c->names,
                                c->n_names, where);
    }
    return failed ? EXIT_FINDINGS : EXIT_OK;
}

static void print_json(const struct sweep_cmd *c)
{
    const struct sim_sweep *s = c->sweep;
    struct bide__json j;

    sim_json_begin(&j, stdout,
                   &(struct sim_json_head){ c->ask->command,
                                            c->ask->subjects[0].name, c->model,
                                            s->seed, s->replications });
    sim_json_sweep(&j, s);
    bide__json_end(&j);
    bide__json_done(&j);
}

static int write_csv(const struct sweep_cmd *c)
{
    FILE *out = csv_open(c->ask->csv, "sweep.csv");

    if (!out)
        return EXIT_USAGE;
    sim_csv_sweep(out, c->sweep);
    return file_close("csv", c->ask->csv, out, false);
}

/* The report or the picture, into the file of a flag. */
static int write_page(const struct sweep_cmd *c, sim_page_writer *write,
                      const char *flag, const char *path)
{
    FILE *out = file_open(flag, path);
    char *command;
    bool bad;

    if (!out)
        return EXIT_USAGE;
    bad = sim_page_sweep(
              write, out, c->sweep, c->chosen ? &c->metric : usual_figures,
              c->chosen ? 1 : N_USUAL, page_context(c->ask, &command)) < 0;
    free(command);
    return file_close(flag, path, out, bad);
}

static int run(struct sweep_cmd *c, const struct asserts *asserts)
{
    struct sim_plan plan = plan_for(c->ask, c->model, USUAL_REPLICATIONS);
    struct progress p;
    double took_s;
    int rc = runs_fit(c->sweep->n_points, &plan);

    if (rc >= 0)
        return rc;
    progress_begin(&p, c->ask);
    plan.run_conf.self = &p;
    plan.run_conf.progress = progress_tell;
    sim_sweep_run(c->sweep, &plan);
    took_s = progress_end(&p);
    if (c->ask->json) {
        print_json(c);
    } else if (prints_for_people(c->ask)) {
        sweep_print(c);
        print_took(took_s, c->sweep->events);
    }
    if (c->ask->csv)
        rc = write_csv(c);
    if (c->ask->html && rc < 0)
        rc = write_page(c, sim_page_write, "html", c->ask->html);
    if (c->ask->svg && rc < 0)
        rc = write_page(c, sim_page_picture, "svg", c->ask->svg);
    if (rc >= 0)
        return rc;
    return was_interrupted() ? EXIT_INTERRUPTED : judge(c, asserts);
}

int sim_sweep_command(struct sim_ask *ask)
{
    struct sweep_cmd c = { .ask = ask, .model = ask->subjects[0].draft };
    struct asserts asserts = { .n = 0 };
    int rc;

    if (ask->n_subjects > 1)
        return complain("sim", "--sweep: found several scenarios, expected "
                               "one");
    rc = choose_metric(&c);
    if (rc < 0)
        rc = make_sweep(&c);
    if (rc < 0) {
        name_variants(&c);
        rc = asserts_parse(&asserts, ask, c.names, c.n_names);
    }
    if (rc < 0)
        rc = run(&c, &asserts);
    asserts_done(&asserts);
    sim_sweep_free(c.sweep);
    sim_axis_done(&c.axes[0]);
    sim_axis_done(&c.axes[1]);
    return rc;
}
