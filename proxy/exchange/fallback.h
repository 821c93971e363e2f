/* proxy/exchange/fallback.h: the response when the policy has given up; copies
 * of responses, for that (copy.c). */
#ifndef BIDE_PROXY_EXCHANGE_FALLBACK_H
#define BIDE_PROXY_EXCHANGE_FALLBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "bide/bide.h"

struct attempt;
struct exchange;
struct route;

enum fallback_kind {
    FALLBACK_NONE,
    FALLBACK_STATIC,
    FALLBACK_STALE,
    FALLBACK_UPSTREAM
};

/* "static"; NULL for none. */
const char *fallback_name(enum fallback_kind kind);

/* The call is over, and this (may be NULL) would be its response. True: there
 * is another, or one has been requested; then `winner` may be gone. */
bool fallback_take(struct exchange *ex, const bide_decision *d,
                   struct attempt *winner);

/* ===== copy.c ===== */

/* The head of a good answer is there; then pieces of its body; then it ends. */
void copy_begin(struct attempt *a);
void copy_add(struct attempt *a, const char *data, size_t len);
void copy_end(struct attempt *a);

/* Responds with a copy, if there is a suitable one. */
bool copy_give(struct exchange *ex, const struct route *r,
               const bide_decision *d);

/* There is a response with this status: copies may now be invalid. */
void copy_forget(struct exchange *ex, int status);

#endif
