/* bide fetch: the progress bar. */
#ifndef BIDE_CMD_FETCH_BAR_H
#define BIDE_CMD_FETCH_BAR_H

#include <stdbool.h>

struct fetch;
struct fetch_args;
struct fetch_transfer;

bool fetch_bar_wanted(const struct fetch_args *a);
void fetch_bar_draw(struct fetch *f);
void fetch_bar_clear(struct fetch *f);
/* Leaves a line for a complete download. */
void fetch_bar_keep(struct fetch_transfer *t);

#endif
