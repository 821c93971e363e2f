/* bide_curl_perform(): what a caller can ask for beyond a plain request. */
#include <pthread.h>

#include "common.h"

/* ===== the request ===== */

static void key_is_made_once_and_sent_with_each_attempt(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    conf.idempotency_key = BIDE_KEY_GENERATE;
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    exchange_init(&x, "503,reset,200");
    curl_easy_setopt(x.easy, CURLOPT_POSTFIELDS, "pay=1");
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts), CURLE_OK);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_SUCCESS);
    assert_int_equal(requests(&x), 3);
    assert_int_equal(strlen(x.result.key), 36);
    char field[40]; /* a structured-field string */
    snprintf(field, sizeof field, "\"%s\"", x.result.key);
    for (int i = 1; i <= 3; i++)
        assert_string_equal(fault_seen(&server, x.id, i, "key"), field);
    exchange_done(&x);

    exchange_init(&x, "503,200"); /* a GET needs none */
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_string_equal(x.result.key, "");
    assert_string_equal(fault_seen(&server, x.id, 1, "key"), "");
    exchange_done(&x);
    bide_dep_free(dep);
}

static void key_of_the_callers_makes_post_safe(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    exchange_init(&x, "503,200");
    curl_easy_setopt(x.easy, CURLOPT_POSTFIELDS, "pay=1");
    x.opts.headers = curl_slist_append(NULL, "idempotency-key: mine");
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_SUCCESS);
    assert_string_equal(fault_seen(&server, x.id, 1, "key"), "mine");
    assert_string_equal(fault_seen(&server, x.id, 2, "key"), "mine");
    assert_string_equal(x.result.key, "");
    curl_slist_free_all(x.opts.headers);
    exchange_done(&x);
    bide_dep_free(dep);
}

static void headers_tell_attempt_and_time_left_and_keep_the_trace(void **state)
{
    (void)state;
    static const char trace[] =
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    char line[128];
    exchange_init(&x, "503,200");
    snprintf(line, sizeof line, "traceparent: %s", trace);
    x.opts.headers = curl_slist_append(NULL, line);
    x.opts.op.deadline_ns = bide_now_ns() + 60 * BIDE_SECOND;
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_SUCCESS);
    assert_string_equal(fault_seen(&server, x.id, 1, "attempt"),
                        "1; max=4");
    assert_string_equal(fault_seen(&server, x.id, 2, "attempt"),
                        "2; max=4");
    for (int i = 1; i <= 2; i++) {
        assert_string_equal(fault_seen(&server, x.id, i, "traceparent"), trace);
        assert_in_range(atoi(fault_seen(&server, x.id, i, "timeout_ms")), 1,
                        60000);
    }
    curl_slist_free_all(x.opts.headers);
    exchange_done(&x);

    exchange_init(&x, "200");
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_string_equal(fault_seen(&server, x.id, 1, "timeout_ms"), "");
    exchange_done(&x);
    bide_dep_free(dep);
}

struct upload {
    size_t left;
    int rewinds, rewinds_allowed;
};

static size_t read_upload(char *to, size_t size, size_t n, void *ctx)
{
    struct upload *u = ctx;
    size_t len = size * n < u->left ? size * n : u->left;
    memset(to, 'x', len);
    u->left -= len;
    return len;
}

static bool rewind_upload(void *ctx)
{
    struct upload *u = ctx;
    u->left = 1000;
    return u->rewinds++ < u->rewinds_allowed;
}

static struct exchange *put_upload(struct exchange *x, struct upload *u)
{
    exchange_init(x, "503,503,200");
    curl_easy_setopt(x->easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(x->easy, CURLOPT_INFILESIZE, 1000L);
    curl_easy_setopt(x->easy, CURLOPT_READFUNCTION, read_upload);
    curl_easy_setopt(x->easy, CURLOPT_READDATA, u);
    return x;
}

static void body_that_cannot_be_sent_again_is_sent_once(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    struct upload u = { .left = 1000 };
    put_upload(&x, &u)->opts.one_shot_body = true;
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_NOT_REPLAYABLE);
    assert_int_equal(requests(&x), 1);
    exchange_done(&x);
    bide_dep_free(dep);
}

