/* test_round_trip.c: there and back again, for thousands of random policies. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample.h"

enum { ROUNDS = 2000 };

/* ===== policy files ===== */

static char *written(const bide_policy_conf *conf)
{
    struct bide__named_policy p = { .name = "p", .conf = *conf };
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    bide__write_policies(out, &p, 1);
    fclose(out);
    return text;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void assert_same_rules(const bide_policy_conf *a,
                              const bide_policy_conf *b)
{
    assert_int_equal(a->n_rules, b->n_rules);
    for (size_t i = 0; i < a->n_rules; i++) {
        const bide_rule *x = &a->rules[i], *y = &b->rules[i];

        assert_true(x->status_min == y->status_min &&
                    x->status_max == y->status_max && x->faults == y->faults &&
                    x->grpc == y->grpc && x->cls == y->cls &&
                    x->not_processed == y->not_processed);
        assert_true(same_text(x->method, y->method) &&
                    same_text(x->header, y->header) &&
                    same_text(x->header_value, y->header_value) &&
                    same_text(x->problem_type, y->problem_type));
    }
}

/* Words that YAML would take for something else, and signs it would trip over.
 */
static const char *const awkward[] = {
    "GET",
    "null",
    "yes",
    "12",
    "a: b",
    "#x",
    "- x",
    "*",
    "\"q\"",
    "back\\",
    "'",
    "{a}",
    " x ",
    "\t",
    "\x01",
    "\xc2\x85",
    "\xe2\x80\xa8",
    "\xf0\x9f\x90\xa2",
    "\xef\xbb\xbf",
    "%",
    "@",
    "~",
    "!x",
};

static const char *any_text(uint64_t *s)
{
    return below(s, 2) ? awkward[below(s, sizeof awkward / sizeof awkward[0])]
                       : NULL;
}

static void random_rule(bide_rule *r, uint64_t *s)
{
    *r = (bide_rule){ .cls = (bide_class)below(s, BIDE_N_CLASSES),
                      .not_processed = below(s, 2) };
    r->status_min = (uint16_t)(100 + below(s, 400));
    r->status_max = (uint16_t)(r->status_min + below(s, 2) * below(s, 400));
    if (below(s, 2))
        r->status_min = r->status_max = 0;
    r->faults = (uint32_t)draw(s) & ((1u << BIDE_N_FAULTS) - 1) &
                ~(1u << BIDE_FAULT_NONE | 1u << BIDE_FAULT_CANCELLED |
                  1u << BIDE_FAULT_UPLOAD | 1u << BIDE_FAULT_CONNECTION_WAIT |
                  1u << BIDE_FAULT_TOO_LONG | 1u << BIDE_FAULT_REFUSED_STREAM);
    r->grpc = (uint32_t)draw(s) & ((1u << BIDE_N_GRPC) - 1) & ~1u;
    if (below(s, 2))
        r->faults = 0;
    if (below(s, 2))
        r->grpc = 0;
    r->method = any_text(s);
    r->header = any_text(s);
    r->header_value = r->header ? any_text(s) : NULL;
    r->problem_type = any_text(s);
    if (!r->status_max && !r->faults && !r->grpc && !r->method && !r->header)
        r->grpc = 2;
}

static void round_trip_policy_file_is_exact(void **state)
{
    uint64_t s = 1;

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
        bide_rule rules[4];
        bide_config *config;
        char *text;

        random_policy(&conf, &s);
        conf.n_rules = below(&s, 5);
        conf.rules = rules;
        for (size_t r = 0; r < conf.n_rules; r++)
            random_rule(&rules[r], &s);
        assert_int_equal(bide_policy_check(&conf), 0);
        text = written(&conf);
        config = config_of(text);
        assert_same_policy(&conf, bide_config_policy(config, "p"), text);
        assert_same_rules(&conf, bide_config_policy(config, "p"));
        bide_config_free(config);
        free(text);
    }
}

static void round_trip_presets_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; bide_policy_preset_name(i); i++) {
        bide_policy_conf conf;
        bide_config *config;
        char *text;

        assert_int_equal(bide_policy_preset(&conf, bide_policy_preset_name(i)),
                         0);
        text = written(&conf);
        config = config_of(text);
        assert_same_policy(&conf, bide_config_policy(config, "p"), text);
        bide_config_free(config);
        free(text);
    }
}

/* ===== policies that translate ===== */

static int64_t some_ns(uint64_t *s, int64_t min_ns)
{
    static const int64_t units[] = { 1, 1000, BIDE_MILLISECOND, BIDE_SECOND,
                                     BIDE_MINUTE };
    int64_t ns = (int64_t)(1 + below(s, 5000)) * units[below(s, 5)];

    return ns < min_ns ? min_ns : ns;
}

