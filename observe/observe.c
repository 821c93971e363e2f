/* libbide-observe: the list of a program's dependencies, and what shows it.
 *
 * The list is read by the threads of the collector, the exporter and the admin
 * endpoint, and written by the program: a lock for many readers. So a
 * dependency that has been removed is in nobody's hands, and can be freed. */
#include "bide/observe.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "lib/sized.h"
#include "observe/admin/admin.h"
#include "observe/event/collector.h"
#include "observe/export/exporter.h"
#include "observe/export/prometheus.h"

struct bide_observe {
    char *program;
    pthread_rwlock_t lock;           /* of the list */
    struct bide__observed_dep *deps;
    struct bide__observed list;
    size_t room;
    bool unready;
    struct bide__source source;
    struct bide__exporter *exporter;
    struct bide__collector *collector;
    struct bide__admin *admin;
};

/* ===== the list ===== */

static const struct bide__observed *hold(void *ctx)
{
    bide_observe *o = ctx;
    pthread_rwlock_rdlock(&o->lock);
    return &o->list;
}

static void release(void *ctx, const struct bide__observed *observed)
{
    (void)observed;
    pthread_rwlock_unlock(&((bide_observe *)ctx)->lock);
}

static struct bide__observed_dep *find(const bide_observe *o, const char *name)
{
    for (size_t i = 0; i < o->list.n_deps; i++)
        if (strcmp(o->deps[i].name, name) == 0)
            return &o->deps[i];
    return NULL;
}

static bool force(void *ctx, const char *dep, bide_breaker_mode mode, char *why,
                  size_t size)
{
    bide_observe *o = ctx;
    pthread_rwlock_rdlock(&o->lock);
    const struct bide__observed_dep *d = find(o, dep);
    int rc = d ? bide_dep_force_breaker(d->dep, mode) : BIDE_ENAME;
    pthread_rwlock_unlock(&o->lock);
    if (rc < 0)
        snprintf(why, size, "%s", d ? bide_strerror(rc) : "no such dependency");
    return rc == 0;
}

static bool ready(void *ctx)
{
    const bide_observe *o = ctx;
    return !__atomic_load_n(&o->unready, __ATOMIC_RELAXED);
}

/* Under the lock. */
static int append(bide_observe *o, bide_dep *dep)
{
    if (find(o, bide_dep_name(dep)))
        return BIDE_ENAME;
    if (o->list.n_deps == o->room) {
        size_t room = o->room ? 2 * o->room : 8;
        struct bide__observed_dep *more = realloc(o->deps, room * sizeof *more);
        if (!more)
            return BIDE_ENOMEM;
        o->list.deps = o->deps = more;
        o->room = room;
    }
    o->deps[o->list.n_deps++] =
        (struct bide__observed_dep){ .name = bide_dep_name(dep), .policy = "",
                                     .upstream = "", .dep = dep };
    return 0;
}

int bide_observe_add(bide_observe *observe, bide_dep *dep)
{
    if (!observe || !dep)
        return BIDE_EINVAL;
    pthread_rwlock_wrlock(&observe->lock);
    int rc = append(observe, dep);
    pthread_rwlock_unlock(&observe->lock);
    return rc;
}

int bide_observe_remove(bide_observe *observe, const bide_dep *dep)
{
    int rc = BIDE_ENAME;
    if (!observe || !dep)
        return BIDE_EINVAL;
    pthread_rwlock_wrlock(&observe->lock);
    struct bide__observed *list = &observe->list;
    for (size_t i = 0; rc < 0 && i < list->n_deps; i++) {
        if (observe->deps[i].dep != dep)
            continue;
        list->n_deps--;
        memmove(&observe->deps[i], &observe->deps[i + 1],
                (list->n_deps - i) * sizeof observe->deps[0]);
        rc = 0;
    }
    pthread_rwlock_unlock(&observe->lock);
    return rc;
}

/* ===== starting and stopping ===== */

static int refuse(bide_observe_opts *opts, int rc, const char *why)
{
    snprintf(opts->why, sizeof opts->why, "%s", why);
    return rc;
}

