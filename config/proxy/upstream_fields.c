/* upstream_fields.c: the keys of one upstream of the sidecar. */
#include "config/proxy/read.h"
#include "config/field/section_rows.h"

#define S struct bide__proxy_upstream
static const struct bide__section_field pool_fields[] = {
    VALUE("connections", COUNT, connections, 1, 1e6, false,
          "a count from 1 to 1000000",
          "Connections to each endpoint, all workers together; what needs more "
          "waits."),
    VALUE("idle", COUNT, idle, 0, 1e6, false,
          "a count up to 1000000, not over connections",
          "Connections to each endpoint that are kept open unused."),
    TIME("idle_timeout", idle_timeout_ns, "a duration over 0",
         "How long an unused connection is kept."),
    VALUE("connecting", COUNT, connecting, 1, 1e6, false,
          "a count from 1 to 1000000, not over connections",
          "Connection attempts to each endpoint at once, so that one that comes "
          "back is not overrun."),
    TIME("connect_timeout", connect_timeout_ns, "a duration over 0",
         "How long a connection attempt may take, TLS included."),
    LAST
};
static const struct bide__section_field ejection_fields[] = {
    VALUE("consecutive", COUNT, consecutive, 0, 1e6, false,
          "a count up to 1000000; 0 is never",
          "Failures in a row that take an endpoint out."),
    VALUE("failure_rate", RATIO, failure_rate, 0, 1, true,
          "a ratio over 0, up to 100%",
          "The share of failures that takes an endpoint out, over 10 s and 20 "
          "attempts at least."),
    VALUE("open", DURATION, open_ns, MS, HOUR, false,
          "a duration from 1ms to 1h", "How long it stays out."),
    VALUE("max_ejected", RATIO, max_ejected, 0, 1, false,
          "a ratio up to 100%",
          "The share of the endpoints that may be out at once; the last one "
          "never is."),
    LAST
};
#undef S

#define S struct bide__proxy_health
static const struct bide__section_field health_fields[] = {
    { NAMED("path", AT(path), "a path that begins with `/`",
            "What to ask for; without it, nothing is asked."),
      .kind = BIDE__TEXT,
      .fits = bide__fits_path,
      .pattern = "^/[^ ?#]*$",
      .hint = "write `/healthz`" },
    { NAMED("host", AT(host), "the name of a host",
            "The Host field; without it, that of the endpoint."),
      .kind = BIDE__TEXT,
      .fits = bide__fits_host },
    VALUE("every", DURATION, every_ns, 100 * MS, HOUR, false,
          "a duration from 100ms to 1h", "From one check to the next."),
    VALUE("timeout", DURATION, timeout_ns, MS, HOUR, false,
          "a duration from 1ms to 1h, not over every",
          "How long a check may take."),
    VALUE("unhealthy", COUNT, unhealthy, 1, 100, false,
          "a count from 1 to 100",
          "Failures in a row that put an endpoint out."),
    VALUE("healthy", COUNT, healthy, 1, 100, false, "a count from 1 to 100",
          "Successes in a row that bring it back."),
    { NAMED("status", AT(status_min), "a status, or a range such as `200-299`",
            "The statuses that are a success."),
      .kind = BIDE__TEXT,
      .read = bide__read_answers,
      .pattern = "^[1-5][0-9][0-9](-[1-5][0-9][0-9])?$",
      .fallback = "200-299" },
    LAST
};
#undef S

#define S struct bide__proxy_client_tls
static const struct bide__section_field client_tls_fields[] = {
    FILE_ROW("ca", ca,
             "Authorities that endpoints' certificates may be from, PEM; "
             "without it, those of the system."),
    FILE_ROW("certificate", certificate, "Our own certificate, PEM."),
    FILE_ROW("key", key, "Its key, PEM."),
    { NAMED("server_name", AT(server_name), "the name of a host",
            "What endpoints' certificates must be for, and what they are asked "
            "for (SNI); without it, the host of the URL."),
      .kind = BIDE__TEXT,
      .fits = bide__fits_host },
    FLAG("verify", verify, "Check endpoints' certificates."),
    LAST
};
#undef S

static const struct bide__section_table pool_table = {
    .fields = pool_fields, .check = bide__check_pool
};
static const struct bide__section_table ejection_table = {
    .fields = ejection_fields
};
static const struct bide__section_table health_table = {
    .fields = health_fields, .check = bide__check_health
};
static const struct bide__section_table client_tls_table = {
    .fields = client_tls_fields, .check = bide__check_pair
};

#define S struct bide__proxy_upstream
static const char *const proxy_tells[] = { "off", "v1", "v2", NULL };
static const struct bide__section_field upstream_fields[] = {
    { NAMED("endpoints", AT(endpoints), "a list of URLs of hosts",
            "The servers."),
      .kind = BIDE__TEXTS,
      .required = true,
      .most = 64,
      .read = bide__read_endpoints,
      .pattern = "^https?://[^/?#]+/?$",
      .hint = "write `endpoints: [\"https://10.0.0.1:8443\"]`" },
    { NAMED("pool", 0, "a map", "Connections to each endpoint."),
      .kind = BIDE__FIELDS,
      .table = &pool_table },
    { NAMED("ejection", 0, "a map", "Taking endpoints out that fail."),
      .kind = BIDE__FIELDS,
      .table = &ejection_table },
    { .o = { "proxy_protocol", BIDE_OPTION_CHOICE, AT(proxy_protocol), 0, 0,
             false, NULL, 0, proxy_tells, "off, v1 or v2",
             "Begins each connection with a header of the PROXY protocol that "
             "says who the client is. A connection is then used for one "
             "connection of a client only." },
      .kind = BIDE__VALUE },
    VALUE("slow_start", DURATION, slow_start_ns, 0, MAX_NS, false, "a duration",
          "How long the share of an endpoint grows after its return."),
    TIME("body_timeout", body_timeout_ns, "a duration over 0",
         "No byte of a response's body for so long breaks it off."),
    VALUE("resolve", DURATION, resolve_ns, 100 * MS, HOUR, false,
          "a duration from 100ms to 1h",
          "How often the names of endpoints are looked up again."),
    { NAMED("health", AT(health), "a map",
            "Asking each endpoint now and then."),
      .kind = BIDE__FIELDS,
      .table = &health_table,
      .hint = "write `health: { path: /healthz }`" },
    { NAMED("tls", AT(tls), "a map", "Towards endpoints that are https://."),
      .kind = BIDE__FIELDS,
      .table = &client_tls_table },
    LAST
};
static const struct bide__proxy_upstream upstream_init =
    BIDE__PROXY_UPSTREAM_INIT;
const struct bide__section_table bide__proxy_upstream_table = {
    .fields = upstream_fields,
    .size = sizeof(struct bide__proxy_upstream),
    .init = &upstream_init,
    .name_offset = offsetof(struct bide__proxy_upstream, name),
};
#undef S
