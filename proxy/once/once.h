/* proxy/once/once.h: a request with an Idempotency-Key, on a route that accepts
 * it: one effect, however often the client repeats it.
 *
 *   route:     { ..., idempotency: { accept: required } }
 *   request:   Idempotency-Key: "8e03978e"
 *
 * Its phases, beside those of its exchange (exchange.h):
 *
 *   READING --body complete--> CLAIMING --FIRST--> OURS --answered--> KEEPING
 *                                  |                 |                   |
 *                     any other result:     nothing was done:       it is durable,
 *                     that is the answer    RELEASE                 or the store is
 *                                  |                 |              down
 *                                  '------> OVER <---'-------------------'
 *
 * The rules, and where each is kept:
 *
 *   - The claim is durable before a byte goes upstream: there is no call before
 *     OURS (claim.c).
 *   - The answer is durable before its client sees any of it: while it is held
 *     (once_holds), answer_pass.c writes nothing (keep.c).
 *   - Nothing becomes repeatable by a key that was accepted: the engine sees a
 *     request without one, unless the origin knows it (`on_unknown: retry`).
 *   - An attempt that was sent is seen to its end. If its client leaves, or has
 *     no more time, the exchange moves to a client that is nobody (apart.c).
 *   - A claim of which nothing is known is left to its lease; one that certainly
 *     had no effect is released.
 *
 * A store that is down or lost costs no more than its timeout: the loop never
 * waits for it, results arrive at the worker's port (port.h). Threads: owned. */
#ifndef BIDE_PROXY_ONCE_ONCE_H
#define BIDE_PROXY_ONCE_ONCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/sha256.h"
#include "bide/bide.h"
#include "bide/store.h"
#include "config/proxy/idempotency.h"
#include "proxy/exchange/exchange.h"
#include "proxy/once/key.h"

struct attempt;
struct once_port;

enum once_phase {
    ONCE_READING,  /* the body arrives */
    ONCE_CLAIMING, /* the store is asked */
    ONCE_OURS,     /* attempts are made; their answer is held */
    ONCE_KEEPING,  /* the answer is being written */
    ONCE_OVER      /* nothing more is written; an answer may be sent */
};

enum { ONCE_SCOPE = 320, ONCE_ROOM = ONCE_KEY + 1 };

/* The key's side of an exchange. Threads: owned, but `op` and `renewal` are the
 * store's while they are submitted. */
struct once {
    struct exchange *ex;
    struct once_port *port;
    const struct bide__proxy_idempotency *conf; /* of its route */
    struct bide__list ours;                     /* in port->ours: has a lease */
    int64_t renew_ns;                           /* when to renew it */
    int64_t deadline_ns;                        /* its client's; FOREVER */
    int64_t asked_ns;                           /* when `op` was submitted */
    uint8_t phase;                              /* enum once_phase */
    bool waits;      /* `op` is submitted */
    bool renewing;   /* `renewal` is submitted */
    bool maybe_done; /* an attempt may have had an effect */
    bool told;       /* its client got another answer meanwhile */
    const char *word; /* what became of it, for the log */
    struct bide__sha256 sum; /* of the request so far */
    bide_store_op op, renewal;
    char key[ONCE_KEY + 1];
    char owner[ONCE_KEY + 1];
    char room[ONCE_ROOM];
    char scope[ONCE_SCOPE];
};

/* ===== claim.c: from the head of a request to a claim ===== */

/* The head was read, and the route accepts keys: finds out whether this request
 * has one. False: it has been answered. */
bool once_begin(struct exchange *ex);

/* A piece of the body, without framing. */
void once_body(struct exchange *ex, const char *data, size_t len);

/* The body may be complete: claims the key, if that was not done. */
void once_claim(struct exchange *ex);

/* Whether the key is not ours (yet): there is no call. */
static inline bool once_is_pending(const struct exchange *ex)
{
    return ex->once->phase <= ONCE_CLAIMING;
}

/* The claim was answered (port.c). */
void once_claimed(struct once *o);

/* Its call has begun: its client's time is known. */
void once_called(struct exchange *ex);

/* ===== keep.c: what becomes of the claim ===== */

/* The outcome of an attempt, before the engine has it: an answer that releases
 * the key proves that nothing was done. */
void once_judge(struct attempt *a, bide_outcome *out);

/* An attempt ended without an outcome, after it was sent. */
void once_lost(struct exchange *ex);

/* Whether a response that was saved says less than is known: that nothing was done,
 * while a later attempt was sent and its answer lost. */
bool once_outlived(const struct exchange *ex, const struct attempt *saved);

/* The call has ended, and this will be the answer. */
void once_settled(struct exchange *ex, struct attempt *winner);

/* Whether an answer must not be sent yet; and what is done instead: it is read,
 * and kept when it is complete. The exchange may be gone. */
bool once_holds(const struct exchange *ex);
void once_pump(struct exchange *ex);

/* There is no room to hold more of it. */
void once_no_room(struct exchange *ex);

/* The answer was written, or could not be (port.c). */
void once_kept(struct once *o);

/* All its attempts have ended, and there will be no answer of the origin:
 * releases the key, or leaves it to its lease. */
void once_end(struct once *o);

/* The time that an attempt gets: not cut short by the client's deadline. */
int64_t once_timeout(const struct exchange *ex, int64_t timeout_ns);

void once_free(struct once *o);

#endif
