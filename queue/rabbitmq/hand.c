/* What the worker holds, and what all workers hold. */
#include "queue/rabbitmq/hand.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/rabbitmq/track.h"

/* How often a list that is not there is asked for, and after what. */
enum { READS = 5, READ_MS = 10 };

/* The counts change with every copy. Ids and keys hold no byte below space. */
size_t hand_label(char to[HAND_LABEL], const struct queue_message *m)
{
    return (size_t)snprintf(to, HAND_LABEL, "\n%s\t%s\t%d\t%u\t%u\t%u\t%u\t", m->id, m->key,
                            m->priority, m->attempt, m->deliveries, m->deaths,
                            m->generation);
}

static char *line_of(const struct queue_message *m)
{
    char label[HAND_LABEL], *line;

    hand_label(label, m);
    int n = asprintf(&line, "%s%" PRIu64 "\t%" PRId64 "\t%" PRId64 "\n", label + 1,
                     m->token, m->queued_ms, m->due_ms);
    return n < 0 ? NULL : line;
}

int hand_add(struct rmq *q, struct queue_message *m, uint16_t channel, uint64_t tag)
{
    if (q->n_hand == q->room_hand) {
        size_t room = q->room_hand ? 2 * q->room_hand : 64;
        struct rmq_hand *more = realloc(q->hand, room * sizeof *more);
        if (!more)
            return -1;
        q->hand = more;
        q->room_hand = room;
    }
    m->token = ++q->last_token;
    char *line = line_of(m);
    if (!line)
        return -1;
    q->hand[q->n_hand] = (struct rmq_hand){
        .token = m->token, .line = line, .track = -1, .message = m
    };
    hand_attach(&q->hand[q->n_hand++], channel, tag);
    return 0;
}

/* Who asks for one asks for the next of them after that, mostly. */
struct rmq_hand *hand_find(struct rmq *q, uint64_t token)
{
    for (size_t n = 0; n < q->n_hand; n++) {
        if (q->next_hand >= q->n_hand)
            q->next_hand = 0;
        struct rmq_hand *h = &q->hand[q->next_hand++];
        if (h->token == token)
            return h;
    }
    return NULL;
}

struct rmq_hand *hand_unattached(struct rmq *q, const struct queue_message *m)
{
    char label[HAND_LABEL];
    size_t len = hand_label(label, m) - 1;

    for (size_t i = 0; i < q->n_hand; i++)
        if (!q->hand[i].attached && strncmp(q->hand[i].line, label + 1, len) == 0)
            return &q->hand[i];
    return NULL;
}

void hand_attach(struct rmq_hand *h, uint16_t channel, uint64_t tag)
{
    h->channel = channel;
    h->tag = tag;
    h->attached = true;
    h->since_ns = bide_now_ns();
}

void hand_drop(struct rmq *q, struct rmq_hand *h)
{
    if (h->track >= 0)
        q->tracks[h->track].changed = true; /* its key may go on */
    free(h->line);
    *h = q->hand[--q->n_hand];
    q->listed_wrong = true;
}

void hand_settled(struct rmq *q, struct rmq_hand *h, int64_t queued_ms)
{
    const size_t most = sizeof q->settled / sizeof q->settled[0];
    struct rmq_settled *s = &q->settled[q->n_settled++ % most];

    free(s->line);
    *s = (struct rmq_settled){ h->line, queued_ms, q->wire.number };
    h->line = NULL;
    hand_drop(q, h);
}

bool hand_was_settled(const struct rmq *q, const struct queue_message *m)
{
    char label[HAND_LABEL];
    size_t len = hand_label(label, m) - 1;

    for (size_t i = 0; i < sizeof q->settled / sizeof q->settled[0]; i++) {
        const struct rmq_settled *s = &q->settled[i];
        if (s->line && s->connection < q->wire.number &&
            s->queued_ms == m->queued_ms && strncmp(s->line, label + 1, len) == 0)
            return true;
    }
    return false;
}

void hand_drop_all(struct rmq *q)
{
    while (q->n_hand > 0)
        hand_drop(q, &q->hand[0]);
}

void hand_drop_unkeyed(struct rmq *q)
{
    for (size_t i = q->n_hand; i-- > 0;)
        if (q->hand[i].track < 0)
            hand_drop(q, &q->hand[i]);
}

/* What the server has sent us, and nobody has taken. */
static struct track_counts count_sent(struct rmq *q)
{
    struct track_counts c = tracks_count(q);

    for (size_t i = 0; i < q->wire.n_in; i++)
        c.waiting += q->wire.in[i].channel == WIRE_BELL;
    return c;
}

bool hand_is_listed_wrong(struct rmq *q)
{
    struct track_counts c = count_sent(q);

    return q->listed_wrong || c.waiting != q->listed_waiting || c.held != q->listed_held;
}

int hand_publish(struct rmq *q)
{
    char name[RMQ_NAME], head[96];
    struct track_counts c = count_sent(q);
    amqp_basic_properties_t p = { ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG,
                                  .delivery_mode = AMQP_DELIVERY_PERSISTENT };
    size_t size = (size_t)snprintf(head, sizeof head, "%s %d %zu %zu\n", q->worker,
                                   q->slot, c.waiting, c.held);
    size_t at = size;

    for (size_t i = 0; i < q->n_hand; i++)
        size += strlen(q->hand[i].line);
    char *text = malloc(size + 1);
    if (!text)
        return wire_fail(&q->wire, BROKER_NO_MEMORY, "out of memory");
    memcpy(text, head, at);
    for (size_t i = 0; i < q->n_hand; i++) {
        size_t len = strlen(q->hand[i].line);
        memcpy(text + at, q->hand[i].line, len);
        at += len;
    }
    q->listed_wrong = false;
    q->listed_waiting = c.waiting;
    q->listed_held = c.held;
    int status = wire_publish(&q->wire, "", place_list(q, q->slot, name), &p, text, at);
    free(text);
    return status;
}

