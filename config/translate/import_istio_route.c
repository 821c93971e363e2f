/* import_istio_route.c: the HTTP routes of a VirtualService.
 *
 * A route without `retries` is retried twice, under Istio's default conditions;
 * one with `attempts: 0` is not. */
#include <string.h>

#include "config/translate/import_istio.h"

typedef struct bide__node node;

enum {
    CONNECT = 1u << BIDE_FAULT_CONNECT | 1u << BIDE_FAULT_DNS |
              1u << BIDE_FAULT_LOCAL,
    RESET = 1u << BIDE_FAULT_RESET | 1u << BIDE_FAULT_TIMEOUT
};

#define CODE(name) (1u << BIDE_GRPC_##name)

/* The words of retryOn. */
static const struct word {
    const char *name;
    unsigned from, to; /* statuses; 0: none */
    uint32_t faults, grpc;
    const char *why; /* why it has no equivalent; or NULL */
} words[] = {
    { "5xx", 500, 599, CONNECT | RESET, 0, NULL },
    { "gateway-error", 502, 504, CONNECT | RESET, 0, NULL },
    { "reset", 0, 0, RESET, 0, NULL },
    { "connect-failure", 0, 0, CONNECT, 0, NULL },
    { "refused-stream", 0, 0, 0, 0,
      NULL }, /* is never processed: bide retries */
    { "retriable-4xx", 0, 0, 0, 0,
      "it is 409, and the same request gets the same answer again" },
    { "retriable-status-codes", 0, 0, 0, 0, NULL }, /* the numbers follow */
    { "cancelled", 0, 0, 0, CODE(CANCELLED), NULL },
    { "deadline-exceeded", 0, 0, 0, CODE(DEADLINE_EXCEEDED), NULL },
    { "internal", 0, 0, 0, CODE(INTERNAL), NULL },
    { "resource-exhausted", 0, 0, 0, CODE(RESOURCE_EXHAUSTED), NULL },
    { "unavailable", 0, 0, 0, CODE(UNAVAILABLE), NULL },
    { "envoy-ratelimited", 0, 0, 0, 0, "it asks for a header of Envoy" },
    { "retriable-headers", 0, 0, 0, 0, "the headers are not in this resource" },
    { "reset-before-request", 0, 0, 0, 0,
      "bide distinguishes resets by what was sent" },
    { "http3-post-connect-failure", 0, 0, 0, 0, "bide does not speak HTTP/3" },
};

enum { N_WORDS = sizeof words / sizeof words[0] };

/* ===== retryOn ===== */

static bool same(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

static bool read_status(struct bide__retry_set *set, const char *text,
                        size_t len)
{
    unsigned status = 0;

    if (len != 3)
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        status = status * 10 + (unsigned)(text[i] - '0');
    }
    if (!bide__status_registered(status))
        return false; /* Istio does not treat it as a status, either */
    bide__status_add(set, status, status);
    return true;
}

static void read_word(struct bide__import *im, struct bide__retry_set *set,
                      const node *where, const char *text, size_t len)
{
    const struct word *w = words;

    while (w < words + N_WORDS && !same(text, len, w->name))
        w++;
    if (w == words + N_WORDS) {
        if (!read_status(set, text, len))
            bide__import_warn(im, where,
                              "the condition `%.*s` is left out: it "
                              "is not known",
                              len < 60 ? (int)len : 60, text);
        return;
    }
    if (w->why)
        bide__import_warn(im, where, "the condition `%s` is left out: %s",
                          w->name, w->why);
    if (w->from)
        bide__status_add(set, w->from, w->to);
    set->faults |= w->faults;
    set->grpc |= w->grpc;
}

void bide__mesh_conditions(struct bide__import *im, struct bide__retry_set *set,
                           const node *where, const char *text)
{
    memset(set, 0, sizeof *set);
    while (*text) {
        size_t n = strcspn(text, ","), len = n;
        const char *word = text;

        for (; len > 0 && strchr(" \t", word[0]); len--)
            word++;
        while (len > 0 && strchr(" \t", word[len - 1]))
            len--;
        if (len > 0)
            read_word(im, set, where, word, len);
        text += n + (text[n] == ',');
    }
}

