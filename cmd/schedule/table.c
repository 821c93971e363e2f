/* The waits as a table, with their totals. */
#include <string.h>

#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/schedule/picture.h"
#include "cmd/schedule/schedule.h"
#include "cmd/schedule/waits.h"
#include "lib/ns.h"

/* A long schedule is cut short after ROWS, or after FEWEST rows if the waits no
 * longer change. */
enum { ROWS = SCHEDULE_ROWS, FEWEST = 5, COLUMNS = 6, WAIT = 1, CELL = 24 };

struct table {
    struct wait waits[ROWS];
    int n;
    struct wait last; /* of all; retry 0: not computed */
    bool settled;     /* from the last row shown on, all are alike */
};

static bool is_decorrelated(const struct schedule *s)
{
    return s->policy.conf.backoff.jitter == BIDE_JITTER_DECORRELATED;
}

/* ===== computing ===== */

/* There is no formula for the mean of decorrelated waits once the cap applies:
 * the engine draws ten thousand times. Each draw counts as the middle of its
 * range, which makes the first means exact. */
static void find_means(const struct schedule *s, struct table *t)
{
    enum { CHAINS = 10000 };
    double sums[ROWS] = { 0 };
    bide_rng_seeded state;
    bide_rng rng = bide_rng_seed(&state, 1);

    if (!is_decorrelated(s))
        return;
    for (int c = 0; c < CHAINS; c++) {
        int64_t wait = 0, min, max;
        for (int i = 0; i < t->n; i++) {
            const bide_backoff *b = &s->policy.conf.backoff;
            bide_backoff_range(b, (uint32_t)i, wait, &min, &max);
            sums[i] += ((double)min + (double)max) / 2;
            wait = bide_backoff_wait(b, (uint32_t)i, wait, &rng);
        }
    }
    for (int i = 0; i < t->n; i++)
        t->waits[i].mean_ns = (int64_t)(sums[i] / CHAINS);
}

static void skip_to_last(const struct schedule *s, struct waits *w)
{
    int64_t left = (int64_t)s->retries - w->now.retry;

    w->now.sum_ns = bide__add_ns(w->now.sum_ns,
                                 bide__scale_ns(w->now.max_ns, (double)left));
    w->now.least_ns = bide__add_ns(w->now.least_ns,
                                   bide__scale_ns(w->now.min_ns, (double)left));
    w->now.retry = s->retries;
}

static void work_out(const struct schedule *s, struct table *t)
{
    struct waits w;
    bool settled = false;

    *t = (struct table){ 0 };
    waits_begin(&w, &s->policy.conf.backoff);
    for (;;) {
        if (t->n < ROWS)
            t->waits[t->n++] = w.now;
        if (w.now.retry == s->retries)
            break;
        settled = waits_settled(&w);
        if (settled && s->retries > ROWS && t->n >= FEWEST)
            break;
        if (w.now.retry == MOST_RETRIES)
            return; /* still growing, which will be said */
        waits_next(&w);
    }
    t->settled = settled && t->waits[t->n - 1].retry == w.now.retry;
    skip_to_last(s, &w);
    t->last = w.now;
}

/* ===== printing ===== */

typedef char row[COLUMNS][CELL];

static void fill_row(row cells, const struct wait *w)
{
    int64_t values[] = { w->value_ns, w->min_ns, w->mean_ns, w->max_ns,
                         w->sum_ns };

    snprintf(cells[0], CELL, "%u", w->retry);
    for (int i = 1; i < COLUMNS; i++)
        bide__brief_duration(values[i - 1], cells[i], CELL);
}

/* A width of 0 hides a column. */
static void print_row(const row cells, const int *widths, int gap)
{
    for (int i = 0; i < COLUMNS; i++)
        if (widths[i])
            printf("%*s%*s", gap, "", widths[i], cells[i]);
    putchar('\n');
}

/* The line for the rows between those shown and the last. */
static void print_gap(const struct schedule *s, const struct table *t)
{
    if (t->settled)
        printf("  ... the same up to retry %u\n", s->retries);
    else
        printf("  ... up to retry %u\n", s->retries);
}

static void print_table(const struct schedule *s, const struct table *t,
                        int width)
{
    static const row head = { "retry", "wait", "min", "mean", "max", "sum" };
    struct paint p = paint_for(stdout);
    int widths[COLUMNS] = { 0 }, all = 0, n = t->n;
    row rows[ROWS + 1];

    for (int i = 0; i < n; i++)
        fill_row(rows[i], &t->waits[i]);
    bool cut = s->retries > (uint32_t)n;
    if (cut && t->last.retry)
        fill_row(rows[n++], &t->last);
    for (int c = 0; c < COLUMNS; c++) {
        if (c == WAIT && is_decorrelated(s))
            continue; /* it depends on the previous wait */
        widths[c] = (int)strlen(head[c]);
        for (int i = 0; i < n; i++)
            if ((int)strlen(rows[i][c]) > widths[c])
                widths[c] = (int)strlen(rows[i][c]);
        all += widths[c];
    }
    int gap = all + 3 * COLUMNS <= width   ? 3
              : all + 2 * COLUMNS <= width ? 2
                                           : 1;
    fputs(p.bold, stdout);
    print_row(head, widths, gap);
    fputs(p.plain, stdout);
    for (int i = 0; i < n; i++) {
        if (cut && i == t->n)
            print_gap(s, t);
        print_row((const char(*)[CELL])rows[i], widths, gap);
    }
    if (cut && n == t->n)
        print_gap(s, t);
}

/* ===== in words ===== */

