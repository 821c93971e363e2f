/* Opening, closing, and what can be seen of a store. */
#include "store/front.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "lib/sized.h"
#include "store/job.h"

#define NO_MEMORY "out of memory"

static void say(char *why, size_t size, const char *text)
{
    if (why)
        snprintf(why, size, "%s", text);
}

/* ===== opening ===== */

static bool conf_valid(const bide_store_conf *conf, char *why, size_t size)
{
    if (conf->timeout_ns < BIDE_MILLISECOND ||
        conf->timeout_ns > 60 * BIDE_SECOND) {
        say(why, size, "the timeout of a store is 1ms to 60s");
        return false;
    }
    if (conf->limit_bytes < 1 << 20 || conf->limit_bytes > INT64_MAX) {
        say(why, size, "the limit of a store is at least 1MiB");
        return false;
    }
    return true;
}

/* The condition sleeps on the monotonic clock, as everything here. */
static bool init_lock(bide_store *store)
{
    pthread_condattr_t attr;
    if (pthread_mutex_init(&store->lock, NULL) != 0)
        return false;
    bool good = pthread_condattr_init(&attr) == 0;
    if (good) {
        good = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
               pthread_cond_init(&store->work, &attr) == 0;
        pthread_condattr_destroy(&attr);
    }
    if (!good)
        pthread_mutex_destroy(&store->lock);
    return good;
}

static bide_store *make(const struct bide__store_kind *kind,
                        const bide_store_conf *conf)
{
    bide_store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    store->kind = kind;
    store->conf = *conf;
    store->stats.limit_bytes = conf->limit_bytes;
    bide__list_init(&store->queue);
    bide__list_init(&store->owed);
    uint64_t seed = (uint64_t)bide_now_ns();
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) < 0)
        seed ^= (uint64_t)(uintptr_t)store;
    bide_rng_seed(&store->seeded, seed);
    if (init_lock(store))
        return store;
    free(store);
    return NULL;
}

/* Signals are for the program's threads. */
static int start_thread(bide_store *store)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&store->thread, NULL, bide__store_main, store);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0 ? 0 : BIDE_ENOMEM;
}

int bide__store_start(bide_store **ret, const struct bide__store_kind *kind,
                      const struct bide__store_setup *setup,
                      const bide_store_conf *conf, char *why, size_t why_size)
{
    char unread[256];
    char *said = why ? why : unread;
    size_t size = why ? why_size : sizeof unread;
    bide_store *store = make(kind, conf);
    say(said, size, NO_MEMORY);
    if (!store)
        return BIDE_ENOMEM;
    int rc = kind->open(&store->self, setup, said, size);
    if (rc < 0) {
        store->self = NULL;
        bide__store_free(store);
        return rc;
    }
    rc = start_thread(store);
    if (rc < 0) {
        bide__store_free(store);
        return rc;
    }
    *ret = store;
    return 0;
}

int bide_store_open_sized(bide_store **ret, const char *url,
                          const bide_store_conf *conf, size_t size, char *why,
                          size_t why_size)
{
    static const bide_store_conf defaults = BIDE_STORE_CONF_INIT;
    bide_store_conf room;
    struct bide__store_setup setup = { .url = url };
    if (!ret || !url)
        return BIDE_EINVAL;
    conf = conf ? bide__sized_in(conf, size, &room, sizeof room) : &defaults;
    if (!conf)
        return BIDE_ESIZE;
    if (!conf_valid(conf, why, why_size))
        return BIDE_EINVAL;
    const struct bide__store_kind *kind = bide__store_kind_of(url, &setup.rest);
    if (!kind) {
        say(why, why_size, BIDE__STORE_KINDS_EXPECTED);
        return BIDE_ENAME;
    }
    setup.timeout_ns = conf->timeout_ns;
    setup.limit_bytes = conf->limit_bytes;
    setup.relaxed = conf->relaxed;
    return bide__store_start(ret, kind, &setup, conf, why, why_size);
}

/* ===== closing ===== */

static void free_jobs(struct bide__list *head)
{
    while (!bide__list_empty(head)) {
        struct bide__store_job *job =
            bide__container_of(head->next, struct bide__store_job, line);
        bide__list_remove(&job->line);
        bide__store_job_free(job);
    }
}

void bide__store_free(bide_store *store)
{
    free_jobs(&store->queue);
    free_jobs(&store->owed);
    if (store->self)
        store->kind->close(store->self);
    pthread_cond_destroy(&store->work);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

/* Waits for the thread's end; false: it hangs. */
static bool wait_ended(bide_store *store, int64_t until_ns)
{
    struct timespec at = { .tv_sec = (time_t)(until_ns / BIDE_SECOND),
                           .tv_nsec = (long)(until_ns % BIDE_SECOND) };
    while (!store->ended &&
           pthread_cond_timedwait(&store->work, &store->lock, &at) == 0) {
    }
    return store->ended;
}

void bide_store_close(bide_store *store)
{
    if (!store)
        return;
    pthread_mutex_lock(&store->lock);
    store->ending = true;
    store->conf.on_change = NULL;
    pthread_cond_broadcast(&store->work);
    bool ended = wait_ended(store, bide_now_ns() + store->conf.timeout_ns);
    if (!ended && store->kind->interrupt) {
        store->kind->interrupt(store->self);
        ended = wait_ended(store, bide_now_ns() + BIDE_SECOND);
    }
    pthread_t thread = store->thread;
    store->orphan = !ended;
    pthread_mutex_unlock(&store->lock);
    if (!ended) {
        pthread_detach(thread);
        return;
    }
    pthread_join(thread, NULL);
    bide__store_free(store);
}

/* ===== seeing ===== */

int bide_store_stats_get_sized(bide_store *store, bide_store_stats *ret,
                               size_t size)
{
    if (!store || !ret)
        return BIDE_EINVAL;
    pthread_mutex_lock(&store->lock);
    bide_store_stats stats = store->stats;
    stats.up = !store->down;
    stats.owed = store->n_owed;
    pthread_mutex_unlock(&store->lock);
    bide__sized_out(ret, size, &stats, sizeof stats);
    return 0;
}
