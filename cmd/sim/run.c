/* bide sim SCENARIO: run it, and show what came of it. */
#include <stdlib.h>
#include <string.h>

#include "cmd/sim/chart.h"
#include "cmd/sim/cmd.h"

enum { USUAL_REPLICATIONS = 10, SAMPLED_CLIENTS = 12 };

/* What was run: of several scenarios, one summary of all their variants.
 * Threads: owned. */
struct run {
    struct sim_summary *parts[MOST_SUBJECTS];
    struct sim_summary all;       /* its variants are those of the parts */
    const char **names;           /* of the variants */
    struct sim_interval *figures; /* of one variant after the other */
    char *joined[MOST_SUBJECTS * MOST_NAMED];
    uint32_t n_parts, n_joined;
};

/* ===== running ===== */

static void *need(void *memory)
{
    if (!memory) {
        complain("sim", "out of memory");
        exit(EXIT_FINDINGS);
    }
    return memory;
}

static struct sim_summary *run_part(const struct sim_ask *ask, uint32_t n,
                                    struct progress *p)
{
    struct sim_plan plan =
        plan_for(ask, ask->subjects[n].draft, USUAL_REPLICATIONS);

    plan.watch.samples = ask->html ? SAMPLED_CLIENTS : 0;
    plan.watch.self = p;
    plan.watch.progress = progress_tell;
    progress_part(p, n, ask->n_subjects);
    return sim_replicate(&plan);
}

/* Variants of several scenarios are told apart by the names of both. */
static const char *name_of(struct run *r, const char *scenario,
                           const char *variant)
{
    size_t size = strlen(scenario) + strlen(variant) + 3;
    char *name;

    if (!*variant || r->n_joined == sizeof r->joined / sizeof r->joined[0])
        return scenario;
    name = need(malloc(size));
    snprintf(name, size, "%s: %s", scenario, variant);
    r->joined[r->n_joined++] = name;
    return name;
}

static void add_part(struct run *r, const struct sim_ask *ask, uint32_t n,
                     const struct sim_summary *part)
{
    struct sim_summary *all = &r->all;
    uint32_t old = all->n_variants;

    if (n == 0)
        *all = *part;
    else
        all->n_variants += part->n_variants;
    all->variants = need(realloc(n ? all->variants : NULL,
                                 all->n_variants * sizeof *all->variants));
    memcpy(all->variants + (n ? old : 0), part->variants,
           part->n_variants * sizeof *part->variants);
    for (uint32_t v = n ? old : 0; v < all->n_variants; v++)
        if (ask->n_subjects > 1)
            all->variants[v].name =
                name_of(r, ask->subjects[n].name, all->variants[v].name);
    all->cut_short = all->cut_short || part->cut_short;
    all->events += n ? part->events : 0;
}

static void index_figures(struct run *r)
{
    uint32_t n = r->all.n_variants;

    r->names = need(calloc(n, sizeof *r->names));
    r->figures = need(calloc(n * SIM_FIGURES, sizeof *r->figures));
    for (uint32_t v = 0; v < n; v++) {
        r->names[v] = r->all.variants[v].name;
        memcpy(r->figures + v * SIM_FIGURES, r->all.variants[v].figure,
               sizeof r->all.variants[v].figure);
    }
}

static void run_all(struct run *r, const struct sim_ask *ask)
{
    struct progress p;

    progress_begin(&p, ask);
    for (uint32_t i = 0; i < ask->n_subjects && !was_interrupted(); i++) {
        r->parts[r->n_parts++] = run_part(ask, i, &p);
        add_part(r, ask, i, r->parts[i]);
    }
    r->all.took_s = progress_end(&p);
    index_figures(r);
}

static void run_done(struct run *r)
{
    for (uint32_t i = 0; i < r->n_parts; i++)
        sim_summary_free(r->parts[i]);
    for (uint32_t i = 0; i < r->n_joined; i++)
        free(r->joined[i]);
    free(r->all.variants);
    free(r->names);
    free(r->figures);
}

/* ===== printing ===== */

static void print_head(const struct sim_ask *ask, const struct sim_summary *s,
                       int width)
{
    struct paint p = paint_for(stdout);
    char line[200], duration[32];
    const struct sim_model *m = s->model;
    bool several = ask->n_subjects > 1;

    printf("%s", p.bold);
    print_wrapped(stdout,
                  !several && m->title ? m->title
                  : several            ? "Scenarios side by side"
                                       : ask->subjects[0].name,
                  0, 0, width);
    printf("%s", p.plain);
    bide_format_duration(m->duration_ns, duration, sizeof duration);
    snprintf(line, sizeof line, "%s simulated, %u replication%s, seed %llu",
             duration, s->replications, s->replications == 1 ? "" : "s",
             (unsigned long long)s->seed);
    print_wrapped(stdout, line, 0, 0, width);
}

