/* proxy/exchange/attempt.h: one try of a request, on one connection: its life from
 * the choice of an endpoint on, or its failing on purpose instead (fault.c). */
#ifndef BIDE_PROXY_EXCHANGE_ATTEMPT_H
#define BIDE_PROXY_EXCHANGE_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/bide.h"
#include "net/http1.h"
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

/* One try, on one connection. */
struct attempt {
    struct attempt *next; /* of its exchange; on the free list */
    struct exchange *ex;
    struct attempt *line_next, *line_prev; /* waiting for a connection */
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

    bool in_line;
    bool awaited;          /* in line, and a connection is being made for it */
    bool waits_for_client; /* all that came of the body has been sent */
    bool permit_held;
    bool sent_any; /* a byte of the request has left */
    bool sent_all;
    bool send_failed; /* no more can be sent; there may be an answer */
    bool answered;    /* the head of the answer is there */
    bool complete;    /* and the end of its body, ... */
    bool broken;      /* ... which will never be */
    bool reused;      /* on a connection that had served before */
    uint8_t pass;     /* enum pass */
    bool held_up;     /* by a fault on purpose: it has no endpoint yet */
    bool injected;    /* it had one: its failure counts as after sending */
    struct stale_copy *copy; /* of its answer, as far as it came; or NULL */
    bool elsewhere;          /* at the upstream that the route falls back on */

    bide_call permit;       /* on the endpoint's breaker */
    struct http1_body body; /* of the answer */
    struct http1_head resp;
    struct http1_field fields[FIELDS_MAX];
};

/* Makes the attempt that was decided. If it fails at once that is reported, and
 * the engine is to be asked again. */
void attempt_start(struct exchange *ex, const bide_decision *d);

/* Chooses an endpoint for it, and goes there. */
void attempt_go(struct attempt *a);

/* Its connection is there, or cannot be had: an errno, and the fault. */
void attempt_linked(struct attempt *a, struct link *l);
void attempt_unlinked(struct attempt *a, bide_fault fault);

/* Reports what it came to without an answer, and lets the exchange go on. */
void attempt_fail(struct attempt *a, bide_fault fault);

/* The endpoint's time begins: until now it stood in line, or the client was
 * waited for. It has its time from now on. */
void attempt_started(struct attempt *a);

/* Something may have become possible on its connection. */
void attempt_ready(struct attempt *a);

/* Ends it without a report: a loser, or cancelled, or done with. `reuse`: its
 * connection may serve again. */
void attempt_end(struct attempt *a, bool reuse);

/* Gives its connection back; it keeps what it has read. */
void attempt_unlink(struct attempt *a, bool reuse);

/* Whether its connection must surely be open: it must not be sent twice. */
bool attempt_is_careful(const struct attempt *a);

/* Has it look at its connection again soon. */
void attempt_later(struct attempt *a);

/* Its time is over before all of its answer is there: what there is counts. */
void attempt_judge(struct attempt *a);

/* Keeps it as the answer in case there will be no better one. */
void attempt_save(struct attempt *a, bool reuse);

/* It must have come further by `at_ns`. */
void attempt_until(struct attempt *a, int64_t at_ns);

/* Whether its connection may serve again: all of the request was sent, all of
 * the answer read, and nothing else. */
bool attempt_reusable(const struct attempt *a);

/* Counts a failure of the endpoint, tells its breaker, and gives the permit
 * back. NULL: nothing is known of it. */
void attempt_judge_endpoint(struct attempt *a, const bide_outcome *out);

/* ===== fault.c ===== */

/* Whether the client asks for faults, and is one who may. */
bool fault_asked(const struct exchange *ex);

/* Draws whether this attempt fails on purpose; if so, it is held up. */
bool fault_begin(struct attempt *a);

/* The time that it was held up for is over. */
void fault_over(struct attempt *a);

#endif
