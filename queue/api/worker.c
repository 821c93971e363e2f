/* The worker of a program: queue/worker.h with a function as its handler. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "lib/sized.h"
#include "queue/api/api.h"
#include "queue/api/deliver.h"
#include "queue/callback.h"
#include "queue/plan.h"
#include "queue/worker.h"

/* Taken in one commit with what was done, if handlers take no longer than
 * microseconds (queue/ahead.h). */
enum { MOST_AHEAD = 112, MOST_AT_ONCE = 1000, BEATS = 3 /* in a lease */ };

struct bide_queue_worker {
    bide_queue_worker_conf conf;
    struct queue_callback callback;
    struct broker *broker;
    bide_dep *own;            /* NULL: the program's */
    bide_rng_seeded seeded;
    bide_rng rng;
    struct queue_worker *worker;
    atomic_bool ran;
};

static bide_outcome handle(void *ctx, const struct queue_job *job)
{
    const struct bide_queue_worker *w = ctx;

    return deliver(job, w->conf.handler, w->conf.ctx);
}

/* ===== events ===== */

static const bide_queue_happened kinds[] = {
    [QUEUE_ENDED] = BIDE_QUEUE_ENDED,
    [QUEUE_LOST] = BIDE_QUEUE_LOST,
    [QUEUE_CONSUMPTION_PAUSED] = BIDE_QUEUE_PAUSED,
    [QUEUE_CONSUMPTION_RESUMED] = BIDE_QUEUE_RESUMED,
    [QUEUE_RESCUED] = BIDE_QUEUE_RESCUED,
    [QUEUE_CRASHED] = BIDE_QUEUE_CRASHED,
    [QUEUE_BROKER_AWAY] = BIDE_QUEUE_BROKER_AWAY,
    [QUEUE_BROKER_BACK] = BIDE_QUEUE_BROKER_BACK,
    [QUEUE_DRAINING] = BIDE_QUEUE_DRAINING,
    [QUEUE_ERRORS_COUNT] = BIDE_QUEUE_ERRORS_COUNT,
};

static void on_event(void *ctx, const struct queue_event *e)
{
    const struct bide_queue_worker *w = ctx;
    struct delivery d;

    if ((size_t)e->kind >= sizeof kinds / sizeof kinds[0])
        return;
    bide_queue_event out = { .kind = kinds[e->kind],
                             .text = e->text ? e->text : "",
                             .n = e->n };
    if (e->verdict) {
        out.end = e->verdict->how == BROKER_DONE    ? BIDE_QUEUE_IS_DONE
                  : e->verdict->how == BROKER_AGAIN ? BIDE_QUEUE_IS_RETRIED
                                                    : BIDE_QUEUE_IS_DEAD;
        out.counted = e->verdict->counts;
        out.reason = e->verdict->reason;
        out.wait_ns = e->verdict->delay_ns;
    }
    if (e->job) {
        delivery_of_job(&d, e->job);
        out.message = &d.message;
        out.cls = e->job->out.cls;
        out.took_ns = e->job->run_ns;
        if (!e->text)
            out.text = e->job->text;
    }
    w->conf.on_event(w->conf.ctx, &out);
}

/* ===== before the first message ===== */

static int check_conf(const bide_queue_worker_conf *c, char *why)
{
    const char *wrong = NULL;

    if (!c->handler)
        wrong = "there is no handler";
    else if (c->at_once < 1 || c->at_once > MOST_AT_ONCE)
        wrong = "at_once is 1 to 1000";
    else if (c->drain_ns < 0)
        wrong = "drain_ns is 0 or more";
    else if (c->lease_ns < 3 * BIDE_SECOND || c->lease_ns > BIDE_HOUR)
        wrong = "lease_ns is 3 s to 1 h";
    else if (c->dep)
        wrong = queue_policy_wrong(bide_dep_policy(c->dep));
    return wrong ? queue_fail(why, BIDE_EINVAL, "%s", wrong) : 0;
}

static int open_broker(struct bide_queue_worker *w, const bide_queue *q,
                       char *why)
{
    struct broker_conf conf = BROKER_CONF_INIT;
    char error[BROKER_ERROR];

    conf.url = q->url;
    conf.queue = q->name;
    conf.consume = true;
    conf.lease_ns = w->conf.lease_ns;
    return queue_status(why, broker_open(&w->broker, &conf, error), error);
}

static int make_dep(struct bide_queue_worker *w, const char *name, char *why)
{
    bide_policy_conf policy;
    int rc;

    if (w->conf.dep)
        return 0;
    rc = bide_policy_preset(&policy, "queue");
    if (rc == 0)
        rc = bide_dep_new(&w->own, name, &policy);
    w->conf.dep = w->own;
    return rc < 0 ? queue_fail(why, rc, "%s", bide_strerror(rc)) : 0;
}

struct finding {
    char *why;
    bool loss;
};

/* The first that would lose a message. */
static void found(void *arg, enum broker_severity severity, const char *text,
                  const char *change)
{
    struct finding *f = arg;

    if (severity == BROKER_LOSS && !f->loss) {
        f->loss = true;
        queue_fail(f->why, 0, "%s%s%s", text, *change ? "; " : "", change);
    }
}

