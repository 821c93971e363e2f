/* fields.c: the keys of the sidecar's section, each once. What they fill is
 * conf.h; the defaults are what its INIT macros hold. */
#include "config/proxy/read.h"
#include "config/field/section_rows.h"

/* ===== routes ===== */

#define S struct bide__proxy_match
static const struct bide__section_field match_fields[] = {
    { NAMED("host", AT(host),
            "the name of a host without a port, or `*.` and a domain",
            "The host that is asked for, in any case of letters, with or "
            "without a dot at its end; `*.example.org` is any below that."),
      .kind = BIDE__TEXT,
      .fits = bide__fits_match_host,
      .hint = "write `api.example.org` or `*.example.org`" },
    { NAMED("path", AT(path), "a path that begins with `/`",
            "What the path begins with, as it was sent; or in normal form, as "
            "`paths` says."),
      .kind = BIDE__TEXT,
      .fits = bide__fits_path,
      .pattern = "^/[^ ?#]*$",
      .hint = "write a path as it is sent, as in `/pay/`, without a query" },
    { NAMED("exact", AT(exact), "a path that begins with `/`",
            "The path, without its query; not together with `path`."),
      .kind = BIDE__TEXT,
      .fits = bide__fits_path,
      .pattern = "^/[^ ?#]*$",
      .hint = "write a path as it is sent, as in `/pay`, without a query" },
    { NAMED("method", AT(method), "a method in capital letters",
            "The method."),
      .kind = BIDE__TEXT,
      .fits = bide__fits_method,
      .hint = "methods are told apart by case: write capitals, as in `POST`" },
    { NAMED("header", AT(header), "the name of a header field",
            "A field of this name is there."),
      .kind = BIDE__TEXT,
      .fits = bide__fits_token,
      .hint = "write the name alone, as in `X-Canary`" },
    { NAMED("value", AT(value), "text", "... and has this value, exactly."),
      .kind = BIDE__TEXT },
    LAST
};
#undef S
static const struct bide__section_table match_table = {
    .fields = match_fields, .check = bide__check_match
};

#define S struct bide__proxy_route
static const struct bide__section_field route_fields[] = {
    { NAMED("match", AT(match), "a map",
            "Which requests; all that is said must be true. Without it, all."),
      .kind = BIDE__FIELDS,
      .table = &match_table,
      .hint = "write `match: { path: /pay/ }`" },
    { NAMED("upstream", AT(upstream), "the name of an upstream",
            "Where they go."),
      .kind = BIDE__TEXT,
      .required = true,
      .read = bide__read_upstream },
    { NAMED("policy", AT(policy_name), "the name of a policy",
            "The policy they are run by."),
      .kind = BIDE__TEXT,
      .read = bide__read_policy,
      .fallback = "default" },
    { NAMED("fallback", AT(fallback), "a map",
            "What is answered when the policy gives up: another upstream, a "
            "stale copy, a static answer; the first that is set and has one."),
      .kind = BIDE__FIELDS,
      .table = &bide__proxy_fallback_table,
      .hint = "write `fallback: { status: 503, body: \"try later\" }`" },
    { NAMED("fault", AT(fault), "a map",
            "Failures made on purpose: for trusted clients that send "
            "`X-Bide-Fault: on`, and while the admin endpoint has them on."),
      .kind = BIDE__FIELDS,
      .table = &bide__proxy_fault_table,
      .hint = "write `fault: { abort: 503, share: 10% }`" },
    { NAMED("priority", AT(priority), "a map",
            "Which requests go first when places in flight are short."),
      .kind = BIDE__FIELDS,
      .table = &bide__proxy_priority_table,
      .hint = "write `priority: { header: Priority }`" },
    LAST
};
#undef S
static const struct bide__proxy_route route_init = BIDE__PROXY_ROUTE_INIT;
static const struct bide__section_table route_table = {
    .fields = route_fields,
    .size = sizeof(struct bide__proxy_route),
    .init = &route_init,
    .check = bide__check_route,
};

