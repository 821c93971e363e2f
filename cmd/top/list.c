/* All dependencies: a summary, a line each with as many columns as fit, the last
 * decisions. */
#include <math.h>
#include <string.h>

#include "base/people.h"
#include "bide/bide.h"
#include "cmd/top/cells.h"
#include "cmd/top/minute.h"
#include "cmd/top/order.h"
#include "cmd/top/queue.h"
#include "cmd/top/shared.h"
#include "cmd/top/show.h"

/* ===== columns ===== */

static enum top_mood by_share(double x, double warn, double bad)
{
    return isnan(x)   ? TOP_GOOD
           : x < bad  ? TOP_BAD
           : x < warn ? TOP_WARN
                      : TOP_GOOD;
}

#define PUT(name)                                                              \
    static const char *put_##name(const struct top_dep *d, char to[16],        \
                                  enum top_mood *m)

PUT(calls)
{
    (void)m;
    return top_rate(d->calls, to);
}

PUT(first)
{
    *m = by_share(d->first, 0.99, 0.95);
    return top_share(d->first, to);
}

PUT(end)
{
    *m = by_share(d->end, 0.999, 0.99);
    return top_share(d->end, to);
}

PUT(failed)
{
    *m = d->failed > 0 ? TOP_BAD : TOP_GOOD;
    return top_rate(d->failed, to);
}

PUT(ratio)
{
    if (isnan(d->amplification))
        return "-";
    *m = d->amplification > 1.5   ? TOP_BAD
         : d->amplification > 1.1 ? TOP_WARN
                                  : TOP_GOOD;
    snprintf(to, 16, "%.2f", d->amplification);
    return to;
}

PUT(retries)
{
    (void)m;
    return top_rate(d->retries + d->hedges, to);
}

PUT(budget)
{
    *m = d->budget < 1 ? TOP_BAD : TOP_GOOD;
    return top_brief(d->budget, to);
}

PUT(p99)
{
    (void)m;
    return d->p99_ms < 0 ? "-" : top_duration(d->p99_ms, to);
}

PUT(endpoints)
{
    *m = d->up < d->endpoints ? d->up ? TOP_WARN : TOP_BAD : TOP_GOOD;
    if (d->endpoints == 0)
        return "-";
    snprintf(to, 16, "%u/%u", d->up, d->endpoints);
    return to;
}

PUT(breaker)
{
    char left[16];
    bool open = strcmp(d->breaker, "open") == 0;
    bool half = strcmp(d->breaker, "half_open") == 0;

    *m = open ? TOP_BAD : half ? TOP_WARN : TOP_GOOD;
    if (d->forced)
        snprintf(to, 16, "forced %.8s", d->breaker);
    else if (open)
        snprintf(to, 16, "open %.10s", top_duration(d->open_for_ms, left));
    else
        return half ? "half-open" : d->breaker;
    return to;
}

static const struct column {
    const char *title;
    int width; /* with a blank before it */
    int from;  /* the terminal must be at least so wide */
    bool left;
    bool spare; /* hidden where `why` would not fit */
    const char *(*put)(const struct top_dep *d, char to[16], enum top_mood *m);
} columns[] = {
    { "calls/s", 8, 30, false, false, put_calls },
    { "first", 7, 100, false, false, put_first },
    { "end", 7, 42, false, false, put_end },
    { "fail/s", 7, 134, false, false, put_failed },
    { "ampl", 6, 144, false, false, put_ratio },
    { "retry/s", 8, 58, false, true, put_retries },
    { "budget", 7, 112, false, false, put_budget },
    { "p99", 8, 70, false, true, put_p99 },
    { "up", 7, 118, false, false, put_endpoints },
    { "breaker", 14, 50, true, false, put_breaker },
};

enum { N_COLUMNS = sizeof columns / sizeof columns[0], SPARK_FROM = 92 };

/* What is left of a line for the sparkline, the name, and why. */
struct room {
    int spark, name, why;
    bool tight; /* without columns that are `spare` */
};

static bool fits(const struct column *c, const struct top_look *look,
                 bool tight)
{
    return look->width >= c->from && !(tight && c->spare);
}

static struct room divide_line(const struct top_state *s,
                               const struct top_look *look, bool tight)
{
    struct room r = { 0, 6, 0, tight };
    int left = look->width - 3, longest = 10, reason = 0;

    for (int i = 0; i < N_COLUMNS; i++)
        if (fits(&columns[i], look, tight))
            left -= columns[i].width;
    for (size_t i = 0; i < s->n_deps; i++) {
        int width = top_width(s->deps[i].name);
        longest = width > longest ? width : longest;
        width = top_width(s->deps[i].why);
        reason = width > reason ? width : reason;
    }
    if (look->width >= SPARK_FROM) {
        r.spark = left / 4 > TOP_MINUTE ? TOP_MINUTE : left / 4;
        left -= r.spark + 1;
    }
    r.name = left < 6 ? 6 : left < longest ? left : longest;
    left -= r.name + 1;
    r.why = reason && left > reason ? left : 0; /* it is never cut */
    return r;
}

