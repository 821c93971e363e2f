/* proxy/watch.h: the sidecar as those who watch it see it: its dependencies,
 * endpoints, counters; and the few things that may be done to it.
 *
 *     struct bide__source source = proxy_source(&watch);
 *     bide__collector_new(&(struct bide__collector_conf){ .source = &source });
 *
 * A dependency is an upstream under a policy, and is called "upstream/policy".
 * Its endpoints are the upstream's, which several dependencies may share.
 */
#ifndef BIDE_PROXY_WATCH_H
#define BIDE_PROXY_WATCH_H

#include "../observe/collector.h"
#include "../observe/source.h"
#include "proxy.h"

/* What is watched, and the watchers' own counts. Must stay where it is.
 * Threads: shared. */
struct proxy_watch {
    struct proxy *proxy;
    struct bide__collector *collector; /* NULL: none (yet) */
    struct bide__exporter *exporter;   /* NULL: none */
    struct bide__log *log;             /* NULL: none */
};

struct bide__source proxy_source(struct proxy_watch *watch);

#endif
