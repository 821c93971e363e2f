/* import_grpc_policy.c: a retryPolicy or a hedgingPolicy of a service config.
 *
 * What gRPC requires is required, and what it refuses is refused: a config that
 * no client would load does not become a policy. */
#include "config/doc/diag.h"
#include "config/translate/import_grpc.h"

enum { MAX_ATTEMPTS = 5 };

/* Protobuf allows longer durations than fit in nanoseconds. */
#define LONGEST_NS (BIDE_FOREVER / 100)

typedef struct bide__grpc_method reading;
typedef struct bide__node node;

/* ===== scalars ===== */

static void read_attempts(struct bide__import *im, void *ctx, node *key,
                          node *value)
{
    reading *r = ctx;
    uint64_t n;

    (void)key;
    r->attempts = true;
    if (!bide__import_count(im, value, 2, UINT32_MAX, &n))
        return;
    if (n > MAX_ATTEMPTS)
        bide__import_warn(im, value,
                          "clients treat more than 5 as 5, and so "
                          "does the policy");
    r->p.conf.attempts = (uint32_t)(n < MAX_ATTEMPTS ? n : MAX_ATTEMPTS);
}

static void read_backoff(struct bide__import *im, node *value, int64_t *ret_ns)
{
    if (!bide__import_seconds(im, value, ret_ns))
        return;
    if (*ret_ns == 0)
        bide__import_mistake(im, value, NULL, "a backoff must be over 0");
    *ret_ns = bide__import_clip(im, value, *ret_ns, 0, LONGEST_NS);
}

static void read_base(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    reading *r = ctx;

    (void)key;
    r->base = true;
    r->base_node = value;
    read_backoff(im, value, &r->p.conf.backoff.base_ns);
}

static void read_cap(struct bide__import *im, void *ctx, node *key, node *value)
{
    reading *r = ctx;

    (void)key;
    r->cap = true;
    read_backoff(im, value, &r->p.conf.backoff.cap_ns);
}

static void read_factor(struct bide__import *im, void *ctx, node *key,
                        node *value)
{
    reading *r = ctx;
    double x;

    (void)key;
    r->factor = true;
    if (!bide__import_number(im, value, &x))
        return;
    if (!(x > 0))
        bide__import_mistake(im, value, NULL,
                             "backoffMultiplier must be over 0");
    else if (x < 1 || x > 1000)
        bide__import_warn(im, value,
                          "the factor of a policy is from 1 to 1000; "
                          "it was set to %d",
                          x < 1 ? 1 : 1000);
    r->p.conf.backoff.factor = x < 1 ? 1 : x > 1000 ? 1000 : x;
}

static void read_delay(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    reading *r = ctx;
    int64_t ns;

    (void)key;
    if (bide__import_seconds(im, value, &ns))
        r->p.conf.hedge.after_ns =
            bide__import_clip(im, value, ns, 0, LONGEST_NS);
}

/* ===== status codes: names or numbers ===== */

static int code_of(const struct bide__node *value)
{
    int code;

    for (code = 0; code < BIDE_N_GRPC; code++) {
        char digits[4];

        snprintf(digits, sizeof digits, "%d", code);
        if (bide__node_is(value, bide_grpc_name(code)) ||
            (!value->quoted && bide__node_is(value, digits)))
            return code;
    }
    return -1;
}

static void read_code(struct bide__import *im, reading *r, node *value)
{
#define X(name, number, key) key,
    static const char *const names[] = { BIDE_GRPC_CODES(X) NULL };
#undef X
    int code = code_of(value);

    if (code < 0)
        bide__import_mistake(
            im, value,
            value->kind == BIDE__SCALAR
                ? bide__did_you_mean(im->notes, value->text, names)
                : NULL,
            "expected a gRPC status code, not %s",
            bide__node_found(im->tree, value));
    else if (code == BIDE_GRPC_OK)
        bide__import_warn(im, value, "OK is left out: it is no failure");
    else
        r->p.retried.grpc |= 1u << code;
}

static void read_codes(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    reading *r = ctx;

    (void)key;
    r->codes = true;
    r->p.retried.grpc = 0;
    if (!bide__import_list(im, value))
        return;
    for (size_t i = 0; i < value->n; i++)
        read_code(im, r, value->items[i]);
    if (value->n == 0 && r->retry)
        bide__import_mistake(im, value, NULL,
                             "retryableStatusCodes must not be empty");
}

/* ===== the two policies ===== */

static void need(struct bide__import *im, const struct bide__node *where,
                 bool given, const char *name)
{
    if (!given)
        bide__import_mistake(im, where, NULL, "`%s` is missing", name);
}

/* gRPC uses the shorter of the two; bide refuses a base over its cap. */
static void settle_base(struct bide__import *im, reading *r)
{
    bide_backoff *b = &r->p.conf.backoff;

    if (b->base_ns <= b->cap_ns)
        return;
    bide__import_warn(im, r->base_node,
                      "initialBackoff is over maxBackoff, and "
                      "was set to it: the waits are the same");
    b->base_ns = b->cap_ns;
}

void bide__grpc_retry(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    static const struct bide__field fields[] = {
        { "maxAttempts", read_attempts, NULL },
        { "initialBackoff", read_base, NULL },
        { "maxBackoff", read_cap, NULL },
        { "backoffMultiplier", read_factor, NULL },
        { "retryableStatusCodes", read_codes, NULL },
        { "perAttemptRecvTimeout", NULL,
          "it is an experiment of some clients" },
        { NULL, NULL, NULL },
    };
    reading *r = ctx;

    r->retry = key;
    bide__import_map(im, value, fields, r);
    if (value->kind != BIDE__MAP)
        return;
    need(im, key, r->attempts, "maxAttempts");
    need(im, key, r->base, "initialBackoff");
    need(im, key, r->cap, "maxBackoff");
    need(im, key, r->factor, "backoffMultiplier");
    need(im, key, r->codes, "retryableStatusCodes");
    if (r->base && r->cap)
        settle_base(im, r);
}

void bide__grpc_hedging(struct bide__import *im, void *ctx, node *key,
                        node *value)
{
    static const struct bide__field fields[] = {
        { "maxAttempts", read_attempts, NULL },
        { "hedgingDelay", read_delay, NULL },
        { "nonFatalStatusCodes", read_codes, NULL },
        { NULL, NULL, NULL },
    };
    reading *r = ctx;
    bide_policy_conf *c = &r->p.conf;

    r->hedging = key;
    r->p.retried.grpc = 0;
    c->hedge.after_ns = 0;
    bide__import_map(im, value, fields, r);
    if (value->kind == BIDE__MAP)
        need(im, key, r->attempts, "maxAttempts");
    c->hedge.max = c->attempts - 1;
    c->attempts = 1;
    c->hedge.extra_load = c->hedge.max;
    bide__import_comment(&r->p, "hedge.extra_load",
                         "gRPC has no such limit of its own");
}
