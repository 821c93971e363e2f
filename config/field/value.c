/* value.c: counts, numbers, ratios and rates, to and from text, independent of
 * the locale. */
#include "config/field/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

size_t bide__count_digits(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && text[n] >= '0' && text[n] <= '9')
        n++;
    return n;
}

int bide__parse_count(const char *text, size_t len, uint64_t *ret)
{
    uint64_t value = 0;

    if (!text || len == 0 || bide__count_digits(text, len) != len)
        return BIDE_EPARSE;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(text[i] - '0');

        if (value > (UINT64_MAX - digit) / 10) {
            value = UINT64_MAX;
            break;
        }
        value = value * 10 + digit;
    }
    *ret = value;
    return 0;
}

/* ===== numbers ===== */

/* Reads an exponent at the front; returns its length in bytes, or 0. */
static size_t read_exponent(const char *text, size_t len, int *ret)
{
    bool negative;
    size_t at = 1, n;
    int value = 0;

    if (len < 2 || (text[0] != 'e' && text[0] != 'E'))
        return 0;
    negative = text[1] == '-';
    at += text[1] == '-' || text[1] == '+';
    n = bide__count_digits(text + at, len - at);
    for (size_t i = 0; i < n && value < 10000; i++)
        value = value * 10 + (text[at + i] - '0');
    *ret = negative ? -value : value;
    return n ? at + n : 0;
}

/* 767 digits are enough to tell any two doubles apart: of further digits it
 * only matters whether any is not 0. */
enum { MAX_DIGITS = 768 };

/* A number as it was read: digits times 10^exponent, without a decimal point,
 * which would depend on the locale. Threads: owned. */
struct decimal {
    char digits[MAX_DIGITS + sizeof "e-200000"];
    size_t n;
    int exponent;
};

/* Reads the digits on one side of the dot. */
static void read_digits(struct decimal *d, const char *text, size_t n,
                        int per_kept, int per_dropped)
{
    for (size_t i = 0; i < n; i++) {
        bool keep = d->n < MAX_DIGITS;
        char *last = &d->digits[MAX_DIGITS - 1];

        if (keep && (d->n > 0 || text[i] != '0'))
            d->digits[d->n++] = text[i];
        else if (!keep && *last == '0' && text[i] != '0')
            *last = '1';
        if (d->exponent > -100000 && d->exponent < 100000)
            d->exponent += keep ? per_kept : per_dropped;
    }
}

static double nearest_double(struct decimal *d)
{
    if (d->n == 0)
        return 0;
    snprintf(d->digits + d->n, sizeof d->digits - d->n, "e%d", d->exponent);
    return strtod(d->digits, NULL);
}

/* Reads a number times 10^shift: 99.9 % is 0.999; 99.9 / 100 would be slightly
 * more. */
static int parse_shifted(const char *text, size_t len, int shift, double *ret)
{
    struct decimal d;
    int given = 0;
    size_t n = text ? bide__count_digits(text, len) : 0, at = n, more;
    double value;

    if (n == 0)
        return BIDE_EPARSE;
    d.n = 0;
    d.exponent = shift;
    read_digits(&d, text, n, 0, 1);
    if (at < len && text[at] == '.') {
        more = bide__count_digits(text + at + 1, len - at - 1);
        if (more == 0)
            return BIDE_EPARSE;
        read_digits(&d, text + at + 1, more, -1, 0);
        at += more + 1;
    }
    at += read_exponent(text + at, len - at, &given);
    if (at != len)
        return BIDE_EPARSE;
    d.exponent += given;
    value = nearest_double(&d);
    if (!isfinite(value))
        return BIDE_EPARSE;
    *ret = value;
    return 0;
}

int bide__parse_number(const char *text, size_t len, double *ret)
{
    return parse_shifted(text, len, 0, ret);
}

int bide__parse_percent(const char *text, size_t len, double *ret)
{
    return parse_shifted(text, len, -2, ret);
}

int bide_parse_ratio(const char *text, size_t len, double *ret)
{
    if (!text || !ret)
        return BIDE_EINVAL;
    return len > 0 && text[len - 1] == '%'
               ? bide__parse_percent(text, len - 1, ret)
               : bide__parse_number(text, len, ret);
}

int bide_parse_rate(const char *text, size_t len, double *ret_per_s)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = { { "/s", 1 },    { "/m", 60 },    { "/min", 60 },
                  { "/h", 3600 }, { "/d", 86400 }, { "/ms", 0.001 } };
    double value;

    if (!text || !ret_per_s)
        return BIDE_EINVAL;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t n = strlen(units[i].name);

        if (len <= n || memcmp(text + len - n, units[i].name, n) != 0 ||
            bide__parse_number(text, len - n, &value) < 0)
            continue;
        value /= units[i].seconds;
        if (!isfinite(value))
            return BIDE_EPARSE;
        *ret_per_s = value;
        return 0;
    }
    if (bide__parse_number(text, len, &value) < 0 || value != 0)
        return BIDE_EPARSE; /* only 0 needs no unit */
    *ret_per_s = 0;
    return 0;
}

/* ===== and back ===== */

const char *bide__format_number(double number, char *buffer, size_t size)
{
    char digits[BIDE__NUMBER];

    if (fabs(number) <= 1e15 && number == floor(number))
        snprintf(buffer, size, "%lld", (long long)number);
    else
        snprintf(buffer, size, "%s", bide__number_digits(number, digits));
    return buffer;
}

/* In percent, unless that would read back as another number. */
const char *bide__format_ratio(double ratio, char *buffer, size_t size)
{
    double back;

    bide__format_number(round(ratio * 1e6) / 1e4, buffer, size - 1);
    strcat(buffer, "%");
    if (bide_parse_ratio(buffer, strlen(buffer), &back) == 0 && back == ratio)
        return buffer;
    return bide__format_number(ratio, buffer, size);
}

const char *bide__format_rate(double per_s, char *buffer, size_t size)
{
    bide__format_number(per_s, buffer, size - 2);
    return strcat(buffer, "/s");
}
