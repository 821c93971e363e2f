/* Charts for a terminal. Each column is an interval of time:
 *
 *     naive
 *      600/s ┤     ░░░░░░░
 *      400/s ┤     ░░░░░░░
 *      200/s ┤╌╌╌╌╌░░╌╌╌╌╌
 *          0 ┤█████  ▁▁▁▁▁
 *            └─────━━─────
 *             0   30 s
 *
 * A block is goodput, a shade is load that did not succeed, a dash is the
 * capacity; the axis is thick during a fault. The shapes are readable without
 * colours; with colours, load over capacity is red. */
#include "cmd/sim/chart.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "cmd/sim/chart_data.h"
#include "sim/report/faults.h"
#include "sim/report/models.h"
#include "sim/report/plot/curves.h"
#include "sim/report/text.h"

enum { ROWS = 8, LABEL = 10, BANDS = 60 };

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RED   "\033[31m"
#define GREEN "\033[32m"
#define BLUE  "\033[34m"
#define PLAIN "\033[0m"

static const char *paint(const struct chart *c, const char *sequence)
{
    return c->colour ? sequence : "";
}

/* ===== one cell ===== */

/* The height of a value in rows; at least a trace unless it is 0. */
static double rows_of(const struct chart *c, double x)
{
    double rows = isfinite(x) && x > 0 ? page_place(&c->scale, x) * ROWS : 0;

    return x > 0 && rows < 0.13 ? 0.13 : rows;
}

static bool is_capacity(const struct chart *c, double capacity, int row)
{
    return isfinite(capacity) && (int)rows_of(c, capacity) == row;
}

/* The character in a cell, and its colour. */
struct glyph {
    const char *text, *colour;
};

static struct glyph glyph(const struct chart *c, const struct columns *d, int i,
                          int row)
{
    static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄",
                                          "▅", "▆", "▇", "█" };
    double good = rows_of(c, d->good[i]) - row;
    double load = rows_of(c, d->offered[i]) - row;
    int eighths = good >= 1 ? 8 : good > 0 ? (int)(good * 8 + 0.5) : 0;
    bool over =
        isfinite(d->capacity[i]) && row + 0.5 > rows_of(c, d->capacity[i]);

    if (eighths > 0)
        return (struct glyph){ c->utf8       ? blocks[eighths]
                               : eighths > 3 ? "#"
                                             : "_",
                               GREEN };
    if (is_capacity(c, d->capacity[i], row))
        return (struct glyph){ c->utf8 ? "╌" : "-", PLAIN };
    if (load > 0.3)
        return (struct glyph){ c->utf8 ? "░" : ":", over ? RED : BLUE };
    return (struct glyph){ " ", NULL };
}

/* Blanks are written only when something follows them; a colour stays until the
 * next. */
static void cells(const struct chart *c, const struct columns *d, int row)
{
    const char *now = PLAIN;
    int blanks = 0;

    for (int i = 0; i < c->columns; i++) {
        struct glyph g = glyph(c, d, i, row);

        if (!g.colour) {
            blanks++;
            continue;
        }
        fprintf(c->out, "%*s%s%s", blanks, "",
                strcmp(now, g.colour) != 0 ? paint(c, g.colour) : "", g.text);
        now = g.colour;
        blanks = 0;
    }
    fprintf(c->out, "%s\n", strcmp(now, PLAIN) != 0 ? paint(c, PLAIN) : "");
}

/* ===== the frame ===== */

static void line(const struct chart *c, const struct columns *d, int row)
{
    double at[PAGE_TICKS];
    char text[PAGE_TEXT];
    int n = page_ticks(&c->scale, 5, at), named = -1;

    for (int i = 0; i < n; i++)
        if ((int)(page_place(&c->scale, at[i]) * ROWS) == row)
            named = i;
    fprintf(c->out, "%s%*.*s %s%s", paint(c, DIM), LABEL - 2, LABEL - 2,
            named >= 0 ? page_tick(text, &c->scale, at[named]) : "",
            c->utf8      ? (named >= 0 ? "┤" : "│")
            : named >= 0 ? "+"
                         : "|",
            paint(c, PLAIN));
    cells(c, d, row);
}

