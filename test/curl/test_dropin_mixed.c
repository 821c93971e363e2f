/* The same program, but only the file that calls bide_curl_perform() includes
 * bide/curl.h: nothing that the other file has set is lost, and nothing comes
 * twice. bide leaves alone what it does not know, and does less. */
#include "dropin.h"

static bide_dep *dep;

static int start(void **state)
{
    bide_policy_conf conf = quick();
    dep = dep_of(&conf);
    return start_server(state);
}

static int stop(void **state)
{
    bide_dep_free(dep);
    return stop_server(state);
}

static void program_is_not_recorded(void **state)
{
    (void)state;
    CURL *easy = curl_easy_init(); /* here, where it is bide's */
    assert_false(bide_curl_recorded(easy));
    curl_easy_cleanup(easy);
}

static void failure_without_a_body_is_retried(void **state)
{
    (void)state;
    struct program p;
    program_to(&p, "503;n=0,close,reset,200;body=fine");
    assert_int_equal(bide_curl_perform(dep, p.easy, NULL), CURLE_OK);
    check_arrived(4);
    assert_string_equal(p.body, "fine");
    assert_int_equal(p.heads, 2);
    assert_true(p.progress > 0);
    assert_string_equal(fault_seen(&server, id, 1, "attempt"), "");
    program_done(&p);
}

static void failure_with_a_body_is_the_programs(void **state)
{
    (void)state;
    struct program p;
    bide_curl_result result;
    program_to(&p, "503;body=sorry,200;body=fine");
    bide_curl_opts opts = { .result = &result };
    assert_int_equal(bide_curl_perform(dep, p.easy, &opts), CURLE_OK);
    assert_string_equal(p.body, "sorry");
    assert_int_equal(result.reason, BIDE_BECAUSE_NOT_REPLAYABLE);
    assert_int_equal(result.status, 503);
    check_arrived(1);
    program_done(&p);
}

static size_t take(char *data, size_t size, size_t n, void *ctx)
{
    struct program *p = ctx;
    memcpy(p->body + p->body_len, data, size * n);
    p->body_len += size * n;
    p->body[p->body_len] = '\0';
    return size * n;
}

/* What opts has is known, whoever has made the handle. */
static void body_by_opts_is_held_back(void **state)
{
    (void)state;
    struct program p;
    program_to(&p, "503;body=no,200;n=99;cut=body,200;body=fine");
    bide_curl_opts opts = { .write = take, .write_ctx = &p };
    assert_int_equal(bide_curl_perform(dep, p.easy, &opts), CURLE_OK);
    assert_string_equal(p.body, "fine");
    assert_int_equal(p.bodies, 0);
    assert_int_equal(p.heads, 3);
    check_arrived(3);
    program_done(&p);
}

static bool drop(void *ctx, void *write_ctx)
{
    (void)write_ctx;
    struct program *p = ctx;
    p->body[0] = '\0';
    p->body_len = 0;
    return true;
}

static void body_that_is_dropped_is_retried(void **state)
{
    (void)state;
    struct program p;
    program_to(&p, "503;body=sorry,200;body=fine");
    bide_curl_opts opts = { .restart = drop, .ctx = &p };
    assert_int_equal(bide_curl_perform(dep, p.easy, &opts), CURLE_OK);
    assert_string_equal(p.body, "fine");
    check_arrived(2);
    program_done(&p);
}

static void body_that_was_sent_is_not_sent_again(void **state)
{
    (void)state;
    struct program p;
    program_to(&p, "503;n=0,200");
    program_put(&p, true);
    assert_int_equal(bide_curl_perform(dep, p.easy, NULL), CURLE_OK);
    check_arrived(1);
    assert_int_equal(p.seeks, 0);
    program_done(&p);
}

/* A policy that makes a POST safe by a key cannot, where none can be sent. */
static void post_gets_no_key_and_is_made_once(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    conf.idempotency_key = BIDE_KEY_GENERATE;
    bide_dep *with_key = dep_of(&conf);
    struct program p;
    program_to(&p, "503;n=0,200");
    program_post(&p);
    bide_curl_perform(with_key, p.easy, NULL);
    check_arrived(1);
    assert_string_equal(fault_seen(&server, id, 1, "key"), "");
    program_done(&p);
    bide_dep_free(with_key);
}

/* Bare libcurl sends it again, on a new connection. */
static void resend_of_libcurl_is_prevented(void **state)
{
    (void)state;
    struct program p;
    program_to(&p, "200;body=fine,reset,200");
    program_post(&p);
    assert_int_equal(bide_curl_perform(dep, p.easy, NULL), CURLE_OK);
    assert_int_equal(bide_curl_perform(dep, p.easy, NULL), CURLE_GOT_NOTHING);
    check_arrived(2);
    program_done(&p);
}

static void hedge_is_not_sent(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    conf.attempts = 1;
    conf.hedge.max = 1;
    conf.hedge.after_ns = 0;
    conf.hedge.extra_load = 1;
    bide_dep *hedging = dep_of(&conf);
    struct program p;
    program_to(&p, "200;pause=50;body=fine");
    assert_int_equal(bide_curl_perform(hedging, p.easy, NULL), CURLE_OK);
    check_arrived(1);
    assert_string_equal(p.body, "fine");
    program_done(&p);
    bide_dep_free(hedging);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_is_not_recorded),
        cmocka_unit_test(failure_without_a_body_is_retried),
        cmocka_unit_test(failure_with_a_body_is_the_programs),
        cmocka_unit_test(body_by_opts_is_held_back),
        cmocka_unit_test(body_that_is_dropped_is_retried),
        cmocka_unit_test(body_that_was_sent_is_not_sent_again),
        cmocka_unit_test(post_gets_no_key_and_is_made_once),
        cmocka_unit_test(resend_of_libcurl_is_prevented),
        cmocka_unit_test(hedge_is_not_sent),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