/* "base 100ms, factor 2, cap 30s", "base 100ms, linear, cap 30s" or "delays 1s,
 * 5s, 30s". */
static void name_shape(const bide_backoff *b, char *text, size_t size)
{
    char base[32], cap[32], growth[32];
    size_t len = 0;

    for (uint32_t i = 0; i < b->delays.n && len < size; i++)
        len += (size_t)snprintf(
            text + len, size - len, "%s%s", i ? ", " : "delays ",
            bide__brief_duration(b->delays.ns[i], base, sizeof base));
    if (b->delays.n)
        return;
    snprintf(growth, sizeof growth,
             b->shape == BIDE_SHAPE_LINEAR ? "linear" : "factor %.10g",
             b->factor);
    snprintf(text, size, "base %s, %s, cap %s",
             bide__brief_duration(b->base_ns, base, sizeof base), growth,
             bide__brief_duration(b->cap_ns, cap, sizeof cap));
}

static void print_head(const struct schedule *s, int width)
{
    const bide_policy_conf *conf = &s->policy.conf;
    const bide_backoff *b = &conf->backoff;
    char line[900], shape[640], floor[32];

    name_shape(b, shape, sizeof shape);
    snprintf(line, sizeof line, "%u attempt%s: %s, %s jitter%s%s",
             conf->attempts, conf->attempts == 1 ? "" : "s", shape,
             jitter_word(b), b->floor_ns ? ", floor " : "",
             b->floor_ns
                 ? bide__brief_duration(b->floor_ns, floor, sizeof floor)
                 : "");
    bide__print_wrapped(stdout, line, 0, 2, width);
}

static void print_sum(const struct schedule *s, const struct table *t,
                      int width)
{
    const bide_policy_conf *conf = &s->policy.conf;
    char line[300], waits[32], timeout[32], all[32], deadline[32];
    int64_t tries, sum;
    int n;

    if (!t->last.retry)
        return;
    if (t->last.sum_ns == BIDE_FOREVER) {
        bide__print_wrapped(stdout, "At worst it waits for centuries.", 0, 0,
                            width);
        return;
    }
    tries = bide__scale_ns(conf->attempt_timeout_ns, conf->attempts);
    sum = bide__add_ns(tries, t->last.sum_ns);
    bide__brief_duration(t->last.sum_ns, waits, sizeof waits);
    n = t->last.sum_ns
            ? snprintf(line, sizeof line, "At worst %s of waiting", waits)
            : snprintf(line, sizeof line, "No waiting");
    if (conf->attempt_timeout_ns != BIDE_FOREVER)
        n += snprintf(line + n, sizeof line - (size_t)n,
                      ", and with attempts of up to %s each %s in all",
                      bide__brief_duration(conf->attempt_timeout_ns, timeout,
                                           sizeof timeout),
                      bide__brief_duration(sum, all, sizeof all));
    if (conf->deadline_ns != BIDE_FOREVER)
        n += snprintf(
            line + n, sizeof line - (size_t)n, "; the deadline of %s %s",
            bide__brief_duration(conf->deadline_ns, deadline, sizeof deadline),
            conf->deadline_ns < t->last.sum_ns ? "ends it before"
            : conf->deadline_ns < sum          ? "may end it before"
                                               : "leaves room for that");
    snprintf(line + n, sizeof line - (size_t)n, ".");
    bide__print_wrapped(stdout, line, 0, 0, width);
}

static void print_draws(const struct schedule *s, int width)
{
    bide_rng_seeded state;
    bide_rng rng = bide_rng_seed(&state, s->policy.seed);
    char text[32];

    printf("\nDrawn with --seed %llu:\n", (unsigned long long)s->policy.seed);
    for (uint32_t d = 0; d < s->draws; d++) {
        int64_t wait = 0;
        int column = printf("  %u:", d + 1);
        for (uint32_t n = 0; n < s->retries; n++) {
            wait = bide_backoff_wait(&s->policy.conf.backoff, n, wait, &rng);
            bide__brief_duration(wait, text, sizeof text);
            if (column + 1 + (int)strlen(text) > width)
                column = printf("\n     ") - 1;
            column += printf(" %s", text);
        }
        putchar('\n');
    }
}

static void print_none(const struct schedule *s, int width)
{
    const bide_hedge_conf *h = &s->policy.conf.hedge;
    char line[160], after[32];

    if (h->max == 0) {
        bide__print_wrapped(stdout,
                            "One attempt: nothing is retried, so there is "
                            "nothing to wait for.",
                            0, 0, width);
        return;
    }
    if (h->after_ns == BIDE_FOREVER)
        snprintf(after, sizeof after, "p%g", h->quantile * 100);
    else
        bide__brief_duration(h->after_ns, after, sizeof after);
    snprintf(line, sizeof line,
             "One attempt, and up to %u hedge%s beside it, "
             "each after %s: hedges do not wait as retries do.",
             h->max, h->max == 1 ? "" : "s", after);
    bide__print_wrapped(stdout, line, 0, 0, width);
}

void schedule_print(const struct schedule *s)
{
    int width = terminal_width(stdout);
    struct table t;

    if (s->retries == 0) {
        print_none(s, width);
        return;
    }
    work_out(s, &t);
    find_means(s, &t);
    print_head(s, width);
    putchar('\n');
    print_table(s, &t, width);
    bide__print_wrapped(stdout,
                        is_decorrelated(s)
                            ? "sum: of the longest waits"
                            : "wait: before jitter; sum: of the longest waits",
                        0, 0, width);
    putchar('\n');
    picture_print(s, t.waits, t.n, width);
    print_sum(s, &t, width);
    if (s->draws)
        print_draws(s, width);
}
