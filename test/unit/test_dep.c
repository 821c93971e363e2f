/* test_dep.c: a dependency is made whole or not at all, and owns all that it
 * was given. */
#include <math.h>
#include <stdlib.h>

#include "dep_make.h"

/* ===== arguments ===== */

static void dep_arguments_missing_are_refused(void **state)
{
    bide_policy_conf conf = defaults();
    bide_host host = { .ctx = NULL };
    bide_dep *dep = (bide_dep *)&conf;

    (void)state;
    assert_int_equal(bide_dep_new(NULL, "x", &conf), BIDE_EINVAL);
    assert_int_equal(bide_dep_new(&dep, NULL, &conf), BIDE_EINVAL);
    assert_int_equal(bide_dep_new(&dep, "x", NULL), BIDE_EINVAL);
    assert_int_equal(bide_dep_new_in(NULL, "x", &conf, &host), BIDE_EINVAL);
    assert_int_equal(bide_dep_new_in(&dep, NULL, &conf, &host), BIDE_EINVAL);
    assert_int_equal(bide_dep_new_in(&dep, "x", NULL, &host), BIDE_EINVAL);
    assert_int_equal(bide_dep_new_in(&dep, "x", &conf, NULL), BIDE_EINVAL);
    assert_ptr_equal(dep, (bide_dep *)&conf);
}

static void dep_name_up_to_255_bytes_is_copied(void **state)
{
    bide_policy_conf conf = defaults();
    char name[257];
    bide_dep *dep = NULL;

    (void)state;
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    assert_int_equal(bide_dep_new(&dep, name, &conf), BIDE_EINVAL);
    assert_null(dep);
    name[255] = '\0';
    assert_int_equal(bide_dep_new(&dep, name, &conf), 0);
    assert_string_equal(bide_dep_name(dep), name);
    name[0] = 'x';
    assert_int_equal(bide_dep_name(dep)[0], 'n');
    bide_dep_free(dep);

    assert_int_equal(bide_dep_new(&dep, "", &conf), 0);
    assert_string_equal(bide_dep_name(dep), "");
    bide_dep_free(dep);
}

static void dep_policy_refused_says_which_field(void **state)
{
    bide_policy_conf conf = defaults();
    struct heap heap = { 0 };
    bide_host host = host_of(&heap);
    bide_dep *dep = NULL;
    int rc;

    (void)state;
    conf.backoff.cap_ns = 0;
    rc = bide_dep_new_in(&dep, "x", &conf, &host);
    assert_string_equal(bide_error_name(rc), "backoff.cap");
    conf = defaults();
    conf.n_rules = 1;
    assert_int_equal(bide_dep_new_in(&dep, "x", &conf, &host), BIDE_ERULE);
    assert_null(dep);
    assert_int_equal(heap.allocated, 0);
}

static void dep_null_views_are_harmless(void **state)
{
    (void)state;
    bide_dep_free(NULL);
    assert_null(bide_dep_name(NULL));
    assert_null(bide_dep_policy(NULL));
    assert_int_equal(bide_dep_size(NULL), 0);
    assert_int_equal(bide_dep_breaker(NULL, 0), BIDE_BREAKER_CLOSED);
    assert_int_equal(bide_dep_budget_left(NULL, 0), 0);
    assert_int_equal(bide_dep_unreachable(NULL, 0), 0);
    assert_true(bide_dep_rate(NULL, 0) == 0);
    assert_int_equal(bide_dep_latency(NULL, 0.5, 0), -1);
    assert_int_equal(bide_dep_force_breaker(NULL, BIDE_BREAKER_NORMAL),
                     BIDE_EINVAL);
}

/* ===== size and memory ===== */

static void dep_default_fits_64_kib(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    assert_in_range(bide_dep_size(&conf), 1000, 64 * 1024);
    assert_in_range(sizeof(bide_call), 1, 256);
}

