/* Which tracks are ours, and what is known of them. */
#include "queue/rabbitmq/track.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/rabbitmq/proof.h"
#include "queue/rabbitmq/slot.h"
#include "queue/rabbitmq/track_in.h"

#define S INT64_C(1000000000)
#define AGAIN_NS (S / 5) /* until a track that was not free is tried again */

/* A queue without keys is looked at ever more rarely: the server logs each time that they
 * are not there. Who makes them says so first, but may die in between. */
#define LOOK_NS      (4 * S)
#define LOOK_MOST_NS (3600 * S)

uint64_t track_hash(const char *key)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */

    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * UINT64_C(1099511628211);
    h ^= h >> 32;
    return h ? h : 1;
}

int track_of(const char *key)
{
    return (int)(track_hash(key) % TRACKS);
}

/* ===== the table ===== */

static void free_entry(struct track_entry *e)
{
    free(e->label);
    queue_message_free(e->message);
}

void track_clear(struct track *t)
{
    for (size_t i = 0; i < t->n; i++)
        free_entry(&t->entries[i]);
    for (size_t i = 0; i < t->n_strays; i++)
        free(t->strays[i].text);
    proof_clear(t);
    free(t->entries);
    free(t->strays);
    *t = (struct track){ .n = 0 };
}

void tracks_forget(struct rmq *q)
{
    for (int i = 0; i < TRACKS; i++)
        track_clear(&q->tracks[i]);
    memset(q->later_ns, 0, sizeof q->later_ns);
    q->tracks_ns = 0;
    q->look_wait_ns = LOOK_NS;
    q->look_ns = bide_now_ns() + LOOK_NS;
}

void tracks_expect(struct rmq *q)
{
    q->look_wait_ns = S / 10;
    q->look_ns = 0;
}

/* The place of a number: of the first that is not below it. */
static size_t place_of_seq(const struct track *t, uint64_t seq)
{
    size_t low = 0, high = t->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (t->entries[mid].seq < seq)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct track_entry *track_find(struct track *t, uint64_t seq)
{
    size_t i = place_of_seq(t, seq);

    return i < t->n && t->entries[i].seq == seq ? &t->entries[i] : NULL;
}

struct track_entry *track_add(struct track *t, uint64_t seq)
{
    if (t->n == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        struct track_entry *more = realloc(t->entries, room * sizeof *more);
        if (!more)
            return NULL;
        t->entries = more;
        t->room = room;
    }
    size_t i = place_of_seq(t, seq);
    memmove(&t->entries[i + 1], &t->entries[i], (t->n++ - i) * sizeof *t->entries);
    t->entries[i] = (struct track_entry){ .seq = seq };
    if (seq > t->last_seq)
        t->last_seq = seq;
    t->changed = true;
    return &t->entries[i];
}

static void compact(struct track *t)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->n; i++)
        if (t->entries[i].gone)
            free_entry(&t->entries[i]);
        else
            t->entries[kept++] = t->entries[i];
    t->n = kept;
}

/* A set of hashes. Threads: owned. */
struct set {
    uint64_t *at;
    size_t mask;
};

/* False: it is there already. */
static bool put_into(struct set *s, uint64_t hash)
{
    size_t i = (size_t)(hash >> 7) & s->mask;

    for (; s->at[i]; i = (i + 1) & s->mask)
        if (s->at[i] == hash)
            return false;
    s->at[i] = hash;
    return true;
}

static void close_key(void *set, uint64_t hash)
{
    (void)put_into(set, hash);
}

/* Nothing of a key that may run elsewhere, or somewhere unknown, is its first. */
void track_heads(const struct rmq *q, struct track *t)
{
    size_t room = 16;

    if (!t->changed)
        return;
    compact(t);
    while (room < 2 * (t->n + t->n_runs + q->n_hand) + 2)
        room *= 2;
    struct set seen = { calloc(room, sizeof *seen.at), room - 1 };
    if (seen.at)
        proof_closed(q, t, close_key, &seen);
    for (size_t i = 0; i < t->n; i++) /* no memory: nothing may run now */
        t->entries[i].head = seen.at && put_into(&seen, t->entries[i].hash);
    t->changed = seen.at == NULL;
    free(seen.at);
}

