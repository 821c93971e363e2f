/* A call over libcurl: what happens before its first attempt, between two, and
 * after its last, whichever driver makes the attempts. */
#include <stdio.h>
#include <string.h>

#include "curl/claim.h"
#include "curl/request.h"
#include "curl/transfer.h"

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
    bide__curl_claim_begin(c, now);

    bide_op *op = &c->op;
    if (c->opts->method) {
        c->known = true;
        c->method = c->opts->method;
        if (bide_method_idempotent(c->method))
            op->idempotent = true;
    }
    if (c->opts->headers &&
        bide__headers_have(c->opts->headers, "Idempotency-Key"))
        op->has_key = true;
    c->result.attempts = op->attempts_made;
    bool hedges = c->policy->hedge.max != 0;
    if (c->opts->one_shot_body || (c->opts->rewind && hedges))
        op->one_shot_body = true;
    bide_call_begin(&c->call, dep, op, now);
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

static void give_handle_back(struct bide__curl_call *c)
{
    curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, NULL);
    curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, stdout);
    curl_easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, NULL);
    curl_easy_setopt(c->easy, CURLOPT_HEADERDATA, NULL);
    curl_easy_setopt(c->easy, CURLOPT_PREREQFUNCTION, NULL);
    curl_easy_setopt(c->easy, CURLOPT_TIMEOUT_MS, 0L);
    curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->opts->headers);
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
    give_handle_back(c);
    bide__curl_claim_end(c);
    if (c->opts->result)
        *c->opts->result = c->result;
}
