/* test_proxy_conf.c: what the section of the sidecar comes to. What is wrong
 * with it is shown by test/golden/check. */
#include "findings.h"

#include "config/field/size.h"
#include "config/field/text.h"
#include "config/proxy/conf.h"
#include "config/proxy/read.h"

#define HEAD                                                                   \
    "version: 1\n"                                                             \
    "policies: { default: { attempts: 2 }, pay: { attempts: 3 } }\n"           \
    "proxy:\n"
#define ROUTES                                                                 \
    "  routes: [{ upstream: a }]\n"                                            \
    "  upstreams: { a: { endpoints: http://a } }\n"

static void proxy_absent_is_null(void **state)
{
    bide_config *config = must_parse("version: 1\npolicies: { a: {} }\n");

    (void)state;
    assert_null(bide__config_proxy(config));
    assert_null(bide__config_proxy(NULL));
    bide_config_free(config);
}

/* All values of a table, as text. */
static void must_be_same(const struct bide__table *table, const void *a,
                         const void *b, size_t *ret_seen)
{
    for (const struct bide__field *f = table->fields; f->key; f++) {
        char one[64], other[64];

        if (f->type == BIDE__FIELDS)
            must_be_same(f->table, (const char *)a + f->offset,
                         (const char *)b + f->offset, ret_seen);
        if (f->type > BIDE__SIZE)
            continue;
        assert_string_equal(bide__field_text(f, a, one, sizeof one),
                            bide__field_text(f, b, other, sizeof other));
        ++*ret_seen;
    }
}

/* What is not written is what the INIT macros hold. */
static void proxy_defaults_are_those_of_the_header(void **state)
{
    bide_config *config = must_parse(HEAD ROUTES);
    const struct bide__proxy_conf *p = bide__config_proxy(config);
    const struct bide__proxy_conf want = BIDE__PROXY_CONF_INIT;
    const struct bide__proxy_upstream upstream = BIDE__PROXY_UPSTREAM_INIT;
    size_t seen = 0;

    (void)state;
    must_be_same(&bide__proxy_table, p, &want, &seen);
    must_be_same(&bide__proxy_upstream_table, p->upstreams, &upstream, &seen);
    assert_true(seen > 30);
    assert_int_equal(p->n_listen, 0);
    assert_int_equal(p->n_trusted, 0);
    assert_null(p->admin);
    assert_null(p->access_log);
    assert_null(p->tls.certificate);
    assert_int_equal(p->n_upstreams, 1);
    assert_string_equal(p->upstreams[0].name, "a");
    assert_null(p->upstreams[0].health.path);
    assert_null(p->upstreams[0].health.grpc);
    assert_int_equal(p->upstreams[0].health.status_min, 200);
    assert_int_equal(p->upstreams[0].health.status_max, 299);
    bide_config_free(config);
}

static void check_address(const struct bide__proxy_address *a, const char *host,
                          const char *path, unsigned port)
{
    assert_int_equal(a->port, port);
    assert_true((a->host == NULL) == (host == NULL));
    if (host)
        assert_string_equal(a->host, host);
    assert_true((a->path == NULL) == (path == NULL));
    if (path)
        assert_string_equal(a->path, path);
}

static void proxy_addresses(void **state)
{
    bide_config *config = must_parse(
        HEAD "  listen: [127.0.0.1:8080, \"[::1]:0\", \"*:65535\",\n"
             "           unix:/run/a:b]\n"
             "  admin: 127.0.0.2:1\n"
             "  access_log: stdout\n"
             "  workers: 3\n"
             "  trusted: [10.0.0.0/8, \"fd00::/9\", 1.2.3.4, \"::1\", "
             "0.0.0.0/0]\n" ROUTES);
    const struct bide__proxy_conf *p = bide__config_proxy(config);

    (void)state;
    assert_int_equal(p->n_listen, 4);
    check_address(&p->listen[0], "127.0.0.1", NULL, 8080);
    assert_string_equal(p->listen[0].text, "127.0.0.1:8080");
    check_address(&p->listen[1], "::1", NULL, 0);
    check_address(&p->listen[2], "*", NULL, 65535);
    check_address(&p->listen[3], NULL, "/run/a:b", 0);
    check_address(p->admin, "127.0.0.2", NULL, 1);
    assert_string_equal(p->access_log, "stdout");
    assert_int_equal(p->workers, 3);
    assert_int_equal(p->n_trusted, 5);
    assert_memory_equal(p->trusted[0].bytes, "\x0a\0\0\0", 4);
    assert_int_equal(p->trusted[0].len, 4);
    assert_int_equal(p->trusted[0].bits, 8);
    assert_int_equal(p->trusted[1].len, 16);
    assert_int_equal(p->trusted[1].bits, 9);
    assert_int_equal(p->trusted[2].bits, 32);
    assert_int_equal(p->trusted[3].bits, 128);
    assert_int_equal(p->trusted[3].bytes[15], 1);
    assert_int_equal(p->trusted[4].bits, 0);
    bide_config_free(config);
}

