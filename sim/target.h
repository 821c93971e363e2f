/* What an attempt is sent to: a service, or a tier that calls on further down.
 *
 * A target answers each request once, later, and never from inside submit():
 * even a refusal takes an event. So nothing is entered twice, however many
 * attempts a policy makes. It does not learn that the sender has given up: the
 * answer then finds nobody, which is what timeouts do to real servers. */
#ifndef BIDE_SIM_TARGET_H
#define BIDE_SIM_TARGET_H

#include "bide/outcome.h"
#include "world.h"

struct sim_request;

struct sim_sender {
    void *self;
    void (*answer)(void *self, struct sim_world *w,
                   const struct sim_request *request, const bide_outcome *out);
};

/* One attempt on its way. */
struct sim_request {
    const struct sim_sender *from;
    uint64_t client, call;           /* the luck's key, with ... */
    uint32_t attempt;                /* ... this */
    uint32_t slot, generation;       /* for the sender to know it again */
};

struct sim_target {
    void *self;
    void (*submit)(void *self, struct sim_world *w,
                   const struct sim_request *request);
};

#endif
