/* Resolving names in threads that nothing waits for. */
#include "net/lookup.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bide/policy.h"

enum { STACK = 1 << 20 }; /* nsswitch modules run on it, too */

struct net_lookups {
    pthread_mutex_t lock; /* protects all that follows */
    pthread_cond_t news;
    unsigned running;
    bool woken;
    bool closed; /* answers are no longer wanted */
    struct net_answer *first, **last;
};

struct net_lookups *net_lookups_new(void)
{
    struct net_lookups *l = calloc(1, sizeof *l);
    pthread_condattr_t clock;
    if (!l)
        return NULL;
    pthread_mutex_init(&l->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&l->news, &clock);
    pthread_condattr_destroy(&clock);
    l->last = &l->first;
    return l;
}

void net_answer_free(struct net_answer *a)
{
    if (!a)
        return;
    free(a->found);
    free(a);
}

/* Unlocks it, and frees it when the last user leaves: the owner, or a thread
 * that finishes later. */
static void leave(struct net_lookups *l)
{
    bool last = l->closed && l->running == 0;
    pthread_mutex_unlock(&l->lock);
    if (!last)
        return;
    while (l->first) {
        struct net_answer *a = l->first;
        l->first = a->next;
        net_answer_free(a);
    }
    pthread_cond_destroy(&l->news);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

void net_lookups_free(struct net_lookups *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->closed = true;
    leave(l);
}

/* ===== asking ===== */

static void *look_up(void *arg)
{
    struct net_answer *a = arg;
    struct net_lookups *l = a->to;
    a->found = net_resolve(a->host, 0, &a->why);
    pthread_mutex_lock(&l->lock);
    *l->last = a;
    l->last = &a->next;
    l->running--;
    pthread_cond_signal(&l->news);
    leave(l);
    return NULL;
}

/* Signals are left to the threads that handle them. */
static bool start(struct net_answer *a)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, &attr, look_up, a);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return rc == 0;
}

bool net_lookup(struct net_lookups *l, const char *host)
{
    size_t size = strlen(host) + 1;
    struct net_answer *a = calloc(1, sizeof *a + size);
    if (!a)
        return false;
    a->to = l;
    memcpy(a->host, host, size);
    pthread_mutex_lock(&l->lock);
    l->running++;
    pthread_mutex_unlock(&l->lock);
    if (start(a))
        return true;
    free(a);
    pthread_mutex_lock(&l->lock);
    l->running--;
    pthread_mutex_unlock(&l->lock);
    return false;
}

unsigned net_lookups_running(struct net_lookups *l)
{
    pthread_mutex_lock(&l->lock);
    unsigned n = l->running;
    pthread_mutex_unlock(&l->lock);
    return n;
}

/* ===== answers ===== */

struct net_answer *net_lookups_next(struct net_lookups *l, int64_t until_ns)
{
    struct timespec until = { .tv_sec = until_ns / BIDE_SECOND,
                              .tv_nsec = until_ns % BIDE_SECOND };
    pthread_mutex_lock(&l->lock);
    while (!l->first && !l->woken)
        if (pthread_cond_timedwait(&l->news, &l->lock, &until) != 0)
            break;
    struct net_answer *a = l->first;
    if (!a)
        l->woken = false;
    else if (!(l->first = a->next))
        l->last = &l->first;
    pthread_mutex_unlock(&l->lock);
    return a;
}

void net_lookups_wake(struct net_lookups *l)
{
    pthread_mutex_lock(&l->lock);
    l->woken = true;
    pthread_cond_signal(&l->news);
    pthread_mutex_unlock(&l->lock);
}