/* Nobody has said that it is read, but libcurl did not know how long it is. */
static void body_of_unknown_length_is_sent_once(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    struct upload u = { .left = 1000 };
    put_upload(&x, &u);
    curl_easy_setopt(x.easy, CURLOPT_INFILESIZE, -1L);
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_NOT_REPLAYABLE);
    assert_int_equal(requests(&x), 1);
    exchange_done(&x);
    bide_dep_free(dep);
}

static void body_that_can_be_rewound_is_sent_whole_again(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    for (int allowed = 1; allowed <= 2; allowed++) {
        struct exchange x;
        struct upload u = { .left = 1000, .rewinds_allowed = allowed };
        put_upload(&x, &u)->opts.rewind = rewind_upload;
        x.opts.rewind_ctx = &u;
        bide_curl_perform(dep, x.easy, &x.opts);
        assert_int_equal(x.result.reason, allowed == 2
                                              ? BIDE_BECAUSE_SUCCESS
                                              : BIDE_BECAUSE_NOT_REPLAYABLE);
        assert_int_equal(fault_count(&server, x.id, "complete"), allowed + 1);
        assert_int_equal(fault_count(&server, x.id, "body"), 1000);
        exchange_done(&x);
    }
    bide_dep_free(dep);
}

/* ===== the answer ===== */

static bool drop(void *ctx, void *write_ctx)
{
    struct exchange *x = write_ctx;
    x->body_len = x->head_len = 0;
    ++*(int *)ctx;
    return *(int *)ctx < 3;
}

static void long_answer_that_breaks_off(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    static const char script[] = "200;n=90000;cut=body,200;n=50000;cut=body,"
                                 "200;n=3000;cut=body,200;n=3";
    struct exchange x;
    int dropped = 0;
    exchange_init(&x, script); /* half of it is there, and stays there */
    x.opts.hold_max = 1000;
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts),
                     CURLE_PARTIAL_FILE);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_NOT_REPLAYABLE);
    assert_int_equal(x.body_len, 45000);
    exchange_done(&x);

    exchange_init(&x, script); /* dropped twice, the third is refused */
    x.opts.hold_max = 1000;
    x.opts.restart = drop;
    x.opts.ctx = &dropped;
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_CANCELLED);
    assert_int_equal(x.result.attempts, 3);
    assert_int_equal(dropped, 3);
    exchange_done(&x);

    exchange_init(&x, script); /* held back, so nobody is asked */
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_SUCCESS);
    assert_string_equal(x.body, "abc");
    exchange_done(&x);
    bide_dep_free(dep);
}

static void long_failure_is_cut_off_and_never_passed_on(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    exchange_init(&x, "503;n=50000,200;body=fine");
    x.opts.hold_max = 100;
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_string_equal(x.body, "fine");
    assert_int_equal(x.result.attempts, 2);
    exchange_done(&x);
    exchange_init(&x, "503;n=50000");
    x.opts.hold_max = 100;
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.body_len, 100);
    exchange_done(&x);
    exchange_init(&x, "404;n=50000"); /* nothing can follow: all of it */
    x.opts.hold_max = 100;
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.body_len, 50000);
    assert_int_equal(strncmp(x.head, "HTTP/1.1 404", 12), 0);
    exchange_done(&x);
    bide_dep_free(dep);
}

/* Short ones are held back elsewhere than long ones, and one may become the
 * other when its second half comes; a failure of either kind went before. */
static void answer_of_any_length_comes_whole(void **state)
{
    (void)state;
    static const int lengths[] = { 1, 1023, 1024, 1025, 1900, 2047, 3900 };
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    for (size_t i = 0; i < COUNT(lengths) * COUNT(lengths); i++) {
        struct exchange x;
        char script[128];
        int n = lengths[i % COUNT(lengths)];
        snprintf(script, sizeof script, "503;n=%d;pause=1,200;n=%d;pause=1",
                 lengths[i / COUNT(lengths)], n);
        exchange_init(&x, script);
        assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts), CURLE_OK);
        assert_int_equal(x.result.status, 200);
        assert_int_equal(x.body_len, n);
        for (int at = 0; at < n; at++)
            assert_int_equal(x.body[at], 'a' + at % 26);
        exchange_done(&x);
    }
    bide_dep_free(dep);
}

static void header_is_of_the_last_attempt_only(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    exchange_init(&x, "503;h=A:1,200;h=B:2;body=fine");
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_string_equal(x.head, "HTTP/1.1 200 Fine\r\nB: 2\r\n"
                                "Content-Length: 4\r\n\r\n");
    exchange_done(&x);
    bide_dep_free(dep);
}

