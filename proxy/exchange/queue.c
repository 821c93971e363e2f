/* The queues for a place under limits.in_flight, one for each priority.
 *
 * A place that an exchange of this worker releases goes to the first here that
 * waits for one of the same dependency, of those with the highest priority. A
 * place that is released on another thread is found by polling; the more there
 * are, the less often each polls. */
#include "proxy/exchange/queue.h"

#include "proxy/back/service.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/route.h"
#include "proxy/worker.h"

enum { LOOK_MS = 5, LOOK_AT_ONCE = 100 };

/* Those below normal are refused, and never wait. */
static struct bide__list *queue_of(const struct exchange *ex)
{
    int priority = ex->op.priority < 0 ? 0 : ex->op.priority;
    return &ex->worker->queues[priority < N_QUEUES ? priority : N_QUEUES - 1];
}

static bool is_queued(const struct exchange *ex)
{
    return bide__list_has(&ex->queue);
}

static int64_t next_look(const struct worker *w)
{
    int64_t rounds = 1 + (int64_t)(w->n_queued / LOOK_AT_ONCE);
    return w->loop.now_ns + rounds * LOOK_MS * BIDE_MILLISECOND;
}

int64_t queue_enter(struct exchange *ex, int64_t at_ns)
{
    struct worker *w = ex->worker;
    if (!is_queued(ex)) {
        bide__list_append(queue_of(ex), &ex->queue);
        w->n_queued++;
    }
    ex->queue_until_ns = at_ns;
    return at_ns < next_look(w) ? at_ns : next_look(w);
}

void queue_leave(struct exchange *ex)
{
    if (!is_queued(ex))
        return;
    bide__list_remove(&ex->queue);
    ex->worker->n_queued--;
}

/* The first of those with a priority of at least `least`. */
static struct exchange *first_for(const struct worker *w, const bide_dep *dep,
                                  int least)
{
    for (int i = N_QUEUES; i-- > least;) {
        const struct bide__list *q = &w->queues[i];
        for (struct bide__list *at = q->next; at != q; at = at->next) {
            struct exchange *ex =
                bide__container_of(at, struct exchange, queue);
            if (ex->route->service->dep == dep)
                return ex;
        }
    }
    return NULL;
}

void queue_offer(struct worker *w, const bide_dep *dep)
{
    struct exchange *ex = first_for(w, dep, 0);
    if (ex)
        net_timer_set(&w->loop, &ex->timer, w->loop.now_ns);
}

bool queue_yields(struct exchange *ex)
{
    struct worker *w = ex->worker;
    int least = (int)(queue_of(ex) - w->queues);
    if (!is_queued(ex) || w->loop.now_ns >= ex->queue_until_ns ||
        first_for(w, ex->route->service->dep, least) == ex)
        return false;
    net_timer_set(&w->loop, &ex->timer, queue_enter(ex, ex->queue_until_ns));
    return true;
}
