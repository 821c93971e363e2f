/* bide/observe.h: what a program with bide in it does can be seen
 * (libbide-observe): the dashboard, Prometheus and OTLP.
 *
 *     bide_observe *watch;
 *     bide_observe_opts o = { .listen = "127.0.0.1:9901", .deps = &dep,
 *                             .n_deps = 1 };
 *     if (bide_observe_new(&watch, &o) < 0)
 *         die(o.why);
 *     ...                      // http://127.0.0.1:9901/ is the dashboard
 *     bide_observe_free(watch);
 *
 * The endpoint is the sidecar's: `/` the dashboard, `/metrics` for Prometheus,
 * `/healthz`, `/readyz`, `/api/state` and the rest of docs/metrics.md; `bide top`
 * reads it as well. If others than this machine can reach it, it wants a token
 * and a certificate. Nothing here costs a call anything: the statistics that
 * the engine keeps anyway are read once a second, by threads of this library,
 * with all signals blocked. */
#ifndef BIDE_OBSERVE_H
#define BIDE_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dep.h"
#include "error.h"

BIDE_BEGIN_DECLS

/* Threads: shared. */
typedef struct bide_observe bide_observe;

/* All zero watches nothing yet, and shows it nowhere: see _add() and
 * _prometheus(). Strings are copied. */
typedef struct bide_observe_opts {
    const char *program;    /* its name, also the service.name of OTLP; NULL:
                               "bide" */
    bide_dep *const *deps;  /* what is watched from the beginning ... */
    size_t n_deps;          /* ... as with bide_observe_add() */

    /* The admin endpoint. */
    const char *listen;     /* "127.0.0.1:9901", "[::1]:0", "unix:/run/app.sock";
                               NULL: none */
    const char *token;      /* of actions (force a breaker), and of everything
                               for others than this machine; NULL: no actions */
    const char *certificate, *key; /* PEM files; NULL: no TLS */
    bool insecure;          /* others may reach it without token and TLS */

    /* Metrics by OTLP. */
    const char *otlp_url;   /* "http://127.0.0.1:4318"; NULL: none */
    bool otlp_json;         /* instead of protobuf */
    int64_t otlp_interval_ns; /* between two exports; 0: 10 s */

    char why[256];          /* set to what is wrong, if it fails */
} bide_observe_opts;

/* Starts to watch. BIDE_EINVAL: an address, a URL or a file that cannot be used;
 * BIDE_ENOMEM, BIDE_ESIZE. opts->why has a sentence for people. */
BIDE_API int bide_observe_new_sized(bide_observe **ret, bide_observe_opts *opts,
                                    size_t size);
static inline int bide_observe_new(bide_observe **ret, bide_observe_opts *opts)
{
    return bide_observe_new_sized(ret, opts, sizeof *opts);
}

/* Ends its threads, after a last export, and frees it. NULL is fine. The
 * dependencies are the program's. */
BIDE_API void bide_observe_free(bide_observe *observe);

/* Watches one more dependency, under its own name, until _remove(), which must
 * come before it is freed. BIDE_ENAME: there is one of that name. BIDE_EINVAL,
 * BIDE_ENOMEM. */
BIDE_API int bide_observe_add(bide_observe *observe, bide_dep *dep);

/* BIDE_ENAME: it is not watched. */
BIDE_API int bide_observe_remove(bide_observe *observe, const bide_dep *dep);

/* Whether the program is ready to serve: /readyz. It is, unless told
 * otherwise. */
BIDE_API void bide_observe_ready(bide_observe *observe, bool ready);

/* The port of the admin endpoint, for a program that asked for port 0; 0 if
 * there is none. */
BIDE_API int bide_observe_port(const bide_observe *observe);

/* Writes all metrics as Prometheus reads them (exposition format 0.0.4), for a
 * program that has an HTTP server of its own. Like snprintf(): returns how long
 * the whole text is, and cuts off at `size` - 1; a buffer of that length + 1
 * gets all of it. 0: no memory. */
BIDE_API size_t bide_observe_prometheus(bide_observe *observe, char *buffer,
                                        size_t size);

BIDE_END_DECLS
#endif
