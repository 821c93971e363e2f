/* bide_curl_perform() against servers that fail in every way there is: what is
 * tried again, what reaches the caller, and why it ends. */
#include "common.h"

/* ===== answers and failures, one row each ===== */

struct row {
    const char *script;
    bool post;
    uint32_t attempts;      /* by bide's count and by the server's */
    bide_reason reason;
    CURLcode code;
    long status;
    const char *body;
};

static const struct row rows[] = {
    { "200;body=fine", false, 1, BIDE_BECAUSE_SUCCESS, CURLE_OK, 200, "fine" },
    { "200;body=fine", true, 1, BIDE_BECAUSE_SUCCESS, CURLE_OK, 200, "fine" },
    { "503,500,200;body=fine", false, 3, BIDE_BECAUSE_SUCCESS, CURLE_OK, 200,
      "fine" },
    { "404;body=none", false, 1, BIDE_BECAUSE_PERMANENT, CURLE_OK, 404,
      "none" },
    { "503;body=sorry", false, 4, BIDE_BECAUSE_ATTEMPTS, CURLE_OK, 503,
      "sorry" },
    { "204", false, 1, BIDE_BECAUSE_SUCCESS, CURLE_OK, 204, "" },

    /* no answer, half an answer */
    { "close,200;body=fine", false, 2, BIDE_BECAUSE_SUCCESS, CURLE_OK, 200,
      "fine" },
    { "reset,200;body=fine", false, 2, BIDE_BECAUSE_SUCCESS, CURLE_OK, 200,
      "fine" },
    { "stall,200;body=fine", false, 2, BIDE_BECAUSE_SUCCESS, CURLE_OK, 200,
      "fine" },
    { "200;stall=head,200;body=fine", false, 2, BIDE_BECAUSE_SUCCESS, CURLE_OK,
      200, "fine" },
    { "200;n=999;stall=body,200;body=fine", false, 2, BIDE_BECAUSE_SUCCESS,
      CURLE_OK, 200, "fine" },
    { "200;cut=head,200;body=fine", false, 2, BIDE_BECAUSE_SUCCESS, CURLE_OK,
      200, "fine" },
    { "200;rst=head,200;body=fine", false, 2, BIDE_BECAUSE_SUCCESS, CURLE_OK,
      200, "fine" },
    { "200;n=999;cut=body,200;body=fine", false, 2, BIDE_BECAUSE_SUCCESS,
      CURLE_OK, 200, "fine" },
    { "200;n=999;rst=body,200;body=fine", false, 2, BIDE_BECAUSE_SUCCESS,
      CURLE_OK, 200, "fine" },
    { "200;n=99;chunked;cut=body,200;chunked;body=fine", false, 2,
      BIDE_BECAUSE_SUCCESS, CURLE_OK, 200, "fine" },
    { "200;n=9;lie=7,200;body=fine", false, 2, BIDE_BECAUSE_SUCCESS, CURLE_OK,
      200, "fine" },
    { "200;body=finefine;lie=-4", false, 1, BIDE_BECAUSE_SUCCESS, CURLE_OK, 200,
      "fine" },
    { "200;body=fine;trickle=1", false, 1, BIDE_BECAUSE_SUCCESS, CURLE_OK, 200,
      "fine" },
    { "200;body=half;cut=body", false, 4, BIDE_BECAUSE_ATTEMPTS,
      CURLE_PARTIAL_FILE, 200, "ha" },
    { "503;body=half;cut=body,200;body=fine", false, 2, BIDE_BECAUSE_SUCCESS,
      CURLE_OK, 200, "fine" },
    { "204;cut=head,204", false, 2, BIDE_BECAUSE_SUCCESS, CURLE_OK, 204, "" },

    /* only the first line of a head is its status */
    { "503;h=HTTP/1.1+200+Fine:1;body=no,200;body=fine", false, 2,
      BIDE_BECAUSE_SUCCESS, CURLE_OK, 200, "fine" },
    { "200;h=HTTP/1.1+503+Busy:1;body=fine", false, 1, BIDE_BECAUSE_SUCCESS,
      CURLE_OK, 200, "fine" },

    /* a POST that may have been processed is made once */
    { "503;body=sorry,200", true, 1, BIDE_BECAUSE_NOT_IDEMPOTENT, CURLE_OK, 503,
      "sorry" },
    { "close,200", true, 1, BIDE_BECAUSE_NOT_IDEMPOTENT, CURLE_GOT_NOTHING, 0,
      "" },
    { "reset,200", true, 1, BIDE_BECAUSE_NOT_IDEMPOTENT, CURLE_RECV_ERROR, 0,
      "" },
    { "stall,200", true, 1, BIDE_BECAUSE_NOT_IDEMPOTENT,
      CURLE_OPERATION_TIMEDOUT, 0, "" },
    { "200;body=half;cut=body,200", true, 1, BIDE_BECAUSE_NOT_IDEMPOTENT,
      CURLE_PARTIAL_FILE, 200, "ha" },

    /* the server's word */
    { "503;h=X-Bide-Retry:no;body=go", false, 1, BIDE_BECAUSE_SERVER_REFUSED,
      CURLE_OK, 503, "go" },
    { "429;h=X-Should-Retry:false;body=go", false, 1,
      BIDE_BECAUSE_SERVER_REFUSED, CURLE_OK, 429, "go" },
    { "503;h=grpc-retry-pushback-ms:-1;body=go", false, 1,
      BIDE_BECAUSE_SERVER_REFUSED, CURLE_OK, 503, "go" },
    { "503;h=Content-Type:application/problem%2Bjson;"
      "body=%7B%22retryable%22:false%7D",
      false, 1, BIDE_BECAUSE_SERVER_REFUSED, CURLE_OK, 503,
      "{\"retryable\":false}" },
};