/* ===== the lists of all workers ===== */

static int slot_of(const struct wire_in *list)
{
    const char *space = strchr((const char *)list->message->body, ' ');

    return space ? atoi(space + 1) : -1;
}

/* Reads what is there of those that are missing. */
static int read_missing(struct rmq *q, struct lists *ret, int end, bool missing[SLOTS])
{
    struct wire *w = &q->wire;
    char name[RMQ_NAME];
    size_t before = ret->n;
    int status = 0;

    wire_begin(w);
    for (int i = 0; i < end && status == 0; i++)
        if (missing[i])
            status = wire_ask_get(w, WIRE_LOOK, place_list(q, i, name));
    if (status == 0)
        status = wire_wait(w);
    if (status == 0)
        status = w->refused ? wire_reopen(w, WIRE_LOOK) : wire_requeue(w, WIRE_LOOK, 0);
    if (status != 0)
        return status;
    struct wire_in *more = realloc(ret->items, (before + w->n_in + 1) * sizeof *more);
    if (!more)
        return wire_fail(w, BROKER_NO_MEMORY, "out of memory");
    ret->items = more;
    wire_pick(w, WIRE_LOOK, ret->items, &ret->n);
    for (size_t i = before; i < ret->n; i++) {
        int slot = slot_of(&ret->items[i]);
        if (slot >= 0 && slot < SLOTS)
            missing[slot] = false;
    }
    return 0;
}

static int read_lists(struct rmq *q, struct lists *ret, int first, int end, int but,
                      int rounds)
{
    bool missing[SLOTS] = { false };
    int status = 0, left = 1;

    for (int i = first; i < end; i++)
        missing[i] = i != but;
    for (int round = 0; round < rounds && left > 0 && status == 0; round++) {
        if (round > 0)
            poll(NULL, 0, READ_MS);
        status = read_missing(q, ret, end, missing);
        left = 0;
        for (int i = first; i < end; i++)
            left += missing[i];
    }
    return status;
}

int lists_read(struct rmq *q, struct lists *ret, int first, int end, int but)
{
    return read_lists(q, ret, first, end, but, 1);
}

int lists_read_well(struct rmq *q, struct lists *ret, int first, int end, int but)
{
    return read_lists(q, ret, first, end, but, READS);
}

int lists_get(struct rmq *q, struct lists *ret, int slot)
{
    char name[RMQ_NAME];

    wire_begin(&q->wire);
    ret->items = calloc(1, sizeof *ret->items);
    if (!ret->items)
        return wire_fail(&q->wire, BROKER_NO_MEMORY, "out of memory");
    int status = wire_ask_get(&q->wire, WIRE_LOOK, place_list(q, slot, name));
    if (status == 0)
        status = wire_wait(&q->wire);
    for (size_t i = 0; i < q->wire.n_in && status == 0; i++)
        if (q->wire.in[i].channel == WIRE_LOOK && q->wire.in[i].consumer < 0) {
            ret->items[ret->n++] = q->wire.in[i];
            memmove(&q->wire.in[i], &q->wire.in[i + 1],
                    (--q->wire.n_in - i) * sizeof *q->wire.in);
            break;
        }
    return status;
}

int lists_find(const struct lists *l, const struct queue_message *m,
               uint64_t *ret_token)
{
    char label[HAND_LABEL];
    size_t len = hand_label(label, m);

    for (size_t i = 0; i < l->n; i++) {
        const char *text = (const char *)l->items[i].message->body;
        const char *line = strstr(text, label), *space = strchr(text, ' ');
        if (!line || !space)
            continue;
        *ret_token = strtoull(line + len, NULL, 10);
        return atoi(space + 1);
    }
    return -1;
}

void lists_free(struct lists *l)
{
    for (size_t i = 0; i < l->n; i++)
        wire_in_free(&l->items[i]);
    free(l->items);
    *l = (struct lists){ NULL, 0 };
}

struct queue_message *lists_message(const char **at)
{
    const char *line = *at, *end = strchr(line, '\n');
    char id[QUEUE_ID_MAX + 1], key[QUEUE_ID_MAX + 1];
    struct queue_message counts = { 0 };

    if (!end || strcspn(line, "\t") > QUEUE_ID_MAX)
        return NULL;
    *at = end + 1;
    const char *tab = line + strcspn(line, "\t");
    const char *next = *tab ? tab + 1 + strcspn(tab + 1, "\t") : tab;
    if (!*next || next - tab - 1 > QUEUE_ID_MAX)
        return NULL;
    snprintf(id, sizeof id, "%.*s", (int)(tab - line), line);
    snprintf(key, sizeof key, "%.*s", (int)(next - tab - 1), tab + 1);
    sscanf(next, "\t%d\t%u\t%u\t%u\t%u\t%*u\t%" SCNd64 "\t%" SCNd64,
           &counts.priority, &counts.attempt, &counts.deliveries, &counts.deaths,
           &counts.generation, &counts.queued_ms, &counts.due_ms);
    struct queue_message *m =
        queue_message_new(&(struct queue_text){ .id = id, .key = key });
    if (m) {
        m->priority = counts.priority;
        m->attempt = counts.attempt;
        m->deliveries = counts.deliveries;
        m->deaths = counts.deaths;
        m->generation = counts.generation;
        m->queued_ms = counts.queued_ms;
        m->due_ms = counts.due_ms;
    }
    return m;
}
