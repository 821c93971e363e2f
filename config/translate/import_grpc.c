/* import_grpc.c: reads policies from a gRPC service config.
 *
 * Each methodConfig becomes a policy. What gRPC does by default is written
 * explicitly: no timeout of an attempt, no breaker, waits drawn from 0.8 to 1.2
 * times their value, pushback obeyed to the millisecond. A method with both a
 * retryPolicy and a hedgingPolicy is refused, as in gRPC. */
#include "config/translate/import_grpc.h"

#include <string.h>

#include "base/arena.h"
#include "config/doc/diag.h"
#include "config/translate/translate.h"

typedef struct bide__grpc_method reading;
typedef struct bide__node node;

/* Settings for the whole server. */
struct service {
    bool throttled, has_max, has_ratio;
    double max_tokens, token_ratio;
};

/* ===== a method ===== */

static void read_timeout(struct bide__import *im, void *ctx, node *key,
                         node *value)
{
    reading *r = ctx;
    int64_t ns;

    (void)key;
    if (!bide__import_seconds(im, value, &ns))
        return;
    r->p.conf.deadline_ns = bide__import_clip(im, value, ns, 1, BIDE_FOREVER);
}

static void read_names(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    reading *r = ctx;

    (void)key;
    if (bide__import_list(im, value))
        r->names = value;
}

static void read_name_part(struct bide__import *im, void *ctx, node *key,
                           node *value)
{
    const char **parts = ctx;
    const char *text = bide__import_text(im, value);

    if (text)
        parts[bide__node_is(key, "method")] = text;
}

/* With it, calls wait for a connection for as long as they may take. */
static void read_wait(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    reading *r = ctx;

    (void)key;
    if (!bide__node_is(value, "true") && !bide__node_is(value, "false"))
        bide__import_refuse(im, value, "true or false");
    r->waits = bide__node_is(value, "true");
}

/* "service/method", "service", or "default" for the empty name. */
static const char *read_name(struct bide__import *im, node *value)
{
    static const struct bide__field fields[] = {
        { "service", read_name_part, NULL },
        { "method", read_name_part, NULL },
        { NULL, NULL, NULL },
    };
    const char *parts[2] = { "", "" };
    const char *name;

    bide__import_map(im, value, fields, parts);
    if (!*parts[0] && *parts[1])
        bide__import_mistake(im, value, "add `service`",
                             "a method needs a service");
    name = !*parts[0] ? "default"
           : *parts[1]
               ? bide__arena_printf(im->arena, "%s/%s", parts[0], parts[1])
               : parts[0];
    im->no_memory = im->no_memory || !name;
    return name ? name : "";
}

/* What gRPC does that a service config does not mention. */
static void grpc_defaults(struct bide__named_policy *p)
{
    bide_policy_conf *c = &p->conf;

    c->attempts = 1;
    c->attempt_timeout_ns = BIDE_FOREVER;
    c->backoff.jitter = BIDE_JITTER_PROPORTIONAL;
    c->retry_after.max_ns = BIDE_FOREVER;
    c->retry_after.jitter = 0;
    c->retry_after.then = BIDE_THEN_RESTART;
    c->budget.kind = BIDE_BUDGET_OFF;
    c->breaker.kind = BIDE_BREAKER_OFF;
    c->unreachable.wait_ns = 0;
    bide__import_comment(p, "unreachable.wait", "there is no waitForReady");
    bide__import_comment(p, "attempt_timeout", "gRPC has none");
    bide__import_comment(p, "backoff.jitter", "from 0.8 to 1.2 times the wait");
    bide__import_comment(p, "retry_after.max", "gRPC obeys any pushback, ...");
    bide__import_comment(p, "retry_after.jitter", "... to the millisecond");
    bide__import_comment(p, "retry_after.then",
                         "after pushback gRPC begins at initialBackoff again");
    bide__import_comment(p, "breaker.kind", "gRPC has none");
}

