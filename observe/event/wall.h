/* The time of day of events measured on a monotonic clock.
 *
 *     int64_t offset = bide__wall_offset_ns();
 *     ...
 *     offset = bide__wall_follow(offset, bide__wall_offset_ns());
 *     int64_t wall_ns = event_ns + offset;          // since 1970
 *
 * If the machine sleeps, or its clock is set, the two drift apart: a
 * long-running program has to check again. Not each time, though: the same
 * moment should always map to the same time, and the two clocks are never read
 * at exactly the same moment. */
#ifndef BIDE_OBSERVE_EVENT_WALL_H
#define BIDE_OBSERVE_EVENT_WALL_H

#include <stdint.h>

/* Nanoseconds since 1970 minus monotonic ones, now. */
int64_t bide__wall_offset_ns(void);

/* The offset to use: the previous one, unless the clocks are now a second
 * apart. */
int64_t bide__wall_follow(int64_t before_ns, int64_t now_ns);

#endif
