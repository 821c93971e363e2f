/* What a retry or a hedge costs, and who pays: the budget of the dependency, and
 * for hedges their ceiling too. */
#ifndef BIDE_LIB_TICKET_H
#define BIDE_LIB_TICKET_H

#include "lib/call.h"

/* Pays for a retry or a hedge, and undoes the payment. */
bool bide__ticket_take(struct bide__call *c, int64_t now);

/* Whether the call itself has had its share of the budget: waiting would not
 * help. */
bool bide__share_spent(const struct bide__call *c, int64_t now);
void bide__ticket_give_back(struct bide__call *c);

#endif
