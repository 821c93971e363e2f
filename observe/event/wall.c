/* The offset between the monotonic clock and the time of day. */
#include "observe/event/wall.h"

#include <time.h>

#include "bide/run.h"

int64_t bide__wall_offset_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * BIDE_SECOND + t.tv_nsec - bide_now_ns();
}

int64_t bide__wall_follow(int64_t before_ns, int64_t now_ns)
{
    int64_t apart = now_ns - before_ns;
    return apart > -BIDE_SECOND && apart < BIDE_SECOND ? before_ns : now_ns;
}
