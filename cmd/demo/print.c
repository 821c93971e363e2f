/* Lines where there is no terminal, the table at the end, and JSON. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/demo/demo.h"
#include "cmd/demo/result.h"
#include "cmd/demo/show.h"

enum { COLUMN = 15 };

void demo_print_head(FILE *out, const struct demo *demo, const char *url)
{
    struct paint p = paint_for(out);
    char text[400];
    int width = terminal_width(out);

    snprintf(text, sizeof text,
             "Four fleets of %u clients, each with an origin of its own on "
             "loopback that can answer %d requests/s. At %.3g s the origins "
             "hang, crash, and come back; at %.3g s they are healthy again.",
             demo->plan.clients, DEMO_CAPACITY,
             (double)demo->plan.hangs_ns / 1e9,
             (double)demo->plan.healthy_ns / 1e9);
    fprintf(out, "%sbide demo%s", p.bold, p.plain);
    if (url)
        fprintf(out, "  dashboard: %s", url);
    fputs("\n\n", out);
    bide__print_wrapped(out, text, 0, 0, width);
    putc('\n', out);
    for (unsigned i = 0; i < DEMO_FLEETS; i++) {
        fprintf(out, "  %s%-*s%s", p.bold, COLUMN, demo_fleet_name(i), p.plain);
        bide__print_wrapped(out, demo_fleet_text(i), COLUMN + 2, COLUMN + 2,
                            width);
    }
    putc('\n', out);
    fflush(out);
}

void demo_print_columns(FILE *out)
{
    fprintf(out, "%-16s", "");
    for (unsigned i = 0; i < DEMO_FLEETS; i++)
        fprintf(out, "%*s", COLUMN, demo_fleet_name(i));
    fprintf(out, "\n%6s  %-8s", "time", "origin");
    for (unsigned i = 0; i < DEMO_FLEETS; i++)
        fprintf(out, "%*s", COLUMN, "load  good");
    putc('\n', out);
    fflush(out);
}

/* Over the last second, or proportionally less in a short run. */
void demo_print_line(FILE *out, const struct demo *demo, int64_t at_ns)
{
    size_t to = (size_t)(at_ns / DEMO_SLOT_NS);
    size_t span = (size_t)(10 * demo->plan.scale) + 1;
    size_t from = to > span ? to - span : 0;

    fprintf(out, "%5.1fs  %-8s", (double)at_ns / 1e9,
            demo_phase_name(demo_phase_at(&demo->plan, at_ns - 1)));
    for (unsigned i = 0; i < DEMO_FLEETS; i++) {
        const struct demo_tally *t = &demo->fleets[i].tally;
        fprintf(out, "%*.0f%6.0f", COLUMN - 6,
                demo_tally_rate(t, DEMO_ARRIVED, from, to),
                demo_tally_rate(t, DEMO_GOOD, from, to));
    }
    putc('\n', out);
    fflush(out);
}

/* ===== the table ===== */

enum { TABLE = 78 };

static const char *recovery(const struct demo_result *r, char text[32])
{
    if (r->watched_s == 0)
        snprintf(text, 32, "-");
    else if (r->back_s < 0)
        snprintf(text, 32, "not in %.0f s", r->watched_s);
    else
        snprintf(text, 32, "%.1f s", r->back_s);
    return text;
}

static double failed_percent(const struct demo_result *r)
{
    double ended = (double)(r->good + r->failed);
    return ended > 0 ? (double)r->failed / ended * 100 : 0;
}

static void print_row(FILE *out, unsigned i, const struct demo_result *r,
                      const struct paint *p)
{
    char peak[32], back[32];
    bool lost = r->back_s < 0 && r->watched_s > 0;

    snprintf(peak, sizeof peak, "%.0f (%.1fx)", r->peak,
             r->peak / DEMO_CAPACITY);
    fprintf(out, "%s%-14s%s%9.1f/s%11.1f%%%11.2f%16s%s%14s%s\n", p->bold,
            demo_fleet_name(i), p->plain, r->goodput, failed_percent(r),
            r->amplification, peak, lost ? p->red : "", recovery(r, back),
            p->plain);
}

