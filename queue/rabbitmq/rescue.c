/* What workers that are gone have left. */
#include "queue/rabbitmq/rescue.h"

#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/blame.h"
#include "queue/rabbitmq/bell.h"
#include "queue/rabbitmq/deliver.h"
#include "queue/rabbitmq/hand.h"
#include "queue/rabbitmq/session.h"
#include "queue/rabbitmq/slot.h"
#include "queue/rabbitmq/track.h"

/* Slots that are asked about together: two queues each (wire.h has room for 96). */
enum { AT_ONCE = 40 };

/* The estate of one worker. */
struct estate {
    struct lists lists;
    struct wire_in *found;
    size_t n, room;
    bool no_memory;
};

static bool keep(struct estate *e, struct wire_in *in)
{
    if (e->n == e->room) {
        size_t room = e->room ? 2 * e->room : 64;
        struct wire_in *more = realloc(e->found, room * sizeof *more);
        e->no_memory |= !more;
        if (!more)
            return false;
        e->found = more;
        e->room = room;
    }
    e->found[e->n++] = *in;
    return true;
}

static bool collect(struct rmq *q, struct wire_in *in, void *arg)
{
    struct estate *e = arg;
    uint64_t token;

    (void)q;
    return in->redelivered && lists_find(&e->lists, in->message, &token) >= 0 &&
           keep(e, in);
}

/* Nobody else has the slot from now on, until LOOK is opened again: 1, 0 or a status. */
static int claim(struct rmq *q, int slot)
{
    char name[RMQ_NAME];
    amqp_basic_consume_t m = { .queue = wire_bytes(place_slot(q, slot, name)),
                               .consumer_tag = wire_bytes("1"),
                               .exclusive = 1 };

    wire_begin(&q->wire);
    int status = wire_send(&q->wire, WIRE_LOOK, AMQP_BASIC_CONSUME_METHOD, &m, true);
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status == 0 && q->wire.refused)
        return wire_reopen(&q->wire, WIRE_LOOK);
    if (status == 0) /* behind this answer, all that was there has come */
        status = wire_ask_queue(&q->wire, WIRE_LOOK, name);
    if (status == 0)
        status = wire_wait(&q->wire);
    return status == 0 ? 1 : status;
}

/* What others have sent on to the slot, and what still lies at the heads of the lanes. */
static int find_all(struct rmq *q, struct estate *e, int slot)
{
    size_t n = 0;
    struct wire_in *came = calloc(q->wire.n_in + 1, sizeof *came);

    if (!came)
        return wire_fail(&q->wire, BROKER_NO_MEMORY, "out of memory");
    wire_pick(&q->wire, WIRE_LOOK, came, &n);
    int status = 0;
    for (size_t i = 0; i < n; i++) {
        if (came[i].hello)
            status = wire_ack(&q->wire, WIRE_LOOK, came[i].tag);
        if (came[i].hello || !keep(e, &came[i]))
            wire_in_free(&came[i]);
    }
    free(came);
    if (status == 0)
        status = lists_get(q, &e->lists, slot);
    return status == 0 ? slot_heads(q, WIRE_LOOK, collect, e) : status;
}

/* Whether the worker ran it: others were sent on too late, and nobody is to blame. */
static bool was_running(const struct estate *e, const struct wire_in *in)
{
    uint64_t token;

    return lists_find(&e->lists, in->message, &token) >= 0;
}

static int bury_or_free(struct rmq *q, const struct estate *e, struct wire_in *in,
                        size_t n_running, struct broker_rescued *ret)
{
    struct copy c = copy_of(in->message);

    ret->messages++;
    if (!was_running(e, in))
        return place_publish(q, &c, place_of(q, &c), 0);
    struct queue_blame b = queue_blame(n_running, c.deaths, q->max_deaths);
    c.deaths = b.deaths;
    c.suspect = b.suspect;
    c.due_ms = rmq_now_ms();
    if (!b.dead)
        return place_publish(q, &c, place_of(q, &c), 0);
    ret->dead++;
    return place_bury(q, &c);
}

/* Those with a key are in their tracks. What the owner needs to know is said there. */
static int write_notes(struct rmq *q, const struct estate *e, size_t running,
                       size_t *ret_n, bool publish)
{
    int status = 0;

    *ret_n = 0;
    for (size_t i = 0; i < e->lists.n; i++) {
        const char *text = (const char *)e->lists.items[i].message->body;
        const char *at = strchr(text, '\n'), *line = at = at ? at + 1 : "";
        struct queue_message *m;
        for (; status == 0 && (m = lists_message(&at)) != NULL; line = at) {
            bool keyed = q->keyed && *m->key;
            *ret_n += keyed;
            if (keyed && publish)
                status = track_note(q, m->key, line, (size_t)(at - line), running);
            queue_message_free(m);
        }
    }
    return status;
}

