/* How well a dependency is, in one word and a few: what the dashboard and `bide
 * top` list first, and why.
 *
 *     struct bide__condition h = bide__condition_of(&view, &observed->deps[0]);
 *     printf("%s: %s\n", bide__mood_name(h.mood), h.why);   // bad: breaker open
 *
 * It is judged over the last ten seconds, and by a few calls rather than one: a
 * dependency that is called once a second is not in trouble for one failure. */
#ifndef BIDE_OBSERVE_ADMIN_CONDITION_H
#define BIDE_OBSERVE_ADMIN_CONDITION_H

#include "observe/admin/view.h"

/* X(name, key), the best first. */
#define BIDE__MOODS(X)                                                         \
    X(BIDE__MOOD_IDLE, "idle") /* nothing calls it */                          \
    X(BIDE__MOOD_GOOD, "good")                                                 \
    X(BIDE__MOOD_WARN, "warn") /* worth a look */                              \
    X(BIDE__MOOD_BAD, "bad")   /* its callers notice */

enum bide__mood {
#define X(name, key) name,
    BIDE__MOODS(X)
#undef X
};

/* Threads: owned. */
struct bide__condition {
    enum bide__mood mood;
    char why[48]; /* "breaker open"; "" unless it is bad or worth a look */
};

struct bide__condition bide__condition_of(const struct bide__view *view,
                                          const struct bide__observed_dep *dep);
const char *bide__mood_name(enum bide__mood mood);

#endif
