/* What ran in workers that are dead: their partitions came to us, with the names of
 * what ran. queue/blame.h decides about each. */
#include <string.h>

#include "queue/blame.h"
#include "queue/kafka/commit.h"
#include "queue/kafka/copies.h"
#include "queue/kafka/deliver.h"
#include "queue/kafka/fetch.h"
#include "queue/kafka/rescue.h"
#include "queue/kafka/topics.h"

static int bury(struct kafka_broker *q, struct kf_slot *s)
{
    static const char said[] = "the worker died";
    char errors[QUEUE_ERRORS_MAX + 1];
    struct kf_send to;
    struct kf_facts f = kf_slot_facts(q, s);
    size_t len;
    const char *found = kf_header(s->record, "bide-errors", &len);

    errors[0] = '\0';
    if (found && len < sizeof errors) {
        memcpy(errors, found, len);
        errors[len] = '\0';
    }
    queue_errors_add(errors, errors, kf_now_ms(q), f.attempt + 1, said);
    int failed = kf_copy(&to, s->record, &f, errors) ||
                 kf_header_add(&to, "bide-reason", "crashed", 7) ||
                 kf_header_add(&to, "bide-class", "crashed", 7);
    to.topic = KF_TOPICS;
    to.partition = s->window->lane->partition;
    int status = failed ? broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory")
                        : kf_send_copies(q, &to, &s, 1);
    kf_send_done(&to, 1);
    if (status == 0 && kf_end_slot(q, s) != 0)
        status = broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    return status;
}

static int rescue_slot(struct kafka_broker *q, struct kf_slot *s,
                       struct broker_rescued *ret)
{
    const struct kf_state *found = &s->window->found;
    struct queue_blame blame = queue_blame(found->n_running, s->deaths,
                                           q->max_deaths);
    int status = 0;

    if (kf_note(q, s) != 0)
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    if (strcmp(found->worker, q->last_dead) != 0) {
        memcpy(q->last_dead, found->worker, sizeof q->last_dead);
        ret->workers++;
    }
    s->deaths = blame.deaths;
    s->suspect = blame.suspect;
    q->suspects = true;
    s->window->dirty = true;
    if (blame.dead)
        status = bury(q, s);
    else
        s->stage = KF_WAITING;
    if (status != 0)
        return status;
    (void)kf_line_up(&q->order, s);
    ret->messages++;
    ret->dead += blame.dead;
    return 0;
}

static int rescue_window(struct kafka_broker *q, struct kf_window *w,
                         struct broker_rescued *ret)
{
    int status = 0;

    for (size_t i = 0; i < w->found.n_marks && status == 0; i++) {
        const struct kf_mark *m = &w->found.marks[i];
        struct kf_slot *s = m->running && kf_window_has_room(w, m->offset)
                                ? *kf_window_at(w, m->offset)
                                : NULL;
        if (s && s->stage == KF_ORPHAN)
            status = rescue_slot(q, s, ret);
    }
    return status;
}

int kf_rescue(struct broker *b, struct broker_rescued *ret)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    int status = kf_ready(q);

    *ret = (struct broker_rescued){ 0, 0, 0 };
    if (status == 0)
        status = kf_fetch(q, 1);
    for (struct kf_lane *l = q->lanes; l && status == 0; l = l->next)
        for (int t = 0; t < KF_TOPICS && status == 0; t++)
            status = rescue_window(q, &l->windows[t], ret);
    int committed = kf_commit(q);
    if (status == 0)
        status = committed;
    if (status != 0)
        *ret = (struct broker_rescued){ 0, 0, 0 };
    return status;
}
