/* fields.c: the keys of the `proxy:` section. They fill the structs of conf.h;
 * the defaults are those of its INIT macros. */
#include "config/field/rows.h"
#include "config/proxy/address.h"
#include "config/proxy/read.h"

/* ===== routes ===== */

#define S struct bide__proxy_match
static const struct bide__field match_fields[] = {
    { "host", AT(host),
      TAKES_TEXT("the name of a host without a port, or `*.` and a domain"),
      .fits = bide__fits_match_host,
      .hint = "write `api.example.org` or `*.example.org`",
      .help = "The requested host, case-insensitive, with or without a "
              "trailing dot; `*.example.org` is any host below it." },
    { "path", AT(path), TAKES_TEXT("a path that begins with `/`"),
      .fits = bide__fits_path, .pattern = "^/[^ ?#]*$",
      .hint = "write a path as it is sent, as in `/pay/`, without a query",
      .help = "What the path begins with, as it was sent; or in normal form, "
              "as `paths` says." },
    { "exact", AT(exact), TAKES_TEXT("a path that begins with `/`"),
      .fits = bide__fits_path, .pattern = "^/[^ ?#]*$",
      .hint = "write a path as it is sent, as in `/pay`, without a query",
      .help = "The path, without its query; not together with `path`." },
    { "method", AT(method), TAKES_TEXT("a method in capital letters"),
      .fits = bide__fits_method,
      .hint = "methods are case-sensitive: write capitals, as in `POST`",
      .help = "The method." },
    { "grpc", AT(grpc),
      TAKES_TEXT("the name of a gRPC service, or of a method of one"),
      .fits = bide__fits_grpc, .pattern = "^[A-Za-z0-9_.]+(/[A-Za-z0-9_]+)?$",
      .hint = "write `shop.Cart` or `shop.Cart/Add`",
      .help = "gRPC calls of this service, or of this method; not together "
              "with `path` or `exact`." },
    { "header", AT(header), TAKES_TEXT("the name of a header field"),
      .fits = bide__fits_token,
      .hint = "write the name alone, as in `X-Canary`",
      .help = "A field of this name is there." },
    { "value", AT(value), TAKES_TEXT("text"),
      .help = "... and has this value, exactly." },
    LAST
};
#undef S
static const struct bide__table match_table = {
    .fields = match_fields, .check = bide__check_match
};

#define S struct bide__proxy_route
static const struct bide__field route_fields[] = {
    { "match", AT(match), TAKES_MAP(match_table),
      .hint = "write `match: { path: /pay/ }`",
      .help = "Which requests; all conditions must be true. Without it, all "
              "requests." },
    { "upstream", AT(upstream), TAKES_TEXT("the name of an upstream"),
      .required = true, .read = bide__read_upstream, .size = sizeof(size_t),
      .help = "Where they go." },
    { "policy", AT(policy_name), TAKES_TEXT("the name of a policy"),
      .read = bide__read_policy, .fallback = "default",
      .help = "The policy for them." },
    { "fallback", AT(fallback), TAKES_MAP(bide__proxy_fallback_table),
      .hint = "write `fallback: { status: 503, body: \"try later\" }`",
      .help = "What to respond with when the policy gives up: another "
              "upstream, a stale copy, a static response; the first that is "
              "set and available." },
    { "fault", AT(fault), TAKES_MAP(bide__proxy_fault_table),
      .hint = "write `fault: { abort: 503, share: 10% }`",
      .help = "Fault injection: for trusted clients that send `X-Bide-Fault: "
              "on`, and while the admin endpoint has it turned on." },
    { "priority", AT(priority), TAKES_MAP(bide__proxy_priority_table),
      .hint = "write `priority: { header: Priority }`",
      .help = "Which requests go first when places in flight are short." },
    { "idempotent", AT(idempotent), TAKES_FLAG,
      .help = "Every request of this route may be sent twice, whatever its "
              "method: a POST that only reads, gRPC calls. Not to be confused "
              "with `idempotency`, which sees to it that one is done once." },
    { "idempotency", AT(idempotency),
      TAKES_MAP(bide__proxy_idempotency_table),
      .hint = "write `idempotency: { accept: required }`",
      .help = "One effect for each `Idempotency-Key`: repeats get the answer "
              "of the first." },
    LAST
};
#undef S
static const struct bide__proxy_route route_init = BIDE__PROXY_ROUTE_INIT;
static const struct bide__table route_table = {
    .fields = route_fields,
    .size = sizeof(struct bide__proxy_route),
    .init = &route_init,
    .check = bide__check_route,
};

