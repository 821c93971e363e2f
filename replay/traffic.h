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

/* For pictures: the log in steps of equal length, by the begin of calls. */
enum { TRAFFIC_STEPS_MAX = 240 };
struct step {
    uint64_t calls, failed, attempts;
    uint64_t lost; /* calls that failed under the policy */
};

/* Threads: owned. */
struct traffic {
    struct replay replay;
    struct replay_printer *printer;
    const char *name;  /* of the policy; or NULL */
    int64_t origin_ns; /* the time of the first line */
    int64_t end_ns;    /* of the run, since its begin */
    bool no_memory;
    bide_stats stats; /* at the end */

    uint64_t failed;  /* calls whose line in the log is a failure */
    uint64_t lost;    /* calls that failed under the policy */
    uint64_t newly;   /* of those, fine in the log */
    uint64_t retried; /* calls that made a second attempt */
    uint64_t rescued;
    uint64_t refused[BIDE_N_REASONS];  /* before the first attempt */
    uint64_t refused_good;             /* of those, fine in the log */
    uint64_t given_up[BIDE_N_REASONS]; /* after a failure */

    struct minute *minutes;
    size_t n_minutes, minutes_capacity;
    struct open_time *open;
    size_t n_open, open_capacity;
    struct step steps[TRAFFIC_STEPS_MAX];
    size_t n_steps;
    int64_t step_ns;
};

/* Runs a log through a policy. 0, or an error as of replay_run_log();
 * traffic_done() in any case. */
int traffic_run(struct traffic *ret, const struct replay_log *log,
                const struct replay_settings *settings,
                struct replay_printer *printer);

/* The row of the minute of a time since 1970. NULL: no memory. */
struct minute *traffic_minute(struct traffic *t, int64_t at_ns);

/* The breaker is open during this time. */
void traffic_open(struct traffic *t, int64_t from_ns, int64_t until_ns);

/* Divides the log into steps; the step of a time since its begin. */
void traffic_divide(struct traffic *t, int64_t length_ns);
struct step *traffic_step(struct traffic *t, int64_t at_ns);

/* Attempts beyond the calls, as a share of the calls. */
double traffic_extra(uint64_t attempts, uint64_t calls);

/* How long the breaker was open, in all. */
int64_t traffic_open_time(const struct traffic *t);

/* What the numbers rest on. */
extern const char traffic_assumes[];

void traffic_print(const struct traffic *t, const struct replay_log *log);
void traffic_done(struct traffic *t);

#endif
