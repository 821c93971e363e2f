/* Lines over time, as SVG: the log as a grey area, policies in colours. */
#include <math.h>

#include "replay/page.h"
#include "replay/instant.h"
#include "replay/traffic.h"

/* In the units of the drawing, which the page scales. */
enum { WIDE = 960, HIGH = 260, LEFT = 64, RIGHT = 12, TOP = 10, BOTTOM = 26 };
enum { PLOT_WIDE = WIDE - LEFT - RIGHT, PLOT_HIGH = HIGH - TOP - BOTTOM };

/* Threads: owned. */
struct picture {
    FILE *out;
    const struct traffic *t;
    size_t n;
    enum replay_shown shown;
    double top; /* of the axis */
};

static double value_of(const struct picture *p, const struct traffic *t,
                       size_t step, bool log)
{
    const struct step *s = &t->steps[step];

    if (p->shown == REPLAY_SHOW_FAILED)
        return (double)(log ? s->failed : s->lost);
    return (double)(log ? s->calls : s->attempts);
}

/* The first of 1, 2, 5, 10, 20, ... that is not under x. */
static double round_up(double x)
{
    static const double steps[] = { 1, 2, 5 };

    for (double ten = 1;; ten *= 10)
        for (int i = 0; i < 3; i++)
            if (steps[i] * ten >= x)
                return steps[i] * ten;
}

static double find_top(const struct picture *p)
{
    double most = 1;

    for (size_t s = 0; s < p->t->n_steps; s++) {
        most = fmax(most, value_of(p, p->t, s, true));
        for (size_t i = 0; i < p->n; i++)
            most = fmax(most, value_of(p, &p->t[i], s, false));
    }
    return most;
}

static double x_of(const struct picture *p, double step)
{
    return LEFT + PLOT_WIDE * step / (double)p->t->n_steps;
}

static double y_of(const struct picture *p, double value)
{
    return TOP + PLOT_HIGH * (1 - value / p->top);
}

/* As a staircase: a step is a sum over its time, not a point in it. */
static void line(const struct picture *p, const struct traffic *t, bool log,
                 const char *colour)
{
    fprintf(p->out, "<path class=\"%s\" d=\"M%.1f %.1f", colour, x_of(p, 0),
            y_of(p, value_of(p, t, 0, log)));
    for (size_t s = 0; s < t->n_steps; s++) {
        if (s > 0)
            fprintf(p->out, "V%.1f", y_of(p, value_of(p, t, s, log)));
        fprintf(p->out, "H%.1f", x_of(p, (double)s + 1));
    }
    if (log)
        fprintf(p->out, "V%d H%dZ", TOP + PLOT_HIGH, LEFT);
    fputs("\"/>\n", p->out);
}

static void axes(const struct picture *p)
{
    double by = round_up(p->top / 4);
    size_t every = (p->t->n_steps + 5) / 6;
    char text[48];

    for (double v = 0; v <= p->top; v += by)
        fprintf(p->out,
                "<path class=\"rule\" d=\"M%d %.1fH%d\"/><text x=\"%d\" "
                "y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                LEFT, y_of(p, v), WIDE - RIGHT, LEFT - 8, y_of(p, v) + 4,
                replay_grouped((uint64_t)v, text));
    for (size_t s = 0; s < p->t->n_steps; s += every) {
        int64_t at = p->t->origin_ns + (int64_t)s * p->t->step_ns;
        long second = (long)(at / BIDE_SECOND % 60);

        replay_time_minute(at, text, sizeof text);
        fprintf(p->out, "<text x=\"%.1f\" y=\"%d\">%s:%02ld</text>\n",
                x_of(p, (double)s), HIGH - 6, text + 11, second);
    }
}

void replay_picture(FILE *out, const struct traffic *t, size_t n,
                    enum replay_shown shown)
{
    struct picture p = { out, t, n, shown, 1 };
    char colour[8];

    p.top = find_top(&p);
    fputs("<div class=\"scroll\">", out);
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
            WIDE, HIGH,
            shown == REPLAY_SHOW_FAILED ? "failed calls over time"
                                        : "attempts over time");
    axes(&p);
    line(&p, t, true, "log");
    for (size_t i = 0; i < n; i++) {
        snprintf(colour, sizeof colour, "p%zu", i % 8);
        line(&p, &t[i], false, colour);
    }
    fputs("</svg></div>\n", out);
}
