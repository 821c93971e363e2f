/* The fleets. A client thinks for a while, makes a call, and thinks again;
 * while it waits between attempts it makes no other call, like people and
 * workers. The engine makes every decision; nothing here depends on the
 * policy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "bide/run.h"
#include "cmd/demo/clients.h"
#include "cmd/demo/demo.h"
#include "observe/event/event.h"
#include "observe/event/ring.h"

enum { LOOK_MS = 50 };

static void count(struct demo_client *c, enum demo_count what)
{
    demo_tally_add(&c->fleet->tally, what, c->all->loop.now_ns);
}

/* ===== events for the dashboard ===== */

static void sign(struct bide__event *e, const struct demo_client *c)
{
    char text[80];
    const char *name = demo_fleet_name(c->fleet->number);
    int n = snprintf(text, sizeof text, "GET /%s", name);

    e->attempts = bide_dep_policy(c->fleet->dep)->attempts;
    bide__event_put(e, BIDE__DEP, name, strlen(name));
    bide__event_put(e, BIDE__OPERATION, text, (size_t)n);
    n = snprintf(text, sizeof text, "127.0.0.1:%u",
                 ntohs(c->fleet->origin.to.in.sin_port));
    bide__event_put(e, BIDE__ENDPOINT, text, (size_t)n);
}

/* An attempt that failed, and the engine's decision. */
static void record_failure(struct demo_client *c, const bide_decision *d)
{
    bide_verdict verdict;
    struct bide__event *e =
        c->all->demo->ring ? bide__ring_next(c->all->demo->ring) : NULL;

    if (!e)
        return;
    bide__event_attempt(e, c->attempt, c->why, &c->last, c->attempt_ns,
                        c->all->loop.now_ns);
    if (bide_call_verdict(&c->call, &verdict) == 0)
        bide__event_decision(e, d, &verdict);
    e->asked_ns = c->asked_ns;
    e->slept_ns = c->slept_ns;
    sign(e, c);
    bide__ring_commit(c->all->demo->ring);
}

/* A call that was refused before its first attempt. */
static void record_refusal(struct demo_client *c, bide_reason reason)
{
    struct bide__event *e =
        c->all->demo->ring ? bide__ring_next(c->all->demo->ring) : NULL;

    if (!e)
        return;
    bide__event_call(e, 0, reason, &c->last, c->call_ns, c->all->loop.now_ns);
    sign(e, c);
    bide__ring_commit(c->all->demo->ring);
}

/* ===== a call ===== */

/* Thinks for up to twice the average: clients in step drift apart, unless a
 * policy synchronizes them again. */
static void think(struct demo_client *c)
{
    int64_t usual = c->all->demo->plan.think_ns;

    c->state = DEMO_THINKS;
    net_timer_set(&c->all->loop, &c->timer,
                  c->all->loop.now_ns +
                      bide_rng_between(&c->all->rng, 0, 2 * usual));
}

static void end_call(struct demo_client *c, bide_reason reason)
{
    if (bide_call_attempts(&c->call) == 0)
        record_refusal(c, reason);
    bide_call_end(&c->call, c->all->loop.now_ns);
    count(c, reason == BIDE_BECAUSE_SUCCESS ? DEMO_GOOD : DEMO_FAILED);
    think(c);
}

/* False: it failed already, and has been reported. */
static bool try_it(struct demo_client *c, const bide_decision *d)
{
    int64_t now = c->all->loop.now_ns;

    c->slept_ns = c->attempt ? now - c->failed_ns : 0;
    c->attempt = d->attempt;
    c->why = d->reason;
    c->attempt_ns = now;
    c->state = DEMO_TRIES;
    count(c, DEMO_SENT);
    if (demo_wire_send(c, net_after(now, d->timeout_ns)))
        return true;
    bide_response r = { .fault = BIDE_FAULT_LOCAL, .not_sent = true };
    c->last = bide_classify(c->fleet->dep, &r);
    c->failed_ns = now;
    bide_call_report(&c->call, c->attempt, &c->last, now);
    return false;
}

