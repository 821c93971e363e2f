/* proxy/exchange/exchange.h: one request and its answer, and the attempts in between.
 *
 * An exchange is a driver of the engine (bide/call.h): it asks what to do next,
 * makes the attempts it is told to make, and passes on the answer of the one
 * that ends the call. Where the parts of that are:
 *
 *   request.c        what the request says; begins the call
 *   exchange.c       asks for decisions, has them done, ends it
 *   exchange_time.c  how long its client may take
 *   priority.c       which requests go first, by a header field
 *   queue.c          those that wait for a place in flight
 *   upload.c         the request's body: kept for replay (upload_keep.c),
 *                    streamed past that (upload_stream.c)
 *   attempt.c        an attempt's life, from the choice of an endpoint on
 *   fault.c          ... failing on purpose instead
 *   attempt_send.c   ... sending the request
 *   attempt_read.c   ... reading the answer's head, and having it judged
 *   answer.c         the answer's head; interim answers
 *   answer_read.c    ... reading its body
 *   answer_hold.c    ... holding it for a slow client
 *   answer_pass.c    ... passing it on
 *   own_answer.c     answers that no endpoint gave
 *   fallback.c       what is answered when the policy has given up
 *   copy.c           ... copies of answers, for that
 *   hops.c           Max-Forwards and Via
 *   tunnel.c         what follows a 101
 *
 * While a call waits, its exchange holds the request, and perhaps the last
 * answer in case there will be no better one, but no connection to any
 * endpoint.
 *
 * Nothing reaches the client before the attempt that will be its answer has a
 * status, except 1xx. Threads: owned. */
#ifndef BIDE_PROXY_EXCHANGE_EXCHANGE_H
#define BIDE_PROXY_EXCHANGE_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "bide/bide.h"
#include "net/buf.h"
#include "net/http1.h"
#include "net/loop.h"
#include "proxy/exchange/pace.h"
#include "proxy/exchange/events.h"

struct bide__proxy_conf;
struct client;
struct endpoint;
struct generation_use;
struct link;
struct pool;
struct route;
struct stale_copy;
struct generation;
struct worker;
struct exchange;

enum { FIELDS_MAX = 256 };

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

/* What an exchange is to do when it is in the middle of nothing. */
enum todo {
    TODO_PUMP = 1,   /* pass more of the answer on, or of the tunnel */
    TODO_UPLOAD = 2, /* read more of the body */
    TODO_STEP = 4    /* ask the engine */
};

enum upload {
    UPLOAD_NONE,     /* there is no body, or all of it is there */
    UPLOAD_KEEPING,  /* it comes in, and is kept */
    UPLOAD_STREAMING /* what comes in now goes out at once */
};

struct exchange {
    struct exchange *next; /* on the free list */
    struct client *client;
    struct worker *worker;
    struct generation_use *use;    /* NULL: not routed */
    struct generation *generation; /* its state */
    const struct route *route;
    bide_op op;
    struct net_timer timer;                   /* of a decision to wait */
    struct net_task task;                     /* does what `todo` says */
    uint8_t todo;                             /* bits of enum todo */
    struct exchange *queue_next, *queue_prev; /* for a place in flight */
    int64_t queue_until_ns;                   /* it waits no longer than that */

    struct attempt *running; /* the winner included */
    struct attempt *winner;  /* whose answer is being passed on */
    struct attempt *saved;   /* an answer that was not good enough, whole */

    /* The request. Its head begins at client->in->begin. */
    struct net_buf *kept, *kept_last; /* body behind what client->in holds */
    struct net_buf *stream;           /* body that is not kept */
    struct net_buf *rest;             /* what followed the body */
    uint32_t scanned;                 /* in the buffer that is being filled */
    uint64_t kept_bytes;              /* in client->in and in `kept` */
    uint64_t body_bytes;              /* all that came */
    uint32_t in_end; /* in client->in: end of what belongs to it */
    uint8_t upload;  /* enum upload */
    bool one_shot;   /* parts of the body are gone */
    bool called;     /* bide_call_begin() */
    bool queued;
    bool reported;    /* `last` is the outcome of an attempt */
    bool stepping;    /* exchange_step() is on the stack */
    bool close_after; /* the client's connection is of no use after it */
    bool upgrade;     /* asks for another protocol, and may */
    bool told;        /* exchange_over() */
    bool tunnel;
    bool faults;               /* the client asks for them, and may */
    bool injected;             /* an attempt had one */
    bool up_ended, down_ended; /* directions of the tunnel */

