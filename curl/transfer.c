/* One attempt: the options that it needs, and its outcome. */
#include "curl/transfer.h"

#include <limits.h>
#include <string.h>

#include "curl/claim.h"
#include "curl/classify.h"
#include "curl/request.h"

/* Rounded up, so that a rest of a deadline never becomes 0, which is no
 * limit. */
static long timeout_ms(int64_t timeout_ns)
{
    if (timeout_ns == BIDE_FOREVER)
        return 0;
    int64_t ms = (timeout_ns - 1) / BIDE_MILLISECOND + 1;
    if (ms < 1)
        return 1;
    return ms < INT_MAX ? (long)ms : INT_MAX;
}

void bide__transfer_start(struct bide__transfer *t, struct bide__curl_call *c,
                          CURL *easy, const bide_decision *d)
{
    memset(t, 0, offsetof(struct bide__transfer, headers)); /* not the texts */
    t->call = c;
    t->easy = easy;
    t->attempt = d->attempt;
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, bide__answer_write);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, bide__answer_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, bide__request_ready);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, t);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms(d->timeout_ns));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, bide__claim_nodes(t, c->headers));
}

/* A keep-alive connection broke, and libcurl could not open another to send the
 * request again, which we would have prevented. */
static bool could_not_resend(const struct bide__transfer *t, CURLcode code)
{
    return t->begun && !t->answered &&
           (code == CURLE_COULDNT_CONNECT ||
            code == CURLE_COULDNT_RESOLVE_HOST ||
            code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_PROXY ||
            code == CURLE_SSL_CONNECT_ERROR ||
            code == CURLE_PEER_FAILED_VERIFICATION);
}

/* If we aborted the transfer ourselves, the caller gets another code. And a
 * connection that is closed in the middle of the head is not a response,
 * although libcurl takes it for one without a body. */
static CURLcode true_code(const struct bide__transfer *t, CURLcode code)
{
    if (t->resent || could_not_resend(t, code))
        return CURLE_GOT_NOTHING;
    if (t->starved)
        return CURLE_OUT_OF_MEMORY;
    return code == CURLE_OK && t->in_head ? CURLE_PARTIAL_FILE : code;
}

static bide_outcome outcome_of(struct bide__transfer *t, CURLcode code)
{
    if (bide__is_good_answer(t->call->policy, code, t->status))
        return (bide_outcome){ .cls = BIDE_SUCCESS, .status = t->status };
    if (t->begun)
        bide__note_method(t);
    struct bide__facts facts = {
        .method = t->call->method,
        .not_sent = code != CURLE_OK &&
                    (!t->begun || bide__curl_unsent(t->easy)),
        .unanswered = code != CURLE_OK && t->begun && !t->answered,
        .body = t->answer.body.at,
        .body_len = t->answer.body.len,
    };
    return bide__curl_classify(t->call->dep, t->easy, code, &facts);
}

/* Whether a body was sent whose length libcurl did not know: one that it has
 * read, and will not read from the beginning again. */
static bool read_on_the_way(const struct bide__transfer *t)
{
    curl_off_t length = 0, sent = 0;
    curl_easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_UPLOAD_T, &length);
    curl_easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    return length < 0 && sent > 0;
}

/* After a failure, looks for anything that prevents another attempt, which the
 * engine must know before it decides. */
static void look_for_obstacles(struct bide__transfer *t)
{
    const bide_curl_opts *o = t->call->opts;
    bide_op *op = &t->call->op;
    bool stuck = t->passing && !o->restart;
    if (!o->rewind && read_on_the_way(t))
        stuck = true;
    if (o->rewind && !op->one_shot_body && !o->rewind(o->rewind_ctx))
        stuck = true;
    if (stuck && !op->one_shot_body) {
        op->one_shot_body = true;
        bide_call_set_op(&t->call->call, op);
    }
}

void bide__transfer_end(struct bide__transfer *t, CURLcode code, int64_t now)
{
    struct bide__curl_call *c = t->call;
    code = true_code(t, code);
    bide_outcome out = outcome_of(t, code);
    if (out.cls != BIDE_SUCCESS) {
        if (t->begun)
            bide__curl_learn(t);
        look_for_obstacles(t);
    }

    bide__claim_free(t);
    bide__answer_free(&c->answer);
    c->answer = t->answer;
    c->passed = t->passing;
    c->committed = NULL;
    c->tried = true;
    c->result.code = code;
    c->result.status = out.status;
    c->result.last = out;
    bide_call_report(&c->call, t->attempt, &out, now);
}

void bide__transfer_drop(struct bide__transfer *t)
{
    bide__claim_free(t);
    bide__answer_free(&t->answer);
}
