/* Formats rows as lines, with as many columns as fit. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/people.h"
#include "base/utf8.h"
#include "bide/bide.h"
#include "cmd/top/top.h"

/* ===== cells ===== */

enum align { LEFT, RIGHT, LAST }; /* LAST: nothing follows, no blanks */

/* Prints text in `width` columns: cut, or padded with blanks. */
static void cell(FILE *out, const char *text, int width, enum align align)
{
    int used = 0;
    size_t len = strlen(text), end = 0;

    while (end < len) {
        uint32_t point;
        size_t n = bide__utf8_next(text + end, len - end, &point);
        int wide = n ? bide__char_width(point) : 1;
        if (used + wide > width)
            break;
        used += wide;
        end += n ? n : 1;
    }
    if (align == RIGHT)
        fprintf(out, "%*s", width - used, "");
    fwrite(text, 1, end, out);
    if (align == LEFT)
        fprintf(out, "%*s", width - used, "");
}

/* Four digits or so: "0", "6.02", "60.1", "1234", "12.3k". */
static const char *brief(double n, char to[16])
{
    if (isnan(n))
        return "-";
    if (isinf(n))
        return "none";
    if (n >= 1e6)
        snprintf(to, 16, "%.1fM", n / 1e6);
    else if (n >= 1e4)
        snprintf(to, 16, "%.1fk", n / 1e3);
    else if (n >= 100 || n == floor(n))
        snprintf(to, 16, "%.0f", n);
    else
        snprintf(to, 16, n >= 10 ? "%.1f" : "%.2f", n);
    return to;
}

/* Never rounded up to 100 %: one failure in a thousand must show. */
static const char *share(double x, char to[16])
{
    if (isnan(x))
        return "-";
    if (x < 1 && x > 0.999)
        x = 0.999;
    snprintf(to, 16, x == 1 ? "100%%" : "%.1f%%", x * 100);
    return to;
}

static const char *duration(double ms, char to[16])
{
    char text[24];
    int64_t ns = ms < 9e12 ? (int64_t)(ms * 1e6) : BIDE_FOREVER;
    snprintf(to, 16, "%s", bide__brief_duration(ns, text, sizeof text));
    return to;
}

/* ===== columns ===== */

enum mood { PLAIN, GOOD, WARN, BAD };

static enum mood health(const struct top_dep *d)
{
    if (strcmp(d->breaker, "open") == 0 || d->end < 0.95)
        return BAD;
    if (strcmp(d->breaker, "half_open") == 0 || d->end < 0.999)
        return WARN;
    return GOOD;
}

static enum mood by_share(double x, double warn, double bad)
{
    return isnan(x) ? PLAIN : x < bad ? BAD : x < warn ? WARN : PLAIN;
}

static const char *put_calls(const struct top_dep *d, char to[16], enum mood *m)
{
    (void)m;
    return brief(d->calls, to);
}

static const char *put_first(const struct top_dep *d, char to[16], enum mood *m)
{
    *m = by_share(d->first, 0.99, 0.95);
    return share(d->first, to);
}

static const char *put_end(const struct top_dep *d, char to[16], enum mood *m)
{
    *m = by_share(d->end, 0.999, 0.99);
    return share(d->end, to);
}

static const char *put_failed(const struct top_dep *d, char to[16],
                              enum mood *m)
{
    *m = d->failed > 0 ? BAD : PLAIN;
    return brief(d->failed, to);
}

static const char *put_ratio(const struct top_dep *d, char to[16], enum mood *m)
{
    if (isnan(d->amplification))
        return "-";
    *m = d->amplification > 1.5 ? BAD : d->amplification > 1.1 ? WARN : PLAIN;
    snprintf(to, 16, "%.2f", d->amplification);
    return to;
}

static const char *put_retries(const struct top_dep *d, char to[16],
                               enum mood *m)
{
    (void)m;
    return brief(d->retries + d->hedges, to);
}

static const char *put_budget(const struct top_dep *d, char to[16],
                              enum mood *m)
{
    *m = d->budget < 1 ? BAD : PLAIN;
    return brief(d->budget, to);
}

static const char *put_p99(const struct top_dep *d, char to[16], enum mood *m)
{
    (void)m;
    return d->p99_ms < 0 ? "-" : duration(d->p99_ms, to);
}

static const char *put_breaker(const struct top_dep *d, char to[16],
                               enum mood *m)
{
    char left[16];
    bool open = strcmp(d->breaker, "open") == 0;
    *m = open ? BAD : strcmp(d->breaker, "half_open") == 0 ? WARN : PLAIN;
    if (d->forced) {
        snprintf(to, 16, "forced %.8s", d->breaker);
        return to;
    }
    if (!open)
        return d->breaker;
    snprintf(to, 16, "open %.10s", duration(d->open_for_ms, left));
    return to;
}