/* ===== claiming ===== */

static const char *name_fresh(const struct rmq *q, int i, char to[RMQ_NAME])
{
    return place_lane(q, LANE_KEY + i, to);
}

static const char *name_held(const struct rmq *q, int i, char to[RMQ_NAME])
{
    return place_lane(q, LANE_HELD + i, to);
}

static int set_prefetch(struct rmq *q, int channel, uint16_t n)
{
    amqp_basic_qos_t m = { .prefetch_count = n };

    return wire_send(&q->wire, channel, AMQP_BASIC_QOS_METHOD, &m, true);
}

static int consume(struct rmq *q, int i, const char *queue, const char *tag, uint16_t n)
{
    amqp_basic_consume_t m = { .queue = wire_bytes(queue),
                               .consumer_tag = wire_bytes(tag) };
    int status = set_prefetch(q, WIRE_TRACK + i, n);

    return status == 0 ? wire_send(&q->wire, WIRE_TRACK + i, AMQP_BASIC_CONSUME_METHOD,
                                   &m, true)
                       : status;
}

/* Closes its channel: the server takes back what it held. */
static int leave(struct rmq *q, int i)
{
    struct wire *w = &q->wire;
    size_t kept = 0;

    track_clear(&q->tracks[i]);
    proof_detach(q, i);
    int status = wire_close(w, WIRE_TRACK + i);
    for (size_t j = 0; j < w->n_in; j++)
        if (w->in[j].channel == WIRE_TRACK + i)
            wire_in_free(&w->in[j]);
        else
            w->in[kept++] = w->in[j];
    w->n_in = kept;
    return status;
}

/* Whose tracks they are is decided by the slots that live: in turn. */
static int find_mine(struct rmq *q, bool mine[TRACKS])
{
    bool alive[SLOTS] = { false };
    int n = 0, before = 0;
    int status = slot_alive(q, alive);

    alive[q->slot] = true;
    for (int i = 0; i < SLOTS; i++) {
        n += alive[i];
        before += alive[i] && i < q->slot;
    }
    for (int i = 0; i < TRACKS; i++)
        mine[i] = i % n == before;
    for (size_t i = 0; i < q->n_hand; i++)
        if (q->hand[i].track >= 0) /* it runs here, or did before a connection failed */
            mine[q->hand[i].track] = true;
    return status;
}

/* Those that nobody consumes. */
static int find_free(struct rmq *q, bool want[TRACKS])
{
    char name[RMQ_NAME];
    int status = 0;

    wire_begin(&q->wire);
    for (int i = 0; i < TRACKS && status == 0; i++)
        status = wire_ask_queue(&q->wire, WIRE_LOOK, name_held(q, i, name));
    if (status == 0)
        status = wire_wait(&q->wire);
    if (status == 0 && q->wire.refused)
        status = wire_fail(&q->wire, BROKER_DOWN, "%.250s", q->wire.why);
    for (int i = 0; i < TRACKS && status == 0; i++)
        want[i] = want[i] && q->wire.queues[i].consumers == 0;
    return status;
}

/* Consumes B, and publishes a mark behind all that is there. */
static int read_held(struct rmq *q, const bool want[TRACKS])
{
    char name[RMQ_NAME];
    int status = 0;

    for (int i = 0; i < TRACKS && status == 0; i++)
        if (want[i])
            status = wire_reopen(&q->wire, WIRE_TRACK + i);
    wire_begin(&q->wire);
    for (int i = 0; i < TRACKS && status == 0; i++)
        if (want[i]) {
            q->tracks[i].consumes = true;
            status = consume(q, i, name_held(q, i, name), "2", UINT16_MAX);
            if (status == 0)
                status = proof_mark(q, i, &q->tracks[i].claim_ns);
        }
    if (status == 0)
        status = wire_wait(&q->wire);
    return status == 0 ? tracks_sync(q) : status;
}

