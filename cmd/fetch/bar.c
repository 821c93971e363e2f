/* The progress bar: one line on a terminal, drawn a few times a second.
 *
 *     big.iso  #############---------  62 %  12.4 MB of 20.0 MB  3.2 MB/s  2s
 *     big.iso  503: attempt 2 of 4 in 1.2s
 *     ###########------------  12 of 20  34.5 MB  8.1 MB/s  2 waiting  1 failed
 *
 * with box-drawing lines instead of # and - where the locale has them. */
#include "cmd/fetch/bar.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/fetch/args.h"
#include "cmd/fetch/fetch.h"
#include "cmd/fetch/progress.h"
#include "cmd/fetch/transfer.h"

/* A narrower bar would be useless; a shorter download needs none. */
enum { NARROWEST = 8, WIDEST = 50, SHORT_NS = 300 * 1000 * 1000 };

/* A bar would garble output that goes to the same terminal. NO_COLOR does not
 * turn it off. */
bool fetch_bar_wanted(const struct fetch_args *a)
{
    const char *term = getenv("TERM");
    bool to_terminal = a->n_outputs < a->n_urls && !a->remote_name &&
                       isatty(STDOUT_FILENO);

    return !a->silent && !a->json && !a->verbose && !to_terminal &&
           isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

/* "12.4 MB" */
static const char *bytes_text(off_t n, char *buffer, size_t size)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
    double x = (double)n;
    int unit = 0;

    while (x >= 999.5 && unit < 4) {
        x /= 1000;
        unit++;
    }
    snprintf(buffer, size, "%.*f %s", unit > 0 && x < 99.95 ? 1 : 0, x,
             units[unit]);
    return buffer;
}

/* ===== text ===== */

/* A moving mean over about two seconds, starting with the first bytes. */
static void measure(struct fetch *f, off_t bytes, int64_t now)
{
    double s = (double)(now - f->rate_ns) / 1e9;
    bool begins = f->rate_ns == 0 || f->rate_bytes == 0 ||
                  bytes < f->rate_bytes;

    if (!begins && s < 0.05)
        return;
    if (!begins) {
        double rate = (double)(bytes - f->rate_bytes) / s;
        f->rate += (rate - f->rate) * (f->rate > 0 && s < 2 ? s / 2 : 1);
    }
    f->rate_bytes = bytes;
    f->rate_ns = now;
}

struct line {
    char left[64];   /* the name */
    char right[160]; /* the rest, and */
    char brief[96];  /* a shorter text where there is no room for it */
    double done;     /* 0 .. 1; below 0: unknown */
};

/* Counts down in tenths of a second. */
static void say_wait(const struct fetch_transfer *t, int64_t now,
                     struct line *l)
{
    int64_t left = t->wait_until_ns > now ? t->wait_until_ns - now : 0;
    int tenths = (int)(left / (BIDE_SECOND / 10) % 10);
    long long s = left / BIDE_SECOND;
    char what[64] = "waiting";

    if (t->attempt > 0)
        fetch_what(t, &t->result.last, what, sizeof what);
    snprintf(l->right, sizeof l->right, "%s: attempt %u of %u in %lld.%ds",
             what, t->attempt + 1, bide_dep_policy(t->dep)->attempts, s,
             tenths);
    snprintf(l->brief, sizeof l->brief, "%s, %lld.%ds", what, s, tenths);
}

static void say_one(struct fetch *f, const struct fetch_transfer *t,
                    int64_t now, struct line *l)
{
    char got[24], all[24], rate[24], left[32] = "";
    double rest = (double)(t->total - t->now);

    snprintf(l->left, sizeof l->left, "%.60s", t->label);
    if (t->state == FETCH_WAITING) {
        say_wait(t, now, l);
        return;
    }
    bytes_text(t->now, got, sizeof got);
    bytes_text((off_t)f->rate, rate, sizeof rate);
    if (t->total <= 0) {
        snprintf(l->right, sizeof l->right, "%s  %s/s", got, rate);
        snprintf(l->brief, sizeof l->brief, "%s", got);
        return;
    }
    l->done = (double)t->now / (double)t->total;
    if (f->rate > 1 && rest / f->rate < 360000)
        bide__brief_duration((int64_t)(rest / f->rate + 0.5) * BIDE_SECOND,
                             left, sizeof left);
    snprintf(l->right, sizeof l->right, "%2.0f %%  %s of %s  %s/s  %s",
             l->done * 100, got, bytes_text(t->total, all, sizeof all), rate,
             left);
    snprintf(l->brief, sizeof l->brief, "%2.0f %%", l->done * 100);
}