/* ===== clients ===== */

#define S struct bide__proxy_per_client
static const struct bide__field per_client_fields[] = {
    { "connections", AT(connections),
      TAKES_COUNT_OR(1, 1000000, "none", UINT32_MAX),
      .help = "Open at once; over it, 503 `client_connections`." },
    { "requests", AT(requests_per_s),
      TAKES_OVER_OR(RATE, 0, 1000000, "none", 0, "a rate over 0"),
      .help = "Requests, of which a second's worth may come at once; over it, "
              "429 `client_rate`." },
    { "handshakes", AT(handshakes_per_s),
      TAKES_OVER_OR(RATE, 0, 1000000, "none", 0, "a rate over 0"),
      .help = "Handshakes of TLS; over it, the connection is closed before "
              "one." },
    LAST
};
#undef S
static const struct bide__table per_client_table = {
    .fields = per_client_fields
};

#define S struct bide__proxy_limits
static const struct bide__field limit_fields[] = {
    { "connections", AT(connections), TAKES_COUNT(1, 1000000),
      .help = "Connections of clients, all workers together; over it, 503." },
    { "headers", AT(headers), TAKES_COUNT(8, 256),
      .help = "Fields of a head." },
    { "header_bytes", AT(header_bytes),
      TAKES_SIZE(KiB, 64 * KiB - 1, "a size from 1KiB to 65535"),
      .fixed = true,
      .help = "A head, of either side." },
    { "body_bytes", AT(body_bytes), TAKES_SIZE_OR("none", 0, "a size"),
      .help = "The body of a request; over it, 413." },
    { "replay", AT(replay_bytes), TAKES_SIZE_UP_TO(16, MiB),
      .help = "How much of a body is kept to send it again; a longer one is "
              "sent once." },
    { "memory", AT(memory_bytes),
      TAKES_SIZE_OR("none", MiB, "a size from 1MiB"),
      .help = "Requests that are being read or kept, all workers together; "
              "over it, 503. Answers for slow clients may take half of it." },
    { "body_rate", AT(body_rate),
      TAKES_SIZE(0, 4294967295.0, "bytes a second; 0 for any rate"),
      .help = "Bytes a second that the body of a request must keep up, on "
              "average, after `timeouts.body`; below it, 408." },
    { "answer_rate", AT(answer_rate),
      TAKES_SIZE(0, 4294967295.0, "bytes a second; 0 for any rate"),
      .help = "Bytes a second that a client must read of an answer, on "
              "average, after `timeouts.write`, while it holds a connection "
              "to an endpoint; below it, the answer is cut off." },
    { "answer_buffer", AT(answer_buffer_bytes), TAKES_SIZE_UP_TO(16, MiB),
      .help = "How much of an answer is kept for a client that reads slowly, "
              "so that it holds no connection to an endpoint." },
    { "per_client", AT(per_client), TAKES_MAP(per_client_table),
      .hint = "write `per_client: { requests: 50/s }`",
      .help = "What each client address may have, all workers together; of "
              "IPv6, each /64. Clients that are trusted are not limited." },
    { "stale", AT(stale_bytes), TAKES_SIZE_FROM(64, KiB, 1, GiB),
      .help = "Copies of answers that routes with `fallback.stale` keep, all "
              "workers together; those not used for longest give way." },
    { "stale_answer", AT(stale_answer_bytes),
      TAKES_SIZE_FROM(1, KiB, 16, MiB) ", not over a quarter of stale",
      .help = "The largest answer of which a copy is kept." },
    LAST
};
#undef S

#define S struct bide__proxy_http2
static const struct bide__field http2_fields[] = {
    { "streams", AT(streams), TAKES_COUNT(1, 10000),
      .help = "Requests of a connection at once, also those that the client "
              "has cancelled and that are not over yet; over it, "
              "REFUSED_STREAM." },
    { "window", AT(window_bytes), TAKES_SIZE_FROM(16, KiB, 1, MiB),
      .help = "How much of a body may arrive before any of it is read." },
    { "connection_window", AT(connection_window_bytes),
      TAKES_SIZE_FROM(64, KiB, 16, MiB),
      .help = "The same of all bodies of a connection that are under way." },
    { "resets", AT(resets), TAKES_COUNT(10, 1000000),
      .help = "Requests that a client may cancel before they are answered, in "
              "a burst, and then a tenth of that a second; over it, the "
              "connection is closed." },
    { "errors", AT(errors), TAKES_COUNT(1, 1000000),
      .help = "Requests a minute that may break the protocol, one by one; over "
              "it, the connection is closed." },
    { "control", AT(control), TAKES_COUNT(10, 1000000),
      .help = "Frames that carry nothing (PING, SETTINGS, PRIORITY, empty DATA, "
              "WINDOW_UPDATE that is not due), in a burst, and then a fifth of "
              "that a second; over it, the connection is closed." },
    LAST
};
#undef S