static void only_one(struct bide__import *im, const reading *r)
{
    if (!r->retry || !r->hedging)
        return;
    bide__import_mistake(im, r->hedging, "keep one of them",
                         "a method has a retryPolicy or a hedgingPolicy, never "
                         "both");
    bide__diag(im->notes, im->tree, r->retry, BIDE_NOTE, "import", NULL,
               "the other one is here");
}

/* Names must be unique in the whole document: a repeated name is an error, not
 * a second policy. */
static bool is_new(struct bide__import *im, const char *name, node *where)
{
    for (size_t i = 0; i < im->n; i++)
        if (strcmp(im->policies[i].name, name) == 0) {
            bide__import_mistake(im, where, NULL, "the name `%s` comes twice",
                                 name);
            return false;
        }
    return true;
}

/* The first name has the policy, the others extend it. */
static void add_policies(struct bide__import *im, const reading *r)
{
    const char *first = NULL;

    for (size_t i = 0; r->names && i < r->names->n; i++) {
        const char *name = read_name(im, r->names->items[i]);
        struct bide__named_policy *p;

        if (im->no_memory || !is_new(im, name, r->names->items[i]))
            return;
        p = bide__import_add(im, r->names->items[i], name);
        if (!p)
            return;
        name = p->name;
        *p = r->p;
        p->name = name;
        p->extends = first;
        first = first ? first : name;
    }
}

static void add_default(struct bide__import *im, const reading *r)
{
    struct bide__named_policy *p = bide__import_add(im, NULL, "default");
    const char *name = p ? p->name : NULL;

    if (p)
        *p = r->p;
    if (p)
        p->name = name;
}

static void read_method(struct bide__import *im, node *value)
{
    static const struct bide__field fields[] = {
        { "name", read_names, NULL },
        { "timeout", read_timeout, NULL },
        { "retryPolicy", bide__grpc_retry, NULL },
        { "hedgingPolicy", bide__grpc_hedging, NULL },
        { "waitForReady", read_wait, NULL },
        { "maxRequestMessageBytes", NULL, "bide does not look at sizes" },
        { "maxResponseMessageBytes", NULL, "bide does not look at sizes" },
        { NULL, NULL, NULL },
    };
    const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;
    reading r = { .p = { .conf = defaults, .has_retry_on = true } };

    r.p.retried = im->usual;
    grpc_defaults(&r.p);
    bide__import_map(im, value, fields, &r);
    only_one(im, &r);
    if (r.waits) {
        r.p.conf.unreachable.wait_ns = r.p.conf.deadline_ns;
        bide__import_comment(&r.p, "unreachable.wait",
                             "waitForReady: as long as the call may take");
    }
    if (value == im->tree->root && !r.names) {
        add_default(im, &r);
        return;
    }
    if (value->kind == BIDE__MAP && (!r.names || r.names->n == 0))
        bide__import_warn(im, value,
                          "without a name this applies to nothing, "
                          "and is left out");
    add_policies(im, &r);
}

/* ===== retryThrottling: of the whole server ===== */

static void read_max_tokens(struct bide__import *im, void *ctx, node *key,
                            node *value)
{
    struct service *s = ctx;
    double x;

    (void)key;
    s->has_max = true;
    if (!bide__import_number(im, value, &x))
        return;
    if (!(x > 0 && x <= 1000))
        bide__import_mistake(im, value, NULL,
                             "maxTokens must be over 0, up to 1000");
    else if (x < 1)
        bide__import_warn(im, value, "a budget has 1 token or more");
    s->max_tokens = x < 1 ? 1 : x;
}