/* Routes may come before the upstreams that they name. */
static void proxy_routes(void **state)
{
    bide_config *config = must_parse(
        HEAD "  routes:\n"
             "    - { match: { path: /b/, host: B.org }, upstream: b, policy: "
             "pay }\n"
             "    - { match: { exact: /c, method: PUT, header: X, value: 1 },\n"
             "        upstream: a }\n"
             "  upstreams: { a: { endpoints: http://a },\n"
             "               b: { endpoints: http://b } }\n");
    const struct bide__proxy_conf *p = bide__config_proxy(config);

    (void)state;
    assert_int_equal(p->n_routes, 2);
    assert_int_equal(p->routes[0].upstream, 1);
    assert_string_equal(p->routes[0].policy_name, "pay");
    assert_ptr_equal(p->routes[0].policy, bide_config_policy(config, "pay"));
    assert_string_equal(p->routes[0].match.path, "/b/");
    assert_string_equal(p->routes[0].match.host, "B.org");
    assert_null(p->routes[0].match.exact);
    assert_null(p->routes[0].match.method);
    assert_null(p->routes[0].match.header);
    assert_int_equal(p->routes[1].upstream, 0);
    assert_string_equal(p->routes[1].policy_name, "default");
    assert_int_equal(p->routes[1].policy->attempts, 2);
    assert_string_equal(p->routes[1].match.exact, "/c");
    assert_string_equal(p->routes[1].match.method, "PUT");
    assert_string_equal(p->routes[1].match.header, "X");
    assert_string_equal(p->routes[1].match.value, "1");
    bide_config_free(config);
}

static void proxy_route_without_any_default_has_the_defaults(void **state)
{
    bide_config *config =
        must_parse("version: 1\npolicies: { x: { attempts: 9 } }\n"
                   "proxy:\n" ROUTES);
    const struct bide__proxy_conf *p = bide__config_proxy(config);
    bide_policy_conf init = BIDE_POLICY_CONF_INIT;

    (void)state;
    assert_string_equal(p->routes[0].policy_name, "default");
    assert_int_equal(p->routes[0].policy->attempts, init.attempts);
    bide_config_free(config);
}

static void check_endpoint(const struct bide__proxy_endpoint *e,
                           const char *url, const char *host, unsigned port,
                           bool tls)
{
    assert_string_equal(e->url, url);
    assert_string_equal(e->host, host);
    assert_int_equal(e->port, port);
    assert_int_equal(e->tls, tls);
}

