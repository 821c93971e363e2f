/* bide top: reads the JSON. */
#ifndef BIDE_CMD_TOP_STATE_H
#define BIDE_CMD_TOP_STATE_H

#include "cmd/top/top.h"

/* Reads a state into one that is all zero, or was read before. False, and
 * `why`, if it is invalid: then the one before stays. */
bool top_state_read(struct top_state *state, const char *text, size_t len,
                    const char *dep, char *why, size_t size);
void top_state_done(struct top_state *state);

/* Members of a map that may be anything: a number, `none` if it is missing or
 * none; a text without what could control a terminal. */
const struct bide__node *top_get(const struct bide__node *map, const char *key);
double top_number(const struct bide__node *map, const char *key, double none);
void top_text(const struct bide__node *map, const char *key, char *to,
              size_t size);
size_t top_items(const struct bide__node *list); /* 0 if it is none */

/* Reads one decision. */
void top_decision_read(struct top_decision *d, const struct bide__node *n);

#endif
