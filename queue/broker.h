/* queue/broker.h: where messages are kept until they are done, as one table of verbs.
 *
 *     struct broker *b;
 *     char why[BROKER_ERROR];
 *     struct broker_conf conf = BROKER_CONF_INIT;
 *     conf.url = "sqlite:/tmp/q.db";
 *     conf.queue = "default";
 *     if (broker_open(&b, &conf, why) != 0)
 *         die(why);
 *     struct queue_message *m[8];
 *     struct broker_take want = { .most = 8, .retries = 4 };
 *     if (b->kind->take(b, &want, m) == 0 && want.n > 0) {
 *         ...                                         // run the handler
 *         struct broker_end end = { .message = m[0], .how = BROKER_DONE };
 *         b->kind->settle(b, &end, 1);                // end.result: OK or LOST
 *         queue_message_free(m[0]);
 *     }
 *     broker_close(b);
 *
 * What every broker promises:
 *
 *   - A message leaves the queue only by settle(): DONE, or AGAIN or DEAD once the
 *     delayed copy or the dead letter is confirmed. When a verb fails, or the
 *     process dies inside it, the message is delivered again.
 *   - take() is durable before it returns: who holds the message, under which
 *     token, and that a delivery began. So a message that kills its worker is
 *     counted (queue/blame.h).
 *   - A delivery belongs to its token. Once somebody else has the message, beat()
 *     says so (message->lost), and settle() changes nothing and answers LOST.
 *   - Another worker gets a message only after its own is dead (the broker knows,
 *     or its connection is gone), or has sent no beat for a lease: never because
 *     the handler takes long.
 *   - Of messages with the same key at most one is out, and it is the first that
 *     was put; a message that waits for its retry holds back only its own key.
 *   - A message may say until when that is certain (message->hold_ns, which verbs
 *     move, also where they fail): the worker ends its handler before that.
 *   - Due times are the broker's clock, and delays go in as delays: the clock of a
 *     worker means nothing.
 *   - No transaction and no lock is held when a verb returns, except between
 *     begin() and commit().
 *
 * All verbs may block, and are called by one thread at a time: the worker has one
 * thread that talks to the broker, handlers run elsewhere. They return 0 or one of
 * enum broker_status; b->error then says what was found where, in one line without
 * a password. Except for settle() and put(), which have a result for each item, a
 * verb that fails has done nothing. */
#ifndef BIDE_QUEUE_BROKER_H
#define BIDE_QUEUE_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/queue_verdict.h"
#include "queue/message.h"

enum { BROKER_ERROR = 512 };

enum broker_status {
    BROKER_OK = 0,
    BROKER_DOWN = -1,      /* cannot be reached, or busy: try again later */
    BROKER_REFUSED = -2,   /* wrong password, no such thing, not supported: as
                              long as nobody changes something, it stays so */
    BROKER_FULL = -3,      /* no room: nothing was put, nothing was dropped */
    BROKER_CORRUPT = -4,   /* what it stores is damaged */
    BROKER_NO_MEMORY = -5
};

/* ===== opening ===== */

/* How a queue is opened. What is not given stays as INIT has it. */
struct broker_conf {
    const char *url;      /* "sqlite:PATH", "postgresql://...", ...; NULL: SQLite
                             in the user's state folder */
    const char *queue;    /* its name */
    bool consume;         /* to take messages, not only to put and to look */
    bool create;          /* make the queue and its dead letters if missing */
    uint32_t max_deaths;  /* of a message, then it is dead: `crashed` */
    int64_t lease_ns;     /* how long a worker that sends no beat keeps it */
    int64_t ageing_ns;    /* waited that long: next, whatever its priority */
    int64_t (*clock_ns)(void *arg); /* for tests: the broker's clock, Unix time
                             in ns, where the broker is in this process; NULL */
    void *clock_arg;
};

#define BROKER_CONF_INIT                                                       \
    {                                                                          \
        NULL, "default", false, true, 3, INT64_C(30000000000),                 \
            INT64_C(600000000000), NULL, NULL                                  \
    }

