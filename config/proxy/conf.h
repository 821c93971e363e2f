/* The `proxy:` section of a policy file, read and checked: plain numbers and
 * strings, nothing that is open or running.
 *
 *   proxy:
 *     listen: [127.0.0.1:8080, "[::1]:8080", unix:/run/bide.sock]
 *     admin: 127.0.0.1:9901
 *     workers: 2
 *     admin_access: { token: "...", insecure: false, hosts: [] }
 *     telemetry: { otlp: "http://127.0.0.1:4318", sample: 1%, log: stderr }
 *     access_log: /var/log/bide/access.jsonl    # or `stdout`, `syslog`, `off`
 *     trusted: [127.0.0.0/8, "::1"]
 *     forwarded: { for: append, proto: true, host: true, via: true }
 *     headers: { bide: true, underscores: false }
 *     paths: as_sent
 *     limits: { connections: 10000, header_bytes: 16384, replay: 65536 }
 *     http2: { streams: 100, window: 64KiB, connection_window: 1MiB }
 *     timeouts: { header: 10s, body: 30s, idle: 75s, drain: 30s }
 *     tls: { certificate: /etc/bide/cert.pem, key: /etc/bide/key.pem }
 *     routes:
 *       - match: { host: api.example.org, path: /pay/, method: POST,
 *                  header: X-Canary, value: "1" }
 *         upstream: pay
 *         policy: payments
 *         fallback: { stale: 5m, status: 503, body: "try later" }
 *         fault: { delay: 2s, abort: 503, share: 10% }
 *         priority: { header: Priority }
 *     upstreams:
 *       pay:
 *         endpoints: ["https://10.0.0.1:8443", "https://10.0.0.2:8443"]
 *         pool: { connections: 256, idle: 64, idle_timeout: 30s, connecting: 16 }
 *         ejection: { consecutive: 5, open: 10s, max_ejected: 50% }
 *         health: { path: /healthz, every: 5s, timeout: 1s }
 *
 * Everything lives as long as the config that it was read from. Defaults are
 * those of the INIT macros below; zero means zero. The comments give the unit;
 * the range; the default; and the key, where it is not the field's name. */
#ifndef BIDE_CONFIG_PROXY_CONF_H
#define BIDE_CONFIG_PROXY_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/balance.h"
#include "bide/config.h"
#include "config/proxy/idempotency.h"

/* Where to listen. Threads: immutable. */
struct bide__proxy_address {
    const char *text; /* as written, for messages */
    const char *host; /* "127.0.0.1", "::1" (no brackets), "*" for any; NULL:
                         a Unix socket */
    const char *path; /* of the Unix socket; or NULL */
    uint16_t port;    /* 0: the kernel chooses (tests) */
};

/* A certificate and its key. Threads: immutable. */
struct bide__proxy_pair {
    const char *certificate; /* and chain, PEM */
    const char *key;         /* PEM */
};

/* TLS towards clients. Threads: immutable. */
struct bide__proxy_server_tls {
    const char *certificate; /* chain, PEM; NULL: no TLS, or `certificates` */
    const char *key;         /* PEM */
    const struct bide__proxy_pair *certificates; /* further ones, for their own
                                names; the first of all is for other names */
    size_t n_certificates;   /* 0: none; 0 .. 1000 */
    const char *client_ca;   /* asks for client certificates of these; NULL */
    bool client_required;    /* refuses clients without one; false.
                                `client_certificate: none|optional|required` */
    bool forward_client;     /* tells endpoints what the client's certificate
                                says, by X-Forwarded-Client-Cert; false */
};

/* TLS towards endpoints whose URL is https://. Threads: immutable. */
struct bide__proxy_client_tls {
    const char *ca;          /* PEM; NULL: those of the system */
    const char *certificate; /* our own, for the server to see; or NULL */
    const char *key;
    const char *server_name; /* SNI, and what the certificate must be for; NULL:
                                the host of the URL */
    bool verify;             /* true */
};

#define BIDE__PROXY_CLIENT_TLS_INIT                                            \
    {                                                                          \
        .verify = true,                                                        \
    }

