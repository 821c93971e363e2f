/* A queue under a lock that is held for at most one copy, and the thread that
 * drains it. */
#include "observe/export/exporter.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bide/error.h"
#include "bide/run.h"
#include "observe/export/otlp.h"
#include "observe/export/otlp_known.h"
#include "observe/export/post.h"
#include "observe/event/thread.h"
#include "observe/event/wall.h"

/* Spans, already serialized: that takes less memory than events. */
struct spans {
    size_t n;
    struct bide__out out;
};

struct bide__exporter {
    struct bide__exporter_conf conf;
    struct bide__otlp_source from; /* its offset is written by the thread, under
                                      the lock */
    struct bide__post post;
    bide_dep *dep;
    pthread_t thread;
    struct spans sending;        /* the thread's own, as are ... */
    struct bide__out head, tail; /* ... these: what goes before and after */
    int64_t metrics_due_ns;
    bide_cancel cancel;

    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t more;
    struct spans waiting;
    struct bide__otlp_known known;
    bool stopping;
    struct bide__exporter_stats stats;
};

/* ===== the queue ===== */

static void add(struct bide__exporter *x, const struct bide__event *e)
{
    if (e->kind == BIDE__EVENT_BREAKER || !e->trace.sampled)
        return;
    if (x->waiting.n == x->conf.max_spans || x->waiting.out.failed) {
        x->stats.spans_dropped++;
        return;
    }
    bide__otlp_span(&x->waiting.out, &x->from, x->conf.json, e,
                    x->waiting.n == 0, &x->known);
    if (++x->waiting.n == x->conf.batch)
        pthread_cond_signal(&x->more);
}

void bide__exporter_events(struct bide__exporter *x,
                           const struct bide__event *events, size_t n)
{
    pthread_mutex_lock(&x->lock);
    for (size_t i = 0; i < n; i++)
        add(x, &events[i]);
    pthread_mutex_unlock(&x->lock);
}

/* Takes all that wait, however many: the longer a collector takes, the more are
 * sent at once, and the less each costs. */
static void take_all(struct bide__exporter *x)
{
    struct spans empty = x->sending;
    x->sending = x->waiting;
    x->waiting = empty;
}

/* ===== sending ===== */

struct sending {
    struct bide__exporter *x;
    struct bide__post_request request;
};

static bide_outcome attempt(void *arg, const bide_attempt *a)
{
    struct sending *s = arg;
    return bide__post_send(&s->x->post, s->x->dep, &s->request, a->timeout_ns,
                           a->cancel);
}

/* A batch that arrives twice does no harm: ids and times are the same. */
static bool send_body(struct bide__exporter *x, const char *path)
{
    struct bide__out *parts[] = { &x->head, &x->sending.out, &x->tail };
    struct sending s = { .x = x, .request.path = path };
    bide_run_opts opts = { .op = { .idempotent = true }, .cancel = &x->cancel };
    bool sent = true;

    s.request.type =
        x->conf.json ? BIDE__OTLP_JSON_TYPE : BIDE__OTLP_PROTOBUF_TYPE;
    for (int i = 0; i < 3; i++) {
        s.request.body[i] = (struct iovec){ parts[i]->data, parts[i]->len };
        sent &= !parts[i]->failed;
    }
    sent = sent && bide_run(x->dep, attempt, &s, &opts) == BIDE_BECAUSE_SUCCESS;
    for (int i = 0; i < 3; i++)
        bide__out_clear(parts[i]);
    return sent;
}

static void send_spans(struct bide__exporter *x)
{
    size_t n = x->sending.n;

    bide__otlp_spans_begin(&x->head, &x->from, x->conf.json,
                           x->sending.out.len);
    bide__otlp_spans_end(&x->tail, x->conf.json);
    bool sent = send_body(x, "/v1/traces");
    x->sending.n = 0;
    pthread_mutex_lock(&x->lock);
    x->stats.spans_sent += sent ? n : 0;
    x->stats.spans_dropped += sent ? 0 : n;
    x->stats.batches_failed += !sent;
    pthread_mutex_unlock(&x->lock);
}

static void send_metrics(struct bide__exporter *x)
{
    const struct bide__source *source = x->conf.source;
    const struct bide__observed *w = source->hold(source->ctx);
    if (!w)
        return;
    bide__otlp_metrics(&x->head, &x->from, x->conf.json, w, bide_now_ns());
    source->release(source->ctx, w);
    bool sent = send_body(x, "/v1/metrics");
    pthread_mutex_lock(&x->lock);
    x->stats.metrics_sent += sent;
    x->stats.batches_failed += !sent;
    pthread_mutex_unlock(&x->lock);
}