static void proxy_upstreams(void **state)
{
    bide_config *config = must_parse(
        HEAD "  routes: [{ upstream: a }]\n"
             "  upstreams:\n"
             "    a:\n"
             "      endpoints: [http://a, \"https://[::1]\", https://b:8443/]\n"
             "      pool: { connections: 10, idle_timeout: 1s,\n"
             "              connect_timeout: 2s }\n"
             "      ejection: { consecutive: 0, failure_rate: 25%, open: 3s,\n"
             "                  max_ejected: 10% }\n"
             "      slow_start: 4s\n"
             "      body_timeout: 5s\n"
             "      resolve: 6s\n"
             "      health: { path: /h, host: x, every: 200ms, unhealthy: 7,\n"
             "                healthy: 8, status: 204 }\n"
             "      tls: { ca: f, certificate: c, key: k, server_name: n,\n"
             "             verify: false }\n");
    const struct bide__proxy_upstream *u =
        bide__config_proxy(config)->upstreams;

    (void)state;
    assert_int_equal(u->n_endpoints, 3);
    check_endpoint(&u->endpoints[0], "http://a", "a", 80, false);
    check_endpoint(&u->endpoints[1], "https://[::1]", "::1", 443, true);
    check_endpoint(&u->endpoints[2], "https://b:8443/", "b", 8443, true);
    assert_int_equal(u->connections, 10);
    assert_int_equal(u->idle, 10); /* the defaults give way */
    assert_int_equal(u->connecting, 10);
    assert_true(u->idle_timeout_ns == BIDE_SECOND);
    assert_true(u->connect_timeout_ns == 2 * BIDE_SECOND);
    assert_int_equal(u->ejection.consecutive, 0);
    assert_true(u->ejection.failure_rate == 0.25 &&
                u->ejection.max_ejected == 0.1);
    assert_true(u->ejection.open_ns == 3 * BIDE_SECOND);
    assert_true(u->slow_start_ns == 4 * BIDE_SECOND);
    assert_true(u->body_timeout_ns == 5 * BIDE_SECOND);
    assert_true(u->resolve_ns == 6 * BIDE_SECOND);
    assert_string_equal(u->health.path, "/h");
    assert_string_equal(u->health.host, "x");
    assert_true(u->health.every_ns == 200 * BIDE_MILLISECOND);
    assert_true(u->health.timeout_ns == 200 * BIDE_MILLISECOND);
    assert_int_equal(u->health.unhealthy, 7);
    assert_int_equal(u->health.healthy, 8);
    assert_int_equal(u->health.status_min, 204);
    assert_int_equal(u->health.status_max, 204);
    assert_string_equal(u->tls.ca, "f");
    assert_string_equal(u->tls.certificate, "c");
    assert_string_equal(u->tls.key, "k");
    assert_string_equal(u->tls.server_name, "n");
    assert_false(u->tls.verify);
    bide_config_free(config);
}

static void proxy_clients(void **state)
{
    bide_config *config = must_parse(
        HEAD "  limits: { connections: 1, headers: 8, header_bytes: 2KiB,\n"
             "            body_bytes: 3GiB, replay: 1MiB }\n"
             "  timeouts: { header: 1s, body: 2s, idle: 3s, write: 4s,\n"
             "              tunnel: 5s, drain: 0 }\n"
             "  forwarded: { for: off, proto: false, host: true, via: false,\n"
             "               keep_host: false }\n"
             "  http2: { streams: 7, window: 32KiB, connection_window: 2MiB,\n"
             "           resets: 10, errors: 11, control: 12 }\n"
             "  tls: { certificate: c, key: k }\n" ROUTES);
    const struct bide__proxy_conf *p = bide__config_proxy(config);

    (void)state;
    assert_int_equal(p->http2.streams, 7);
    assert_int_equal(p->http2.window_bytes, 32 << 10);
    assert_int_equal(p->http2.connection_window_bytes, 2 << 20);
    assert_int_equal(p->http2.resets, 10);
    assert_int_equal(p->http2.errors, 11);
    assert_int_equal(p->http2.control, 12);
    assert_int_equal(p->limits.connections, 1);
    assert_int_equal(p->limits.headers, 8);
    assert_int_equal(p->limits.header_bytes, 2048);
    assert_true(p->limits.body_bytes == UINT64_C(3) << 30);
    assert_int_equal(p->limits.replay_bytes, 1 << 20);
    assert_true(p->timeouts.header_ns == BIDE_SECOND);
    assert_true(p->timeouts.body_ns == 2 * BIDE_SECOND);
    assert_true(p->timeouts.idle_ns == 3 * BIDE_SECOND);
    assert_true(p->timeouts.write_ns == 4 * BIDE_SECOND);
    assert_true(p->timeouts.tunnel_ns == 5 * BIDE_SECOND);
    assert_true(p->timeouts.drain_ns == 0);
    assert_int_equal(p->forwarded.address, BIDE__FORWARDED_OFF);
    assert_false(p->forwarded.proto || p->forwarded.via);
    assert_true(p->forwarded.host && !p->forwarded.keep_host);
    assert_string_equal(p->tls.certificate, "c");
    assert_string_equal(p->tls.key, "k");
    assert_null(p->tls.client_ca);
    assert_false(p->tls.client_required);
    bide_config_free(config);
}

