/* Text for people: words broken into lines, and durations in a few digits.
 *
 *     char text[32];
 *     puts(bide__brief_duration(1234567890, text, sizeof text));   // 1.23s
 *     bide__print_wrapped(stdout, "a long sentence", 0, 4, 80);
 */
#ifndef BIDE_BASE_PEOPLE_H
#define BIDE_BASE_PEOPLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How many columns a text takes: its characters, where each takes one. */
int bide__columns(const char *text, size_t len);

/* Prints text from column `at` (from 0), broken between words so that no line
 * is wider than `width`; further lines are indented by `indent`. Breaks in the
 * text stay; a line that begins with a blank is kept as it is. Ends the last
 * line. */
void bide__print_wrapped(FILE *out, const char *text, int at, int indent,
                         int width);

/* A duration for people, to three digits: "1.23s", "412ms", "2m5s", "0",
 * "forever". bide_format_duration() is the exact one. */
const char *bide__brief_duration(int64_t ns, char *buffer, size_t size);

#endif
