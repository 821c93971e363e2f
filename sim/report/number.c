/* Numbers of the report: three digits and a unit; infinity and NaN in words. */
#include <math.h>
#include <string.h>

#include "sim/report/text.h"

struct scaled {
    double by;
    const char *unit;
};

static struct scaled scale_seconds(double x)
{
    if (x < 999.5e-9)
        return (struct scaled){ 1e9, " ns" };
    if (x < 999.5e-6)
        return (struct scaled){ 1e6, " µs" };
    if (x < 999.5e-3)
        return (struct scaled){ 1e3, " ms" };
    if (x < 600)
        return (struct scaled){ 1, " s" };
    if (x < 7200)
        return (struct scaled){ 1.0 / 60, " min" };
    return (struct scaled){ 1.0 / 3600, " h" };
}

static struct scaled scale_count(double x, bool rate)
{
    if (x < 9999.5)
        return (struct scaled){ 1, rate ? "/s" : "" };
    if (x < 999.5e3)
        return (struct scaled){ 1e-3, rate ? " k/s" : " k" };
    if (x < 999.5e6)
        return (struct scaled){ 1e-6, rate ? " M/s" : " M" };
    return (struct scaled){ 1e-9, rate ? " G/s" : " G" };
}

static struct scaled scale_of(enum page_unit unit, double x)
{
    x = fabs(x);
    switch (unit) {
    case PAGE_SECONDS:
        return x > 0 ? scale_seconds(x) : (struct scaled){ 1, " s" };
    case PAGE_SHARE:
        return (struct scaled){ 100, " %" };
    case PAGE_TIMES:
        return (struct scaled){ 1, "×" };
    default:
        return scale_count(x, unit == PAGE_RATE);
    }
}

/* How many decimals give x this many digits. */
static int places(double x, int wanted)
{
    int n = wanted - 1;

    for (x = fabs(x); x >= 9.995 && n > 0; x /= 10)
        n--;
    for (; x > 0 && x < 0.9995 && n < wanted + 5; x *= 10)
        n++;
    return n;
}

/* Removes trailing zeros after the point. */
static void trim(char *text)
{
    char *end = text + strlen(text);

    if (!strchr(text, '.'))
        return;
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        *--end = '\0';
}

static void digits(char text[PAGE_TEXT], double x, int n)
{
    /* 1e300 has more digits than there is room for. */
    if (fabs(x) >= 1e15) {
        snprintf(text, PAGE_TEXT, "%.2e", x);
        return;
    }
    snprintf(text, PAGE_TEXT, "%.*f", places(x, n), x);
    trim(text);
}

const char *page_number(char text[PAGE_TEXT], enum page_unit unit, double x)
{
    struct scaled s = scale_of(unit, x);
    char number[PAGE_TEXT];

    if (isnan(x))
        return strcpy(text, "–");
    if (isinf(x))
        return strcpy(text, x > 0 ? "never" : "–");
    digits(number, x * s.by, 3);
    /* 100 % means all; nearly all must not be rounded to it. */
    if (unit == PAGE_SHARE && x < 1 - 1e-12 && strcmp(number, "100") == 0)
        snprintf(number, sizeof number, "%.2f", floor(x * 1e4) / 100);
    snprintf(text, PAGE_TEXT, "%.30s%s", number, s.unit);
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
    snprintf(mean_text, PAGE_TEXT, "%.*f", behind, mean);
    snprintf(half_text, PAGE_TEXT, "%.*f", first, half);
    trim(mean_text);
    trim(half_text);
}

/* An interval near its bounds (a share of 100 %) is asymmetric. */
static bool is_lopsided(const struct sim_interval *i)
{
    double up = i->high - i->mean, down = i->mean - i->low;

    return fabs(up - down) > 0.2 * fmax(up, down);
}

const char *page_plus_minus(char text[PAGE_TEXT], enum page_unit unit,
                            const struct sim_interval *i)
{
    struct scaled s = scale_of(unit, i->mean);
    double half = (i->high - i->low) / 2;
    char mean[PAGE_TEXT], low[PAGE_TEXT], high[PAGE_TEXT];

    if (i->n == 0)
        return strcpy(text, i->infinite ? "never" : "–");
    if (!(half > fabs(i->mean) * 1e-4) || !isfinite(half) ||
        fabs(half * s.by) > 1e15 || !isfinite(i->mean) ||
        fabs(i->mean * s.by) > 1e15)
        return page_number(text, unit, i->mean);
    if (is_lopsided(i)) {
        digits(mean, i->mean * s.by, 3);
        digits(low, i->low * s.by, 2);
        digits(high, i->high * s.by, 2);
        snprintf(text, PAGE_TEXT, "%.10s%s (%.9s to %.9s)", mean, s.unit, low,
                 high);
        return text;
    }
    mean_and_half(mean, low, i->mean * s.by, half * s.by);
    snprintf(text, PAGE_TEXT, "%.16s ± %.12s%s", mean, low, s.unit);
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
