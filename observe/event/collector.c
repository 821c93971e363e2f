/* Polls the rings ten times a second, more often when they may fill up, and the
 * dependencies once a second. Producers never wake the collector: that would
 * cost a system call per request. */
#include "observe/event/collector.h"

#include <pthread.h>
#include <stdlib.h>

#include "bide/run.h"
#include "observe/event/wall.h"

enum { MOST_RINGS = 256, USUAL_SIZE = 1024 };

#define LOOK_EVERY_NS (100 * BIDE_MILLISECOND)
#define TRACING_NS    (20 * BIDE_MILLISECOND) /* requests may come any moment */
#define BUSY_NS       (5 * BIDE_MILLISECOND)  /* when there are many events */

struct bide__collector {
    struct bide__collector_conf conf;
    struct bide__ring *rings[MOST_RINGS];
    size_t n_rings;
    pthread_t thread;
    bool started;
    bide_cancel stop;
    int64_t sample_due_ns;

    pthread_mutex_t lock; /* protects these */
    struct bide__history history;
    struct bide__journal journal;
};

struct bide__collector *
bide__collector_new(const struct bide__collector_conf *conf)
{
    struct bide__collector *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->conf = *conf;
    if (c->conf.ring_size == 0)
        c->conf.ring_size = USUAL_SIZE;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

struct bide__ring *bide__collector_ring(struct bide__collector *c)
{
    struct bide__ring *ring = c->n_rings < MOST_RINGS && !c->started
                                  ? bide__ring_new(c->conf.ring_size)
                                  : NULL;
    if (ring)
        c->rings[c->n_rings++] = ring;
    return ring;
}

/* ===== reading ===== */

static void note(struct bide__collector *c, const struct bide__event *e,
                 int64_t now)
{
    if (e->kind == BIDE__EVENT_BREAKER || bide__event_decides(e)) {
        pthread_mutex_lock(&c->lock);
        bide__journal_add(&c->journal, e);
        pthread_mutex_unlock(&c->lock);
    }
    if (c->conf.log)
        bide__log_event(c->conf.log, e, now);
}

/* Takes no more than the ring holds, so that a fast producer cannot keep the
 * collector from everything else. True: there were so many that more will
 * follow soon. */
static bool empty(struct bide__collector *c, struct bide__ring *ring,
                  int64_t now)
{
    const struct bide__event *e;
    uint64_t done = 0;
    size_t n;
    while (done <= ring->mask && (e = bide__ring_first(ring, &n))) {
        for (size_t i = 0; i < n; i++)
            note(c, &e[i], now);
        if (c->conf.exporter)
            bide__exporter_events(c->conf.exporter, e, n);
        bide__ring_drop(ring, n);
        done += n;
    }
    return done > ring->mask / 64;
}

static void sample(struct bide__collector *c, int64_t now)
{
    const struct bide__source *s = c->conf.source;
    const struct bide__observed *w = s->hold(s->ctx);
    if (!w)
        return;
    pthread_mutex_lock(&c->lock);
    bide__history_tick(&c->history, w, now);
    pthread_mutex_unlock(&c->lock);
    s->release(s->ctx, w);
}

static void flush_log(struct bide__log *log, int64_t now)
{
    log->wall_offset_ns =
        bide__wall_follow(log->wall_offset_ns, bide__wall_offset_ns());
    bide__log_flush(log, now);
}

/* True: poll again soon. */
static bool look(struct bide__collector *c, int64_t now)
{
    bool busy = false;
    for (size_t i = 0; i < c->n_rings; i++)
        busy |= empty(c, c->rings[i], now);
    if (now < c->sample_due_ns)
        return busy;
    sample(c, now);
    if (c->conf.log)
        flush_log(c->conf.log, now);
    c->sample_due_ns += BIDE_SECOND;
    if (c->sample_due_ns <= now) /* it was delayed: not two at once */
        c->sample_due_ns = now + BIDE_SECOND;
    return busy;
}

static void *work(void *arg)
{
    struct bide__collector *c = arg;
    int64_t at = bide_now_ns();
    int64_t calm_ns = c->conf.exporter ? TRACING_NS : LOOK_EVERY_NS;

    pthread_setname_np(pthread_self(), "bide-collect");
    c->sample_due_ns = at;
    do {
        at += look(c, bide_now_ns()) ? BUSY_NS : calm_ns;
        if (at < bide_now_ns())
            at = bide_now_ns();
    } while (bide_sleep_until(at, &c->stop));
    c->sample_due_ns = 0; /* a last time, including the log */
    look(c, bide_now_ns());
    return NULL;
}

/* ===== life ===== */

int bide__collector_start(struct bide__collector *c)
{
    if (pthread_create(&c->thread, NULL, work, c) != 0)
        return -1;
    c->started = true;
    return 0;
}

void bide__collector_stop(struct bide__collector *c)
{
    if (!c || !c->started)
        return;
    bide_cancel_now(&c->stop);
    pthread_join(c->thread, NULL);
    c->started = false;
}

void bide__collector_free(struct bide__collector *c)
{
    if (!c)
        return;
    bide__collector_stop(c);
    for (size_t i = 0; i < c->n_rings; i++)
        bide__ring_free(c->rings[i]);
    bide__history_done(&c->history);
    bide__journal_done(&c->journal);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

uint64_t bide__collector_dropped(struct bide__collector *c)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->n_rings; i++)
        sum += bide__ring_dropped(c->rings[i]);
    return sum;
}

void bide__collector_look(struct bide__collector *c,
                          void (*look_fn)(void *ctx,
                                          const struct bide__history *history,
                                          const struct bide__journal *journal),
                          void *ctx)
{
    pthread_mutex_lock(&c->lock);
    look_fn(ctx, &c->history, &c->journal);
    pthread_mutex_unlock(&c->lock);
}
