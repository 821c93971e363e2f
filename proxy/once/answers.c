/* What a client gets whose key is not its first use: problem details, or the
 * answer of the first. */
#include <stdio.h>

#include "net/buf.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/once/answers.h"
#include "proxy/once/blob.h"
#include "proxy/once/once.h"
#include "proxy/worker.h"

/* ===== requests without a proper key ===== */

void once_refuse_key(struct exchange *ex, enum once_key what)
{
    struct counters *c = &ex->worker->counters;
    if (what == ONCE_KEY_MISSING) {
        count(&c->idempotency_missing);
        own_answer_with(ex, 400, "idempotency_missing", "Bad Request",
                        "this operation needs an Idempotency-Key");
        return;
    }
    count(&c->idempotency_invalid);
    own_answer_with(ex, 400, "idempotency_invalid", "Bad Request",
                    "Idempotency-Key must be one string of 1 to 255 ASCII "
                    "characters, sent once");
}

/* It would be one more request that goes on when its stream is reset. */
void once_refuse_crowd(struct exchange *ex)
{
    count(&ex->worker->counters.shed);
    own_answer(ex, &(struct own_answer){ .status = 503,
                                         .problem = "connections",
                                         .title = "Service Unavailable",
                                         .detail = "too many requests go on "
                                                   "without their clients",
                                         .retry_ns = BIDE_SECOND });
}

/* ===== replays ===== */

enum { ADDED = 1024 }; /* status line, length, and what bide says */

static void broken(struct once *o)
{
    o->word = "unreadable";
    own_answer(o->ex, &(struct own_answer){
                          .status = 503,
                          .problem = "idempotency_store",
                          .title = "Service Unavailable",
                          .detail = "what the store has for this key cannot be "
                                    "read",
                          .refusal = true,
                          .retry_ns = BIDE_FOREVER });
}

/* A failure that was kept stays what it is: asking again is of no use. */
static void replay(struct once *o)
{
    struct exchange *ex = o->ex;
    struct once_answer kept;
    char title[128];
    /* One that was kept under a larger limits.header_bytes may not fit. */
    if (!once_blob_read(o->op.data, o->op.len, &kept) ||
        kept.lines_len + ADDED > ex->worker->bufs.size) {
        broken(o);
        return;
    }
    count(&ex->worker->counters.idempotency_replays);
    o->word = "replayed";
    snprintf(title, sizeof title, "%.*s", (int)kept.reason_len, kept.reason);
    own_answer(ex, &(struct own_answer){ .status = kept.status,
                                         .title = title,
                                         .refusal = kept.status >= 500,
                                         .retry_ns = BIDE_FOREVER,
                                         .body = kept.body,
                                         .body_len = kept.body_len,
                                         .lines = kept.lines,
                                         .lines_len = kept.lines_len,
                                         .replayed = true });
}

/* ===== conflicts ===== */

/* An owner that lives renews when a third of the lease has passed. If more has,
 * it is gone, and its lease will end; otherwise the answer may come any
 * moment. */
static int64_t in_progress_ns(const struct once *o)
{
    bool gone = o->op.left_ns < o->conf->lease_ns / 2;
    return gone && o->op.left_ns > BIDE_SECOND ? o->op.left_ns : BIDE_SECOND;
}

static const char *const names[] = {
    [BIDE_STORE_IN_PROGRESS] = "in_progress", [BIDE_STORE_MISMATCH] = "mismatch",
    [BIDE_STORE_TOO_LARGE] = "too_large",     [BIDE_STORE_UNKNOWN] = "unknown",
    [BIDE_STORE_FULL] = "full",               [BIDE_STORE_DOWN] = "down",
};

static void in_progress(struct once *o)
{
    count(&o->ex->worker->counters.idempotency_in_progress);
    own_answer(o->ex,
               &(struct own_answer){
                   .status = 409,
                   .problem = "idempotency_in_progress",
                   .title = "Conflict",
                   .detail = "a request with this Idempotency-Key is being "
                             "processed: ask again later, with the same key",
                   .retry_ns = in_progress_ns(o) });
}

/* Final: to send the same again changes nothing. */
static void conflict(struct once *o, counter *c, const char *problem,
                     const char *detail)
{
    count(c);
    own_answer(o->ex, &(struct own_answer){ .status = 409,
                                            .problem = problem,
                                            .title = "Conflict",
                                            .detail = detail,
                                            .refusal = true,
                                            .retry_ns = BIDE_FOREVER });
}

/* Does not say what differs: another caller must not learn that it exists. */
static void mismatch(struct once *o)
{
    count(&o->ex->worker->counters.idempotency_mismatch);
    own_answer(o->ex, &(struct own_answer){
                          .status = 422,
                          .problem = "idempotency_mismatch",
                          .title = "Unprocessable Content",
                          .detail = "this Idempotency-Key belongs to another "
                                    "request",
                          .refusal = true,
                          .retry_ns = BIDE_FOREVER });
}

static void unavailable(struct once *o)
{
    bool full = o->op.result == BIDE_STORE_FULL;
    struct counters *c = &o->ex->worker->counters;
    count(full ? &c->idempotency_full : &c->idempotency_down);
    own_answer(o->ex, &(struct own_answer){
                          .status = 503,
                          .problem = "idempotency_store",
                          .title = "Service Unavailable",
                          .detail = full ? "the store has no room for another "
                                           "key of this caller"
                                         : "the store for Idempotency-Keys is "
                                           "not available",
                          .retry_ns = BIDE_SECOND });
}

void once_refuse(struct once *o)
{
    struct counters *c = &o->ex->worker->counters;
    bide_store_result result = o->op.result;
    o->phase = ONCE_OVER;
    if (result < sizeof names / sizeof names[0])
        o->word = names[result];
    switch (result) {
    case BIDE_STORE_DONE:
        replay(o);
        break;
    case BIDE_STORE_IN_PROGRESS:
        in_progress(o);
        break;
    case BIDE_STORE_MISMATCH:
        mismatch(o);
        break;
    case BIDE_STORE_UNKNOWN:
        conflict(o, &c->idempotency_unknown, "idempotency_unknown",
                 "the outcome of the first request with this Idempotency-Key "
                 "is not known");
        break;
    case BIDE_STORE_TOO_LARGE:
        conflict(o, &c->idempotency_too_large, "idempotency_too_large",
                 "the request with this Idempotency-Key was done; its answer "
                 "was too large to be kept");
        break;
    default:
        unavailable(o);
    }
}

/* ===== too late ===== */

void once_refuse_late(struct exchange *ex, bool goes_on)
{
    ex->reason = BIDE_BECAUSE_DEADLINE;
    own_answer(ex, &(struct own_answer){
                       .status = 504,
                       .problem = "deadline",
                       .title = "Gateway Timeout",
                       .detail = goes_on ? "the request goes on, and its "
                                           "answer will be kept: ask again with "
                                           "the same Idempotency-Key"
                                         : "there was no time left to send the "
                                           "request",
                       .retry_ns = goes_on ? BIDE_SECOND : BIDE_FOREVER });
}
