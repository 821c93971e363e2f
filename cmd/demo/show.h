/* bide demo: animated charts on a terminal (view.c); lines where there is none,
 * the table, JSON (print.c). */
#ifndef BIDE_CMD_DEMO_SHOW_H
#define BIDE_CMD_DEMO_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/demo/plan.h"
#include "cmd/demo/result.h"

struct demo;

/* Draws on a terminal, over the last picture. Threads: owned. */
struct demo_view {
    const struct demo *demo;
    bool keep;
    int lines; /* of the last picture */
};

bool demo_view_possible(FILE *out); /* a terminal, and wide enough */
void demo_view_draw(struct demo_view *v, int64_t at_ns);

/* Without a terminal: an introduction, then a line now and then. */
void demo_print_head(FILE *out, const struct demo *demo, const char *url);
void demo_print_columns(FILE *out);
void demo_print_line(FILE *out, const struct demo *demo, int64_t at_ns);

void demo_print_table(FILE *out, const struct demo_result r[DEMO_FLEETS]);

/* False: out of memory. */
bool demo_print_json(FILE *out, const struct demo *demo,
                     const struct demo_result r[DEMO_FLEETS], bool cut_short);

#endif