/* Which requests a route takes: all members that are not NULL must match.
 * Compared byte by byte with what was sent; nothing is decoded unless `paths`
 * says so.
 * Threads: immutable. */
struct bide__proxy_match {
    const char *host;   /* without port, in any case; "*.example.org" matches
                           any name below; NULL: any */
    const char *path;   /* the path begins with it; NULL */
    const char *exact;  /* the path (without query) is it; NULL. Not with path */
    const char *method; /* NULL */
    const char *grpc;   /* a gRPC call of "shop.Cart/Add", or of any method of
                           "shop.Cart"; NULL. Not with path or exact */
    const char *header; /* a field of this name is there, and not one that is
                           dropped (`headers`), ... */
    const char *value;  /* ... with this value, exactly; NULL: any */
};

enum { BIDE__PROXY_DEP_NAME = 127 }; /* bytes of "upstream/policy" */

struct bide__proxy_route;

#define BIDE__NO_UPSTREAM SIZE_MAX

/* The response when the policy gives up: that of another upstream, else a stale
 * copy, else a static response; each if configured. Threads: immutable. */
struct bide__proxy_fallback {
    size_t upstream;          /* index into upstreams; NO_UPSTREAM: none; none */
    const char *policy_name;  /* of that; NULL: the route's; NULL. `policy` */
    const struct bide__proxy_route *route; /* both, as a route; NULL: none */
    int64_t stale_ns;         /* how long past its freshness a copy may be given;
                                 0: none; >= 0; 0. `stale` */
    uint32_t status;          /* of a static answer; 0: none; 200 .. 299,
                                 400 .. 599; 0; 503 where a body is set */
    const char *body;         /* NULL: empty; NULL */
    const char *content_type; /* NULL: text/plain; NULL */
};

/* Injected failures. Threads: immutable. */
struct bide__proxy_fault {
    int64_t delay_ns; /* before the attempt; 0 .. 1 h; 0 */
    uint32_t abort;   /* answered instead of the endpoint; 0: not; 400 .. 599; 0 */
    double share;     /* of the attempts; over 0 .. 1; 1 */
};

/* Which requests go first when capacity is short. Threads: immutable. */
struct bide__proxy_priority {
    const char *header; /* NULL: all are alike; NULL */
};

/* The first route that matches counts. Threads: immutable. */
struct bide__proxy_route {
    struct bide__proxy_match match;
    size_t upstream;         /* index into upstreams */
    const char *policy_name; /* "default" if none was named */
    const bide_policy_conf *policy; /* never NULL: the named one; if none was
                                named, `default` of the file; if there is none,
                                BIDE_POLICY_CONF_INIT */
    struct bide__proxy_fallback fallback;
    struct bide__proxy_fault fault;
    struct bide__proxy_priority priority;
    bool idempotent; /* every request may be sent twice, whatever its method;
                        false */
    struct bide__proxy_idempotency idempotency;
};

#define BIDE__PROXY_ROUTE_INIT                                                 \
    {                                                                          \
        .policy_name = "default",                                              \
        .fallback.upstream = BIDE__NO_UPSTREAM,                                \
        .fault.share = 1,                                                      \
        .idempotency = BIDE__PROXY_IDEMPOTENCY_INIT,                           \
    }

enum { BIDE__PROXY_MAX_ENDPOINTS = 64 }; /* of an upstream */

/* One server. Threads: immutable. */
struct bide__proxy_endpoint {
    const char *url;  /* as it was written */
    const char *host; /* name or address, without brackets */
    uint16_t port;    /* 80 or 443 unless written */
    bool tls;         /* https:// */
};

/* Active health checks of each endpoint. Threads: immutable. */
struct bide__proxy_health {
    const char *path;     /* as in `/healthz`; NULL: not by HTTP */
    const char *grpc;     /* a service, of which Health/Check is asked; "*": the
                             server as a whole; NULL: not by gRPC. Neither: no
                             health checks */
    const char *host;     /* Host field; NULL: as the endpoint's URL */
    int64_t every_ns;     /* 100 ms .. 1 h; 5 s. `every` */
    int64_t timeout_ns;   /* 1 ms .. every_ns; 1 s. `timeout` */
    uint32_t unhealthy;   /* failures in a row that put it out; 1 .. 100; 3 */
    uint32_t healthy;     /* successes in a row that bring it back; 1 .. 100; 2 */
    uint16_t status_min;  /* a status from ... ; 100 .. 599; 200 */
    uint16_t status_max;  /* ... to is a success; 299. `status: 200-299` */
};

