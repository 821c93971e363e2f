/* Parses the values of a sweep. */
#include "sim/study/axis.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/config.h"
#include "sim/model/memory.h"
#include "sim/model/number.h"

void sim_fuss_set(struct sim_fuss *f, size_t at, size_t len, const char *format,
                  ...)
{
    va_list args;

    f->at = at;
    f->len = len;
    va_start(args, format);
    vsnprintf(f->message, sizeof f->message, format, args);
    va_end(args);
}

/* ===== numbers with a unit ===== */

enum unit { PLAIN, DURATION, PERCENT, RATE };

/* A value in the unit that it was typed in; durations in ns. */
struct amount {
    double x;
    enum unit unit;
};

static bool read_amount(const char *text, size_t len, struct amount *ret)
{
    char copy[48], *end;
    int64_t ns;

    if (len == 0 || len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (copy[len - 1] == '%') {
        ret->unit = PERCENT;
        copy[len - 1] = '\0';
    } else if (strchr(copy, '/')) {
        ret->unit = RATE;
        return bide_parse_rate(text, len, &ret->x) == 0;
    } else if (len > 1 && strspn(copy, "0123456789.") < len) {
        ret->unit = DURATION;
        if (bide_parse_duration(text, len, &ns) < 0)
            return false;
        ret->x = (double)ns;
        return true;
    } else {
        ret->unit = PLAIN;
    }
    errno = 0;
    ret->x = strtod(copy, &end);
    return *copy >= '0' && *copy <= '9' && !*end && !errno;
}

/* Rounds to three digits by way of text, which gives 0.3 as a user would type
 * it; 3 * 0.1 is another number. */
static double rounded(double x)
{
    char text[40];

    snprintf(text, sizeof text, "%.3g", x);
    return strtod(text, NULL);
}

static char *write_amount(double x, enum unit unit, bool whole)
{
    char text[48];

    x = whole ? (double)(int64_t)(x + 0.5) : rounded(x);
    if (unit == DURATION)
        bide_format_duration((int64_t)(x + 0.5), text, sizeof text);
    else
        snprintf(text, sizeof text, "%.10g%s", x,
                 unit == PERCENT ? "%"
                 : unit == RATE  ? "/s"
                                 : "");
    size_t size = strlen(text) + 1;
    return memcpy(sim_new(size, 1), text, size);
}

/* ===== ranges ===== */

static bool is_whole(double x)
{
    return x < 1e15 && x == (double)(int64_t)x;
}

static void add_value(struct sim_axis *a, char *value)
{
    if (a->n > 0 && strcmp(a->values[a->n - 1], value) == 0) {
        free(value); /* after rounding, whole numbers may be equal */
        return;
    }
    a->values = sim_resize(a->values, a->n + 1, sizeof *a->values);
    a->values[a->n++] = value;
}

static void fill_range(struct sim_axis *a, struct amount from, struct amount to,
                       uint32_t steps)
{
    bool wide = from.unit == DURATION || from.unit == RATE;
    bool factors = from.x > 0 && to.x >= (wide ? 10 : 100) * from.x;
    bool whole = from.unit == PLAIN && is_whole(from.x) && is_whole(to.x) &&
                 to.x - from.x >= steps - 1;
    double ratio = factors ? sim_log(to.x / from.x) : 0;

    for (uint32_t i = 0; i < steps; i++) {
        double part = steps > 1 ? i / (steps - 1.0) : 0;
        double x = i + 1 == steps && steps > 1 ? to.x
                   : i == 0                    ? from.x
                   : factors                   ? from.x * sim_exp(ratio * part)
                             : from.x + (to.x - from.x) * part;
        add_value(a, write_amount(x, from.unit, whole));
    }
}

/* `text` is the whole argument; the range begins at `at`. */
static int parse_range(struct sim_axis *a, const char *text, size_t at,
                       size_t dots, struct sim_fuss *fuss)
{
    size_t second = at + dots + 2;
    size_t len = strcspn(text + second, ":");
    struct amount from, to;
    unsigned long steps = 5;
    char *end = NULL;

    if (!read_amount(text + at, dots, &from)) {
        sim_fuss_set(fuss, at, dots,
                     "found `%.*s`, expected a number with its "
                     "unit, such as 50ms, 10%% or 3",
                     (int)dots, text + at);
        return -1;
    }
    if (!read_amount(text + second, len, &to) ||
        (to.unit != from.unit && from.x > 0)) {
        sim_fuss_set(fuss, second, len,
                     "found `%.*s`, expected a number with "
                     "the same unit as `%.*s`",
                     (int)len, text + second, (int)dots, text + at);
        return -1;
    }
    if (text[second + len] == ':')
        steps = strtoul(text + second + len + 1, &end, 10);
    if (end && (*end || end == text + second + len + 1 || steps < 2 ||
                steps > SIM_AXIS_MOST)) {
        sim_fuss_set(fuss, second + len + 1, strlen(text + second + len + 1),
                     "found `%s` steps, expected a number from 2 to %d",
                     text + second + len + 1, SIM_AXIS_MOST);
        return -1;
    }
    if (to.x <= from.x) {
        sim_fuss_set(fuss, at, strlen(text + at),
                     "found `%s`, expected the smaller value first", text + at);
        return -1;
    }
    from.unit = to.unit;
    if (!end && is_whole(from.x) && is_whole(to.x) && from.unit == PLAIN &&
        to.x - from.x < 4)
        steps = (unsigned long)(to.x - from.x) + 1; /* 1..3: no halves */
    fill_range(a, from, to, (uint32_t)steps);
    return 0;
}

static int parse_list(struct sim_axis *a, const char *text, size_t at,
                      struct sim_fuss *fuss)
{
    for (;;) {
        size_t len = strcspn(text + at, ",");
        char *value = sim_new(len + 1, 1);

        memcpy(value, text + at, len);
        add_value(a, value);
        if (len == 0) {
            sim_fuss_set(fuss, at, 0, "found nothing, expected a value");
            return -1;
        }
        if (a->n > SIM_AXIS_MOST) {
            sim_fuss_set(fuss, at, len,
                         "found more values, expected at most %d",
                         SIM_AXIS_MOST);
            return -1;
        }
        if (!text[at + len])
            return 0;
        at += len + 1;
    }
}

int sim_axis_parse(struct sim_axis *ret, const char *text,
                   struct sim_fuss *fuss)
{
    size_t key = strcspn(text, "=");
    struct sim_axis a = { 0 };

    if (key == 0 || text[key] != '=') {
        sim_fuss_set(fuss, 0, strlen(text),
                     "expected KEY=FROM..TO[:STEPS] or "
                     "KEY=VALUE,VALUE, such as backoff.base=50ms..2s");
        return -1;
    }
    a.key = sim_new(key + 1, 1);
    memcpy(a.key, text, key);
    const char *dots = strstr(text + key + 1, "..");
    int rc = dots ? parse_range(&a, text, key + 1,
                                (size_t)(dots - text) - key - 1, fuss)
                  : parse_list(&a, text, key + 1, fuss);
    if (rc < 0)
        sim_axis_done(&a);
    else
        *ret = a;
    return rc;
}

void sim_axis_done(struct sim_axis *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        free(a->values[i]);
    free(a->values);
    free(a->key);
    *a = (struct sim_axis){ 0 };
}
