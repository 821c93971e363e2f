/* A call over libcurl: what happens before its first attempt, between two, and
 * after its last, whichever driver makes the attempts. */
#include <string.h>

#include "curl/claim.h"
#include "curl/request.h"
#include "curl/transfer.h"

static void learn_from_opts(struct bide__curl_call *c)
{
    const struct bide__handle *h = &c->handle;
    if (h->headers && bide__headers_have(h->headers, "Idempotency-Key"))
        c->op.has_key = true;
    if (!c->opts->method)
        return;
    c->known = true;
    c->method = c->opts->method;
    if (bide_method_idempotent(c->method))
        c->op.idempotent = true;
    else if (!h->takes_headers)
        bide__no_key(c);
}

/* Two attempts at once have one body to read, and must not both write to the
 * application. */
static bool may_hedge(const struct bide__curl_call *c)
{
    return !c->opts->rewind && !c->handle.reads && c->handle.takes_body &&
           c->handle.takes_head;
}

void bide__curl_begin(struct bide__curl_call *c, bide_dep *dep, CURL *easy,
                      const bide_curl_opts *opts, int64_t now)
{
    static const bide_curl_opts plain = { .method = NULL };
    memset((char *)c + sizeof c->call, 0, sizeof *c - sizeof c->call);
    c->dep = dep;
    c->policy = bide_dep_policy(dep);
    c->easy = easy;
    c->opts = opts ? opts : &plain;
    c->op = c->opts->op;
    bide__handle_take(&c->handle, easy, c->opts);
    bide__curl_claim_begin(c, now);
    learn_from_opts(c);
    c->result.attempts = c->op.attempts_made;
    if (c->opts->one_shot_body || (c->policy->hedge.max != 0 && !may_hedge(c)))
        c->op.one_shot_body = true;
    bide_call_begin(&c->call, dep, &c->op, now);
}

void bide__curl_give_up(struct bide__curl_call *c)
{
    c->given_up = true;
    bide_call_cancel(&c->call);
}

/* Another attempt is to follow one whose body was passed on: only if the caller
 * drops that body. Otherwise the part that was passed on stays. */
static bool may_follow(struct bide__curl_call *c)
{
    if (!c->passed)
        return true;
    if (!c->opts->restart || !c->opts->restart(c->opts->ctx, c->opts->write_ctx))
        return false;
    c->passed = false;
    return true;
}

/* Does not report that an attempt is running, and reports the queue for a place
 * only once: the driver asks again and again. */
static void tell(struct bide__curl_call *c, const bide_decision *d, int64_t now)
{
    bool again = d->reason == BIDE_BECAUSE_QUEUED && c->told == d->reason;
    c->told = d->reason;
    if (c->opts->on_decision && d->reason != BIDE_BECAUSE_RUNNING && !again)
        c->opts->on_decision(c->opts->ctx, d, c->tried ? &c->result.last : NULL,
                            now);
}

bide_decision bide__curl_decide(struct bide__curl_call *c, int64_t now)
{
    if (c->opts->cancel && bide_cancelled(c->opts->cancel))
        bide__curl_give_up(c);
    bide_decision d = bide_call_next(&c->call, now);
    if (d.action != BIDE_DONE && !may_follow(c)) {
        bide_call_cancel(&c->call);
        d = bide_call_next(&c->call, now);
    }
    if (d.action == BIDE_TRY)
        c->result.attempts = d.attempt;
    tell(c, &d, now);
    return d;
}

/* 0 is libcurl's default, which is no limit. */
static long timeout_after(const struct bide__curl_call *c)
{
    if (c->handle.recorded || c->opts->plain_handle)
        return c->handle.was.timeout_ms;
    return bide__timeout_ms(c->policy->attempt_timeout_ns);
}

void bide__curl_finish(struct bide__curl_call *c, bide_reason reason,
                       int64_t now)
{
    bool given_up = c->given_up && reason == BIDE_BECAUSE_CANCELLED;
    if (!c->tried || given_up)
        c->result.code = CURLE_ABORTED_BY_CALLBACK;
    else if (!c->passed && !bide__answer_deliver(c, &c->answer))
        c->result.code = CURLE_WRITE_ERROR;
    c->result.reason = reason;
    bide_call_end(&c->call, now);
    bide__answer_free(&c->answer);
    bide__handle_give_back(&c->handle, c->easy, timeout_after(c));
    bide__curl_claim_end(c);
    if (c->opts->result)
        *c->opts->result = c->result;
}
