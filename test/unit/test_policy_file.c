/* test_policy_file.c: what a policy file means to the engine. */
#include "config/policy/policy_file.h"
#include "findings.h"

#include "config/field/option_value.h"

#define S    BIDE_SECOND
#define HEAD "version: 1\npolicies:\n"

static const char example[] =
    HEAD "  default:\n"
         "    attempts: 4\n"
         "    attempt_timeout: 2s\n"
         "    deadline: 10s\n"
         "    backoff: { base: 100ms, factor: 2, cap: 30s, jitter: full }\n"
         "    retry_after: { mode: replace, max: 5m, jitter: 10% }\n"
         "    retry_on: { status: [408, 429, 500, 502, 503, 504],\n"
         "                errors: [connect, reset, timeout, dns],\n"
         "                grpc: [UNAVAILABLE] }\n"
         "    budget: { kind: window, ratio: 10%, floor: 1/s }\n"
         "    breaker: { window: 10s, failure_rate: 50%, min_calls: 20 }\n"
         "  payments:\n"
         "    extends: default\n"
         "    idempotency: { key: generate }\n"
         "  search:\n"
         "    extends: default\n"
         "    attempts: 1\n"
         "    hedge: { after: p99.9, max: 1, extra_load: 5% }\n";

static void policy_file_example_is_read(void **state)
{
    bide_config *config = must_parse(example);
    const bide_policy_conf *p = bide_config_policy(config, "payments");
    const bide_policy_conf *s = bide_config_policy(config, "search");

    (void)state;
    assert_int_equal(p->attempts, 4);
    assert_true(p->attempt_timeout_ns == 2 * S);
    assert_true(p->deadline_ns == 10 * S);
    assert_int_equal(p->idempotency_key, BIDE_KEY_GENERATE);
    assert_int_equal(bide_config_policy(config, NULL)->idempotency_key,
                     BIDE_KEY_NONE);
    assert_int_equal(s->attempts, 1);
    assert_true(s->hedge.after_ns == BIDE_FOREVER);
    assert_true(s->hedge.quantile == 0.999);
    assert_true(s->hedge.extra_load == 0.05);
    assert_string_equal(bide_config_policy_name(config, 0), "default");
    assert_string_equal(bide_config_policy_name(config, 2), "search");
    assert_null(bide_config_policy_name(config, 3));
    assert_null(bide_config_policy(config, "none"));
    bide_config_free(config);
}

static void policy_file_name_null_is_default_or_the_only_one(void **state)
{
    bide_config *one = must_parse(HEAD "  only: { attempts: 2 }\n");
    bide_config *two = must_parse(HEAD "  a: {}\n  b: {}\n");

    (void)state;
    assert_int_equal(bide_config_policy(one, NULL)->attempts, 2);
    assert_null(bide_config_policy(two, NULL));
    bide_config_free(one);
    bide_config_free(two);
    bide_config_free(NULL);
    assert_null(bide_config_policy(NULL, "a"));
    assert_null(bide_config_policy_name(NULL, 0));
}

/* ===== options ===== */

/* Every option, set to what it is by default and to something else, by its text
 * alone. */
static void option_text_reads_back(void **state)
{
    static const char *const others[] = { "7s",  "8",     "75%",  "1.5",
                                          "9/s", "false", "true", "1" };
    bide_policy_conf init = BIDE_POLICY_CONF_INIT, conf, back;
    size_t n;
    const bide_option *options = bide_policy_options(&n);
    char buffer[BIDE__VALUE_TEXT];

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const bide_option *o = &options[i];
        const char *text = bide__option_text(&init, o, buffer, sizeof buffer);
        int changed = 0;

        memset(&conf, 0x5a, sizeof conf);
        if (bide__option_set(&conf, o->key, text, strlen(text)) != 0 ||
            !bide__option_same(&conf, &init, o))
            fail_msg("%s: %s", o->key, text);
        for (size_t k = 0; k < COUNT(others) + 8; k++) {
            text = k < COUNT(others) ? others[k]
                   : o->choices && o->choices[k - COUNT(others)] &&
                           (k == COUNT(others) ||
                            o->choices[k - COUNT(others) - 1])
                       ? o->choices[k - COUNT(others)]
                       : NULL;
            if (!text)
                break;
            conf = init;
            if (bide__option_set(&conf, o->key, text, strlen(text)) != 0)
                continue;
            changed += !bide__option_same(&conf, &init, o);
            back = init;
            text = bide__option_text(&conf, o, buffer, sizeof buffer);
            assert_int_equal(
                bide__option_set(&back, o->key, text, strlen(text)), 0);
            assert_true(bide__option_same(&conf, &back, o));
        }
        if (!changed)
            fail_msg("%s was never changed", o->key);
    }
}

