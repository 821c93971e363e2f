/* Printing the answer of `bide explain`: facts.c says what each rule looked at,
 * show.c prints it. */
#ifndef BIDE_CMD_EXPLAIN_SHOW_H
#define BIDE_CMD_EXPLAIN_SHOW_H

#include <stdbool.h>
#include <stddef.h>

#include "bide/call.h"

struct answer;
struct situation;

/* Writes what a rule looked at, "2 of 4 used", into `buffer`. */
const char *explain_fact(const struct situation *s, const struct answer *a,
                         bide_reason rule, char *buffer, size_t size);

/* Calls `each` for the rules in their order, up to the one that decided. */
void explain_rules(const struct situation *s, const struct answer *a,
                   void (*each)(void *ctx, const char *rule, bool applies,
                                const char *fact),
                   void *ctx);

void explain_print(const struct situation *s, const struct answer *a);
void explain_json(const struct situation *s, const struct answer *a);

#endif
