/* One dependency: its course over time, breaker, reasons, endpoints, routes and
 * decisions. All lines are made, and those that fit are shown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/people.h"
#include "cmd/top/cells.h"
#include "cmd/top/show.h"
#include "cmd/top/state.h"

/* ===== decisions ===== */

enum { CLOCK = 12 }; /* columns before the text of a decision */

size_t top_decision_show(FILE *out, const struct top_decision *d, bool with_dep,
                         const struct top_look *look)
{
    time_t s = (time_t)(d->at_ms / 1000);
    struct tm tm;
    char at[16] = "", text[TOP_NAME + TOP_TEXT + 8];

    if (localtime_r(&s, &tm))
        strftime(at, sizeof at, "%H:%M:%S", &tm);
    snprintf(text, sizeof text, "%s%s%s", with_dep ? d->dep : "",
             with_dep ? "  " : "", d->text);
    if (out)
        fprintf(out, "  %s%-8s%s  ", look->paint.dim, at, look->paint.plain);
    size_t lines = top_wrap(out, text, CLOCK, look->width - 1,
                            d->gives_up ? look->paint.red : "", look);
    if (out)
        fputc('\n', out);
    return lines;
}

/* ===== over time ===== */

enum { LABEL = 12, VALUE = 22 };

/* A value of a sample, or -1. */
typedef double get_fn(const struct bide__node *sample);

static double per_second(const struct bide__node *s, double n)
{
    double seconds = top_number(s, "seconds", 0);
    return seconds > 0 ? n / seconds : 0;
}

static double refused_of(const struct bide__node *s, bool failures_only)
{
    const struct bide__node *r = top_get(s, "refused");
    double n = 0;

    for (size_t i = 0; r && r->kind == BIDE__MAP && i < r->n; i++)
        if (!failures_only || (strcmp(r->keys[i]->text, "permanent") != 0 &&
                               strcmp(r->keys[i]->text, "cancelled") != 0))
            n += top_number(r, r->keys[i]->text, 0);
    return n;
}

static double get_calls(const struct bide__node *s)
{
    return per_second(s, top_number(s, "first", 0) + top_number(s, "late", 0) +
                             refused_of(s, false));
}

static double get_failed(const struct bide__node *s)
{
    return per_second(s, refused_of(s, true));
}

static double get_retries(const struct bide__node *s)
{
    return per_second(
        s, top_number(s, "backoff", 0) + top_number(s, "hint", 0) +
               top_number(s, "immediate", 0) + top_number(s, "hedges", 0));
}

static double get_p99(const struct bide__node *s)
{
    return top_number(s, "p99_call_ms", -1);
}

static double get_budget(const struct bide__node *s)
{
    return top_number(s, "budget", -1);
}

/* A line over time, its newest value and its greatest. */
static void show_course(FILE *out, const char *label, get_fn *get, bool is_time,
                        bool red, const struct bide__node *history,
                        const struct top_look *look)
{
    size_t n = top_items(history);
    int width = look->width - 3 - LABEL - VALUE;
    double *value = calloc(n + 1, sizeof *value), most = -1;
    char a[16], b[16], text[64];

    if (width > 300)
        width = 300;
    if (!value || width < 5) {
        free(value);
        return;
    }
    for (size_t i = 0; i < n; i++)
        value[i] = get(history->items[i]);
    for (size_t i = n > (size_t)width ? n - (size_t)width : 0; i < n; i++)
        most = value[i] > most ? value[i] : most;
    fprintf(out, "  %s%-*s%s", look->paint.dim, LABEL, label,
            look->paint.plain);
    top_spark(out, value, red ? value : NULL, n, width, look);
    double last = n ? value[n - 1] : -1;
    snprintf(text, sizeof text, " %s, max %s",
             last < 0  ? "-"
             : is_time ? top_duration(last, a)
                       : top_rate(last, a),
             most < 0  ? "-"
             : is_time ? top_duration(most, b)
                       : top_rate(most, b));
    top_cell(out, text, VALUE, TOP_LAST);
    fputc('\n', out);
    free(value);
}

/* How far back the lines reach: older samples are of ten seconds. */
static void show_courses(FILE *out, const struct bide__node *history,
                         const struct top_look *look)
{
    size_t n = top_items(history);
    int width = look->width - 3 - LABEL - VALUE;
    double seconds = 0;
    char text[24];

    for (size_t i = n > (size_t)width ? n - (size_t)width : 0;
         width > 0 && i < n; i++)
        seconds += top_number(history->items[i], "seconds", 0);
    bide__brief_duration((int64_t)seconds * 1000000000, text, sizeof text);
    fprintf(out, "\n%s  the last %s%s\n", look->paint.dim,
            seconds >= 1 ? text : "seconds", look->paint.plain);
    show_course(out, "calls/s", get_calls, false, false, history, look);
    show_course(out, "failed/s", get_failed, false, true, history, look);
    show_course(out, "retries/s", get_retries, false, false, history, look);
    show_course(out, "p99", get_p99, true, false, history, look);
    show_course(out, "budget", get_budget, false, false, history, look);
}

