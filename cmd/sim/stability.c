/* bide sim stability: the map of load against the length of a hit. */
#include "cmd/sim/stability.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/common/output.h"
#include "cmd/sim/files.h"
#include "cmd/sim/plan.h"
#include "cmd/sim/progress.h"
#include "sim/report/json.h"
#include "sim/report/stability.h"
#include "sim/study/sweep.h"

enum { USUAL_SEEDS = 3 };

static const char usual_loads[] =
    "loads=10%,20%,30%,40%,50%,60%,70%,80%,90%,100%,110%,120%";
static const char usual_triggers[] = "triggers=1s,2s,5s,10s,20s,30s";

/* ===== asking ===== */

/* Values as --sweep takes them, after the name of the flag. */
static int parse_axis(struct sim_axis *a, const char *flag, const char *text,
                      const char *usual)
{
    struct sim_fuss fuss;
    char line[512];

    if (!text)
        return sim_axis_parse(a, usual, &fuss) < 0 ? EXIT_USAGE : -1;
    snprintf(line, sizeof line, "%s=%s", flag, text);
    if (strlen(text) >= sizeof line - 20 || sim_axis_parse(a, line, &fuss) < 0)
        return complain("sim", "--%s: %s", flag,
                        strlen(text) < sizeof line - 20 ? fuss.message
                                                        : "it is too long");
    return -1;
}

static int read_values(const struct stability_cmd *c, double *loads,
                       int64_t *lengths_ns)
{
    for (uint32_t i = 0; i < c->loads.n; i++) {
        const char *text = c->loads.values[i];
        if (bide_parse_ratio(text, strlen(text), &loads[i]) < 0 ||
            !(loads[i] > 0) || loads[i] > 100)
            return complain("sim",
                            "--loads: found `%s`, expected a share of "
                            "what can be served, such as 80%%",
                            text);
    }
    for (uint32_t i = 0; i < c->triggers.n; i++) {
        const char *text = c->triggers.values[i];
        if (bide_parse_duration(text, strlen(text), &lengths_ns[i]) < 0 ||
            lengths_ns[i] <= 0 || lengths_ns[i] > BIDE_HOUR)
            return complain("sim",
                            "--triggers: found `%s`, expected a "
                            "duration up to 1h, such as 10s",
                            text);
    }
    return -1;
}

static int make_map(struct stability_cmd *c)
{
    double loads[SIM_AXIS_MOST + 1];
    int64_t lengths_ns[SIM_AXIS_MOST + 1];
    const char *why;
    int rc = parse_axis(&c->loads, "loads", c->ask->loads, usual_loads);

    if (rc < 0)
        rc = parse_axis(&c->triggers, "triggers", c->ask->triggers,
                        usual_triggers);
    if (rc < 0)
        rc = read_values(c, loads, lengths_ns);
    if (rc >= 0)
        return rc;
    if (c->loads.n * c->triggers.n > SIM_SWEEP_MOST)
        return complain("sim", "found %u cells, expected at most %d",
                        c->loads.n * c->triggers.n, SIM_SWEEP_MOST);
    why = sim_stability_new(&c->map, c->model, loads, c->loads.n, lengths_ns,
                            c->triggers.n);
    return why ? complain("sim", "%s: %s", c->ask->subjects[0].name, why) : -1;
}

/* ===== the command ===== */

static void print_json(const struct stability_cmd *c)
{
    const struct sim_stability *s = c->map;
    struct bide__json j;

    sim_json_begin(&j, stdout,
                   &(struct sim_json_head){ c->ask->command,
                                            c->ask->subjects[0].name, c->model,
                                            s->seed, s->seeds });
    sim_json_stability(&j, s);
    bide__json_end(&j);
    bide__json_done(&j);
}

static int write_csv(const struct stability_cmd *c)
{
    FILE *out = csv_open(c->ask->csv, "stability.csv");

    if (!out)
        return EXIT_USAGE;
    sim_csv_stability(out, c->map);
    return file_close("csv", c->ask->csv, out, false);
}

/* The report or the picture, into the file of a flag. */
static int write_page(const struct stability_cmd *c, sim_page_writer *write,
                      const char *flag, const char *path)
{
    FILE *out = file_open(flag, path);
    char *command;
    bool bad;

    if (!out)
        return EXIT_USAGE;
    bad = sim_page_stability(write, out, c->map, &c->loads, &c->triggers,
                             page_context(c->ask, &command)) < 0;
    free(command);
    return file_close(flag, path, out, bad);
}

static int run(struct stability_cmd *c)
{
    struct sim_plan plan = plan_for(c->ask, c->model, USUAL_SEEDS);
    struct progress p;
    double took_s;
    int rc = runs_fit((uint64_t)c->loads.n * c->triggers.n, &plan);

    if (rc >= 0)
        return rc;
    progress_begin(&p, c->ask);
    plan.run_conf.self = &p;
    plan.run_conf.progress = progress_tell;
    sim_stability_run(c->map, &plan);
    took_s = progress_end(&p);
    if (c->ask->json) {
        print_json(c);
    } else if (prints_for_people(c->ask)) {
        stability_print(c);
        print_took(took_s, c->map->events);
    }
    if (c->ask->csv)
        rc = write_csv(c);
    if (c->ask->html && rc < 0)
        rc = write_page(c, sim_page_write, "html", c->ask->html);
    if (c->ask->svg && rc < 0)
        rc = write_page(c, sim_page_picture, "svg", c->ask->svg);
    if (rc >= 0)
        return rc;
    return was_interrupted() ? EXIT_INTERRUPTED : EXIT_OK;
}

int sim_stability_command(struct sim_ask *ask)
{
    struct stability_cmd c = { .ask = ask, .model = ask->subjects[0].draft };
    int rc = make_map(&c);

    if (rc < 0)
        rc = run(&c);
    sim_stability_free(c.map);
    sim_axis_done(&c.loads);
    sim_axis_done(&c.triggers);
    return rc;
}
