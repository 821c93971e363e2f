/* bide sim SCENARIO: runs it and shows the results. */
#include "cmd/sim/run.h"

#include <stdlib.h>

#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/sim/asserts.h"
#include "cmd/sim/chart.h"
#include "cmd/sim/files.h"
#include "cmd/sim/plan.h"
#include "cmd/sim/progress.h"
#include "cmd/sim/table.h"
#include "sim/report/csv.h"
#include "sim/report/json.h"
#include "sim/study/figure_text.h"
#include "sim/study/together.h"

enum { USUAL_REPLICATIONS = 10, SAMPLED_CLIENTS = 12 };

/* ===== running ===== */

static struct sim_summary *run_part(const struct sim_ask *ask, uint32_t n,
                                    struct progress *p)
{
    struct sim_plan plan =
        plan_for(ask, ask->subjects[n].draft, USUAL_REPLICATIONS);

    plan.run_conf.samples = ask->html ? SAMPLED_CLIENTS : 0;
    plan.run_conf.self = p;
    plan.run_conf.progress = progress_tell;
    progress_part(p, n, ask->n_subjects);
    return sim_replicate(&plan);
}

/* The name, if there are several scenarios; else NULL. */
static const char *scenario_of(const struct sim_ask *ask, uint32_t n)
{
    return ask->n_subjects > 1 ? ask->subjects[n].name : NULL;
}

static void run_all(struct sim_together *t, const struct sim_ask *ask)
{
    struct progress p;

    progress_begin(&p, ask);
    for (uint32_t i = 0; i < ask->n_subjects && !was_interrupted(); i++)
        sim_together_add(t, scenario_of(ask, i), run_part(ask, i, &p));
    t->all.took_s = progress_end(&p);
    sim_together_index(t);
}

/* ===== printing ===== */

static void print_head(const struct sim_ask *ask, const struct sim_summary *s,
                       int width)
{
    char line[200], duration[32];
    const struct sim_model *m = s->model;
    bool several = ask->n_subjects > 1;

    print_title(several    ? "Scenarios side by side"
                : m->title ? m->title
                           : ask->subjects[0].name);
    bide_format_duration(m->duration_ns, duration, sizeof duration);
    snprintf(line, sizeof line, "%s simulated, %u replication%s, seed %llu",
             duration, s->replications, s->replications == 1 ? "" : "s",
             (unsigned long long)s->seed);
    bide__print_wrapped(stdout, line, 0, 0, width);
}

/* How far it got, measured by the slowest variant. */
static void print_cut(const struct sim_summary *s, int width)
{
    struct paint p = paint_for(stdout);
    const struct sim_variant_summary *least = &s->variants[0];
    char line[200], ended[32];

    if (!s->cut_short)
        return;
    for (uint32_t v = 1; v < s->n_variants; v++)
        if (s->variants[v].n < least->n)
            least = &s->variants[v];
    if (least->n > 0)
        snprintf(line, sizeof line,
                 "Cut short: %u of %u replications are finished; this is what "
                 "is known so far.",
                 least->n, s->replications);
    else
        snprintf(
            line, sizeof line,
            "Cut short%s%s%s after %s: this is what is known so far.",
            *least->name ? " in `" : "", least->name, *least->name ? "`" : "",
            bide__brief_duration(least->first->ended_ns, ended, sizeof ended));
    printf("%s", p.yellow);
    bide__print_wrapped(stdout, line, 0, 0, width);
    printf("%s", p.plain);
}

/* What "recovers" stands on. */
static void print_watched(const struct sim_summary *s, int width)
{
    double watched_s = 0;
    char line[200], seconds[SIM_TEXT];

    for (uint32_t v = 0; v < s->n_variants; v++)
        watched_s = s->variants[v].watched_s > watched_s
                        ? s->variants[v].watched_s
                        : watched_s;
    if (!(watched_s > 0))
        return;
    snprintf(
        line, sizeof line,
        "Recovery: each run is compared with the same run without the "
        "fault, for %s after the last fault.",
        sim_figure_text(SIM_FIG_RECOVER, watched_s, seconds, sizeof seconds));
    putchar('\n');
    bide__print_wrapped(stdout, line, 0, 0, width);
}

static void print_run(const struct sim_ask *ask, const struct sim_together *t)
{
    const struct sim_summary *s = &t->all;
    int width = terminal_width(stdout);

    print_head(ask, s, width);
    print_cut(s, width);
    putchar('\n');
    sim_table_print(stdout, s, width);
    print_watched(s, width);
    putchar('\n');
    sim_chart_print(stdout, s, width, use_colours(stdout), use_utf8());
    if (s->model->look_at && ask->n_subjects == 1 && ask->n_compared == 0) {
        putchar('\n');
        bide__print_wrapped(stdout, s->model->look_at, 0, 0, width);
    }
    print_took(s->took_s, s->events);
}

