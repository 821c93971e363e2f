/* proxy/exchange/exchange.h: one request and its answer, and the attempts in between.
 *
 * An exchange is a driver of the engine (bide/call.h): it asks what to do next,
 * makes the attempts, and streams the response of the one that ends the call.
 * Its parts:
 *
 *   request.c          what the request says; begins the call
 *   exchange.c         asks for decisions, has them done, ends it
 *   exchange_client.c  what its client does, and how long it may take
 *   priority.c         which requests go first, by a header field
 *   queue.c            those that wait for a place in flight
 *   upload.c           the request's body: kept for replay (upload_keep.c),
 *                      streamed past that (upload_stream.c)
 *   attempt.c          an attempt's life, from the choice of an endpoint on
 *   fault.c            ... failing on purpose instead
 *   attempt_send.c     ... sending the request
 *   attempt_read.c     ... reading the answer's head, and having it judged
 *   answer.c           the answer's head; interim answers
 *   answer_read.c      ... reading its body
 *   answer_hold.c      ... holding it for a slow client
 *   answer_pass.c      ... passing it on
 *   ../once/           ... once for each Idempotency-Key
 *   own_answer.c       answers that no endpoint gave
 *   fallback.c         what is answered when the policy has given up
 *   copy.c             ... copies of answers, for that
 *   hops.c             Max-Forwards and Via
 *   tunnel.c           what follows a 101
 *   phase.c            which phase of it, or of an attempt, may follow which
 *
 * Its phases:
 *
 *   HEAD --begun--> CALL <--asks the engine, acts--> STEP
 *     |             |  ^
 *     |   call ends |  | another upstream is asked
 *     |             v  |
 *     |           SETTLED <--broke off before a byte had left--.
 *     |              |                                         |
 *     '--refused-----'----------> ANSWER ----------------------'
 *                                    |
 *                                    '--101--> TUNNEL
 *   any --sent, cut off or cancelled--> OVER
 *
 * A call in progress ends first: CALL leads to OVER through SETTLED.
 *
 * While a call waits, its exchange holds the request, and perhaps the last
 * response in case there will be no better one, but no connection to any
 * endpoint.
 *
 * Nothing reaches the client before the attempt that will be its answer has a
 * status, except 1xx. Threads: owned. */
#ifndef BIDE_PROXY_EXCHANGE_EXCHANGE_H
#define BIDE_PROXY_EXCHANGE_EXCHANGE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "bide/bide.h"
#include "net/http1/body.h"
#include "base/list.h"
#include "net/loop.h"
#include "proxy/exchange/events.h"
#include "proxy/exchange/pace.h"

struct attempt;
struct bide__proxy_conf;
struct client;
struct endpoint;
struct generation;
struct generation_use;
struct net_buf;
struct once;
struct route;
struct stale_copy;
struct worker;

enum { FIELDS_MAX = 256 };

/* What an exchange has to do next, from the loop. */
enum todo {
    TODO_PUMP = 1,   /* send more of the response, or of the tunnel */
    TODO_UPLOAD = 2, /* read more of the body */
    TODO_STEP = 4    /* ask the engine */
};

enum exchange_phase {
    EXCHANGE_HEAD,    /* its head is being read */
    EXCHANGE_CALL,    /* the call is in progress: attempts run, or it waits */
    EXCHANGE_STEP,    /* ... and the engine is being asked what to do */
    EXCHANGE_SETTLED, /* the call has ended; there is no response yet */
    EXCHANGE_ANSWER,  /* a response, an endpoint's or ours, is being sent */
    EXCHANGE_TUNNEL,  /* bytes go both ways */
    EXCHANGE_OVER     /* it has been logged and is about to be freed */
};

enum upload {
    UPLOAD_NONE,     /* there is no body, or it is complete */
    UPLOAD_KEEPING,  /* it arrives, and is kept */
    UPLOAD_STREAMING /* it is streamed */
};

struct exchange {
    struct exchange *next; /* on the free list */
    struct client *client;
    struct worker *worker;
    struct generation_use *use;    /* NULL: not routed */
    struct generation *generation; /* its generation */
    const struct route *route;
    struct once *once; /* its Idempotency-Key, where one is accepted; or NULL */
    bide_op op;
    struct net_timer timer;                   /* of a decision to wait */
    struct net_task task;                     /* does what `todo` says */
    uint8_t todo;                             /* bits of enum todo */
    struct bide__list queue;                  /* for a place in flight */
    int64_t queue_until_ns;                   /* it waits no longer than that */

    struct attempt *running; /* including the winner */
    struct attempt *winner;  /* whose response is being sent */
    struct attempt *saved;   /* a complete response, not good enough */

    /* The request. Its head begins at client->in->begin. */
    struct net_buf *kept, *kept_last; /* body after what client->in holds */
    struct net_buf *stream;           /* body that is not kept */
    struct net_buf *rest;             /* what followed the body */
    uint32_t scanned;                 /* in the buffer that is being filled */
    uint64_t kept_bytes;              /* in client->in and in `kept` */
    uint64_t body_bytes;              /* all that arrived */
    uint32_t in_end; /* in client->in: end of what belongs to it */
    uint8_t upload;  /* enum upload */
    bool one_shot;   /* parts of the body are gone */
    uint8_t phase;    /* enum exchange_phase; exchange_move() */
    bool reported;    /* `last` is the outcome of an attempt */
    bool close_after; /* the client's connection is closed after it */
    bool upgrade;     /* requests another protocol, and may */
    bool cannot_upgrade; /* ... and its endpoint does not offer that */
    bool grpc;        /* application/grpc: see proxy/grpc/grpc.h */
    bool eager;       /* ... whose body goes on as it arrives, and is kept */
    bool early;       /* ... and the call has begun before all of it came */
    int8_t grpc_status; /* ... as last seen, or GRPC_NO_STATUS */
    bool faults;               /* the client requests them, and may */
    bool injected;             /* an attempt had one */
    bool up_ended, down_ended; /* directions of the tunnel */

