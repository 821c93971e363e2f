/* The store of a generation, and a worker's way to it. */
#include "proxy/once/port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/proxy/conf.h"
#include "config/store/conf.h"
#include "proxy/generation.h"
#include "proxy/hooks.h"
#include "proxy/once/once.h"
#include "proxy/worker.h"

/* ===== the store ===== */

bool once_is_used(const struct bide__proxy_conf *conf)
{
    for (size_t i = 0; i < conf->n_routes; i++)
        if (conf->routes[i].idempotency.accept != BIDE__ACCEPT_OFF)
            return true;
    return false;
}

struct once_store *once_store_ref(struct once_store *s)
{
    if (s)
        atomic_fetch_add(&s->refs, 1);
    return s;
}

static bool is_same(const struct once_store *s,
                    const struct bide__store_settings *settings)
{
    return strcmp(s->url, settings->url) == 0 &&
           s->conf.timeout_ns == settings->timeout_ns &&
           s->conf.limit_bytes == settings->limit_bytes &&
           s->conf.relaxed == settings->relaxed;
}

struct once_store *
once_store_open(const struct bide__store_settings *settings,
                const struct proxy_hooks *hooks, struct once_store *open,
                char *err, size_t err_size)
{
    if (open && is_same(open, settings))
        return once_store_ref(open);
    snprintf(err, err_size, "no memory");
    struct once_store *s = calloc(1, sizeof *s);
    if (!s || !(s->url = strdup(settings->url))) {
        free(s);
        return NULL;
    }
    s->conf = (bide_store_conf)BIDE_STORE_CONF_INIT;
    s->conf.timeout_ns = settings->timeout_ns;
    s->conf.limit_bytes = settings->limit_bytes;
    s->conf.relaxed = settings->relaxed;
    s->conf.on_change = hooks->on_store;
    s->conf.ctx = hooks->ctx;
    if (bide_store_open(&s->store, s->url, &s->conf, err, err_size) < 0) {
        free(s->url);
        free(s);
        return NULL;
    }
    atomic_init(&s->refs, 1);
    return s;
}

void once_store_unref(struct once_store *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    bide_store_close(s->store);
    free(s->url);
    free(s);
}

/* ===== results ===== */

static void count_wait(const struct once *o)
{
    struct worker *w = o->port->worker;
    count(&w->counters.idempotency_waits);
    count_n(&w->counters.idempotency_waited,
            (uint64_t)(w->loop.now_ns - o->asked_ns) / 1000);
}

static void on_result(bide_store_op *op)
{
    struct once *o = op->tag;
    if (op == &o->renewal) {
        o->renewing = false;
        return;
    }
    o->waits = false;
    count_wait(o);
    if (o->phase == ONCE_CLAIMING)
        once_claimed(o);
    else
        once_kept(o);
}

static void on_ready(struct net_io *io, unsigned events)
{
    struct once_port *p = (struct once_port *)io;
    bide_store_op *op;
    (void)events;
    once_port_use(p); /* the last key may leave meanwhile */
    while ((op = bide_store_reap(p->port)) != NULL)
        on_result(op);
    once_port_leave(p);
}

bool once_submit(struct once *o, bide_store_op *op)
{
    if (op == &o->op)
        o->asked_ns = o->port->worker->loop.now_ns;
    return bide_store_submit(o->port->port, op) == 0;
}

/* ===== leases ===== */

/* Early enough for two more tries. */
static int64_t renew_at(const struct once *o, int64_t now)
{
    return now + o->conf->lease_ns / 3;
}

static void set_timer(struct once_port *p, int64_t at_ns)
{
    struct net_loop *loop = &p->worker->loop;
    if (!bide__timer_is_set(&p->timer.timer) || p->timer.timer.at_ns > at_ns)
        net_timer_set(loop, &p->timer, at_ns);
}

static void renew(struct once *o, int64_t now)
{
    o->renew_ns = renew_at(o, now);
    if (o->renewing || o->phase != ONCE_OURS)
        return;
    o->renewal = o->op;
    o->renewal.verb = BIDE_STORE_RENEW;
    o->renewal.data = o->renewal._answer = o->renewal._job = NULL;
    o->renewal.len = 0;
    o->renewing = once_submit(o, &o->renewal);
}

static void on_time(struct net_timer *t)
{
    struct once_port *p = bide__container_of(t, struct once_port, timer);
    int64_t now = p->worker->loop.now_ns, next = INT64_MAX;
    for (struct bide__list *at = p->ours.next; at != &p->ours; at = at->next) {
        struct once *o = bide__container_of(at, struct once, ours);
        if (o->renew_ns <= now)
            renew(o, now);
        if (o->renew_ns < next)
            next = o->renew_ns;
    }
    if (next != INT64_MAX)
        set_timer(p, next);
}

void once_hold_lease(struct once *o)
{
    o->renew_ns = renew_at(o, o->port->worker->loop.now_ns);
    bide__list_append(&o->port->ours, &o->ours);
    set_timer(o->port, o->renew_ns);
}

void once_drop_lease(struct once *o)
{
    if (o->renewing)
        bide_store_forget(o->port->port, &o->renewal);
    o->renewing = false;
    if (bide__list_has(&o->ours))
        bide__list_remove(&o->ours);
}

/* ===== a worker's port ===== */

static void port_bury(void *user, struct net_grave *grave)
{
    (void)user;
    free(bide__container_of(grave, struct once_port, grave));
}

/* Closing its descriptor also ends the loop's interest in it. */
void once_port_free(struct once_port *p)
{
    if (!p)
        return;
    net_timer_cancel(&p->worker->loop, &p->timer);
    net_loop_remove(&p->worker->loop, &p->io);
    bide_store_port_free(p->port);
    p->io.fd = -1;
    once_store_unref(p->store);
    net_loop_bury(&p->worker->loop, &p->grave, port_bury);
}

static struct once_port *port_new(struct worker *w, struct once_store *s)
{
    struct once_port *p = calloc(1, sizeof *p);
    if (!p || bide_store_port_new(&p->port, s->store) < 0) {
        free(p);
        return NULL;
    }
    p->worker = w;
    p->io.ready = on_ready;
    p->timer.fire = on_time;
    bide__list_init(&p->ours);
    if (net_loop_add_level(&w->loop, &p->io, bide_store_port_fd(p->port), 0) <
        0) {
        bide_store_port_free(p->port);
        free(p);
        return NULL;
    }
    p->store = once_store_ref(s);
    return p;
}

void once_port_use(struct once_port *p)
{
    p->n_keys++;
}

void once_port_leave(struct once_port *p)
{
    if (--p->n_keys == 0 && p->retired)
        once_port_free(p);
}

bool once_follow(struct worker *w)
{
    struct once_store *s = w->generation->store;
    struct once_port *old = w->once;
    if (old ? old->store == s : !s)
        return true;
    struct once_port *p = s ? port_new(w, s) : NULL;
    if (s && !p)
        return false;
    w->once = p;
    if (old) {
        once_port_use(old);
        old->retired = true;
        once_port_leave(old);
    }
    return true;
}
