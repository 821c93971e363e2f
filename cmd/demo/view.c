/* The animated charts: for each fleet two curves over the whole timetable as it
 * fills, the load on its origin and the calls that succeed.
 *
 * They are drawn in place without changing the mode of the terminal, so however
 * the program ends, there is nothing to restore. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/output.h"
#include "cmd/demo/demo.h"
#include "cmd/demo/show.h"

enum {
    NAME = 14,
    NUMBER = 7,
    GAP = 2,
    CELLS_MOST = 60,
    NARROWEST = 40, /* terminal that charts are drawn on */
    /* The load of a full cell, the same for all fleets. A storm of more than
     * four times the capacity would make the rest invisible. */
    LOAD_FULL = 4 * DEMO_CAPACITY,
    GOOD_FULL = DEMO_CAPACITY * 3 / 4,
};

struct frame {
    FILE *out;
    const struct demo *demo;
    struct paint paint;
    bool utf8;
    int cells; /* of each curve */
    double cell_slots;
    size_t first; /* slot where the curves begin */
    size_t now;   /* slot being filled */
};

static size_t cell_slot(const struct frame *f, int cell)
{
    return f->first + (size_t)(cell * f->cell_slots);
}

static double cell_rate(const struct frame *f, unsigned fleet,
                        enum demo_count what, int cell)
{
    size_t from = cell_slot(f, cell), to = cell_slot(f, cell + 1);

    return demo_tally_rate(&f->demo->fleets[fleet].tally, what, from,
                           to < f->now ? to : f->now);
}

static const char *block(const struct frame *f, double share)
{
    static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄",
                                          "▅", "▆", "▇", "█" };
    static const char *const letters[] = { " ", ".", ":", "-", "=",
                                           "+", "*", "%", "#" };
    int level = (int)ceil(share * 8 - 0.25);

    level = level < 0 ? 0 : level > 8 ? 8 : level;
    return (f->utf8 ? blocks : letters)[level];
}

/* Load is red where it exceeds the capacity of the origin. */
static void curve(const struct frame *f, unsigned fleet, enum demo_count what)
{
    bool load = what == DEMO_ARRIVED;
    const char *colour = "";

    for (int i = 0; i < f->cells; i++) {
        if (cell_slot(f, i) >= f->now) {
            putc(' ', f->out);
            continue;
        }
        double rate = cell_rate(f, fleet, what, i);
        const char *want = !load                  ? f->paint.green
                           : rate > DEMO_CAPACITY ? f->paint.red
                                                  : f->paint.plain;
        if (want != colour)
            fputs(want, f->out);
        colour = want;
        fputs(block(f, rate / (load ? LOAD_FULL : GOOD_FULL)), f->out);
    }
    fputs(f->paint.plain, f->out);
}

static void row(const struct frame *f, unsigned fleet)
{
    const struct demo_tally *t = &f->demo->fleets[fleet].tally;
    size_t span = (size_t)(10 * f->demo->plan.scale) + 1;
    size_t from = f->now > span ? f->now - span : 0;

    fprintf(f->out, "%s%-*s%s ", f->paint.bold, NAME, demo_fleet_name(fleet),
            f->paint.plain);
    curve(f, fleet, DEMO_ARRIVED);
    fprintf(f->out, "%*.0f/s%*s", NUMBER - 2,
            demo_tally_rate(t, DEMO_ARRIVED, from, f->now), GAP, "");
    curve(f, fleet, DEMO_GOOD);
    fprintf(f->out, "%*.0f/s\033[K\n", NUMBER - 2,
            demo_tally_rate(t, DEMO_GOOD, from, f->now));
}

/* When the origin was, is and will be down. */
static void ruler(const struct frame *f)
{
    for (int i = 0; i < f->cells; i++) {
        int64_t at = (int64_t)cell_slot(f, i) * DEMO_SLOT_NS +
                     (int64_t)(f->cell_slots / 2 * (double)DEMO_SLOT_NS);
        bool down = demo_phase_at(&f->demo->plan, at) != DEMO_HEALTHY;
        fputs(f->utf8 ? (down ? "╳" : "─") : (down ? "x" : "-"), f->out);
    }
}

static void rulers(const struct frame *f)
{
    fprintf(f->out, "%s%s%*s", f->paint.dim, f->utf8 ? "╳" : "x", -NAME,
            " the outage");
    ruler(f);
    fprintf(f->out, "%*s", NUMBER + GAP, "");
    ruler(f);
    fprintf(f->out, "%s\033[K\n", f->paint.plain);
}

static void lay_out(struct frame *f, int64_t at_ns)
{
    const struct demo_plan *plan = &f->demo->plan;
    double slots = (double)plan->length_ns / (double)DEMO_SLOT_NS;
    int room = terminal_width(f->out) - NAME - 1 - 2 * NUMBER - GAP - 1;

    f->cells = room / 2 < CELLS_MOST ? room / 2 : CELLS_MOST;
    if (f->cells > slots)
        f->cells = (int)slots;
    if (f->cells < 1)
        f->cells = 1; /* the terminal has become narrower */
    f->cell_slots = slots / f->cells;
    f->now = (size_t)(at_ns / DEMO_SLOT_NS);
    /* with --keep, once the timetable is over, it scrolls cell by cell */
    double over = ((double)f->now - slots) / f->cell_slots;
    f->first = over > 0 ? (size_t)(ceil(over) * f->cell_slots) : 0;
}

/* Cut to the width of the terminal: a line that wraps would spoil the next
 * picture. */
static void top(const struct frame *f, const struct demo_view *v, int64_t at_ns)
{
    enum demo_phase phase = demo_phase_at(&f->demo->plan, at_ns);
    int width = terminal_width(f->out);
    char clock[40];
    int used =
        snprintf(clock, sizeof clock,
                 v->keep ? "%5.1f s, again every %.3g s" : "%5.1f s of %.3g s",
                 (double)at_ns / 1e9, (double)f->demo->plan.length_ns / 1e9);

    fprintf(f->out, "%s%.*s%s   %s%.*s%s\033[K\n", f->paint.bold, width - 4,
            clock, f->paint.plain,
            phase == DEMO_HEALTHY ? f->paint.green : f->paint.red,
            used < width - 4 ? width - 4 - used : 0, demo_phase_text(phase),
            f->paint.plain);
    fprintf(f->out, "\033[K\n%s%-*s %-*.*s%*s%-*.*s%s\033[K\n", f->paint.dim,
            NAME, "", f->cells, f->cells, "load: requests/s", NUMBER + GAP, "",
            f->cells, f->cells, "goodput: calls/s", f->paint.plain);
}

bool demo_view_possible(FILE *out)
{
    const char *term = getenv("TERM");

    return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0 &&
           terminal_width(out) >= NARROWEST;
}

void demo_view_draw(struct demo_view *v, int64_t at_ns)
{
    FILE *out = stdout;
    struct frame f = {
        .out = out, .demo = v->demo, .paint = paint_for(out), .utf8 = use_utf8()
    };

    lay_out(&f, at_ns);
    if (v->lines)
        fprintf(out, "\033[%dA\r", v->lines);
    top(&f, v, at_ns);
    for (unsigned i = 0; i < DEMO_FLEETS; i++)
        row(&f, i);
    rulers(&f);
    v->lines = 4 + DEMO_FLEETS;
    fflush(out);
}
