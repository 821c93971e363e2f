/* proxy/exchange/queue.h: exchanges that wait for a place under limits.in_flight. */
#ifndef BIDE_PROXY_EXCHANGE_QUEUE_H
#define BIDE_PROXY_EXCHANGE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/bide.h"

struct exchange;
struct worker;

/* One queue for each priority that may wait at all: from normal on. Whoever
 * comes first is served first. */
enum { N_QUEUES = 4 };

/* Waits for a place under limits.in_flight: asks again at the returned time, or
 * when another exchange of this worker releases a place. */
int64_t queue_enter(struct exchange *ex, int64_t at_ns);
void queue_leave(struct exchange *ex);
void queue_offer(struct worker *w, const bide_dep *dep);

/* Whether it yields to another, before it in the queue or of a higher priority,
 * that waits for the same; then it polls again later. */
bool queue_yields(struct exchange *ex);

#endif
