/* bide demo: counters in slots of a tenth of a second. */
#ifndef BIDE_CMD_DEMO_TALLY_H
#define BIDE_CMD_DEMO_TALLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/policy.h"

#define DEMO_SLOT_NS (100 * BIDE_MILLISECOND)

enum demo_count {
    DEMO_BEGUN,   /* calls */
    DEMO_SENT,    /* attempts of those */
    DEMO_ARRIVED, /* requests, as the origin saw them */
    DEMO_GOOD,    /* calls that succeeded */
    DEMO_FAILED,  /* calls that did not */
    DEMO_COUNTS
};

struct demo_slot {
    _Atomic uint32_t n[DEMO_COUNTS];
};

/* Counts by slot; events after the last slot are not counted.
 * Threads: shared. */
struct demo_tally {
    int64_t start_ns;
    size_t n_slots;
    struct demo_slot *slots;
};

bool demo_tally_init(struct demo_tally *t, int64_t start_ns, int64_t length_ns);
void demo_tally_done(struct demo_tally *t);
void demo_tally_add(struct demo_tally *t, enum demo_count what, int64_t now_ns);

/* The number of events in slots `from` up to but not including `to`; and the
 * same per second, on average. */
uint64_t demo_tally_sum(const struct demo_tally *t, enum demo_count what,
                        size_t from, size_t to);
double demo_tally_rate(const struct demo_tally *t, enum demo_count what,
                       size_t from, size_t to);

#endif