static int share_out(struct rmq *q, const struct estate *e, int slot,
                     struct broker_rescued *ret)
{
    char name[RMQ_NAME];
    size_t keyed, running = 0;
    int status = 0;

    for (size_t i = 0; i < e->n; i++)
        running += was_running(e, &e->found[i]);
    (void)write_notes(q, e, 0, &keyed, false);
    running += keyed;
    wire_begin(&q->wire);
    status = write_notes(q, e, running, &keyed, true);
    ret->messages += keyed;
    for (size_t i = 0; i < e->n && status == 0; i++)
        status = bury_or_free(q, e, &e->found[i], running, ret);
    if (status == 0)
        status = wire_wait(&q->wire);
    for (size_t i = 0; i < e->n && status == 0; i++)
        status = wire_ack(&q->wire, WIRE_LOOK, e->found[i].tag);
    for (size_t i = 0; i < e->lists.n && status == 0; i++)
        status = wire_ack(&q->wire, WIRE_LOOK, e->lists.items[i].tag);
    amqp_queue_purge_t purge = { .queue = wire_bytes(place_list(q, slot, name)) };
    if (status == 0)
        status = wire_send(&q->wire, WIRE_LOOK, AMQP_QUEUE_PURGE_METHOD, &purge, true);
    if (status == 0)
        status = wire_wait(&q->wire);
    return status;
}

/* The list goes last: until then another one can do all of this again. */
static int rescue_slot(struct rmq *q, int slot, struct broker_rescued *ret)
{
    struct estate e = { .n = 0 };
    struct broker_rescued sum = { 1, 0, 0 };
    int status = place_find_tracks(q);

    if (status == 0)
        status = claim(q, slot);
    if (status != 1)
        return status;
    status = find_all(q, &e, slot);
    if (status == 0 && e.no_memory)
        status = wire_fail(&q->wire, BROKER_NO_MEMORY, "out of memory");
    if (status == 0)
        status = share_out(q, &e, slot, &sum);
    if (status == 0)
        status = wire_reopen(&q->wire, WIRE_LOOK);
    else
        wire_drop(&q->wire);
    if (status == 0) {
        ret->workers += sum.workers;
        ret->messages += sum.messages;
        ret->dead += sum.dead;
        memset(q->asked_ns, 0, sizeof q->asked_ns);
    }
    for (size_t i = 0; i < e.n; i++)
        wire_in_free(&e.found[i]);
    free(e.found);
    lists_free(&e.lists);
    return status;
}

/* Slots without a worker, but with something left, of those from `first` on. */
static int watch_some(struct rmq *q, int first, bool due[SLOTS])
{
    char name[RMQ_NAME];
    int64_t now = bide_now_ns();
    int status = 0, end = first + AT_ONCE < q->n_slots ? first + AT_ONCE : q->n_slots;

    wire_begin(&q->wire);
    for (int i = first; i < end && status == 0; i++) {
        status = wire_ask_queue(&q->wire, WIRE_LOOK, place_slot(q, i, name));
        if (status == 0)
            status = wire_ask_queue(&q->wire, WIRE_LOOK, place_list(q, i, name));
    }
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status == 0 && q->wire.refused)
        return wire_reopen(&q->wire, WIRE_LOOK);
    for (int i = first; i < end && status == 0; i++) {
        int at = 2 * (i - first);
        bool gone = i != q->slot && q->wire.queues[at].consumers == 0 &&
                    q->wire.queues[at].messages + q->wire.queues[at + 1].messages > 0;
        if (!gone)
            q->gone_ns[i] = 0;
        else if (!q->gone_ns[i])
            q->gone_ns[i] = now;
        due[i] = gone && now - q->gone_ns[i] >= q->lease_ns / 2;
    }
    return status;
}

static int watch_slots(struct rmq *q, bool due[SLOTS])
{
    int status = 0;

    for (int i = 0; i < q->n_slots && status == 0; i += AT_ONCE)
        status = watch_some(q, i, due);
    return status;
}

int rmq_rescue(struct broker *b, struct broker_rescued *ret)
{
    struct rmq *q = (struct rmq *)b;
    bool due[SLOTS] = { false };
    int status = rmq_ready(q);

    *ret = (struct broker_rescued){ 0, 0, 0 };
    if (status == 0)
        status = settle_wait(q);
    if (status != 0)
        return status;
    status = bell_rest(q);
    if (status == 0)
        status = tracks_turn(q);
    if (status == 0)
        status = slot_renew(q);
    if (status == 0)
        status = place_tick(q);
    if (status == 0 && q->slot >= 0 && hand_is_listed_wrong(q))
        status = hand_publish(q);
    if (status == 0)
        status = watch_slots(q, due);
    for (int i = 0; i < q->n_slots && status == 0; i++)
        if (due[i]) {
            q->gone_ns[i] = 0;
            status = rescue_slot(q, i, ret);
        }
    return rmq_tell(q, status);
}
