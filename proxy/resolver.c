/* The thread that asks name servers. */
#include "resolver.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "proxy.h"
#include "resolve.h"
#include "state.h"

enum { EVERY_S = 30, SOON_S = 1 };

struct resolver {
    struct proxy *proxy;
    pthread_t thread;
    pthread_mutex_t lock; /* of the two below */
    pthread_cond_t told;
    bool over, again;
};

/* Asks for all names once: true if one has no address at all. */
static bool ask_all(struct resolver *r)
{
    struct state *s = proxy_state(r->proxy);
    bool missing = false;
    for (size_t i = 0; i < s->n_upstreams; i++)
        for (unsigned e = 0; e < s->upstreams[i]->n_endpoints; e++) {
            struct endpoint *ep = &s->upstreams[i]->endpoints[e];
            const char *why;
            if (!net_is_address(ep->host))
                endpoint_resolve(ep, &why);
            missing = missing || !atomic_load(&ep->addresses);
        }
    state_unref(s);
    return missing;
}

/* Until it is time, or told so; false: it is over. */
static bool sleep_for(struct resolver *r, int seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    pthread_mutex_lock(&r->lock);
    while (!r->over && !r->again)
        if (pthread_cond_timedwait(&r->told, &r->lock, &until) != 0)
            break;
    r->again = false;
    bool over = r->over;
    pthread_mutex_unlock(&r->lock);
    return !over;
}

static void *run(void *arg)
{
    struct resolver *r = arg;
    bool missing =
        true; /* the first look has been had when the state was made */
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    while (sleep_for(r, missing ? SOON_S : EVERY_S))
        missing = ask_all(r);
    return NULL;
}

static void tell(struct resolver *r, bool *what)
{
    pthread_mutex_lock(&r->lock);
    *what = true;
    pthread_cond_signal(&r->told);
    pthread_mutex_unlock(&r->lock);
}

void resolver_wake(struct resolver *r)
{
    tell(r, &r->again);
}

struct resolver *resolver_new(struct proxy *p)
{
    struct resolver *r = calloc(1, sizeof *r);
    pthread_condattr_t clock;
    if (!r)
        return NULL;
    r->proxy = p;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&r->told, &clock);
    pthread_condattr_destroy(&clock);
    if (pthread_create(&r->thread, NULL, run, r) == 0)
        return r;
    free(r);
    return NULL;
}

void resolver_free(struct resolver *r)
{
    if (!r)
        return;
    tell(r, &r->over);
    pthread_join(r->thread, NULL);
    pthread_cond_destroy(&r->told);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