static int start_exporter(bide_observe *o, bide_observe_opts *opts)
{
    struct bide__exporter_conf conf = BIDE__EXPORTER_CONF_INIT;
    conf.url = opts->otlp_url;
    conf.service = o->program;
    conf.json = opts->otlp_json;
    if (opts->otlp_interval_ns > 0)
        conf.metrics_ns = opts->otlp_interval_ns;
    conf.source = &o->source;
    const char *why = conf.url ? bide__exporter_new(&o->exporter, &conf) : NULL;
    return why ? refuse(opts, BIDE_EINVAL, why) : 0;
}

static int start_admin(bide_observe *o, bide_observe_opts *opts)
{
    const struct bide__admin_conf conf = {
        .listen = opts->listen,
        .token = opts->token,
        .insecure = opts->insecure,
        .certificate = opts->certificate,
        .key = opts->key,
        .source = &o->source,
        .collector = o->collector,
    };
    if (!opts->listen)
        return 0;
    o->admin = bide__admin_start(&conf, opts->why, sizeof opts->why);
    return o->admin ? 0 : BIDE_EINVAL;
}

static int start(bide_observe *o, bide_observe_opts *opts)
{
    static const char no_thread[] = "no memory, or no thread, to watch with";
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < opts->n_deps; i++)
        rc = bide_observe_add(o, opts->deps[i]);
    if (rc < 0)
        return refuse(opts, rc, rc == BIDE_ENAME
                                    ? "two dependencies have the same name"
                                    : bide_strerror(rc));
    rc = start_exporter(o, opts);
    if (rc < 0)
        return rc;
    struct bide__collector_conf conf = { .source = &o->source,
                                         .exporter = o->exporter };
    o->collector = opts->listen ? bide__collector_new(&conf) : NULL;
    if (opts->listen &&
        (!o->collector || bide__collector_start(o->collector) < 0))
        return refuse(opts, BIDE_ENOMEM, no_thread);
    return start_admin(o, opts);
}

static bide_observe *make(const bide_observe_opts *opts)
{
    bide_observe *o = calloc(1, sizeof *o);
    char *program = strdup(opts->program ? opts->program : "bide");
    if (!o || !program) {
        free(o);
        free(program);
        return NULL;
    }
    pthread_rwlock_init(&o->lock, NULL);
    o->program = program;
    o->source = (struct bide__source){ .program = program,
                                       .ctx = o,
                                       .hold = hold,
                                       .release = release,
                                       .ready = ready,
                                       .force = force };
    return o;
}

int bide_observe_new_sized(bide_observe **ret, bide_observe_opts *opts,
                           size_t size)
{
    bide_observe_opts ours;
    if (!ret || !opts || (opts->n_deps && !opts->deps))
        return BIDE_EINVAL;
    const bide_observe_opts *known =
        bide__sized_in(opts, size, &ours, sizeof ours);
    if (!known)
        return BIDE_ESIZE;
    ours = *known;
    bide_observe *o = make(&ours);
    int rc = o ? start(o, &ours) : BIDE_ENOMEM;
    if (rc < 0) {
        bide_observe_free(o);
        if (size >= offsetof(bide_observe_opts, why) + sizeof ours.why)
            memcpy(opts->why, ours.why, sizeof ours.why);
        return rc;
    }
    *ret = o;
    return 0;
}

void bide_observe_free(bide_observe *observe)
{
    if (!observe)
        return;
    bide__admin_stop(observe->admin);
    bide__collector_free(observe->collector);
    bide__exporter_free(observe->exporter);
    pthread_rwlock_destroy(&observe->lock);
    free(observe->deps);
    free(observe->program);
    free(observe);
}

/* ===== while it runs ===== */

void bide_observe_ready(bide_observe *observe, bool is_ready)
{
    if (observe)
        __atomic_store_n(&observe->unready, !is_ready, __ATOMIC_RELAXED);
}

int bide_observe_port(const bide_observe *observe)
{
    return observe && observe->admin ? bide__admin_port(observe->admin) : 0;
}

size_t bide_observe_prometheus(bide_observe *observe, char *buffer, size_t size)
{
    struct bide__out out = { 0 };
    if (!observe)
        return 0;
    bide__prometheus_write(&out, hold(observe), bide_now_ns());
    release(observe, NULL);
    size_t len = out.failed ? 0 : out.len;
    size_t n = len < size ? len : size - 1;
    if (size > 0) {
        if (n > 0)
            memcpy(buffer, out.data, n);
        buffer[n] = '\0';
    }
    bide__out_done(&out);
    return len;
}
