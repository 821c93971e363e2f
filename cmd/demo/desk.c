/* How an origin processes requests: eight workers, a queue before them, and 503
 * when that is full. A worker is a timer: it takes time, like a worker that
 * waits for a disk or a database, but uses no CPU. */
#include "cmd/demo/desk.h"

#include <stddef.h>
#include <stdlib.h>

#include "cmd/demo/servers.h"

bool demo_desk_init(struct demo_desk *d, struct net_loop *loop, unsigned size,
                    uint64_t seed)
{
    d->loop = loop;
    d->size = size;
    d->rng = bide_rng_seed(&d->luck, seed);
    d->queue = calloc(size, sizeof *d->queue);
    return d->queue != NULL;
}

void demo_desk_done(struct demo_desk *d)
{
    free(d->queue);
    d->queue = NULL;
}

/* From half the usual time to one and a half. */
static int64_t service_ns(struct demo_desk *d)
{
    const int64_t usual = DEMO_SERVICE_MS * BIDE_MILLISECOND;
    return bide_rng_between(&d->rng, usual / 2, usual + usual / 2);
}

static void worked(struct net_timer *timer)
{
    struct demo_worker *w = (struct demo_worker *)timer;
    struct demo_desk *d = w->desk;
    struct http_conn *c = w->request;

    if (d->phase == DEMO_HANGS)
        return; /* it never finishes: the crash discards it */
    w->request = NULL;
    d->busy--;
    demo_answer(c, 200);
    demo_desk_open(d);
}

static void begin(struct demo_desk *d, struct http_conn *c)
{
    struct demo_worker *w = d->workers;

    while (w->request)
        w++;
    d->busy++;
    w->desk = d;
    w->request = c;
    w->timer.fire = worked;
    net_timer_set(d->loop, &w->timer, d->loop->now_ns + service_ns(d));
}

void demo_desk_take(struct demo_desk *d, struct http_conn *c)
{
    if (d->phase == DEMO_ERRORS || d->queued == d->size) {
        demo_answer(c, 503);
    } else if (d->phase == DEMO_HEALTHY && d->busy < DEMO_WORKERS) {
        begin(d, c);
    } else {
        d->queue[(d->first + d->queued) % d->size] = c;
        d->queued++;
    }
}

void demo_desk_open(struct demo_desk *d)
{
    while (d->phase == DEMO_HEALTHY && d->busy < DEMO_WORKERS && d->queued) {
        struct http_conn *c = d->queue[d->first];
        d->first = (d->first + 1) % d->size;
        d->queued--;
        begin(d, c);
    }
}

void demo_desk_clear(struct demo_desk *d)
{
    for (unsigned i = 0; i < DEMO_WORKERS; i++) {
        net_timer_cancel(d->loop, &d->workers[i].timer);
        d->workers[i].request = NULL;
    }
    d->busy = d->queued = 0;
}
