/* The dashboard of the four fleets: the same as the sidecar's. */
#include "cmd/demo/dashboard.h"

#include <stdio.h>
#include <string.h>

#include "cmd/demo/demo.h"
#include "observe/admin/admin.h"

#define USUAL_PLACE "127.0.0.1:9901"

static const struct bide__observed *hold(void *ctx)
{
    const struct demo_dashboard *w = ctx;
    return &w->observed;
}

static void release(void *ctx, const struct bide__observed *observed)
{
    (void)ctx, (void)observed; /* nothing is freed before the end */
}

static void list_deps(struct demo_dashboard *w, struct demo *demo)
{
    for (unsigned i = 0; i < DEMO_FLEETS; i++)
        w->deps[i] = (struct bide__observed_dep){ .name = demo_fleet_name(i),
                                                  .policy = "",
                                                  .upstream = "",
                                                  .dep = demo->fleets[i].dep };
    w->observed.deps = w->deps;
    w->observed.n_deps = DEMO_FLEETS;
    w->source.program = "bide demo";
    w->source.ctx = w;
    w->source.hold = hold;
    w->source.release = release;
}

/* Uses the port that the socket got; a Unix socket has none. */
static void set_url(struct demo_dashboard *w, const char *listen)
{
    const char *colon = strrchr(listen, ':');
    int host = colon ? (int)(colon - listen) : 0;

    if (strncmp(listen, "unix:", 5) == 0)
        snprintf(w->url, sizeof w->url, "%s", listen);
    else
        snprintf(w->url, sizeof w->url, "http://%.*s:%d/", host, listen,
                 bide__admin_port(w->admin));
}

static bool listen_at(struct demo_dashboard *w, const char *listen, char *why,
                      size_t size)
{
    struct bide__admin_conf conf = { .listen = listen ? listen : USUAL_PLACE,
                                     .source = &w->source,
                                     .collector = w->collector };

    w->admin = bide__admin_start(&conf, why, size);
    if (!w->admin && !listen) {
        conf.listen = "127.0.0.1:0";
        w->admin = bide__admin_start(&conf, why, size);
    }
    if (!w->admin)
        return false;
    set_url(w, conf.listen);
    return true;
}

bool demo_dashboard_start(struct demo_dashboard *w, struct demo *demo,
                      const char *listen, char *why, size_t size)
{
    struct bide__collector_conf collect = { .source = &w->source };

    list_deps(w, demo);
    w->collector = bide__collector_new(&collect);
    demo->ring = w->collector ? bide__collector_ring(w->collector) : NULL;
    if (!demo->ring || bide__collector_start(w->collector) < 0) {
        snprintf(why, size, "no memory or no thread for the dashboard");
        return false;
    }
    return listen_at(w, listen, why, size);
}

void demo_dashboard_stop(struct demo_dashboard *w)
{
    bide__admin_stop(w->admin);
    bide__collector_free(w->collector);
}
