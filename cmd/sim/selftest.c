/* bide sim selftest: models whose results are known. */
#include "cmd/sim/selftest.h"

#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cmd/common/output.h"
#include "cmd/sim/ask.h"
#include "sim/oracle/oracle.h"

static int last_row(void)
{
    int row = 0;

    for (const struct sim_oracle *o = sim_oracles; o->run; o++)
        row = o->row;
    return row;
}

/* ===== progress ===== */

static void show_progress(void *self, const struct sim_report *r)
{
    (void)self;
    fprintf(stderr, "\r\033[Krow %d of %d, %.0f million events", r->row,
            last_row(), (double)r->events / 1e6);
    fflush(stderr);
}

static void clear_progress(const struct sim_report *r)
{
    if (r->progress)
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

static void print_row(const struct sim_report *r, const struct sim_oracle *o,
                      uint32_t from)
{
    struct paint p = paint_for(stdout);

    clear_progress(r);
    printf("%s%2d  %s%s\n", p.bold, o->row, o->title, p.plain);
    for (uint32_t i = from; i < r->n_checks; i++)
        print_check(&r->checks[i], p);
    fflush(stdout);
}

static void put_exactly(struct bide__json *j, const char *key, double x)
{
    char text[32];

    snprintf(text, sizeof text, "%.17g", x);
    bide__json_raw(j, key, text);
}

static void print_json(const struct sim_report *r)
{
    struct bide__json j;

    bide__json_init(&j, stdout, true);
    bide__json_object(&j, NULL);
    bide__json_count(&j, "seed", r->seed);
    bide__json_flag(&j, "ok", sim_report_failures(r) == 0);
    bide__json_count(&j, "events", r->events);
    bide__json_list(&j, "checks");
    for (uint32_t i = 0; i < r->n_checks; i++) {
        const struct sim_check *c = &r->checks[i];
        bide__json_object_row(&j, NULL);
        bide__json_integer(&j, "row", c->row);
        bide__json_text(&j, "what", c->what);
        bide__json_text(&j, "bound", bound_name(c));
        put_exactly(&j, "expected", c->expected);
        put_exactly(&j, "tolerance", c->tolerance);
        put_exactly(&j, "measured", c->measured);
        bide__json_flag(&j, "ok", c->ok);
        bide__json_end(&j);
    }
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
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

static void run_all(const struct sim_ask *ask, struct sim_report *r)
{
    if (!ask->json)
        printf("    %-48s %9s %10s %9s\n", "", "expected", "tolerance",
               "measured");
    for (const struct sim_oracle *o = sim_oracles; o->run; o++) {
        uint32_t from = r->n_checks;
        if (ask->row && (int)ask->row != o->row)
            continue;
        sim_oracle_run(o, r);
        if (!ask->json)
            print_row(r, o, from);
    }
}

int sim_selftest_command(struct sim_ask *ask)
{
    struct sim_report r = { .seed = ask->policy.seeded ? ask->policy.seed : 1 };

    if (ask->row > (uint32_t)last_row())
        return complain("sim",
                        "--row: found %u, expected the number of a row, "
                        "from 1 to %d",
                        ask->row, last_row());
    if (isatty(STDERR_FILENO) && !ask->no_progress)
        r.progress = show_progress;
    run_all(ask, &r);
    clear_progress(&r);
    if (ask->json)
        print_json(&r);
    else
        print_sum(&r);
    int rc = sim_report_failures(&r) ? EXIT_FINDINGS : EXIT_OK;
    sim_report_done(&r);
    return rc;
}