/* ===== clients ===== */

/* A rate, or none. */
#define RATE(key, member, help)                                                \
    {                                                                          \
        .o = { key, BIDE_OPTION_RATE, AT(member), 0, 1e6, true, "none", 0,     \
               NULL, "a rate over 0, or none", help },                         \
        .kind = BIDE__VALUE,                                                   \
    }

#define S struct bide__proxy_per_client
static const struct bide__section_field per_client_fields[] = {
    { .o = { "connections", BIDE_OPTION_COUNT, AT(connections), 1, 1e6, false,
             "none", UINT32_MAX, NULL, "a count from 1 to 1000000, or none",
             "Open at once; over it, 503 `client_connections`." },
      .kind = BIDE__VALUE },
    RATE("requests", requests_per_s,
         "Requests, of which a second's worth may come at once; over it, 429 "
         "`client_rate`."),
    RATE("handshakes", handshakes_per_s,
         "Handshakes of TLS; over it, the connection is closed before one."),
    LAST
};
#undef S
static const struct bide__section_table per_client_table = {
    .fields = per_client_fields
};

#define S struct bide__proxy_limits
static const struct bide__section_field limit_fields[] = {
    VALUE("connections", COUNT, connections, 1, 1e6, false,
          "a count from 1 to 1000000",
          "Connections of clients, all workers together; over it, 503."),
    VALUE("headers", COUNT, headers, 8, 256, false, "a count from 8 to 256",
          "Fields of a head."),
    SIZE("header_bytes", header_bytes, KIB, 64 * KIB - 1, NULL,
         "a size from 1KiB to 65535", "A head, of either side."),
    SIZE("body_bytes", body_bytes, 0, 9223372036854775807.0, "none",
         "a size, or none", "The body of a request; over it, 413."),
    SIZE("replay", replay_bytes, 0, 16 * MIB, NULL, "a size up to 16MiB",
         "How much of a body is kept to send it again; a longer one is sent "
         "once."),
    SIZE("memory", memory_bytes, MIB, 9223372036854775807.0, "none",
         "a size from 1MiB, or none",
         "Requests that are being read or kept, all workers together; over it, "
         "503. Answers for slow clients may take half of it."),
    SIZE("body_rate", body_rate, 0, 4294967295.0, NULL,
         "bytes a second; 0 for any rate",
         "Bytes a second that the body of a request must keep up, on average, "
         "after `timeouts.body`; below it, 408."),
    SIZE("answer_rate", answer_rate, 0, 4294967295.0, NULL,
         "bytes a second; 0 for any rate",
         "Bytes a second that a client must read of an answer, on average, "
         "after `timeouts.write`, while it holds a connection to an endpoint; "
         "below it, the answer is cut off."),
    SIZE("answer_buffer", answer_buffer_bytes, 0, 16 * MIB, NULL,
         "a size up to 16MiB",
         "How much of an answer is kept for a client that reads slowly, so that "
         "it holds no connection to an endpoint."),
    { NAMED("per_client", AT(per_client), "a map",
            "What each client address may have, all workers together; of IPv6, "
            "each /64. Clients that are trusted are not limited."),
      .kind = BIDE__FIELDS,
      .table = &per_client_table,
      .hint = "write `per_client: { requests: 50/s }`" },
    SIZE("stale", stale_bytes, 64 * KIB, 1024 * MIB, NULL,
         "a size from 64KiB to 1GiB",
         "Copies of answers that routes with `fallback.stale` keep, all workers "
         "together; those not used for longest give way."),
    SIZE("stale_answer", stale_answer_bytes, KIB, 16 * MIB, NULL,
         "a size from 1KiB to 16MiB, not over a quarter of stale",
         "The largest answer of which a copy is kept."),
    LAST
};
#undef S