/* A policy of each kind that takes memory of its own. */
static void vary(bide_policy_conf *conf, unsigned i, const bide_rule *rules,
                 size_t n_rules)
{
    *conf = defaults();
    if (i & 1) {
        conf->breaker.kind = BIDE_BREAKER_COUNT;
        conf->breaker.window_calls = 1 + i * 37 % 1024;
        conf->breaker.min_calls = 1;
        conf->breaker.mode = BIDE_BREAKER_DRY_RUN;
    }
    if (i & 2)
        conf->latency.measure = false;
    if (i & 4) {
        conf->rules = rules;
        conf->n_rules = n_rules;
    }
    conf->lanes = 1u << (i >> 3) % 7;
}

enum { VARIETIES = 8 * 7 };

static const bide_rule rules[] = {
    { .method = "POST", .cls = BIDE_PERMANENT },
    { .header = "X-A", .header_value = "b*", .cls = BIDE_OVERLOADED },
    { .problem_type = "urn:c", .cls = BIDE_THROTTLED, .not_processed = true },
    { .status_min = 500, .status_max = 599, .cls = BIDE_TRANSIENT },
};

static void dep_size_is_what_is_allocated_but_for_the_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < VARIETIES; i++) {
        bide_policy_conf conf;
        struct heap heap = { 0 };
        bide_host host = host_of(&heap);
        bide_dep *dep;

        vary(&conf, i, rules, COUNT(rules));
        assert_int_equal(bide_dep_new_in(&dep, "four", &conf, &host), 0);
        assert_int_equal(heap.allocated, 1);
        assert_int_equal(heap.size, bide_dep_size(&conf) + sizeof "four");
        bide_dep_free(dep);
        assert_int_equal(heap.released, 1);
    }
}

/* An allocator may return any address; each block ends right behind what was
 * asked for, so that a sanitizer sees one byte too many. */
static void dep_memory_at_odd_addresses_works(void **state)
{
    (void)state;
    for (size_t offset = 0; offset < 65; offset++) {
        bide_policy_conf conf;
        struct heap heap = { .offset = offset };
        bide_host host = host_of(&heap);
        bide_dep *dep;
        bide_stats stats;

        vary(&conf, (unsigned)offset % VARIETIES, rules, COUNT(rules));
        assert_int_equal(bide_dep_new_in(&dep, "odd", &conf, &host), 0);
        assert_int_equal((uintptr_t)dep % 64, 0);
        assert_int_equal((uintptr_t)dep->lanes % 64, 0);
        assert_string_equal(bide_dep_name(dep), "odd");
        use(dep);
        assert_int_equal(bide_dep_stats(dep, 5 * S, &stats), 0);
        assert_int_equal(stats.late_successes, 1);
        bide_dep_free(dep);
        assert_null(heap.block);
    }
}

static void dep_allocation_failing_leaves_nothing_behind(void **state)
{
    bide_policy_conf conf = defaults();
    size_t nth = 1;

    (void)state;
    conf.rules = rules;
    conf.n_rules = COUNT(rules);
    for (;; nth++) { /* until it no longer gets as far as the nth */
        struct heap heap = { .fails_at = nth };
        bide_host host = host_of(&heap);
        bide_dep *dep = (bide_dep *)&heap;
        int rc = bide_dep_new_in(&dep, "x", &conf, &host);

        if (rc == 0) {
            bide_dep_free(dep);
            assert_int_equal(heap.released, heap.allocated);
            break;
        }
        assert_int_equal(rc, BIDE_ENOMEM);
        assert_ptr_equal(dep, (bide_dep *)&heap);
        assert_int_equal(heap.released, heap.allocated - 1);
    }
    assert_true(nth > 1);
}

/* An arena has an alloc and no release: it frees all at once, later. */
static void dep_alloc_without_release_frees_nothing(void **state)
{
    bide_policy_conf conf = defaults();
    struct heap heap = { 0 };
    bide_host host = { .ctx = &heap, .alloc = heap_alloc };
    bide_dep *dep;

    (void)state;
    assert_int_equal(bide_dep_new_in(&dep, "x", &conf, &host), 0);
    bide_dep_free(dep);
    assert_int_equal(heap.released, 0);
    free(heap.block);
}

/* ===== what it owns ===== */

