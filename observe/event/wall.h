/* Times of day for what was measured on a monotonic clock.
 *
 *     int64_t offset = bide__wall_offset_ns();
 *     ...
 *     offset = bide__wall_follow(offset, bide__wall_offset_ns());
 *     int64_t wall_ns = event_ns + offset;          // since 1970
 *
 * Where a machine sleeps, or its clock is set, the two drift apart: whoever runs
 * for long has to look again. Not at each time, though: the same moment should
 * be told the same way twice, and the two are never read at quite the same. */
#ifndef BIDE_OBSERVE_EVENT_WALL_H
#define BIDE_OBSERVE_EVENT_WALL_H

#include <stdint.h>

/* Nanoseconds since 1970 less monotonic ones, as they are now. */
int64_t bide__wall_offset_ns(void);

/* The offset to go by: that of before, unless the clocks are a second apart by
 * now. */
int64_t bide__wall_follow(int64_t before_ns, int64_t now_ns);

#endif
