/* Promises: places that a service has assigned, to whom and for when.
 *
 *     sim_promise(&list, name, now, now + BIDE_SECOND);  // "come back then"
 *     int64_t at = sim_promise_find(&list, name);  // -1: nothing was promised
 *     sim_promise_keep(&list, name);               // it came, and was let in
 *     uint32_t n = sim_promises_lapse(&list, now); // these did not come
 *
 * They are made in the order of their times. Whoever was told to wait has an
 * eighth of that on top, and a second, to come: the wait that a client
 * makes is never shorter than what it was told, and a little longer. All zero is
 * an empty list. Threads: owned. */
#ifndef BIDE_SIM_MODEL_PROMISES_H
#define BIDE_SIM_MODEL_PROMISES_H

#include <stdint.h>

struct sim_promised {
    uint64_t name; /* 0: kept */
    int64_t at_ns, until_ns;
};

struct sim_promises {
    struct sim_promised *ring; /* of a power of 2 */
    uint32_t first, n, room;
};

void sim_promises_done(struct sim_promises *p);

/* To a name that is not 0. */
void sim_promise(struct sim_promises *p, uint64_t name, int64_t now,
                 int64_t at_ns);

/* For when something was promised to a name; -1: nothing was. */
int64_t sim_promise_find(const struct sim_promises *p, uint64_t name);

void sim_promise_keep(struct sim_promises *p, uint64_t name);

/* How many may be claimed now; and when the last one may, 0 if there is none. */
uint32_t sim_promises_due(const struct sim_promises *p, int64_t now);
int64_t sim_promises_last(const struct sim_promises *p);

/* Drops those that nobody came for, and returns how many. */
uint32_t sim_promises_lapse(struct sim_promises *p, int64_t now);

#endif
