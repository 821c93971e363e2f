/* A service: workers, a queue in front of them, and faults on a timetable.
 *
 *     struct sim_service service = { .workers = 30,
 *         .time = sim_exponential(100e6), .queue = SIM_UNBOUNDED };
 *     sim_service_init(&service);
 *     caller.target = &service.target;
 *
 * First come, first served. A request that finds all workers busy waits; one that
 * finds the queue full is refused at once. Work that its client no longer waits
 * for is done all the same. Threads: owned. */
#ifndef BIDE_SIM_SERVICE_H
#define BIDE_SIM_SERVICE_H

#include "dist.h"
#include "target.h"

#define SIM_UNBOUNDED UINT32_MAX

enum sim_fault_kind {
    SIM_STOP, /* no work is begun; what is in hand is finished */
    SIM_SLOW, /* work that is begun takes `factor` times as long */
    SIM_FAIL  /* an answer is an error with probability `factor` */
};

struct sim_fault {
    enum sim_fault_kind kind;
    int64_t from_ns, to_ns;
    double factor;
};

struct sim_service {
    /* as the model wants it */
    uint32_t part;           /* its number among the parts, for its luck */
    uint32_t workers;        /* or SIM_UNBOUNDED */
    uint32_t queue;          /* places in it, or SIM_UNBOUNDED */
    struct sim_dist time;    /* that a worker takes */
    double error_rate;       /* of answers; BIDE_TRANSIENT */
    const struct sim_fault *faults;
    uint32_t n_faults;

    /* as it stands */
    struct sim_target target;
    struct sim_actor actor;
    uint32_t busy;
    struct sim_request *waiting; /* a ring of a power of 2 */
    uint32_t first, n_waiting, room;
    struct sim_request *work;    /* in hand, or refused; by its number */
    uint32_t *free;              /* numbers of `work` not in use */
    uint32_t n_work, n_free, work_room, free_room;

    /* as it went */
    uint64_t arrived, waited, refused, finished;
};

void sim_service_init(struct sim_service *s, struct sim_world *w);
void sim_service_done(struct sim_service *s);

#endif
