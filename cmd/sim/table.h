/* bide sim: the figures of a run as a table. */
#ifndef BIDE_CMD_SIM_TABLE_H
#define BIDE_CMD_SIM_TABLE_H

#include <stdio.h>

#include "sim/study/summary.h"

/* The figures, a row each, a column for each variant; in blocks where they do
 * not fit beside each other. */
void sim_table_print(FILE *out, const struct sim_summary *s, int width);

/* How many columns a text takes; and a text put into so many, cut if need be.
 */
int text_width(const char *text);
void print_padded(FILE *out, const char *text, int width, bool right);

/* What a study is about, on standard output. */
void print_title(const char *title);

#endif
