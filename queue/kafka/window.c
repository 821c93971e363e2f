/* The ring of slots of one partition. */
#include "queue/kafka/window.h"

#include <stdlib.h>

struct kf_slot kf_gone = { .stage = KF_DONE };

static void count_marked(struct kf_window *w, const struct kf_state *s)
{
    w->n_marked = 0;
    for (size_t i = 0; i < s->n_marks; i++)
        w->n_marked += kf_mark_matters(&s->marks[i]);
    w->n_marked -= w->n_running < w->n_marked ? w->n_running : w->n_marked;
}

int kf_window_init(struct kf_window *w, struct kf_lane *lane, int topic,
                   int64_t base, const char *state)
{
    *w = (struct kf_window){ .lane = lane,
                             .topic = topic,
                             .base = base,
                             .next = base,
                             .top = base,
                             .slots = calloc(KF_WINDOW, sizeof(struct kf_slot *)) };
    if (!w->slots)
        return -1;
    (void)kf_state_read(&w->found, base, state);
    count_marked(w, &w->found);
    for (int64_t i = 0; i < KF_WINDOW; i++)
        if (kf_state_done(&w->found, base + i)) {
            *kf_window_at(w, base + i) = &kf_gone;
            w->top = base + i + 1;
        }
    return 0;
}

void kf_window_hold(struct kf_slot *s, rd_kafka_message_t *record)
{
    s->record = record;
    s->window->bytes += record->len;
}

/* The only place where a record is let go: so `bytes` is what is held, whatever was
 * done, undone or lost in between. */
static void free_slot(struct kf_slot *s)
{
    if (!s || s == &kf_gone)
        return;
    if (s->record) {
        s->window->bytes -= s->record->len;
        rd_kafka_message_destroy(s->record);
    }
    free(s);
}

void kf_window_remove(struct kf_window *w, int64_t offset)
{
    free_slot(*kf_window_at(w, offset));
    *kf_window_at(w, offset) = NULL;
}

void kf_window_done(struct kf_window *w)
{
    for (int i = 0; w->slots && i < KF_WINDOW; i++)
        free_slot(w->slots[i]);
    free(w->slots);
    if (w->parked)
        rd_kafka_message_destroy(w->parked);
    if (w->queue)
        rd_kafka_queue_destroy(w->queue);
}

struct kf_slot *kf_window_add(struct kf_window *w, int64_t offset)
{
    struct kf_slot *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->window = w;
    s->offset = offset;
    *kf_window_at(w, offset) = s;
    if (offset >= w->top)
        w->top = offset + 1;
    return s;
}

void kf_window_skip(struct kf_window *w, int64_t offset)
{
    for (; w->next < offset; w->next++) {
        if (!kf_window_has_room(w, w->next)) {
            w->next = offset; /* all of the window was skipped */
            break;
        }
        struct kf_slot **at = kf_window_at(w, w->next);
        if (!*at)
            *at = &kf_gone;
        w->dirty = true;
    }
    if (w->top < w->next)
        w->top = w->next;
}

/* The first offset that is not done. */
static int64_t first_left(const struct kf_window *w)
{
    int64_t at = w->base;

    while (at < w->next && kf_window_has_room(w, at) && *kf_window_at(w, at) &&
           (*kf_window_at(w, at))->stage == KF_DONE)
        at++;
    return at == w->base + KF_WINDOW && at < w->next ? w->next : at;
}

void kf_window_state(struct kf_window *w, struct kf_state *ret)
{
    *ret = (struct kf_state){ .base = first_left(w) };
    for (int64_t at = ret->base; at < w->top && kf_window_has_room(w, at); at++) {
        const struct kf_slot *s = *kf_window_at(w, at);
        const struct kf_mark *m = NULL;
        if (!s) { /* not fetched yet: what we were told about it stands */
            if ((m = kf_state_mark(&w->found, at)) != NULL)
                kf_state_add_mark(ret, m);
        } else if (s->stage == KF_DONE) {
            kf_state_set_done(ret, at);
        } else if ((s->deliveries || s->deaths || s->suspect) &&
                   s->stage != KF_AWAITED) {
            kf_state_add_mark(
                ret, &(struct kf_mark){ .offset = at,
                                        .deliveries = s->deliveries,
                                        .deaths = s->deaths,
                                        .suspect = s->suspect,
                                        .running = s->stage == KF_RUNNING ||
                                                   s->stage == KF_ORPHAN });
        }
    }
    for (size_t i = 0; i < w->found.n_marks; i++) /* behind the top */
        if (w->found.marks[i].offset >= w->top)
            kf_state_add_mark(ret, &w->found.marks[i]);
    count_marked(w, ret);
}

void kf_window_committed(struct kf_window *w)
{
    int64_t base = first_left(w);

    for (int64_t at = w->base; at < w->top && at - w->base < KF_WINDOW; at++) {
        struct kf_slot **s = kf_window_at(w, at);
        if (*s && (*s)->stage == KF_DONE) {
            free_slot(*s);
            *s = at < base ? NULL : &kf_gone;
        }
    }
    w->base = base;
}