static void option_set_refuses(void **state)
{
    static const struct {
        const char *key, *text;
        int rc;
    } rows[] = {
        { "nothing", "1", BIDE_ENAME },
        { "backoff", "1", BIDE_ENAME },
        { "backoff.base", "100", BIDE_EPARSE },
        { "backoff.base", "-1s", BIDE_EPARSE },
        { "backoff.base", "forever", BIDE_EPARSE },
        { "backoff.base", "9999999999999h", BIDE_EPARSE },
        { "backoff.factor", "0.5", BIDE_EPARSE },
        { "backoff.jitter", "Full", BIDE_EPARSE },
        { "attempts", "0", BIDE_EPARSE },
        { "attempts", "2147483649", BIDE_EPARSE },
        { "attempts", "2147483648", 0 },
        { "attempts", "", BIDE_EPARSE },
        { "deadline", "none", 0 },
        { "deadline", "0", BIDE_EPARSE },
        { "breaker.failure_rate", "0", BIDE_EPARSE },
        { "breaker.failure_rate", "0.001", 0 },
        { "limits.in_flight", "unlimited", 0 },
        { "hedge.after", "p95", 0 },
        { "hedge.after", "p10", BIDE_EPARSE },
        { "hedge.after", "p", BIDE_EPARSE },
        { "hedge.after", "quantile", 0 },
        { "hedge.after", "50ms", 0 },
        { "latency.measure", "yes", BIDE_EPARSE },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
        int rc = bide__option_set(&conf, rows[i].key, rows[i].text,
                                  strlen(rows[i].text));

        if (rc != rows[i].rc)
            fail_msg("%s: %s: %d", rows[i].key, rows[i].text, rc);
    }
}

/* ===== extends and preset ===== */

static void policy_file_preset_is_the_start(void **state)
{
    bide_config *config =
        must_parse(HEAD "  a: { preset: aws-standard, attempts: 5 }\n"
                        "  b: { extends: a, backoff: { cap: 7s } }\n");
    bide_policy_conf want;
    const bide_policy_conf *b = bide_config_policy(config, "b");

    (void)state;
    assert_int_equal(bide_policy_preset(&want, "aws-standard"), 0);
    assert_int_equal(b->attempts, 5);
    assert_true(b->backoff.cap_ns == 7 * S);
    assert_int_equal(b->budget.kind, want.budget.kind);
    assert_true(b->backoff.base_ns == want.backoff.base_ns);
    assert_int_equal(bide_policy_check(b), 0);
    bide_config_free(config);
}

/* A chain may come in any order and be as long as it likes. */
static void policy_file_long_chain_is_followed(void **state)
{
    enum { LENGTH = 30000 };
    char *text = malloc(LENGTH * 40), *at = text;
    bide_config *config;

    (void)state;
    at += sprintf(at, HEAD);
    for (int i = LENGTH; i > 0; i--)
        at += sprintf(at, "  p%d: { extends: p%d }\n", i, i - 1);
    sprintf(at, "  p0: { attempts: 9 }\n");
    config = must_parse(text);
    assert_int_equal(bide_config_policy(config, "p30000")->attempts, 9);
    bide_config_free(config);
    free(text);
}

/* ===== what is retried ===== */

static bide_class class_of(const bide_policy_conf *conf, bide_response r)
{
    bide_dep *dep;
    bide_outcome out;

    assert_int_equal(bide_dep_new(&dep, "test", conf), 0);
    out = bide_classify(dep, &r);
    bide_dep_free(dep);
    return out.cls;
}