static void proxy_client_certificates(void **state)
{
    static const struct {
        const char *more;
        bool required;
    } rows[] = {
        { "", true }, /* who names authorities wants to see certificates */
        { ", client_certificate: required", true },
        { ", client_certificate: optional", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        bide_config *config;

        snprintf(text, sizeof text,
                 HEAD
                 "  tls: { certificate: c, key: k, client_ca: a%s }\n" ROUTES,
                 rows[i].more);
        config = must_parse(text);
        assert_int_equal(bide__config_proxy(config)->tls.client_required,
                         rows[i].required);
        bide_config_free(config);
    }
}

static void proxy_of_json_is_the_same(void **state)
{
    static const char text[] =
        "{\"version\": 1, \"policies\": {\"default\": {}}, \"proxy\":"
        " {\"listen\": \"127.0.0.1:80\", \"workers\": 2, \"limits\":"
        " {\"replay\": 1024, \"body_bytes\": \"none\"}, \"routes\":"
        " [{\"upstream\": \"a\"}], \"upstreams\": {\"a\": {\"endpoints\":"
        " [\"http://a\"], \"health\": {\"path\": \"/\", \"status\": 200}}}}}";
    bide_config *config = NULL;

    (void)state;
    assert_int_equal(
        parse_exactly(&config, "t.json", text, sizeof text - 1, NULL), 0);
    assert_int_equal(bide__config_proxy(config)->workers, 2);
    assert_int_equal(bide__config_proxy(config)->limits.replay_bytes, 1024);
    bide_config_free(config);
}

/* Too many of something: refused, whatever else is in the file. */
static void proxy_lists_are_bounded(void **state)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    bide_config *config = NULL;
    char text[4096] = HEAD "  routes: [{ upstream: a }]\n"
                           "  upstreams: { a: { endpoints: [";

    (void)state;
    for (int i = 0; i < 65; i++)
        sprintf(text + strlen(text), "http://a%d, ", i);
    strcat(text, "] } }\n");
    assert_int_equal(
        bide_config_parse(&config, "t.yaml", text, strlen(text), notes),
        BIDE_EPARSE);
    assert_true(has_finding(notes, "out-of-range", 5, 21));
    assert_int_equal(bide_diagnostics_size(notes), 1);
    bide_diagnostics_free(notes);
}

static void sizes_read_and_written(void **state)
{
    static const struct {
        const char *text;
        uint64_t want;
        const char *back;
    } rows[] = {
        { "0", 0, "0" },
        { "1000", 1000, "1000" },
        { "1024", 1024, "1KiB" },
        { "64KiB", 65536, "64KiB" },
        { "1536KiB", 1536 << 10, "1536KiB" },
        { "16MiB", 16 << 20, "16MiB" },
        { "2GiB", UINT64_C(2) << 30, "2GiB" },
        { "99999999999999GiB", UINT64_MAX, NULL },
    };
    static const char *const wrong[] = { "",       "KiB",   "1KB", "-1",
                                         "1.5MiB", "1 KiB", "x" };
    uint64_t bytes;
    char buffer[64];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(
            bide__parse_size(rows[i].text, strlen(rows[i].text), &bytes), 0);
        assert_true(bytes == rows[i].want);
        if (rows[i].back)
            assert_string_equal(bide__format_size(bytes, buffer, sizeof buffer),
                                rows[i].back);
    }
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(bide__parse_size(wrong[i], strlen(wrong[i]), &bytes),
                         BIDE_EPARSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proxy_absent_is_null),
        cmocka_unit_test(proxy_defaults_are_those_of_the_header),
        cmocka_unit_test(proxy_addresses),
        cmocka_unit_test(proxy_routes),
        cmocka_unit_test(proxy_route_without_any_default_has_the_defaults),
        cmocka_unit_test(proxy_upstreams),
        cmocka_unit_test(proxy_clients),
        cmocka_unit_test(proxy_client_certificates),
        cmocka_unit_test(proxy_of_json_is_the_same),
        cmocka_unit_test(proxy_lists_are_bounded),
        cmocka_unit_test(sizes_read_and_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