static size_t refuse(char *data, size_t size, size_t n, void *ctx)
{
    (void)data, (void)size, (void)n, (void)ctx;
    return 0;
}

static void answer_that_the_caller_refuses_ends_the_call(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    for (size_t hold_max = 0; hold_max <= 10; hold_max += 10) {
        struct exchange x;
        exchange_init(&x, "200;n=5000");
        x.opts.write = refuse;
        x.opts.hold_max = hold_max;
        assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts),
                         CURLE_WRITE_ERROR);
        assert_int_equal(requests(&x), 1);
        exchange_done(&x);
    }
    bide_dep_free(dep);
}

static void answer_without_functions_goes_to_a_file(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    char text[32] = "";
    FILE *file = tmpfile();
    exchange_init(&x, "503,200;body=fine");
    bide_curl_opts opts = { .write_ctx = file };
    assert_int_equal(bide_curl_perform(dep, x.easy, &opts), CURLE_OK);
    rewind(file);
    assert_non_null(fgets(text, sizeof text, file));
    assert_string_equal(text, "fine");
    fclose(file);
    exchange_done(&x);
    bide_dep_free(dep);
}

static void handle_is_given_back_as_it_was(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    char *private = NULL;
    exchange_init(&x, "503,200,200");
    curl_easy_setopt(x.easy, CURLOPT_PRIVATE, &x);
    x.opts.headers = curl_slist_append(NULL, "traceparent: kept");
    bide_curl_perform(dep, x.easy, &x.opts);
    curl_easy_getinfo(x.easy, CURLINFO_PRIVATE, &private);
    assert_ptr_equal(private, &x);
    curl_easy_setopt(x.easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(x.easy, CURLOPT_WRITEDATA, &x);
    assert_int_equal(curl_easy_perform(x.easy), CURLE_OK); /* without bide */
    assert_string_equal(fault_seen(&server, x.id, 3, "traceparent"), "kept");
    assert_string_equal(fault_seen(&server, x.id, 3, "attempt"), "");
    curl_slist_free_all(x.opts.headers);
    exchange_done(&x);
    bide_dep_free(dep);
}

/* ===== how it ends ===== */

static void deadline_ends_a_stalled_call(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    conf.deadline_ns = 2000 * MS; /* the 503 has to come before it */
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    exchange_init(&x, "503,stall");
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts),
                     CURLE_OPERATION_TIMEDOUT);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_DEADLINE);
    exchange_done(&x);
    /* A wait that does not fit is not begun. */
    exchange_init(&x, "503;h=Retry-After:3;body=sorry");
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_DEADLINE);
    assert_int_equal(x.result.attempts, 1);
    assert_string_equal(x.body, "sorry");
    exchange_done(&x);
    bide_dep_free(dep);
}

static void refused_call_makes_no_attempt(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.mode = BIDE_BREAKER_FORCED_OPEN;
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    exchange_init(&x, "200");
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts),
                     CURLE_ABORTED_BY_CALLBACK);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_BREAKER_OPEN);
    assert_int_equal(x.result.attempts, 0);
    x.opts.op.attempts_made = 2;
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.attempts, 2);
    assert_int_equal(requests(&x), 0);
    exchange_done(&x);
    bide_dep_free(dep);
}

static void *cancel_soon(void *arg)
{
    bide_sleep_until(bide_now_ns() + 20 * MS, NULL);
    bide_cancel_now(arg);
    return NULL;
}

static void cancel_from_a_thread_ends_waits_and_transfers(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "503;h=Retry-After:200", "stall", "200;stall=body;n=100",
        "200;n=5000000;pause=100000", /* the body is being passed on by then */
    };
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    for (size_t i = 0; i < COUNT(scripts); i++) {
        struct exchange x;
        bide_cancel cancel = { 0 };
        pthread_t thread;
        exchange_init(&x, scripts[i]);
        x.opts.cancel = &cancel;
        pthread_create(&thread, NULL, cancel_soon, &cancel);
        assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts),
                         CURLE_ABORTED_BY_CALLBACK);
        assert_int_equal(x.result.reason, BIDE_BECAUSE_CANCELLED);
        pthread_join(thread, NULL);
        exchange_done(&x);
    }
    bide_dep_free(dep);
}

