/* A chart of when attempts begin: one line for each attempt; higher means
 * likelier.
 *
 *     1 █
 *     2 ████████
 *     3 ▃▅▇█████▆▄▂▁
 *     4 ▁▁▂▃▄▅▆▇███▇▇▆▅▄▄▃▂▂▁▁··
 *       ├───────┬───────┬───────┬
 *       0     200ms   400ms   600ms
 *
 * The shapes are sampled, not computed: the engine draws a hundred thousand
 * calls. A cell that is possible but too rare to be seen shows a dot. */
#include "cmd/schedule/picture.h"

#include <string.h>

#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/schedule/schedule.h"
#include "cmd/schedule/waits.h"

enum { CALLS = 100000, WIDEST = 100, LABEL = 5 };

struct canvas {
    int width;      /* cells */
    double cell_ns; /* time per cell */
    bool utf8;
    struct paint paint;
};

static int cell_of(const struct canvas *c, double ns)
{
    int cell = (int)(ns / c->cell_ns);
    return cell < c->width ? cell : c->width - 1;
}

/* Counts in hits[attempt][cell] when attempts begin; index 0 is the second
 * attempt, the first with a wait before it. */
static void count(const struct schedule *s, const struct canvas *c, int n,
                  unsigned (*hits)[WIDEST])
{
    bide_rng_seeded state;
    bide_rng rng = bide_rng_seed(&state, 1); /* the same picture each time */

    for (int i = 0; i < CALLS; i++) {
        double at = 0;
        int64_t wait = 0;
        for (int k = 0; k < n; k++) {
            wait = bide_backoff_wait(&s->policy.conf.backoff, (uint32_t)k, wait,
                                     &rng);
            at += (double)wait;
            hits[k][cell_of(c, at)]++;
        }
    }
}

static const char *glyph(const struct canvas *c, unsigned hits, unsigned most)
{
    static const char *const blocks[] = { "·", "▁", "▂", "▃", "▄",
                                          "▅", "▆", "▇", "█" };
    static const char *const letters[] = { ".", ":", "-", "=", "+",
                                           "*", "%", "@", "#" };
    /* The tallest cell is partly chance: cells that come close are drawn as
     * tall, so that a flat distribution looks flat. */
    unsigned level = most ? (hits * 86 + most * 5) / (most * 10) : 0;

    if (level > 8)
        level = 8;
    return (c->utf8 ? blocks : letters)[level];
}

static void print_attempt(const struct canvas *c, const struct wait *w,
                          const unsigned *hits)
{
    int from = cell_of(c, (double)w->least_ns);
    int to = cell_of(c, (double)w->sum_ns);
    unsigned most = 0;

    for (int i = 0; i < c->width; i++)
        most = hits[i] > most ? hits[i] : most;
    printf("%*u ", LABEL - 1, w->retry + 1);
    printf("%*s%s", from, "", c->paint.green);
    for (int i = from; i <= to; i++)
        fputs(glyph(c, hits[i], most), stdout);
    printf("%s\n", c->paint.plain);
}

/* ===== the axis ===== */

/* A round step, so that ticks are about ten cells apart. */
static double tick_step(const struct canvas *c)
{
    static const double above_s[] = { 1,    2,    5,     10,    15,    30,
                                      60,   120,  300,   600,   900,   1800,
                                      3600, 7200, 10800, 21600, 43200, 86400 };
    double least = c->cell_ns * 10;

    for (double step = 1; step < 1e9; step *= 10) {
        const double parts[] = { 1, 2, 5 };
        for (int i = 0; i < 3; i++)
            if (step * parts[i] >= least)
                return step * parts[i];
    }
    for (size_t i = 0; i < sizeof above_s / sizeof above_s[0]; i++)
        if (above_s[i] * 1e9 >= least)
            return above_s[i] * 1e9;
    double days = 86400e9;
    while (days < least)
        days *= 2;
    return days;
}

static void print_axis(const struct canvas *c)
{
    double step = tick_step(c);
    char labels[WIDEST + 40];
    int column = 0, next = 0;

    memset(labels, ' ', sizeof labels);
    labels[c->width] = '\0';
    printf("%*s%s", LABEL, "", c->paint.dim);
    for (int i = 0, tick = 0; i < c->width; i++) {
        char text[32];
        bool here = i == (int)(tick * step / c->cell_ns + 0.5);
        fputs(!here     ? (c->utf8 ? "─" : "-")
              : c->utf8 ? (i == 0 ? "├" : "┬")
                        : "+",
              stdout);
        if (!here)
            continue;
        bide__brief_duration((int64_t)(tick * step), text, sizeof text);
        int len = (int)strlen(text);
        column = i - (tick ? len / 2 : 0);
        if (column >= next && column + len <= c->width) {
            memcpy(labels + column, text, (size_t)len);
            next = column + len + 1;
        }
        tick++;
    }
    int end = (int)strlen(labels);
    while (end > 0 && labels[end - 1] == ' ')
        labels[--end] = '\0';
    printf("\n%*s%s%s\n", LABEL, "", labels, c->paint.plain);
}

void picture_print(const struct schedule *s, const struct wait *waits, int n,
                   int width)
{
    int64_t end_ns = waits[n - 1].sum_ns;
    struct canvas c = { width - LABEL - 1, 0, use_utf8(), paint_for(stdout) };
    unsigned hits[SCHEDULE_ROWS][WIDEST] = { { 0 } };

    if (c.width > WIDEST)
        c.width = WIDEST;
    c.cell_ns = (double)end_ns / c.width;
    if (end_ns > 0) {
        bide__print_wrapped(stdout,
                            "When each attempt begins, if attempts took no "
                            "time; higher is likelier:",
                            0, 0, width);
        printf("%*d %s%s%s\n", LABEL - 1, 1, c.paint.green, c.utf8 ? "█" : "#",
               c.paint.plain);
        count(s, &c, n, hits);
        for (int i = 0; i < n; i++)
            print_attempt(&c, &waits[i], hits[i]);
        print_axis(&c);
        putchar('\n');
    }
}