static void print_json(const struct sim_ask *ask, const struct sim_together *t,
                       const struct asserts *asserts)
{
    const struct sim_summary *s = &t->all;
    struct bide__json j;

    sim_json_begin(&j, stdout,
                   &(struct sim_json_head){ ask->command, ask->subjects[0].name,
                                            s->model, s->seed,
                                            s->replications });
    sim_json_variants(&j, s);
    if (asserts->n && !was_interrupted())
        asserts_json(asserts, &j, t->figures, t->names, s->n_variants);
    bide__json_end(&j);
    bide__json_done(&j);
}

/* ===== the command ===== */

/* Parses assertions before anything runs, with the names that they may use. */
static int parse_asserts(struct asserts *a, const struct sim_ask *ask)
{
    const char *list[MOST_SUBJECTS * MOST_NAMED] = { NULL };
    struct sim_together names = { .names = NULL };
    uint32_t n = 0;
    int rc;

    for (uint32_t i = 0; i < ask->n_subjects; i++) {
        const struct sim_model *m = ask->subjects[i].draft;
        for (uint32_t v = 0; v < sim_model_runs(m); v++) {
            const char *name = sim_model_variant_name(m, v);
            list[n++] =
                scenario_of(ask, i)
                    ? sim_together_name(&names, scenario_of(ask, i), name)
                    : name;
        }
    }
    rc = asserts_parse(a, ask, list, n);
    sim_together_done(&names);
    return rc;
}

static int judge(const struct sim_ask *ask, const struct sim_together *t,
                 const struct asserts *a)
{
    bool people = prints_for_people(ask);
    uint32_t failed;

    if (a->n == 0)
        return EXIT_OK;
    if (people)
        putchar('\n');
    failed = asserts_judge(a, people || ask->quiet ? stdout : NULL, t->figures,
                           t->names, t->all.n_variants, "");
    return failed ? EXIT_FINDINGS : EXIT_OK;
}

static int write_csv(const char *path, const struct sim_summary *s)
{
    static const struct {
        const char *name;
        void (*write)(FILE *out, const struct sim_summary *s);
    } tables[] = { { "figures.csv", sim_csv_figures },
                   { "callers.csv", sim_csv_callers },
                   { "services.csv", sim_csv_services },
                   { "bands.csv", sim_csv_bands } };
    int rc = -1;

    for (int i = 0; i < 4 && rc < 0; i++) {
        FILE *out;

        if (i == 1 && !csv_is_directory(path))
            break; /* there is room for one */
        out = csv_open(path, tables[i].name);
        if (!out)
            return EXIT_USAGE;
        tables[i].write(out, s);
        rc = file_close("csv", path, out, false);
    }
    return rc;
}

static int write_html(const struct sim_ask *ask, const struct sim_summary *s)
{
    FILE *out = file_open("html", ask->html);
    struct sim_page_context ctx;
    char *command;
    bool bad;

    if (!out)
        return EXIT_USAGE;
    ctx = page_context(ask, &command);
    bad = sim_page_write(out, s, &ctx) < 0;
    free(command);
    return file_close("html", ask->html, out, bad);
}

static int write_svg(const char *path, const struct sim_summary *s)
{
    FILE *out = file_open("svg", path);

    if (!out)
        return EXIT_USAGE;
    return file_close("svg", path, out, sim_page_picture(out, s, NULL) < 0);
}

static int show(const struct sim_ask *ask, const struct sim_together *t,
                const struct asserts *asserts)
{
    int rc = -1;

    if (ask->json)
        print_json(ask, t, asserts);
    else if (prints_for_people(ask))
        print_run(ask, t);
    if (ask->csv)
        rc = write_csv(ask->csv, &t->all);
    if (ask->html && rc < 0)
        rc = write_html(ask, &t->all);
    if (ask->svg && rc < 0)
        rc = write_svg(ask->svg, &t->all);
    return rc;
}

static int check_size(const struct sim_ask *ask)
{
    int rc = -1;

    for (uint32_t i = 0; i < ask->n_subjects && rc < 0; i++) {
        struct sim_plan plan =
            plan_for(ask, ask->subjects[i].draft, USUAL_REPLICATIONS);
        rc = runs_fit(1, &plan);
    }
    return rc;
}

int sim_run_command(struct sim_ask *ask)
{
    struct sim_together t = { .names = NULL };
    struct asserts asserts;
    int rc = parse_asserts(&asserts, ask);

    if (rc < 0)
        rc = check_size(ask);
    if (rc < 0) {
        run_all(&t, ask);
        rc = show(ask, &t, &asserts);
        if (rc < 0)
            rc =
                was_interrupted() ? EXIT_INTERRUPTED : judge(ask, &t, &asserts);
    }
    asserts_done(&asserts);
    sim_together_done(&t);
    return rc;
}
