/* The line for a place under limits.in_flight.
 *
 * A place that an exchange of this worker leaves goes to the first here that
 * waits for one of the same dependency. One that is left on another thread is
 * found by looking; the more there are, the less often each looks. */
#include "exchange.h"
#include "state.h"
#include "worker.h"

enum { LOOK_MS = 5, LOOK_AT_ONCE = 100 };

int64_t queue_enter(struct exchange *ex, int64_t at_ns)
{
    struct worker *w = ex->worker;
    if (!ex->queued) {
        ex->queued = true;
        ex->queue_next = NULL;
        ex->queue_prev = w->queue_last;
        *(w->queue_last ? &w->queue_last->queue_next : &w->queue_first) = ex;
        w->queue_last = ex;
        w->n_queued++;
    }
    int64_t rounds = 1 + (int64_t)(w->n_queued / LOOK_AT_ONCE);
    int64_t look = w->loop.now_ns + rounds * LOOK_MS * BIDE_MILLISECOND;
    return at_ns < look ? at_ns : look;
}

void queue_leave(struct exchange *ex)
{
    struct worker *w = ex->worker;
    if (!ex->queued)
        return;
    *(ex->queue_prev ? &ex->queue_prev->queue_next : &w->queue_first) =
        ex->queue_next;
    *(ex->queue_next ? &ex->queue_next->queue_prev : &w->queue_last) =
        ex->queue_prev;
    ex->queued = false;
    w->n_queued--;
}

void queue_offer(struct worker *w, const bide_dep *dep)
{
    struct exchange *ex = w->queue_first;
    while (ex && ex->route->service->dep != dep)
        ex = ex->queue_next;
    if (ex)
        net_timer_set(&w->loop, &ex->timer, w->loop.now_ns);
}
