/* A list: it is short, and mostly empty. */
#include "queue/kafka/ghosts.h"

#include <stdlib.h>

struct kf_ghost {
    uint64_t token;
    int topic;
    int32_t partition;
    int64_t offset;
};

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
                                                  .offset = s->offset };
}

void kf_ghost_end(struct kafka_broker *q, uint64_t token)
{
    for (size_t i = 0; i < q->n_ghosts; i++)
        if (q->ghosts[i].token == token) {
            q->ghosts[i] = q->ghosts[--q->n_ghosts];
            return;
        }
}

bool kf_ghost_runs(const struct kafka_broker *q, const struct kf_slot *s)
{
    for (size_t i = 0; i < q->n_ghosts; i++)
        if (q->ghosts[i].offset == s->offset &&
            q->ghosts[i].topic == s->window->topic &&
            q->ghosts[i].partition == s->window->lane->partition)
            return true;
    return false;
}
