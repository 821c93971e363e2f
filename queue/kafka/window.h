/* queue/kafka/window.h: what this worker knows of the partitions that it owns.
 *
 * A lane is partition p of the queue's topic, with partition p of each retry
 * topic: whoever owns the one owns the others, so that a key stays in one worker.
 * Each has a window of offsets behind the committed one, of which every offset is
 * a slot: not fetched yet, waiting, running, or done.
 *
 *   awaited   we wrote it and know where; its record is still to be fetched
 *   orphan    ran in a worker that is dead: rescue() decides about it
 *   gone      done, and committed as such
 *
 * Of messages with one key only the first, by their place in the queue's topic,
 * is in line to run: `first` of its key. Invariant: a slot is in line only if it
 * waits and is the first of its key, or has none. */
#ifndef BIDE_QUEUE_KAFKA_WINDOW_H
#define BIDE_QUEUE_KAFKA_WINDOW_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/kafka/state.h"

enum { KF_MAIN = 0, KF_TIERS = 5, KF_TOPICS = 1 + KF_TIERS };

/* What waits in one partition of a retry topic is held in memory up to here. */
enum { KF_HELD_BYTES = 8 << 20 };

enum kf_stage { KF_NEW, KF_AWAITED, KF_WAITING, KF_RUNNING, KF_ORPHAN, KF_DONE };

struct kf_key;

/* Threads: owned. */
struct kf_slot {
    struct kf_window *window;
    int64_t offset;
    int64_t place;            /* its offset in the queue's topic: order of a key */
    int64_t due_ns;           /* by our own steady clock */
    uint64_t turn;            /* of its arrival: decides between equals */
    rd_kafka_message_t *record; /* NULL: not fetched */
    struct kf_key *key;       /* NULL: none */
    struct kf_slot *before, *behind; /* of the same key */
    enum kf_stage stage;
    uint32_t attempt, deliveries, deaths;
    bool suspect;
    bool in_line;
    bool copied;              /* its copy is confirmed, its end not yet */
    bool large;               /* too large for a copy: does not move */
    uint64_t token;           /* running: of the delivery */
};

/* Threads: owned. */
struct kf_window {
    struct kf_lane *lane;
    int topic;                /* KF_MAIN, or a tier */
    rd_kafka_queue_t *queue;  /* where its records come in */
    rd_kafka_message_t *parked; /* fetched, and without room */
    size_t peak;              /* so many waited in its queue: fetch.c */
    int64_t base, next, top;
    int64_t known_end;        /* when we got it */
    struct kf_slot **slots;   /* KF_WINDOW: by offset modulo */
    size_t bytes;             /* of the records in them */
    struct kf_state found;    /* what the last owner has left */
    size_t n_running;
    uint32_t told_running;    /* of the process, as committed */
    size_t n_marked;          /* that do not run, and have more to remember than their
                                 deliveries */
    bool dirty;               /* differs from what is committed, or under way */
};

/* Threads: owned. */
struct kf_lane {
    int32_t partition;
    bool leaves;              /* the group has asked for it */
    struct kf_window windows[KF_TOPICS];
    struct kf_lane *next;
};

/* Stands in the ring for what is done and committed. */
extern struct kf_slot kf_gone;

static inline struct kf_slot **kf_window_at(const struct kf_window *w,
                                            int64_t offset)
{
    return &w->slots[offset % KF_WINDOW];
}

static inline bool kf_window_has_room(const struct kf_window *w, int64_t offset)
{
    return offset >= w->base && offset - w->base < KF_WINDOW;
}

/* Whether nothing more is fetched until something in it is done. */
static inline bool kf_window_is_full(const struct kf_window *w)
{
    return w->next - w->base >= KF_WINDOW ||
           (w->topic != KF_MAIN && w->bytes > KF_HELD_BYTES);
}

/* Whether more of what was there when we got it could come in. */
static inline bool kf_window_is_behind(const struct kf_window *w)
{
    return w->next < w->known_end && !kf_window_is_full(w);
}

/* Whether one more may run: it must be remembered beside those that wait. */
static inline bool kf_window_may_run(const struct kf_window *w)
{
    size_t room = w->n_marked < KF_MARKS - KF_AT_ONCE ? KF_AT_ONCE
                  : w->n_marked < KF_MARKS / 2       ? KF_MARKS - w->n_marked
                                                     : KF_MARKS / 2;

    return w->n_running < room;
}

/* Starts at what is committed. -1: no memory. */
int kf_window_init(struct kf_window *w, struct kf_lane *lane, int topic,
                   int64_t base, const char *state);
void kf_window_done(struct kf_window *w);

/* A slot at an offset that has room and none; NULL: no memory. */
struct kf_slot *kf_window_add(struct kf_window *w, int64_t offset);

/* Takes one away that stands for nothing. */
void kf_window_remove(struct kf_window *w, int64_t offset);

/* Its record has come: owned from here on. */
void kf_window_hold(struct kf_slot *s, rd_kafka_message_t *record);

/* Fetching has come to `offset`: what was between does not exist. */
void kf_window_skip(struct kf_window *w, int64_t offset);

/* What is to be committed. */
void kf_window_state(struct kf_window *w, struct kf_state *ret);

/* It was: frees what is done. Offsets that turned out not to exist meanwhile go, too:
 * the window is dirty for them. */
void kf_window_committed(struct kf_window *w);

#endif