    struct pace up;   /* of the client that sends its body, ... */
    struct pace down; /* ... and of one that reads its answer slowly, ... */
    int64_t read;     /* ... who has taken so much, by the kernel's count */
    struct net_buf *interim; /* to the client, before all else */
    struct net_buf *out;     /* to the client, before the winner's bytes */
    struct net_buf *held, *held_last; /* to the client, between the two */
    uint32_t n_held;
    struct stale_copy *copy; /* that is the answer; or NULL */
    struct iovec tail;       /* to the client, behind `out`; not its own */
    uint64_t out_bytes;
    uint16_t status;       /* sent to the client; 0: nothing yet */
    uint8_t reason;        /* bide_reason of the end; for the log */
    uint8_t fallback;      /* enum fallback_kind: what the answer is */
    bide_decision gave_up; /* of the route's own upstream; valid if another is
                              asked */
    const char *problem;   /* of an answer that no endpoint gave, or "loop"; or
                            NULL */
    uint8_t fault;         /* bide_fault of the last attempt without answer */
    uint32_t tries;        /* attempts begun */
    uint64_t tried;        /* endpoints, a bit each */
    const struct endpoint *endpoint; /* of the last attempt */
    int64_t begin_ns;
    int64_t waited_ns;            /* in waits that were asked for */
    int64_t wait_from_ns;         /* 0: not waiting */
    int64_t first_byte_ns;        /* of the answer to the client */
    char key[37];                 /* generated idempotency key; "" */
    char request_id[37];          /* generated, as none came; "" */
    struct bide__trace trace;     /* sampled: it is traced */
    struct pending_event pending; /* what is yet to be told of an attempt */
    int64_t asked_ns, slept_ns;   /* of the last wait */

    bide_outcome last;

    bide_call call;         /* from here on not cleared */
    struct http1_body body; /* of the request */
    struct http1_head req;
    struct http1_field fields[FIELDS_MAX];
};

/* ===== exchange.c ===== */

/* NULL: no memory. */
struct exchange *exchange_new(struct client *c);
void exchange_free(struct exchange *ex);

/* Asks the engine what to do, and does it. */
void exchange_step(struct exchange *ex);

/* Tells the engine what an attempt came to; asks it what to do next. */
void exchange_report(struct exchange *ex, const struct attempt *a,
                     const bide_outcome *out);
bide_decision exchange_next(struct exchange *ex);

/* The outcome as it counts: for whom else it is to be held against. */
bide_outcome exchange_blame(const struct exchange *ex, const struct attempt *a,
                            const bide_outcome *out);

/* Does what was decided, and what follows from that. */
void exchange_act(struct exchange *ex, bide_decision d);

/* Ends the call and all attempts, but this one. */
void exchange_stop(struct exchange *ex, struct attempt *but);

/* Begins another call for the same request, by another route. An answer that
 * was saved stays. */
void exchange_restart(struct exchange *ex, const struct route *route);

/* Has it done soon. */
void exchange_later(struct exchange *ex, enum todo what);

/* The client has gone, or will be gone: tells so. */
void exchange_gone(struct exchange *ex);

/* The client's connection is of no use any more: in the middle of an answer,
 * say. */
void exchange_cut(struct exchange *ex);

/* Tells the log and whoever watches how it went: once, before it is freed. */
void exchange_over(struct exchange *ex);

/* The client has gone, or was too slow. */
void exchange_cancel(struct exchange *ex);

/* Something may have become possible on the client's connection. */
void exchange_client_ready(struct exchange *ex);

/* The call is over: `winner` (may be NULL) answers it. */
void exchange_settle(struct exchange *ex, const bide_decision *d,
                     struct attempt *winner);

/* The request as text. */
const char *exchange_bytes(const struct exchange *ex);

/* Its id, as it came or was generated; NULL: it has none. */
const char *exchange_request_id(const struct exchange *ex, size_t *ret_len);

/* Its method, as a string of C; NULL for one that is longer than any known. */
enum { METHOD_TEXT = 32 };
const char *exchange_method(const struct exchange *ex, char text[METHOD_TEXT]);

/* What endpoints are told of the client's certificate; NULL: nothing. */
const char *exchange_certificate(const struct exchange *ex);

/* ===== exchange_time.c ===== */

/* The configuration that it is served by, also before it has a route. */
const struct bide__proxy_conf *exchange_conf(const struct exchange *ex);

/* The client is waited for, or no more: sets its timer to what is due first. */
void exchange_await(struct exchange *ex);

/* That time has come. */
void exchange_late(struct exchange *ex);

/* Answers a request that came too slowly: 408. */
void exchange_too_slow(struct exchange *ex);

/* ===== request.c ===== */

/* The head of the request is there, in client->in. */
void exchange_begin(struct exchange *ex);

/* Makes an idempotency key for it, if it needs one and the policy says so. */
void exchange_make_key(struct exchange *ex);

/* ===== priority.c ===== */

/* What the request says of its own priority, as bide_op has it. */
int8_t priority_of(const struct exchange *ex);

/* ===== queue.c ===== */

/* Waits for a place under limits.in_flight: asks again at the time that is
 * returned, or when another exchange of this worker leaves a place. */
int64_t queue_enter(struct exchange *ex, int64_t at_ns);
void queue_leave(struct exchange *ex);
void queue_offer(struct worker *w, const bide_dep *dep);

/* Whether it leaves its turn to another, before it in the line or of a higher
 * priority, that waits for the same; then it looks again later. */
bool queue_yields(struct exchange *ex);

/* ===== upload.c ===== */

