/* Hedging over libcurl: a second transfer beside a slow one, and what becomes
 * of the loser. */
#include "common.h"

static bide_policy_conf hedging(void)
{
    bide_policy_conf conf = quick();
    conf.attempts = 1;
    conf.hedge.max = 1;
    conf.hedge.after_ns = 10 * MS;
    conf.hedge.extra_load = 1;
    return conf;
}

static void play(struct exchange *x, const char *script, const char *method)
{
    bide_policy_conf conf = hedging();
    bide_dep *dep = dep_of(&conf);
    exchange_init(x, script);
    x->opts.method = method;
    x->opts.hold_max = 1000;
    if (method && strcmp(method, "POST") == 0)
        curl_easy_setopt(x->easy, CURLOPT_POSTFIELDS, "pay=1");
    bide_curl_perform(dep, x->easy, &x->opts);
    bide_stats stats;
    bide_dep_stats(dep, bide_now_ns(), &stats);
    assert_int_equal(stats.hedges, x->result.attempts - 1);
    bide_dep_free(dep);
}

static void hedge_wins_over_a_slow_transfer(void **state)
{
    (void)state;
    static const char *const methods[] = { NULL, "GET" };
    for (size_t i = 0; i < COUNT(methods); i++) {
        struct exchange x;
        play(&x, "stall,200;body=fast", methods[i]);
        assert_int_equal(x.result.reason, BIDE_BECAUSE_SUCCESS);
        assert_int_equal(x.result.attempts, 2);
        assert_string_equal(x.body, "fast");
        assert_int_equal(requests(&x), 2);
        exchange_done(&x);
    }
}

static void hedge_loses_to_the_first_and_leaves_no_trace(void **state)
{
    (void)state;
    struct exchange x;
    play(&x, "200;wait=1000;body=first,stall", NULL);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_SUCCESS);
    assert_string_equal(x.body, "first");
    assert_string_equal(x.head,
                        "HTTP/1.1 200 Fine\r\nContent-Length: 5\r\n\r\n");
    assert_int_equal(requests(&x), 2);
    exchange_done(&x);
}

static void hedge_is_not_needed_by_a_quick_answer(void **state)
{
    (void)state;
    struct exchange x;
    play(&x, "200;body=quick", NULL);
    assert_string_equal(x.body, "quick");
    exchange_done(&x);
}

static void hedge_is_sent_at_once_after_a_failure(void **state)
{
    (void)state;
    struct exchange x;
    play(&x, "503,200;body=second", NULL);
    assert_int_equal(x.result.attempts, 2);
    assert_string_equal(x.body, "second");
    exchange_done(&x);
}

static void hedge_of_a_post_is_never_sent(void **state)
{
    (void)state;
    struct exchange x;
    play(&x, "200;wait=100;body=once,200", "POST");
    assert_string_equal(x.body, "once");
    assert_int_equal(requests(&x), 1);
    exchange_done(&x);
}

/* The first has begun to pass its long body on when the hedge, which answers
 * sooner, would win: one of them is the call's, never a mixture. */
static void hedge_beside_an_answer_that_is_passed_on_is_stopped(void **state)
{
    (void)state;
    struct exchange x;
    play(&x, "200;n=300000;pause=200,200;wait=100;body=late", NULL);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_SUCCESS);
    if (x.body_len != 300000) /* a busy machine: the first was that late */
        assert_string_equal(x.body, "late");
    exchange_done(&x);
}

static void hedge_calls_end_when_both_fail(void **state)
{
    (void)state;
    struct exchange x;
    play(&x, "503;body=one,503;body=two", NULL);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_ATTEMPTS);
    assert_int_equal(x.result.attempts, 2);
    assert_string_equal(x.body, "two");
    exchange_done(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hedge_wins_over_a_slow_transfer),
        cmocka_unit_test(hedge_loses_to_the_first_and_leaves_no_trace),
        cmocka_unit_test(hedge_is_not_needed_by_a_quick_answer),
        cmocka_unit_test(hedge_is_sent_at_once_after_a_failure),
        cmocka_unit_test(hedge_of_a_post_is_never_sent),
        cmocka_unit_test(hedge_beside_an_answer_that_is_passed_on_is_stopped),
        cmocka_unit_test(hedge_calls_end_when_both_fail),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