#define S struct bide__proxy_timeouts
static const struct bide__section_field timeout_fields[] = {
    TIME("header", header_ns, "a duration over 0",
         "From the first byte of a head to its last."),
    TIME("body", body_ns, "a duration over 0",
         "How far a client may fall behind `limits.body_rate` with a request's "
         "body."),
    TIME("idle", idle_ns, "a duration over 0",
         "Between two requests of a client."),
    TIME("write", write_ns, "a duration over 0",
         "A client takes no byte of its answer."),
    TIME("tunnel", tunnel_ns, "a duration over 0",
         "An upgraded connection is silent."),
    { .o = { "request", BIDE_OPTION_DURATION, AT(request_ns), 0, MAX_NS, true,
             "none", BIDE_FOREVER, NULL, "a duration over 0, or none",
             "From the first byte of a request to the last of its answer." },
      .kind = BIDE__VALUE },
    VALUE("drain", DURATION, drain_ns, 0, MAX_NS, false, "a duration",
          "From SIGTERM to the end."),
    LAST
};
#undef S

#define S struct bide__proxy_forwarded
static const char *const forwarded_for[] = { "off", "append", "replace", NULL };
static const struct bide__section_field forwarded_fields[] = {
    { .o = { "for", BIDE_OPTION_CHOICE, AT(address), 0, 0, false, NULL, 0,
             forwarded_for, "off, append or replace",
             "What becomes of X-Forwarded-For: the client's address is added, "
             "or stands alone." },
      .kind = BIDE__VALUE },
    FLAG("proto", proto, "X-Forwarded-Proto."),
    FLAG("host", host, "X-Forwarded-Host."),
    FLAG("via", via, "Via, both ways."),
    FLAG("keep_host", keep_host,
         "Host as the client sent it; otherwise that of the endpoint."),
    LAST
};
#undef S

#define S struct bide__proxy_headers
static const struct bide__section_field header_fields[] = {
    FLAG("bide", bide,
         "`X-Bide-*`: to endpoints the attempt and the time that is left, to "
         "clients attempts, reason and `X-Bide-Retry`. Without them a bide "
         "above or below cannot tell a retry from a first attempt."),
    FLAG("underscores", underscores,
         "Fields of requests whose name has an underscore. Many servers take "
         "`X_Forwarded_For` for `X-Forwarded-For`: such fields are dropped, "
         "and no route sees them. `Proxy` is always dropped."),
    LAST
};
#undef S

#define S struct bide__proxy_pair
static const struct bide__section_field pair_fields[] = {
    { NAMED("certificate", AT(certificate), "the name of a file",
            "Certificate and chain, PEM."),
      .kind = BIDE__TEXT,
      .required = true,
      .hint = "add `certificate: FILE`" },
    { NAMED("key", AT(key), "the name of a file", "Its key, PEM."),
      .kind = BIDE__TEXT,
      .required = true,
      .hint = "add `key: FILE`" },
    LAST
};
#undef S
static const struct bide__proxy_pair pair_init = { NULL, NULL };
static const struct bide__section_table pair_table = {
    .fields = pair_fields,
    .size = sizeof(struct bide__proxy_pair),
    .init = &pair_init,
};

#define S struct bide__proxy_server_tls
static const struct bide__section_field server_tls_fields[] = {
    FILE_ROW("certificate", certificate, "Certificate and chain, PEM."),
    FILE_ROW("key", key, "Its key, PEM."),
    { NAMED("certificates", AT(certificates), "a list of certificates and keys",
            "Further certificates, each for the names in its subjectAltName, "
            "which clients ask for by SNI. Who asks for another name gets the "
            "first."),
      .kind = BIDE__LIST_OF,
      .most = 1000,
      .table = &pair_table,
      .n_offset = AT(n_certificates),
      .hint = "write `certificates: [{ certificate: FILE, key: FILE }]`" },
    FILE_ROW("client_ca", client_ca,
             "Authorities that clients' certificates may be from, PEM."),
    { NAMED("client_certificate", AT(client_required),
            "none, optional or required",
            "Whether clients are asked for a certificate; required, where "
            "`client_ca` is set."),
      .kind = BIDE__TEXT,
      .read = bide__read_clients,
      .pattern = "^(none|optional|required)$",
      .fallback = "none" },
    FLAG("forward_client", forward_client,
         "Tells endpoints what the client's certificate says, by "
         "X-Forwarded-Client-Cert: hash, subject, URI and DNS names."),
    LAST
};
#undef S

