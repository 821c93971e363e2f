/* Listing a queue, and making live messages of dead ones. A message can only be seen by
 * taking it: all are given back when LOOK is closed, to where they were. */
#include "queue/rabbitmq/look.h"

#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/rabbitmq/hand.h"
#include "queue/rabbitmq/session.h"
#include "queue/rabbitmq/slot.h"
#include "queue/walk.h"

enum { BATCH = 64 };

static int look_at_batch(struct rmq *q, const char *queue, look_each *fn, void *arg,
                         bool *more)
{
    size_t n = 0;
    int status = 0;

    wire_begin(&q->wire);
    for (int i = 0; i < BATCH && status == 0; i++)
        status = wire_ask_get(&q->wire, WIRE_LOOK, queue);
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status == 0 && q->wire.refused)
        status = wire_fail(&q->wire, BROKER_DOWN, "%.250s", q->wire.why);
    struct wire_in *in = status == 0 ? calloc(q->wire.n_in + 1, sizeof *in) : NULL;
    if (!in)
        return status != 0 ? status
                           : wire_fail(&q->wire, BROKER_NO_MEMORY, "out of memory");
    wire_pick(&q->wire, WIRE_LOOK, in, &n);
    *more = n == BATCH;
    for (size_t i = 0; i < n; i++) {
        if (*more || n < BATCH)
            *more &= fn(q, &in[i], arg);
        wire_in_free(&in[i]);
    }
    free(in);
    return status;
}

int look_at_queue(struct rmq *q, const char *queue, look_each *fn, void *arg)
{
    bool more = true;
    int status = 0;

    while (more && status == 0)
        status = look_at_batch(q, queue, fn, arg, &more);
    if (status == 0 || !q->wire.open[WIRE_LOOK]) {
        int opened = wire_reopen(&q->wire, WIRE_LOOK);
        status = status == 0 ? opened : status;
    }
    return status;
}

/* ===== listing ===== */

/* A walk, and where it is. */
struct looking {
    struct queue_walk *walk;
    enum broker_state state;
};

static bool tell_in(struct rmq *q, struct wire_in *in, void *arg)
{
    const struct looking *l = arg;

    (void)q;
    if (in->hello)
        return true;
    return queue_walk_tell(l->walk,
                           &(struct broker_row){ .message = in->message,
                                                 .state = l->state,
                                                 .now_ms = rmq_now_ms(),
                                                 .reason = in->reason,
                                                 .cls = in->cls,
                                                 .tail = in->tail,
                                                 .tail_len = in->tail_len,
                                                 .died_ms = in->died_ms });
}

static void tell_lines(struct queue_walk *w, const char *lines)
{
    struct queue_message *m;

    while (!w->enough && (m = lists_message(&lines)) != NULL) {
        queue_walk_tell(w, &(struct broker_row){ .message = m,
                                                 .state = BROKER_IS_RUNNING,
                                                 .now_ms = rmq_now_ms(),
                                                 .reason = "",
                                                 .cls = "" });
        queue_message_free(m);
    }
}

/* Of what runs, the server tells nobody anything: the lists have its id and counts. */
static int walk_running(struct rmq *q, struct queue_walk *w)
{
    struct lists l = { NULL, 0 };
    int status = q->consume ? 0 : slot_count(q);

    for (size_t i = 0; i < q->n_hand; i++)
        tell_lines(w, q->hand[i].line);
    if (status == 0)
        status = lists_read(q, &l, 0, q->n_slots, q->slot);
    for (size_t i = 0; i < l.n; i++) {
        const char *text = (const char *)l.items[i].message->body;
        const char *first = strchr(text, '\n');
        tell_lines(w, first ? first + 1 : "");
    }
    lists_free(&l);
    return status;
}

static int walk_live(struct rmq *q, struct looking *l)
{
    char name[RMQ_NAME];
    int status = walk_running(q, l->walk);

    l->state = BROKER_IS_WAITING;
    for (int i = 0; i < LANES && status == 0 && !l->walk->enough; i++)
        status = look_at_queue(q, place_lane(q, i, name), tell_in, l);
    l->state = BROKER_IS_LATER;
    for (int i = 0; i < LEVELS && status == 0 && !l->walk->enough; i++)
        status = look_at_queue(q, place_level(q, i, name), tell_in, l);
    return status;
}

static int walk(void *self, struct queue_walk *w)
{
    struct rmq *q = self;
    struct looking l = { .walk = w, .state = BROKER_IS_DEAD };
    char name[RMQ_NAME];

    return rmq_tell(q, w->filter->dead ? look_at_queue(q, place_dead(q, name),
                                                       tell_in, &l)
                                       : walk_live(q, &l));
}

int rmq_each(struct broker *b, const struct broker_filter *filter, broker_each *fn,
             void *arg)
{
    struct rmq *q = (struct rmq *)b;
    int status = rmq_ready(q);

    return status == 0 ? queue_walk(filter, fn, arg, walk, q) : status;
}

/* ===== redriving ===== */

struct revival {
    const char *const *ids;
    size_t n, revived;
    bool *done;
    bool fresh_key;
    int status;
};

/* Confirmed, then acknowledged: one commit for each. */
static bool revive(struct rmq *q, struct wire_in *in, void *arg)
{
    struct revival *r = arg;
    size_t i = 0;

    while (i < r->n && (r->done[i] || strcmp(r->ids[i], in->message->id) != 0))
        i++;
    if (i == r->n || r->status != 0)
        return r->status == 0;
    struct copy c = copy_of(in->message);
    c.attempt = c.deaths = 0;
    c.suspect = false;
    c.generation += r->fresh_key;
    c.deliveries--;
    c.due_ms = rmq_now_ms();
    q->asked_ns[place_of(q, &c)] = 0;
    q->tracks_asked = true;
    wire_begin(&q->wire);
    r->status = place_publish(q, &c, place_of(q, &c), 0);
    if (r->status == 0)
        r->status = wire_wait(&q->wire);
    if (r->status == 0)
        r->status = wire_ack(&q->wire, in->channel, in->tag);
    r->revived += r->status == 0;
    r->done[i] = true;
    return r->status == 0 && r->revived < r->n;
}

int rmq_redrive(struct broker *b, const char *const *ids, size_t n, bool fresh_key,
                size_t *ret_n)
{
    struct rmq *q = (struct rmq *)b;
    struct revival r = { .ids = ids, .n = n, .fresh_key = fresh_key,
                         .done = calloc(n + 1, sizeof *r.done) };
    char name[RMQ_NAME];
    int status = r.done ? rmq_ready(q) : rmq_no_memory(q);

    if (status == 0)
        status = place_find_tracks(q);
    if (status == 0)
        status = look_at_queue(q, place_dead(q, name), revive, &r);
    free(r.done);
    if (status == 0 && r.status == 0)
        *ret_n = r.revived;
    return rmq_tell(q, r.status != 0 ? r.status : status);
}
