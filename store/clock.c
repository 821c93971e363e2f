/* A clock that never goes back. */
#include "store/clock.h"

#include <time.h>

#include "bide/policy.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * BIDE_SECOND + t.tv_nsec;
}

void bide__store_clock_init(struct bide__store_clock *clock,
                            const struct bide__store_setup *setup,
                            int64_t last_ns)
{
    int64_t wall = read_clock(CLOCK_REALTIME);
    *clock = (struct bide__store_clock){ .now_ns = setup->now_ns,
                                         .ctx = setup->now_ctx };
    clock->ahead_ns =
        (wall > last_ns ? wall : last_ns) - read_clock(CLOCK_BOOTTIME);
}

int64_t bide__store_clock_now(struct bide__store_clock *clock, int64_t last_ns)
{
    if (clock->now_ns) {
        int64_t now = clock->now_ns(clock->ctx);
        return now > last_ns ? now : last_ns;
    }
    int64_t now = read_clock(CLOCK_BOOTTIME) + clock->ahead_ns;
    if (now < last_ns) { /* another process is ahead of us: go on from there */
        clock->ahead_ns += last_ns - now;
        now = last_ns;
    }
    return now;
}