static void play_row(bide_dep *dep, const struct row *row, bool wants_head)
{
    struct exchange x;
    exchange_init(&x, row->script);
    if (!wants_head)
        x.opts.header = NULL;
    if (row->post)
        curl_easy_setopt(x.easy, CURLOPT_POSTFIELDS, "pay=1");
    CURLcode code = bide_curl_perform(dep, x.easy, &x.opts);
    if (code != row->code || x.result.reason != row->reason ||
        x.result.attempts != row->attempts ||
        requests(&x) != (int)row->attempts || x.result.status != row->status ||
        strcmp(x.body, row->body) != 0)
        fail_msg("%s %s: code %d, %s, %u attempts, %d requests, status %ld, "
                 "body '%s'",
                 row->post ? "POST" : "GET", row->script, (int)code,
                 bide_reason_name(x.result.reason), x.result.attempts,
                 requests(&x), x.result.status, x.body);
    assert_int_equal(x.result.code, code);
    exchange_done(&x);
}

static void perform_failures_are_retried_where_it_does_no_harm(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *patient = dep_of(&conf);
    conf.attempt_timeout_ns = 800 * MS; /* of those that would wait for ever */
    bide_dep *dep = dep_of(&conf);
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *with = strstr(rows[i].script, "stall") ? dep : patient;
        play_row(with, &rows[i], true);
        play_row(with, &rows[i], false);
    }
    bide_dep_free(patient);
    bide_dep_free(dep);
}

/* Before a byte of the request can have left, any method may try again. */
static void perform_post_that_was_not_sent_is_retried(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    conf.unreachable.wait_ns = 0;
    bide_dep *dep = dep_of(&conf);
    int ports[] = { server.closed, server.reset };
    for (size_t i = 0; i < COUNT(ports); i++) {
        struct exchange x;
        char url[128];
        snprintf(url, sizeof url, "http://127.0.0.1:%d/", ports[i]);
        exchange_to(&x, url);
        curl_easy_setopt(x.easy, CURLOPT_POSTFIELDS, "pay=1");
        CURLcode code = bide_curl_perform(dep, x.easy, &x.opts);
        assert_int_not_equal(code, CURLE_OK);
        /* A reset can come after the request went out: then it is not tried
         * again, which is right as well. */
        if (ports[i] == server.closed || x.result.last.not_processed) {
            assert_int_equal(x.result.reason, BIDE_BECAUSE_ATTEMPTS);
            assert_int_equal(x.result.attempts, 4);
        } else {
            assert_int_equal(x.result.reason, BIDE_BECAUSE_NOT_IDEMPOTENT);
        }
        exchange_done(&x);
    }
    bide_dep_free(dep);
}

/* While nobody is there, a call knocks instead of using up its attempts. */
static void perform_unreachable_waits_and_says_so(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    conf.attempts = 2;
    conf.unreachable.wait_ns = 500 * MS;
    conf.unreachable.knock_ns = 32 * MS;
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    char url[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", server.closed);
    exchange_to(&x, url);
    curl_easy_setopt(x.easy, CURLOPT_POSTFIELDS, "pay=1");
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts),
                     CURLE_COULDNT_CONNECT);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_UNREACHABLE);
    bide_stats s;
    bide_dep_stats(dep, bide_now_ns(), &s);
    assert_true(s.unreached > 0);
    assert_int_equal(s.attempts, 0);
    exchange_done(&x);
    bide_dep_free(dep);
}

/* ===== kept connections ===== */

/* The second request of a handle goes over the connection of the first, which
 * is reset when the request has been read. */
static void perform_twice(struct exchange *x, bide_dep *dep, bool post)
{
    exchange_init(x, "200,reset,200;body=again");
    if (post)
        curl_easy_setopt(x->easy, CURLOPT_POSTFIELDS, "pay=1");
    assert_int_equal(bide_curl_perform(dep, x->easy, &x->opts), CURLE_OK);
    x->body_len = 0;
    bide_curl_perform(dep, x->easy, &x->opts);
}