static void say_all(const struct fetch *f, off_t bytes, struct line *l)
{
    char got[24], rate[24];
    size_t waiting = 0;
    double done = (double)f->ended;
    int n;

    for (size_t i = 0; i < f->next; i++) {
        const struct fetch_transfer *t = &f->transfers[i];
        waiting += t->state == FETCH_WAITING;
        if (t->state == FETCH_RUNNING && t->total > 0)
            done += (double)t->now / (double)t->total;
    }
    l->done = done / (double)f->n;
    snprintf(l->brief, sizeof l->brief, "%zu of %zu", f->ended, f->n);
    n = snprintf(l->right, sizeof l->right, "%zu of %zu  %s  %s/s", f->ended,
                 f->n, bytes_text(bytes, got, sizeof got),
                 bytes_text((off_t)f->rate, rate, sizeof rate));
    if (waiting > 0)
        n += snprintf(l->right + n, sizeof l->right - (size_t)n,
                      "  %zu waiting", waiting);
    if (f->failed > 0)
        snprintf(l->right + n, sizeof l->right - (size_t)n, "  %zu failed",
                 f->failed);
}

/* ===== drawing ===== */

static void draw_bar(const struct paint *p, int width, double done, bool utf8)
{
    int full = (int)((done > 1 ? 1 : done) * width + 0.5);

    fputs(p->green, stderr);
    for (int i = 0; i < width; i++) {
        if (i == full)
            fprintf(stderr, "%s%s", p->plain, p->dim);
        fputs(i < full ? (utf8 ? "━" : "#") : (utf8 ? "─" : "-"), stderr);
    }
    fputs(p->plain, stderr);
}

/* Draws the name, the bar and the rest, two blanks apart; a line that is too
 * long is cut so that it does not wrap. */
static void draw(const struct line *l)
{
    struct paint p = paint_for(stderr);
    int width = terminal_width(stderr) - 1; /* the last column may wrap */
    int least = l->done >= 0 ? NARROWEST + 2 : 0;
    int left = (int)strlen(l->left);
    const char *right = l->right;

    if (left + 2 + least + (int)strlen(right) > width)
        right = l->brief;
    if (left + 2 + least + (int)strlen(right) > width)
        left = width - 2 - least - (int)strlen(right);
    if (left < 0)
        left = 0;
    fprintf(stderr, "\r%s%.*s%s%s", p.bold, left, l->left, p.plain,
            left ? "  " : "");
    width -= left ? left + 2 : 0;
    if (least) {
        int bar = width - 2 - (int)strlen(right);
        bar = bar < NARROWEST ? NARROWEST : bar > WIDEST ? WIDEST : bar;
        draw_bar(&p, bar, l->done, use_utf8());
        fputs("  ", stderr);
        width -= bar + 2;
    }
    fprintf(stderr, "%.*s\033[K", width > 0 ? width : 0, right);
    fflush(stderr);
}

void fetch_bar_draw(struct fetch *f)
{
    struct line l = { .done = -1 };
    off_t bytes = f->finished_bytes;
    int64_t now = bide_now_ns();

    if (!f->bar || now - f->began_ns < SHORT_NS)
        return;
    for (size_t i = 0; i < f->next; i++)
        if (f->transfers[i].state != FETCH_ENDED)
            bytes += f->transfers[i].now;
    if (f->n == 1 && f->transfers->state == FETCH_WAITING)
        f->rate_ns = 0;
    else
        measure(f, bytes, now);
    if (f->n == 1)
        say_one(f, f->transfers, now, &l);
    else
        say_all(f, bytes, &l);
    draw(&l);
    f->bar_drawn = true;
}

void fetch_bar_clear(struct fetch *f)
{
    if (!f->bar_drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    f->bar_drawn = false;
}

void fetch_bar_keep(struct fetch_transfer *t)
{
    struct paint p = paint_for(stderr);
    char got[24], took[32], from[24];

    if (!t->all->bar || t->all->quiet || !t->output)
        return;
    fetch_bar_clear(t->all);
    fprintf(stderr, "%s%s%s  %s in %s", p.bold, t->label, p.plain,
            bytes_text(t->now, got, sizeof got),
            bide__brief_duration(t->took_ns, took, sizeof took));
    if (t->result.attempts > 1)
        fprintf(stderr, ", %u attempts", t->result.attempts);
    if (t->resume.saved > 0)
        fprintf(stderr, ", resumed at %s",
                bytes_text(t->resume.saved, from, sizeof from));
    fputc('\n', stderr);
}
