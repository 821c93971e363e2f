/* What an attempt is sent to, and what comes back.
 *
 * A target responds to each request once, later, and never from inside
 * submit(): even a refusal takes an event. So there is no reentrancy, however
 * many attempts a policy makes. It may not learn that the sender has given up:
 * the response is then discarded, which is what timeouts do to real servers. */
#ifndef BIDE_SIM_WORLD_TARGET_H
#define BIDE_SIM_WORLD_TARGET_H

#include "bide/outcome.h"
#include "sim/world/world.h"

struct sim_request;

/* The response to an attempt. X(name, HTTP status, fault, "do not retry")
 * The sender's own policy classifies each. */
#define SIM_ANSWERS(X)                                                         \
    X(SIM_SAID_OK, 200, BIDE_FAULT_NONE, false)                                \
    X(SIM_SAID_ERROR, 500, BIDE_FAULT_NONE, false)                             \
    X(SIM_SAID_BAD_GATEWAY, 502, BIDE_FAULT_NONE, false)                       \
    X(SIM_SAID_FULL, 503, BIDE_FAULT_NONE, false)                              \
    X(SIM_SAID_NO, 503, BIDE_FAULT_NONE, true)                                 \
    X(SIM_SAID_LATE, 504, BIDE_FAULT_NONE, false)                              \
    X(SIM_SAID_THROTTLED, 429, BIDE_FAULT_NONE, false)                         \
    X(SIM_SAID_CONFLICT, 409, BIDE_FAULT_NONE, false)                          \
    X(SIM_NOT_CONNECTED, 0, BIDE_FAULT_CONNECT, false)                         \
    X(SIM_BROKEN_OFF, 0, BIDE_FAULT_RESET, false)                              \
    X(SIM_TIMED_OUT, 0, BIDE_FAULT_TIMEOUT, false)

enum sim_answer_kind {
#define X(name, status, fault, no) name,
    SIM_ANSWERS(X)
#undef X
    SIM_ANSWER_KINDS
};

struct sim_answer {
    enum sim_answer_kind kind;
    int64_t hint_ns; /* Retry-After; 0: none */
};

struct sim_sender {
    void *self;
    void (*answer)(void *self, struct sim_world *w,
                   const struct sim_request *request,
                   const struct sim_answer *answer);
    /* Whether it still waits for the response. */
    bool (*waits)(const void *self, const struct sim_request *request);
    /* Prefetches what a response will need. */
    void (*fetch)(const void *self, const struct sim_request *request);
    uint32_t part; /* its number among the parts of the model */
    bool hedges;   /* it may have several attempts of a call in progress */
};

/* One attempt in transit. */
struct sim_request {
    const struct sim_sender *from;
    uint64_t client, call;     /* the luck's key, with ... */
    uint32_t attempt;          /* ... this */
    uint32_t slot, generation; /* by which the sender recognizes it */
    uint32_t claim;            /* X-Bide-Attempt: that of whoever owns the retries;
                                * 0: no one does */
    uint32_t server;           /* that it goes to, if there are several */
    bool fails;                /* whatever the service does with it */
    uint64_t operation;        /* what a user wanted done, the same however often
                                * it is tried, by whichever layer; 0: identified
                                * by client and call */
    uint64_t key;              /* Idempotency-Key; 0: none */
    int64_t deadline_ns;       /* X-Bide-Timeout-Ms, as a time; or FOREVER */
};

/* A request is written where the target keeps it, and then submitted: it is
 * large enough for copies to matter. */
struct sim_target {
    void *self;
    /* Returns room for a request, and the number that identifies it. */
    struct sim_request *(*open)(void *self, uint32_t *ret_number);
    void (*submit)(void *self, struct sim_world *w, uint32_t number);
    /* The first attempt of such a call will come: its service time may be drawn
     * now, with others. Only for speed. NULL: not needed. */
    void (*foresee)(void *self, const struct sim_world *w, uint64_t client,
                    uint64_t call);
    /* Its servers, among which senders choose. NULL: there is one. */
    const struct sim_model_service *pool;
    /* Its sender has given up. NULL: the target does not want to know. */
    void (*cancel)(void *self, struct sim_world *w,
                   const struct sim_request *request, uint32_t number);
};

#endif