/* What a broker can and cannot do. Threads: immutable. */
struct broker_traits {
    size_t max_body;        /* of one message, in bytes */
    int64_t max_delay_ns;   /* of one put(): what waits longer may be lost, or is due
                               before its time */
    int64_t max_run_ns;     /* of one delivery, with beats: a handler that works
                               longer is stopped, as by a timeout. 0: no limit */
    bool has_priorities;
    bool has_keys;
    bool prefetch_counts;   /* a take is an attempt: never more than are free */
    bool embedded;          /* a dead worker is noticed at once, not by lease */
    bool blind;             /* what waits is counted, and cannot be listed */
    bool forgets_ids;       /* that an id is there already may not be noticed */
    bool mixes_retries;     /* broker_take.retries means nothing */
    bool retries_apart;     /* priorities hold among fresh messages, and among
                               retries, not between the two */
    bool blames_late;       /* what ran beside a message in a worker that died is
                               not known: a first death makes a suspect of it,
                               and counts when the next one does */
    bool keys_stay;         /* with one worker, as long as it lives */
    bool partitioned;       /* a message belongs to one worker before anybody
                               takes it */
    const char *for_keys, *for_priorities; /* what to use where it has none; NULL:
                               another broker */
};

struct broker {
    const struct broker_kind *kind;
    struct broker_traits traits;
    char queue[QUEUE_NAME_MAX + 1];
    char error[BROKER_ERROR]; /* of the last verb that failed */
};

/* ===== putting ===== */

struct broker_put {
    const char *id;       /* NULL: the broker makes one */
    const char *key;      /* NULL: none */
    int priority;
    int64_t delay_ns;
    const void *body;
    size_t len;
    const struct queue_attribute *attributes;
    size_t n_attributes;
    bool duplicate;       /* out: the id is there already; nothing was put. Not
                             an error */
    char made_id[QUEUE_ID_MAX + 1]; /* out: its id */
};

/* ===== taking, beating, settling ===== */

struct broker_take {
    size_t most;     /* messages; the array has room for them */
    size_t retries;  /* of those, at most so many that failed before, if others
                        wait: retries come first up to this, then the others */
    bool alone;      /* nothing else runs in this process: if a suspect waits,
                        it and only it. Otherwise suspects stay where they are */
    size_t n;        /* out: taken */
    bool suspects;   /* out: suspects wait. Take nothing until all is quiet, then
                        ask with `alone` */
    int64_t next_ns; /* out: how long until the next one is due; 0: at once,
                        BIDE_FOREVER: none is known */
};

enum broker_result { BROKER_SETTLED, BROKER_LOST };

/* The end of a delivery. */
struct broker_end {
    struct queue_message *message;
    enum broker_how how;
    bool counts;          /* the attempt counts: message->attempt + 1 is kept */
    bool ran;             /* the handler ran and the worker survived: it is no
                             longer a suspect */
    int64_t delay_ns;     /* AGAIN */
    const char *error;    /* AGAIN, DEAD: goes into the history; NULL: none */
    const char *reason;   /* DEAD: "attempts", "permanent", "crashed", ... */
    const char *cls;      /* DEAD: "transient", "permanent", ... */
    const void *tail;     /* DEAD: the last of the handler's output */
    size_t tail_len;
    enum broker_result result; /* out */
};

/* What rescue() did with the messages of workers that are gone. */
struct broker_rescued {
    size_t workers;   /* found dead or without a beat */
    size_t messages;  /* of theirs, now free again */
    size_t dead;      /* of those, dead letters: `crashed` */
};

/* ===== looking ===== */

enum { BROKER_REASONS = 8 };

struct broker_counts {
    uint64_t waiting;       /* due, and not held back by their key */
    uint64_t held;          /* behind another one with the same key */
    uint64_t later;         /* due in the future */
    uint64_t running;
    uint64_t dead;
    int64_t oldest_ns;      /* how long the oldest of waiting and held is due */
    int64_t next_ns;        /* until the first of `later`; BIDE_FOREVER */
    uint64_t workers;       /* that are alive; UINT64_MAX: not known */
    struct {
        char reason[32];
        uint64_t n;
    } dead_by[BROKER_REASONS]; /* the most frequent; "" ends */
};

enum broker_state {
    BROKER_IS_WAITING,
    BROKER_IS_HELD,
    BROKER_IS_LATER,
    BROKER_IS_RUNNING,
    BROKER_IS_DEAD
};

/* One message as `ls` and `show` see it; valid during the call. */
struct broker_row {
    const struct queue_message *message;
    enum broker_state state;
    int64_t now_ms;       /* the broker's clock */
    const char *reason, *cls; /* of a dead one, else "" */
    const void *tail;
    size_t tail_len;
    int64_t died_ms;
};

