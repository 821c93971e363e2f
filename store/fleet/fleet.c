/* Membership: joining, attaching, leaving, and the thread that reports.
 *
 * One thread for all dependencies of a fleet. It reports for those that are due in
 * one pipeline, and applies the replies. The lock guards the list and the
 * dependencies in it; it is not held while the thread talks to Redis, so that
 * nobody who attaches or detaches waits for that. What is detached is only marked,
 * under the lock; the thread says goodbye for it, and frees it. Whoever leaves
 * waits for that, but not while the address of a Redis is looked up, which may take
 * a minute: then the thread goes on with nobody, and frees what is left. */
#include "bide/fleet.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/utf8.h"
#include "bide/error.h"
#include "bide/rng.h"
#include "bide/run.h"
#include "bide/share.h"
#include "store/fleet/script.h"
#include "store/redis/redis.h"

enum { LONGEST_NAME = 64, PIPELINE = 256 };
#define IDLE_NS (500 * BIDE_MILLISECOND)
#define BUSY_NS (200 * BIDE_MILLISECOND)

struct member {
    struct member *next;
    bide_dep *dep;
    bide_share share;
    bide_share_rule rule;
    bide_share_row row; /* as last read, at ... */
    int64_t read_ns, next_ns;
    bool leaves; /* the dependency may be gone; `row` is its last, ... */
    bool told_leaves; /* ... and is being told */
    char *key;
    char id[32]; /* its row: two of one name may be in one process for a while */
};

struct bide_fleet {
    bide_fleet_conf conf;
    char name[LONGEST_NAME + 1];
    uint64_t id;
    unsigned made; /* members, ever */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_cond_t quiet; /* the thread has ended, or told what it had to tell */
    bool ends, ended, tells;
    bool orphan;          /* nobody waits for the thread: it frees the fleet */
    struct member *members;
    bide_fleet_view view;

    /* The thread's own. */
    struct redis *redis;
    struct redis_script script;
    struct member *due[PIPELINE];
    unsigned n_due;
    int64_t heard_ns;
    int64_t shortest_ns; /* window of a member */
    bide_rng_seeded seed;
    bide_rng rng;
};

static void free_member(struct member *m)
{
    free(m->key);
    free(m);
}