static int check_queue(struct bide_queue_worker *w, char *why)
{
    struct broker *b = w->broker;
    struct broker_plan plan = queue_plan(bide_dep_policy(w->conf.dep),
                                         w->conf.at_once, w->conf.lease_ns);
    struct finding f = { .why = why };
    int rc = b->kind->check ? queue_status(why,
                                           b->kind->check(b, &plan, found, &f),
                                           b->error)
                            : 0;

    return rc == 0 && f.loss ? BIDE_ESTATE : rc;
}

static int make_worker(struct bide_queue_worker *w, char *why)
{
    struct queue_worker_conf conf = QUEUE_WORKER_CONF_INIT;
    bool counts = w->broker->traits.prefetch_counts;

    w->rng = bide_rng_seed(&w->seeded, (uint64_t)bide_now_ns() ^
                                           (uint64_t)(uintptr_t)w);
    w->callback = (struct queue_callback){ { &queue_callback_kind }, handle, w };
    conf.broker = w->broker;
    conf.dep = w->conf.dep;
    conf.handler = &w->callback.handler;
    conf.at_once = w->conf.at_once;
    conf.ahead = counts ? 0 : MOST_AHEAD;
    conf.deep = !counts;
    conf.drain_ns = w->conf.drain_ns;
    conf.beat_ns = w->conf.lease_ns / BEATS;
    conf.until_empty = w->conf.until_empty;
    conf.rng = &w->rng;
    conf.on_event = w->conf.on_event ? on_event : NULL;
    conf.ctx = w;
    errno = 0;
    w->worker = queue_worker_new(&conf);
    return w->worker ? 0
                     : queue_fail(why, BIDE_ENOMEM,
                                  "cannot start %u handlers: %s",
                                  w->conf.at_once,
                                  strerror(errno ? errno : ENOMEM));
}

int bide_queue_worker_new_sized(bide_queue_worker **ret, bide_queue *queue,
                                const bide_queue_worker_conf *conf, size_t size,
                                char why[BIDE_QUEUE_WHY])
{
    bide_queue_worker_conf room;

    if (!ret || !queue || !conf)
        return queue_fail(why, BIDE_EINVAL, "%s", bide_strerror(BIDE_EINVAL));
    if (!(conf = bide__sized_in(conf, size, &room, sizeof room)))
        return queue_fail(why, BIDE_ESIZE, "%s", bide_strerror(BIDE_ESIZE));
    int rc = check_conf(conf, why);
    if (rc < 0)
        return rc;
    struct bide_queue_worker *w = calloc(1, sizeof *w);
    if (!w)
        return queue_fail(why, BIDE_ENOMEM, "out of memory");
    w->conf = *conf;
    if ((rc = open_broker(w, queue, why)) < 0 ||
        (rc = make_dep(w, queue->name, why)) < 0 ||
        (rc = check_queue(w, why)) < 0 || (rc = make_worker(w, why)) < 0) {
        bide_queue_worker_free(w);
        return rc;
    }
    *ret = w;
    return 0;
}

/* ===== working ===== */

int bide_queue_worker_run(bide_queue_worker *w)
{
    if (!w)
        return BIDE_EINVAL;
    if (atomic_exchange(&w->ran, true))
        return BIDE_ESTATE;
    queue_worker_run(w->worker);
    return 0;
}

void bide_queue_worker_stop(bide_queue_worker *w)
{
    if (w)
        queue_worker_stop(w->worker);
}

void bide_queue_worker_free(bide_queue_worker *w)
{
    if (!w)
        return;
    queue_worker_free(w->worker);
    broker_close(w->broker);
    bide_dep_free(w->own);
    free(w);
}

/* ===== what can be seen ===== */

static uint64_t all_dead(const struct queue_stats *s)
{
    uint64_t n = atomic_load(&s->crashed);

    for (int i = 0; i < BIDE_N_REASONS; i++)
        n += atomic_load(&s->dead[i]);
    return n;
}

int bide_queue_worker_stats_get_sized(const bide_queue_worker *w,
                                      bide_queue_stats *ret, size_t size)
{
    if (!w || !ret)
        return BIDE_EINVAL;
    const struct queue_stats *s = queue_worker_stats(w->worker);
    bide_queue_stats stats = {
        .done = atomic_load(&s->done),
        .retried = atomic_load(&s->retries),
        .given_back = atomic_load(&s->given_back),
        .dead = all_dead(s),
        .redelivered = atomic_load(&s->redelivered),
        .lost = atomic_load(&s->lost),
        .rescued = atomic_load(&s->rescued),
        .running = atomic_load(&s->running),
        .paused = atomic_load(&s->state) == QUEUE_PAUSED,
        .why = (bide_reason)atomic_load(&s->why),
        .draining = atomic_load(&s->draining) != 0,
        .silent_ns = bide_now_ns() - atomic_load(&s->contact_ns),
    };
    bide__sized_out(ret, size, &stats, sizeof stats);
    return 0;
}
