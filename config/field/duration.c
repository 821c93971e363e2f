/* duration.c: durations, to and from text.
 *
 * They are read with integer arithmetic, so that "0.1s" is 100 000 000 ns and
 * not one less. */
#include <string.h>

#include "config/field/value.h"

static const struct unit {
    const char *name;
    int64_t ns;
} units[] = { { "d", 86400 * BIDE_SECOND }, { "h", BIDE_HOUR },
              { "m", BIDE_MINUTE },         { "s", BIDE_SECOND },
              { "ms", BIDE_MILLISECOND },   { "us", 1000 },
              { "\xc2\xb5s", 1000 },        { "ns", 1 } };

enum { N_UNITS = sizeof units / sizeof units[0] };

/* The unit whose name is exactly the letters at the front. */
static const struct unit *find_unit(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && (text[n] < '0' || text[n] > '9'))
        n++;
    for (size_t i = 0; i < N_UNITS; i++)
        if (strlen(units[i].name) == n && memcmp(units[i].name, text, n) == 0)
            return &units[i];
    return NULL;
}

static int64_t add(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* Billionths of a unit in nanoseconds, rounded down. */
static int64_t share(uint64_t billionths, int64_t unit_ns)
{
    if (unit_ns >= BIDE_SECOND)
        return (int64_t)billionths * (unit_ns / BIDE_SECOND);
    return (int64_t)billionths / (BIDE_SECOND / unit_ns);
}

/* Reads a number and its unit; returns its length in bytes, 0 if it is
 * invalid. */
static size_t read_part(const char *text, size_t len, const struct unit **unit,
                        int64_t *ret_ns)
{
    size_t n = bide__count_digits(text, len), fraction = 0, at = n;
    uint64_t whole, billionths = 0;

    if (n == 0 || bide__parse_count(text, n, &whole) < 0)
        return 0;
    if (at < len && text[at] == '.') {
        fraction = bide__count_digits(text + at + 1, len - at - 1);
        if (fraction == 0)
            return 0;
        for (size_t i = 1; i <= 9; i++)
            billionths = billionths * 10 +
                         (i <= fraction ? (uint64_t)(text[at + i] - '0') : 0);
        at += fraction + 1;
    }
    *unit = find_unit(text + at, len - at);
    if (!*unit)
        return 0;
    *ret_ns =
        whole > (uint64_t)(INT64_MAX / (*unit)->ns)
            ? INT64_MAX
            : add((int64_t)whole * (*unit)->ns, share(billionths, (*unit)->ns));
    return at + strlen((*unit)->name);
}

/* Units must go from large to small, each once: "1h30m", but not "1s1s". */
int bide_parse_duration(const char *text, size_t len, int64_t *ret_ns)
{
    int64_t total = 0, last = INT64_MAX, part = 0;
    const struct unit *unit;

    if (!text || !ret_ns)
        return BIDE_EINVAL;
    if (len == 0)
        return BIDE_EPARSE;
    for (size_t at = 0; at < len;) {
        size_t n = read_part(text + at, len - at, &unit, &part);

        if (n == 0 && len == 1 && text[0] == '0')
            break;
        if (n == 0 || unit->ns >= last)
            return BIDE_EPARSE;
        last = unit->ns;
        total = add(total, part);
        at += n;
    }
    *ret_ns = total;
    return 0;
}

/* ===== and back ===== */

/* Writes a whole number of units and returns the rest. */
static int64_t put_whole(char *buffer, size_t size, int64_t ns, int64_t unit_ns,
                         const char *unit)
{
    size_t at = strlen(buffer);

    if (ns >= unit_ns)
        snprintf(buffer + at, size - at, "%lld%s", (long long)(ns / unit_ns),
                 unit);
    return ns % unit_ns;
}

/* Writes less than a minute in the largest unit that fits: "1.5s". */
static void put_rest(char *buffer, size_t size, int64_t ns)
{
    static const char *const names[] = { "s", "ms", "us", "ns" };
    int64_t unit_ns = BIDE_SECOND;
    size_t at = strlen(buffer), i = 0;
    char fraction[32];
    size_t n;

    for (; ns < unit_ns; unit_ns /= 1000)
        i++;
    snprintf(fraction, sizeof fraction, ".%09lld",
             (long long)(ns % unit_ns * (BIDE_SECOND / unit_ns)));
    for (n = strlen(fraction); fraction[n - 1] == '0';)
        n--;
    snprintf(buffer + at, size - at, "%lld%.*s%s", (long long)(ns / unit_ns),
             n > 1 ? (int)n : 0, fraction, names[i]);
}

const char *bide_format_duration(int64_t ns, char *buffer, size_t size)
{
    if (!buffer || size == 0)
        return "";
    if (ns == BIDE_FOREVER || ns == 0) {
        snprintf(buffer, size, "%s", ns ? "forever" : "0");
        return buffer;
    }
    snprintf(buffer, size, "%s", ns < 0 ? "-" : "");
    if (ns < 0)
        ns = ns == INT64_MIN ? INT64_MAX : -ns;
    ns = put_whole(buffer, size, ns, BIDE_HOUR, "h");
    ns = put_whole(buffer, size, ns, BIDE_MINUTE, "m");
    if (ns)
        put_rest(buffer, size, ns);
    return buffer;
}

/* Four digits below a minute, whole seconds above. */
const char *bide__format_about(int64_t ns, char *buffer, size_t size)
{
    int64_t keep = 1;

    while (ns / keep >= 10000)
        keep *= 10;
    if (ns >= BIDE_MINUTE)
        keep = BIDE_SECOND;
    return bide_format_duration(ns == BIDE_FOREVER ? ns : ns / keep * keep,
                                buffer, size);
}