/* Columns with the lowest `from` stay longest when the terminal is narrow. */
static const struct column {
    const char *name;
    int width;
    int from; /* shown in terminals at least so wide */
    bool left;
    const char *(*put)(const struct top_dep *d, char to[16], enum mood *m);
} columns[] = {
    { "calls/s", 8, 28, false, put_calls },
    { "first", 7, 62, false, put_first },
    { "end", 7, 0, false, put_end },
    { "fail/s", 7, 88, false, put_failed },
    { "ampl", 6, 44, false, put_ratio },
    { "retry/s", 8, 70, false, put_retries },
    { "budget", 7, 56, false, put_budget },
    { "p99", 8, 80, false, put_p99 },
    { "breaker", 13, 36, true, put_breaker },
};

enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

static int name_width(const struct top_look *look)
{
    int left = look->width - 2;
    for (int i = 0; i < N_COLUMNS; i++)
        if (look->width >= columns[i].from)
            left -= columns[i].width + columns[i].left;
    return left < 6 ? 6 : left > 32 ? 32 : left;
}

static const char *paint_of(const struct top_look *look, enum mood m)
{
    const char *const list[] = { "", look->paint.green, look->paint.yellow,
                                 look->paint.red };
    return list[m];
}

/* ===== lines ===== */

static void show_head(FILE *out, const struct top_state *s,
                      const struct top_look *look, const char *end)
{
    char line[256], up[24];
    const char *how = look->status  ? look->status
                      : s->draining ? "draining"
                      : s->ready    ? "ready"
                                    : "not ready";

    bide__brief_duration((int64_t)s->uptime_s * BIDE_SECOND, up, sizeof up);
    snprintf(line, sizeof line, "%s %s  %s  up %s  %s", s->program, s->version,
             look->place, up, how);
    fputs(look->paint.bold, out);
    cell(out, line, look->width - 1, LAST);
    fprintf(out, "%s%s%s", look->paint.plain, end, end);
}

static void show_titles(FILE *out, const struct top_look *look, const char *end)
{
    fputs(look->paint.dim, out);
    cell(out, "  dependency", 2 + name_width(look), LEFT);
    for (int i = 0; i < N_COLUMNS; i++) {
        if (look->width < columns[i].from)
            continue;
        fputs(columns[i].left ? " " : "", out);
        cell(out, columns[i].name, columns[i].width,
             columns[i].left ? LAST : RIGHT);
    }
    fprintf(out, "%s%s", look->paint.plain, end);
}

static void show_dep(FILE *out, const struct top_dep *d,
                     const struct top_look *look, const char *end)
{
    static const char marks[] = " .!X";
    enum mood m = d->has_second ? health(d) : PLAIN;
    char mark[2] = { marks[m], '\0' };

    fprintf(out, "%s%s%s ", paint_of(look, m), look->utf8 ? "●" : mark,
            look->paint.plain);
    cell(out, d->name, name_width(look), LEFT);
    for (int i = 0; i < N_COLUMNS; i++) {
        const struct column *c = &columns[i];
        char text[16];
        enum mood mood = PLAIN;
        if (look->width < c->from)
            continue;
        const char *value =
            d->has_second || c->put == put_breaker || c->put == put_budget
                ? c->put(d, text, &mood)
                : "-";
        fprintf(out, "%s%s", c->left ? " " : "", paint_of(look, mood));
        cell(out, value, c->width, c->left ? LAST : RIGHT);
        fputs(mood == PLAIN ? "" : look->paint.plain, out);
    }
    fputs(end, out);
}

static void show_decision(FILE *out, const struct top_decision *d,
                          const struct top_look *look, const char *end)
{
    time_t s = (time_t)(d->at_ms / 1000);
    struct tm tm;
    char at[16] = "";

    if (localtime_r(&s, &tm))
        strftime(at, sizeof at, "%H:%M:%S", &tm);
    fprintf(out, "  %s%s%s  ", look->paint.dim, at, look->paint.plain);
    fputs(d->gives_up ? look->paint.red : "", out);
    cell(out, d->text, look->width - 13, LAST);
    fprintf(out, "%s%s", d->gives_up ? look->paint.plain : "", end);
}

/* How many lines of a list fit; without a height, at most `usual`. */
static size_t room(const struct top_look *look, size_t used, size_t n,
                   size_t usual)
{
    size_t left = usual;
    if (look->height)
        left = (size_t)look->height > used ? (size_t)look->height - used : 0;
    return n < left ? n : left;
}

void top_show(FILE *out, const struct top_state *s, const struct top_look *look,
              const char *end)
{
    size_t deps = room(look, 5, s->n_deps, TOP_DEPS);
    size_t hidden = s->n_deps - deps + s->more_deps;

    show_head(out, s, look, end);
    show_titles(out, look, end);
    for (size_t i = 0; i < deps; i++)
        show_dep(out, &s->deps[i], look, end);
    if (hidden)
        fprintf(out, "  and %zu more%s", hidden, end);
    size_t lines = room(look, deps + 7, s->n_decisions, 8);
    if (lines == 0)
        return;
    fprintf(out, "%s%s  last decisions%s%s", end, look->paint.dim,
            look->paint.plain, end);
    for (size_t i = 0; i < lines; i++)
        show_decision(out, &s->decisions[i], look, end);
}