#define S struct bide__proxy_timeouts
static const struct bide__field timeout_fields[] = {
    { "header", AT(header_ns), TAKES_DURATION_OVER_0,
      .help = "From the first byte of a head to its last." },
    { "body", AT(body_ns), TAKES_DURATION_OVER_0,
      .help = "How far a client may fall behind `limits.body_rate` with a "
              "request's body." },
    { "idle", AT(idle_ns), TAKES_DURATION_OVER_0,
      .help = "Between two requests of a client." },
    { "write", AT(write_ns), TAKES_DURATION_OVER_0,
      .help = "A client takes no byte of its answer." },
    { "tunnel", AT(tunnel_ns), TAKES_DURATION_OVER_0,
      .help = "An upgraded connection is silent." },
    { "request", AT(request_ns),
      TAKES_DURATION_OVER_0_OR("none", BIDE_FOREVER),
      .help = "From the first byte of a request to the last of its answer." },
    { "drain", AT(drain_ns), TAKES_DURATION,
      .help = "From SIGTERM to the end." },
    LAST
};
#undef S

#define S struct bide__proxy_forwarded
static const char *const forwarded_for[] = { "off", "append", "replace", NULL };
static const struct bide__field forwarded_fields[] = {
    { "for", AT(address),
      TAKES_CHOICE(forwarded_for, "off, append or replace"),
      .help = "What becomes of X-Forwarded-For: the client's address is "
              "added, or stands alone." },
    { "proto", AT(proto), TAKES_FLAG, .help = "X-Forwarded-Proto." },
    { "host", AT(host), TAKES_FLAG, .help = "X-Forwarded-Host." },
    { "via", AT(via), TAKES_FLAG, .help = "Via, both ways." },
    { "keep_host", AT(keep_host), TAKES_FLAG,
      .help = "Host as the client sent it; otherwise that of the endpoint." },
    LAST
};
#undef S

#define S struct bide__proxy_headers
static const struct bide__field header_fields[] = {
    { "bide", AT(bide), TAKES_FLAG,
      .help = "`X-Bide-*`: to endpoints who owns the retries and the time "
              "that is left, in `baggage` as well; to clients attempts, reason "
              "and `X-Bide-Retry`. Off, for endpoints of third parties: then "
              "no layer below knows that this one retries." },
    { "underscores", AT(underscores), TAKES_FLAG,
      .help = "Fields of requests whose name has an underscore. Many servers "
              "take `X_Forwarded_For` for `X-Forwarded-For`: such fields are "
              "dropped, and no route sees them. `Proxy` is always dropped." },
    LAST
};
#undef S

#define S struct bide__proxy_pair
static const struct bide__field pair_fields[] = {
    { "certificate", AT(certificate), TAKES_FILE, .required = true,
      .hint = "add `certificate: FILE`",
      .help = "Certificate and chain, PEM." },
    { "key", AT(key), TAKES_FILE, .required = true,
      .hint = "add `key: FILE`",
      .help = "Its key, PEM." },
    LAST
};
#undef S
static const struct bide__proxy_pair pair_init = { NULL, NULL };
static const struct bide__table pair_table = {
    .fields = pair_fields,
    .size = sizeof(struct bide__proxy_pair),
    .init = &pair_init,
};

