/* queue/rabbitmq/session.h: a queue on RabbitMQ, and what this worker holds of it.
 *
 *     int status = rmq_ready(q);              // connected, and all queues are there
 *     if (status == 0)
 *         status = rmq_tell(q, wire_wait(&q->wire));    // with b->error
 *
 * The queues of a queue NAME, all durable (place.c makes them):
 *
 *   NAME                 what is fresh, priority 0, also from foreign producers
 *   NAME.priority.P      what is fresh, by priority
 *   NAME.retry           what failed before and is due
 *   NAME.suspect         a worker died with it: it runs alone
 *   NAME.delay.0 .. 27   what waits: 2^k tenths of a second, by a TTL of the queue
 *   NAME.dead            dead letters
 *   NAME.key.0 .. 7      what has a key, and NAME.key.0.held ..: of that, what was put
 *                        aside (track.h); made when the first one comes
 *   NAME.worker.K        of the worker in slot K, and NAME.worker.K.hand: the list of
 *                        what it runs (slot.h)
 *
 * A message that runs is not acknowledged: it is in the server's hands, and in ours by
 * its delivery tag. When the connection ends, the server takes it back. */
#ifndef BIDE_QUEUE_RABBITMQ_SESSION_H
#define BIDE_QUEUE_RABBITMQ_SESSION_H

#include "queue/broker.h"
#include "queue/rabbitmq/copy.h"
#include "queue/rabbitmq/wire.h"

/* Lanes, in the order in which they are served: priority 9 to -9, then: */
enum {
    LANE_NORMAL = QUEUE_PRIORITY_MAX,
    LANE_RETRY = 2 * QUEUE_PRIORITY_MAX + 1,
    LANE_SUSPECT,
    LANES,
    TRACKS = WIRE_CHANNELS - WIRE_TRACK,
    LANE_KEY = LANES,            /* and those behind it: not served like the others */
    LANE_HELD = LANE_KEY + TRACKS,
    LANES_ALL = LANE_HELD + TRACKS,
    LEVELS = 28,
    RMQ_NAME = 128,
    SLOTS = 1024
};

#define RMQ_TENTH INT64_C(100000000)

/* What is known of a message in a track. Threads: owned. */
struct track_entry {
    uint64_t seq;              /* its number in the order */
    uint64_t hash;             /* of its key */
    char *label;               /* hand.h: what it is known by */
    struct queue_message *message; /* NULL: not here, or it runs */
    uint64_t tag;              /* of its delivery; 0: it is on its way to us */
    int64_t since_ns;          /* when that came */
    uint64_t wait, alarm;      /* what its alarm is known by, and its tag */
    int64_t queued_ms;
    size_t beside;             /* its worker died with so many; 0: it did not */
    uint64_t note;             /* the tag of who said so */
    uint32_t deliveries;
    bool fresh;                /* in A */
    bool named;                /* it has an id */
    bool copied;               /* a copy is on its way to B */
    bool runs, gone;
    bool due, retry, suspect;
    bool head;                 /* nothing of its key is before it */
};

/* An alarm or a note whose message is not here yet. */
struct track_stray {
    uint64_t wait, seq, tag;
    char *text;                /* of a note; NULL: an alarm */
    int64_t since_ns, first_ns;
};

/* A part of the keys (track.h). Threads: owned. */
struct track {
    bool consumes, owned;      /* owned: everything of B has come */
    int64_t claim_ns;          /* of the mark behind everything of B; 0 */
    int64_t proven_ns;         /* proof.h: it was ours then, */
    int64_t marked_ns;         /* and this mark is under way */
    struct track_run *runs;    /* what runs of it, here and elsewhere */
    size_t n_runs, room_runs;
    uint64_t last_seq;
    struct track_entry *entries; /* by seq */
    size_t n, room;
    struct track_stray *strays;
    size_t n_strays, room_strays;
    bool changed;              /* since heads were found */
    size_t held;               /* of the entries, those in B */
};

/* A delivery that we gave to the worker. */
struct rmq_hand {
    uint64_t token, tag;
    uint16_t channel;
    bool ending;        /* it is being settled, */
    int64_t queued_ms;  /* and was queued then */
    bool attached;      /* the tag is of this connection */
    int64_t since_ns;   /* that we have this tag */
    char *line;         /* of the list in NAME.worker.K.hand: it begins with the id */
    int track;          /* of its key; -1: none */
    uint64_t seq;       /* its number there, */
    uint64_t wait;      /* and its alarm, if it ends with one */
    int64_t said_ns;    /* proof.h: its note, on this connection; 0: none yet, */
    int64_t noted_ns;   /* and the last one that has come back; 0 */
    int64_t renewed_ns; /* when it was said, on bide_now_ns() */
    struct queue_message *message; /* the worker's, until this is dropped */
};

/* Threads: owned. */
struct rmq {
    struct broker b;
    struct wire wire;
    struct rmq_url url;
    uint64_t known;            /* the connection on which all was found */
    bool create, consume;
    bool remake;               /* a queue was deleted */
    bool keyed;                /* the tracks are there */
    int64_t look_ns, look_wait_ns; /* if not, when to look for them again */
    uint32_t max_deaths;
    int64_t lease_ns, ageing_ns;
    uint64_t last_token;
    char worker[40];

