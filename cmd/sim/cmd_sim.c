/* bide sim: parses the flags and runs the right command. */
#include <stdlib.h>
#include <string.h>

#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/sim/ask.h"
#include "cmd/sim/command.h"
#include "cmd/sim/list.h"
#include "cmd/sim/run.h"
#include "cmd/sim/selftest.h"
#include "cmd/sim/stability.h"
#include "cmd/sim/subject.h"
#include "cmd/sim/sweep.h"
#include "config/field/rows.h"
#include "sim/scenario/reference.h"

static const struct flag flag_list[] = {
    { "list", 0, NULL, "list the scenarios that come with bide" },
    { "print", 0, "NAME", "print one of them, as YAML to start from" },
    { "variant", 0, "NAME", "only this variant; may be given again" },
    { "compare", 0, NULL,
      "run policy files or scenarios side by side: the operands" },
    { "sweep", 0, "KEY=A..B[:N]",
      "run it for many values of a setting, or KEY=A,B,C; twice for a map" },
    { "metric", 0, "FIGURE", "which figure --sweep shows" },
    { "assert", 0, "EXPR",
      "fail unless this holds: 'amplification < 1.2 && recover < 5s'" },
    { "replications", 'n', "N",
      "how many seeds; 10, or fewer if that is long" },
    { "threads", 0, "N", "how many at once; one for each core" },
    { "duration", 0, "D", "simulate this long, not as long as it says" },
    { "loads", 0, "A..B[:N]", "stability: loads, of what can be served" },
    { "triggers", 0, "A..B[:N]", "stability: how long the fault lasts" },
    { "row", 0, "N", "selftest: only this row, from 1" },
    { "json", 0, NULL, "print JSON" },
    { "csv", 0, "FILE", "write figures as CSV; series too if it is a DIR/" },
    { "html", 0, "FILE", "write a report that stands alone" },
    { "svg", 0, "FILE", "write a picture" },
    { "quiet", 'q', NULL, "print only what failed, and set the exit code" },
    { "no-progress", 0, NULL, "no progress bar" },
    { "reference", 0, NULL, "print the keys of scenario files, in Markdown" },
    { "schema", 0, NULL, "print their JSON Schema" },
    POLICY_FLAGS,
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide sim [SCENARIO or FILE] [options]\n"
    "bide sim stability [SCENARIO or FILE] [options]\n"
    "bide sim selftest [options]",
    "Runs the engine on virtual time, against models of clients and services, "
    "and shows what a policy would do to them. A scenario is one that comes "
    "with bide (--list) or a YAML file. Policy flags change the policies of "
    "its clients; --policy and --preset replace them.\n\n"
    "`stability` maps load against the length of a fault: where it recovers, "
    "and where it never does. `selftest` runs models whose outcome is known.",
    flag_list,
    "Exit codes: 0 done, 1 an assertion or a row of the selftest failed, 2 an "
    "error in the arguments, the scenario or a policy, 130 interrupted "
    "(what was known by then is printed).\n\n"
    "Examples:\n"
    "  bide sim --list\n"
    "  bide sim metastable --html report.html\n"
    "  bide sim metastable --policy bide.yaml --assert 'recover < 5s'\n"
    "  bide sim metastable --compare old.yaml new.yaml\n"
    "  bide sim metastable --sweep backoff.base=50ms..2s --metric p99\n"
    "  bide sim stability metastable --loads 50%..100%:6",
};

/* The request, and output that needs no model. */
struct sim_flags {
    struct sim_ask ask;
    bool reference, schema;
};

/* ===== flags ===== */

static const char *add_text(const char **list, uint32_t *n, uint32_t room,
                            const char *text)
{
    if (*n == room)
        return "fewer of them";
    list[(*n)++] = text;
    return NULL;
}

static const char *take_list(struct sim_ask *ask, const char *name,
                             const char *text)
{
    if (strcmp(name, "sweep") == 0)
        return add_text(ask->sweeps, &ask->n_sweeps, 2, text)
                   ? "two of them at most"
                   : NULL;
    if (strcmp(name, "assert") == 0)
        return add_text(ask->asserts, &ask->n_asserts, MOST_ASSERTS, text);
    return add_text(ask->variants, &ask->n_variants, MOST_NAMED, text);
}