static void upstream_retries_leave_it_to_the_layer_above(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    exchange_init(&x, "503,200");
    x.opts.op.upstream_attempt = 1;
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_UPSTREAM_RETRIES);
    assert_int_equal(requests(&x), 1);
    exchange_done(&x);
    bide_dep_free(dep);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    static const struct {
        const char *url;
        CURLcode code;
        bide_fault fault;
    } urls[] = {
        { "http://", CURLE_URL_MALFORMAT, BIDE_FAULT_URL },
        { "nonsense://host/", CURLE_UNSUPPORTED_PROTOCOL, BIDE_FAULT_URL },
    };
    for (size_t i = 0; i < COUNT(urls); i++) {
        exchange_to(&x, "http://127.0.0.1/");
        curl_easy_setopt(x.easy, CURLOPT_URL, urls[i].url);
        assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts), urls[i].code);
        assert_int_equal(x.result.reason, BIDE_BECAUSE_PERMANENT);
        assert_int_equal(x.result.last.fault, urls[i].fault);
        exchange_done(&x);
    }
    exchange_to(&x, "http://127.0.0.1/");
    curl_easy_setopt(x.easy, CURLOPT_URL, "file:///dev/null");
    assert_int_equal(bide_curl_perform(dep, x.easy, NULL), CURLE_OK);
    assert_int_equal(bide_curl_perform(NULL, x.easy, NULL),
                     CURLE_BAD_FUNCTION_ARGUMENT);
    assert_int_equal(bide_curl_perform(dep, NULL, NULL),
                     CURLE_BAD_FUNCTION_ARGUMENT);
    struct {
        bide_curl_opts opts;
        uint64_t unknown;
    } newer = { .unknown = 1 };
    assert_int_equal(bide_curl_perform_sized(dep, x.easy, &newer.opts,
                                             sizeof newer),
                     CURLE_BAD_FUNCTION_ARGUMENT);
    exchange_done(&x);
    bide_dep_free(dep);
}

static void classify_serves_loops_of_your_own(void **state)
{
    (void)state;
    struct exchange x;
    exchange_init(&x, "429;h=Retry-After:7");
    curl_easy_setopt(x.easy, CURLOPT_FAILONERROR, 1L);
    CURLcode code = curl_easy_perform(x.easy);
    bide_outcome out = bide_curl_classify(NULL, x.easy, code);
    assert_int_equal(out.cls, BIDE_THROTTLED);
    assert_int_equal(out.status, 429);
    assert_int_equal(out.hint_ns, 7 * BIDE_SECOND);
    exchange_done(&x);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", server.closed);
    exchange_to(&x, url);
    code = curl_easy_perform(x.easy);
    out = bide_curl_classify(NULL, x.easy, code);
    assert_int_equal(out.fault, BIDE_FAULT_CONNECT);
    assert_true(out.not_processed);
    assert_int_equal(bide_curl_classify(NULL, NULL, code).cls, BIDE_PERMANENT);
    exchange_done(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_is_made_once_and_sent_with_each_attempt),
        cmocka_unit_test(key_of_the_callers_makes_post_safe),
        cmocka_unit_test(headers_tell_attempt_and_time_left_and_keep_the_trace),
        cmocka_unit_test(body_that_cannot_be_sent_again_is_sent_once),
        cmocka_unit_test(body_of_unknown_length_is_sent_once),
        cmocka_unit_test(body_that_can_be_rewound_is_sent_whole_again),
        cmocka_unit_test(long_answer_that_breaks_off),
        cmocka_unit_test(long_failure_is_cut_off_and_never_passed_on),
        cmocka_unit_test(answer_of_any_length_comes_whole),
        cmocka_unit_test(header_is_of_the_last_attempt_only),
        cmocka_unit_test(answer_that_the_caller_refuses_ends_the_call),
        cmocka_unit_test(answer_without_functions_goes_to_a_file),
        cmocka_unit_test(handle_is_given_back_as_it_was),
        cmocka_unit_test(deadline_ends_a_stalled_call),
        cmocka_unit_test(refused_call_makes_no_attempt),
        cmocka_unit_test(cancel_from_a_thread_ends_waits_and_transfers),
        cmocka_unit_test(upstream_retries_leave_it_to_the_layer_above),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(classify_serves_loops_of_your_own),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
