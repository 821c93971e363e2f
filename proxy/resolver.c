/* The thread that asks name servers. */
#include "resolver.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "bide/run.h"
#include "loop.h"
#include "proxy.h"
#include "resolve.h"
#include "state.h"

/* A name without any address yet is asked for so often. */
enum { SOON_S = 1 };

struct resolver {
    struct proxy *proxy;
    pthread_t thread;
    pthread_mutex_t lock; /* of the two below */
    pthread_cond_t told;
    bool over, again;
};

static void ask(struct upstream *u)
{
    const char *why;
    for (unsigned i = 0; i < u->n_endpoints; i++)
        if (!net_is_address(u->endpoints[i].host))
            endpoint_resolve(&u->endpoints[i], &why);
}

/* When its names are to be asked for next. */
static int64_t next_time(const struct upstream *u)
{
    int64_t in_ns = BIDE_FOREVER;
    for (unsigned i = 0; i < u->n_endpoints; i++) {
        const struct endpoint *e = &u->endpoints[i];
        if (atomic_load(&e->moves) == 0)
            return bide_now_ns() + SOON_S * BIDE_SECOND;
        if (!net_is_address(e->host))
            in_ns = u->conf.resolve_ns;
    }
    return net_after(bide_now_ns(), in_ns);
}

/* Asks for the names whose time has come, or for all: when it is time for the
 * next. New ones have been asked for when the state was made. */
static int64_t ask_due(struct resolver *r, bool all)
{
    struct state *s = proxy_state(r->proxy);
    int64_t next = BIDE_FOREVER;
    for (size_t i = 0; i < s->n_upstreams; i++) {
        struct upstream *u = s->upstreams[i];
        bool due =
            all || (u->resolve_at_ns && u->resolve_at_ns <= bide_now_ns());
        if (due)
            ask(u);
        if (due || u->resolve_at_ns == 0)
            u->resolve_at_ns = next_time(u);
        if (u->resolve_at_ns < next)
            next = u->resolve_at_ns;
    }
    state_unref(s);
    return next;
}

/* Until it is time, or told so; false: it is over. */
static bool sleep_until(struct resolver *r, int64_t at_ns, bool *ret_again)
{
    struct timespec until = { .tv_sec = at_ns / BIDE_SECOND,
                              .tv_nsec = at_ns % BIDE_SECOND };
    pthread_mutex_lock(&r->lock);
    while (!r->over && !r->again)
        if (pthread_cond_timedwait(&r->told, &r->lock, &until) != 0)
            break;
    *ret_again = r->again;
    r->again = false;
    bool over = r->over;
    pthread_mutex_unlock(&r->lock);
    return !over;
}

static void *run(void *arg)
{
    struct resolver *r = arg;
    bool again = false;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    while (sleep_until(r, ask_due(r, again), &again))
        ;
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
