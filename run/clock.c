/* The clocks that the drivers use. */
#include <time.h>

#include "bide/run.h"

int64_t bide_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * BIDE_SECOND + t.tv_nsec;
}

int64_t bide_wall_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / BIDE_MILLISECOND;
}

int64_t bide_wall_s(void)
{
    return (int64_t)time(NULL);
}