#define S struct bide__proxy_server_tls
static const struct bide__field server_tls_fields[] = {
    { "certificate", AT(certificate), TAKES_FILE,
      .help = "Certificate and chain, PEM." },
    { "key", AT(key), TAKES_FILE, .help = "Its key, PEM." },
    { "certificates", AT(certificates),
      TAKES_AS(BIDE__LIST_OF, "a list of certificates and keys"),
      .most = 1000,
      .table = &pair_table,
      .n_offset = offsetof(S, n_certificates),
      .hint = "write `certificates: [{ certificate: FILE, key: FILE }]`",
      .help = "Further certificates, each for the names in its "
              "subjectAltName, which clients ask for by SNI. Who asks for "
              "another name gets the first." },
    { "client_ca", AT(client_ca), TAKES_FILE,
      .help = "Authorities that clients' certificates may be from, PEM." },
    { "client_certificate", AT(client_required),
      TAKES_TEXT("none, optional or required"),
      .read = bide__read_clients,
      .size = sizeof(bool),
      .pattern = "^(none|optional|required)$",
      .fallback = "none",
      .help = "Whether clients are asked for a certificate; required, where "
              "`client_ca` is set." },
    { "forward_client", AT(forward_client), TAKES_FLAG,
      .help = "Tells endpoints what the client's certificate says, by "
              "X-Forwarded-Client-Cert: hash, subject, URI and DNS names." },
    LAST
};
#undef S

static const struct bide__table limit_table = {
    .fields = limit_fields, .check = bide__check_limits
};
static const struct bide__table http2_table = {
    .fields = http2_fields
};
static const struct bide__table timeout_table = {
    .fields = timeout_fields
};
static const struct bide__table forwarded_table = {
    .fields = forwarded_fields
};
#define S struct bide__proxy_grpc
static const struct bide__field grpc_fields[] = {
    { "hold", AT(hold_ns),
      TAKES(DURATION, 0, 10 * NS_s, "a duration up to 10s"),
      .help = "How long the head of a response waits for its first message or "
              "its status, once the request is complete: a call that fails "
              "meanwhile can be retried." },
    LAST
};
#undef S
static const struct bide__table grpc_table = {
    .fields = grpc_fields
};
static const struct bide__table header_table = {
    .fields = header_fields
};
static const struct bide__table server_tls_table = {
    .fields = server_tls_fields, .check = bide__check_server_tls
};

/* ===== the whole value ===== */

#define S       struct bide__proxy_conf
static const char *const proxy_protocol[] = { "off", "accept", NULL };
#define ADDRESS "^(.+:[0-9]+|unix:/.+)$"
#define ACCOUNT "^([A-Za-z_][^:,/ \\t]*|[0-9]+)$"
static const char *const paths[] = { "as_sent", "normalize", NULL };
static const char *const access_formats[] = { "json", "common", "combined",
                                              NULL };