/* ===== the thread ===== */

static bool metrics_due(const struct bide__exporter *x)
{
    return x->conf.source && x->conf.metrics_ns > 0 &&
           bide_now_ns() >= x->metrics_due_ns;
}

/* Waits for a full batch, the end, or the interval. */
static void wait_for_more(struct bide__exporter *x)
{
    struct timespec until;
    int64_t at = bide_now_ns() + x->conf.interval_ns;

    until.tv_sec = (time_t)(at / BIDE_SECOND);
    until.tv_nsec = (long)(at % BIDE_SECOND);
    while (!x->stopping && x->waiting.n < x->conf.batch)
        if (pthread_cond_timedwait(&x->more, &x->lock, &until) != 0)
            break;
}

static void *work(void *arg)
{
    struct bide__exporter *x = arg;
    bool stopping;

    bide__thread_begin("bide-export");
    do {
        pthread_mutex_lock(&x->lock);
        wait_for_more(x);
        stopping = x->stopping;
        take_all(x);
        x->from.wall_offset_ns =
            bide__wall_follow(x->from.wall_offset_ns, bide__wall_offset_ns());
        pthread_mutex_unlock(&x->lock);
        if (x->sending.n)
            send_spans(x);
        if (metrics_due(x) ||
            (stopping && x->conf.source && x->conf.metrics_ns)) {
            x->metrics_due_ns = bide_now_ns() + x->conf.metrics_ns;
            send_metrics(x);
        }
    } while (!stopping);
    return NULL;
}

/* ===== life ===== */

static void release(struct bide__exporter *x)
{
    bide__post_done(&x->post);
    bide_dep_free(x->dep);
    bide__out_done(&x->head);
    bide__out_done(&x->tail);
    bide__out_done(&x->sending.out);
    bide__out_done(&x->waiting.out);
    pthread_cond_destroy(&x->more);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

static void init_lock(struct bide__exporter *x)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&x->more, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&x->lock, NULL);
}

const char *bide__exporter_new(struct bide__exporter **ret,
                               const struct bide__exporter_conf *conf)
{
    struct bide__exporter *x = calloc(1, sizeof *x);
    if (!x)
        return "no memory";
    x->conf = *conf;
    x->from =
        (struct bide__otlp_source){ conf->service, conf->instance,
                                    bide__wall_offset_ns(), bide_now_ns() };
    init_lock(x);
    x->metrics_due_ns = bide_now_ns() + conf->metrics_ns;
    const char *mistake = bide__post_init(&x->post, conf->url, conf->tls);
    int rc = mistake ? 0 : bide_dep_new(&x->dep, "collector", &conf->policy);
    if (rc < 0)
        mistake = bide_strerror(rc);
    if (!mistake && pthread_create(&x->thread, NULL, work, x) != 0)
        mistake = "cannot start a thread";
    if (mistake) {
        release(x);
        return mistake;
    }
    *ret = x;
    return NULL;
}

/* Cancels what is not sent in time. Joining waits at most a slice longer. */
static void await(struct bide__exporter *x)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t at =
        (int64_t)until.tv_sec * BIDE_SECOND + until.tv_nsec + x->conf.drain_ns;

    until.tv_sec = (time_t)(at / BIDE_SECOND);
    until.tv_nsec = (long)(at % BIDE_SECOND);
    if (pthread_timedjoin_np(x->thread, NULL, &until) == 0)
        return;
    bide_cancel_now(&x->cancel);
    pthread_join(x->thread, NULL);
}

void bide__exporter_free(struct bide__exporter *x)
{
    if (!x)
        return;
    pthread_mutex_lock(&x->lock);
    x->stopping = true;
    pthread_cond_signal(&x->more);
    pthread_mutex_unlock(&x->lock);
    await(x);
    release(x);
}

void bide__exporter_stats(struct bide__exporter *x,
                          struct bide__exporter_stats *ret)
{
    pthread_mutex_lock(&x->lock);
    *ret = x->stats;
    pthread_mutex_unlock(&x->lock);
}

bide_dep *bide__exporter_dep(struct bide__exporter *x)
{
    return x->dep;
}