static void read_retry_on(struct bide__import *im, void *policy, node *key,
                          node *value)
{
    struct bide__named_policy *p = policy;
    const char *text = bide__import_text(im, value);

    (void)key;
    if (text && *text)
        bide__mesh_conditions(im, &p->retried, value, text);
}

/* ===== retries ===== */

void bide__istio_defaults(struct bide__named_policy *p)
{
    bide_policy_conf *c = &p->conf;

    c->attempts = 3;
    c->attempt_timeout_ns = BIDE_FOREVER;
    c->backoff.base_ns = 25 * BIDE_MILLISECOND;
    c->backoff.cap_ns = 250 * BIDE_MILLISECOND;
    c->budget.kind = BIDE_BUDGET_OFF;
    c->breaker.kind = BIDE_BREAKER_OFF;
    memset(&p->retried, 0, sizeof p->retried);
    bide__status_add(&p->retried, 503, 503);
    p->retried.faults = CONNECT;
    p->retried.grpc = CODE(UNAVAILABLE) | CODE(CANCELLED);
    bide__import_comment(p, "attempt_timeout", "there is no perTryTimeout");
    bide__import_comment(p, "backoff.cap", "always ten times the base");
    c->unreachable.wait_ns = 0;
    bide__import_comment(p, "unreachable.wait", "Istio does not wait");
    bide__import_comment(p, "breaker.kind",
                         "Istio ejects servers, never a whole service");
    bide__import_comment(p, "budget.kind", "there is no retryBudget");
}

/* Retries, not attempts. */
static void read_attempts(struct bide__import *im, void *policy, node *key,
                          node *value)
{
    struct bide__named_policy *p = policy;
    uint64_t n;

    (void)key;
    if (bide__import_count(im, value, 0, INT32_MAX, &n))
        p->conf.attempts = (uint32_t)n + 1;
}

static void read_try_timeout(struct bide__import *im, void *policy, node *key,
                             node *value)
{
    struct bide__named_policy *p = policy;
    int64_t ns;

    (void)key;
    if (bide__import_duration(im, value, &ns))
        p->conf.attempt_timeout_ns =
            bide__import_clip(im, value, ns, BIDE_MILLISECOND, BIDE_FOREVER);
    bide__import_comment(p, "attempt_timeout", NULL);
}

static void read_backoff(struct bide__import *im, void *policy, node *key,
                         node *value)
{
    bide_backoff *b = &((struct bide__named_policy *)policy)->conf.backoff;
    int64_t ns;

    (void)key;
    if (!bide__import_duration(im, value, &ns))
        return;
    b->base_ns =
        bide__import_clip(im, value, ns, BIDE_MILLISECOND, BIDE_FOREVER / 100);
    b->cap_ns = 10 * b->base_ns;
}

void bide__istio_retries(struct bide__import *im, void *policy, node *key,
                         node *value)
{
    static const char hosts[] = "a policy does not choose among hosts";
    static const struct bide__field fields[] = {
        { "attempts", read_attempts, NULL },
        { "perTryTimeout", read_try_timeout, NULL },
        { "retryOn", read_retry_on, NULL },
        { "backoff", read_backoff, NULL },
        { "retryRemoteLocalities", NULL, hosts },
        { "retryIgnorePreviousHosts", NULL, hosts },
        { NULL, NULL, NULL },
    };
    struct bide__named_policy *p = policy;
    const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;

    (void)key;
    p->conf.attempts = 1; /* `retries: {}` says 0 */
    bide__import_map(im, value, fields, p);
    if (p->conf.attempts > 1)
        return;
    /* Without retries, waits and a list are not needed. */
    p->conf.backoff = defaults.backoff;
    p->conf.attempt_timeout_ns = BIDE_FOREVER;
    bide__import_comment(p, "attempt_timeout", "nothing is retried");
    p->retried = im->usual;
}
