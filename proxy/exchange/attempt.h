/* proxy/exchange/attempt.h: one try of a request, on one connection: its life from
 * the choice of an endpoint on, or its failing on purpose instead (fault.c).
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
 * Whatever ends it, attempt_end() does: what it came to has been reported by then
 * (JUDGED and later), or nobody waits for it any more, as for the loser of a
 * hedge. It sends while it reads: how far it has come with that is told apart
 * (enum sending), and so is the end of the answer (enum answer_end). */
#ifndef BIDE_PROXY_EXCHANGE_ATTEMPT_H
#define BIDE_PROXY_EXCHANGE_ATTEMPT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "bide/bide.h"
#include "net/http1.h"
#include "base/list.h"
#include "net/loop.h"
#include "proxy/exchange/exchange.h"

struct link;
struct net_buf;
struct pool;
struct stale_copy;

/* How the body of an answer is framed for the client. */
enum pass {
    PASS_AS_IT_IS,
    PASS_UNCHUNKED, /* it came in chunks, which the client does not know */
    PASS_CHUNKED    /* it ends with the endpoint's connection */
};

enum attempt_phase {
    ATTEMPT_NEW,        /* has neither endpoint nor connection */
    ATTEMPT_HELD_UP,    /* by a fault on purpose */
    ATTEMPT_IN_LINE,    /* for a connection to its endpoint */
    ATTEMPT_CONNECTING, /* one is being made for it */
    ATTEMPT_ASKING,     /* has one: sends, and waits for the answer */
    ATTEMPT_ANSWERED,   /* the head is there; more may be needed to judge it */
    ATTEMPT_JUDGED,     /* what it came to has been reported */
    ATTEMPT_SAVED,      /* a whole answer, if there will be no better one */
    ATTEMPT_PASSED_ON,  /* its answer is the client's */
    ATTEMPT_OVER
};

/* How far the request has left. */
enum sending {
    SENT_NOTHING,
    SENT_SOME,
    SENT_WHAT_CAME, /* of a body that is streamed: the client is waited for */
    SENT_ALL,
    SENDING_FAILED /* no more can be sent; there may be an answer */
};

/* Whether the end of the answer's body is there. */
enum answer_end { END_AWAITED, END_THERE, END_LOST };

/* One try, on one connection. */
struct attempt {
    struct attempt *next; /* of its exchange; on the free list */
    struct exchange *ex;
    struct bide__list line; /* for a connection */
    struct pool *pool;
    struct link *link;   /* NULL: waiting for one, or done with it */
    struct link *making; /* a connection under way that is for it alone */
    struct net_timer timer;
    struct net_task task; /* looks at its connection again */
    int64_t begin_ns;
    int64_t timeout_ns;         /* that the engine gave it */
    int64_t until_ns;           /* of the timer, which may fire earlier */
    uint32_t number;            /* by the engine's count, ... */
    uint32_t nth;               /* ... and of this exchange, from 1 */
    uint8_t why;                /* bide_reason that it was made for */
    uint8_t span_id[8];         /* if the request is traced */
    int64_t asked_ns, slept_ns; /* of the wait before it */

    struct net_buf *head; /* of the request, as far as it is not sent */
    uint64_t body_sent;   /* bytes of the exchange's kept body */
    struct net_buf *in;   /* the answer: begin .. ready are to be passed on, */
    uint32_t ready;       /* ready .. scanned is gone, ... */
    uint32_t scanned;     /* ... scanned .. end is yet to be looked at */

    uint8_t phase;    /* enum attempt_phase; attempt_move() */
    uint8_t sending;  /* enum sending */
    uint8_t end;      /* enum answer_end */
    uint8_t pass;     /* enum pass */
    bool permit_held; /* `permit` is to be ended */
    bool injected;    /* fails on purpose: that counts as after sending */
    bool elsewhere;   /* at the upstream that the route falls back on */
    struct stale_copy *copy; /* of its answer, as far as it came; or NULL */

    bide_call permit;       /* on the endpoint's breaker */
    struct http1_body body; /* of the answer */
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

/* Makes the attempt that was decided. If it fails at once that is reported, and
 * the engine is to be asked again. */
void attempt_start(struct exchange *ex, const bide_decision *d);

/* Chooses an endpoint for it, and goes there. */
void attempt_go(struct attempt *a);

/* Its connection is there. */
void attempt_linked(struct attempt *a, struct link *l);

/* Reports what it came to without an answer, and lets the exchange go on. */
void attempt_fail(struct attempt *a, bide_fault fault);

/* The endpoint's time begins: until now it stood in line, or the client was
 * waited for. It has its time from now on. */
void attempt_started(struct attempt *a);

/* Something may have become possible on its connection. */
void attempt_ready(struct attempt *a);

/* Tells the engine and the endpoint's breaker what it came to. */
void attempt_report(struct attempt *a, const bide_outcome *out);

/* Ends it, whatever ended it. One that was not reported has lost: another has
 * won, or the client has gone. */
void attempt_end(struct attempt *a);

/* Gives its connection back, to serve again where that is possible; it keeps
 * what it has read. */
void attempt_unlink(struct attempt *a);

/* Whether its connection must surely be open: it must not be sent twice. */
bool attempt_is_careful(const struct attempt *a);

/* Has it look at its connection again soon. */
void attempt_later(struct attempt *a);

/* Its time is over before all of its answer is there: what there is counts. */
void attempt_judge(struct attempt *a);

/* Keeps it as the answer in case there will be no better one. */
void attempt_save(struct attempt *a);

/* It must have come further by `at_ns`. */
void attempt_until(struct attempt *a, int64_t at_ns);

/* Whether its connection may serve again: all of the request was sent, all of
 * the answer read, and nothing else. */
bool attempt_reusable(const struct attempt *a);

/* ===== fault.c ===== */

/* Whether the client asks for faults, and is one who may. */
bool fault_asked(const struct exchange *ex);

/* Draws whether this attempt fails on purpose; if so, it is held up. */
bool fault_begin(struct attempt *a);

/* The time that it was held up for is over. */
void fault_over(struct attempt *a);

#endif
