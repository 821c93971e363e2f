/* proxy/exchange/attempt.h: one attempt of a request, on one connection: its
 * life from the choice of an endpoint on, or an injected fault instead
 * (fault.c).
 *
 *    .--held up--> HELD_UP --answered in the endpoint's place--.
 *    |                |                                        |
 *   NEW <--let go-----'                                        v
 *    |--idle connection--> ASKING --head of the answer--> ANSWERED
 *    |                      ^  ^                               |
 *    '-> IN_LINE --given----'  |                               |
 *           |                  |                               |
 *           '-> CONNECTING ----'                            reported
 *                                                              |
 *   any of these --failed, and reported--> JUDGED <------------'
 *                                            |-- the answer --> PASSED_ON
 *                                            |                    ^
 *                                            '-- if no better --> SAVED
 *   any --attempt_end()--> OVER
 *
 * attempt_end() ends it in every case: by then its outcome has been reported
 * (JUDGED and later), or it is no longer needed, like the loser of a hedge. It
 * sends while it reads: the progress of sending is a separate state (enum
 * sending), and so is the end of the response (enum answer_end). */
#ifndef BIDE_PROXY_EXCHANGE_ATTEMPT_H
#define BIDE_PROXY_EXCHANGE_ATTEMPT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "bide/bide.h"
#include "net/http1/body.h"
#include "base/list.h"
#include "net/loop.h"
#include "proxy/exchange/exchange.h"

struct link;
struct net_buf;
struct once_record;
struct pool;
struct stale_copy;

/* How the body of a response is framed for the client. */
enum pass {
    PASS_AS_IT_IS,
    PASS_UNCHUNKED, /* it was chunked, which the client does not support */
    PASS_CHUNKED    /* it ends with the endpoint's connection */
};

enum attempt_phase {
    ATTEMPT_NEW,        /* has neither endpoint nor connection */
    ATTEMPT_HELD_UP,    /* delayed by an injected fault */
    ATTEMPT_IN_LINE,    /* for a connection to its endpoint */
    ATTEMPT_CONNECTING, /* one is being opened for it */
    ATTEMPT_ASKING,     /* has one: sends, and waits for the response */
    ATTEMPT_ANSWERED,   /* the head is there; more may be needed to judge it */
    ATTEMPT_JUDGED,     /* its outcome has been reported */
    ATTEMPT_SAVED,      /* a complete response, in case none is better */
    ATTEMPT_PASSED_ON,  /* its response goes to the client */
    ATTEMPT_OVER
};

/* How much of the request has been sent. */
enum sending {
    SENT_NOTHING,
    SENT_SOME,
    SENT_WHAT_CAME, /* of a streamed body: waiting for the client */
    SENT_ALL,
    SENDING_FAILED /* no more can be sent; there may be a response */
};

/* Whether the end of the response's body has arrived. */
enum answer_end { END_AWAITED, END_THERE, END_LOST };

/* One attempt, on one connection. */
struct attempt {
    struct attempt *next; /* of its exchange; on the free list */
    struct exchange *ex;
    struct bide__list line; /* for a connection */
    struct pool *pool;
    struct link *link;   /* NULL: waiting for one, or done with it */
    struct link *making; /* a connection being opened for it alone */
    struct net_timer timer;
    struct net_task task; /* looks at its connection again */
    int64_t begin_ns;
    int64_t timeout_ns;         /* from the engine */
    int64_t until_ns;           /* of the timer, which may fire earlier */
    uint32_t number;            /* by the engine's count, ... */
    uint32_t nth;               /* ... and of this exchange, from 1 */
    uint8_t why;                /* bide_reason that it was made for */
    uint8_t span_id[8];         /* if the request is traced */
    struct event_wait before;   /* it was begun */

    struct net_buf *head; /* the unsent part of the request's head */
    uint64_t body_sent;   /* bytes of the exchange's kept body */
    struct net_buf *in;   /* the response: begin .. ready is to be passed on, */
    uint32_t ready;       /* ready .. scanned is used, ... */
    uint32_t scanned;     /* ... scanned .. end has not been examined */

    uint8_t phase;    /* enum attempt_phase; attempt_move() */
    uint8_t sending;  /* enum sending */
    uint8_t end;      /* enum answer_end */
    uint8_t pass;     /* enum pass */
    bool permit_held; /* `permit` must be ended */
    bool injected;    /* an injected fault: that counts as after sending */
    bool elsewhere;   /* at the upstream of the route's fallback */
    bool messages;    /* of gRPC: a byte of one is there */
    int8_t grpc_status; /* ... or GRPC_NO_STATUS; the trailers that had it: */
    uint32_t trailer;   /* where they begin in `in`; 0: there are none */
    int64_t hold_ns;    /* its head is held until then; 0: it is not yet */
    bool no_effect;   /* its response says that nothing was done */
    struct stale_copy *copy; /* of its response so far; or NULL */
    struct once_record *record; /* likewise, for its Idempotency-Key */

    bide_call permit;       /* on the endpoint's breaker */
    struct http1_body body; /* of the response */
    struct http1_head resp;
    struct http1_field fields[FIELDS_MAX];
};

/* The phases that may follow each, as bits (phase.c). */
extern const uint16_t attempt_moves[ATTEMPT_OVER + 1];

static inline void attempt_move(struct attempt *a, enum attempt_phase to)
{
    assert(attempt_moves[a->phase] >> to & 1);
    a->phase = (uint8_t)to;
}

static inline bool attempt_is_complete(const struct attempt *a)
{
    return a->end == END_THERE;
}

/* Makes the attempt that was decided. If it fails at once, that is reported,
 * and the engine must be asked again. */
void attempt_start(struct exchange *ex, const bide_decision *d);

/* Chooses an endpoint for it, and goes there. */
void attempt_go(struct attempt *a);

/* It got a connection. */
void attempt_linked(struct attempt *a, struct link *l);

/* Reports an outcome without a response, and continues the exchange. */
void attempt_fail(struct attempt *a, bide_fault fault);

/* The endpoint's time begins: until now it waited in line, or for the
 * client. */
void attempt_started(struct attempt *a);

/* Its connection may be ready for something. */
void attempt_ready(struct attempt *a);

/* Reports its outcome to the engine and to the endpoint's breaker. */
void attempt_report(struct attempt *a, const bide_outcome *out);

/* Ends it, for whatever reason. One that was not reported has lost: another has
 * won, or the client has gone. */
void attempt_end(struct attempt *a);

/* Releases its connection, for reuse if possible; it keeps what it has read. */
void attempt_unlink(struct attempt *a);

/* Whether its connection must surely be open: the request must not be sent
 * twice. */
bool attempt_is_careful(const struct attempt *a);

/* Looks at its connection again soon. */
void attempt_later(struct attempt *a);

/* Keeps its response in case there will be no better one. */
void attempt_save(struct attempt *a);

/* It must have made progress by `at_ns`. */
void attempt_until(struct attempt *a, int64_t at_ns);

/* ===== fault.c ===== */

/* Whether the client requests faults, and may do so. */
bool fault_asked(const struct exchange *ex);

/* Draws whether a fault is injected into this attempt; if so, it is delayed. */
bool fault_begin(struct attempt *a);

/* The delay is over. */
void fault_over(struct attempt *a);

#endif
