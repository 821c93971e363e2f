/* Text for people: words broken into lines, numbers and durations in a few
 * digits.
 *
 *     static const struct bide__unit bytes[] = {
 *         { 999.5, 1, " B" }, { 999.5e3, 1e3, " kB" }, { 0, 1e6, " MB" }
 *     };
 *     char text[32];
 *     const struct bide__unit *unit = bide__unit_of(bytes, 12345);
 *     double x = 12345 / unit->by;
 *     bide__fixed(x, bide__places(x, 3, 0.9995, 8), text, sizeof text);
 *     printf("%s%s\n", text, unit->name);                          // 12.3 kB
 *     puts(bide__brief_duration(1234567890, text, sizeof text));   // 1.23s
 *     bide__print_wrapped(stdout, "a long sentence", 0, 4, 80);
 *
 * base/number.h writes numbers that must read back exactly. */
#ifndef BIDE_BASE_PEOPLE_H
#define BIDE_BASE_PEOPLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Prints text from column `at` (from 0), broken between words so that no line
 * is wider than `width`; further lines are indented by `indent`. Breaks in the
 * text stay; a line that begins with a blank is kept as it is. Ends the last
 * line. */
void bide__print_wrapped(FILE *out, const char *text, int at, int indent,
                         int width);

/* A row of a table of units, from small to large. Threads: immutable. */
struct bide__unit {
    double below; /* used for values below this, unscaled; 0: for the rest */
    double by;    /* the scale: a divisor or a factor, as the table defines */
    const char *name;
};

/* The unit for a number, whatever its sign. */
const struct bide__unit *bide__unit_of(const struct bide__unit *units,
                                       double x);

/* The decimal places that show so many digits, at most `most`. Numbers from
 * `one` up (0.9995, say) count as 1. */
int bide__places(double x, int digits, double one, int most);

/* With so many decimal places, but no trailing zeros. */
const char *bide__fixed(double x, int places, char *buffer, size_t size);

/* A duration for people, to three digits: "1.23s", "412ms", "2m5s", "0",
 * "forever". bide_format_duration() is exact. The buffer must have at least 24
 * bytes. */
const char *bide__brief_duration(int64_t ns, char *buffer, size_t size);

#endif