    struct rmq_hand *hand;
    size_t n_hand, room_hand, next_hand;
    struct rmq_settled {
        char *line;            /* as in the list */
        int64_t queued_ms;
        uint64_t connection;   /* on which it was */
    } settled[256];            /* the last ones */
    size_t n_settled;          /* so far */
    bool together;             /* between begin() and commit() */
    unsigned unheard;          /* channels on which something was acknowledged, and it is not
                                  known that the server has heard it: it is `ending`, */
    uint64_t unheard_on;       /* and on that connection */
    bool listed_wrong;         /* the list has some that ended */
    size_t listed_waiting, listed_held; /* what waits here, as the list has it */
    int64_t lost_ns;           /* what is not attached by then is lost */
    int64_t renew_ns;          /* what is in hand for so long is sent to ourselves */

    struct track tracks[TRACKS];
    int64_t later_ns[TRACKS];  /* not before that is it claimed again */
    struct rmq_seen {
        uint64_t token, sent_ns;
        int64_t first_ns, last_ns;
    } *seen;                   /* notes of others, and since when we know of them */
    size_t n_seen, room_seen;
    int64_t tracks_ns;         /* when to look again whose they are */
    bool tracks_asked;         /* something was published there: wait for it */
    int last_track;

    int slot;                  /* ours; -1: none */
    int64_t alive_ns;          /* hold_clock.h: the server knew that it was; */
    int64_t unclear_ns;        /* since when it cannot be told whose it is; 0 */
    int n_slots;               /* that are known */
    int64_t gone_ns[SLOTS];    /* since when a slot has no worker; 0: it has */

    int64_t asked_ns[LANES_ALL]; /* when a lane was looked at last, */
    int64_t served_ns[LANES];  /* was empty, or gave something */
    int bell_of[LANES];        /* the consumer on a lane; 0: none */
    int last_bell;
    int flow;                  /* the lane that flows (bell.h); -1: none */
    size_t flow_most;          /* so many are out at most */
    int flow_takes;            /* since it was asked whether that stands still, */
    int64_t flow_ns;           /* which was then, */
    uint64_t flow_tag;         /* with this as the last that had come */
    bool used[LANES];          /* it gave something since the last tick, */
    bool acked;                /* and something was acknowledged */
    bool no_ticks;             /* NAME has a dead-letter exchange: they would go there */
    bool hungry;               /* the last take got less than it wanted */
    int64_t take_ns;           /* when that was over */
    int64_t due_ns;            /* the next that we know of; BIDE_FOREVER */

    struct broker_counts reasons; /* dead_by, of so many `dead` */
};

/* Connects if need be, makes what is missing, claims a slot, and finds what it held
 * before. 0 or a status. */
int rmq_ready(struct rmq *q);

/* Makes b->error of the wire's; gives the status back. */
int rmq_tell(struct rmq *q, int status);
int rmq_no_memory(struct rmq *q);

int64_t rmq_now_ms(void);

/* ===== place.c: the queues ===== */

/* "NAME.retry", ... */
const char *place_lane(const struct rmq *q, int lane, char to[RMQ_NAME]);
const char *place_level(const struct rmq *q, int level, char to[RMQ_NAME]);
const char *place_dead(const struct rmq *q, char to[RMQ_NAME]);
const char *place_slot(const struct rmq *q, int slot, char to[RMQ_NAME]);
const char *place_list(const struct rmq *q, int slot, char to[RMQ_NAME]);

/* The lane of a message that is due, and not dead; with a key, that where it is put, if the
 * tracks are there: otherwise, who takes it from there makes them. */
int place_of(const struct rmq *q, const struct copy *c);

/* Is there such a queue? 1, 0, or a status. */
int place_exists(struct rmq *q, const char *queue);

/* Finds or makes the queues. */
int place_ready(struct rmq *q);

/* Those of keys are made when there is one: q->keyed. LOOK must hold nothing. */
int place_find_tracks(struct rmq *q);
int place_make_tracks(struct rmq *q);
/* Makes a queue and deletes it. A server (RabbitMQ 3.10) may have the queue that was made
 * last in memory only, for some seconds: is it killed then, a classic one is gone with what
 * was confirmed in it, a quorum one comes back empty and answers nobody. So the last one
 * of each kind is none of ours. */
int place_make_last(struct rmq *q, bool quorum);
int place_declare(struct rmq *q, int channel, const char *queue, amqp_table_t more);

/* Publishes to a lane, after a delay: not before, and up to 0.1 s later. */
int place_publish(struct rmq *q, const struct copy *c, int lane, int64_t delay_ns);

/* Publishes the dead letter of a message that has killed its workers. */
int place_bury(struct rmq *q, struct copy *c);

/* Publishes a message that has expired already to the lanes that were used, and in which
 * something waits: with its confirmation, acknowledgements that came before it are on the
 * disk. A classic queue that is busy keeps them in memory otherwise, for as long as it is;
 * one that is empty has time to write. Consumers do not get what has expired. */
int place_tick(struct rmq *q);

#endif