#define BIDE__PROXY_HEALTH_INIT                                                \
    {                                                                          \
        .every_ns = 5 * BIDE_SECOND,                                           \
        .timeout_ns = BIDE_SECOND,                                             \
        .unhealthy = 3,                                                        \
        .healthy = 2,                                                          \
        .status_min = 200,                                                     \
        .status_max = 299,                                                     \
    }

/* Whether endpoints get the client's address by the PROXY protocol. */
enum bide__proxy_tells {
    BIDE__PROXY_TELLS_NOTHING,
    BIDE__PROXY_TELLS_V1,
    BIDE__PROXY_TELLS_V2
};

/* What endpoints speak. */
enum bide__proxy_speaks {
    BIDE__SPEAKS_AUTO, /* https: what both prefer (ALPN); http: gRPC goes by
                          HTTP/2, all else by HTTP/1.1 */
    BIDE__SPEAKS_HTTP1,
    BIDE__SPEAKS_HTTP2 /* without TLS: with prior knowledge */
};

/* Threads: immutable. */
struct bide__proxy_upstream {
    const char *name;
    const struct bide__proxy_endpoint *endpoints;
    size_t n_endpoints; /* 1 .. BIDE__PROXY_MAX_ENDPOINTS */

    /* pool: of each endpoint, all workers together */
    uint32_t connections;    /* at the most; more wait; 1 .. 1e6; 1024 */
    uint32_t idle;           /* kept open unused; 0 .. 1e6; 256 */
    int64_t idle_timeout_ns; /* ... for so long; over 0; 30 s */
    uint32_t connecting;     /* connection attempts at once; 1 .. 1e6; 64 */
    int64_t connect_timeout_ns; /* of each; over 0; 5 s */
    int64_t max_age_ns;      /* a connection that is so old is renewed, a tenth
                             earlier or later; over 0, FOREVER: never (`none`);
                             10 min */

    struct bide__ejection ejection; /* of endpoints that fail */
    int64_t slow_start_ns; /* after its return, its share grows for so long;
                             >= 0; 10 s. `slow_start`, of the upstream */

    int64_t body_timeout_ns; /* no byte of a response's body for so long breaks
                             it off; over 0; 60 s. `body_timeout` */
    int64_t resolve_ns;      /* how often endpoints' names are looked up again;
                             100 ms .. 1 h; 30 s. `resolve` */
    enum bide__proxy_tells proxy_protocol; /* off */
    enum bide__proxy_speaks protocol;      /* auto */
    struct bide__proxy_health health;
    struct bide__proxy_client_tls tls;
};

#define BIDE__PROXY_UPSTREAM_INIT                                              \
    {                                                                          \
        .connections = 1024,                                                   \
        .idle = 256,                                                           \
        .idle_timeout_ns = 30 * BIDE_SECOND,                                   \
        .connecting = 64,                                                      \
        .connect_timeout_ns = 5 * BIDE_SECOND,                                 \
        .max_age_ns = 600 * BIDE_SECOND,                                       \
        .ejection = BIDE__EJECTION_INIT,                                       \
        .slow_start_ns = 10 * BIDE_SECOND,                                     \
        .body_timeout_ns = 60 * BIDE_SECOND,                                   \
        .resolve_ns = 30 * BIDE_SECOND,                                        \
        .health = BIDE__PROXY_HEALTH_INIT,                                     \
        .tls = BIDE__PROXY_CLIENT_TLS_INIT,                                    \
    }

/* Limits for each client address, all workers together: `limits.per_client`.
 * IPv6 addresses count by their /64. Trusted clients and Unix sockets have no
 * such limits. Threads: immutable. */
