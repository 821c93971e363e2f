/* Real traffic: libbide-curl to nginx, plain, over TLS and HTTP/2, and through
 * nginx to the fault server. */
#include "common.h"
#include "nginx.h"

static struct nginx nginx;

static int start_both(void **state)
{
    start_server(state);
    nginx = nginx_start(server.http);
    return 0;
}

static int stop_both(void **state)
{
    nginx_stop(&nginx);
    return stop_server(state);
}

static void to_nginx(struct exchange *x, bool tls, const char *path)
{
    char url[512];
    if (!nginx.pid)
        skip();
    snprintf(url, sizeof url, "http%s://127.0.0.1:%d%s", tls ? "s" : "",
             tls ? nginx.https : nginx.http, path);
    exchange_to(x, url);
}

static void trust(struct exchange *x)
{
    char file[128];
    snprintf(file, sizeof file, "%s/cert.pem", nginx.dir);
    curl_easy_setopt(x->easy, CURLOPT_CAINFO, file);
}

static void nginx_answers(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    to_nginx(&x, false, "/ok");
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts), CURLE_OK);
    assert_string_equal(x.body, "fine\n");
    exchange_done(&x);
    to_nginx(&x, false, "/large");
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts), CURLE_OK);
    assert_int_equal(x.body_len, 3000000);
    exchange_done(&x);
    to_nginx(&x, false, "/nothing");
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_PERMANENT);
    assert_int_equal(x.result.status, 404);
    exchange_done(&x);
    bide_dep_free(dep);
}

static void nginx_failing_upstream_is_retried(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int requests;
    } rows[] = {
        { "/s/503,200;body=fine", 2 },
        { "/s/close,200;body=fine", 2 }, /* 502 Bad Gateway */
        { "/s/200;n=9999;cut=body,200;body=fine", 2 },
    };
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct exchange x;
        to_nginx(&x, false, rows[i].path);
        assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts), CURLE_OK);
        assert_string_equal(x.body, "fine");
        assert_int_equal(requests(&x), rows[i].requests);
        exchange_done(&x);
    }
    bide_dep_free(dep);
}

/* A hundred a second, and no burst: most are told 429 at first. */
static void nginx_limiting_lets_all_through_in_time(void **state)
{
    (void)state;
    enum { N = 20 };
    bide_policy_conf conf = quick();
    conf.attempts = 200;
    conf.backoff.cap_ns = 100 * MS;
    bide_dep *dep = dep_of(&conf);
    static struct exchange x[N];
    bide_curl_multi *m = NULL;
    uint32_t attempts = 0;
    assert_int_equal(bide_curl_multi_new(&m), 0);
    for (int i = 0; i < N; i++) {
        to_nginx(&x[i], false, "/limited");
        bide_curl_multi_add(m, dep, x[i].easy, &x[i].opts, NULL, NULL);
    }
    assert_int_equal(bide_curl_multi_run(m, BIDE_FOREVER), 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(x[i].result.reason, BIDE_BECAUSE_SUCCESS);
        assert_string_equal(x[i].body, "limited\n");
        attempts += x[i].result.attempts;
        exchange_done(&x[i]);
    }
    assert_true(attempts > N);
    bide_curl_multi_free(m);
    bide_dep_free(dep);
}

static void nginx_with_a_bad_certificate_is_not_tried_again(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    to_nginx(&x, true, "/ok");
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts),
                     CURLE_PEER_FAILED_VERIFICATION);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_PERMANENT);
    assert_int_equal(x.result.last.fault, BIDE_FAULT_TLS);
    assert_int_equal(x.result.attempts, 1);
    exchange_done(&x);
    bide_dep_free(dep);
}

static void nginx_plain_http_to_a_tls_port_and_back(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct exchange x;
    char url[64];
    to_nginx(&x, false, "/ok");
    snprintf(url, sizeof url, "https://127.0.0.1:%d/", nginx.http);
    curl_easy_setopt(x.easy, CURLOPT_URL, url);
    curl_easy_setopt(x.easy, CURLOPT_POSTFIELDS, "pay=1");
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts),
                     CURLE_SSL_CONNECT_ERROR);
    assert_true(x.result.last.not_processed); /* nothing was sent */
    exchange_done(&x);
    bide_dep_free(dep);
}

/* Over TLS and HTTP/2, all on one connection. */
static void nginx_over_http2_works_as_well(void **state)
{
    (void)state;
    enum { N = 50 };
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    static struct exchange x[N];
    bide_curl_multi *m = NULL;
    assert_int_equal(bide_curl_multi_new(&m), 0);
    for (int i = 0; i < N; i++) {
        to_nginx(&x[i], true, i % 2 ? "/s/503,200;body=fine"
                                    : "/s/reset,503,200;body=fine");
        trust(&x[i]);
        curl_easy_setopt(x[i].easy, CURLOPT_PIPEWAIT, 1L);
        bide_curl_multi_add(m, dep, x[i].easy, &x[i].opts, NULL, NULL);
    }
    assert_int_equal(bide_curl_multi_run(m, BIDE_FOREVER), 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(x[i].result.reason, BIDE_BECAUSE_SUCCESS);
        assert_int_equal(x[i].result.attempts, i % 2 ? 2 : 3);
        assert_int_equal(strncmp(x[i].head, "HTTP/2 200", 10), 0);
        assert_string_equal(x[i].body, "fine");
        exchange_done(&x[i]);
    }
    bide_curl_multi_free(m);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nginx_answers),
        cmocka_unit_test(nginx_failing_upstream_is_retried),
        cmocka_unit_test(nginx_limiting_lets_all_through_in_time),
        cmocka_unit_test(nginx_with_a_bad_certificate_is_not_tried_again),
        cmocka_unit_test(nginx_plain_http_to_a_tls_port_and_back),
        cmocka_unit_test(nginx_over_http2_works_as_well),
    };
    return cmocka_run_group_tests(tests, start_both, stop_both);
}
