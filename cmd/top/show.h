/* bide top: the list, and the page of one dependency. */
#ifndef BIDE_CMD_TOP_SHOW_H
#define BIDE_CMD_TOP_SHOW_H

#include "cmd/top/top.h"

/* Writes the lines. Returns how many lines of dependencies there is room for;
 * the first of them is line *ret_at of the screen, from 0. */
size_t top_list(FILE *out, const struct top_state *s,
                const struct top_look *look, size_t *ret_at);

/* The page of s->full: the lines from look->first on. Returns how many there
 * are in all. `history` is what /api/history has of it, or NULL. */
size_t top_page(FILE *out, const struct top_state *s,
                const struct top_look *look, const struct bide__node *history);

void top_help(FILE *out, const struct top_look *look);

/* The first line, which all pages have. */
void top_head(FILE *out, const struct top_state *s,
              const struct top_look *look);
void top_foot(FILE *out, const struct top_look *look, const char *text);

/* A decision: its time, and the rest broken between words, never cut. Returns
 * the lines that it takes; NULL: only counts them. */
size_t top_decision_show(FILE *out, const struct top_decision *d, bool with_dep,
                         const struct top_look *look);

#endif