struct bide__proxy_per_client {
    uint32_t connections;    /* open at once; over it: 503; 1 .. 1e6, UINT32_MAX:
                                any; UINT32_MAX (`none`) */
    double requests_per_s;   /* over it: 429; over 0 .. 1e6, 0: any; 0 (`none`).
                                `requests` */
    double handshakes_per_s; /* of TLS; over it, closed before; over 0 .. 1e6, 0:
                                any; 0 (`none`). `handshakes` */
};

/* Limits for clients: `limits`. Threads: immutable. */
struct bide__proxy_limits {
    uint32_t connections;  /* of clients, all workers together; over it: 503;
                              1 .. 1e6; 20000 */
    uint32_t headers;      /* fields of a head; 8 .. 256; 100 */
    uint32_t header_bytes; /* of a head, either side; 1024 .. 64 KiB; 16384 */
    uint64_t body_bytes;   /* of a request's body; over it: 413; UINT64_MAX: any;
                              UINT64_MAX (`none`) */
    uint32_t replay_bytes; /* of a body kept to send it again; 0 .. 16 MiB;
                              65536. `replay` */
    uint64_t memory_bytes; /* of requests that are being read or kept, all workers
                              together; over it: 503; 1 MiB .., UINT64_MAX: any;
                              512 MiB. `memory` */
    uint32_t body_rate;    /* bytes a second that a request's body must keep up, on
                              average, after timeouts.body; below it: 408; 0: any;
                              100 */
    uint32_t answer_rate;  /* the same of a client that reads an answer, after
                              timeouts.write, while it holds a connection to an
                              endpoint; below it: cut off; 100 */
    uint32_t answer_buffer_bytes; /* of an answer kept for a client that is slower
                              than its endpoint; half of `memory` at the most in
                              all; 0 .. 16 MiB; 256 KiB. `answer_buffer` */
    struct bide__proxy_per_client per_client;
    uint32_t stale_bytes;  /* of copies that routes with `fallback.stale` keep, all
                              workers together; 64 KiB .. 1 GiB; 16 MiB. `stale` */
    uint32_t stale_answer_bytes; /* of one of them; 1 KiB .. 16 MiB, not over a
                              quarter of stale_bytes; 256 KiB. `stale_answer` */
};

/* Limits for connections that speak HTTP/2, of either side: `http2`. Over those
 * without a word on it, GOAWAY ENHANCE_YOUR_CALM. Threads: immutable. */
struct bide__proxy_http2 {
    uint32_t streams; /* requests of a connection at once, those counted that are
                         cancelled and not yet over; over it: REFUSED_STREAM;
                         1 .. 10000; 100 */
    uint32_t window_bytes; /* of a body that is not read yet; 16 KiB .. 1 MiB;
                         64 KiB. `window` */
    uint32_t connection_window_bytes; /* of all bodies of a connection that are
                         under way; 64 KiB .. 16 MiB; 1 MiB.
                         `connection_window` */
    uint32_t resets;  /* by the peer, of requests without an answer, in a burst,
                         then a tenth of that a second; 10 .. 1e6; 1000 */
    uint32_t errors;  /* streams that the peer makes us reset, a minute; 1 .. 1e6;
                         100 */
    uint32_t control; /* frames that carry nothing, in a burst, then a fifth of
                         that a second; 10 .. 1e6; 1000 */
};

/* `timeouts`. Threads: immutable. */
struct bide__proxy_timeouts {
    int64_t header_ns; /* from the first byte of a head to its last; over 0;
                          10 s */
    int64_t body_ns;   /* between two pieces of a request's body; over 0; 30 s */
    int64_t idle_ns;   /* between two requests of a client; over 0; 75 s */
    int64_t write_ns;  /* a client takes no byte of its answer; over 0; 60 s */
    int64_t tunnel_ns; /* an upgraded connection is silent; over 0; 5 min */
    int64_t request_ns; /* from the first byte of a request to the last of its
                          answer; over 0; BIDE_FOREVER (`none`) */
    int64_t drain_ns;  /* from SIGTERM to the end; >= 0; 30 s */
};

/* What happens to X-Forwarded-For. */
enum bide__forwarded_for {
    BIDE__FORWARDED_OFF,    /* removed, if a client that is not trusted sent it */
    BIDE__FORWARDED_APPEND, /* the client's address is added at the end */
    BIDE__FORWARDED_REPLACE /* it is the client's address, and nothing else */
};

