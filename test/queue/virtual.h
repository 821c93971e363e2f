/* test/queue/virtual.h: workers on a clock that moves only when nobody has anything to
 * do, so that hours take seconds. The real worker, pool and broker run; bide_now_ns()
 * and ppoll() are replaced when the test is linked (--wrap).
 *
 *     int64_t begin = virtual_now();
 *     conf.clock_ns = virtual_clock;            // the broker's
 *     virtual_run(workers, 2);                  // until each has ended
 *     ...
 *     virtual_sleep(job, 3 * BIDE_HOUR);        // in a handler
 *     virtual_at(begin + BIDE_HOUR, fn, arg);   // before: called at that time
 *
 * Time moves to the next moment that anybody waits for, when every worker waits, none
 * of its descriptors is readable, and every handler that runs is asleep. */
#ifndef BIDE_TEST_QUEUE_VIRTUAL_H
#define BIDE_TEST_QUEUE_VIRTUAL_H

#include "queue/handler.h"
#include "queue/worker.h"

#define BIDE_HOUR (60 * BIDE_MINUTE)

enum { VIRTUAL_WORKERS = 4 };

int64_t virtual_now(void);
int64_t virtual_clock(void *arg);

/* Sleeps, in a handler; ends early if the job is stopped. */
void virtual_sleep(const struct queue_job *job, int64_t ns);

/* Calls fn when the time has come, on the thread of a worker that waits. One at a
 * time may be planned. */
void virtual_at(int64_t at_ns, void (*fn)(void *arg), void *arg);

/* Runs each worker on a thread of its own, until it ends. */
void virtual_run(struct queue_worker *const *workers, size_t n);

#endif
