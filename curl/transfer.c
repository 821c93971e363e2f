/* One attempt: the options that it needs, and its outcome. */
#include "curl/transfer.h"

#include <limits.h>
#include <string.h>

#include "curl/claim.h"
#include "curl/classify.h"
#include "curl/request.h"

/* Rounded up, so that a rest of a deadline never becomes 0, which is no
 * limit. */
long bide__timeout_ms(int64_t timeout_ns)
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
    int64_t timeout_ns = bide__handle_timeout(&c->handle, d->timeout_ns);
    bide__handle_set(&c->handle, easy, t);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, bide__timeout_ms(timeout_ns));
    if (c->handle.takes_headers)
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER,
                         bide__claim_nodes(t, c->headers));
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
    if (t->begun && !t->call->handle.takes_head)
        bide__note_answered(t);
    if (bide__is_good_answer(t->call->policy, code, t->status))
        return (bide_outcome){ .cls = BIDE_SUCCESS, .status = t->status };
    if (t->begun)
        bide__note_method(t);
    struct bide__facts facts = {
        .method = t->call->method,
        .not_sent = code != CURLE_OK &&
                    (!t->begun || bide__curl_unsent(t->easy)),
        .refused = t->refused,
        .unanswered = code != CURLE_OK && t->begun && !t->answered,
        .body = t->answer.body.at,
        .body_len = t->answer.body.len,
    };
    return bide__curl_classify(t->call->dep, t->easy, code, &facts);
}

/* Whether part of the request's body is gone: one that libcurl reads, and will
 * not read from the beginning again. If it cannot be known how the body comes,
 * any that was sent counts as read; on a handle that is known, only if libcurl
 * did not know its length, as with standard input. */
static bool read_on_the_way(const struct bide__transfer *t)
{
    const struct bide__curl_call *c = t->call;
    curl_off_t length = 0, sent = 0;
    curl_easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_UPLOAD_T, &length);
    curl_easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    bool known = c->handle.recorded || c->opts->plain_handle;
    return sent > 0 && (length < 0 || !known);
}

/* Whether the request's body can be sent again; makes it ready for that. */
static bool rewind_body(struct bide__transfer *t)
{
    const bide_curl_opts *o = t->call->opts;
    if (o->rewind)
        return t->call->op.one_shot_body || o->rewind(o->rewind_ctx);
    if (t->call->handle.reads)
        return bide__handle_rewind(&t->call->handle, t);
    return !read_on_the_way(t);
}

/* Whether some of the response has reached the application. */
static bool has_passed(const struct bide__transfer *t)
{
    curl_off_t received = 0;
    if (!t->call->handle.takes_body)
        curl_easy_getinfo(t->easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    return t->passing || received > 0;
}

/* After a failure, looks for anything that prevents another attempt, which the
 * engine must know before it decides. */
static void look_for_obstacles(struct bide__transfer *t)
{
    bide_op *op = &t->call->op;
    bool stuck = has_passed(t) && !t->call->opts->restart;
    if (!rewind_body(t))
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
    c->passed = has_passed(t);
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
