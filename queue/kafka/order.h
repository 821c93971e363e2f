/* queue/kafka/order.h: who runs next.
 *
 * Two lines, sorted by due time: those that never failed, and retries. A key is a
 * chain of slots, sorted by their place in the queue's topic; only the first of a
 * chain is in a line. */
#ifndef BIDE_QUEUE_KAFKA_ORDER_H
#define BIDE_QUEUE_KAFKA_ORDER_H

#include "queue/kafka/window.h"

/* A heap: the root is due first. All zero is empty. Threads: owned. */
struct kf_line {
    struct kf_slot **at;
    size_t n, size;
};

/* Threads: owned. */
struct kf_key {
    struct kf_slot *first, *last;
    struct kf_key *next;      /* in its bucket */
    size_t len;
    char text[];
};

enum { KF_BUCKETS = 4096 };

/* Threads: owned. */
struct kf_order {
    struct kf_line fresh, retries;
    struct kf_key **keys;     /* KF_BUCKETS of them */
    uint64_t turns;
};

int kf_order_init(struct kf_order *o);
void kf_order_done(struct kf_order *o);

/* -1: no memory; it is then nowhere. */
int kf_enter(struct kf_order *o, struct kf_slot *s, const char *key, size_t len);
void kf_leave(struct kf_order *o, struct kf_slot *s);

/* In line again, after kf_pop(), or once its record has come. */
int kf_line_up(struct kf_order *o, struct kf_slot *s);

struct kf_slot *kf_first(const struct kf_line *line);
struct kf_slot *kf_pop(struct kf_line *line);

/* Takes one out of its line. */
void kf_unline(struct kf_order *o, struct kf_slot *s);

/* Takes all slots of a lane out of it, at its end. */
void kf_forget(struct kf_order *o, const struct kf_lane *lane);

#endif