static void retry_on_is_exact(void **state)
{
    bide_config *config = must_parse(
        HEAD "  a: { retry_on: { status: [404, 429, 500-502, 599],\n"
             "                   errors: [tls], grpc: [ABORTED,\n"
             "                   RESOURCE_EXHAUSTED] } }\n"
             "  none: { retry_on: { status: [], errors: [], grpc: [] } }\n"
             "  part: { extends: a, retry_on: { errors: [dns] } }\n");
    const bide_policy_conf *a = bide_config_policy(config, "a");
    const bide_policy_conf *none = bide_config_policy(config, "none");
    const bide_policy_conf *part = bide_config_policy(config, "part");

    (void)state;
    for (int s = 200; s < 1000; s++) {
        bide_class cls = class_of(a, (bide_response){ .status = s });
        bide_class want = s == 429 ? BIDE_THROTTLED
                          : s == 404 || (s >= 500 && s <= 502) || s == 599
                              ? BIDE_TRANSIENT
                          : s < 400 ? BIDE_SUCCESS
                                    : BIDE_PERMANENT;

        assert_int_equal(cls, want);
        assert_int_equal(class_of(part, (bide_response){ .status = s }), want);
        assert_int_equal(class_of(none, (bide_response){ .status = s }),
                         s < 400 ? BIDE_SUCCESS : BIDE_PERMANENT);
    }
    for (int f = 1; f < BIDE_N_FAULTS; f++) {
        bide_response r = { .fault = (bide_fault)f };
        bool ours = f == BIDE_FAULT_CANCELLED || f == BIDE_FAULT_UPLOAD ||
                    f == BIDE_FAULT_CONNECTION_WAIT;
        bide_class rest = ours                             ? BIDE_IGNORED
                          : f == BIDE_FAULT_REFUSED_STREAM ? BIDE_TRANSIENT
                                                           : BIDE_PERMANENT;

        assert_int_equal(class_of(a, r),
                         f == BIDE_FAULT_TLS ? BIDE_TRANSIENT : rest);
        assert_int_equal(class_of(part, r),
                         f == BIDE_FAULT_DNS ? BIDE_TRANSIENT : rest);
        assert_int_equal(class_of(none, r), rest);
    }
    for (int g = 0; g < BIDE_N_GRPC; g++) {
        bide_response r = { .is_grpc = true, .grpc_status = g };
        bide_class rest = g == BIDE_GRPC_OK          ? BIDE_SUCCESS
                          : g == BIDE_GRPC_CANCELLED ? BIDE_IGNORED
                                                     : BIDE_PERMANENT;

        assert_int_equal(class_of(a, r), g == BIDE_GRPC_ABORTED ? BIDE_TRANSIENT
                                         : g == BIDE_GRPC_RESOURCE_EXHAUSTED
                                             ? BIDE_THROTTLED
                                             : rest);
        assert_int_equal(class_of(none, r), rest);
    }
    bide_config_free(config);
}

static void rules_come_before_retry_on(void **state)
{
    bide_config *config = must_parse(
        HEAD
        "  a:\n"
        "    rules:\n"
        "      - { status: 404, method: GET, class: transient }\n"
        "      - { status: [409, 412-413], header: X-Lock, value: \"y*\",\n"
        "          class: throttled, not_processed: true }\n"
        "      - { errors: timeout, grpc: [INTERNAL], class: permanent }\n"
        "    problems: { \"https://e/busy\": overloaded }\n"
        "    retry_on: { status: [503] }\n"
        "  b: { extends: a, rules: [{ status: 418, class: success }] }\n");
    const bide_policy_conf *a = bide_config_policy(config, "a");
    const bide_policy_conf *b = bide_config_policy(config, "b");
    static const bide_header lock = { "x-lock", 6, "yes", 3 };
    static const char busy[] = "{\"type\": \"https://e/busy\"}";

    (void)state;
    assert_int_equal(a->n_rules, 7);
    assert_int_equal(
        class_of(a, (bide_response){ .status = 404, .method = "GET" }),
        BIDE_TRANSIENT);
    assert_int_equal(class_of(a, (bide_response){ .status = 404 }),
                     BIDE_PERMANENT);
    assert_int_equal(class_of(a, (bide_response){ .status = 413,
                                                  .headers = &lock,
                                                  .n_headers = 1 }),
                     BIDE_THROTTLED);
    assert_true(a->rules[1].not_processed);
    assert_int_equal(
        class_of(a, (bide_response){ .status = 503,
                                     .body = busy,
                                     .body_len = sizeof busy - 1 }),
        BIDE_OVERLOADED);
    assert_int_equal(class_of(a, (bide_response){ .status = 500 }),
                     BIDE_PERMANENT);
    /* a list of rules replaces its parent's; the rest is inherited */
    assert_int_equal(class_of(b, (bide_response){ .status = 418 }),
                     BIDE_SUCCESS);
    assert_int_equal(
        class_of(b, (bide_response){ .status = 404, .method = "GET" }),
        BIDE_PERMANENT);
    assert_int_equal(b->n_rules, 4);
    bide_config_free(config);
}

