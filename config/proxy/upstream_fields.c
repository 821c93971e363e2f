/* upstream_fields.c: the keys of one upstream of the sidecar. */
#include "config/field/rows.h"
#include "config/proxy/address.h"
#include "config/proxy/read.h"

#define S struct bide__proxy_upstream
static const struct bide__field pool_fields[] = {
    { "connections", AT(connections), TAKES_COUNT(1, 1000000),
      .help = "Connections to each endpoint, all workers together; what needs "
              "more waits." },
    { "idle", AT(idle), TAKES_COUNT_UP_TO(1000000) ", not over connections",
      .help = "Connections to each endpoint that are kept open unused." },
    { "idle_timeout", AT(idle_timeout_ns), TAKES_DURATION_OVER_0,
      .help = "How long an unused connection is kept." },
    { "connecting", AT(connecting),
      TAKES_COUNT(1, 1000000) ", not over connections",
      .help = "Connection attempts to each endpoint at once, so that one that "
              "comes back is not overrun." },
    { "connect_timeout", AT(connect_timeout_ns), TAKES_DURATION_OVER_0,
      .help = "How long a connection attempt may take, TLS included." },
    { "max_age", AT(max_age_ns), TAKES_DURATION_OVER_0_OR("none", BIDE_FOREVER),
      .help = "How old a connection may get, a tenth more or less; then it is "
              "renewed, when what it carries has ended." },
    LAST
};
#undef S

#define S struct bide__ejection
static const struct bide__field ejection_fields[] = {
    { "consecutive", AT(consecutive),
      TAKES_COUNT_UP_TO(1000000) "; 0 is never",
      .help = "Failures in a row that take an endpoint out." },
    { "failure_rate", AT(failure_rate),
      TAKES_OVER(RATIO, 0, 1, "a ratio over 0, up to 100%"),
      .help = "The share of failures that takes an endpoint out, over 10 s "
              "and 20 attempts at least." },
    { "open", AT(open_ns), TAKES_DURATION_FROM(1, ms, 1, h),
      .help = "How long it stays out." },
    { "max_ejected", AT(max_ejected), TAKES(RATIO, 0, 1, "a ratio up to 100%"),
      .help = "The share of the endpoints that may be out at once; the last "
              "one never is." },
    LAST
};
#undef S

#define S struct bide__proxy_health
static const struct bide__field health_fields[] = {
    { "path", AT(path), TAKES_TEXT("a path that begins with `/`"),
      .fits = bide__fits_target, .pattern = "^/[^ #]*$",
      .hint = "write `/healthz`, or with a query `/healthz?full=1`",
      .help = "What to ask for, with a query if need be; without it, nothing "
              "is asked." },
    { "grpc", AT(grpc), TAKES_TEXT("the name of a gRPC service"),
      .fits = bide__fits_service, .pattern = "^([*]|[A-Za-z0-9_.]{1,120})$",
      .hint = "write `shop.Cart`, or `\"*\"` for the server as a whole",
      .help = "Instead of a path: the service whose health is asked for "
              "(`grpc.health.v1.Health/Check`), `*` for the server as a "
              "whole; only SERVING is a success." },
    { "host", AT(host), TAKES_TEXT("the name of a host"),
      .fits = bide__fits_host,
      .help = "The Host field; without it, that of the endpoint." },
    { "every", AT(every_ns), TAKES_DURATION_FROM(100, ms, 1, h),
      .help = "From one check to the next." },
    { "timeout", AT(timeout_ns),
      TAKES_DURATION_FROM(1, ms, 1, h) ", not over every",
      .help = "How long a check may take." },
    { "unhealthy", AT(unhealthy), TAKES_COUNT(1, 100),
      .help = "Failures in a row that put an endpoint out." },
    { "healthy", AT(healthy), TAKES_COUNT(1, 100),
      .help = "Successes in a row that bring it back." },
    { "status", AT(status_min),
      TAKES_TEXT("a status, or a range such as `200-299`"),
      .read = bide__read_answers, .size = 2 * sizeof(uint16_t),
      .pattern = "^[1-5][0-9][0-9](-[1-5][0-9][0-9])?$", .fallback = "200-299",
      .help = "The statuses that are a success." },
    LAST
};
#undef S

