/* When the worker does what: its loop, and its end. */
#include "queue/worker.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "queue/worker_parts.h"

struct queue_worker *queue_worker_new(const struct queue_worker_conf *conf)
{
    struct queue_worker *w = calloc(1, sizeof *w);
    size_t n = (size_t)conf->at_once + conf->ahead;

    if (!w)
        return NULL;
    w->conf = *conf;
    w->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->jobs = calloc(n, sizeof *w->jobs);
    w->ends = calloc(n, sizeof *w->ends);
    w->settling = calloc(n, sizeof(struct queue_job *));
    w->settling_verdicts = calloc(n, sizeof *w->settling_verdicts);
    w->fresh = calloc(n, sizeof(struct queue_message *));
    w->held = calloc(n, sizeof(struct queue_message *));
    bide__list_init(&w->unused);
    bide__list_init(&w->taken);
    queue_pace_init(&w->pace, conf->at_once);
    atomic_store(&w->stats.contact_ns, bide_now_ns());
    w->pool = queue_pool_new(conf->handler, conf->at_once);
    if (w->pool && w->jobs)
        w->hold = queue_hold_new(w->pool, w->jobs, n, conf->beat_ns / 2);
    if (!w->jobs || !w->ends || !w->settling || !w->settling_verdicts ||
        !w->fresh || !w->held || !w->hold || w->stop_fd < 0) {
        queue_worker_free(w);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        bide__list_append(&w->unused, &w->jobs[i].line);
    return w;
}

void queue_worker_free(struct queue_worker *w)
{
    if (!w)
        return;
    queue_hold_free(w->hold);
    queue_pool_free(w->pool);
    if (w->stop_fd >= 0)
        close(w->stop_fd);
    /* what could not be settled, because the broker was away */
    for (size_t i = 0; w->jobs && i < w->conf.at_once + w->conf.ahead; i++)
        queue_message_free(w->jobs[i].message);
    free(w->jobs);
    free(w->ends);
    free(w->settling);
    free(w->settling_verdicts);
    free(w->fresh);
    free(w->held);
    free(w);
}

const struct queue_stats *queue_worker_stats(const struct queue_worker *w)
{
    return &w->stats;
}

void queue_worker_stop(struct queue_worker *w)
{
    const uint64_t one = 1;

    (void)!write(w->stop_fd, &one, sizeof one);
}

/* ===== stopping ===== */

static void stop_running(struct queue_worker *w, enum queue_stop how)
{
    for (uint32_t i = 0; i < w->conf.at_once + w->conf.ahead; i++)
        if (w->jobs[i].message)
            queue_pool_stop(w->pool, &w->jobs[i], how);
}

/* The first time what runs may end; the second time it is stopped. */
static void told_to_stop(struct queue_worker *w, int64_t now)
{
    w->stops++;
    if (w->stops == 1) {
        w->drain_until_ns = now + w->conf.drain_ns;
        atomic_store(&w->stats.draining, 1);
        worker_give_back(w);
        worker_tell(w, &(struct queue_event){ .kind = QUEUE_DRAINING,
                                              .n = w->n_running });
        return;
    }
    stop_running(w, QUEUE_STOP_NOW);
}

static void watch_drain(struct queue_worker *w, int64_t now)
{
    if (!w->stops || now < w->drain_until_ns)
        return;
    stop_running(w, QUEUE_STOP_ASKED);
    w->drained = true;
    w->drain_until_ns = BIDE_FOREVER;
}

static void read_signals(struct queue_worker *w, int64_t now)
{
    struct signalfd_siginfo info;
    uint64_t n;

    while (w->conf.signal_fd >= 0 &&
           read(w->conf.signal_fd, &info, sizeof info) == sizeof info)
        told_to_stop(w, now);
    if (read(w->stop_fd, &n, sizeof n) == sizeof n)
        while (n-- > 0)
            told_to_stop(w, now);
}

/* ===== the loop ===== */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Could we take more, if there were more? Otherwise a bell would only wake us. */
static bool hungry(struct queue_worker *w, int64_t now)
{
    uint32_t busy = w->n_running + w->n_taken;

    if (w->stops || w->away || ((w->alone || w->suspects) && busy > 0))
        return false;
    return w->pace.state == QUEUE_FLOWING
               ? busy < w->conf.at_once + worker_ahead(w)
               : worker_room(w, now) > w->n_taken;
}

/* Until when what has ended waits for others that are about to: a turn costs the same
 * for one and for all of them. 0: not at all. */
static int64_t gather_until(const struct queue_worker *w)
{
    int64_t wait = 0;

    if (w->n_ends > 0 && !w->stops)
        wait = queue_ahead_gather(&w->ahead, w->conf.at_once, w->n_running);
    return wait > 0 ? w->ended_ns + wait : 0;
}

/* Whether there is something to say to the broker, or to ask it. */
static bool turn_due(struct queue_worker *w, int64_t now)
{
    if (w->away)
        return now >= w->look_ns;
    return (w->n_ends > 0 && now >= gather_until(w)) || now >= w->rescue_ns ||
           (now >= w->beat_ns && w->n_running + w->n_taken > 0) ||
           (now >= w->look_ns && hungry(w, now));
}

static int64_t wake_at(struct queue_worker *w, int64_t poll_ns, int64_t now)
{
    int64_t at = earlier(w->rescue_ns, now + poll_ns);

    if (w->away)
        return earlier(w->look_ns,
                       w->stops ? w->drain_until_ns : BIDE_FOREVER);
    if (w->n_running + w->n_taken > 0)
        at = earlier(at, w->beat_ns);
    if (hungry(w, now))
        at = earlier(at, w->look_ns);
    if (w->n_ends > 0)
        at = earlier(at, gather_until(w));
    /* A probe that could have been made waits for a message, not for a time. */
    int64_t next = queue_pace_next(&w->pace, worker_counted(w));
    if (next > now)
        at = earlier(at, next);
    return w->stops ? earlier(at, w->drain_until_ns) : at;
}

/* While ends are gathered, the pool need not wake us for each. */
static void tell_enough(struct queue_worker *w, int64_t now)
{
    unsigned enough = gather_until(w) > now ? w->n_running : 1;

    if (enough != w->enough)
        queue_pool_enough(w->pool, w->enough = enough);
}

static void wait_for_something(struct queue_worker *w)
{
    const struct broker_kind *k = w->conf.broker->kind;
    int64_t poll_ns = BIDE_SECOND, now = bide_now_ns();
    int bell = k->wait_fd ? k->wait_fd(w->conf.broker, &poll_ns) : -1;
    struct pollfd p[4] = {
        { queue_pool_fd(w->pool), POLLIN, 0 },
        { w->stop_fd, POLLIN, 0 },
        { w->conf.signal_fd, POLLIN, 0 },
        { hungry(w, now) ? bell : -1, POLLIN, 0 },
    };
    int64_t wait = wake_at(w, poll_ns, now) - now;

    tell_enough(w, now);
    struct timespec limit = { 0, 0 };

    if (wait > 0)
        limit = (struct timespec){ (time_t)(wait / BIDE_SECOND),
                                   (long)(wait % BIDE_SECOND) };
    int n = ppoll(p, 4, &limit, NULL);
    now = bide_now_ns();
    if (n > 0 && (p[1].revents || p[2].revents))
        read_signals(w, now);
    if (n > 0 && p[3].revents) {
        k->woken(w->conf.broker);
        w->look_ns = now;
    }
    if (n == 0 && wait >= poll_ns)
        w->look_ns = earlier(w->look_ns, now); /* the poll behind the bell */
}

static bool is_over(const struct queue_worker *w)
{
    if (w->n_running + w->n_taken + w->n_ends > 0)
        return false;
    return w->stops || (w->conf.until_empty && w->empty);
}

/* A broker that is away when we end keeps what we hold until our lease or our
 * process is gone: nothing is lost, so nobody waits for it beyond the drain. */
static bool give_up(const struct queue_worker *w)
{
    return (w->stops > 1 || w->drained) && w->away && w->n_running == 0;
}

static void tidy(struct queue_worker *w, int64_t now)
{
    void (*fn)(void) = w->conf.handler->kind->tidy;

    if (!fn || now < w->tidy_ns)
        return;
    fn();
    w->tidy_ns = now + BIDE_SECOND;
}

uint64_t queue_worker_run(struct queue_worker *w)
{
    int64_t now = bide_now_ns();

    w->look_ns = now;
    w->beat_ns = now + w->conf.beat_ns;
    while (!is_over(w) && !give_up(w)) {
        worker_collect(w, now);
        worker_give_back_stale(w, now);
        if (turn_due(w, now))
            worker_turn(w, now);
        worker_start(w, now);
        watch_drain(w, now);
        tidy(w, now);
        if (!is_over(w))
            wait_for_something(w);
        now = bide_now_ns();
    }
    return w->dead;
}
