/* Figures for people: three digits and a unit. */
#include "sim/study/figure_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/people.h"

/* clang-format off */
static const struct {
    enum sim_unit unit;
    int better;
} figures[SIM_FIGURES] = {
    [SIM_FIG_GOODPUT]       = { SIM_PER_SECOND, 1 },
    [SIM_FIG_SUCCESS]       = { SIM_SHARE, 1 },
    [SIM_FIG_FAILURES]      = { SIM_SHARE, -1 },
    [SIM_FIG_UNFINISHED]    = { SIM_SHARE, -1 },
    [SIM_FIG_ATTEMPTS]      = { SIM_PER_SECOND, 0 },
    [SIM_FIG_AMPLIFICATION] = { SIM_TIMES, -1 },
    [SIM_FIG_DEEPEST]       = { SIM_TIMES, -1 },
    [SIM_FIG_MEAN]          = { SIM_SECONDS, -1 },
    [SIM_FIG_P50]           = { SIM_SECONDS, -1 },
    [SIM_FIG_P99]           = { SIM_SECONDS, -1 },
    [SIM_FIG_P999]          = { SIM_SECONDS, -1 },
    [SIM_FIG_TIMED]         = { SIM_COUNT, 0 },
    [SIM_FIG_QUEUE_WAIT]    = { SIM_SECONDS, -1 },
    [SIM_FIG_UTILISATION]   = { SIM_SHARE, 0 },
    [SIM_FIG_DUPLICATES]    = { SIM_COUNT, -1 },
    [SIM_FIG_PEAK]          = { SIM_TIMES, 0 },
    [SIM_FIG_WASTED]        = { SIM_SHARE, -1 },
    [SIM_FIG_RECOVER]       = { SIM_SECONDS, -1 },
    [SIM_FIG_STUCK]         = { SIM_SHARE, -1 },
    [SIM_FIG_OVERLOADED]    = { SIM_SHARE, -1 },
    [SIM_FIG_ALL_BACK]      = { SIM_SECONDS, -1 },
    [SIM_FIG_HEDGES]        = { SIM_SHARE, 0 },
    [SIM_FIG_DEAD]          = { SIM_COUNT, -1 },
    [SIM_FIG_DEAD_AFTER]    = { SIM_SECONDS, 0 },
    [SIM_FIG_NUMBER]        = { SIM_COUNT, -1 },
    [SIM_FIG_DEPTH]         = { SIM_COUNT, -1 },
    [SIM_FIG_OLDEST]        = { SIM_SECONDS, -1 },
    [SIM_FIG_FIRST_WAIT]    = { SIM_SECONDS, -1 },
    [SIM_FIG_RETRY_WAIT]    = { SIM_TIMES, -1 },
    [SIM_FIG_PAUSES]        = { SIM_COUNT, 0 },
    [SIM_FIG_PAUSED]        = { SIM_SHARE, 0 },
    [SIM_FIG_PROBES]        = { SIM_PER_SECOND, -1 },
};
/* clang-format on */

enum sim_unit sim_figure_unit(enum sim_figure f)
{
    return figures[f].unit;
}

const char *sim_figure_unit_name(enum sim_figure f)
{
    static const char *const names[] = { "per_second", "share", "seconds",
                                         "times", "count" };

    return names[figures[f].unit];
}

int sim_figure_better(enum sim_figure f)
{
    return figures[f].better;
}

enum sim_figure sim_figure_find(const char *name, size_t len)
{
    for (int f = 0; f < SIM_FIGURES; f++) {
        const char *known = sim_figure_name((enum sim_figure)f);
        if (strlen(known) == len && memcmp(known, name, len) == 0)
            return (enum sim_figure)f;
    }
    return SIM_FIGURES;
}

/* ===== units ===== */

/* clang-format off */
static const struct bide__unit units_of[][6] = {
    [SIM_PER_SECOND] = { { 9999.5, 1, "/s" }, { 999500, 1e3, "k/s" },
                         { 0, 1e6, "M/s" } },
    [SIM_SHARE]      = { { 0, 0.01, "%" } },
    [SIM_SECONDS]    = { { 999.5e-6, 1e-6, "us" }, { 999.5e-3, 1e-3, "ms" },
                         { 599.5, 1, "s" }, { 35970, 60, "m" },
                         { 0, 3600, "h" } },
    [SIM_TIMES]      = { { 0, 1, "x" } },
    [SIM_COUNT]      = { { 9999.5, 1, "" }, { 999500, 1e3, "k" },
                         { 0, 1e6, "M" } },
};
/* clang-format on */

static const struct bide__unit *unit_of(enum sim_figure f, double x)
{
    return bide__unit_of(units_of[figures[f].unit], x);
}

/* ===== digits ===== */

