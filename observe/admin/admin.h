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
 *   GET  /api/history   the last minutes, second by second
 *   GET  /api/stream    a state each second, as server-sent events
 *   POST /api/deps/NAME/breaker/MODE   normal, forced_open, forced_closed,
 *                                  dry_run
 *   POST /api/drain     ends gracefully
 *   POST /api/reload    reads the configuration anew
 *
 * Actions need the token: `Authorization: Bearer ...`. Without one in the
 * configuration there are none.
 *
 * Nobody's page in a browser may talk to it but its own: Host must be an
 * address, `localhost` or a name in `hosts`, so that a name which an attacker
 * points here is refused; an Origin that is not ours is refused; and so is what
 * the browser itself calls cross-site.
 *
 * Where others can reach it, it wants a token and speaks TLS, or is told that
 * it need not. Certificate and key are read when it starts, and again when it is
 * told to.
 *
 * It is not made for load: some hundred connections, one request after
 * the other. A client that is slow is dropped, or misses a second of the
 * stream; when there is no room, those go who have not moved for longest, so
 * that nobody keeps a health check out (net/http/server.h). */
#ifndef BIDE_OBSERVE_ADMIN_ADMIN_H
#define BIDE_OBSERVE_ADMIN_ADMIN_H

#include "observe/event/collector.h"
#include "observe/event/source.h"

/* Threads: shared. */
struct bide__admin;

struct bide__admin_conf {
    const char *listen; /* "127.0.0.1:9901", "[::1]:0", "unix:/run/a" */
    int listener; /* a socket that listens there already, its own from now on; 0:
                     it opens one */
    const char *token;  /* NULL: no actions */
    bool insecure;      /* may do without token and TLS where others reach it */
    const char *certificate, *key; /* PEM files; both, or NULL: no TLS */
    const char *const
        *hosts; /* names that Host may say; ends with NULL; or NULL */
    const struct bide__source *source; /* must outlive it, as must ... */
    struct bide__collector *collector; /* ... this; or NULL */
};

/* Listens, and starts the thread. NULL, and `why` says what is wrong: an
 * address that is none or is taken; one that is not loopback without a token
 * and a certificate, or `insecure`; a certificate that cannot be used. */
struct bide__admin *bide__admin_start(const struct bide__admin_conf *conf,
                                      char *why, size_t size);

/* Reads a certificate and its key, for those who connect from now on; where it
 * speaks no TLS there is nothing to do. False, and why: all stays as it was. */
bool bide__admin_renew(struct bide__admin *admin, const char *certificate,
                       const char *key, char *why, size_t size);

/* Lets in nobody more: another process has the socket, too. Waits for those who
 * have asked already, but not for long. */
void bide__admin_hand_over(struct bide__admin *admin);

/* Closes all connections and ends. NULL is fine. */
void bide__admin_stop(struct bide__admin *admin);

/* Opens the socket for it, ahead of the start. -1, and `why`. */
int bide__admin_listen(const struct bide__admin_conf *conf, char *why,
                       size_t size);

/* The socket, which stays its own; and the port it listens on, for those who
 * asked for 0. */
int bide__admin_listener(const struct bide__admin *admin);
int bide__admin_port(const struct bide__admin *admin);

#endif