static void free_fleet(struct bide_fleet *f)
{
    for (struct member *m = f->members, *next; m; m = next) {
        next = m->next;
        free_member(m);
    }
    redis_free(f->redis);
    pthread_cond_destroy(&f->quiet);
    pthread_cond_destroy(&f->wake);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

/* ===== the thread ===== */

static int64_t soon(struct bide_fleet *f, const struct member *m)
{
    int64_t wait = m->row.busy || m->row.probe_failed || m->row.recovered
                       ? BUSY_NS
                       : IDLE_NS;
    return wait - wait / 10 + bide_rng_between(&f->rng, 0, wait / 5);
}

/* As long as the last reply holds, a failure is no news. */
static void told(struct bide_fleet *f, bool well, const char *why)
{
    int64_t now = bide_now_ns();
    pthread_mutex_lock(&f->lock);
    bool joined = well || (f->view.joined &&
                           now - f->heard_ns < BIDE_SHARE_HOLDS_NS);
    bool change = joined != f->view.joined ||
                  (!joined && f->view.syncs + f->view.failures == 0);
    f->view.joined = joined;
    if (well) {
        f->heard_ns = now;
        f->view.syncs++;
    } else {
        f->view.failures++;
        snprintf(f->view.why, sizeof f->view.why, "%s", why);
    }
    f->tells = change && f->conf.on_change && !f->orphan;
    bool tells = f->tells;
    pthread_mutex_unlock(&f->lock);
    if (!tells)
        return;
    f->conf.on_change(f->conf.ctx, joined, why);
    pthread_mutex_lock(&f->lock);
    f->tells = false;
    pthread_cond_signal(&f->quiet);
    pthread_mutex_unlock(&f->lock);
}

/* Reads what is to be told, and tells it if there is a connection. One that
 * leaves was read when it was detached. */
static void report(struct bide_fleet *f, struct member *m, bool connected)
{
    pthread_mutex_lock(&f->lock);
    bool leaves = m->leaves;
    if (!leaves) {
        m->read_ns = bide_now_ns();
        bide_share_report(&m->share, m->read_ns, &m->row);
        m->next_ns = m->read_ns + soon(f, m);
    }
    m->told_leaves = leaves;
    pthread_mutex_unlock(&f->lock);
    if (!connected)
        return;
    char shared[sizeof m->id];
    snprintf(shared, sizeof shared, "%016llx",
             (unsigned long long)m->row.instance);
    redis_script_begin(f->redis, &f->script, 1, FLEET_ARGS);
    redis_arg(f->redis, m->key);
    fleet_put_report(f->redis, m->row.instance != 0 ? shared : m->id, &m->rule,
                     &m->row, leaves);
}

/* What the ledger says; NULL: nothing. */
static void apply(struct bide_fleet *f, struct member *m,
                  const bide_share_reply *said)
{
    pthread_mutex_lock(&f->lock);
    if (!m->leaves) {
        bide_share_apply(&m->share, said, m->read_ns);
        if (said)
            f->view.instances = said->instances;
    }
    pthread_mutex_unlock(&f->lock);
}

/* Without the script's number, and the line in it, which Redis adds. */
static void say_error(const struct bide_fleet *f, const struct redis_reply *reply,
                      char why[BIDE_FLEET_WHY])
{
    static const char end[] = " script: ";
    size_t len = reply->len < 300 ? reply->len : 300;
    const char *found = memmem(reply->text, len, end, sizeof end - 1);
    snprintf(why, BIDE_FLEET_WHY, "%s: %.*s", redis_address(f->redis),
             (int)(found ? (size_t)(found - reply->text) : len), reply->text);
    bide__make_safe(why);
}

/* One reply: 0, or -1 and *ret_why. */
static int take_reply(struct bide_fleet *f, struct member *m, int64_t until,
                      char why[BIDE_FLEET_WHY])
{
    struct redis_reply reply;
    bide_share_reply said;

    if (redis_next(f->redis, until, &reply) < 0) {
        snprintf(why, BIDE_FLEET_WHY, "%s", redis_why(f->redis));
        return -1;
    }
    if (redis_script_gone(&reply))
        redis_script_forget(&f->script);
    if (reply.type == REDIS_ERROR) {
        say_error(f, &reply, why);
        return -1;
    }
    if (!fleet_read_reply(&reply, &said)) {
        snprintf(why, BIDE_FLEET_WHY, "%s: not a reply to what was asked",
                 m->key);
        return -1;
    }
    apply(f, m, &said);
    return 0;
}

/* Reports for all that are due. Every reply is read, so that the next round
 * begins with none. After an absence all are back within half a window: a ledger
 * that is new leases nothing for a whole one. */
static void talk(struct bide_fleet *f)
{
    int64_t began = bide_now_ns(), until = began + f->conf.timeout_ns;
    char why[BIDE_FLEET_WHY] = "";

    redis_longest_wait(f->redis, f->shortest_ns / 2);
    int rc = redis_connect(f->redis, until);
    if (rc == 0)
        rc = redis_script_load(f->redis, &f->script, until);
    if (rc < 0)
        snprintf(why, sizeof why, "%s", redis_why(f->redis));
    for (unsigned i = 0; i < f->n_due; i++)
        report(f, f->due[i], rc == 0);
    for (unsigned i = 0; i < f->n_due; i++) {
        if (rc < 0 || take_reply(f, f->due[i], until, why) < 0)
            apply(f, f->due[i], NULL);
        if (!redis_is_connected(f->redis))
            rc = -1;
    }
    if (why[0] == '\0') {
        pthread_mutex_lock(&f->lock);
        f->view.round_trip_ns = bide_now_ns() - began;
        pthread_mutex_unlock(&f->lock);
    }
    told(f, why[0] == '\0', why);
}

/* False: it is time. */
static bool wait_until(struct bide_fleet *f, pthread_cond_t *for_what,
                       int64_t at_ns)
{
    struct timespec at = { at_ns / BIDE_SECOND, at_ns % BIDE_SECOND };
    if (at_ns != BIDE_FOREVER)
        return pthread_cond_timedwait(for_what, &f->lock, &at) == 0;
    pthread_cond_wait(for_what, &f->lock);
    return true;
}

/* Those that are due, and when the next one is. */
static int64_t collect(struct bide_fleet *f)
{
    int64_t now = bide_now_ns(), next = BIDE_FOREVER;

    f->n_due = 0;
    f->shortest_ns = BIDE_FOREVER;
    for (struct member *m = f->members; m; m = m->next) {
        if (m->rule.window_ns < f->shortest_ns)
            f->shortest_ns = m->rule.window_ns;
        if (m->next_ns <= now && f->n_due < PIPELINE)
            f->due[f->n_due++] = m;
        else if (m->next_ns < next)
            next = m->next_ns;
    }
    return next;
}

/* Those that have left: goodbye was said, or could not be, and then a window of
 * silence says it. */
static void free_gone(struct bide_fleet *f)
{
    struct member **at = &f->members;
    while (*at) {
        struct member *m = *at;
        if (m->told_leaves) {
            *at = m->next;
            free_member(m);
        } else
            at = &m->next;
    }
}

static void *run(void *arg)
{
    struct bide_fleet *f = arg;

    pthread_mutex_lock(&f->lock);
    while (!f->orphan && (!f->ends || f->members)) {
        int64_t next = collect(f);
        if (f->n_due == 0) {
            wait_until(f, &f->wake, next);
            continue;
        }
        pthread_mutex_unlock(&f->lock);
        talk(f);
        pthread_mutex_lock(&f->lock);
        free_gone(f);
    }
    f->ended = true;
    bool orphan = f->orphan;
    pthread_cond_signal(&f->quiet);
    pthread_mutex_unlock(&f->lock);
    if (orphan)
        free_fleet(f);
    return NULL;
}

/* ===== joining ===== */

static bool is_name(const char *name)
{
    size_t len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "abcdefghijklmnopqrstuvwxyz0123456789._-");
    return len > 0 && len <= LONGEST_NAME && name[len] == '\0';
}