/* Begins with the body, whose first bytes may be there already. False: the
 * exchange has ended. */
bool upload_begin(struct exchange *ex);

/* Reads on, as far as there is room for it. */
void upload_read(struct exchange *ex);

/* The kept body from byte `from` on, as up to `max` pieces (upload_keep.c). */
int upload_pieces(const struct exchange *ex, uint64_t from, struct iovec *iov,
                  int max);
void upload_free(struct exchange *ex);

/* At the end: what was read behind the body becomes the client's again. */
void upload_rest(struct exchange *ex);

/* ===== attempt.c ===== */

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

/* ===== attempt_send.c ===== */

/* Sends what can be sent. */
void attempt_send(struct attempt *a);

/* The fields of the request that are not passed on, as bits; hop-by-hop ones
 * apart. */
uint64_t request_dropped(const struct exchange *ex);

/* Writes the request's head as the endpoint shall see it; false: too long. */
bool request_head_write(struct attempt *a, struct net_buf *to);

/* Makes it ready for an answer to its request. */
void attempt_expect(struct attempt *a);

/* ===== attempt_read.c ===== */

void attempt_read(struct attempt *a);

/* Takes this for its answer, head and body. */
void attempt_answer(struct attempt *a, const char *text, size_t len);

/* Looks at what came of the body: as far as it is whole and well-formed, it is
 * ready to be passed on. False: it is not. */
bool attempt_scan(struct attempt *a);

/* Reads into the buffer, making room first: over 0; 0: the end; NET_...; no
 * room counts as NET_AGAIN. */
ssize_t attempt_fill(struct attempt *a);

/* ===== answer.c ===== */

/* Begins to pass on the winner's answer. */
void answer_begin(struct exchange *ex);

/* Counts an answer, and from now on it is being sent. */
void answer_count(struct exchange *ex, int status);

/* Passes an interim answer (1xx) on. */
void answer_interim(struct attempt *a);

/* Sends one, unless another has not been taken yet: then there is no need for
 * it. And sends on, when the client may take more. */
void interim_send(struct exchange *ex, const char *text, size_t len);
void interim_flush(struct exchange *ex);

/* Whether the client knows the end of the answer by that of its connection. */
static inline bool answer_ends_by_closing(const struct attempt *a)
{
    return a->pass == PASS_UNCHUNKED ||
           (a->pass == PASS_AS_IT_IS && a->resp.framing == HTTP1_UNTIL_CLOSE);
}

/* ===== answer_pass.c ===== */

/* Passes on what there is. */
void answer_pump(struct exchange *ex);

/* The winner's answer broke off. */
void answer_broken(struct exchange *ex);

/* The client has not taken what there is for a while. */
void answer_slow(struct exchange *ex);

/* ===== own_answer.c ===== */

/* Answers in the place of an endpoint. `problem` is a short name for machines,
 * `detail` a sentence. retry_ns: when to come back; FOREVER: not known. */
struct own_answer {
    int status;
    const char *problem, *title, *detail;
    bool refusal;     /* ours: a layer above shall not retry it */
    int64_t retry_ns; /* in this time; FOREVER */

    /* Instead of problem details; it must live as long as the exchange. */
    const char *body; /* NULL: problem details */
    size_t body_len;
    const char *content_type;
    const char *lines; /* of the head, instead of content_type; or NULL */
    size_t lines_len;
    int64_t age_s;        /* where there are `lines` */
    const char *fallback; /* the kind of fallback that it is; or NULL */
};
void own_answer(struct exchange *ex, const struct own_answer *answer);

/* ... without more to say than this. */
void own_answer_with(struct exchange *ex, int status, const char *problem,
                     const char *title, const char *detail);

/* ... for a call that ended without any answer. */
void own_answer_for(struct exchange *ex, const bide_decision *d);

/* ... for a request that is none. */
void own_answer_malformed(struct exchange *ex, int rc);

/* ===== fallback.c ===== */

enum fallback_kind {
    FALLBACK_NONE,
    FALLBACK_STATIC,
    FALLBACK_STALE,
    FALLBACK_UPSTREAM
};

/* "static"; NULL for none. */
const char *fallback_name(enum fallback_kind kind);

/* The call is over, and this (may be NULL) would be its answer. True: there is
 * another, or one is being asked for; then `winner` may be gone. */
bool fallback_take(struct exchange *ex, const bide_decision *d,
                   struct attempt *winner);

/* ===== copy.c ===== */

/* The head of a good answer is there; then pieces of its body; then it ends. */
void copy_begin(struct attempt *a);
void copy_add(struct attempt *a, const char *data, size_t len);
void copy_end(struct attempt *a);

/* Answers with a copy, if there is one that may be given. */
bool copy_give(struct exchange *ex, const struct route *r,
               const bide_decision *d);

/* There is an answer with this status: copies may be wrong now. */
void copy_forget(struct exchange *ex, int status);

/* ===== tunnel.c ===== */

void tunnel_begin(struct exchange *ex);
void tunnel_pump(struct exchange *ex);

#endif
