/* A turn with the broker: everything that has ended is settled, what is due is taken,
 * and both become durable together. */
#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "queue/worker_parts.h"

#define RESCUE_NS BIDE_SECOND
#define COUNTS_NS BIDE_SECOND
#define AWAY_FIRST_NS (BIDE_SECOND / 5)
#define AWAY_MOST_NS (5 * BIDE_SECOND)

/* What this turn did, reported when it is durable. */
struct turn {
    struct broker_take want;
    struct broker_rescued rescued;
    bool beat, took;
};

static int beat(struct queue_worker *w, struct turn *t)
{
    size_t n = 0;

    for (uint32_t i = 0; i < w->conf.at_once + w->conf.ahead; i++)
        if (w->jobs[i].message)
            w->held[n++] = w->jobs[i].message;
    t->beat = true;
    return w->conf.broker->kind->beat(w->conf.broker, w->held, n);
}

/* How many to take: what may start now, and those that wait for a handler to
 * become free. Nothing is taken in advance unless all goes well. */
static size_t wanted(struct queue_worker *w, int64_t now)
{
    uint32_t room = worker_room(w, now);
    size_t places = w->conf.at_once + worker_ahead(w);
    size_t held = w->n_running + w->n_taken;
    size_t idle = places > held ? places - held : 0;
    bool busy = w->n_running + w->n_taken > 0;

    if (w->stops || ((w->alone || w->suspects) && busy))
        return 0;
    if (w->pace.state == QUEUE_FLOWING && !w->conf.deep)
        room += worker_ahead(w);
    room = room > w->n_taken ? room - w->n_taken : 0;
    return room < idle ? room : idle;
}

static int take(struct queue_worker *w, struct turn *t, int64_t now)
{
    t->want.most = wanted(w, now);
    if (t->want.most == 0)
        return 0;
    t->want.retries = queue_pace_retries(&w->pace, (uint32_t)t->want.most);
    t->want.alone = w->n_running + w->n_taken == 0;
    t->took = true;
    return w->conf.broker->kind->take(w->conf.broker, &t->want, w->fresh);
}

static int verbs(struct queue_worker *w, struct turn *t, int64_t now)
{
    const struct broker_kind *k = w->conf.broker->kind;
    struct broker *b = w->conf.broker;
    int status = 0;

    if (w->n_ends)
        status = k->settle(b, w->ends, w->n_ends);
    if (status == 0 && now >= w->rescue_ns)
        status = k->rescue(b, &t->rescued);
    if (status == 0 && now >= w->beat_ns)
        status = beat(w, t);
    return status == 0 ? take(w, t, now) : status;
}

static int together(struct queue_worker *w, struct turn *t, int64_t now)
{
    const struct broker_kind *k = w->conf.broker->kind;
    int status = 0;

    if (!k->begin)
        return verbs(w, t, now);
    if ((status = k->begin(w->conf.broker)) != 0)
        return status;
    status = verbs(w, t, now);
    if (status == 0)
        status = k->commit(w->conf.broker);
    else
        k->commit(w->conf.broker); /* ends what the failure has undone */
    if (status != 0)
        while (t->want.n > 0)
            queue_message_free(w->fresh[--t->want.n]);
    return status;
}

/* ===== after it is durable ===== */

static void count_end(struct queue_worker *w, const struct queue_job *job,
                      const struct broker_end *e,
                      const struct queue_verdict *v)
{
    struct queue_stats *s = &w->stats;

    if (e->result == BROKER_LOST) {
        s->lost++;
        worker_tell(w, &(struct queue_event){ .kind = QUEUE_LOST, .job = job });
        return;
    }
    if (e->how == BROKER_DONE) {
        s->done++;
    } else if (e->how == BROKER_DEAD) {
        s->dead[v->reason]++;
        w->dead++;
    } else if (v->counts) {
        s->retries++;
    } else {
        s->given_back++;
    }
    if (job->running || e->how == BROKER_DEAD)
        worker_tell(w, &(struct queue_event){ .kind = QUEUE_ENDED,
                                              .job = job,
                                              .verdict = v });
}

static void release(struct queue_worker *w)
{
    for (size_t i = 0; i < w->n_ends; i++) {
        struct queue_job *job = w->settling[i];
        count_end(w, job, &w->ends[i], &w->settling_verdicts[i]);
        queue_message_free(job->message);
        job->message = NULL;
        bide__list_append(&w->unused, &job->line);
    }
    w->n_ends = 0;
    if (w->n_running + w->n_taken == 0)
        w->alone = false;
}

