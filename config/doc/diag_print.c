/* diag_print.c: findings for people.
 *
 *     bide.yaml:7:26: error: unknown key `capp` [unknown-key]
 *         7 |     backoff: { base: 1s, capp: 30s }
 *           |                          ^~~~
 *           help: did you mean `cap`?
 *
 * The caret must be under the right character: tabs are expanded, wide
 * characters take two columns, and of a very long line the part around the
 * position is shown. */
#include <string.h>

#include "base/utf8.h"
#include "config/lint/rules.h"

enum {
    TAB = 8,
    WINDOW = 92, /* columns of a line that are shown, ... */
    BEFORE = 40  /* ... so many before the place, if there are more */
};

struct paint {
    const char *bold, *dim, *caret, *off;
    const char *severity[3];
};

static const struct paint plain = { "", "", "", "", { "", "", "" } };
static const struct paint coloured = { "\33[1m",
                                       "\33[2m",
                                       "\33[1;32m",
                                       "\33[0m",
                                       { "\33[1;36m", "\33[1;35m",
                                         "\33[1;31m" } };

/* One character of a line, as it will look. */
struct cell {
    const char *bytes;
    size_t n;   /* how many there are in the line */
    bool shown; /* as they are; else as a substitute */
    unsigned width;
};

static struct cell next_cell(const char *at, size_t left, unsigned column)
{
    uint32_t point;
    size_t n = bide__utf8_next(at, left, &point);
    struct cell c = { at, n ? n : 1, n > 0, 1 };

    if (n && point == '\t') {
        c.shown = false;
        c.width = TAB - column % TAB;
    } else if (n && bide__char_unsafe(point)) {
        c.shown = false;
    } else if (n) {
        c.width = (unsigned)bide__char_width(point);
    }
    return c;
}

/* The columns on the screen, from 0, of the character that is number `chars` in
 * the line; past the end, as if there were blanks. */
static unsigned screen_column(const char *line, unsigned chars)
{
    size_t left = strlen(line);
    unsigned column = 0;

    for (; chars > 0 && left > 0; chars--) {
        struct cell c = next_cell(line, left, column);

        column += c.width;
        line += c.n;
        left -= c.n;
    }
    return column;
}

static void put_cell(FILE *out, struct cell c)
{
    if (c.shown)
        fwrite(c.bytes, 1, c.n, out);
    else if (*c.bytes == '\t')
        fprintf(out, "%*s", (int)c.width, "");
    else
        fputs("\xef\xbf\xbd", out);
}

/* Whether the line goes on behind a column. */
static bool reaches(const char *line, unsigned limit)
{
    size_t left = strlen(line);
    unsigned column = 0;

    while (left > 0 && column <= limit) {
        struct cell c = next_cell(line, left, column);

        column += c.width;
        line += c.n;
        left -= c.n;
    }
    return column > limit;
}

/* Prints the columns [from, from + WINDOW) of a line, with three dots for what
 * is cut off. */
static void put_line(FILE *out, const char *line, unsigned from)
{
    size_t left = strlen(line);
    bool cut = reaches(line, from + WINDOW);
    unsigned first = from ? from + 3 : 0, end = from + WINDOW - (cut ? 3 : 0);
    unsigned column = 0;

    if (from)
        fputs("...", out);
    while (left > 0 && column < end) {
        struct cell c = next_cell(line, left, column);
        unsigned behind = column + c.width;

        if (column >= first && behind <= end)
            put_cell(out, c);
        else if (behind > first)
            fprintf(out, "%*s",
                    (int)((behind < end ? behind : end) -
                          (column > first ? column : first)),
                    "");
        column = behind;
        line += c.n;
        left -= c.n;
    }
    fputs(cut ? "...\n" : "\n", out);
}

static unsigned trimmed_end(const char *line)
{
    size_t n = strlen(line);
    unsigned chars = 0;

    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'))
        n--;
    for (size_t i = 0; i < n; chars++)
        i += next_cell(line + i, n - i, 0).n;
    return chars + 1;
}

static void put_caret(FILE *out, const bide_diagnostic *d, unsigned start,
                      unsigned from)
{
    unsigned end_column =
        d->end_line > d->line ? trimmed_end(d->excerpt) : d->end_column;
    unsigned end = end_column > d->column
                       ? screen_column(d->excerpt, end_column - 1)
                       : start;

    fprintf(out, "%*s^", (int)(start - from), "");
    for (unsigned i = start + 1; i < end && i < from + WINDOW; i++)
        fputc('~', out);
}

static void put_excerpt(FILE *out, const bide_diagnostic *d,
                        const struct paint *paint)
{
    unsigned start = screen_column(d->excerpt, d->column ? d->column - 1 : 0);
    unsigned from = 0;

    if (start > BEFORE && reaches(d->excerpt, WINDOW))
        from = start - BEFORE;
    fprintf(out, "%s%5u |%s ", paint->dim, d->line, paint->off);
    put_line(out, d->excerpt, from);
    fprintf(out, "%s      |%s %s", paint->dim, paint->off, paint->caret);
    put_caret(out, d, start, from);
    fprintf(out, "%s\n", paint->off);
}

static void put_heading(FILE *out, const bide_diagnostic *d,
                        const struct paint *paint)
{
    static const char *const severities[] = { "note", "warning", "error" };
    const struct bide__lint_rule *lint = bide__lint_of(d->code);

    fprintf(out, "%s%s:", paint->bold, d->file);
    if (d->line)
        fprintf(out, "%u:%u:", d->line, d->column);
    fprintf(out, "%s %s%s:%s %s%s%s", paint->off, paint->severity[d->severity],
            severities[d->severity], paint->off, paint->bold, d->message,
            paint->off);
    if (d->severity != BIDE_NOTE)
        fprintf(out, " [%s%s%s]", d->code, lint ? " " : "",
                lint ? lint->name : "");
    fputc('\n', out);
}

static void put_reasons(FILE *out, const bide_diagnostic *d,
                        const struct paint *paint)
{
    const struct bide__lint_rule *lint = bide__lint_of(d->code);

    if (lint && d->severity != BIDE_NOTE)
        fprintf(out, "      %swhy:%s %s\n", paint->bold, paint->off, lint->why);
    if (d->help)
        fprintf(out, "      %shelp:%s %s\n", paint->bold, paint->off, d->help);
}

void bide_diagnostics_print(const bide_diagnostics *notes, FILE *out,
                            bool colours)
{
    const struct paint *paint = colours ? &coloured : &plain;

    for (size_t i = 0; out && i < bide_diagnostics_size(notes); i++) {
        const bide_diagnostic *d = bide_diagnostics_at(notes, i);

        put_heading(out, d, paint);
        if (d->excerpt)
            put_excerpt(out, d, paint);
        put_reasons(out, d, paint);
    }
}
