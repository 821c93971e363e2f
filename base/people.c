/* Text for people: words broken into lines, durations in a few digits. */
#include "base/people.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "bide/policy.h"

/* ===== words ===== */

int bide__columns(const char *text, size_t len)
{
    return (int)bide__utf8_count(text, len);
}

void bide__print_wrapped(FILE *out, const char *text, int at, int indent,
                         int width)
{
    int column = at;
    bool start = true;    /* nothing stands on this line yet */
    bool indented = true; /* but its indent */

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
        int wide = bide__columns(text, len);
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

/* ===== durations ===== */

/* Three digits: 1.23, 12.3, 123; no zeros behind the point. */
static void three_digits(double x, char *buffer, size_t size)
{
    int places = x < 9.995 ? 2 : x < 99.95 ? 1 : 0;
    snprintf(buffer, size, "%.*f", places, x);
    if (strchr(buffer, '.')) {
        char *end = buffer + strlen(buffer);
        while (end[-1] == '0')
            *--end = '\0';
        if (end[-1] == '.')
            *--end = '\0';
    }
}

static const char *two_units(int64_t n, int64_t per, const char *big,
                             const char *small, char *buffer, size_t size)
{
    int len = snprintf(buffer, size, "%lld%s", (long long)(n / per), big);
    if (n % per != 0 && (size_t)len < size)
        snprintf(buffer + len, size - (size_t)len, "%lld%s",
                 (long long)(n % per), small);
    return buffer;
}

const char *bide__brief_duration(int64_t ns, char *buffer, size_t size)
{
    static const struct {
        const char *name;
        double ns, below;
    } units[] = { { "ns", 1, 999.5 },
                  { "us", 1e3, 999.5 },
                  { "ms", 1e6, 999.5 },
                  { "s", 1e9, 59.95 } };
    double x = (double)ns;
    int64_t s = ns / BIDE_SECOND + (ns % BIDE_SECOND >= BIDE_SECOND / 2);

    if (ns == 0 || ns == BIDE_FOREVER) {
        snprintf(buffer, size, "%s", ns ? "forever" : "0");
        return buffer;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (x / units[i].ns < units[i].below) {
            three_digits(x / units[i].ns, buffer, size - 2);
            strcat(buffer, units[i].name);
            return buffer;
        }
    }
    if (s < 3600)
        return two_units(s, 60, "m", "s", buffer, size);
    if (s < 24 * 3600)
        return two_units(s / 60, 60, "h", "m", buffer, size);
    if (s < 1000 * 24 * 3600)
        return two_units(s / 3600, 24, "d", "h", buffer, size);
    return two_units(s / (24 * 3600), 365, "y", "d", buffer, size);
}