static void dep_policy_and_rules_are_deep_copies(void **state)
{
    char method[] = "POST", header[] = "X-Why", value[] = "busy*",
         type[] = "urn:x";
    bide_rule mine[2] = {
        { .method = method,
          .header = header,
          .header_value = value,
          .problem_type = type,
          .cls = BIDE_OVERLOADED },
        { .status_min = 500, .status_max = 599, .cls = BIDE_PERMANENT },
    };
    bide_policy_conf conf = defaults();

    (void)state;
    conf.attempts = 7;
    conf.rules = mine;
    conf.n_rules = 2;
    bide_dep *dep = make(&conf);
    memset(&conf, 0xff, sizeof conf);
    memset(mine, 0xff, sizeof mine);
    memset(method, '!', sizeof method);
    memset(header, '!', sizeof header);
    memset(value, '!', sizeof value);
    memset(type, '!', sizeof type);

    const bide_policy_conf *kept = bide_dep_policy(dep);
    assert_int_equal(kept->attempts, 7);
    assert_int_equal(kept->n_rules, 2);
    assert_true(kept->rules != mine);
    assert_string_equal(kept->rules[0].method, "POST");
    assert_string_equal(kept->rules[0].header, "X-Why");
    assert_string_equal(kept->rules[0].header_value, "busy*");
    assert_string_equal(kept->rules[0].problem_type, "urn:x");
    assert_int_equal(kept->rules[0].cls, BIDE_OVERLOADED);
    assert_int_equal(kept->rules[1].status_max, 599);
    assert_null(kept->rules[1].method);

    bide_response r = { .status = 503 };
    assert_int_equal(bide_classify(dep, &r).cls, BIDE_PERMANENT);
    assert_int_equal(bide_classify(NULL, &r).cls, BIDE_TRANSIENT);
    bide_dep_free(dep);
}

static void dep_most_and_longest_rules_are_copied(void **state)
{
    static char text[BIDE_MAX_RULE_TEXT + 1];
    static bide_rule many[BIDE_MAX_RULES];
    bide_policy_conf conf = defaults();

    (void)state;
    memset(text, 't', BIDE_MAX_RULE_TEXT);
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = (bide_rule){ .method = text,
                               .header = text,
                               .header_value = text,
                               .problem_type = text };
    conf.rules = many;
    conf.n_rules = COUNT(many);
    bide_dep *dep = make(&conf);
    text[0] = 'x';
    const bide_rule *last = &bide_dep_policy(dep)->rules[BIDE_MAX_RULES - 1];
    assert_int_equal(last->problem_type[0], 't');
    assert_int_equal(strlen(last->problem_type), BIDE_MAX_RULE_TEXT);
    bide_dep_free(dep);
}

static void dep_no_rules_keep_no_pointer(void **state)
{
    bide_policy_conf conf = defaults();

    (void)state;
    conf.rules = rules;
    conf.n_rules = 0;
    bide_dep *dep = make(&conf);
    assert_null(bide_dep_policy(dep)->rules);
    bide_dep_free(dep);
}

/* ===== views ===== */

static void dep_fresh_gauges_read_as_documented(void **state)
{
    static const int64_t times[] = { INT64_MIN, -1, 0, S, INT64_MAX };
    bide_policy_conf off = defaults();

    (void)state;
    off.budget.kind = BIDE_BUDGET_OFF;
    off.latency.measure = false;
    bide_dep *dep = make_default(), *none = make(&off);
    for (size_t i = 0; i < COUNT(times); i++) {
        assert_int_equal(bide_dep_breaker(dep, times[i]), BIDE_BREAKER_CLOSED);
        assert_int_equal(bide_dep_budget_left(dep, times[i]), 10);
        assert_true(isinf(bide_dep_rate(dep, times[i])));
        assert_int_equal(bide_dep_latency(dep, 0.5, times[i]), -1);
        assert_int_equal(bide_dep_budget_left(none, times[i]), BIDE_FOREVER);
        assert_int_equal(bide_dep_latency(none, 0.5, times[i]), -1);
    }
    bide_dep_free(dep);
    bide_dep_free(none);
}