static void receive(struct queue_worker *w, const struct turn *t, int64_t now)
{
    for (size_t i = 0; i < t->want.n; i++) {
        struct queue_job *job = bide__container_of(
            w->unused.next, struct queue_job, line);
        bide__list_remove(&job->line);
        job->message = w->fresh[i];
        job->message->user = job;
        w->stats.redelivered += job->message->deliveries > 1;
        bide__list_append(&w->taken, &job->line);
        w->n_taken++;
        w->alone = w->alone || job->message->suspect;
    }
    w->suspects = t->want.suspects;
    if (t->want.n > 0)
        queue_pace_took(&w->pace, (uint32_t)t->want.most);
    int64_t next = t->want.next_ns;
    w->look_ns = next > BIDE_FOREVER - now ? BIDE_FOREVER : now + next;
    if (next == BIDE_FOREVER && w->n_running + w->n_taken == 0)
        w->counts_ns = now; /* it may be empty */
}

static void stop_lost(struct queue_worker *w)
{
    for (uint32_t i = 0; i < w->conf.at_once + w->conf.ahead; i++)
        if (w->jobs[i].message && w->jobs[i].message->lost)
            queue_pool_stop(w->pool, &w->jobs[i], QUEUE_STOP_ASKED);
}

/* Also where the broker is away: some verbs may have been answered. */
static void move_holds(struct queue_worker *w)
{
    for (uint32_t i = 0; i < w->conf.at_once + w->conf.ahead; i++)
        if (w->jobs[i].message && atomic_load(&w->jobs[i].hold_ns))
            queue_hold_set(w->hold, &w->jobs[i], w->jobs[i].message->hold_ns);
}

static void tell_rescued(struct queue_worker *w, const struct turn *t)
{
    w->stats.rescued += t->rescued.messages;
    w->stats.crashed += t->rescued.dead;
    w->dead += t->rescued.dead;
    if (t->rescued.messages)
        worker_tell(w, &(struct queue_event){ .kind = QUEUE_RESCUED,
                                              .n = t->rescued.messages });
    if (t->rescued.dead)
        worker_tell(w, &(struct queue_event){ .kind = QUEUE_CRASHED,
                                              .n = t->rescued.dead });
}

/* Never more rarely than it beats: a server that hears nothing for two beats closes
 * the connection that we have meanwhile. */
static void is_away(struct queue_worker *w, int64_t now)
{
    int64_t most = w->conf.beat_ns < AWAY_MOST_NS ? w->conf.beat_ns : AWAY_MOST_NS;

    if (!w->away)
        worker_tell(w, &(struct queue_event){ .kind = QUEUE_BROKER_AWAY,
                                              .text = w->conf.broker->error });
    w->away_wait_ns = !w->away                    ? AWAY_FIRST_NS
                      : w->away_wait_ns > most / 2 ? most
                                                   : 2 * w->away_wait_ns;
    w->away = true;
    atomic_store(&w->stats.away, 1);
    w->look_ns = now + w->away_wait_ns;
}

static void ask_counts(struct queue_worker *w, int64_t now)
{
    struct broker_counts c;
    bool wanted = w->conf.on_counts || w->conf.until_empty;

    if (!wanted || now < w->counts_ns)
        return;
    if (w->conf.broker->kind->counts(w->conf.broker, &c) != 0)
        return;
    /* counting a long queue must not keep us from working it off */
    int64_t took = bide_now_ns() - now;
    w->counts_ns = now + COUNTS_NS + 20 * took;
    if (w->conf.on_counts)
        w->conf.on_counts(w->conf.ctx, &c);
    w->empty = c.waiting + c.held + c.later + c.running == 0;
}

bool worker_turn(struct queue_worker *w, int64_t now)
{
    struct turn t = { .want = { .next_ns = BIDE_FOREVER } };
    size_t settled = w->n_ends;
    int status = together(w, &t, now);

    move_holds(w);
    if (status != 0) {
        is_away(w, now);
        return false;
    }
    if (w->away)
        worker_tell(w, &(struct queue_event){ .kind = QUEUE_BROKER_BACK });
    w->away = false;
    atomic_store(&w->stats.away, 0);
    atomic_store(&w->stats.contact_ns, now);
    if (settled + t.want.n > 0)
        queue_ahead_turn(&w->ahead, bide_now_ns() - now);
    release(w);
    tell_rescued(w, &t);
    if (now >= w->rescue_ns)
        w->rescue_ns = now + RESCUE_NS;
    if (t.beat) {
        w->beat_ns = now + w->conf.beat_ns;
        stop_lost(w);
    }
    if (t.took)
        receive(w, &t, now);
    ask_counts(w, now);
    return true;
}
