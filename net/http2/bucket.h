/* net/http2/bucket.h: limits over time.
 *
 * A token bucket is one number, the time at which it will be full again: each
 * token that is taken moves that on by an interval, and there is none left if
 * it is a whole burst away. (The generic cell rate algorithm.) */
#ifndef BIDE_NET_HTTP2_BUCKET_H
#define BIDE_NET_HTTP2_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

/* Takes a token of `burst`, which come back one an interval. False: none left. */
static inline bool http2__take(int64_t *full_ns, uint32_t burst,
                               int64_t interval_ns, int64_t now_ns)
{
    int64_t full = *full_ns > now_ns ? *full_ns : now_ns;

    if (full - now_ns > ((int64_t)burst - 1) * interval_ns)
        return false;
    *full_ns = full + interval_ns;
    return true;
}

#endif
