/* Scales: from values to positions in a plot, and the round values to mark. */
#include "sim/report/plot/scale.h"

#include <math.h>

#include "sim/model/number.h"
#include "sim/report/text.h"

double page_place(const struct page_scale *s, double x)
{
    if (!s->log)
        return (x - s->from) / (s->to - s->from);
    if (x < s->from)
        return 0;
    return sim_log(x / s->from) / sim_log(s->to / s->from);
}

struct page_scale page_scale_to(double most, enum page_unit unit)
{
    double to = most > 0 && isfinite(most) ? most * 1.08 : 1;

    if (unit == PAGE_COUNT && to < 2)
        to = 2;
    return (struct page_scale){ .from = 0, .to = to, .unit = unit };
}

/* 1, 2 or 5 times a power of ten, not below x except for rounding. */
static double round_up(double x)
{
    static const double parts[] = { 1, 2, 5 };
    double step = 1e-12;

    x *= 1 - 1e-9;
    while (step * 10 <= x && step < 1e300)
        step *= 10;
    for (int i = 0; i < 3; i++)
        if (x <= step * parts[i])
            return step * parts[i];
    return 10 * step;
}

/* For times: minutes and hours are not powers of ten. */
static double round_time(double ns)
{
    static const double steps_s[] = { 1,     2,     5,     10,   15,
                                      20,    30,    60,    120,  300,
                                      600,   900,   1800,  3600, 7200,
                                      10800, 21600, 43200, 86400 };

    if (ns <= 0.5e9)
        return round_up(ns);
    for (size_t i = 0; i < sizeof steps_s / sizeof steps_s[0]; i++)
        if (steps_s[i] * 1e9 >= ns)
            return steps_s[i] * 1e9;
    return round_up(ns / 86400e9) * 86400e9;
}

/* Powers of ten; every second or third one if there are many, and 2 and 5 times
 * them if there are few. */
static int decades(const struct page_scale *s, int wanted,
                   double at[PAGE_TICKS])
{
    static const double parts[] = { 1, 2, 5 };
    int step = s->to / s->from < 400 ? 1 : 3, n = 0;
    double power = 1e-12, factor = 10;

    while (power * 10 < s->from)
        power *= 10;
    while (power * sim_exp(sim_log(factor) * (wanted + 1)) < s->to)
        factor *= 10;
    for (; power <= s->to * 1.001; power *= factor)
        for (int i = 0; i < 3 && n < PAGE_TICKS; i += step)
            if (power * parts[i] >= s->from * 0.999 &&
                power * parts[i] <= s->to * 1.001)
                at[n++] = power * parts[i];
    return n;
}

int page_ticks(const struct page_scale *s, int wanted, double at[PAGE_TICKS])
{
    double least = (s->to - s->from) / wanted;
    double step = s->time ? round_time(least) : round_up(least);
    int n = 0;

    if (s->log)
        return decades(s, wanted, at);
    for (double k = ceil(s->from / step - 1e-9);
         n < PAGE_TICKS && k * step <= s->to * 1.0000001; k++)
        at[n++] = k * step;
    return n;
}

/* Beyond two minutes a time axis is a clock: 2:30. */
static const char *clock_time(char text[PAGE_TEXT], double ns)
{
    int64_t s = (int64_t)(ns / 1e9 + 0.5);

    if (s < 36000)
        snprintf(text, PAGE_TEXT, "%d:%02d", (int)(s / 60), (int)(s % 60));
    else
        snprintf(text, PAGE_TEXT, "%.4g h", (double)s / 3600);
    return text;
}

const char *page_tick(char text[PAGE_TEXT], const struct page_scale *s,
                      double x)
{
    if (x == 0) {
        text[0] = '0';
        text[1] = '\0';
        return text;
    }
    if (s->time)
        return s->to > 120.5e9 ? clock_time(text, x)
                               : page_number(text, PAGE_SECONDS, x / 1e9);
    return page_number(text, s->unit, x);
}