static const struct bide__section_table limit_table = {
    .fields = limit_fields, .check = bide__check_limits
};
static const struct bide__section_table timeout_table = {
    .fields = timeout_fields
};
static const struct bide__section_table forwarded_table = {
    .fields = forwarded_fields
};
static const struct bide__section_table header_table = {
    .fields = header_fields
};
static const struct bide__section_table server_tls_table = {
    .fields = server_tls_fields, .check = bide__check_server_tls
};

/* ===== the whole ===== */

#define S       struct bide__proxy_conf
static const char *const proxy_protocol[] = { "off", "accept", NULL };
#define ADDRESS "^(.+:[0-9]+|unix:/.+)$"
#define ACCOUNT "^([A-Za-z_][^:,/ \\t]*|[0-9]+)$"
static const char *const paths[] = { "as_sent", "normalize", NULL };
static const char *const access_formats[] = { "json", "common", "combined",
                                              NULL };
static const char *const request_ids[] = { "pass", "generate", NULL };
static const struct bide__section_field proxy_fields[] = {
    { NAMED("listen", AT(listen), "an address and a port, or a list of them",
            "Where requests come in: `127.0.0.1:8080`, `[::1]:8080`, `*:8080`, "
            "`unix:/run/bide.sock`. Not needed where systemd passes sockets."),
      .kind = BIDE__TEXTS,
      .most = 64,
      .read = bide__read_listen,
      .pattern = ADDRESS,
      .hint = "write `127.0.0.1:8080`" },
    FLAG("reuse_port", reuse_port,
         "Listens even where another process of the same user does; the kernel "
         "shares connections out between the two."),
    { NAMED("admin", AT(admin), "an address and a port",
            "Where the admin endpoint is: metrics, health, the dashboard."),
      .kind = BIDE__TEXT,
      .read = bide__read_admin,
      .pattern = ADDRESS,
      .hint = "write `127.0.0.1:9901`" },
    { NAMED("admin_access", AT(admin_access), "a map",
            "Who may use the admin endpoint."),
      .kind = BIDE__FIELDS,
      .table = &bide__proxy_admin_table,
      .hint = "write `admin_access: { token: \"...\" }`" },
    { NAMED("telemetry", AT(telemetry), "a map",
            "What is told without being asked for: traces, metrics, "
            "decisions."),
      .kind = BIDE__FIELDS,
      .table = &bide__proxy_telemetry_table },
    { .o = { "workers", BIDE_OPTION_COUNT, AT(workers), 1, 1024, false, "auto",
             0, NULL, "a count from 1 to 1024, or auto",
             "Threads; auto is one for each core." },
      .kind = BIDE__VALUE },
    { NAMED("routes", AT(routes), "a list of routes",
            "The first that matches counts."),
      .kind = BIDE__LIST_OF,
      .required = true,
      .most = 10000,
      .table = &route_table,
      .n_offset = AT(n_routes),
      .hint = "add `routes: [{ upstream: NAME }]`" },
    { NAMED("upstreams", AT(upstreams), "a map of names and upstreams",
            "Services, by name."),
      .kind = BIDE__MAP_OF,
      .required = true,
      .most = 10000,
      .table = &bide__proxy_upstream_table,
      .n_offset = AT(n_upstreams),
      .hint = "add `upstreams: { NAME: { endpoints: [\"http://...\"] } }`" },
    { NAMED("limits", AT(limits), "a map", "What clients may ask of us."),
      .kind = BIDE__FIELDS,
      .table = &limit_table },
    { NAMED("timeouts", AT(timeouts), "a map", "How long clients may take."),
      .kind = BIDE__FIELDS,
      .table = &timeout_table },
    { NAMED("forwarded", AT(forwarded), "a map",
            "What endpoints are told about the client. Fields of these names "
            "from clients who are not trusted are dropped."),
      .kind = BIDE__FIELDS,
      .table = &forwarded_table },
    { NAMED("headers", AT(headers), "a map",
            "Which header fields are passed on and added."),
      .kind = BIDE__FIELDS,
      .table = &header_table },
    { .o = { "paths", BIDE_OPTION_CHOICE, AT(paths), 0, 0, false, NULL, 0, paths,
             "as_sent or normalize",
             "Whether paths are brought into their normal form (RFC 3986) "
             "before routes and endpoints see them: `//pay/`, `/%70ay/` and "
             "`/./pay/` become `/pay/`. What has no normal form is refused, "
             "400." },
      .kind = BIDE__VALUE },
    { NAMED("trusted", AT(trusted), "a list of addresses and networks",
            "Clients whose overrides by header count, and who have no limits "
            "`per_client`."),
      .kind = BIDE__TEXTS,
      .most = 1000,
      .read = bide__read_trusted,
      .hint = "write `trusted: [127.0.0.1, 10.0.0.0/8]`" },
    { .o = { "proxy_protocol", BIDE_OPTION_CHOICE, AT(proxy_protocol), 0, 0,
             false, NULL, 0, proxy_protocol, "off or accept",
             "Whether senders in `trusted` begin with a header of the PROXY "
             "protocol, version 1 or 2, that says who the client is. With "
             "accept they must, and nobody else may." },
      .kind = BIDE__VALUE },
    { NAMED("access_log", AT(access_log),
            BIDE__LOG_EXPECTED,
            "Where a line for each request goes; `syslog` is /dev/log, and "
            "`syslog:PATH` another socket."),
      .kind = BIDE__TEXT,
      .read = bide__read_log,
      .pattern = BIDE__LOG_PATTERN,
      .fallback = "off" },
    { .o = { "access_log_format", BIDE_OPTION_CHOICE, AT(access_log_format), 0,
             0, false, NULL, 0, access_formats, "json, common or combined",
             "How such a line is written: as JSON, or in the common log format "
             "of web servers; `combined` adds Referer and User-Agent." },
      .kind = BIDE__VALUE },
    { .o = { "request_id", BIDE_OPTION_CHOICE, AT(request_id), 0, 0, false,
             NULL, 0, request_ids, "pass or generate",
             "What becomes of X-Request-Id: passed on as it came; or a request "
             "without one gets one, which its endpoint and the logs see." },
      .kind = BIDE__VALUE },
    { NAMED("tls", AT(tls), "a map", "Towards clients, wherever we listen."),
      .kind = BIDE__FIELDS,
      .table = &server_tls_table,
      .hint = "write `tls: { certificate: FILE, key: FILE }`" },
    FLAG("supervise", supervise,
         "A small process of its own holds the sockets, and starts the serving "
         "process again if it dies."),
    FLAG("sandbox", sandbox,
         "The kernel refuses the serving process what serving does not need."),
    { NAMED("user", AT(user), "the name or number of a user",
            "Who the serving process becomes once it listens; only where it "
            "is started as root."),
      .kind = BIDE__TEXT,
      .fits = bide__fits_account,
      .pattern = ACCOUNT,
      .hint = "write `user: bide`" },
    { NAMED("group", AT(group), "the name or number of a group",
            "Its group; without it, that of `user`."),
      .kind = BIDE__TEXT,
      .fits = bide__fits_account,
      .pattern = ACCOUNT,
      .hint = "write `group: bide`" },
    LAST
};
#undef S

static const struct bide__proxy_conf proxy_init = BIDE__PROXY_CONF_INIT;
const struct bide__section_table bide__proxy_table = {
    .fields = proxy_fields,
    .size = sizeof(struct bide__proxy_conf),
    .init = &proxy_init,
    .check = bide__check_proxy,
};
