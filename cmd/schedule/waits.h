/* The waits of a policy, one retry after the other. */
#ifndef BIDE_CMD_SCHEDULE_WAITS_H
#define BIDE_CMD_SCHEDULE_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/backoff.h"

/* At most this many retries are listed one by one. */
enum { MOST_RETRIES = 1000000 };

/* One retry, and the range that its wait is drawn from. */
struct wait {
    uint32_t retry;    /* from 1 */
    int64_t value_ns;  /* before jitter */
    int64_t min_ns, mean_ns, max_ns;
    int64_t sum_ns;    /* of the longest waits so far */
    int64_t least_ns;  /* of the shortest waits so far */
};

/* Iterates over the retries of a policy. */
struct waits {
    const bide_backoff *backoff;
    struct wait now;
};

void waits_begin(struct waits *w, const bide_backoff *backoff);
void waits_next(struct waits *w);

/* Whether all later waits are drawn from the same range as this one. */
bool waits_settled(const struct waits *w);

#endif
