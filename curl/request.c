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

static struct curl_slist *push(struct curl_slist *node, char *text,
                               struct curl_slist *rest)
{
    *node = (struct curl_slist){ text, rest };
    return node;
}

/* "NAME: number". Without printf: this is done for every request, and printf
 * would be a large part of bide's cost. */
static char *write_field(char *to, const char *name, size_t name_len,
                         uint64_t number)
{
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + number % 10);
    } while ((number /= 10) != 0);
    memcpy(to, name, name_len);
    for (size_t i = 0; i < n; i++)
        to[name_len + i] = digits[n - 1 - i];
    to[name_len + n] = '\0';
    return to;
}

#define FIELD(to, name, number) write_field(to, name, sizeof name - 1, number)

/* Most attempts are the first, and need no buffer of their own. */
static char *attempt_field(struct bide__transfer *t)
{
    static char first[] = "X-Bide-Attempt: 1";
    if (t->attempt == 1)
        return first;
    return FIELD(t->attempt_text, "X-Bide-Attempt: ", t->attempt);
}

static char *timeout_field(struct bide__transfer *t, int64_t left_ns)
{
    /* Rounded up: the server should give up after us, not shortly before. */
    int64_t left = left_ns > 0 ? (left_ns - 1) / BIDE_MILLISECOND + 1 : 0;
    return FIELD(t->timeout_text, "X-Bide-Timeout-Ms: ",
                 (uint64_t)(left > 0 ? left : 1));
}

/* The engine knows, but need not be asked if no deadline is set. */
static int64_t deadline_of(const struct bide__curl_call *c)
{
    bool any = c->op.deadline_ns > 0 || c->policy->deadline_ns != BIDE_FOREVER;
    return any ? bide_call_deadline(&c->call) : BIDE_FOREVER;
}

struct curl_slist *bide__request_headers(struct bide__transfer *t, int64_t now)
{
    struct curl_slist *list = t->call->opts->headers;
    int64_t deadline = deadline_of(t->call);
    if (deadline != BIDE_FOREVER)
        list = push(&t->headers[1], timeout_field(t, deadline - now), list);
    return push(&t->headers[0], attempt_field(t), list);
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

/* Without HTTP there is no method, and opts.op decides. Nor can a key be sent:
 * a policy that generates one, and so allows everything to be repeated, must
 * not do so there. */
void bide__curl_learn(struct bide__transfer *t)
{
    struct bide__curl_call *c = t->call;
    bide__note_method(t);
    if (c->known || !c->method)
        return;
    c->known = true;
    if (!is_http(t->easy)) {
        c->method = NULL;
        c->op.one_shot_body |= makes_keys(c) && !c->op.idempotent;
        now_known(c);
    } else if (bide_method_idempotent(c->method)) {
        c->op.idempotent = true;
        now_known(c);
    }
}

static bool wants_key(const struct bide__curl_call *c)
{
    return makes_keys(c) && !c->op.idempotent && !c->op.has_key;
}

/* Generated once, the same on all attempts. False: it could not be. */
static bool add_key(struct bide__transfer *t)
{
    struct bide__curl_call *c = t->call;
    if (!c->result.key[0] && bide_key_new(c->result.key) < 0)
        return false;
    snprintf(t->key_text, sizeof t->key_text, "Idempotency-Key: \"%s\"",
             c->result.key);
    t->headers[0].next = push(&t->headers[2], t->key_text, t->headers[0].next);
    return true;
}

long bide__curl_connects(CURL *easy)
{
    long n = 0;
    curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &n);
    return n;
}

int bide__request_ready(void *transfer, char *ip, char *local_ip, int port,
                        int local_port)
{
    (void)ip, (void)local_ip, (void)port, (void)local_port;
    struct bide__transfer *t = transfer;

    if (t->call->wake || makes_keys(t->call))
        bide__curl_learn(t);
    if (t->begun && !t->answered && !bide__curl_unsent(t->easy)) {
        t->resent = true;
        return CURL_PREREQFUNC_ABORT;
    }
    if (!t->begun && wants_key(t->call) && !add_key(t)) {
        t->starved = true;
        return CURL_PREREQFUNC_ABORT;
    }
    t->begun = true;
    t->answered = t->in_head = false;
    t->connects = bide__curl_connects(t->easy);
    t->status = 0;
    return CURL_PREREQFUNC_OK;
}
