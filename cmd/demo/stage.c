/* Sets up the four fleets, their servers, the dashboard and the threads. */
#include "cmd/demo/stage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bide/bide.h"
#include "bide/run.h"
#include "cmd/common/output.h"
#include "cmd/demo/clients.h"
#include "cmd/demo/dashboard.h"
#include "cmd/demo/demo.h"
#include "cmd/demo/servers.h"
#include "observe/event/event.h"
#include "observe/event/ring.h"

static void on_breaker(void *ctx, const bide_dep *dep, bide_breaker_state from,
                       bide_breaker_state to, int64_t now_ns)
{
    const struct demo *demo = ctx;
    struct bide__event *e = demo->ring ? bide__ring_next(demo->ring) : NULL;

    if (!e)
        return;
    bide__event_breaker(e, bide_dep_name(dep), from, to, now_ns);
    bide__ring_commit(demo->ring);
}

static bool make_fleets(struct demo *demo, bool keep)
{
    int64_t length = keep ? DEMO_DAY_S * BIDE_SECOND : demo->plan.length_ns;
    bide_host host = { .ctx = demo, .on_breaker = on_breaker };

    for (unsigned i = 0; i < DEMO_FLEETS; i++) {
        struct demo_fleet *f = &demo->fleets[i];
        bide_policy_conf conf;
        f->demo = demo;
        f->number = i;
        demo_policy(&conf, i, &demo->plan);
        int rc = bide_dep_new_in(&f->dep, demo_fleet_name(i), &conf, &host);
        if (rc < 0) {
            complain("demo", "%s: %s", demo_fleet_name(i), bide_strerror(rc));
            return false;
        }
        if (!demo_tally_init(&f->tally, demo->start_ns, length)) {
            complain("demo", "no memory");
            return false;
        }
    }
    return true;
}

/* Each client may have a connection, and both its ends are in this process. */
static bool allow_sockets(const struct demo_plan *plan)
{
    rlim_t need = DEMO_FLEETS * (2 * plan->clients + 128) + 100;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= need)
        return true;
    if (limit.rlim_max < need) {
        complain("demo",
                 "only %llu files may be open at once (ulimit -Hn), and it "
                 "needs %llu; a shorter one (--seconds 10) needs fewer",
                 (unsigned long long)limit.rlim_max, (unsigned long long)need);
        return false;
    }
    limit.rlim_cur = need;
    setrlimit(RLIMIT_NOFILE, &limit);
    return true;
}

static void *serve(void *arg)
{
    demo_servers_run(arg);
    return NULL;
}

static void *call(void *arg)
{
    demo_clients_run(arg);
    return NULL;
}

static bool start_threads(struct demo_stage *s)
{
    if (pthread_create(&s->server_thread, NULL, serve, &s->servers) == 0)
        s->threads++;
    if (s->threads &&
        pthread_create(&s->client_thread, NULL, call, &s->clients) == 0)
        s->threads++;
    if (s->threads < 2)
        complain("demo", "no thread can be started");
    return s->threads == 2;
}

bool demo_stage_init(struct demo_stage *s, double seconds, bool keep,
                     bool dashboard, const char *listen)
{
    char why[256];

    demo_plan_init(&s->demo.plan, seconds);
    s->demo.start_ns = bide_now_ns();
    if (!allow_sockets(&s->demo.plan) || !make_fleets(&s->demo, keep))
        return false;
    if (dashboard &&
        !demo_dashboard_start(&s->dashboard, &s->demo, listen, why, sizeof why)) {
        complain("demo", "%s", why);
        return false;
    }
    if (!demo_servers_init(&s->servers, &s->demo) ||
        !demo_clients_init(&s->clients, &s->demo)) {
        complain("demo", "cannot listen on loopback: %s", strerror(errno));
        return false;
    }
    return start_threads(s);
}

void demo_stage_done(struct demo_stage *s)
{
    atomic_store(&s->demo.stop, true);
    if (s->threads > 0)
        pthread_join(s->server_thread, NULL);
    if (s->threads > 1)
        pthread_join(s->client_thread, NULL);
    if (s->clients.demo)
        demo_clients_done(&s->clients);
    if (s->servers.demo)
        demo_servers_done(&s->servers);
    demo_dashboard_stop(&s->dashboard);
    for (unsigned i = 0; i < DEMO_FLEETS; i++) {
        bide_dep_free(s->demo.fleets[i].dep);
        demo_tally_done(&s->demo.fleets[i].tally);
    }
}