/* The same in words, where there is no room for a table. */
static void print_narrow(FILE *out, unsigned i, const struct demo_result *r,
                         const struct paint *p)
{
    char text[200], back[32];

    snprintf(text, sizeof text,
             "goodput %.1f/s, failed %.1f%%, attempts per call %.2f, peak load "
             "%.0f/s, recovered after: %s",
             r->goodput, failed_percent(r), r->amplification, r->peak,
             recovery(r, back));
    fprintf(out, "%s%s%s\n  ", p->bold, demo_fleet_name(i), p->plain);
    bide__print_wrapped(out, text, 2, 2, terminal_width(out));
}

static void print_heads(FILE *out, const struct paint *p)
{
    fprintf(out, "%s%-14s%11s%12s%11s%16s%14s%s\n", p->dim, "", "goodput",
            "failed", "attempts", "peak load", "recovered", p->plain);
    fprintf(out, "%s%-14s%11s%12s%11s%16s%14s%s\n", p->dim, "", "calls",
            "calls", "per call", "requests/s", "after", p->plain);
}

void demo_print_table(FILE *out, const struct demo_result r[DEMO_FLEETS])
{
    struct paint p = paint_for(out);
    bool wide = terminal_width(out) >= TABLE;
    char text[512];

    putc('\n', out);
    if (wide)
        print_heads(out, &p);
    for (unsigned i = 0; i < DEMO_FLEETS; i++)
        (wide ? print_row : print_narrow)(out, i, &r[i], &p);
    demo_seen(r, text, sizeof text);
    putc('\n', out);
    bide__print_wrapped(out, text, 0, 0, terminal_width(out));
    fflush(out);
}

/* ===== JSON ===== */

static double rounded(double x)
{
    return round(x * 1000) / 1000;
}

static void put_fleet(struct bide__json *j, unsigned i,
                      const struct demo_result *r)
{
    bide__json_object(j, NULL);
    bide__json_text(j, "name", demo_fleet_name(i));
    bide__json_text(j, "text", demo_fleet_text(i));
    bide__json_count(j, "calls", r->calls);
    bide__json_count(j, "succeeded", r->good);
    bide__json_count(j, "failed", r->failed);
    bide__json_count(j, "attempts", r->sent);
    bide__json_number(j, "goodput_per_s", rounded(r->goodput));
    bide__json_number(j, "goodput_before_per_s", rounded(r->usual));
    bide__json_number(j, "amplification", rounded(r->amplification));
    bide__json_number(j, "peak_load_per_s", rounded(r->peak));
    if (r->back_s < 0)
        bide__json_null(j, "recovered_after_s");
    else
        bide__json_number(j, "recovered_after_s", rounded(r->back_s));
    bide__json_end(j);
}

static void put_plan(struct bide__json *j, const struct demo_plan *plan)
{
    bide__json_object(j, "timetable_s");
    bide__json_number(j, "hangs", (double)plan->hangs_ns / 1e9);
    bide__json_number(j, "errors", (double)plan->errors_ns / 1e9);
    bide__json_number(j, "loads", (double)plan->loads_ns / 1e9);
    bide__json_number(j, "healthy", (double)plan->healthy_ns / 1e9);
    bide__json_number(j, "ends", (double)plan->length_ns / 1e9);
    bide__json_end(j);
}

bool demo_print_json(FILE *out, const struct demo *demo,
                     const struct demo_result r[DEMO_FLEETS], bool cut_short)
{
    struct bide__out text = { 0 };
    struct bide__json j;
    char seen[512];

    demo_seen(r, seen, sizeof seen);
    bide__json_into(&j, &text);
    bide__json_object(&j, NULL);
    bide__json_number(&j, "seconds", rounded(r[0].seconds));
    bide__json_flag(&j, "interrupted", cut_short);
    bide__json_count(&j, "clients_of_each", demo->plan.clients);
    bide__json_count(&j, "capacity_per_s", DEMO_CAPACITY);
    put_plan(&j, &demo->plan);
    bide__json_list(&j, "fleets");
    for (unsigned i = 0; i < DEMO_FLEETS; i++)
        put_fleet(&j, i, &r[i]);
    bide__json_end(&j);
    bide__json_text(&j, "seen", seen);
    bide__json_end(&j);
    bide__json_done(&j);
    bool whole = !text.failed;
    if (whole)
        fwrite(text.data, 1, text.len, out);
    bide__out_done(&text);
    return whole;
}
