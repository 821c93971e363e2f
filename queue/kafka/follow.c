/* Those that wait behind one of their key move with it. */
#include "queue/kafka/follow.h"

#include "bide/run.h"
#include "queue/kafka/commit.h"
#include "queue/kafka/copies.h"
#include "queue/kafka/deliver.h"
#include "queue/kafka/fetch.h"

/* The message before which it has to wait, if that waits in a retry topic. */
static const struct kf_slot *leader(const struct kf_slot *s, int64_t now_ns)
{
    const struct kf_slot *first = s->key ? s->key->first : NULL;

    return first && first != s && !s->large && first->window->topic != KF_MAIN &&
                   first->place != INT64_MAX && first->due_ns > now_ns &&
                   (first->stage == KF_WAITING || first->stage == KF_AWAITED)
               ? first
               : NULL;
}

static int move_one(const struct kafka_broker *q, struct kf_send *to,
                    const struct kf_slot *s, const struct kf_slot *first,
                    int64_t now_ns)
{
    struct kf_facts f = kf_slot_facts(q, s);
    char errors[1] = "";

    f.delay_ms = (first->due_ns - now_ns) / KF_MS + 1;
    if (kf_copy(to, s->record, &f, errors) != 0)
        return -1;
    to->topic = first->window->topic;
    to->partition = s->window->lane->partition;
    return 0;
}

enum { MOVES = 256 };

static size_t find_followers(struct kafka_broker *q, struct kf_slot **to,
                             int64_t now_ns)
{
    size_t n = 0;

    for (struct kf_lane *l = q->lanes; l; l = l->next) {
        struct kf_window *w = &l->windows[KF_MAIN];
        for (int64_t at = w->base; at < w->next && n < MOVES; at++) {
            struct kf_slot *s = *kf_window_at(w, at);
            if (s && s->stage == KF_WAITING && leader(s, now_ns))
                to[n++] = s;
        }
    }
    return n;
}

int kf_move_followers(struct kafka_broker *q)
{
    struct kf_slot *list[MOVES];
    struct kf_send sends[MOVES];
    int64_t now = bide_now_ns(), due[MOVES];
    size_t n = find_followers(q, list, now), described = 0;
    int status = n ? kf_prove(q) : 0;

    if (n == 0 || status != 0)
        return q->fenced ? 0 : status;
    for (size_t i = 0; i < n && status == 0; i++) {
        const struct kf_slot *first = leader(list[i], now);
        due[i] = first->due_ns;
        described = i + 1;
        if (move_one(q, &sends[i], list[i], first, now) != 0)
            status = broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    }
    if (status == 0)
        status = kf_send_but_large(q, sends, n);
    for (size_t i = 0; i < n && status == 0; i++) {
        list[i]->large = sends[i].err != 0; /* it waits where it is */
        if (list[i]->large)
            continue;
        kf_await(q, sends[i].topic, sends[i].partition, sends[i].offset,
                 list[i]->place, due[i] - bide_now_ns(), list[i]->attempt,
                 list[i]->record->key, list[i]->record->key_len);
        if (kf_end_slot(q, list[i]) != 0)
            status = broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    }
    kf_send_done(sends, described);
    return status;
}