static void dep_latency_quantile_out_of_range_is_unknown(void **state)
{
    static const double bad[] = { -0.001, 1.001, NAN, INFINITY, -INFINITY };
    bide_dep *dep = make_default();
    bide_call call;
    bide_outcome out = BIDE_OUTCOME_SUCCESS;

    (void)state;
    bide_call_begin(&call, dep, NULL, S);
    assert_int_equal(bide_call_next(&call, S).action, BIDE_TRY);
    assert_int_equal(bide_call_report(&call, 1, &out, 2 * S), 0);
    bide_call_end(&call, 2 * S);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(bide_dep_latency(dep, bad[i], 2 * S), -1);
    for (int q = 0; q <= 2; q++)
        assert_in_range(bide_dep_latency(dep, q / 2.0, 2 * S), S / 50 * 49,
                        S / 50 * 51);
    bide_dep_free(dep);
}

static void dep_forced_breaker_refuses_and_lets_go(void **state)
{
    bide_dep *dep = make_default();
    bide_call call;

    (void)state;
    assert_int_equal(bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_OPEN), 0);
    bide_call_begin(&call, dep, NULL, S);
    bide_decision d = bide_call_next(&call, S);
    assert_int_equal(d.action, BIDE_DONE);
    assert_int_equal(d.reason, BIDE_BECAUSE_BREAKER_OPEN);
    bide_call_end(&call, S);

    assert_int_equal(bide_dep_force_breaker(dep, BIDE_BREAKER_NORMAL), 0);
    bide_call_begin(&call, dep, NULL, S);
    assert_int_equal(bide_call_next(&call, S).action, BIDE_TRY);
    bide_call_end(&call, S);

    assert_int_equal(bide_dep_force_breaker(dep, (bide_breaker_mode)4),
                     BIDE_EINVAL);
    assert_int_equal(bide_dep_force_breaker(dep, (bide_breaker_mode)-1),
                     BIDE_EINVAL);
    bide_dep_free(dep);
}

static void dep_breaker_view_of_a_fresh_one_is_closed(void **state)
{
    bide_dep *dep = make_default();
    bide_breaker_view view;

    (void)state;
    assert_int_equal(bide_dep_breaker_view(NULL, S, &view), BIDE_EINVAL);
    assert_int_equal(bide_dep_breaker_view(dep, S, NULL), BIDE_EINVAL);
    memset(&view, 0xa5, sizeof view);
    assert_int_equal(bide_dep_breaker_view(dep, INT64_MIN, &view), 0);
    assert_int_equal(view.state, BIDE_BREAKER_CLOSED);
    bide_dep_free(dep);
}

static void dep_breaker_states_have_names(void **state)
{
    (void)state;
    assert_string_equal(bide_breaker_state_name(BIDE_BREAKER_CLOSED), "closed");
    assert_string_equal(bide_breaker_state_name(BIDE_BREAKER_OPEN), "open");
    assert_string_equal(bide_breaker_state_name(BIDE_BREAKER_HALF_OPEN),
                        "half_open");
    assert_null(bide_breaker_state_name((bide_breaker_state)3));
    assert_null(bide_breaker_state_name((bide_breaker_state)-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dep_arguments_missing_are_refused),
        cmocka_unit_test(dep_name_up_to_255_bytes_is_copied),
        cmocka_unit_test(dep_policy_refused_says_which_field),
        cmocka_unit_test(dep_null_views_are_harmless),
        cmocka_unit_test(dep_default_fits_64_kib),
        cmocka_unit_test(dep_size_is_what_is_allocated_but_for_the_name),
        cmocka_unit_test(dep_memory_at_odd_addresses_works),
        cmocka_unit_test(dep_allocation_failing_leaves_nothing_behind),
        cmocka_unit_test(dep_alloc_without_release_frees_nothing),
        cmocka_unit_test(dep_policy_and_rules_are_deep_copies),
        cmocka_unit_test(dep_most_and_longest_rules_are_copied),
        cmocka_unit_test(dep_no_rules_keep_no_pointer),
        cmocka_unit_test(dep_fresh_gauges_read_as_documented),
        cmocka_unit_test(dep_latency_quantile_out_of_range_is_unknown),
        cmocka_unit_test(dep_forced_breaker_refuses_and_lets_go),
        cmocka_unit_test(dep_breaker_view_of_a_fresh_one_is_closed),
        cmocka_unit_test(dep_breaker_states_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
