/* bide top: what a program shares with others, its store of idempotency records and
 * its fleet. When one of them is away, every dependency may still look well. */
#ifndef BIDE_CMD_TOP_SHARED_H
#define BIDE_CMD_TOP_SHARED_H

#include "cmd/top/top.h"

/* From `values` and `deps` of the state. */
void top_shared_read(struct top_state *state, const struct bide__node *values,
                     const struct bide__node *deps);

/* A line each, of what there is. Returns how many; out NULL: only counts. */
size_t top_shared_show(FILE *out, const struct top_state *s,
                       const struct top_look *look);

#endif
