/* bide top: which dependencies are shown, and in which order. */
#ifndef BIDE_CMD_TOP_ORDER_H
#define BIDE_CMD_TOP_ORDER_H

#include "cmd/top/top.h"

const char *top_order_title(enum top_order order);

/* Sorts the dependencies, those whose name has all words of the filter before
 * the rest. Returns how many have. */
size_t top_order(struct top_state *s, enum top_order by, const char *filter);

/* What more than half of the names begin with: whole words. */
void top_shared(const struct top_state *s, char to[TOP_NAME]);

#endif