static const char *const request_ids[] = { "pass", "generate", NULL };
static const struct bide__field proxy_fields[] = {
    { "listen", AT(listen),
      TAKES_AS(BIDE__TEXTS, "an address and a port, or a list of them"),
      .most = 64, .item = bide__read_address,
      .size = sizeof(struct bide__proxy_address),
      .n_offset = offsetof(S, n_listen), .pattern = ADDRESS,
      .hint = "write `127.0.0.1:8080`",
      .help = "Where requests come in: `127.0.0.1:8080`, `[::1]:8080`, "
              "`*:8080`, `unix:/run/bide.sock`. Not needed where systemd "
              "passes sockets." },
    { "reuse_port", AT(reuse_port), TAKES_FLAG,
      .help = "Listens even where another process of the same user does; the "
              "kernel distributes connections between the two." },
    { "admin", AT(admin), TAKES_TEXT("an address and a port"),
      .item = bide__read_address, .size = sizeof(struct bide__proxy_address),
      .fixed = true, .pattern = ADDRESS, .hint = "write `127.0.0.1:9901`",
      .help = "Where the admin endpoint is: metrics, health, the dashboard." },
    { "admin_access", AT(admin_access), TAKES_MAP(bide__proxy_admin_table),
      .hint = "write `admin_access: { token: \"...\" }`", .fixed = true,
      .help = "Who may use the admin endpoint." },
    { "telemetry", AT(telemetry), TAKES_MAP(bide__proxy_telemetry_table),
      .fixed = true, .help = "What is exported: traces, metrics, decisions." },
    { "workers", AT(workers), TAKES_COUNT_OR(1, 1024, "auto", 0),
      .help = "Threads; auto is one for each core." },
    { "routes", AT(routes), TAKES_AS(BIDE__LIST_OF, "a list of routes"),
      .required = true, .most = 10000, .table = &route_table,
      .n_offset = offsetof(S, n_routes),
      .hint = "add `routes: [{ upstream: NAME }]`",
      .help = "The first that matches counts." },
    { "upstreams", AT(upstreams),
      TAKES_AS(BIDE__MAP_OF, "a map of names and upstreams"), .required = true,
      .most = 10000, .table = &bide__proxy_upstream_table,
      .n_offset = offsetof(S, n_upstreams),
      .hint = "add `upstreams: { NAME: { endpoints: [\"http://...\"] } }`",
      .help = "Services, by name." },
    { "limits", AT(limits), TAKES_MAP(limit_table),
      .help = "Limits on clients." },
    { "http2", AT(http2), TAKES_MAP(http2_table),
      .hint = "write `http2: { streams: 100 }`",
      .help = "Limits on each connection that speaks HTTP/2." },
    { "timeouts", AT(timeouts), TAKES_MAP(timeout_table),
      .help = "How long clients may take." },
    { "forwarded", AT(forwarded), TAKES_MAP(forwarded_table),
      .help = "What endpoints learn about the client. Fields of these names "
              "from clients that are not trusted are dropped." },
    { "headers", AT(headers), TAKES_MAP(header_table),
      .help = "Which header fields are passed on and added." },
    { "grpc", AT(grpc), TAKES_MAP(grpc_table), .help = "gRPC." },
    { "paths", AT(paths), TAKES_CHOICE(paths, "as_sent or normalize"),
      .help = "Whether paths are brought into their normal form (RFC 3986) "
              "before routes and endpoints see them: `//pay/`, `/%70ay/` and "
              "`/./pay/` become `/pay/`. What has no normal form is refused, "
              "400." },
    { "trusted", AT(trusted),
      TAKES_AS(BIDE__TEXTS, "a list of addresses and networks"), .most = 1000,
      .item = bide__read_net, .size = sizeof(struct bide__proxy_net),
      .n_offset = offsetof(S, n_trusted),
      .hint = "write `trusted: [127.0.0.1, 10.0.0.0/8]`",
      .help = "Clients whose overrides by header count, and who have no "
              "limits `per_client`." },
    { "proxy_protocol", AT(proxy_protocol),
      TAKES_CHOICE(proxy_protocol, "off or accept"),
      .help = "Whether senders in `trusted` begin with a header of the PROXY "
              "protocol, version 1 or 2, that says who the client is. With "
              "accept they must, and nobody else may." },
    { "access_log", AT(access_log), TAKES_TEXT(BIDE__LOG_EXPECTED),
      .read = bide__read_log, .pattern = BIDE__LOG_PATTERN, .fallback = "off",
      .help = "Where a line for each request goes; `syslog` is /dev/log, and "
              "`syslog:PATH` another socket." },
    { "access_log_format", AT(access_log_format),
      TAKES_CHOICE(access_formats, "json, common or combined"),
      .help = "How such a line is written: as JSON, or in the common log "
              "format of web servers; `combined` adds Referer and "
              "User-Agent." },
    { "request_id", AT(request_id),
      TAKES_CHOICE(request_ids, "pass or generate"),
      .help = "What becomes of X-Request-Id: passed on as it came; or a "
              "request without one gets one, which its endpoint and the logs "
              "see." },
    { "tls", AT(tls), TAKES_MAP(server_tls_table),
      .hint = "write `tls: { certificate: FILE, key: FILE }`",
      .help = "Towards clients, wherever we listen." },
    { "supervise", AT(supervise), TAKES_FLAG, .fixed = true,
      .help = "A small process of its own holds the sockets, and starts the "
              "serving process again if it dies." },
    { "sandbox", AT(sandbox), TAKES_FLAG, .fixed = true,
      .help = "The kernel refuses the serving process what serving does not "
              "need." },
    { "user", AT(user), TAKES_TEXT("the name or number of a user"),
      .fits = bide__fits_account, .pattern = ACCOUNT,
      .hint = "write `user: bide`", .fixed = true,
      .help = "Who the serving process becomes once it listens; only where it "
              "is started as root." },
    { "group", AT(group), TAKES_TEXT("the name or number of a group"),
      .fits = bide__fits_account, .pattern = ACCOUNT,
      .hint = "write `group: bide`", .fixed = true,
      .help = "Its group; without it, that of `user`." },
    LAST
};
#undef S

static const struct bide__proxy_conf proxy_init = BIDE__PROXY_CONF_INIT;
const struct bide__table bide__proxy_table = {
    .fields = proxy_fields,
    .size = sizeof(struct bide__proxy_conf),
    .init = &proxy_init,
    .check = bide__check_proxy,
};