static struct room measure(const struct top_state *s,
                           const struct top_look *look)
{
    struct room r = divide_line(s, look, false);
    struct room tight = divide_line(s, look, true);

    return !r.why && tight.why ? tight : r;
}

/* ===== lines ===== */

void top_head(FILE *out, const struct top_state *s, const struct top_look *look)
{
    char line[512], up[24];
    const char *how = look->status  ? look->status
                      : s->draining ? "draining"
                      : s->ready    ? "ready"
                                    : "not ready";

    bide__brief_duration((int64_t)s->uptime_s * BIDE_SECOND, up, sizeof up);
    snprintf(line, sizeof line, "%s %s  %s  up %s  %s", s->program, s->version,
             look->place, up, how);
    fputs(look->paint.bold, out);
    top_cell(out, line, look->width - 1, TOP_LAST);
    fprintf(out, "%s\n", look->paint.plain);
}

void top_foot(FILE *out, const struct top_look *look, const char *text)
{
    fputs(look->paint.dim, out);
    top_cell(out, text, look->width - 1, TOP_LAST);
    fputs(look->paint.plain, out);
}

/* "30 dependencies: 2 in trouble, 3 to watch, 25 well" */
static void show_summary(FILE *out, const struct top_state *s,
                         const struct top_look *look)
{
    static const char *const words[] = { "idle", "well", "to watch",
                                         "in trouble" };
    size_t count[4] = { 0 };
    double calls = 0, failed = 0, retries = 0;
    char line[256], n[16], m[16], f[16];

    for (size_t i = 0; i < s->n_deps; i++) {
        const struct top_dep *d = &s->deps[i];
        count[d->mood]++;
        calls += d->has_second ? d->calls : 0;
        failed += d->has_second ? d->failed : 0;
        retries += d->has_second ? d->retries : 0;
    }
    int used = snprintf(line, sizeof line, "%zu dependenc%s", s->n_deps,
                        s->n_deps == 1 ? "y" : "ies");
    top_cell(out, line, look->width - 1, TOP_LAST);
    for (int i = TOP_BAD; i >= TOP_IDLE; i--) {
        int more = count[i] ? snprintf(line, sizeof line, "  %zu %s", count[i],
                                       words[i])
                            : 0;
        if (more == 0 || used + more >= look->width)
            continue;
        used += more;
        fprintf(out, "%s%s%s", top_paint(look, (enum top_mood)i), line,
                look->paint.plain);
    }
    int more =
        snprintf(line, sizeof line, "   %s calls/s  %s failed/s  %s retries/s",
                 top_rate(calls, n), top_rate(failed, f), top_rate(retries, m));
    if (used + more < look->width)
        fprintf(out, "%s", line);
    fputc('\n', out);
}

static void show_titles(FILE *out, const struct top_look *look,
                        const struct room *r)
{
    fputs(look->paint.dim, out);
    top_cell(out, "  dependency", 2 + r->name, TOP_LEFT);
    if (r->spark) {
        fputc(' ', out);
        top_cell(out, "minute", r->spark, TOP_LEFT);
    }
    for (int i = 0; i < N_COLUMNS; i++) {
        const struct column *c = &columns[i];
        if (!fits(c, look, r->tight))
            continue;
        fputs(c->left ? "  " : "", out);
        top_cell(out, c->title, c->left ? c->width - 2 : c->width,
                 !c->left ? TOP_RIGHT
                 : r->why ? TOP_LEFT
                          : TOP_LAST);
    }
    fprintf(out, "%s%s\n", r->why ? " why" : "", look->paint.plain);
}

static void show_spark(FILE *out, const struct top_dep *d, int width,
                       const struct top_look *look)
{
    const struct top_track *t =
        look->minute ? top_minute_find(look->minute, d->name) : NULL;
    double calls[TOP_MINUTE], failed[TOP_MINUTE];
    size_t n = t ? t->n < TOP_MINUTE ? t->n : TOP_MINUTE : 0;

    for (size_t i = 0; i < n; i++) {
        const struct top_point *p = &t->point[(t->n - n + i) % TOP_MINUTE];
        calls[i] = p->calls;
        failed[i] = p->failed;
    }
    fputc(' ', out);
    top_spark(out, calls, failed, n, width, look);
}

/* A value in its column. On the selected line nothing is painted: the colours
 * would end the reversal. */