    struct pace up;   /* of the client that sends its body, ... */
    struct pace down; /* ... and of one that reads its response slowly, ... */
    int64_t read;     /* ... which has read this much, says the kernel */
    struct net_buf *interim; /* to the client, before all else */
    struct net_buf *out;     /* to the client, before the winner's bytes */
    struct net_buf *held, *held_last; /* to the client, between the two */
    uint32_t n_held;
    struct stale_copy *copy; /* that is the response; or NULL */
    struct iovec tail;       /* to the client, after `out`; not owned */
    uint64_t out_bytes;
    uint16_t status;       /* sent to the client; 0: nothing yet */
    uint8_t reason;        /* bide_reason of the end; for the log */
    uint8_t fallback;      /* enum fallback_kind: what the response is */
    bide_decision gave_up; /* of the route's own upstream; valid if another is
                              asked */
    const char *problem;   /* of our own response, or "loop"; or NULL */
    uint8_t fault;         /* bide_fault of the last attempt, if any */
    const char *broke;     /* ... and how its stream of HTTP/2 did; or NULL */
    uint32_t tries;        /* attempts begun */
    uint64_t tried;        /* endpoints, a bit each */
    const struct endpoint *endpoint; /* of the last attempt */
    int64_t begin_ns;
    int64_t waited_ns;            /* in requested waits */
    int64_t wait_from_ns;         /* 0: not waiting */
    int64_t first_byte_ns;        /* of the response to the client */
    char key[37];                 /* generated idempotency key; "" */
    char request_id[37];          /* generated, if the client sent none; "" */
    struct bide__trace trace;     /* sampled: it is traced */
    struct pending_event pending; /* of an attempt */
    struct event_wait wait;       /* the last one */

    bide_outcome last;

    bide_call call;         /* from here on not cleared */
    struct http1_body body; /* of the request */
    struct http1_head req;
    struct http1_field fields[FIELDS_MAX];
};

/* The phases that may follow each, as bits (phase.c). */
extern const uint8_t exchange_moves[EXCHANGE_OVER + 1];

static inline void exchange_move(struct exchange *ex, enum exchange_phase to)
{
    assert(exchange_moves[ex->phase] >> to & 1);
    ex->phase = (uint8_t)to;
}

/* Whether its call is in progress. */
static inline bool exchange_is_called(const struct exchange *ex)
{
    return ex->phase == EXCHANGE_CALL || ex->phase == EXCHANGE_STEP;
}

/* ===== exchange.c ===== */

/* NULL: no memory. */
struct exchange *exchange_new(struct client *c);
void exchange_free(struct exchange *ex);

/* Reports the outcome of an attempt to the engine; asks it what to do next. */
void exchange_report(struct exchange *ex, const struct attempt *a,
                     const bide_outcome *out);
bide_decision exchange_next(struct exchange *ex);

/* The outcome as it counts, for the endpoint's own records. */
bide_outcome exchange_blame(const struct exchange *ex, const struct attempt *a,
                            const bide_outcome *out);

/* Does what was decided, and what follows from that. */
void exchange_act(struct exchange *ex, bide_decision d);

/* Ends the call and all attempts, except this one. */
void exchange_stop(struct exchange *ex, struct attempt *but);

/* Begins another call for the same request, by another route. A saved response
 * stays. */
void exchange_restart(struct exchange *ex, const struct route *route);

/* Begins its call. */
void exchange_call(struct exchange *ex);

/* Schedules it soon. */
void exchange_later(struct exchange *ex, enum todo what);

/* The call is over: `winner` (may be NULL) has its response. */
void exchange_settle(struct exchange *ex, const bide_decision *d,
                     struct attempt *winner);

/* The request as text. */
const char *exchange_bytes(const struct exchange *ex);

/* Its method, as a C string; NULL for one that is longer than any known. */
enum { METHOD_TEXT = 32 };
const char *exchange_method(const struct exchange *ex, char text[METHOD_TEXT]);

/* ===== exchange_client.c ===== */

/* Asks the engine what to do, and does it, unless the client has left. */
void exchange_step(struct exchange *ex);

/* The client has gone, or will be: logs that. */
void exchange_gone(struct exchange *ex);

/* The client's connection can no longer be used, for example in the middle of a
 * response. */
void exchange_cut(struct exchange *ex);

/* ... or it can, but the response was cut short: counts that. */
void exchange_note_cut(struct exchange *ex);

/* Writes the log line and events: once, before it is freed. */
void exchange_over(struct exchange *ex);

/* The client has gone, or was too slow. */
void exchange_cancel(struct exchange *ex);

/* The client's connection may be ready for something. */
void exchange_client_ready(struct exchange *ex);

/* The client's certificate as endpoints get it; NULL: none. */
const char *exchange_certificate(const struct exchange *ex);

/* The configuration that applies to it, even before it has a route. */
const struct bide__proxy_conf *exchange_conf(const struct exchange *ex);

/* It waits for the client, or no longer: sets its timer to what is due
 * first. */
void exchange_await(struct exchange *ex);

/* That time has come. */
void exchange_late(struct exchange *ex);

/* Responds to a request that arrived too slowly: 408. */
void exchange_too_slow(struct exchange *ex);

#endif