/* A value just under 1 counts as 1: "0.997x" would claim more precision than
 * was measured. */
static int places_for(double x, int digits)
{
    return bide__places(x, digits, 0.995, 6);
}

static void put_digits(double x, int digits, char *buffer, size_t size)
{
    bide__fixed(x, places_for(x, digits), buffer, size);
}

/* Just under 100 % three digits hide what matters: 99.97 % is not 100 %. */
static void put_number(enum sim_figure f, double x,
                       const struct bide__unit *unit, char *buffer, size_t size)
{
    double y = x / unit->by;

    if (figures[f].unit == SIM_SHARE && y > 99 && y < 100)
        snprintf(buffer, size, "%.2f", y > 99.99 ? 99.99 : y);
    else
        put_digits(y, 3, buffer, size);
}

const char *sim_figure_text(enum sim_figure f, double x, char *buffer,
                            size_t size)
{
    char digits[32];
    const struct bide__unit *unit = unit_of(f, x);

    if (isnan(x))
        return "-";
    if (isinf(x))
        return x < 0                                           ? "overloaded"
               : f == SIM_FIG_RECOVER || f == SIM_FIG_ALL_BACK ? "never"
                                                               : "unbounded";
    put_number(f, x, unit, digits, sizeof digits);
    snprintf(buffer, size, "%s%s", digits,
             x == 0 && figures[f].unit == SIM_SECONDS ? "s" : unit->name);
    return buffer;
}

/* ===== intervals ===== */

static const char *range_text(enum sim_figure f, const struct sim_interval *i,
                              char *buffer, size_t size)
{
    const struct bide__unit *unit = unit_of(f, i->mean);
    int places = places_for((i->high - i->low) / 2 / unit->by, 1);
    char mean[16], low[16], high[16];

    put_number(f, i->mean, unit, mean, sizeof mean);
    bide__fixed(i->low / unit->by, places, low, sizeof low);
    bide__fixed(i->high / unit->by, places, high, sizeof high);
    snprintf(buffer, size, "%s%s (%s..%s)", mean, unit->name, low, high);
    return buffer;
}

/* How many runs, and which share of all that may mean. */
static const char *runs_text(const struct sim_interval *i, char *buffer,
                             size_t size)
{
    char low[16], high[16];

    put_digits(i->low * 100, 2, low, sizeof low);
    put_digits(i->high * 100, 2, high, sizeof high);
    snprintf(buffer, size, "%.0f/%u (%s..%s%%)", i->mean * i->n, i->n, low,
             high);
    return buffer;
}

/* Some recovered, and some did not. */
static const char *parts_text(enum sim_figure f, const struct sim_interval *i,
                              char *buffer, size_t size)
{
    char mean[SIM_TEXT], never[24] = "", over[24] = "";

    if (i->infinite && i->n)
        snprintf(never, sizeof never, ", %u never", i->infinite);
    if (i->overloaded)
        snprintf(over, sizeof over, ", %u overloaded", i->overloaded);
    snprintf(buffer, size, "%.16s%s%s",
             sim_figure_text(f, i->n ? i->mean : INFINITY, mean, sizeof mean),
             never, over);
    return buffer;
}

/* Half an interval has as many decimal places as its mean, or one more; "" if
 * that leaves only zeros. */
static void put_half(double half, double mean, char *buffer, size_t size)
{
    int places = places_for(mean, 3), needed = places_for(half, 1);

    bide__fixed(half, needed > places ? places + 1 : places, buffer, size);
    if (strcmp(buffer, "0") == 0)
        buffer[0] = '\0';
}

const char *sim_interval_text(enum sim_figure f, const struct sim_interval *i,
                              bool utf8, char *buffer, size_t size)
{
    char mean[24], half[24];
    const struct bide__unit *unit = unit_of(f, i->mean);

    if ((i->infinite || i->overloaded) && i->infinite + i->n)
        return parts_text(f, i, buffer, size);
    if (i->overloaded)
        return "overloaded";
    if (i->infinite || i->n == 0 || !(i->high - i->low > 0))
        return sim_figure_text(f, i->infinite ? INFINITY : i->mean, buffer,
                               size);
    if (f == SIM_FIG_STUCK || f == SIM_FIG_OVERLOADED)
        return runs_text(i, buffer, size);
    if (sim_interval_is_lopsided(i))
        return range_text(f, i, buffer, size);
    put_number(f, i->mean, unit, mean, sizeof mean);
    put_half((i->high - i->low) / 2 / unit->by, i->mean / unit->by, half,
             sizeof half);
    snprintf(buffer, size, "%s%s%s%s", mean,
             !*half ? ""
             : utf8 ? " \u00b1"
                    : " +-",
             half, unit->name);
    return buffer;
}
