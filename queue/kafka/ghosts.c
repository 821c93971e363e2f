/* A list: it is short, and mostly empty. */
#include "queue/kafka/ghosts.h"

#include <stdlib.h>

struct kf_ghost {
    uint64_t token;
    int topic;
    int32_t partition;
    int64_t offset;
    int64_t written_ms; /* of its record: a topic may be made again */
    bool copied;
    bool over;
};

static int64_t written(const struct kf_slot *s)
{
    rd_kafka_timestamp_type_t type;

    return rd_kafka_message_timestamp(s->record, &type);
}

void kf_ghost_add(struct kafka_broker *q, const struct kf_slot *s)
{
    struct kf_ghost *more = realloc(q->ghosts, (q->n_ghosts + 1) * sizeof *more);

    if (!more)
        return;
    q->ghosts = more;
    q->ghosts[q->n_ghosts++] = (struct kf_ghost){ .token = s->token,
                                                  .topic = s->window->topic,
                                                  .partition =
                                                      s->window->lane->partition,
                                                  .offset = s->offset,
                                                  .written_ms = written(s),
                                                  .copied = s->copied };
}

static void drop(struct kafka_broker *q, struct kf_ghost *g)
{
    *g = q->ghosts[--q->n_ghosts];
}

static bool is_of(const struct kf_ghost *g, const struct kf_slot *s)
{
    return g->offset == s->offset && g->topic == s->window->topic &&
           g->partition == s->window->lane->partition &&
           g->written_ms == written(s);
}

static struct kf_ghost *find(const struct kafka_broker *q, const struct kf_slot *s)
{
    for (size_t i = 0; i < q->n_ghosts; i++)
        if (is_of(&q->ghosts[i], s))
            return &q->ghosts[i];
    return NULL;
}

/* Its message, if that has come back, and waits. */
static struct kf_slot *slot_of(const struct kafka_broker *q, const struct kf_ghost *g)
{
    struct kf_lane *l = kf_lane_of(q, g->partition);
    const struct kf_window *w = l ? &l->windows[g->topic] : NULL;
    struct kf_slot *s = w && kf_window_has_room(w, g->offset)
                            ? *kf_window_at(w, g->offset)
                            : NULL;

    return s && (s->stage == KF_WAITING || s->stage == KF_ORPHAN) && is_of(g, s) ? s
                                                                                : NULL;
}

struct kf_slot *kf_ghost_end(struct kafka_broker *q, uint64_t token, bool done)
{
    for (size_t i = 0; i < q->n_ghosts; i++) {
        struct kf_ghost *g = &q->ghosts[i];
        if (g->token != token)
            continue;
        g->over = done || g->copied;
        if (g->over)
            return slot_of(q, g);
        drop(q, g);
        return NULL;
    }
    return NULL;
}

bool kf_ghost_holds(const struct kafka_broker *q, const struct kf_slot *s)
{
    return find(q, s) != NULL;
}

bool kf_ghost_is_over(const struct kafka_broker *q, const struct kf_slot *s)
{
    const struct kf_ghost *g = find(q, s);

    return g && g->over;
}

bool kf_ghost_back(struct kafka_broker *q, struct kf_slot *s)
{
    struct kf_ghost *g = find(q, s);

    if (!g || g->over)
        return false;
    s->token = g->token;
    s->copied = g->copied;
    drop(q, g);
    return true;
}

void kf_ghosts_told(struct kafka_broker *q, const struct kf_window *w)
{
    for (size_t i = q->n_ghosts; i-- > 0;) {
        struct kf_ghost *g = &q->ghosts[i];
        if (g->over && g->topic == w->topic &&
            g->partition == w->lane->partition &&
            kf_state_done(&w->found, g->offset))
            drop(q, g);
    }
}