static void random_hedge(bide_policy_conf *c, uint64_t *s)
{
    const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;

    if (below(s, 4) == 0) {
        c->hedge.max = 1 + (uint32_t)below(s, 4);
        c->hedge.after_ns = some_ns(s, 1);
        c->hedge.extra_load = c->hedge.max;
        c->attempts = 1;
    }
    if (c->attempts == 1) { /* what has no effect is not kept */
        bide_jitter jitter = c->backoff.jitter;

        c->backoff = defaults.backoff;
        c->backoff.jitter = jitter;
    }
    if (!bide__tries_again(c))
        c->budget.kind = BIDE_BUDGET_OFF;
}

/* All that a service config can say, and what gRPC does besides. */
static void grpc_policy(bide_policy_conf *c, uint64_t *s)
{
    c->attempts = 1 + (uint32_t)below(s, 5);
    c->attempt_timeout_ns = BIDE_FOREVER;
    c->deadline_ns = below(s, 3) ? some_ns(s, 1) : BIDE_FOREVER;
    c->backoff.jitter = BIDE_JITTER_PROPORTIONAL;
    c->backoff.base_ns = some_ns(s, 1);
    c->backoff.cap_ns = c->backoff.base_ns + some_ns(s, 1);
    c->backoff.factor = (double)(1000 + below(s, 9000)) / 1000;
    c->retry_after.max_ns = BIDE_FOREVER;
    c->retry_after.jitter = 0;
    c->retry_after.then = BIDE_THEN_RESTART;
    c->breaker.kind = BIDE_BREAKER_OFF;
    c->unreachable.wait_ns = 0;
    c->budget.kind = below(s, 2) ? BIDE_BUDGET_THROTTLE : BIDE_BUDGET_OFF;
    random_hedge(c, s);
    if (c->budget.kind == BIDE_BUDGET_THROTTLE) {
        c->budget.max_tokens = 1 + (double)below(s, 1000);
        c->budget.token_ratio = (double)(1 + below(s, 3000)) / 1000;
    }
}

static void istio_policy(bide_policy_conf *c, uint64_t *s)
{
    c->attempts = 1 + (uint32_t)below(s, 12);
    c->attempt_timeout_ns = below(s, 2) && c->attempts > 1
                                ? some_ns(s, BIDE_MILLISECOND)
                                : BIDE_FOREVER;
    c->deadline_ns = below(s, 2) ? some_ns(s, BIDE_MILLISECOND) : BIDE_FOREVER;
    c->budget.kind = BIDE_BUDGET_OFF;
    if (c->attempts > 1) {
        c->backoff.base_ns = some_ns(s, BIDE_MILLISECOND);
        c->backoff.cap_ns = 10 * c->backoff.base_ns;
        c->budget.kind = below(s, 2) ? BIDE_BUDGET_IN_FLIGHT : BIDE_BUDGET_OFF;
    }
    if (c->budget.kind == BIDE_BUDGET_IN_FLIGHT) {
        c->budget.ratio = (double)below(s, 1001) / 1000;
        c->budget.min_in_flight = 1 + (uint32_t)below(s, 100);
    }
    c->breaker.kind = BIDE_BREAKER_OFF; /* servers are ejected */
    c->unreachable.wait_ns = 0;
    if (below(s, 2))
        c->limits.in_flight = 1 + (uint32_t)below(s, 100000);
}

/* What is retried, as rules; some of them, or none. */
static size_t grpc_rules(bide_rule *rules, uint64_t *s)
{
    uint32_t set = (uint32_t)draw(s) & ((1u << BIDE_N_GRPC) - 1) & ~3u;

    if (set == 0 || below(s, 2))
        return 0;
    rules[0] = (bide_rule){ .grpc = set, .cls = BIDE_TRANSIENT };
    rules[1] = (bide_rule){ .grpc = ~set & ((1u << BIDE_N_GRPC) - 1) & ~3u,
                            .cls = BIDE_PERMANENT };
    return rules[1].grpc ? 2 : 1;
}