#define S struct bide__proxy_client_tls
static const struct bide__field client_tls_fields[] = {
    { "ca", AT(ca), TAKES_FILE,
      .help = "Authorities that endpoints' certificates may be from, PEM; "
              "without it, those of the system." },
    { "certificate", AT(certificate), TAKES_FILE,
      .help = "Our own certificate, PEM." },
    { "key", AT(key), TAKES_FILE, .help = "Its key, PEM." },
    { "server_name", AT(server_name), TAKES_TEXT("the name of a host"),
      .fits = bide__fits_host,
      .help = "What endpoints' certificates must be for, and what they are "
              "asked for (SNI); without it, the host of the URL." },
    { "verify", AT(verify), TAKES_FLAG,
      .help = "Check endpoints' certificates." },
    LAST
};
#undef S

static const struct bide__table pool_table = {
    .fields = pool_fields, .check = bide__check_pool
};
const struct bide__table bide__ejection_table = {
    .fields = ejection_fields
};
static const struct bide__table health_table = {
    .fields = health_fields, .check = bide__check_health
};
static const struct bide__table client_tls_table = {
    .fields = client_tls_fields, .check = bide__check_pair
};

#define S struct bide__proxy_upstream
static const char *const proxy_tells[] = { "off", "v1", "v2", NULL };
static const char *const protocols[] = { "auto", "http1", "http2", NULL };
static const struct bide__field upstream_fields[] = {
    { "endpoints", AT(endpoints),
      TAKES_AS(BIDE__TEXTS, "a list of URLs of hosts"), .required = true,
      .most = BIDE__PROXY_MAX_ENDPOINTS,
      .item = bide__read_endpoint,
      .size = sizeof(struct bide__proxy_endpoint),
      .n_offset = offsetof(S, n_endpoints),
      .pattern = "^https?://[^/?#]+/?$",
      .hint = "write `endpoints: [\"https://10.0.0.1:8443\"]`",
      .help = "The servers." },
    { "pool", 0, TAKES_MAP(pool_table),
      .help = "Connections to each endpoint." },
    { "ejection", AT(ejection), TAKES_MAP(bide__ejection_table),
      .help = "Taking endpoints out that fail." },
    { "protocol", AT(protocol),
      TAKES_CHOICE(protocols, "auto, http1 or http2"),
      .help = "What endpoints speak. auto: over TLS what both sides prefer "
              "(ALPN); without, gRPC goes by HTTP/2 and all else by "
              "HTTP/1.1." },
    { "proxy_protocol", AT(proxy_protocol),
      TAKES_CHOICE(proxy_tells, "off, v1 or v2"),
      .help = "Begins each connection with a header of the PROXY protocol "
              "that says who the client is. A connection is then used for one "
              "connection of a client only." },
    { "slow_start", AT(slow_start_ns), TAKES_DURATION,
      .help = "How long the share of an endpoint grows after its return." },
    { "body_timeout", AT(body_timeout_ns), TAKES_DURATION_OVER_0,
      .help = "No byte of a response's body for so long breaks it off." },
    { "resolve", AT(resolve_ns), TAKES_DURATION_FROM(100, ms, 1, h),
      .help = "How often the names of endpoints are looked up again." },
    { "health", AT(health), TAKES_MAP(health_table),
      .hint = "write `health: { path: /healthz }`",
      .help = "Asking each endpoint now and then." },
    { "tls", AT(tls), TAKES_MAP(client_tls_table),
      .help = "Towards endpoints that are https://." },
    LAST
};
static const struct bide__proxy_upstream upstream_init =
    BIDE__PROXY_UPSTREAM_INIT;
const struct bide__table bide__proxy_upstream_table = {
    .fields = upstream_fields,
    .size = sizeof(struct bide__proxy_upstream),
    .init = &upstream_init,
    .name_offset = offsetof(struct bide__proxy_upstream, name),
};
#undef S