/* How far it has come, by the variant that has come least far. */
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
        snprintf(line, sizeof line,
                 "Cut short%s%s%s after %s: this is what is known so far.",
                 *least->name ? " in `" : "", least->name,
                 *least->name ? "`" : "",
                 brief_duration(least->first->ended_ns, ended, sizeof ended));
    printf("%s", p.yellow);
    print_wrapped(stdout, line, 0, 0, width);
    printf("%s", p.plain);
}

static void print_run(const struct sim_ask *ask, const struct run *r)
{
    const struct sim_summary *s = &r->all;
    int width = terminal_width(stdout);

    print_head(ask, s, width);
    print_cut(s, width);
    putchar('\n');
    sim_table_print(stdout, s, width);
    putchar('\n');
    sim_chart_print(stdout, s, width, use_colours(stdout), use_utf8());
    if (s->model->look_at && ask->n_subjects == 1 && ask->n_compared == 0) {
        putchar('\n');
        print_wrapped(stdout, s->model->look_at, 0, 0, width);
    }
    print_took(s->took_s, s->events);
}

static void print_json(const struct sim_ask *ask, const struct run *r,
                       const struct asserts *asserts)
{
    const struct sim_summary *s = &r->all;
    struct bide__json j;

    json_begin(&j, ask, s->model, s->seed, s->replications);
    json_variants(&j, s);
    if (asserts->n && !was_interrupted())
        asserts_json(asserts, &j, r->figures, r->names, s->n_variants);
    bide__json_end(&j);
    bide__json_done(&j);
}

/* ===== the command ===== */

/* The names that assertions may use, before anything is run. */
static int parse_asserts(struct asserts *a, const struct sim_ask *ask)
{
    struct run names = { .n_parts = 0 };
    const char *list[MOST_SUBJECTS * MOST_NAMED] = { NULL };
    uint32_t n = 0;

    for (uint32_t i = 0; i < ask->n_subjects; i++) {
        const struct sim_model *m = ask->subjects[i].draft;
        for (uint32_t v = 0; v < (m->n_variants ? m->n_variants : 1) &&
                             n < sizeof list / sizeof list[0];
             v++) {
            const char *name = m->n_variants ? m->variants[v].name : "";
            list[n++] = ask->n_subjects > 1
                            ? name_of(&names, ask->subjects[i].name, name)
                            : name;
        }
    }
    int rc = asserts_parse(a, ask, list, n);
    run_done(&names);
    return rc;
}

static int judge(const struct sim_ask *ask, const struct run *r,
                 const struct asserts *a)
{
    bool people = prints_for_people(ask);
    uint32_t failed;

    if (a->n == 0)
        return EXIT_OK;
    if (people)
        putchar('\n');
    failed = asserts_judge(a, people || ask->quiet ? stdout : NULL, r->figures,
                           r->names, r->all.n_variants, "");
    return failed ? EXIT_FINDINGS : EXIT_OK;
}

static int show(const struct sim_ask *ask, const struct run *r,
                const struct asserts *asserts)
{
    struct sim_page_context ctx = { .command = ask->command,
                                    .version = bide_version() };
    int rc;

    if (ask->json)
        print_json(ask, r, asserts);
    else if (prints_for_people(ask))
        print_run(ask, r);
    rc = csv_write(ask, &r->all);
    if (rc < 0)
        rc = html_write(ask, &r->all, &ctx);
    return rc < 0 ? svg_write(ask, &r->all) : rc;
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
    struct run *r;
    struct asserts asserts;
    int rc = parse_asserts(&asserts, ask);

    if (rc < 0)
        rc = check_size(ask);
    if (rc >= 0) {
        asserts_done(&asserts);
        return rc;
    }
    r = need(calloc(1, sizeof *r));
    run_all(r, ask);
    rc = show(ask, r, &asserts);
    if (rc < 0)
        rc = was_interrupted() ? EXIT_INTERRUPTED : judge(ask, r, &asserts);
    asserts_done(&asserts);
    run_done(r);
    free(r);
    return rc;
}
