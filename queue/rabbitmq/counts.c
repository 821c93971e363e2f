/* How many there are, where, and since when: passive declarations, and a look at the
 * heads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "queue/rabbitmq/hand.h"
#include "queue/rabbitmq/look.h"
#include "queue/rabbitmq/session.h"
#include "queue/rabbitmq/slot.h"
#include "queue/rabbitmq/track.h"

enum { DEAD = LANES + LEVELS, KEYS, QUEUES = KEYS + 2 * TRACKS };

static const char *name_of(const struct rmq *q, int i, char to[RMQ_NAME])
{
    return i < LANES   ? place_lane(q, i, to)
           : i < DEAD  ? place_level(q, i - LANES, to)
           : i == DEAD ? place_dead(q, to)
                       : place_lane(q, i - KEYS + LANE_KEY, to);
}

static int ask_all(struct rmq *q, uint32_t ready[QUEUES])
{
    char name[RMQ_NAME];
    int status = 0, n = q->keyed ? QUEUES : KEYS;

    wire_begin(&q->wire);
    for (int i = 0; i < n && status == 0; i++)
        status = wire_ask_queue(&q->wire, WIRE_LOOK, name_of(q, i, name));
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status == 0 && q->wire.refused) {
        char why[sizeof q->wire.why];
        memcpy(why, q->wire.why, sizeof why);
        status = wire_reopen(&q->wire, WIRE_LOOK);
        if (status == 0)
            status = wire_fail(&q->wire, BROKER_DOWN, "%s", why);
    }
    for (int i = 0; i < n && status == 0; i++)
        ready[i] = q->wire.queues[i].messages;
    return status;
}

/* The heads of what is not empty: who waits longest, and who is due next. On quorum
 * queues every look counts as a delivery, so nobody looks. */
static int look_at_heads(struct rmq *q, const uint32_t ready[QUEUES],
                         struct broker_counts *ret)
{
    char name[RMQ_NAME];
    size_t n = 0;
    int64_t now_ms = rmq_now_ms();
    int status = 0;

    wire_begin(&q->wire);
    for (int i = 0; i < DEAD && status == 0 && !q->url.quorum; i++)
        if (ready[i] > 0)
            status = wire_ask_get(&q->wire, WIRE_LOOK, name_of(q, i, name));
    if (status == 0)
        status = wire_wait(&q->wire);
    struct wire_in *in = calloc(q->wire.n_in + 1, sizeof *in);
    if (!in)
        return rmq_no_memory(q);
    wire_pick(&q->wire, WIRE_LOOK, in, &n);
    for (size_t i = 0; i < n; i++) {
        int64_t due_ms = in[i].message->due_ms;
        if (due_ms > now_ms && (due_ms - now_ms) * 1000000 < ret->next_ns)
            ret->next_ns = (due_ms - now_ms) * 1000000;
        if (due_ms > 0 && (now_ms - due_ms) * 1000000 > ret->oldest_ns)
            ret->oldest_ns = (now_ms - due_ms) * 1000000;
        wire_in_free(&in[i]);
    }
    free(in);
    return status == 0 && n > 0 ? wire_requeue(&q->wire, WIRE_LOOK, 0) : status;
}

/* ===== workers ===== */

static size_t n_lines(const char *text)
{
    size_t n = 0;

    for (; (text = strchr(text, '\n')) != NULL; text++)
        n++;
    return n > 0 ? n - 1 : 0; /* the first says whose it is */
}

/* What its owner has taken out of a track nobody else sees: its list says how much. */
static void count_list(const char *text, struct broker_counts *ret)
{
    size_t waiting = 0, held = 0;

    ret->running += n_lines(text);
    if (sscanf(text, "%*s %*d %zu %zu", &waiting, &held) == 2) {
        ret->waiting += waiting;
        ret->held += held;
    }
}

static int count_workers(struct rmq *q, struct broker_counts *ret)
{
    char name[RMQ_NAME];
    struct lists l = { NULL, 0 };
    int status = q->consume ? 0 : slot_count(q);

    wire_begin(&q->wire);
    for (int i = 0; i < q->n_slots && i < 96 && status == 0; i++)
        status = wire_ask_queue(&q->wire, WIRE_LOOK, place_slot(q, i, name));
    if (status == 0)
        status = wire_wait(&q->wire);
    for (int i = 0; i < q->n_slots && i < 96 && status == 0; i++)
        ret->workers += q->wire.queues[i].consumers > 0;
    ret->running = q->n_hand;
    if (status == 0)
        status = lists_read(q, &l, 0, q->n_slots, q->slot);
    for (size_t i = 0; i < l.n; i++)
        count_list((const char *)l.items[i].message->body, ret);
    lists_free(&l);
    return status;
}

/* ===== reasons ===== */

static bool count_reason(struct rmq *q, struct wire_in *in, void *arg)
{
    struct broker_counts *c = arg;
    const char *reason = *in->reason ? in->reason : "unknown";

    (void)q;
    for (size_t i = 0; i < BROKER_REASONS; i++) {
        if (c->dead_by[i].n == 0)
            memcpy(c->dead_by[i].reason, reason, strlen(reason) + 1);
        if (strcmp(c->dead_by[i].reason, reason) == 0) {
            c->dead_by[i].n++;
            break;
        }
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    const struct {
        char reason[32];
        uint64_t n;
    } *x = a, *y = b;

    return x->n < y->n ? 1 : x->n > y->n ? -1 : 0;
}

/* Read once for as long as their number stays. */
static int count_reasons(struct rmq *q, struct broker_counts *ret)
{
    char name[RMQ_NAME];
    int status = 0;

    if (q->reasons.dead != ret->dead) {
        struct broker_counts c = { .dead = ret->dead };
        status = look_at_queue(q, place_dead(q, name), count_reason, &c);
        qsort(c.dead_by, BROKER_REASONS, sizeof c.dead_by[0], by_number);
        if (status == 0)
            q->reasons = c;
    }
    memcpy(ret->dead_by, q->reasons.dead_by, sizeof ret->dead_by);
    return status;
}

int rmq_counts(struct broker *b, struct broker_counts *ret)
{
    struct rmq *q = (struct rmq *)b;
    uint32_t ready[QUEUES] = { 0 };
    int status = rmq_ready(q);

    if (status != 0)
        return status;
    *ret = (struct broker_counts){ .next_ns = BIDE_FOREVER };
    status = tracks_sync(q); /* what the server has sent us, it does not count */
    if (status == 0)
        status = ask_all(q, ready);
    for (int i = 0; i < DEAD; i++)
        *(i < LANES ? &ret->waiting : &ret->later) += ready[i];
    for (size_t i = 0; i < q->wire.n_in; i++)
        ret->waiting += q->wire.in[i].channel == WIRE_BELL;
    struct track_counts c = tracks_count(q);
    ret->waiting += c.waiting;
    ret->held = c.held;
    for (int i = KEYS; i < QUEUES; i++)
        *(i < KEYS + TRACKS ? &ret->waiting : &ret->held) += ready[i];
    ret->dead = ready[DEAD];
    if (status == 0)
        status = look_at_heads(q, ready, ret);
    if (status == 0)
        status = count_workers(q, ret);
    if (status == 0)
        status = count_reasons(q, ret);
    return rmq_tell(q, status);
}