/* What endpoints learn about the client: `forwarded`. Fields with these names
 * from untrusted clients are dropped. Threads: immutable. */
struct bide__proxy_forwarded {
    enum bide__forwarded_for address; /* X-Forwarded-For; append. `for` */
    bool proto;                       /* X-Forwarded-Proto; true */
    bool host;                        /* X-Forwarded-Host; false */
    bool via;                         /* Via, both ways; true */
    bool keep_host; /* Host as the client sent it; otherwise the endpoint's;
                       true */
};

/* How paths are read, by routes and by endpoints alike. */
enum bide__paths {
    BIDE__PATHS_AS_SENT,  /* byte for byte */
    BIDE__PATHS_NORMALIZE /* in their normal form; refused if they have none */
};

/* Which header fields are passed on: `headers`. Threads: immutable. */
struct bide__proxy_headers {
    bool bide;        /* X-Bide-* are added, to requests and answers, and bide's
                         members to baggage; true */
    bool underscores; /* those of requests whose name has an underscore; false */
};

/* Whether clients are identified by the PROXY protocol. */
enum bide__proxy_protocol {
    BIDE__PROXY_PROTOCOL_OFF,
    BIDE__PROXY_PROTOCOL_ACCEPT /* from trusted senders, which must send it */
};

/* A network: address bytes (4 or 16), and how many bits count.
 * Threads: immutable. */
struct bide__proxy_net {
    const char *text; /* as it was written */
    uint8_t bytes[16];
    uint8_t len;  /* 4 or 16 */
    uint8_t bits; /* 0 .. 8 * len */
};

/* gRPC: `grpc`. Threads: immutable. */
struct bide__proxy_grpc {
    int64_t hold_ns; /* a response's head is held for its status; 0: not at all;
                        0 .. 10 s; 100 ms. `hold` */
};

/* Who may use the admin endpoint, and for what: `admin_access`.
 * Threads: immutable. */
struct bide__proxy_admin {
    const char *token;  /* 16 characters at least; NULL: no actions; NULL */
    bool insecure;      /* may do without token and TLS where others can reach
                           it; false */
    const char *const *hosts; /* names that Host may say; ends with NULL; or NULL */
    size_t n_hosts;
    const char *certificate; /* with chain, PEM; NULL: no TLS; NULL */
    const char *key;         /* PEM; with certificate; NULL */
};

enum bide__otlp_format { BIDE__OTLP_PROTOBUF, BIDE__OTLP_JSON };

/* Telemetry that the sidecar sends: `telemetry`. Threads: immutable. */
struct bide__proxy_telemetry {
    const char *otlp;    /* a collector of OpenTelemetry; NULL: none; NULL */
    enum bide__otlp_format format; /* protobuf */
    double sample;       /* share of the requests without a traceparent that are
                            traced; 0 .. 1; 0 */
    int64_t metrics_ns;  /* how often metrics are sent there; 0: never; >= 0;
                            10 s. `metrics` */
    const char *log;     /* decisions: where, as `access_log`; NULL: none; NULL.
                            `off` */
    double log_per_s;    /* lines, at the most; 0 .. 1e6; 50. `log_rate` */
    const char *ca;      /* authorities for otlp, PEM; NULL: the system's; NULL */
};

enum bide__access_format {
    BIDE__ACCESS_JSON,
    BIDE__ACCESS_COMMON,
    BIDE__ACCESS_COMBINED /* common, with Referer and User-Agent */
};

/* What happens to X-Request-Id. */
enum bide__request_id {
    BIDE__ID_PASS,    /* passed on as it came, if it did */
    BIDE__ID_GENERATE /* a request without one gets one */
};