static size_t istio_rules(bide_rule *rules, uint64_t *s)
{
    static const uint16_t codes[] = { 404, 409, 418, 421, 451, 501, 507, 511 };
    size_t n = 0;

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (below(s, 3) == 0)
            rules[n++] = (bide_rule){ .status_min = codes[i],
                                      .status_max = codes[i],
                                      .cls = BIDE_TRANSIENT };
    if (below(s, 3) == 0)
        rules[n++] = (bide_rule){ .grpc = 1u << BIDE_GRPC_INTERNAL,
                                  .cls = BIDE_TRANSIENT };
    if (below(s, 3) == 0)
        rules[n++] = (bide_rule){ .status_min = 500,
                                  .status_max = 599,
                                  .cls = BIDE_TRANSIENT };
    else if (below(s, 3) == 0) /* `5xx` includes resets */
        rules[n++] = (bide_rule){ .faults = 1u << BIDE_FAULT_RESET |
                                            1u << BIDE_FAULT_TIMEOUT,
                                  .cls = BIDE_PERMANENT };
    return n;
}

static const struct direction {
    const char *name;
    bide__exporter *write;
    bide__importer *read;
    void (*policy)(bide_policy_conf *conf, uint64_t *state);
    size_t (*rules)(bide_rule *rules, uint64_t *state);
} grpc = { "gRPC", bide__export_grpc, bide__import_grpc, grpc_policy,
           grpc_rules },
  istio = { "Istio", bide__export_istio, bide__import_istio, istio_policy,
            istio_rules };

/* ===== export, then import ===== */

static void returns(const struct direction *d, const bide_policy_conf *conf)
{
    struct exported e = export_with(d->write, d->name, conf);
    char *text = import_with(d->read, e.document);
    bide_config *config;

    assert_non_null(text);
    config = config_of(text);
    assert_same_policy(conf, bide_config_policy(config, NULL), e.document);
    bide_config_free(config);
    free(text);
    exported_free(&e);
}

/* Importers leave out what a policy does not use. */
static void drop_idle(bide_policy_conf *c)
{
    const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;

    if (c->attempts == 1) {
        c->backoff = defaults.backoff;
        c->retry_after.then = defaults.retry_after.then;
    }
    if (bide__tries_again(c))
        return;
    c->retry_after = defaults.retry_after;
    c->budget = defaults.budget;
    c->unreachable = defaults.unreachable;
}

static void all_return(const struct direction *d)
{
    uint64_t s = 2;

    for (int i = 0; i < ROUNDS; i++) {
        bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
        bide_rule rules[16];

        d->policy(&conf, &s);
        drop_idle(&conf);
        conf.rules = rules;
        conf.n_rules = bide__tries_again(&conf) ? d->rules(rules, &s) : 0;
        assert_int_equal(bide_policy_check(&conf), 0);
        returns(d, &conf);
    }
}

static void round_trip_grpc_gives_the_same_policy(void **state)
{
    (void)state;
    all_return(&grpc);
}

static void round_trip_istio_gives_the_same_policy(void **state)
{
    (void)state;
    all_return(&istio);
}

/* ===== export, import, export ===== */

/* Any policy at all: what was approximated once is not approximated further. */
static void settles(const struct direction *d, const bide_policy_conf *conf)
{
    struct exported first = export_with(d->write, d->name, conf), second;
    char *text = import_with(d->read, first.document);
    bide_config *config;

    if (!text)
        fail_msg("%s does not read what it wrote:\n%s", d->name,
                 first.document);
    config = config_of(text);
    second = export_with(d->write, d->name, bide_config_policy(config, NULL));
    if (strcmp(first.document, second.document) != 0)
        fail_msg("%s\nbecame\n%s\nby way of\n%s", first.document,
                 second.document, text);
    exported_free(&first);
    exported_free(&second);
    bide_config_free(config);
    free(text);
}

static void all_settle(const struct direction *d)
{
    uint64_t s = 3;

    for (int i = 0; i < ROUNDS; i++) {
        bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
        bide_rule rules[4];

        random_policy(&conf, &s);
        if (d == &istio) /* becomes the ejection of an upstream */
            conf.breaker.kind = BIDE_BREAKER_OFF;
        conf.n_rules = below(&s, 5);
        conf.rules = rules;
        for (size_t r = 0; r < conf.n_rules; r++)
            random_rule(&rules[r], &s);
        settles(d, &conf);
    }
}

static void round_trip_grpc_is_idempotent(void **state)
{
    (void)state;
    all_settle(&grpc);
}

static void round_trip_istio_is_idempotent(void **state)
{
    (void)state;
    all_settle(&istio);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_policy_file_is_exact),
        cmocka_unit_test(round_trip_presets_are_exact),
        cmocka_unit_test(round_trip_grpc_gives_the_same_policy),
        cmocka_unit_test(round_trip_istio_gives_the_same_policy),
        cmocka_unit_test(round_trip_grpc_is_idempotent),
        cmocka_unit_test(round_trip_istio_is_idempotent),
    };

    return cmocka_run_group_tests_name("round_trip", tests, NULL, NULL);
}
