/* Numbers of the report: three digits and a unit; infinity and NaN in words. */
#include <math.h>
#include <string.h>

#include "base/people.h"
#include "sim/report/text.h"

/* clang-format off */
static const struct bide__unit seconds[] = {
    { 1e-99, 1, " s" }, /* nothing */
    { 999.5e-9, 1e9, " ns" }, { 999.5e-6, 1e6, " µs" },
    { 999.5e-3, 1e3, " ms" }, { 600, 1, " s" }, { 7200, 1.0 / 60, " min" },
    { 0, 1.0 / 3600, " h" },
};
static const struct bide__unit counts[] = {
    { 9999.5, 1, "" }, { 999.5e3, 1e-3, " k" }, { 999.5e6, 1e-6, " M" },
    { 0, 1e-9, " G" },
};
static const struct bide__unit rates[] = {
    { 9999.5, 1, "/s" }, { 999.5e3, 1e-3, " k/s" }, { 999.5e6, 1e-6, " M/s" },
    { 0, 1e-9, " G/s" },
};
static const struct bide__unit shares[] = { { 0, 100, " %" } };
static const struct bide__unit times[] = { { 0, 1, "×" } };
/* clang-format on */

/* The unit, and what a number is multiplied by to be in it. */
static const struct bide__unit *unit_of(enum page_unit unit, double x)
{
    return bide__unit_of(unit == PAGE_SECONDS ? seconds
                         : unit == PAGE_SHARE ? shares
                         : unit == PAGE_TIMES ? times
                         : unit == PAGE_RATE  ? rates
                                              : counts,
                         x);
}

static int places(double x, int wanted)
{
    return bide__places(x, wanted, 0.9995, wanted + 5);
}

static void digits(char text[PAGE_TEXT], double x, int n)
{
    /* 1e300 has more digits than there is room for. */
    if (fabs(x) >= 1e15) {
        snprintf(text, PAGE_TEXT, "%.2e", x);
        return;
    }
    bide__fixed(x, places(x, n), text, PAGE_TEXT);
}

const char *page_number(char text[PAGE_TEXT], enum page_unit unit, double x)
{
    const struct bide__unit *in = unit_of(unit, x);
    char number[PAGE_TEXT];

    if (isnan(x))
        return strcpy(text, "–");
    if (isinf(x))
        return strcpy(text, x > 0 ? "never" : "–");
    digits(number, x * in->by, 3);
    /* 100 % means all; nearly all must not be rounded to it. */
    if (unit == PAGE_SHARE && x < 1 - 1e-12 && strcmp(number, "100") == 0)
        snprintf(number, sizeof number, "%.2f", floor(x * 1e4) / 100);
    snprintf(text, PAGE_TEXT, "%.30s%s", number, in->name);
    return text;
}

/* A mean has no more decimals than its interval needs for two digits; half the
 * interval has as many as the mean, or as its first digit needs. */
static void mean_and_half(char mean_text[PAGE_TEXT], char half_text[PAGE_TEXT],
                          double mean, double half)
{
    int behind = places(mean, 3), two = places(half, 2);
    int first = places(half, 1);

    behind = behind < two ? behind : two;
    first = first > behind ? first : behind;
    bide__fixed(mean, behind, mean_text, PAGE_TEXT);
    bide__fixed(half, first, half_text, PAGE_TEXT);
}

const char *page_plus_minus(char text[PAGE_TEXT], enum page_unit unit,
                            const struct sim_interval *i)
{
    const struct bide__unit *in = unit_of(unit, i->mean);
    double half = (i->high - i->low) / 2;
    char mean[PAGE_TEXT], low[PAGE_TEXT], high[PAGE_TEXT];

    if (i->n == 0)
        return strcpy(text, i->infinite     ? "never"
                            : i->overloaded ? "overloaded"
                                            : "–");
    if (!(half > fabs(i->mean) * 1e-4) || !isfinite(half) ||
        fabs(half * in->by) > 1e15 || !isfinite(i->mean) ||
        fabs(i->mean * in->by) > 1e15)
        return page_number(text, unit, i->mean);
    if (sim_interval_is_lopsided(i)) {
        digits(mean, i->mean * in->by, 3);
        digits(low, i->low * in->by, 2);
        digits(high, i->high * in->by, 2);
        snprintf(text, PAGE_TEXT, "%.10s%s (%.9s to %.9s)", mean, in->name, low,
                 high);
        return text;
    }
    mean_and_half(mean, low, i->mean * in->by, half * in->by);
    snprintf(text, PAGE_TEXT, "%.16s ± %.12s%s", mean, low, in->name);
    return text;
}

const char *page_time(char text[PAGE_TEXT], double ns)
{
    double s = ns / 1e9;

    if (s < 119.5 || s >= 1e9)
        return page_number(text, PAGE_SECONDS, s);
    int minutes = (int)((s + 0.5) / 60), rest = (int)(s + 0.5) % 60;
    if (minutes >= 120)
        snprintf(text, PAGE_TEXT, "%d h %d min", minutes / 60, minutes % 60);
    else if (rest)
        snprintf(text, PAGE_TEXT, "%d min %d s", minutes, rest);
    else
        snprintf(text, PAGE_TEXT, "%d min", minutes);
    return text;
}