/* Which ones. All zero: all. */
struct broker_filter {
    const char *id;          /* this one; if there is none, those whose id
                                begins like this */
    const char *reason;      /* dead ones with this reason */
    int64_t since_ms;        /* died or queued at or after; 0 */
    int64_t until_ms;        /* and before; 0: no end */
    bool dead;               /* dead ones; otherwise the live ones */
    size_t most;             /* 0: all */
};

/* ===== checking ===== */

enum broker_severity { BROKER_FINE, BROKER_WASTE, BROKER_LOSS };

/* What the worker is about to do with the queue. */
struct broker_plan {
    uint32_t attempts;
    int64_t attempt_timeout_ns; /* BIDE_FOREVER: none */
    int64_t longest_wait_ns;    /* between two attempts */
    int64_t lease_ns;
    uint32_t at_once;
};

/* Says what was found, and which setting to change. LOSS refuses the start. */
typedef void broker_finding(void *arg, enum broker_severity severity,
                            const char *found, const char *change);
/* False: enough. */
typedef bool broker_each(void *arg, const struct broker_row *row);

/* ===== the table ===== */

struct broker_kind {
    const char *name;    /* "sqlite"; and the scheme of its URLs */
    const char *schemes[4]; /* further ones; NULL ends */

    /* broker_open() has checked the conf. `error` has BROKER_ERROR bytes. */
    int (*open)(struct broker **ret, const struct broker_conf *conf,
                char *error);
    void (*close)(struct broker *b); /* a worker's messages become free */

    int (*put)(struct broker *b, struct broker_put *items, size_t n);

    int (*take)(struct broker *b, struct broker_take *want,
                struct queue_message **ret);
    int (*beat)(struct broker *b, struct queue_message **running, size_t n);
    int (*settle)(struct broker *b, struct broker_end *ends, size_t n);

    /* Frees what dead workers held; queue_blame() decides about each. Called
     * about once a second. */
    int (*rescue)(struct broker *b, struct broker_rescued *ret);

    /* Group commit: what put, take, beat, settle and rescue do between the two
     * is durable together, with commit(), and until then no result counts: those
     * of settle() may not even be there, and its `ends` must stay. After a failure
     * of either, everything between is undone (on Redis, each verb by itself).
     * NULL: each verb is durable by itself. */
    int (*begin)(struct broker *b);
    int (*commit)(struct broker *b);

    /* What to wait for until there may be more to take: a descriptor that
     * becomes readable (-1: none), which woken() then empties. The worker asks
     * at the latest after *ret_poll_ns, whatever the descriptor says. */
    int (*wait_fd)(struct broker *b, int64_t *ret_poll_ns);
    void (*woken)(struct broker *b);

    int (*counts)(struct broker *b, struct broker_counts *ret);
    int (*each)(struct broker *b, const struct broker_filter *filter,
                broker_each *fn, void *arg);

    /* Makes live messages of the dead ones `ids`, with their attempts at 0; in
     * one commit for each. *ret_n: how many of them were dead. `fresh_key`: a
     * new delivery generation, which the idempotency key includes. */
    int (*redrive)(struct broker *b, const char *const *ids, size_t n,
                   bool fresh_key, size_t *ret_n);

    int (*check)(struct broker *b, const struct broker_plan *plan,
                 broker_finding *fn, void *arg);

    /* Names of the queues that exist, for "did you mean": fn is called with
     * each. NULL: not known. */
    int (*queues)(struct broker *b, void (*fn)(void *arg, const char *name),
                  void *arg);
};

/* Opens the broker that the URL names. 0, or a status with the reason in
 * `error`. An unknown scheme, or a module that is not installed, is REFUSED. */
int broker_open(struct broker **ret, const struct broker_conf *conf,
                char error[BROKER_ERROR]);
void broker_close(struct broker *b);

/* What this broker cannot promise of a message is refused, not ignored: 0, or
 * REFUSED, and b->error begins with what it is about: "id: ...". */
int broker_check_put(struct broker *b, const struct broker_put *p);

/* What others have said, a server or a handler, must not write to the terminal of whoever
 * reads about it, nor begin a line: control characters become `?`. */
void broker_clean(char *text);

/* Writes b->error, cleaned, and returns `status`. */
int broker_fail(struct broker *b, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Kinds. Those with a client library come from modules (queue/broker_open.c). */
extern const struct broker_kind broker_sqlite;
extern const struct broker_kind broker_redis;
extern const struct broker_kind broker_postgresql;
extern const struct broker_kind broker_rabbitmq;
extern const struct broker_kind broker_sqs;
extern const struct broker_kind broker_kafka;

#endif
