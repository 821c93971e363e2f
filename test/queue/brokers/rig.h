/* test/queue/brokers/rig.h: what the rows of the conformance suite share: queues of their
 * own, messages in short, workers that can be killed, and a server that can.
 *
 *     struct rig *r = rig_new(url);
 *     struct broker *b = rig_open(r);
 *     rig_put(b, "a", .key = "k");
 *     struct queue_message *m = rig_take_one(b, false);
 *     expect(m && strcmp(m->id, "a") == 0, "it is taken");
 *     rig_settle(b, m, BROKER_DONE, .ran = true);
 *
 * Everything that must happen is waited for until PATIENCE_NS; nothing is
 * expected to be fast. Steps that fail end the row. */
#ifndef BIDE_TEST_QUEUE_BROKERS_RIG_H
#define BIDE_TEST_QUEUE_BROKERS_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "queue/broker.h"

#define RIG_MS INT64_C(1000000)
#define RIG_S INT64_C(1000000000)
#define PATIENCE_NS (60 * RIG_S)

enum { RIG_MOST = 64 };

/* Threads: owned. */
struct rig {
    const char *url;
    char queue[64];         /* another one for each row */
    struct broker_conf conf;
    const char *suffix;     /* of its name */
    bool has_server;        /* rig_ask() can freeze it, */
    bool can_crash;         /* and kill it */
};

/* ===== results ===== */

/* Ends the row as failed, unless it is true. */
#define expect(what, ...) rig_expect((what), __FILE__, __LINE__, __VA_ARGS__)
void rig_expect(bool true_, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ends the row as skipped: the broker cannot do that. */
void rig_skip(const char *why);

/* Runs a row with a queue of its own; prints a line of TAP. */
void rig_row(struct rig *r, const char *name, void (*row)(struct rig *r));
int rig_finish(void);

/* Asks whoever started this program: "crash", "start", "freeze", "thaw",
 * "foreign QUEUE", "queue QUEUE" before it is used. Waits until it is done. What
 * was answered behind "ok" is valid until the next. */
const char *rig_ask(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* ===== time ===== */

int64_t rig_now(void);
void rig_sleep(int64_t ns);

/* ===== a queue in this process ===== */

/* Opens it and takes once, as a worker does; it must be empty still. */
struct broker *rig_open(struct rig *r);

/* Only to put; a partitioned queue is not shared with it. */
struct broker *rig_producer(struct rig *r);
/* As a worker, whatever waits; and its end. */
struct broker *rig_join(struct rig *r);
void rig_close(struct broker *b);

/* By its id, and what else there is to say. Without a body, that is the first
 * letter of its id. */
#define rig_put(b, ...)                                                        \
    rig_put_one((b), &(struct broker_put){ .id = __VA_ARGS__ })
void rig_put_one(struct broker *b, struct broker_put *p);

/* Takes up to `most`, once. */
size_t rig_take(struct broker *b, struct queue_message **to, size_t most);
/* Takes one, within the patience if `wait`; else NULL if none is there. */
struct queue_message *rig_take_one(struct broker *b, bool wait);

/* A key, or a priority, for brokers that have them; NULL or 0 for others. */
const char *rig_key(const struct broker *b, const char *key);
int rig_priority(const struct broker *b, int priority);

/* Settles and frees it. */
#define rig_settle(b, m, how_, ...)                                            \
    rig_settle_one((b), &(struct broker_end){ .message = (m), .how = (how_),   \
                                              __VA_ARGS__ })
void rig_settle_one(struct broker *b, struct broker_end *end);

/* Calls rescue() until it has freed so many in all. */
struct broker_rescued rig_rescue(struct broker *b, size_t messages);

struct broker_counts rig_counts(struct broker *b);
/* Whether nothing is left, within the patience. What `other` runs is counted by what it has
 * said last, which may be a moment old: it rescues meanwhile. */
bool rig_is_over(struct broker *b, struct broker *other);

/* ===== a worker in another process ===== */

/* Threads: owned. */
struct rig_worker {
    pid_t pid;
    int fd;
};

struct rig_worker rig_worker(struct rig *r);

/* The rest of the row has another queue. */
void rig_another_queue(struct rig *r);

/* Verbs that it is told; each answers a number.
 *   't' takes up to `n`: how many      'b' beats: how many are lost
 *   'd' done, 'a' again, 'x' dead: how many are lost
 *   'c' closes and ends: 0 */
int rig_tell(struct rig_worker *w, char verb, int n);
void rig_kill(struct rig_worker *w);

#endif
