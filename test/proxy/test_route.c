/* Which route takes a request: rows of routes and requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/http1/head.h"
#include "proxy/exchange/route.h"
#include "proxy/generation.h" /* observe/ has one too */

static const struct bide__proxy_route confs[] = {
    { .match = { .exact = "/exact" } },
    { .match = { .path = "/pay/", .method = "POST" } },
    { .match = { .path = "/pay/" } },
    { .match = { .host = "api.example.org", .path = "/v1" } },
    { .match = { .host = "*.example.org" } },
    { .match = { .header = "X-Canary", .value = "1" } },
    { .match = { .header = "X-Any" } },
    { .match = { .header = "Accept" } }, /* one that the parser knows */
    { .match = { .header = "Proxy" } },  /* never looked at */
    { .match = { .header = "X_U" } },
    { .match = { .header = "Upgrade", .value = "websocket" } },
    { .match = { .header = "TE" } }, /* never passed on */
    { .match = { .host = "dotted.example." } },
};

enum { N = sizeof confs / sizeof confs[0], NONE = -1 };

static int route_of(const char *request, bool underscores)
{
    const struct bide__proxy_headers headers = { .underscores = underscores };
    struct route routes[N];
    struct generation s = { .routes = routes, .n_routes = N };
    struct http1_field fields[HTTP1_FIELDS];
    struct http1_head head;

    for (int i = 0; i < N; i++)
        route_init(&routes[i], &confs[i], &headers, NULL);
    http1_request_init(&head, fields, HTTP1_FIELDS, HTTP1_HEAD_BYTES);
    assert_true(http1_parse(&head, request, strlen(request)) > 0);
    const struct route *r = route_find(&s, &head, request);
    return r ? (int)(r - routes) : NONE;
}

static void route_first_that_matches_counts(void **unused)
{
    static const struct {
        const char *request;
        int route;
    } rows[] = {
        { "GET /exact HTTP/1.1\r\nHost: x\r\n\r\n", 0 },
        { "GET /exact?q=1 HTTP/1.1\r\nHost: x\r\n\r\n", 0 },
        { "GET /exact/ HTTP/1.1\r\nHost: x\r\n\r\n", NONE },
        { "POST /pay/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 1 },
        { "GET /pay/ HTTP/1.1\r\nHost: x\r\n\r\n", 2 },
        { "GET /pay HTTP/1.1\r\nHost: x\r\n\r\n", NONE },
        { "GET /PAY/ HTTP/1.1\r\nHost: x\r\n\r\n", NONE },
        { "GET /%70ay/ HTTP/1.1\r\nHost: x\r\n\r\n", NONE },
        { "GET /v1x HTTP/1.1\r\nHost: API.example.ORG:8080\r\n\r\n", 3 },
        { "GET / HTTP/1.1\r\nHost: www.example.org\r\n\r\n", 4 },
        { "GET /v1 HTTP/1.1\r\nHost: api.example.org.\r\n\r\n", 3 },
        { "GET /v1 HTTP/1.1\r\nHost: api.example.org.:80\r\n\r\n", 3 },
        { "GET / HTTP/1.1\r\nHost: www.example.org.\r\n\r\n", 4 },
        { "GET / HTTP/1.1\r\nHost: www.example.org..\r\n\r\n", NONE },
        { "GET / HTTP/1.1\r\nHost: dotted.example\r\n\r\n", 12 },
        { "GET / HTTP/1.1\r\nHost: dotted.example.\r\n\r\n", 12 },
        { "GET / HTTP/1.1\r\nHost: .\r\n\r\n", NONE },
        { "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", NONE },
        { "GET / HTTP/1.1\r\nHost: notexample.org\r\n\r\n", NONE },
        { "GET http://a.example.org/ HTTP/1.1\r\nHost: x\r\n\r\n", 4 },
        { "GET http://a.example.org HTTP/1.1\r\nHost: x\r\n\r\n", 4 },
        { "GET / HTTP/1.1\r\nHost: x\r\nx-canary: 1\r\n\r\n", 5 },
        { "GET / HTTP/1.1\r\nHost: x\r\nX-Canary: 11\r\n\r\n", NONE },
        { "GET / HTTP/1.1\r\nHost: x\r\nX-Canary: 0\r\nX-Canary: 1\r\n\r\n",
          5 },
        { "GET / HTTP/1.1\r\nHost: x\r\nX-Any:\r\n\r\n", 6 },
        { "GET / HTTP/1.1\r\nHost: x\r\nACCEPT: a\r\n\r\n", 7 },
        { "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", NONE },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (route_of(rows[i].request, false) != rows[i].route)
            fail_msg("route %d, not %d: %s", route_of(rows[i].request, false),
                     rows[i].route, rows[i].request);
}

static void route_dropped_fields_match_nothing(void **unused)
{
    static const char proxy[] = "GET / HTTP/1.1\r\nHost: x\r\nProxy: p\r\n\r\n";
    static const char under[] = "GET / HTTP/1.1\r\nHost: x\r\nx_U: 1\r\n\r\n";
    static const char hop[] = "GET / HTTP/1.1\r\nHost: x\r\nX-Any: 1\r\n"
                              "Connection: x-any\r\n\r\n";
    static const char te[] = "GET / HTTP/1.1\r\nHost: x\r\n"
                             "TE: trailers\r\n\r\n";
    static const char upgrade[] = "GET / HTTP/1.1\r\nHost: x\r\n"
                                  "Connection: upgrade\r\n"
                                  "Upgrade: websocket\r\n\r\n";
    (void)unused;
    assert_int_equal(route_of(proxy, false), NONE);
    assert_int_equal(route_of(proxy, true), NONE);
    assert_int_equal(route_of(under, false), NONE);
    assert_int_equal(route_of(under, true), 9);
    assert_int_equal(route_of(hop, true), NONE);
    assert_int_equal(route_of(te, true), NONE);
    assert_int_equal(route_of(upgrade, true), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(route_first_that_matches_counts),
        cmocka_unit_test(route_dropped_fields_match_nothing),
    };
    return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}