/* Bare libcurl sends the POST again here: the server gets it three times. */
static void perform_kept_connection_that_breaks_counts_as_sent(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    perform_twice(&x, dep, true);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_NOT_IDEMPOTENT);
    assert_int_equal(x.result.code, CURLE_GOT_NOTHING);
    assert_int_equal(requests(&x), 2);
    exchange_done(&x);
    perform_twice(&x, dep, false);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_SUCCESS);
    assert_int_equal(x.result.attempts, 2);
    assert_int_equal(requests(&x), 3);
    assert_string_equal(x.body, "again");
    exchange_done(&x);
    bide_dep_free(dep);
}

/* ===== hints ===== */

static int64_t hint_of(const char *header)
{
    bide_policy_conf conf = quick();
    conf.retry_after.max_ns = 0;
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    char script[512];
    snprintf(script, sizeof script, "429;%s,200", header);
    exchange_init(&x, script);
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_HINT_TOO_LONG);
    assert_int_equal(x.result.status, 429);
    assert_int_equal(requests(&x), 1);
    exchange_done(&x);
    bide_dep_free(dep);
    return x.result.last.hint_ns / BIDE_SECOND;
}

static int64_t date_hint_of(const char *format)
{
    char date[128], option[256];
    time_t at = time(NULL) + 3600;
    struct tm tm;
    gmtime_r(&at, &tm);
    strftime(date, sizeof date, format, &tm);
    for (char *c = date; *c; c++)
        *c = *c == ' ' ? '+' : *c;
    snprintf(option, sizeof option, "h=Retry-After:%s", date);
    return hint_of(option);
}

static void perform_throttled_with_each_hint_waits_as_told(void **state)
{
    (void)state;
    assert_int_equal(hint_of("h=Retry-After:120"), 120);
    assert_int_equal(hint_of("h=retry-after-ms:60000"), 60);
    assert_int_equal(hint_of("h=x-ms-retry-after-ms:60000"), 60);
    assert_int_equal(hint_of("h=RateLimit-Reset:90"), 90);
    assert_int_equal(hint_of("h=X-RateLimit-Reset:90"), 90);
    assert_int_equal(hint_of("h=grpc-retry-pushback-ms:30000"), 30);
    assert_int_equal(hint_of("h=Content-Type:application/problem%2Bjson;"
                             "body=%7B%22retry_after%22:45%7D"), 45);
    static const char *const dates[] = { "%a%%2C %d %b %Y %H:%M:%S GMT",
                                         "%A%%2C %d-%b-%y %H:%M:%S GMT",
                                         "%a %b %e %H:%M:%S %Y" };
    for (size_t i = 0; i < COUNT(dates); i++)
        assert_in_range(date_hint_of(dates[i]), 3590, 3601);
}

static void count_hints(void *ctx, const bide_decision *d,
                        const bide_outcome *last, int64_t now)
{
    (void)last, (void)now;
    if (d->action == BIDE_WAIT && d->reason == BIDE_BECAUSE_HINT)
        ++*(int *)ctx;
}

static void perform_hinted_wait_is_waited(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    int hints = 0;
    exchange_init(&x, "429;h=retry-after-ms:3,503;h=retry-after-ms:2,200");
    x.opts.on_decision = count_hints;
    x.opts.ctx = &hints;
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_SUCCESS);
    assert_int_equal(hints, 2);
    exchange_done(&x);
    bide_dep_free(dep);
}

/* ===== redirects ===== */

static int requests_redirected(bide_dep *dep, bool post, int status)
{
    struct exchange x;
    char script[256];
    snprintf(script, sizeof script, "%d;to=http://127.0.0.1:%d/", status,
             server.closed);
    exchange_init(&x, script);
    curl_easy_setopt(x.easy, CURLOPT_FOLLOWLOCATION, 1L);
    if (post)
        curl_easy_setopt(x.easy, CURLOPT_POSTFIELDS, "pay=1");
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts),
                     CURLE_COULDNT_CONNECT);
    int n = requests(&x);
    exchange_done(&x);
    return n;
}

static void perform_redirect_to_a_failing_host(void **state)
{
    (void)state;
    static const int statuses[] = { 301, 302, 303, 307, 308 };
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    for (size_t i = 0; i < COUNT(statuses); i++) {
        assert_int_equal(requests_redirected(dep, false, statuses[i]), 4);
        /* The first host has had the POST, and the refusal of the second
         * proves nothing; not even where it has become a GET on the way. */
        assert_int_equal(requests_redirected(dep, true, statuses[i]), 1);
    }
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perform_failures_are_retried_where_it_does_no_harm),
        cmocka_unit_test(perform_post_that_was_not_sent_is_retried),
        cmocka_unit_test(perform_unreachable_waits_and_says_so),
        cmocka_unit_test(perform_kept_connection_that_breaks_counts_as_sent),
        cmocka_unit_test(perform_throttled_with_each_hint_waits_as_told),
        cmocka_unit_test(perform_hinted_wait_is_waited),
        cmocka_unit_test(perform_redirect_to_a_failing_host),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
