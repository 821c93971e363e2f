/* queue/hold_clock.h: the clock of message->hold_ns: it goes on while the machine sleeps,
 * as those of the others do.
 *
 *     m->hold_ns = asked_ns + lease_ns;    // asked_ns was hold_clock_ns() */
#ifndef BIDE_QUEUE_HOLD_CLOCK_H
#define BIDE_QUEUE_HOLD_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t hold_clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

#endif