/* ===== now ===== */

static void show_line(FILE *out, const char *label, const char *text,
                      const struct top_look *look)
{
    fprintf(out, "  %s%-*s%s", look->paint.dim, LABEL, label,
            look->paint.plain);
    top_wrap(out, text, 2 + LABEL, look->width - 1, "", look);
    fputc('\n', out);
}

static void show_breaker(FILE *out, const struct bide__node *dep,
                         const struct top_dep *d, const struct top_look *look)
{
    const struct bide__node *b = top_get(dep, "breaker");
    char text[256], left[16];
    double failed = top_number(b, "failed", 0);
    double attempts = top_number(b, "attempts", 0);
    int n;

    if (d->forced)
        n = snprintf(text, sizeof text, "forced %s", d->breaker);
    else if (strcmp(d->breaker, "open") == 0)
        n = snprintf(text, sizeof text, "open: probes in %s",
                     top_duration(d->open_for_ms, left));
    else if (strcmp(d->breaker, "off") == 0)
        n = snprintf(text, sizeof text, "off");
    else
        n = snprintf(text, sizeof text,
                     "%s: %.0f of %.0f attempts in its window failed, opens "
                     "at %.0f%%",
                     d->breaker, failed, attempts,
                     top_number(b, "opens_at", 0) * 100);
    double opened = top_number(b, "opened", 0);
    snprintf(text + n, sizeof text - (size_t)n, "; opened %.0f time%s", opened,
             opened == 1 ? "" : "s");
    show_line(out, "breaker", text, look);
}

static void show_totals(FILE *out, const struct bide__node *dep,
                        const struct top_look *look)
{
    const struct bide__node *c = top_get(dep, "calls");
    const struct bide__node *b = top_get(dep, "budget");
    char text[256], left[16], kind[16];

    snprintf(text, sizeof text,
             "%.0f at the first attempt, %.0f saved by retries, %.0f failed; "
             "%.2f attempts per call",
             top_number(c, "first_success", 0),
             top_number(c, "late_success", 0), top_number(c, "failure", 0),
             top_number(dep, "amplification", 0));
    show_line(out, "calls", text, look);
    top_text(b, "kind", kind, sizeof kind);
    snprintf(text, sizeof text, "%s left (%s)",
             top_brief(top_number(b, "left", (double)INFINITY), left), kind);
    show_line(out, "budget", text, look);
}

static void show_reasons(FILE *out, const struct bide__node *dep,
                         const struct top_look *look)
{
    const struct bide__node *r = top_get(dep, "refused");
    char text[512] = "";
    size_t n = 0;

    for (size_t i = 0; r && r->kind == BIDE__MAP && i < r->n; i++)
        if (n < sizeof text - 64)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%.40s %.0f",
                                  i ? ", " : "", r->keys[i]->text,
                                  top_number(r, r->keys[i]->text, 0));
    show_line(out, "given up", n ? text : "none", look);
}

/* ===== tables ===== */

static void show_title(FILE *out, const char *text, const struct top_look *look)
{
    fprintf(out, "\n%s", look->paint.dim);
    top_cell(out, text, look->width - 1, TOP_LAST);
    fprintf(out, "%s\n", look->paint.plain);
}

static enum top_mood endpoint_mood(const char *state)
{
    if (strcmp(state, "up") == 0)
        return TOP_GOOD;
    return strcmp(state, "down") == 0 || strcmp(state, "ejected") == 0
               ? TOP_BAD
               : TOP_WARN;
}

static void show_endpoints(FILE *out, const struct bide__node *list,
                           const struct top_look *look)
{
    char line[256], address[64], state[16], share[16], count[16], failed[16];
    char now[64];

    if (top_items(list) == 0)
        return;
    bool narrow = look->width < 74;
    int wide = narrow ? 16 : 24;
    snprintf(line, sizeof line, "  %-*s %-8s %s%8s %8s", wide, "endpoint",
             "state", narrow ? "" : "in flight requests ", "retries", "failed");
    show_title(out, line, look);
    for (size_t i = 0; i < top_items(list); i++) {
        const struct bide__node *e = list->items[i];
        double requests = top_number(e, "requests", 0);
        top_text(e, "address", address, sizeof address);
        top_text(e, "state", state, sizeof state);
        fprintf(out, "%s%s%s ", top_paint(look, endpoint_mood(state)),
                look->utf8 ? "●" : "*", look->paint.plain);
        snprintf(now, sizeof now, "%9.0f %8s ", top_number(e, "in_flight", 0),
                 top_brief(requests, count));
        snprintf(line, sizeof line, "%-*s %-8s %s%8s %8s", wide, address, state,
                 narrow ? "" : now,
                 requests > 0
                     ? top_share(top_number(e, "retries", 0) / requests, share)
                     : "-",
                 top_brief(top_number(e, "failures", 0), failed));
        top_cell(out, line, look->width - 3, TOP_LAST);
        fputc('\n', out);
    }
}

