/* bide top: the queue of a worker, from the values of its metrics to two lines. */
#ifndef BIDE_CMD_TOP_QUEUE_H
#define BIDE_CMD_TOP_QUEUE_H

#include "cmd/top/top.h"

/* `before` is the state before, for rates. */
void top_queue_read(struct top_state *state, const struct bide__node *values,
                    const struct top_state *before);

/* Writes them; nothing if it is no worker. */
void top_queue_show(FILE *out, const struct top_state *s,
                    const struct top_look *look);

#endif
