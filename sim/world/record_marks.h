/* Marks: the outcome of each attempt of some clients, for timelines.
 *
 *     struct sim_marks marks = { .fleet = 0, .clients = 12, .stride = 1 };
 *     sim_marks_sent(&marks, slot, client, attempt, now);
 *     sim_marks_ended(&marks, slot, attempt, SIM_MARK_OK, now);
 *     sim_marks_done(&marks, slot, client, attempts, reason, now);
 *
 * The sample is clients spread evenly over the fleet: those with low numbers
 * may always be the first in a queue. A call is identified by its slot while it
 * is in progress. Threads: owned. */
#ifndef BIDE_SIM_WORLD_RECORD_MARKS_H
#define BIDE_SIM_WORLD_RECORD_MARKS_H

#include "sim/world/result.h"

/* A call of the sample that is in progress. */
struct sim_marked_call {
    uint32_t slot, client, call;
    uint32_t newest; /* its latest finished mark; UINT32_MAX: none */
};

/* A running attempt. */
struct sim_open_mark {
    uint32_t slot, attempt;
    int64_t from_ns;
};

struct sim_marks {
    uint32_t fleet;
    uint32_t clients;   /* sampled: 0, stride, 2 * stride ... */
    uint32_t stride;    /* at least 1 */

    uint32_t *n_calls;  /* so far, of each of them */
    struct sim_marked_call *calls;
    struct sim_open_mark *open;
    struct sim_mark *list;
    uint32_t n_in_progress, calls_room, n_open, open_room, n, room;
};

void sim_marks_free(struct sim_marks *m);

/* Whether a client is in the sample. */
static inline bool sim_marks_has(const struct sim_marks *m, uint64_t client)
{
    return client % m->stride == 0 && client / m->stride < m->clients;
}

void sim_marks_sent(struct sim_marks *m, uint32_t slot, uint64_t client,
                    uint32_t attempt, int64_t now);
void sim_marks_ended(struct sim_marks *m, uint32_t slot, uint32_t attempt,
                     enum sim_mark_kind kind, int64_t now);

/* The call is over, after so many attempts. Those still running have lost. */
void sim_marks_done(struct sim_marks *m, uint32_t slot, uint64_t client,
                    uint32_t attempts, bide_reason reason, int64_t now);

/* The run is over: what is still running is left open. */
void sim_marks_close(struct sim_marks *m, int64_t now);

#endif
