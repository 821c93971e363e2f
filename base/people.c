/* Text for people: words broken into lines, numbers in a few digits. */
#include "base/people.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "bide/policy.h"

/* ===== words ===== */

void bide__print_wrapped(FILE *out, const char *text, int at, int indent,
                         int width)
{
    int column = at;
    bool start = true;    /* this line is empty so far, */
    bool indented = true; /* apart from its indent */

    while (*text) {
        if (*text == '\n') {
            putc('\n', out);
            start = true;
            indented = false;
            text++;
            if (*text == ' ') { /* kept as it is */
                size_t len = strcspn(text, "\n");
                fprintf(out, "%*s%.*s", indent, "", (int)len, text);
                text += len;
            }
            continue;
        }
        size_t len = strcspn(text, " \n");
        int wide = (int)bide__utf8_count(text, len);
        if (!start && column + 1 + wide > width) {
            putc('\n', out);
            start = true;
            indented = false;
        }
        if (!indented)
            column = fprintf(out, "%*s", indent, "");
        indented = true;
        if (!start)
            column += fprintf(out, " ");
        fprintf(out, "%.*s", (int)len, text);
        column += wide;
        start = false;
        text += len;
        text += strspn(text, " ");
    }
    putc('\n', out);
}

/* ===== numbers ===== */

const struct bide__unit *bide__unit_of(const struct bide__unit *units, double x)
{
    x = fabs(x);
    while (units->below > 0 && !(x < units->below))
        units++;
    return units;
}

int bide__places(double x, int digits, double one, int most)
{
    int n = digits - 1;

    for (x = fabs(x); x >= 9.995 && n > 0; x /= 10)
        n--;
    for (; x > 0 && x < one && n < most; x *= 10)
        n++;
    return n;
}

const char *bide__fixed(double x, int places, char *buffer, size_t size)
{
    snprintf(buffer, size, "%.*f", places, x);
    if (strchr(buffer, '.')) {
        char *end = buffer + strlen(buffer);

        while (end[-1] == '0')
            *--end = '\0';
        if (end[-1] == '.')
            *--end = '\0';
    }
    if (strcmp(buffer, "-0") == 0)
        memcpy(buffer, "0", 2);
    return buffer;
}

/* ===== durations ===== */

static const char *two_units(int64_t n, int64_t per, const char *big,
                             const char *small, char *buffer, size_t size)
{
    int len = snprintf(buffer, size, "%lld%s", (long long)(n / per), big);

    if (n % per != 0 && (size_t)len < size)
        snprintf(buffer + len, size - (size_t)len, "%lld%s",
                 (long long)(n % per), small);
    return buffer;
}

static const char *long_duration(int64_t s, char *buffer, size_t size)
{
    enum { HOUR = 3600, DAY = 24 * HOUR };

    if (s < HOUR)
        return two_units(s, 60, "m", "s", buffer, size);
    if (s < DAY)
        return two_units(s / 60, 60, "h", "m", buffer, size);
    if (s < 1000 * DAY)
        return two_units(s / HOUR, 24, "d", "h", buffer, size);
    return two_units(s / DAY, 365, "y", "d", buffer, size);
}

const char *bide__brief_duration(int64_t ns, char *buffer, size_t size)
{
    static const struct bide__unit units[] = { { 999.5, 1, "ns" },
                                               { 999.5e3, 1e3, "us" },
                                               { 999.5e6, 1e6, "ms" },
                                               { 59.95e9, 1e9, "s" },
                                               { 0, 1, NULL } };
    const struct bide__unit *unit = bide__unit_of(units, (double)ns);
    double x = (double)ns / unit->by;

    if (ns == 0 || ns == BIDE_FOREVER) {
        snprintf(buffer, size, "%s", ns ? "forever" : "0");
        return buffer;
    }
    if (!unit->name)
        return long_duration(ns / BIDE_SECOND +
                                 (ns % BIDE_SECOND >= BIDE_SECOND / 2),
                             buffer, size);
    bide__fixed(x, bide__places(x, 3, 0.9995, 2), buffer, size - 2);
    return strcat(buffer, unit->name);
}
