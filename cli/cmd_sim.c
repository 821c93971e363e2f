/* bide sim: the simulator. So far, `selftest`: models whose outcome is known. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../sim/oracle.h"
#include "cli.h"

static const struct flag flag_list[] = {
    { "row", 0, "N", "only this row, from 1" },
    { "seed", 0, "N", "draw other luck; 1 if not given" },
    { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide sim selftest [options]",
    "Runs the engine on virtual time, against models of clients and services. "
    "`selftest` runs models whose outcome is known, worked out or published, "
    "and shows what was expected and what was measured. It takes about half a "
    "minute.\n\n"
    "Scenarios of your own, comparisons and reports are not there yet: they "
    "come next.",
    flag_list,
    "Exit codes: 0 every row came out, 1 some did not, 2 a mistake in the "
    "arguments.\n\n"
    "Examples:\n"
    "  bide sim selftest\n"
    "  bide sim selftest --row 13 --seed 7\n"
    "  bide sim selftest --json | jq '.checks[] | select(.ok | not)'",
};

struct selftest {
    uint64_t seed;
    int row;  /* or 0: all */
    bool json;
    bool bar; /* progress is shown */
    struct sim_report report;
};

/* ===== flags ===== */

static bool read_number(const char *text, uint64_t most, uint64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *ret <= most;
}

static uint64_t last_row(void)
{
    uint64_t row = 0;

    for (const struct sim_oracle *o = sim_oracles; o->run; o++)
        row = (uint64_t)o->row;
    return row;
}

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct selftest *s = ctx;
    uint64_t row;

    if (strcmp(name, "seed") == 0)
        return read_number(argument, UINT64_MAX, &s->seed)
                   ? NULL
                   : "a number, 0 or more";
    if (strcmp(name, "row") == 0) {
        if (!read_number(argument, last_row(), &row) || row == 0)
            return "the number of a row, from 1 to 13";
        s->row = (int)row;
    } else {
        s->json = true;
    }
    return NULL;
}

/* ===== progress ===== */

static void show_progress(void *self, const struct sim_report *r)
{
    (void)self;
    fprintf(stderr, "\r\033[Krow %d of %d, %.0f million events", r->row,
            (int)last_row(), (double)r->events / 1e6);
    fflush(stderr);
}

static void clear_progress(const struct selftest *s)
{
    if (s->bar)
        fputs("\r\033[K", stderr);
}

/* ===== output ===== */

static const char *bound_name(const struct sim_check *c)
{
    if (c->bound == SIM_NEAR)
        return c->tolerance > 0 ? "within" : "exact";
    return c->bound == SIM_AT_MOST ? "at_most" : "shape";
}

static const char *tolerance_text(const struct sim_check *c, char *buffer,
                                  size_t size)
{
    if (c->bound != SIM_NEAR)
        return "at most";
    if (c->tolerance <= 0)
        return "exact";
    snprintf(buffer, size, "%s %.3g", use_utf8() ? "\u00b1" : "+-",
             c->tolerance);
    return buffer;
}

static void print_check(const struct sim_check *c, struct paint p)
{
    char buffer[32];
    const char *tolerance = tolerance_text(c, buffer, sizeof buffer);
    int pad = 10 - (int)strlen(tolerance) + (tolerance[0] == '\xc2');

    printf("    %-48s %9.5g %*s%s %9.5g  %s%s%s\n", c->what, c->expected,
           pad > 0 ? pad : 0, "", tolerance, c->measured,
           c->ok ? p.green : p.red, c->ok ? "ok" : "FAILED", p.plain);
}

static void print_row(const struct selftest *s, const struct sim_oracle *o,
                      uint32_t from)
{
    struct paint p = paint_for(stdout);

    clear_progress(s);
    printf("%s%2d  %s%s\n", p.bold, o->row, o->title, p.plain);
    for (uint32_t i = from; i < s->report.n_checks; i++)
        print_check(&s->report.checks[i], p);
    fflush(stdout);
}

static void print_json(const struct sim_report *r)
{
    printf("{\n  \"seed\": %llu,\n  \"ok\": %s,\n  \"events\": %llu,\n"
           "  \"checks\": [",
           (unsigned long long)r->seed,
           sim_report_failures(r) ? "false" : "true",
           (unsigned long long)r->events);
    for (uint32_t i = 0; i < r->n_checks; i++) {
        const struct sim_check *c = &r->checks[i];
        printf("%s\n    {\"row\": %d, \"what\": \"%s\", \"bound\": \"%s\", "
               "\"expected\": %.17g, \"tolerance\": %.17g, "
               "\"measured\": %.17g, \"ok\": %s}",
               i ? "," : "", c->row, c->what, bound_name(c), c->expected,
               c->tolerance, c->measured, c->ok ? "true" : "false");
    }
    printf("\n  ]\n}\n");
}

static void print_sum(const struct sim_report *r)
{
    uint32_t failed = sim_report_failures(r);
    struct paint p = paint_for(stdout);

    printf("\n%u checks, %s%u failed%s; seed %llu, %llu events\n", r->n_checks,
           failed ? p.red : p.green, failed, p.plain,
           (unsigned long long)r->seed, (unsigned long long)r->events);
}

/* ===== the command ===== */

static int selftest(struct selftest *s)
{
    struct sim_report *r = &s->report;

    r->seed = s->seed;
    s->bar = isatty(STDERR_FILENO);
    r->progress = s->bar ? show_progress : NULL;
    if (!s->json)
        printf("    %-48s %9s %10s %9s\n", "", "expected", "tolerance",
               "measured");
    for (const struct sim_oracle *o = sim_oracles; o->run; o++) {
        uint32_t from = r->n_checks;
        if (s->row && s->row != o->row)
            continue;
        sim_oracle_run(o, r);
        if (!s->json)
            print_row(s, o, from);
    }
    clear_progress(s);
    if (s->json)
        print_json(r);
    else
        print_sum(r);
    int rc = sim_report_failures(r) ? EXIT_FINDINGS : EXIT_OK;
    sim_report_done(r);
    return rc;
}

int cmd_sim(int argc, char **argv)
{
    static const char *const known[] = { "selftest", NULL };
    struct selftest s = { .seed = 1 };
    int first;

    if (argc < 2) { /* nothing was asked for, which is not a success */
        char name[] = "sim", help[] = "--help";
        char *asked[] = { name, help, NULL };
        flags_parse(&flags, 2, asked, take, &s, NULL);
        return EXIT_USAGE;
    }
    int rc = flags_parse(&flags, argc, argv, take, &s, &first);
    if (rc >= 0)
        return rc;
    if (first >= argc)
        return complain("sim", "expected `selftest`, found nothing");
    if (strcmp(argv[first], "selftest") != 0) {
        complain("sim", "unknown scenario or command `%s`", argv[first]);
        suggest(argv[first], known);
        return EXIT_USAGE;
    }
    if (first + 1 < argc)
        return complain("sim", "unexpected `%s`", argv[first + 1]);
    return selftest(&s);
}