/* Follows the engine's decisions until there is something to wait for. */
static void go_on(struct demo_client *c, bool failed)
{
    for (;;) {
        bide_decision d = bide_call_next(&c->call, c->all->loop.now_ns);
        if (failed)
            record_failure(c, &d);
        if (d.action == BIDE_DONE) {
            end_call(c, d.reason);
            return;
        }
        if (d.action == BIDE_WAIT) {
            c->asked_ns = d.at_ns - c->all->loop.now_ns;
            c->state = DEMO_WAITS;
            net_timer_set(&c->all->loop, &c->timer, d.at_ns);
            return;
        }
        if (try_it(c, &d))
            return;
        failed = true;
    }
}

void demo_attempt_ended(struct demo_client *c, const bide_response *r)
{
    int64_t now = c->all->loop.now_ns;

    c->last = bide_classify(c->fleet->dep, r);
    c->failed_ns = now;
    bide_call_report(&c->call, c->attempt, &c->last, now);
    go_on(c, c->last.cls != BIDE_SUCCESS);
}

static void begin_call(struct demo_client *c)
{
    bide_op op = { .idempotent = true };

    c->call_ns = c->all->loop.now_ns;
    c->attempt = 0;
    c->asked_ns = 0;
    c->last = (bide_outcome){ .cls = BIDE_IGNORED };
    count(c, DEMO_BEGUN);
    bide_call_begin(&c->call, c->fleet->dep, &op, c->call_ns);
    go_on(c, false);
}

static void on_timer(struct net_timer *timer)
{
    struct demo_client *c = (struct demo_client *)(void *)timer;

    if (c->state == DEMO_THINKS)
        begin_call(c);
    else
        go_on(c, false);
}

/* ===== all of them ===== */

static void on_look(struct net_timer *timer)
{
    struct demo_clients *all =
        bide__container_of(timer, struct demo_clients, look);
    net_timer_set(&all->loop, timer,
                  all->loop.now_ns + LOOK_MS * BIDE_MILLISECOND);
}

/* Client k of each fleet starts at the same time: the fleets are alike. */
static void place(struct demo_clients *all, unsigned k, int64_t at_ns)
{
    for (unsigned i = 0; i < DEMO_FLEETS; i++) {
        struct demo_client *c = &all->list[k * DEMO_FLEETS + i];
        c->timer.fire = on_timer;
        demo_wire_init(c);
        c->all = all;
        c->fleet = &all->demo->fleets[i];
        net_timer_set(&all->loop, &c->timer, at_ns);
    }
}

bool demo_clients_init(struct demo_clients *all, struct demo *demo)
{
    if (net_loop_init(&all->loop) < 0)
        return false;
    all->demo = demo; /* from now on there is something to free */
    all->n = (size_t)demo->plan.clients * DEMO_FLEETS;
    all->list = calloc(all->n, sizeof *all->list);
    if (!all->list)
        return false;
    all->rng = bide_rng_seed(&all->luck, 1);
    for (unsigned k = 0; k < demo->plan.clients; k++)
        place(all, k,
              demo->start_ns +
                  bide_rng_between(&all->rng, 0, demo->plan.think_ns));
    all->look.fire = on_look;
    net_timer_set(&all->loop, &all->look, demo->start_ns);
    return true;
}

void demo_clients_run(struct demo_clients *all)
{
    while (!atomic_load(&all->demo->stop))
        net_loop_step(&all->loop);
}

void demo_clients_done(struct demo_clients *all)
{
    for (size_t i = 0; all->list && i < all->n; i++) {
        struct demo_client *c = &all->list[i];
        if (c->state != DEMO_THINKS)
            bide_call_end(&c->call, all->loop.now_ns);
        http_client_close(&c->http);
    }
    free(all->list);
    net_loop_done(&all->loop);
}