static void show_routes(FILE *out, const struct bide__node *list,
                        const struct top_look *look)
{
    char line[256], name[128], share[16], a[16], b[16];

    if (top_items(list) == 0)
        return;
    int wide = look->width < 66 ? look->width - 31 : 34;
    if (wide < 8)
        wide = 8;
    snprintf(line, sizeof line, "  %-*s %8s %8s %8s", wide, "route", "requests",
             "retries", "per req.");
    show_title(out, line, look);
    for (size_t i = 0; i < top_items(list); i++) {
        const struct bide__node *r = list->items[i];
        double requests = top_number(r, "requests", 0);
        double retries = top_number(r, "retries", 0);
        top_text(r, "name", name, sizeof name);
        snprintf(line, sizeof line, "  %-*s %8s %8s %8s", wide, name,
                 top_brief(requests, a), top_brief(retries, b),
                 requests > 0 ? top_share(retries / requests, share) : "-");
        top_cell(out, line, look->width - 1, TOP_LAST);
        fputc('\n', out);
    }
}

static void show_decisions(FILE *out, const struct top_state *s,
                           const struct top_dep *dep,
                           const struct top_look *look)
{
    const struct bide__node *list = top_get(s->tree->root, "decisions");
    bool any = false;

    for (size_t i = 0; i < top_items(list); i++) {
        struct top_decision d;
        top_decision_read(&d, list->items[i]);
        if (strcmp(d.dep, dep->name) != 0)
            continue;
        if (!any)
            show_title(out, "  last decisions", look);
        any = true;
        top_decision_show(out, &d, false, look);
    }
}

/* ===== the page ===== */

static const struct top_dep *row_of(const struct top_state *s)
{
    char name[TOP_NAME];

    top_text(s->full, "name", name, sizeof name);
    for (size_t i = 0; i < s->n_deps; i++)
        if (strcmp(s->deps[i].name, name) == 0)
            return &s->deps[i];
    return NULL;
}

static void write_all(FILE *out, const struct top_state *s,
                      const struct top_look *look,
                      const struct bide__node *history)
{
    const struct top_dep *d = row_of(s);
    char policy[64];

    top_text(s->full, "policy", policy, sizeof policy);
    fprintf(out, "%s%s%s ", top_paint(look, d->mood), look->utf8 ? "●" : "*",
            look->paint.plain);
    top_wrap(out, d->name, 2, look->width - 1, look->paint.bold, look);
    fputc('\n', out);
    if (d->why[0])
        fprintf(out, "  %s%s%s\n", top_paint(look, d->mood), d->why,
                look->paint.plain);
    if (policy[0])
        show_line(out, "policy", policy, look);
    show_breaker(out, s->full, d, look);
    show_totals(out, s->full, look);
    show_reasons(out, s->full, look);
    show_courses(out, history, look);
    show_endpoints(out, top_get(s->full, "endpoints"), look);
    show_routes(out, top_get(s->full, "routes"), look);
    show_decisions(out, s, d, look);
}

size_t top_page(FILE *out, const struct top_state *s,
                const struct top_look *look, const struct bide__node *history)
{
    size_t len = 0, lines = 0, room = 0, from = look->first;
    char *text = NULL;
    FILE *to = open_memstream(&text, &len);

    top_head(out, s, look);
    if (!to)
        return 0;
    if (look->height > 3)
        room = (size_t)look->height - 2;
    write_all(to, s, look, history);
    fclose(to);
    for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
        if (lines >= from && (room == 0 || lines < from + room))
            fwrite(at, 1, (size_t)(end - at) + 1, out);
        lines++;
    }
    free(text);
    if (look->interactive)
        top_foot(out, look,
                 "esc back  up down scroll  < > next  space pause  q quit");
    return lines;
}

void top_help(FILE *out, const struct top_look *look)
{
    static const char *const rows[][2] = {
        { "letters, /", "filter by name; several words must all be there" },
        { "esc", "clear the filter; back to the list" },
        { "up down pgup pgdn", "select, scroll; so does the wheel" },
        { "enter, click", "the page of a dependency" },
        { "< >", "order of the list; the next one, on a page" },
        { "space", "pause, resume" },
        { "?", "these keys" },
        { "q, ctrl-c", "quit" },
    };

    fprintf(out, "%sbide top%s\n\n", look->paint.bold, look->paint.plain);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fprintf(out, "  %-19s", rows[i][0]);
        top_wrap(out, rows[i][1], 21, look->width - 1, "", look);
        fputc('\n', out);
    }
    fputc('\n', out);
    top_foot(out, look, "any key goes back");
}