/* Another one was faster, or one that was faster once may come back for it. */
static int let_go(struct rmq *q, int i)
{
    if (q->tracks[i].owned)
        q->later_ns[i] = bide_now_ns() + proof_look_ns(q);
    return leave(q, i);
}

static int claim(struct rmq *q, bool want[TRACKS])
{
    char name[RMQ_NAME];
    int status = read_held(q, want);

    wire_begin(&q->wire);
    for (int i = 0; i < TRACKS && status == 0; i++)
        if (want[i] && (!q->tracks[i].owned || proof_is_awaited(q, &q->tracks[i])))
            status = let_go(q, i);
        else if (want[i])
            status = consume(q, i, name_fresh(q, i, name), "1", TRACK_WINDOW);
    if (status == 0)
        status = wire_wait(&q->wire);
    return status == 0 ? tracks_sync(q) : status;
}

static bool runs_here(const struct track *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->entries[i].runs && !t->entries[i].gone)
            return true;
    return false;
}

static int look_for_tracks(struct rmq *q, int64_t now)
{
    if (q->keyed || now < q->look_ns)
        return 0;
    int status = place_find_tracks(q);
    q->look_ns = now + q->look_wait_ns;
    q->look_wait_ns *= 4;
    if (q->look_wait_ns > LOOK_MOST_NS)
        q->look_wait_ns = LOOK_MOST_NS;
    return status;
}

int tracks_balance(struct rmq *q)
{
    bool mine[TRACKS] = { false }, want[TRACKS], any = false;
    int64_t now = bide_now_ns();
    int status = look_for_tracks(q, now);

    if (status != 0 || !q->keyed || now < q->tracks_ns)
        return status;
    status = find_mine(q, mine);
    for (int i = 0; i < TRACKS && status == 0; i++) {
        struct track *t = &q->tracks[i];
        if (t->consumes && !mine[i] && !runs_here(t) && proof_is_quiet(t))
            status = leave(q, i);
        want[i] = mine[i] && !t->consumes && now >= q->later_ns[i];
        any |= want[i];
    }
    if (status == 0 && any)
        status = find_free(q, want);
    for (int i = 0; i < TRACKS && any; i++)
        if (want[i] && status == 0) {
            status = claim(q, want);
            break;
        }
    q->tracks_ns = now + S;
    for (int i = 0; i < TRACKS; i++)
        if (mine[i] && !q->tracks[i].consumes)
            q->tracks_ns = now + AGAIN_NS;
    return status;
}

/* An answer on a channel comes behind all that the server had for it. */
int tracks_sync(struct rmq *q)
{
    int status = 0;

    wire_begin(&q->wire);
    for (int i = 0; i < TRACKS && status == 0; i++)
        if (q->tracks[i].consumes)
            status = set_prefetch(q, WIRE_TRACK + i, TRACK_WINDOW);
    if (status == 0)
        status = wire_wait(&q->wire);
    q->tracks_asked = false;
    return status == 0 ? tracks_receive(q) : status;
}

int tracks_end(struct rmq *q)
{
    int status = tracks_sync(q);

    for (int i = 0; i < TRACKS && status == 0; i++)
        status = proof_sweep(q, &q->tracks[i]);
    return status;
}

/* ===== how many ===== */

bool tracks_rang(const struct rmq *q)
{
    for (size_t i = 0; i < q->wire.n_in; i++)
        if (q->wire.in[i].channel >= WIRE_TRACK)
            return true;
    return false;
}

struct track_counts tracks_count(struct rmq *q)
{
    struct track_counts c = { 0, 0 };

    for (int i = 0; i < TRACKS; i++) {
        track_heads(q, &q->tracks[i]);
        for (size_t j = 0; j < q->tracks[i].n; j++) {
            const struct track_entry *e = &q->tracks[i].entries[j];
            if (e->gone || e->runs || (e->head && !e->due))
                continue; /* what waits is counted by its alarm */
            *(e->head ? &c.waiting : &c.held) += 1;
        }
    }
    return c;
}
