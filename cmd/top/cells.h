/* bide top: cells: what is in a column, exactly as wide as it. */
#ifndef BIDE_CMD_TOP_CELLS_H
#define BIDE_CMD_TOP_CELLS_H

#include "cmd/top/top.h"

/* LAST: nothing follows, so there are no blanks behind it. */
enum top_align { TOP_LEFT, TOP_RIGHT, TOP_LAST };

/* Text in `width` columns: cut, or padded with blanks. */
void top_cell(FILE *out, const char *text, int width, enum top_align align);
int top_width(const char *text);

/* A name in `width` columns. If it does not fit, it loses what most begin with,
 * and then its middle. */
void top_name(FILE *out, const char *name, int width,
              const struct top_look *look);

/* Text from column `at` on, painted, in lines that end before `width`: broken
 * between words, which are only broken if they are longer than a line. Further
 * lines are indented by `at`. Returns how many lines there are; out NULL: only
 * counts them. */
size_t top_wrap(FILE *out, const char *text, int at, int width,
                const char *paint, const struct top_look *look);

/* The newest `width` values, the newest last, as bars from 0 to the greatest.
 * Those where bad[i] > 0 are red. bad: or NULL. */
void top_spark(FILE *out, const double *value, const double *bad, size_t n,
               int width, const struct top_look *look);

/* "0", "6.02", "60.1", "1234", "12.3k"; "99.9%", never rounded up to 100 %;
 * "1.2s". NaN is "-", infinity "none". */
const char *top_brief(double n, char to[16]);
const char *top_rate(double n, char to[16]); /* one place after the point */
const char *top_share(double x, char to[16]);
const char *top_duration(double ms, char to[16]);

const char *top_paint(const struct top_look *look, enum top_mood mood);

#endif