/* All of it. Threads: immutable. */
struct bide__proxy_conf {
    const struct bide__proxy_address *listen; /* 1 .. 64 */
    size_t n_listen;
    bool reuse_port; /* other processes may listen there as well; false */
    const struct bide__proxy_address *admin;  /* NULL: none */
    uint32_t workers;                         /* 0: one per core; 1 .. 1024 */
    const struct bide__proxy_route *routes;
    size_t n_routes;
    const struct bide__proxy_upstream *upstreams;
    size_t n_upstreams;
    struct bide__proxy_limits limits;
    struct bide__proxy_http2 http2;
    struct bide__proxy_timeouts timeouts;
    struct bide__proxy_forwarded forwarded;
    struct bide__proxy_headers headers;
    enum bide__paths paths; /* as_sent */
    struct bide__proxy_grpc grpc;
    const struct bide__proxy_net *trusted; /* clients whose overrides count;
                                              none */
    size_t n_trusted;
    enum bide__proxy_protocol proxy_protocol; /* off */
    const char *access_log; /* a path, "stdout", "stderr", "syslog" or
                               "syslog:PATH"; NULL: none; NULL. `off` */
    enum bide__access_format access_log_format; /* json */
    enum bide__request_id request_id;           /* pass */
    struct bide__proxy_server_tls tls; /* of all of `listen` */
    struct bide__proxy_admin admin_access;
    struct bide__proxy_telemetry telemetry;
    bool supervise;    /* another process holds the sockets, and starts the
                          serving one again if it dies; true */
    bool sandbox;      /* the kernel refuses what serving does not need; true */
    const char *user;  /* who the serving process becomes; NULL: stays; NULL */
    const char *group; /* NULL: that of `user`; NULL */
};

#define BIDE__PROXY_CONF_INIT                                                  \
    {                                                                          \
        .supervise = true,                                                     \
        .sandbox = true,                                                       \
        .limits.connections = 20000,                                           \
        .limits.headers = 100,                                                 \
        .limits.header_bytes = 16384,                                          \
        .limits.body_bytes = UINT64_MAX,                                       \
        .limits.replay_bytes = 65536,                                          \
        .limits.memory_bytes = UINT64_C(512) << 20,                            \
        .limits.body_rate = 100,                                               \
        .limits.answer_rate = 100,                                             \
        .limits.answer_buffer_bytes = 256 << 10,                               \
        .limits.per_client.connections = UINT32_MAX,                           \
        .limits.stale_bytes = 16 << 20,                                        \
        .limits.stale_answer_bytes = 256 << 10,                                \
        .http2.streams = 100,                                                  \
        .http2.window_bytes = 64 << 10,                                        \
        .http2.connection_window_bytes = 1 << 20,                              \
        .http2.resets = 1000,                                                  \
        .http2.errors = 100,                                                   \
        .http2.control = 1000,                                                 \
        .timeouts.header_ns = 10 * BIDE_SECOND,                                \
        .timeouts.body_ns = 30 * BIDE_SECOND,                                  \
        .timeouts.idle_ns = 75 * BIDE_SECOND,                                  \
        .timeouts.write_ns = 60 * BIDE_SECOND,                                 \
        .timeouts.tunnel_ns = 5 * BIDE_MINUTE,                                 \
        .timeouts.request_ns = BIDE_FOREVER,                                   \
        .timeouts.drain_ns = 30 * BIDE_SECOND,                                 \
        .access_log_format = BIDE__ACCESS_JSON,                                \
        .request_id = BIDE__ID_PASS,                                           \
        .forwarded.address = BIDE__FORWARDED_APPEND,                           \
        .forwarded.proto = true,                                               \
        .forwarded.via = true,                                                 \
        .forwarded.keep_host = true,                                           \
        .paths = BIDE__PATHS_AS_SENT,                                          \
        .grpc.hold_ns = 100 * BIDE_MILLISECOND,                                \
        .headers.bide = true,                                                  \
        .telemetry.format = BIDE__OTLP_PROTOBUF,                               \
        .telemetry.metrics_ns = 10 * BIDE_SECOND,                              \
        .telemetry.log_per_s = 50,                                             \
    }

/* The keys of the section, and of one upstream (config/field/field.h): a reload
 * compares by them. */
struct bide__table;
extern const struct bide__table bide__proxy_table;
extern const struct bide__table bide__proxy_upstream_table;
extern const struct bide__table bide__ejection_table; /* bide__ejection */

/* The section of a config that was loaded without errors; NULL if the file has
 * none. */
const struct bide__proxy_conf *bide__config_proxy(const bide_config *config);

#endif
