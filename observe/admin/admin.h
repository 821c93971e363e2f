/* The admin endpoint: metrics, health, the state, the dashboard, and a few
 * actions, over HTTP/1.1 on a thread of its own.
 *
 *     struct bide__admin_conf conf = { .listen = "127.0.0.1:9901",
 *                                      .source = &source,
 *                                      .collector = collector };
 *     char why[256];
 *     struct bide__admin *admin = bide__admin_start(&conf, why, sizeof why);
 *     ...
 *     bide__admin_stop(admin);
 *
 *   GET  /              the dashboard
 *   GET  /metrics       for Prometheus
 *   GET  /healthz       200 while the process lives and its threads make
 *                       progress, else 503
 *   GET  /readyz        200 while it takes requests, else 503
 *   GET  /api/state     what there is to see (view.h)
 *   GET  /api/history   the last fifteen minutes
 *   GET  /api/stream    a state each second, as server-sent events
 *   POST /api/deps/NAME/breaker/MODE   normal, forced_open, forced_closed,
 *                                  dry_run
 *   POST /api/deps/NAME/retries/off    no retries and hedges until `on`
 *   POST /api/deps/NAME/probe/now      lets an open breaker probe at once
 *   POST /api/drain     ends gracefully
 *   POST /api/reload    reads the configuration again
 *
 * Actions need the token: `Authorization: Bearer ...`. Without a token in the
 * configuration they are disabled.
 *
 * No web page in a browser may talk to it but its own: Host must be an address,
 * `localhost` or a name in `hosts`, so that a name which an attacker points
 * here is refused; a foreign Origin is refused; and so is a request that the
 * browser itself calls cross-site.
 *
 * If others can reach it, it requires a token and TLS, unless it is configured
 * not to. Certificate and key are read at startup, and again on request.
 *
 * It is not made for load: some hundred connections, one request after
 * the other. A slow client is dropped, or misses a second of the stream; when
 * all connections are taken, the one that has been idle longest is closed, so
 * that no client can keep a health check out (net/http/server.h). */
#ifndef BIDE_OBSERVE_ADMIN_ADMIN_H
#define BIDE_OBSERVE_ADMIN_ADMIN_H

#include "observe/event/collector.h"
#include "observe/event/source.h"

/* Threads: shared. */
struct bide__admin;

struct bide__admin_conf {
    const char *listen; /* "127.0.0.1:9901", "[::1]:0", "unix:/run/a" */
    int listener; /* a socket that already listens there, which it then owns; 0:
                     it opens one */
    const char *token;  /* NULL: no actions */
    bool insecure;      /* needs no token and TLS even if others can reach it */
    const char *certificate, *key; /* PEM files; both, or NULL: no TLS */
    const char *const
        *hosts; /* names allowed in Host; ends with NULL; or NULL */
    const struct bide__source *source; /* must outlive it, as must ... */
    struct bide__collector *collector; /* ... this; or NULL */
};

/* Listens, and starts the thread. NULL, and `why` has the error: an address
 * that is invalid or taken; one that is not loopback without a token and a
 * certificate, or `insecure`; a certificate that cannot be used. */
struct bide__admin *bide__admin_start(const struct bide__admin_conf *conf,
                                      char *why, size_t size);

/* Reads a certificate and its key, for new connections; does nothing without
 * TLS. False, and why: nothing has changed. */
bool bide__admin_renew(struct bide__admin *admin, const char *certificate,
                       const char *key, char *why, size_t size);

/* Stops accepting: another process has the socket, too. Waits for requests that
 * have already arrived, but not for long. */
void bide__admin_hand_over(struct bide__admin *admin);

/* Closes all connections and ends. NULL is fine. */
void bide__admin_stop(struct bide__admin *admin);

/* Opens the socket for it, ahead of the start. -1, and `why`. */
int bide__admin_listen(const struct bide__admin_conf *conf, char *why,
                       size_t size);

/* The socket, which it keeps; and its port, for callers that asked for 0. */
int bide__admin_listener(const struct bide__admin *admin);
int bide__admin_port(const struct bide__admin *admin);

#endif