static int check(const bide_fleet_conf *c, struct redis_url *ret,
                 char why[BIDE_FLEET_WHY])
{
    char url[REDIS_WHY];

    if (!c->store || redis_url_read(ret, c->store, url) < 0)
        snprintf(why, BIDE_FLEET_WHY, "store: %s",
                 c->store ? url : "expected redis://HOST:PORT");
    else if (!c->name || !is_name(c->name))
        snprintf(why, BIDE_FLEET_WHY, "name: expected 1 to 64 letters, digits, "
                                      "or one of . _ -");
    else if (c->instances < 1 || c->instances > 100000)
        snprintf(why, BIDE_FLEET_WHY, "instances: expected 1 to 100000");
    else if (c->timeout_ns < 10 * BIDE_MILLISECOND ||
             c->timeout_ns > 900 * BIDE_MILLISECOND)
        snprintf(why, BIDE_FLEET_WHY, "timeout: expected 10ms to 900ms");
    else
        return 0;
    return BIDE_EINVAL;
}

static int start_thread(struct bide_fleet *f)
{
    sigset_t all, old;
    int rc;

    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&f->thread, NULL, run, f);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc == 0 ? 0 : BIDE_ENOMEM;
}

static void init_locks(struct bide_fleet *f)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->wake, &monotonic);
    pthread_cond_init(&f->quiet, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

int bide_fleet_join(bide_fleet **ret, const bide_fleet_conf *conf,
                    char why[BIDE_FLEET_WHY])
{
    struct redis_url url;
    uint64_t seed;

    if (!ret || !conf || !why)
        return BIDE_EINVAL;
    if (conf->size != sizeof *conf) {
        snprintf(why, BIDE_FLEET_WHY, "%s", bide_strerror(BIDE_ESIZE));
        return BIDE_ESIZE;
    }
    int rc = check(conf, &url, why);
    if (rc < 0)
        return rc;
    struct bide_fleet *f = calloc(1, sizeof *f);
    snprintf(why, BIDE_FLEET_WHY, "%s", bide_strerror(BIDE_ENOMEM));
    if (!f)
        return BIDE_ENOMEM;
    init_locks(f);
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = (uint64_t)bide_now_ns() ^ (uint64_t)(uintptr_t)f;
    f->rng = bide_rng_seed(&f->seed, seed);
    f->id = bide_rng_hash(seed, 0, 0, 0);
    snprintf(f->name, sizeof f->name, "%s", conf->name);
    f->conf = *conf;
    f->conf.name = f->name;
    f->conf.store = NULL; /* it may hold a password; the connection has a copy */
    f->view.instances = conf->instances;
    f->script.text = fleet_script;
    f->redis = redis_new(&url);
    rc = f->redis ? start_thread(f) : BIDE_ENOMEM;
    if (rc < 0) {
        free_fleet(f);
        return rc;
    }
    *ret = f;
    return 0;
}

/* ===== members ===== */

static char *key_of(const struct bide_fleet *f, const char *name)
{
    size_t size = strlen(f->name) + strlen(name) + sizeof "{bide::}:ledger";
    char *key = malloc(size);
    if (key)
        snprintf(key, size, "{bide:%s:%s}:ledger", f->name, name);
    return key;
}

int bide_fleet_attach(bide_fleet *fleet, bide_dep *dep)
{
    if (!fleet || !dep)
        return BIDE_EINVAL;
    struct member *m = calloc(1, sizeof *m);
    if (!m || !(m->key = key_of(fleet, bide_dep_name(dep)))) {
        free(m);
        return BIDE_ENOMEM;
    }
    m->dep = dep;
    bide_share_rule_of(dep, &m->rule);
    pthread_mutex_lock(&fleet->lock);
    int rc = bide_share_init(&m->share, dep, fleet->view.instances);
    if (rc == 0) {
        snprintf(m->id, sizeof m->id, "%016llx-%u",
                 (unsigned long long)fleet->id, fleet->made++);
        m->next = fleet->members;
        fleet->members = m;
        pthread_cond_signal(&fleet->wake);
    }
    pthread_mutex_unlock(&fleet->lock);
    if (rc < 0)
        free_member(m);
    return rc;
}

/* The last report gives back what it holds, so that the others need not wait for
 * a window. Under the lock. */
static void mark_gone(struct member *m)
{
    bide_share_report(&m->share, bide_now_ns(), &m->row);
    bide_share_done(&m->share);
    m->leaves = true;
    m->dep = NULL;
    m->next_ns = 0;
}

void bide_fleet_detach(bide_fleet *fleet, bide_dep *dep)
{
    if (!fleet || !dep)
        return;
    pthread_mutex_lock(&fleet->lock);
    for (struct member *m = fleet->members; m; m = m->next)
        if (m->dep == dep)
            mark_gone(m);
    pthread_cond_signal(&fleet->wake);
    pthread_mutex_unlock(&fleet->lock);
}

void bide_fleet_leave(bide_fleet *fleet)
{
    if (!fleet)
        return;
    pthread_mutex_lock(&fleet->lock);
    fleet->ends = true;
    for (struct member *m = fleet->members; m; m = m->next)
        if (!m->leaves)
            mark_gone(m);
    pthread_cond_signal(&fleet->wake);
    int64_t until = bide_now_ns() + 2 * fleet->conf.timeout_ns;
    while (!fleet->ended && (until != BIDE_FOREVER || fleet->tells))
        if (!wait_until(fleet, &fleet->quiet, until))
            until = BIDE_FOREVER;
    bool orphan = fleet->orphan = !fleet->ended;
    pthread_t thread = fleet->thread;
    pthread_mutex_unlock(&fleet->lock);
    if (orphan) {
        pthread_detach(thread);
        return;
    }
    pthread_join(thread, NULL);
    free_fleet(fleet);
}

int bide_fleet_view_get(bide_fleet *fleet, bide_fleet_view *ret)
{
    if (!fleet || !ret)
        return BIDE_EINVAL;
    pthread_mutex_lock(&fleet->lock);
    *ret = fleet->view;
    pthread_mutex_unlock(&fleet->lock);
    return 0;
}