static void read_token_ratio(struct bide__import *im, void *ctx, node *key,
                             node *value)
{
    struct service *s = ctx;
    double x;

    (void)key;
    s->has_ratio = true;
    if (!bide__import_number(im, value, &x))
        return;
    if (!(x > 0))
        bide__import_mistake(im, value, NULL, "tokenRatio must be over 0");
    else if (x < 0.001 || x > 1000)
        bide__import_warn(im, value,
                          "a token_ratio is from 0.001 to 1000, and was set to "
                          "the nearer one");
    s->token_ratio = x < 0.001 ? 0.001 : x > 1000 ? 1000 : x;
}

static void read_throttling(struct bide__import *im, void *ctx, node *key,
                            node *value)
{
    static const struct bide__field fields[] = {
        { "maxTokens", read_max_tokens, NULL },
        { "tokenRatio", read_token_ratio, NULL },
        { NULL, NULL, NULL },
    };
    struct service *s = ctx;

    s->throttled = true;
    bide__import_map(im, value, fields, s);
    if (value->kind == BIDE__MAP && !s->has_max)
        bide__import_mistake(im, key, NULL, "`maxTokens` is missing");
    if (value->kind == BIDE__MAP && !s->has_ratio)
        bide__import_mistake(im, key, NULL, "`tokenRatio` is missing");
}

static void throttle(struct bide__named_policy *p, const struct service *s)
{
    bide_budget_conf *b = &p->conf.budget;

    if (!s->throttled)
        bide__import_comment(p, "budget.kind", "there is no retryThrottling");
    if (!s->throttled || !bide__tries_again(&p->conf))
        return;
    b->kind = BIDE_BUDGET_THROTTLE;
    b->max_tokens = s->max_tokens;
    b->token_ratio = s->token_ratio;
}

/* ===== the document ===== */

static void read_methods(struct bide__import *im, void *ctx, node *key,
                         node *value)
{
    (void)ctx;
    (void)key;
    if (!bide__import_list(im, value))
        return;
    for (size_t i = 0; i < value->n && !im->no_memory && !im->too_many; i++)
        read_method(im, value->items[i]);
}

/* A config without methods means that nothing is retried. */
static void settle(struct bide__import *im, const struct service *s)
{
    struct bide__named_policy *p;

    if (im->n == 0 && (p = bide__import_add(im, NULL, "default")) != NULL)
        grpc_defaults(p);
    for (size_t i = 0; i < im->n; i++)
        throttle(&im->policies[i], s);
}

/* A retryPolicy or hedgingPolicy by itself, or in a method config by itself:
 * for all methods. */
static bool is_bare(const struct bide__node *root)
{
    return root->kind == BIDE__MAP &&
           !bide__map_get(root, "methodConfig", NULL) &&
           (bide__map_get(root, "retryPolicy", NULL) ||
            bide__map_get(root, "hedgingPolicy", NULL));
}

static void read_service(struct bide__import *im)
{
    static const char balancing[] = "a policy does not choose among servers";
    static const struct bide__field fields[] = {
        { "methodConfig", read_methods, NULL },
        { "retryThrottling", read_throttling, NULL },
        { "loadBalancingPolicy", NULL, balancing },
        { "loadBalancingConfig", NULL, balancing },
        { "healthCheckConfig", NULL, "a policy does not check health" },
        { "connectionScaling", NULL, "a policy does not open connections" },
        { NULL, NULL, NULL },
    };
    struct service s = { .throttled = false };

    if (bide__node_empty(im->tree->root)) {
        bide__import_mistake(im, NULL, NULL, "there is no service config here");
        return;
    }
    if (is_bare(im->tree->root))
        read_method(im, im->tree->root);
    else
        bide__import_map(im, im->tree->root, fields, &s);
    settle(im, &s);
}

int bide__import_grpc(struct bide__import *im, const char *name,
                      const char *text, size_t len)
{
    int rc = bide__tree_try_json(&im->tree, &im->mistaken, name, text, len,
                                 im->notes);

    if (rc < 0)
        return rc;
    read_service(im);
    bide__tree_free(im->tree);
    im->tree = NULL;
    return bide__import_outcome(im, name);
}
