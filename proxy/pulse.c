/* Finds workers that are stuck, by the iterations of their loops. */
#include "proxy/pulse.h"

#include <stdlib.h>

#include "bide/run.h"
#include "proxy/back/endpoint.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

#define SHORTEST_NS (100 * BIDE_MILLISECOND) /* between two polls that count */
#define LONGEST_NS  BIDE_SECOND /* between two: the program was stopped */

bool pulse_init(struct pulse *p, unsigned n_workers)
{
    pthread_mutex_init(&p->lock, NULL);
    p->of = calloc(n_workers, sizeof *p->of);
    return p->of != NULL;
}

void pulse_done(struct pulse *p)
{
    pthread_mutex_destroy(&p->lock);
    free(p->of);
}

static void look_at(struct beat *b, struct worker *w, int64_t passed_ns)
{
    uint64_t turns = counted(&w->turns);

    if (turns != b->turns || atomic_load(&w->ended)) {
        *b = (struct beat){ .turns = turns };
        return;
    }
    if (b->woken)
        b->silent_ns += passed_ns;
    b->woken = true;
    net_loop_wake(&w->loop);
}

static void look(struct pulse *p, struct proxy *proxy)
{
    int64_t now = bide_now_ns(), passed = now - p->looked_ns;

    if (passed < SHORTEST_NS)
        return;
    p->looked_ns = now;
    for (unsigned i = 0; i < proxy->n_workers && proxy->workers[i]; i++)
        look_at(&p->of[i], proxy->workers[i],
                passed < LONGEST_NS ? passed : LONGEST_NS);
}

struct pulse_view pulse_look(struct pulse *p, struct proxy *proxy)
{
    struct pulse_view v = { 0 };

    pthread_mutex_lock(&p->lock);
    look(p, proxy);
    for (unsigned i = proxy->n_workers; i-- > 0;) {
        if (p->of[i].silent_ns > v.silent_ns)
            v.silent_ns = p->of[i].silent_ns;
        if (p->of[i].silent_ns < PULSE_STUCK_NS)
            continue;
        v.n_stuck++;
        v.first = i;
    }
    pthread_mutex_unlock(&p->lock);
    return v;
}
