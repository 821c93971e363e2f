/* bide check: finds errors and risks in a policy file.
 *
 * Findings go to stderr, like a compiler's, and a summary line for each file to
 * stdout; with --json and --sarif everything goes to stdout. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cmd/check/command.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "config/doc/diag.h"
#include "config/doc/diag_json.h"
#include "config/doc/read_file.h"
#include "config/lint/rules.h"
#include "config/policy/pages.h"
#include "config/policy/policy_file.h"
#include "sim/scenario/scenario.h"

static const struct flag flag_list[] = {
    { "json", 0, NULL, "print the findings as JSON" },
    { "sarif", 0, NULL, "print them as SARIF 2.1.0, for code-review tools" },
    { "quiet", 'q', NULL, "print nothing, only set the exit code" },
    { "no-lint", 0, NULL, "look for errors only, not for risks" },
    { "capacity", 0, "RATE", "what the service can serve, as in 500/s" },
    { "load", 0, "RATE", "what it has to serve, without retries" },
    { "p99", 0, "D", "its 99th percentile of latency" },
    { "clients", 0, "N", "how many processes run this policy" },
    { "depth", 0, "N", "how many layers, one above the other, retry" },
    { "defaults", 0, NULL, "print a policy file with every default" },
    { "reference", 0, NULL, "print the reference page, in Markdown" },
    { "schema", 0, NULL, "print the JSON Schema of policy files" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    .usage = "bide check [options] FILE...",
    .about =
        "Reads policy files, and scenarios of `bide sim`, and reports every "
        "error in them with its place, and what is allowed but will hurt: "
        "attempts that cannot fit the deadline, waits without jitter, a budget "
        "over the capacity. What is known of the service is in the file under "
        "`service`, or given here. `-` reads standard input.",
    .list = flag_list,
    .after = "Exit codes: 0 all is well, 1 there are warnings, 2 there are "
             "errors.\n\n"
             "Examples:\n"
             "  bide check bide.yaml\n"
             "  bide check --load 300/s --capacity 350/s --clients 40 "
             "bide.yaml\n"
             "  bide check --sarif *.yaml > bide.sarif\n"
             "  bide check --defaults > bide.yaml",
};

struct check {
    bool json, sarif, quiet, no_lint;
    void (*print)(FILE *out); /* --defaults and the like, or NULL */
    struct bide__service service;
};

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct check *c = ctx;
    const char *expected;

    if (argument)
        return field_flag(&bide__service_table, &c->service, name, argument,
                          &expected) < 0
                   ? expected
                   : NULL;
    c->json |= strcmp(name, "json") == 0;
    c->sarif |= strcmp(name, "sarif") == 0;
    c->quiet |= strcmp(name, "quiet") == 0;
    c->no_lint |= strcmp(name, "no-lint") == 0;
    if (strcmp(name, "defaults") == 0)
        c->print = bide__write_defaults;
    if (strcmp(name, "reference") == 0)
        c->print = bide__write_reference;
    if (strcmp(name, "schema") == 0)
        c->print = bide__write_schema;
    return NULL;
}

/* ===== one file ===== */

/* Scenarios of `bide sim` contain policies too, some of them bad on purpose:
 * they are not linted. */
static int look_at_scenario(const char *path, const char *text, size_t len,
                            bide_diagnostics *notes, size_t *ret_policies)
{
    struct sim_model *model = NULL;
    int rc = sim_scenario_parse(&model, path, text, len, notes);

    *ret_policies = model ? model->n_policies : 0;
    sim_model_free(model);
    return rc;
}

/* Reads and lints; false if there is no memory for that. */
static bool look_at(const struct check *c, const char *path,
                    bide_diagnostics *notes, size_t *ret_policies)
{
    bide_config *config = NULL;
    char *text;
    size_t len;
    int rc = bide__read_file(path, &text, &len, notes);

    *ret_policies = 0;
    if (rc == 0) {
        rc = sim_scenario_is(text, len)
                 ? look_at_scenario(path, text, len, notes, ret_policies)
                 : bide_config_parse(&config, path, text, len, notes);
        free(text);
    }
    if (rc == BIDE_ENOMEM)
        return false;
    if (config && !c->no_lint)
        bide__lint_with(config, NULL, &c->service, notes);
    while (bide_config_policy_name(config, *ret_policies))
        ++*ret_policies;
    bide_config_free(config);
    return !bide__diag_failed(notes);
}