static void axis(const struct chart *c, const struct sim_model *m)
{
    struct page_band bands[BANDS];
    uint32_t n = page_bands(m, c->end_ns, bands, BANDS);

    fprintf(c->out, "%s%*s%s", paint(c, DIM), LABEL - 1, "",
            c->utf8 ? "└" : "+");
    for (int i = 0; i < c->columns; i++) {
        double from = i * c->end_ns / c->columns;
        double to = (i + 1) * c->end_ns / c->columns;
        bool fault = false;

        for (uint32_t k = 0; k < n; k++)
            fault = fault || (bands[k].from_ns < to - (to - from) / 4 &&
                              bands[k].to_ns > from + (to - from) / 4);
        fputs(fault ? (c->utf8 ? "━" : "=") : c->utf8 ? "─" : "-", c->out);
    }
    fprintf(c->out, "%s\n", paint(c, PLAIN));
}

static void times(const struct chart *c)
{
    struct page_scale x = { .from = 0, .to = c->end_ns, .time = true };
    double at[PAGE_TICKS];
    char text[PAGE_TEXT], row[CHART_WIDEST + 1];
    int n = page_ticks(&x, c->columns / 11 + 1, at), next = 0, used = 0;

    memset(row, ' ', sizeof row);
    for (int i = 0; i < n; i++) {
        int len = (int)strlen(page_tick(text, &x, at[i]));
        int column = (int)(page_place(&x, at[i]) * c->columns + 0.5);

        if (column < next || column + len > c->columns)
            continue;
        memcpy(row + column, text, (size_t)len);
        used = column + len;
        next = used + 1;
    }
    row[used] = '\0';
    fprintf(c->out, "%s%*s%s%s\n", paint(c, DIM), LABEL, "", row,
            paint(c, PLAIN));
}

/* A name may contain any characters: none may move the cursor. */
static void name(const struct chart *c, const char *text)
{
    size_t len = text ? strlen(text) : 0;

    if (len == 0)
        return;
    fputs(paint(c, BOLD), c->out);
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t point;

        n = bide__utf8_next(text + i, len - i, &point);
        if (n == 0 || bide__char_unsafe(point) || (n > 1 && !c->utf8))
            putc('?', c->out);
        else
            fwrite(text + i, 1, n, c->out);
        n = n ? n : 1;
    }
    fprintf(c->out, "%s\n", paint(c, PLAIN));
}

static void legend(const struct chart *c, bool faults)
{
    const char *good = paint(c, GREEN), *load = paint(c, BLUE);
    const char *over = paint(c, RED), *plain = paint(c, PLAIN);

    fprintf(c->out, "%*s%s%s%s goodput  %s%s%s offered", LABEL, "", good,
            c->utf8 ? "█" : "#", plain, load, c->utf8 ? "░" : ":", plain);
    if (c->colour)
        fprintf(c->out, "  %s%s%s over capacity", over, c->utf8 ? "░" : ":",
                plain);
    if (c->columns < 60)
        fprintf(c->out, "\n%*s", LABEL - 2, "");
    fprintf(c->out, "  %s capacity", c->utf8 ? "╌" : "-");
    if (faults)
        fprintf(c->out, "  %s fault", c->utf8 ? "━" : "=");
    putc('\n', c->out);
}

void sim_chart_print(FILE *out, const struct sim_summary *s, int width,
                     bool colour, bool utf8)
{
    struct chart c = { .out = out,
                       .s = s,
                       .columns = width - LABEL - 1,
                       .colour = colour,
                       .utf8 = utf8 };
    struct columns d;

    c.columns = c.columns > CHART_WIDEST ? CHART_WIDEST : c.columns;
    if (c.columns < 8 || !chart_measure(&c))
        return;
    for (uint32_t v = 0; v < s->n_variants; v++) {
        if (!page_run(s, v))
            continue;
        chart_fill(&c, v, &d);
        name(&c, s->variants[v].name);
        for (int row = ROWS - 1; row >= 0; row--)
            line(&c, &d, row);
        axis(&c, page_model_of(s, v));
        times(&c);
    }
    legend(&c, s->model->n_faults > 0);
}
