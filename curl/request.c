/* The request: bide's own header fields, and the moment before it is sent.
 *
 * libcurl calls back when it has a connection and the request comes next.
 * Before that moment nothing can have been sent, after it anything may have
 * been; the method is known by then, and the header list, which is yet to be
 * read, can get an Idempotency-Key. A second such moment without a response in
 * between means that a keep-alive connection broke and libcurl is about to send
 * the request again, up to five times, whatever its method. It is prevented:
 * that is a retry, and the policy decides about retries. */
#include "curl/request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "curl/claim.h"
#include "curl/classify.h"
#include "curl/transfer.h"

bool bide__headers_have(const struct curl_slist *list, const char *name)
{
    size_t len = strlen(name);
    for (; list; list = list->next) {
        if (strncasecmp(list->data, name, len) != 0 || list->data[len] != ':')
            continue;
        const char *value = list->data + len + 1;
        if (value[strspn(value, " \t")] != '\0')
            return true;
    }
    return false;
}

/* ===== what kind of request it is ===== */

static bool is_http(CURL *easy)
{
    const char *scheme = NULL;
    curl_easy_getinfo(easy, CURLINFO_SCHEME, &scheme);
    return scheme && (strcasecmp(scheme, "http") == 0 ||
                      strcasecmp(scheme, "https") == 0);
}

static bool makes_keys(const struct bide__curl_call *c)
{
    return c->policy->idempotency_key == BIDE_KEY_GENERATE;
}

static void now_known(struct bide__curl_call *c)
{
    bide_call_set_op(&c->call, &c->op);
    if (c->wake)
        c->wake(c);
}

/* From the application's own handle, which outlives the call: a hedge's copy
 * may be gone when the method is needed. */
void bide__note_method(struct bide__transfer *t)
{
    char *method = NULL;
    if (t->call->method || t->call->known)
        return;
    curl_easy_getinfo(t->call->easy, CURLINFO_EFFECTIVE_METHOD, &method);
    t->call->method = method;
}

void bide__no_key(struct bide__curl_call *c)
{
    c->op.one_shot_body |= makes_keys(c) && !c->op.idempotent && !c->op.has_key;
}

/* Without HTTP there is no method, and opts.op decides. */
void bide__curl_learn(struct bide__transfer *t)
{
    struct bide__curl_call *c = t->call;
    bide__note_method(t);
    if (c->known || !c->method)
        return;
    c->known = true;
    if (!is_http(t->easy)) {
        c->method = NULL;
        bide__no_key(c);
        now_known(c);
    } else if (bide_method_idempotent(c->method)) {
        c->op.idempotent = true;
        now_known(c);
    } else if (!c->handle.takes_headers) {
        bide__no_key(c);
        now_known(c);
    }
}

static bool wants_key(const struct bide__curl_call *c)
{
    return makes_keys(c) && !c->op.idempotent && !c->op.has_key &&
           c->handle.takes_headers;
}

/* Generated once, the same on all attempts. False: it could not be. */
static bool add_key(struct bide__transfer *t)
{
    struct bide__curl_call *c = t->call;
    if (!c->result.key[0] && bide_key_new(c->result.key) < 0)
        return false;
    snprintf(t->key_text, sizeof t->key_text, "Idempotency-Key: \"%s\"",
             c->result.key);
    t->headers[2] = (struct curl_slist){ t->key_text, t->headers[0].next };
    t->headers[0].next = &t->headers[2];
    return true;
}

long bide__curl_connects(CURL *easy)
{
    long n = 0;
    curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &n);
    return n;
}

static long head_size(CURL *easy)
{
    long size = 0;
    curl_easy_getinfo(easy, CURLINFO_HEADER_SIZE, &size);
    return size;
}

/* A connection that was opened meanwhile has had a proxy's response. */
void bide__note_answered(struct bide__transfer *t)
{
    long status = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    t->status = (int)status;
    t->answered = head_size(t->easy) > t->head_size &&
                  bide__curl_connects(t->easy) == t->connects;
}

/* The application's own, if it is known. */
static int ask_application(const struct bide__transfer *t, char *ip,
                           char *local_ip, int port, int local_port)
{
    const struct bide__set *was = &t->call->handle.was;
    return was->prereq ? was->prereq(was->prereq_ctx, ip, local_ip, port,
                                     local_port)
                       : CURL_PREREQFUNC_OK;
}

/* libcurl would send it again. On a connection that was used before, that may have
 * broken; it does so on a new one only after REFUSED_STREAM, or a GOAWAY that says
 * the same. It does not tell the two apart on the former, so nothing is proved
 * there. */
static int prevent(struct bide__transfer *t)
{
    t->resent = true;
    t->refused = t->fresh;
    return CURL_PREREQFUNC_ABORT;
}

int bide__request_ready(void *transfer, char *ip, char *local_ip, int port,
                        int local_port)
{
    struct bide__transfer *t = transfer;

    if (t->call->wake || makes_keys(t->call) || bide__claim_told(t->call, ip))
        bide__curl_learn(t);
    if (!t->call->handle.takes_head) {
        bide__note_method(t);
        if (t->begun)
            bide__note_answered(t);
    }
    if (t->begun && !t->answered && !bide__curl_unsent(t->easy))
        return prevent(t);
    if ((!t->begun && wants_key(t->call) && !add_key(t)) ||
        (t->call->handle.takes_headers && !bide__claim_write(t, ip))) {
        t->starved = true;
        return CURL_PREREQFUNC_ABORT;
    }
    t->begun = true;
    t->answered = t->in_head = false;
    t->fresh = bide__curl_connects(t->easy) > t->connects;
    t->connects = bide__curl_connects(t->easy);
    t->status = 0;
    t->head_size = head_size(t->easy);
    return ask_application(t, ip, local_ip, port, local_port);
}