/* ===== the rest ===== */

static void service_is_inherited_by_field(void **state)
{
    bide_config *config = must_parse(
        HEAD "  a: { service: { capacity: 500/s, p99: 800ms } }\n"
             "  b: { extends: a, service: { load: 60/m, depth: 3 } }\n");
    const struct bide__service *s = &bide__config_entry(config, "b")->service;

    (void)state;
    assert_true(s->capacity_per_s == 500 && s->load_per_s == 1);
    assert_true(s->p99_ns == 800 * BIDE_MILLISECOND);
    assert_int_equal(s->depth, 3);
    assert_int_equal(s->clients, 0);
    bide_config_free(config);
}

static void config_arguments_are_checked(void **state)
{
    bide_config *config = NULL;

    (void)state;
    assert_int_equal(bide_config_parse(NULL, "n", "", 0, NULL), BIDE_EINVAL);
    assert_int_equal(bide_config_parse(&config, NULL, "", 0, NULL),
                     BIDE_EINVAL);
    assert_int_equal(bide_config_parse(&config, "n", NULL, 1, NULL),
                     BIDE_EINVAL);
    assert_int_equal(bide_config_parse(&config, "n", NULL, 0, NULL),
                     BIDE_EPARSE);
    assert_int_equal(bide_config_read(&config, NULL, NULL), BIDE_EINVAL);
    assert_int_equal(bide_config_read(&config, "/nowhere", NULL), BIDE_EPARSE);
    assert_int_equal(bide_config_read(&config, "/", NULL), BIDE_EPARSE);
    assert_null(config);
}

/* Every mistake of this file in one run, and nothing that follows from them. */
static void policy_file_tells_all_mistakes_at_once(void **state)
{
    static const char text[] = "version: 1\n"
                               "policies:\n"
                               "  a: { attempts: 0, attempts: 3, capp: 1 }\n"
                               "  b: { extends: c, backoff: { base: 100 } }\n"
                               "other: !x 1\n";
    bide_diagnostics *notes = bide_diagnostics_new();
    bide_config *config = NULL;

    (void)state;
    assert_int_equal(
        parse_exactly(&config, "t.yaml", text, strlen(text), notes),
        BIDE_EPARSE);
    assert_null(config);
    assert_true(has_finding(notes, "out-of-range", 3, 18));
    assert_true(has_finding(notes, "duplicate-key", 3, 21));
    assert_true(has_finding(notes, "unknown-key", 3, 34));
    assert_true(has_finding(notes, "unknown-policy", 4, 17));
    assert_true(has_finding(notes, "missing-unit", 4, 37));
    assert_true(has_finding(notes, "unknown-key", 5, 1));
    assert_true(has_finding(notes, "unsupported-tag", 5, 8));
    assert_int_equal(bide_diagnostics_count(notes, BIDE_MISTAKE), 7);
    bide_diagnostics_free(notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policy_file_example_is_read),
        cmocka_unit_test(policy_file_name_null_is_default_or_the_only_one),
        cmocka_unit_test(option_text_reads_back),
        cmocka_unit_test(option_set_refuses),
        cmocka_unit_test(policy_file_preset_is_the_start),
        cmocka_unit_test(policy_file_long_chain_is_followed),
        cmocka_unit_test(retry_on_is_exact),
        cmocka_unit_test(rules_come_before_retry_on),
        cmocka_unit_test(service_is_inherited_by_field),
        cmocka_unit_test(config_arguments_are_checked),
        cmocka_unit_test(policy_file_tells_all_mistakes_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
