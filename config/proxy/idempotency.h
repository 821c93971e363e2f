/* config/proxy/idempotency.h: what `idempotency:` of a route says: which
 * requests are done once, and what is kept of their answers.
 *
 *   idempotency: { accept: required, keep: 24h, on_unknown: refuse }
 *
 * A route without it has accept off, and nothing of this applies. */
#ifndef BIDE_CONFIG_PROXY_IDEMPOTENCY_H
#define BIDE_CONFIG_PROXY_IDEMPOTENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/policy.h"

struct bide__load;
struct bide__node;
struct bide__proxy_route;

/* Whether requests carry a key. `optional`: those that do are done once. */
enum bide__accept {
    BIDE__ACCEPT_OFF,
    BIDE__ACCEPT_OPTIONAL,
    BIDE__ACCEPT_REQUIRED
};

/* What is done with a key whose first request was lost on the way, and with an
 * origin's 500, 502 and 504. */
enum bide__on_unknown {
    BIDE__UNKNOWN_REFUSE, /* nobody knows: no second effect */
    BIDE__UNKNOWN_RETRY   /* the origin knows the key: it may be sent again */
};

/* What is done with a request while its key cannot be claimed. */
enum bide__on_store_failure {
    BIDE__STORE_FAILURE_REFUSE,
    BIDE__STORE_FAILURE_PASS
};

enum { BIDE__RELEASE_WORDS = 10 }; /* a bit for each of the statuses to 639 */

/* Threads: immutable. */
struct bide__proxy_idempotency {
    enum bide__accept accept;   /* off */
    const char *const *methods; /* the others pass; POST, PATCH */
    size_t n_methods;
    const char *caller; /* the field that says who asks; NULL: a record is bound
                           to Authorization, or Cookie, of the first request */
    int64_t keep_ns;    /* an answer is kept so long; 1 s .. 400 d; 24 h */
    int64_t lease_ns;   /* a claim of an owner that is gone ends after it; 1 s ..
                           1 h; 30 s */
    uint32_t max_body;  /* of a request, and of an answer that is kept; 1 KiB ..
                           16 MiB; 1 MiB */
    uint64_t release[BIDE__RELEASE_WORDS]; /* answers after which nothing was
                           done; 401, 403, 407, 408, 425, 429, 503 */
    enum bide__on_unknown on_unknown;             /* refuse */
    enum bide__on_store_failure on_store_failure; /* refuse */
};

extern const char *const bide__default_methods[2];

#define BIDE__RELEASE_BIT(status) (UINT64_C(1) << ((status) % 64))

#define BIDE__PROXY_IDEMPOTENCY_INIT                                           \
    {                                                                          \
        .methods = bide__default_methods,                                      \
        .n_methods = 2,                                                        \
        .keep_ns = 24 * 3600 * BIDE_SECOND,                                    \
        .lease_ns = 30 * BIDE_SECOND,                                          \
        .max_body = 1 << 20,                                                   \
        .release = { [401 / 64] = BIDE__RELEASE_BIT(401) |                     \
                                  BIDE__RELEASE_BIT(403) |                     \
                                  BIDE__RELEASE_BIT(407) |                     \
                                  BIDE__RELEASE_BIT(408) |                     \
                                  BIDE__RELEASE_BIT(425) |                     \
                                  BIDE__RELEASE_BIT(429),                      \
                     [503 / 64] = BIDE__RELEASE_BIT(503) },                    \
    }

/* Checks it, in the map of a route, against the route's policy. */
void bide__check_idempotency(struct bide__load *load,
                             const struct bide__node *map,
                             const struct bide__proxy_route *route);

/* Whether an origin that answers this has done nothing, so that the next use of
 * the key is a first one. */
static inline bool bide__releases(const struct bide__proxy_idempotency *conf,
                                  unsigned status)
{
    if (conf->on_unknown == BIDE__UNKNOWN_RETRY &&
        (status == 500 || status == 502 || status == 504))
        return true;
    return status / 64 < BIDE__RELEASE_WORDS &&
           (conf->release[status / 64] & BIDE__RELEASE_BIT(status)) != 0;
}

#endif
