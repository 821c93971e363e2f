/* queue/kafka/state.h: what is remembered about a partition beside its offset.
 *
 *     struct kf_state s;
 *     if (kf_state_read(&s, 4711, "bide1 7f3a90bc 1|2.1.0.r|2.1") == 0)
 *         ...             // 4713 ran, in a worker that ran nothing else; 4713
 *                         // is not done, 4711, 4712 and 4714 are
 *     char text[KF_STATE_TEXT];
 *     kf_state_write(text, &s);
 *
 * Kafka stores one offset for each partition of a group, and a short text with
 * it. Both are replaced together, are refused if the group no longer knows the
 * writer, and are read by whoever gets the partition next. So the text is where
 * bide keeps what an offset alone cannot say: which messages behind the offset
 * are done, which are running in which worker, and who was there when a worker
 * died.
 *
 * Invariant: what is written is shorter than KF_STATE_TEXT, which is less than
 * offset.metadata.max.bytes (4096 as Kafka comes). Marks that say nothing but how
 * often a message was delivered are left out first; KF_MARKS that say more have room,
 * whatever they say. */
#ifndef BIDE_QUEUE_KAFKA_STATE_H
#define BIDE_QUEUE_KAFKA_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KF_WINDOW = 8192,     /* offsets behind the committed one; 8 divides it */
    KF_MARKS = 128,       /* of those, with something to remember */
    KF_AT_ONCE = 100,     /* run, of one partition: kf_window_may_run() */
    KF_COUNT = 99999,     /* of deliveries and of deaths: no more is written */
    KF_STATE_TEXT = 4000,
    KF_WORKER = 8         /* letters of a worker's name */
};

struct kf_mark {
    int64_t offset;
    uint32_t deliveries, deaths;
    bool suspect, running;
};

/* Threads: owned. */
struct kf_state {
    int64_t base;                   /* the committed offset */
    char worker[KF_WORKER + 1];     /* who wrote it, "" nobody */
    uint32_t n_running;             /* in that process, in all partitions */
    size_t n_marks;
    struct kf_mark marks[KF_MARKS];
    unsigned char done[KF_WINDOW / 8]; /* bit i: base + i */
};

static inline bool kf_state_done(const struct kf_state *s, int64_t offset)
{
    int64_t i = offset - s->base;

    return i < 0 || (i < KF_WINDOW && (s->done[i / 8] >> (i % 8) & 1));
}

static inline void kf_state_set_done(struct kf_state *s, int64_t offset)
{
    int64_t i = offset - s->base;

    s->done[i / 8] |= (unsigned char)(1 << (i % 8));
}

/* Whether it says more than how often its message was delivered. */
static inline bool kf_mark_matters(const struct kf_mark *m)
{
    return m->running || m->deaths || m->suspect;
}

/* Where there is no room left, one that does not matter gives way, or is left out. */
void kf_state_add_mark(struct kf_state *s, const struct kf_mark *m);

/* The mark of an offset; NULL: there is none. */
const struct kf_mark *kf_state_mark(const struct kf_state *s, int64_t offset);

void kf_state_write(char to[KF_STATE_TEXT], const struct kf_state *s);

/* -1: not a text of ours; then the state has nothing but its base. */
int kf_state_read(struct kf_state *s, int64_t base, const char *text);

#endif