static void put_count(size_t n, const char *what, const char *before)
{
    printf("%s%zu %s%s", before, n, what, n == 1 ? "" : "s");
}

/* "bide.yaml: 2 errors, 1 warning" */
static void put_summary(const char *path, size_t mistakes, size_t warnings,
                        size_t policies)
{
    printf("%s: ", path);
    if (mistakes)
        put_count(mistakes, "error", "");
    if (warnings)
        put_count(warnings, "warning", mistakes ? ", " : "");
    if (!mistakes && !warnings) {
        printf("ok");
        if (policies == 1)
            printf(", 1 policy");
        else
            printf(", %zu policies", policies);
    }
    putchar('\n');
}

static int verdict(size_t mistakes, size_t warnings)
{
    return mistakes ? EXIT_USAGE : warnings ? EXIT_FINDINGS : EXIT_OK;
}

static int check_for_people(const struct check *c, const char *path)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    size_t policies, mistakes, warnings;

    if (!notes || !look_at(c, path, notes, &policies)) {
        bide_diagnostics_free(notes);
        return complain("check", "%s: out of memory", path);
    }
    mistakes = bide_diagnostics_count(notes, BIDE_MISTAKE);
    warnings = bide_diagnostics_count(notes, BIDE_WARNING);
    if (!c->quiet) {
        bide_diagnostics_print(notes, stderr, use_colours(stderr));
        put_summary(path, mistakes, warnings, policies);
        fflush(stdout); /* before the output for the next file */
    }
    bide_diagnostics_free(notes);
    return verdict(mistakes, warnings);
}

/* ===== all files ===== */

static void put_json(const bide_diagnostics *notes, int n, char **paths)
{
    struct bide__json j;

    bide__json_init(&j, stdout, true);
    bide__json_object(&j, NULL);
    bide__json_list(&j, "files");
    for (int i = 0; i < n; i++)
        bide__json_text(&j, NULL, paths[i]);
    bide__json_end(&j);
    bide__json_integer(&j, "errors",
                       (int64_t)bide_diagnostics_count(notes, BIDE_MISTAKE));
    bide__json_integer(&j, "warnings",
                       (int64_t)bide_diagnostics_count(notes, BIDE_WARNING));
    bide__diag_json(notes, &j);
    bide__json_end(&j);
    bide__json_done(&j);
}

static void put_sarif(const bide_diagnostics *notes)
{
    struct bide__json j;

    bide__json_init(&j, stdout, true);
    bide__diag_sarif(notes, &j);
    bide__json_done(&j);
}

/* One document for all of them. */
static int check_for_machines(const struct check *c, int n, char **paths)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    bool enough = notes != NULL;
    size_t policies;
    int rc;

    for (int i = 0; i < n && enough; i++)
        enough = look_at(c, paths[i], notes, &policies);
    if (!enough) {
        bide_diagnostics_free(notes);
        return complain("check", "out of memory");
    }
    if (c->sarif)
        put_sarif(notes);
    else
        put_json(notes, n, paths);
    rc = verdict(bide_diagnostics_count(notes, BIDE_MISTAKE),
                 bide_diagnostics_count(notes, BIDE_WARNING));
    bide_diagnostics_free(notes);
    return rc;
}

int cmd_check(int argc, char **argv)
{
    struct check c = { .service = BIDE__SERVICE_INIT };
    int first, worst = EXIT_OK;
    int rc = flags_parse(&flags, argc, argv, take, &c, &first);

    if (rc >= 0)
        return rc;
    if (c.print) {
        c.print(stdout);
        return EXIT_OK;
    }
    if (first == argc)
        return complain("check", "expected a file; `-` is standard input");
    if (c.json && c.sarif)
        return complain("check", "--json and --sarif are two formats: choose");
    if (c.json || c.sarif)
        return check_for_machines(&c, argc - first, argv + first);
    for (int i = first; i < argc; i++) {
        rc = check_for_people(&c, argv[i]);
        worst = rc > worst ? rc : worst;
    }
    return worst;
}
