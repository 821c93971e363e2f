/* bide demo: the timetable, and the four policies. */
#ifndef BIDE_CMD_DEMO_PLAN_H
#define BIDE_CMD_DEMO_PLAN_H

#include <stdint.h>

#include "bide/policy.h"

enum {
    DEMO_FLEETS = 4,
    DEMO_SECONDS = 30, /* the full timetable */
    DEMO_SHORTEST = 4, /* seconds: under that there are too few clients left */
    DEMO_LONGEST = 3600,
    DEMO_WORKERS = 8,
    DEMO_SERVICE_MS = 40, /* a worker's time for a request, on average */
    DEMO_CAPACITY = DEMO_WORKERS * 1000 / DEMO_SERVICE_MS, /* requests/s */
};

/* What happens to the origin, in this order, repeatedly. */
enum demo_phase { DEMO_HEALTHY, DEMO_HANGS, DEMO_ERRORS, DEMO_LOADS };

/* A run of under 30 s is scaled down: shorter times and, in proportion, fewer
 * clients and shorter queues, so that rates and curves keep their shape. A
 * longer run only has a longer end. Threads: immutable. */
struct demo_plan {
    double scale;      /* 1, or less for a short run */
    int64_t length_ns; /* of the timetable; with --keep it repeats */
    int64_t hangs_ns, errors_ns, loads_ns, healthy_ns; /* when these begin */
    int64_t think_ns; /* between two calls of a client, on average */
    unsigned clients; /* of each fleet */
    unsigned queue;   /* length of an origin's queue */
};

void demo_plan_init(struct demo_plan *plan, double seconds);

/* What the origin does at a time after the start, and when that changes. */
enum demo_phase demo_phase_at(const struct demo_plan *plan, int64_t at_ns);
int64_t demo_next_phase(const struct demo_plan *plan, int64_t at_ns);

/* "errors", and in plain words what it does then. */
const char *demo_phase_name(enum demo_phase phase);
const char *demo_phase_text(enum demo_phase phase);

/* The name of fleet i, and what it does, in a few words. */
const char *demo_fleet_name(unsigned i);
const char *demo_fleet_text(unsigned i);
void demo_policy(bide_policy_conf *conf, unsigned fleet,
                 const struct demo_plan *plan);

#endif
