/* Taking: who is due, and not held back, becomes running; the commit says so before
 * anybody gets it. */
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "queue/kafka/commit.h"
#include "queue/kafka/deliver.h"
#include "queue/kafka/fetch.h"
#include "queue/kafka/follow.h"
#include "queue/kafka/ghosts.h"
#include "queue/kafka/record.h"

/* The group's first answer takes group.initial.rebalance.delay.ms, 3 s as Kafka
 * comes. */
#define JOIN_NS (8 * KF_S)

/* A take as it goes on. */
struct turn {
    struct kafka_broker *q;
    struct broker_take *want;
    struct queue_message **ret;
    struct kf_slot **aside;  /* in line, but not for us now */
    size_t n_aside, size_aside;
    int64_t now_ns;
};

static int wait_for_group(struct kafka_broker *q)
{
    int64_t end = bide_now_ns() + JOIN_NS;
    int status = 0;

    while (!q->joined && status == 0 && bide_now_ns() < end) {
        poll(NULL, 0, 10);
        status = kf_ready(q);
    }
    return status;
}

/* Whether all that waits in its retry topics is known, and so its keys' order. */
static bool is_caught_up(const struct kf_lane *l)
{
    for (int t = 1; t < KF_TOPICS; t++)
        if (kf_window_is_behind(&l->windows[t]))
            return false;
    return true;
}

static bool may_run(struct turn *t, const struct kf_slot *s)
{
    if (s->suspect && (!t->want->alone || t->want->n > 0))
        return false;
    if ((s->window->lane->leaves && t->q->draining) || kf_ghost_holds(t->q, s))
        return false;
    if (s->key && !is_caught_up(s->window->lane))
        return false;
    return kf_window_may_run(s->window);
}

static int set_aside(struct turn *t, struct kf_slot *s)
{
    if (t->n_aside == t->size_aside) {
        size_t size = t->size_aside ? 2 * t->size_aside : 32;
        struct kf_slot **more = realloc(t->aside, size * sizeof *more);
        if (!more)
            return -1;
        t->aside = more;
        t->size_aside = size;
    }
    t->aside[t->n_aside++] = s;
    return 0;
}

int kf_make_room(struct kafka_broker *q)
{
    if (q->n_running == q->size_running) {
        size_t size = q->size_running ? 2 * q->size_running : 64;
        struct kf_slot **more = realloc(q->running, size * sizeof *more);
        if (!more)
            return -1;
        q->running = more;
        q->size_running = size;
    }
    return 0;
}

static int hand_out(struct turn *t, struct kf_slot *s)
{
    struct kafka_broker *q = t->q;
    struct kf_facts f;

    if (kf_make_room(q) != 0)
        return -1;
    kf_facts(&f, s->record, kf_ms(q, t->now_ns));
    f.deliveries = s->deliveries + 1;
    f.deaths = s->deaths;
    f.suspect = s->suspect;
    struct queue_message *m = kf_message(s->record, &f);
    if (!m || kf_note(q, s) != 0) {
        queue_message_free(m);
        return -1;
    }
    s->stage = KF_RUNNING;
    s->deliveries++;
    s->token = m->token = ++q->tokens;
    s->window->n_running++;
    s->window->dirty = true;
    q->running[q->n_running++] = s;
    t->ret[t->want->n++] = m;
    return 0;
}

/* From one line, until there are `most` in all. -1: no memory. */
static int take_from(struct turn *t, struct kf_line *line, size_t most)
{
    struct kf_slot *s;

    while (t->want->n < most && (s = kf_first(line)) && s->due_ns <= t->now_ns) {
        kf_pop(line);
        int failed = may_run(t, s) ? hand_out(t, s) : set_aside(t, s);
        if (failed) {
            (void)kf_line_up(&t->q->order, s);
            return -1;
        }
    }
    return 0;
}

/* A suspect that is due; NULL: none. */
static struct kf_slot *find_suspect(struct turn *t)
{
    const struct kf_line *lines[] = { &t->q->order.fresh, &t->q->order.retries };
    bool any = false;

    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < lines[i]->n; j++) {
            struct kf_slot *s = lines[i]->at[j];
            any = any || s->suspect;
            if (s->suspect && s->due_ns <= t->now_ns && may_run(t, s))
                return s;
            t->want->suspects |= s->suspect && s->due_ns <= t->now_ns;
        }
    t->q->suspects = any || t->q->n_running > 0;
    return NULL;
}

/* Retries up to their share, then the others, then what is left. */
static int choose(struct turn *t)
{
    struct kf_order *o = &t->q->order;
    size_t most = t->want->most;
    size_t share = t->want->retries < most ? t->want->retries : most;
    struct kf_slot *suspect = t->q->suspects ? find_suspect(t) : NULL;

    if (suspect) { /* it, and nothing beside it */
        t->want->suspects = true;
        kf_unline(o, suspect);
        return hand_out(t, suspect);
    }
    int status = take_from(t, &o->retries, share);
    if (status == 0)
        status = take_from(t, &o->fresh, most);
    if (status == 0)
        status = take_from(t, &o->retries, most);
    for (size_t i = 0; i < t->n_aside; i++)
        (void)kf_line_up(o, t->aside[i]);
    free(t->aside);
    return status < 0 ? -1 : 0;
}

/* The first that is not due yet; what is set aside says nothing. */
static int64_t next_due(const struct turn *t)
{
    const struct kf_line *lines[] = { &t->q->order.fresh, &t->q->order.retries };
    int64_t next = BIDE_FOREVER;

    for (int i = 0; i < 2; i++) {
        const struct kf_slot *s = kf_first(lines[i]);
        int64_t wait = s ? s->due_ns - t->now_ns : BIDE_FOREVER;
        if (wait <= 0 && t->want->n == t->want->most)
            return 0;
        if (wait <= 0)
            wait = KF_S / 5;
        next = wait < next ? wait : next;
    }
    return next;
}

int kf_take(struct broker *b, struct broker_take *want, struct queue_message **ret)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    struct turn t = { .q = q, .want = want, .ret = ret };
    int status = kf_ready(q);

    want->n = 0;
    want->suspects = false;
    want->next_ns = BIDE_FOREVER;
    if (status == 0 && !q->grouped)
        status = wait_for_group(q);
    q->ahead = want->most;
    if (status == 0)
        status = kf_fetch(q, want->most);
    if (status == 0 && q->away) /* what we waited for cannot come */
        status = kf_ready(q);
    if (status == 0)
        status = kf_move_followers(q);
    if (status != 0)
        return status;
    t.now_ns = bide_now_ns();
    if (choose(&t) != 0)
        status = broker_fail(b, BROKER_NO_MEMORY, "out of memory");
    want->next_ns = next_due(&t);
    int committed = kf_commit(q);
    status = status ? status : committed;
    if (status != 0) {
        while (want->n > 0)
            queue_message_free(ret[--want->n]);
        if (q->fenced)
            status = 0; /* others have it now */
    }
    return status;
}

/* ===== the bell ===== */

int kf_wait_fd(struct broker *b, int64_t *ret_poll_ns)
{
    *ret_poll_ns = KF_S;
    return ((struct kafka_broker *)b)->bell;
}

void kf_woken(struct broker *b)
{
    uint64_t n;

    (void)!read(((struct kafka_broker *)b)->bell, &n, sizeof n);
}