#define S struct sim_flags
static const struct bide__field fields[] = {
    { "replications", AT(ask.replications),
      TAKES(COUNT, 1, 100000, "a number from 1 to 100000") },
    { "threads", AT(ask.threads),
      TAKES(COUNT, 1, 256, "a number from 1 to 256") },
    { "row", AT(ask.row), TAKES(COUNT, 1, 1000, "the number of a row") },
    { "duration", AT(ask.duration_ns),
      TAKES_DURATION_FROM(1, ms, 30, d) ", with its unit" },
    { "print", AT(ask.print), TAKES_TEXT("something") },
    { "metric", AT(ask.metric), TAKES_TEXT("something") },
    { "csv", AT(ask.csv), TAKES_TEXT("something") },
    { "html", AT(ask.html), TAKES_TEXT("something") },
    { "svg", AT(ask.svg), TAKES_TEXT("something") },
    { "loads", AT(ask.loads), TAKES_TEXT("something") },
    { "triggers", AT(ask.triggers), TAKES_TEXT("something") },
    { "list", AT(ask.list), TAKES_FLAG },
    { "compare", AT(ask.compare), TAKES_FLAG },
    { "json", AT(ask.json), TAKES_FLAG },
    { "quiet", AT(ask.quiet), TAKES_FLAG },
    { "no-progress", AT(ask.no_progress), TAKES_FLAG },
    { "reference", AT(reference), TAKES_FLAG },
    { "schema", AT(schema), TAKES_FLAG },
    LAST
};
#undef S
static const struct bide__table table = { .fields = fields };

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct sim_flags *f = ctx;
    const char *expected = NULL;
    int taken;

    if (strcmp(name, "sweep") == 0 || strcmp(name, "assert") == 0 ||
        strcmp(name, "variant") == 0)
        return take_list(&f->ask, name, argument);
    taken = field_flag(&table, f, name, argument, &expected);
    if (taken == 0)
        taken = policy_flag(&f->ask.policy, name, argument, &expected);
    return taken < 0 ? expected : NULL;
}

/* ===== commands ===== */

/* There was nothing to do, which is an error. */
static int print_usage(void)
{
    fprintf(stderr, "Usage: bide sim [SCENARIO or FILE] [options]\n\n"
                    "Scenarios that come with bide:\n");
    sim_list_print(stderr);
    fprintf(stderr, "\nsee `bide sim --help`\n");
    return EXIT_USAGE;
}

static int misplaced(const char *flag, const char *where)
{
    return complain("sim", "--%s: expected with %s only", flag, where);
}

static int check_stability(const struct sim_ask *ask)
{
    if (ask->compare)
        return misplaced("compare", "a run");
    if (ask->n_sweeps)
        return misplaced("sweep", "a run");
    return ask->n_asserts ? misplaced("assert", "a run") : -1;
}

static int check_run(const struct sim_ask *ask)
{
    if (ask->loads || ask->triggers)
        return misplaced(ask->loads ? "loads" : "triggers",
                         "`bide sim stability`");
    if (ask->metric && !ask->n_sweeps)
        return misplaced("metric", "--sweep");
    if (ask->compare && ask->n_sweeps)
        return complain("sim", "--compare and --sweep: expected one of them");
    return -1;
}

/* Only one output can go to standard output. */
static int check_outputs(const struct sim_ask *ask)
{
    const char *const paths[] = { ask->csv, ask->html, ask->svg };
    int n = ask->json;

    for (int i = 0; i < 3; i++)
        n += paths[i] && strcmp(paths[i], "-") == 0;
    return n > 1 ? complain("sim", "found several of --json, --csv, --html and "
                                   "--svg for standard output, expected one")
                 : -1;
}

static int run_command(struct sim_ask *ask, char **operands, int n)
{
    bool stability = n > 0 && strcmp(operands[0], "stability") == 0;
    int rc;

    if (ask->row)
        return misplaced("row", "`bide sim selftest`");
    rc = stability ? check_stability(ask) : check_run(ask);
    if (rc < 0)
        rc = check_outputs(ask);
    if (rc < 0)
        rc = subjects_read(ask, operands + stability, n - stability,
                           stability || ask->compare ? "metastable" : NULL);
    if (rc >= 0)
        return rc;
    return stability       ? sim_stability_command(ask)
           : ask->n_sweeps ? sim_sweep_command(ask)
                           : sim_run_command(ask);
}

static int dispatch(struct sim_flags *f, char **operands, int n)
{
    if (f->reference || f->schema) {
        (f->schema ? sim_scenario_schema : sim_scenario_reference)(stdout);
        return EXIT_OK;
    }
    if (f->ask.list) {
        sim_list_print(stdout);
        return EXIT_OK;
    }
    if (f->ask.print)
        return sim_scenario_print(f->ask.print);
    if (n == 1 && strcmp(operands[0], "selftest") == 0)
        return sim_selftest_command(&f->ask);
    return run_command(&f->ask, operands, n);
}

int cmd_sim(int argc, char **argv)
{
    struct sim_flags *f;
    int first, rc;

    if (argc < 2)
        return print_usage();
    f = calloc(1, sizeof *f);
    if (!f)
        return complain("sim", "out of memory");
    f->ask.policy = (struct policy_choice)POLICY_CHOICE_INIT;
    f->ask.policy.command = argv[0];
    f->ask.command = sim_command_line(argc, argv);
    rc = flags_parse(&flags, argc, argv, take, f, &first);
    if (rc < 0)
        rc = dispatch(f, argv + first, argc - first);
    subjects_done(&f->ask);
    free(f->ask.command);
    free(f);
    return rc;
}
