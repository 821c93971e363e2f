/* bide sim: the figures of a run as a table. */
#ifndef BIDE_CMD_SIM_TABLE_H
#define BIDE_CMD_SIM_TABLE_H

#include <stdio.h>

#include "sim/study/summary.h"

/* Prints a row for each figure and a column for each variant; in blocks if they
 * do not fit side by side. */
void sim_table_print(FILE *out, const struct sim_summary *s, int width);

/* The width of a text in columns; and printing a text in a given width, cut if
 * necessary. */
int text_width(const char *text);
void print_padded(FILE *out, const char *text, int width, bool right);

/* Prints the title of a study on standard output. */
void print_title(const char *title);

#endif