static void show_value(FILE *out, const struct top_dep *d,
                       const struct column *c, const struct top_look *look,
                       bool last)
{
    enum top_mood mood = TOP_GOOD;
    char text[16];
    const char *value = d->has_second || c->put == put_breaker ||
                                c->put == put_budget || c->put == put_endpoints
                            ? c->put(d, text, &mood)
                            : "-";
    bool painted = mood >= TOP_WARN;

    fputs(c->left ? "  " : "", out);
    fputs(painted ? top_paint(look, mood) : "", out);
    top_cell(out, value, c->left ? c->width - 2 : c->width,
             !c->left ? TOP_RIGHT
             : last   ? TOP_LAST
                      : TOP_LEFT);
    fputs(painted ? look->paint.plain : "", out);
}

static void show_dep(FILE *out, const struct top_dep *d,
                     const struct top_look *look, const struct room *r,
                     bool chosen)
{
    static const char marks[] = " .!X";
    char mark[2] = { marks[d->mood], '\0' };
    struct top_look plain = *look;

    if (chosen) {
        plain.paint = (struct paint){ "", "", "", "", "", "" };
        fputs(look->reverse, out);
    }
    fprintf(out, "%s%s%s ", top_paint(&plain, d->mood), look->utf8 ? "●" : mark,
            plain.paint.plain);
    top_name(out, d->name, r->name, look);
    if (r->spark)
        show_spark(out, d, r->spark, &plain);
    for (int i = 0; i < N_COLUMNS; i++)
        if (fits(&columns[i], look, r->tight))
            show_value(out, d, &columns[i], &plain, !r->why || !d->why[0]);
    if (r->why && d->why[0]) {
        fprintf(out, " %s", top_paint(&plain, d->mood));
        top_cell(out, d->why, r->why, TOP_LAST);
        fputs(plain.paint.plain, out);
    }
    fprintf(out, "%s\n", chosen ? look->paint.plain : "");
}

/* ===== the page ===== */

/* How many lines are left for dependencies, and for decisions below them. */
static size_t divide(const struct top_state *s, const struct top_look *look,
                     size_t used, size_t *ret_decisions)
{
    size_t rows = look->shown, left;

    *ret_decisions = s->n_decisions < 8 ? s->n_decisions : 8;
    if (look->height == 0)
        return rows;
    left = (size_t)look->height > used ? (size_t)look->height - used : 1;
    /* decisions get what is left, but at least a quarter of a tall screen */
    size_t keep = left >= 16 && s->n_decisions ? left / 4 : 0;
    if (rows > left - keep)
        rows = left - keep;
    *ret_decisions = left - rows > 2 ? left - rows - 2 : 0;
    return rows;
}

static void show_decisions(FILE *out, const struct top_state *s,
                           const struct top_look *look, size_t room)
{
    size_t lines = 0;

    fprintf(out, "\n%s  last decisions%s\n", look->paint.dim,
            look->paint.plain);
    for (size_t i = 0; i < s->n_decisions; i++) {
        size_t more = top_decision_show(NULL, &s->decisions[i], true, look);
        if (lines + more > room)
            return;
        lines += top_decision_show(out, &s->decisions[i], true, look);
    }
}

static void show_filter(FILE *out, const struct top_look *look)
{
    char line[256];

    if (look->filter[0] || look->typing)
        snprintf(line, sizeof line, "filter: %s%s  (%zu)", look->filter,
                 look->typing ? "_" : "", look->shown);
    else
        snprintf(line, sizeof line, "order: %s", top_order_title(look->order));
    fputs(look->typing ? look->paint.bold : look->paint.dim, out);
    top_cell(out, line, look->width - 1, TOP_LAST);
    fprintf(out, "%s\n", look->paint.plain);
}

size_t top_list(FILE *out, const struct top_state *s,
                const struct top_look *look, size_t *ret_at)
{
    struct room r = measure(s, look);
    size_t more = (s->queue.there ? 2 : 0) + top_shared_show(NULL, s, look);
    size_t decisions, used = (look->interactive ? 5u : 3u) + more;
    size_t rows = divide(s, look, used, &decisions);

    top_head(out, s, look);
    show_summary(out, s, look);
    top_queue_show(out, s, look);
    top_shared_show(out, s, look);
    if (look->interactive)
        show_filter(out, look);
    show_titles(out, look, &r);
    *ret_at = (look->interactive ? 4u : 3u) + more;
    for (size_t i = look->first; i < look->shown && i < look->first + rows; i++)
        show_dep(out, &s->deps[i], look, &r,
                 look->interactive && i == look->chosen);
    if (look->shown == 0)
        fprintf(out, "  none%s\n", look->filter[0] ? " matches" : "");
    if (decisions && s->n_decisions)
        show_decisions(out, s, look, decisions);
    if (look->interactive)
        top_foot(out, look,
                 look->width > 62 ? "q quit  / filter  enter open  < > order  "
                                    "space pause  ? help"
                                  : "q quit  / filter  enter open  ? help");
    return rows;
}
