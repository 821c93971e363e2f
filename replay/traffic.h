/* The results of a log run through a policy: totals, and a row for each
 * minute. */
#ifndef BIDE_REPLAY_TRAFFIC_H
#define BIDE_REPLAY_TRAFFIC_H

#include "replay/driver.h"
#include "replay/log.h"
#include "replay/print.h"

struct minute {
    int64_t at_ns; /* since 1970 */
    uint64_t calls;
    uint64_t failed; /* of those, in the log */
    uint64_t attempts;
    uint64_t rescued; /* failed in the log, and would have succeeded */
    uint64_t refused; /* before the first attempt */
};

struct open_time {
    int64_t from_ns, until_ns; /* of the run */
};

/* Threads: owned. */
struct traffic {
    struct replay replay;
    struct replay_printer *printer;
    int64_t origin_ns; /* the time of the first line */
    bool no_memory;

    uint64_t failed;  /* calls whose line in the log is a failure */
    uint64_t retried; /* calls that made a second attempt */
    uint64_t rescued;
    uint64_t refused[BIDE_N_REASONS];  /* before the first attempt */
    uint64_t refused_good;             /* of those, fine in the log */
    uint64_t given_up[BIDE_N_REASONS]; /* after a failure */

    struct minute *minutes;
    size_t n_minutes, minutes_capacity;
    struct open_time *open;
    size_t n_open, open_capacity;
};

/* The row of the minute of a time since 1970. NULL: no memory. */
struct minute *traffic_minute(struct traffic *t, int64_t at_ns);

/* The breaker is open during this time. */
void traffic_open(struct traffic *t, int64_t from_ns, int64_t until_ns);

void traffic_print(const struct traffic *t, const struct replay_log *log);
void traffic_done(struct traffic *t);

#endif
