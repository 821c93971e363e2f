/* Whoever reports for a dependency, and applies what the ledger says. */
#include <stddef.h>
#include <string.h>

#include "bide/error.h"
#include "bide/share.h"
#include "lib/dep.h"
#include "lib/host.h"

enum {
    MOST = 1 << 30,         /* of anything that a ledger says */
    MOST_INSTANCES = 100000,
    NEVER = 2000000         /* millionths of all: a rate that is off */
};

/* Counts of a closed time that is over are reported for a second more: then the
 * others have heard of it. Whoever closes does not listen for twice as long, so
 * that it hears nothing old. */
#define AFTER_OPENING_NS BIDE_SECOND
#define AFTER_CLOSING_NS (2 * BIDE_SECOND)

/* It lives in the caller's bide_share, hence may_alias. */
struct __attribute__((may_alias)) member {
    bide_dep *dep;
    uint64_t wanted;        /* as of the last report */
    uint64_t reopened;      /* the same */
    uint64_t failed_before;
    int64_t opened_ns;      /* when it was first seen open, ... */
    int64_t closed_ns;      /* ... and closed again; -1: never was open */
    uint64_t instance;      /* whose row it is; 0: its own */
    uint32_t instances;     /* as last known; 0: never heard */
    uint16_t generation;    /* its last closed one */
    bool was_closed;
    bool by_fleet;          /* it was closed by the fleet, not by its probes */
    bool recovered, probe_failed; /* to be told until a reply comes */
    int64_t held;           /* as reported */
};

_Static_assert(sizeof(struct member) <= sizeof(bide_share),
               "bide_share must hold it");

static struct member *opened(bide_share *share)
{
    return (struct member *)share;
}

/* The number under which all that share this memory report; 0: nobody does, or
 * the kernel gives none. A seed of the program's own would be the same elsewhere. */
static uint64_t instance_of(bide_dep *dep)
{
    uint64_t have = atomic_load(&dep->instance), mine;
    if (!dep->host.shared || have != 0 || !bide__host_entropy(&mine))
        return have;
    mine |= 1;
    return atomic_compare_exchange_strong(&dep->instance, &have, mine) ? mine
                                                                       : have;
}

static uint64_t reopened(const bide_dep *dep)
{
    return atomic_load(&dep->breaker.entered[BIDE_BREAKER_OPEN]) -
           atomic_load(&dep->breaker.trips);
}

int bide_share_init(bide_share *share, bide_dep *dep, uint32_t instances)
{
    if (!share || !dep)
        return BIDE_EINVAL;
    struct bide__share *s = &dep->share;
    if (atomic_load(&s->on))
        return BIDE_ESTATE;
    memset(share, 0, sizeof *share);
    struct member *m = opened(share);
    m->dep = dep;
    m->was_closed = true;
    m->closed_ns = -1;
    m->instance = instance_of(dep);
    m->reopened = reopened(dep);
    if (instances < 1)
        instances = 1;
    atomic_store(&s->instances, instances);
    atomic_store(&s->floor, dep->policy.budget_floor / instances);
    atomic_store(&s->gated, false);
    atomic_store(&s->joined_until_ns, 0);
    atomic_store(&s->lease_until_ns, 0);
    atomic_store(&s->debt_until_ns, 0);
    atomic_store(&s->unheard_until_ns, -1);
    atomic_store_explicit(&s->on, true, memory_order_release);
    return 0;
}

void bide_share_done(bide_share *share)
{
    if (!share || !opened(share)->dep)
        return;
    struct bide__share *s = &opened(share)->dep->share;
    atomic_store(&s->gated, false);
    atomic_store(&s->lease_until_ns, 0);
    atomic_store_explicit(&s->on, false, memory_order_release);
    opened(share)->dep = NULL;
}

void bide_share_rule_of(const bide_dep *dep, bide_share_rule *ret)
{
    const struct bide__policy *p = &dep->policy;
    bool breaker = p->conf.breaker.kind != BIDE_BREAKER_OFF;
    bool budget = p->conf.budget.kind == BIDE_BUDGET_WINDOW;
    *ret = (bide_share_rule){
        .window_ns = p->conf.budget.window_ns,
        .floor = budget ? p->budget_floor : 0,
        .ratio = budget ? p->budget_ratio : 0,
        .failure_rate = breaker ? p->failure_rate : NEVER,
        .slow_rate = breaker ? p->slow_rate : NEVER,
        .probes = p->conf.breaker.probes,
    };
}

/* ===== reporting ===== */

/* The breaker has closed, or opened again, since the last time. */
static void see_breaker(struct member *m, bide_breaker_state state, int64_t now)
{
    bide_dep *dep = m->dep;
    bool gated = atomic_load(&dep->share.gated);
    uint64_t again = reopened(dep);

    if (state == BIDE_BREAKER_CLOSED) {
        m->recovered = m->recovered ||
                       (!m->was_closed && gated && !m->by_fleet);
        if (!m->was_closed)
            m->closed_ns = now;
        m->was_closed = true;
        m->by_fleet = false;
        atomic_store(&dep->share.gated, false);
    } else {
        if (m->was_closed || again != m->reopened)
            m->opened_ns = now;
        m->probe_failed = m->probe_failed || (gated && again != m->reopened);
        m->was_closed = false;
    }
    m->reopened = again;
}

static void report_breaker(struct member *m, int64_t now, bide_share_row *ret)
{
    bide_dep *dep = m->dep;
    const struct bide__breaker *b = &dep->breaker;
    bide_breaker_state state = bide__breaker_normal_state(b, now);
    struct bide__breaker_counts seen = { 0, 0, 0 };
    uint16_t generation;

    if (dep->policy.conf.breaker.kind == BIDE_BREAKER_OFF)
        return;
    see_breaker(m, state, now);
    bide__breaker_idle(b, &generation);
    if (state == BIDE_BREAKER_CLOSED)
        m->generation = generation;
    if (m->was_closed || now - m->opened_ns < AFTER_OPENING_NS)
        seen = bide__breaker_counted(b, &dep->policy, dep->lanes, m->generation,
                                     now);
    ret->attempts = seen.all;
    ret->failed = seen.failed;
    ret->slow = seen.slow;
    for (uint32_t i = 0; i < dep->policy.conf.breaker.probes; i++)
        ret->probing += atomic_load(&b->probe[i]) > now;
    ret->wants_probes = state == BIDE_BREAKER_HALF_OPEN &&
                        atomic_load(&dep->share.gated);
    ret->recovered = m->recovered;
    ret->probe_failed = m->probe_failed;
    if (m->probe_failed) {
        int64_t until = bide__breaker_open_until(b);
        ret->hold_ns = until > now ? until - now : 0;
    }
    ret->busy = ret->failed != m->failed_before || ret->wants_probes ||
                !m->was_closed;
    m->failed_before = ret->failed;
}

/* The lease first, the window second: see share.h. */
static void report_budget(struct member *m, int64_t now, bide_share_row *ret)
{
    bide_dep *dep = m->dep;
    const struct bide__policy *p = &dep->policy;
    struct bide__share *s = &dep->share;

    if (p->conf.budget.kind != BIDE_BUDGET_WINDOW)
        return;
    m->held = now < atomic_load(&s->lease_until_ns) ? atomic_load(&s->lease)
                                                     : 0;
    ret->held = m->held > 0 ? (uint64_t)m->held : 0;
    ret->spent = (uint64_t)bide__spend_outstanding(
        &dep->budget.spend, bide__tick(p->spend_ticks, now));
    ret->deposits = bide__lanes_sum(dep->lanes, p->conf.lanes,
                                    offsetof(struct bide__lane, deposits),
                                    bide__tick(p->deposit_ticks, now), 0);
    uint64_t wanted = atomic_load(&s->wanted);
    ret->busy = ret->busy || wanted != m->wanted;
    m->wanted = wanted;
}

void bide_share_report(bide_share *share, int64_t now_ns, bide_share_row *ret)
{
    struct member *m = opened(share);
    *ret = (bide_share_row){ .instance = m->instance };
    report_breaker(m, now_ns, ret);
    report_budget(m, now_ns, ret);
}

/* ===== applying ===== */

static uint64_t at_most(uint64_t n, uint64_t most)
{
    return n < most ? n : most;
}

/* Adds to the lease, or takes back what is left of it. */
static void set_lease(struct member *m, int64_t held, int64_t now)
{
    struct bide__share *s = &m->dep->share;
    int64_t change = held - m->held;

    if (now >= atomic_load(&s->lease_until_ns)) {
        atomic_store(&s->lease, held); /* the last one is void */
    } else if (change >= 0) {
        atomic_fetch_add(&s->lease, change);
    } else {
        int64_t have = atomic_load(&s->lease), want;
        do
            want = have + change > 0 ? have + change : 0;
        while (have > want &&
               !atomic_compare_exchange_weak(&s->lease, &have, want));
    }
}

/* What the others have spent over their part, and we therefore must not. */
static int64_t debt_of(const struct member *m, const bide_share_reply *r,
                       int64_t floor, int64_t now)
{
    bide_dep *dep = m->dep;
    const struct bide__policy *p = &dep->policy;
    double deposits = (double)bide__lanes_sum(
        dep->lanes, p->conf.lanes, offsetof(struct bide__lane, deposits),
        bide__tick(p->deposit_ticks, now), 0);
    double ours = ((double)floor + (double)p->budget_ratio * deposits) /
                  BIDE__MILLION;
    double spent = (double)bide__spend_outstanding(
        &dep->budget.spend, bide__tick(p->spend_ticks, now));
    double allowed = (double)at_most(r->allowed, MOST);
    double used = (double)at_most(r->used, MOST);
    double debt = allowed > 0 ? used * (ours / allowed) - spent : 0;
    if (debt > MOST)
        debt = MOST;
    return debt > 0 ? (int64_t)(debt + 0.999) : 0;
}

/* A fresh ledger has not heard of all of us yet: no count under the last one
 * is believed. What it has heard of, such as what programs that have ended since
 * have spent, does count. */
static void apply_budget(struct member *m, const bide_share_reply *r,
                         int64_t now)
{
    const struct bide__policy *p = &m->dep->policy;
    struct bide__share *s = &m->dep->share;
    uint32_t n = r->instances < 1 ? 1 : r->instances;

    if (n > MOST_INSTANCES)
        n = MOST_INSTANCES;
    if (r->fresh && n < m->instances)
        n = m->instances;
    m->instances = n;
    atomic_store(&s->instances, n);
    atomic_store(&s->floor, p->budget_floor / n);
    atomic_store(&s->allowed, at_most(r->allowed, MOST));
    atomic_store(&s->used, at_most(r->used, MOST));
    bool window = p->conf.budget.kind == BIDE_BUDGET_WINDOW;
    if (window) {
        atomic_store(&s->debt, debt_of(m, r, p->budget_floor / n, now));
        atomic_store(&s->debt_until_ns, bide__add_ns(now, p->conf.budget.window_ns));
    }
    if (!window || r->fresh) {
        atomic_store(&s->lease_until_ns, 0);
        return;
    }
    set_lease(m, (int64_t)at_most(r->held, MOST), now);
    atomic_store_explicit(&s->lease_until_ns,
                          bide__add_ns(now, BIDE_SHARE_HOLDS_NS),
                          memory_order_release);
}

/* Most of those with traffic, at least two, and all of them together. */
static bool fleet_fails(const struct bide__policy *p, const bide_share_reply *r)
{
    return r->failing >= 2 && 2 * (uint64_t)r->failing > r->with_traffic &&
           r->attempts >= p->conf.breaker.min_calls && r->attempts <= MOST &&
           r->failed <= r->attempts && r->slow <= r->attempts &&
           ((r->failed != 0 &&
             bide__reaches(r->failed, r->attempts, p->failure_rate)) ||
            (r->slow != 0 && bide__reaches(r->slow, r->attempts, p->slow_rate)));
}

static void announce(bide_dep *dep, const struct bide__transition *t,
                     int64_t now)
{
    if (t->happened && dep->host.on_breaker)
        dep->host.on_breaker(dep->host.ctx, dep, t->from, t->to, now);
}

static void open_by_fleet(struct member *m, int64_t now)
{
    bide_dep *dep = m->dep;
    struct bide__transition t = { false, 0, 0 };
    struct bide__breaker_env env = { &dep->breaker, &dep->policy, dep->lanes,
                                     dep->lanes, &dep->rng };
    bide__breaker_open(&env, now, &t);
    if (!t.happened)
        return;
    m->was_closed = false;
    m->opened_ns = now;
    atomic_store(&dep->share.gated, true);
    atomic_fetch_add(&dep->share.opened, 1);
    announce(dep, &t, now);
}

static void close_by_fleet(struct member *m, int64_t now)
{
    bide_dep *dep = m->dep;
    struct bide__transition t = { false, 0, 0 };
    bide__breaker_close(&dep->breaker, &t);
    if (!t.happened)
        return;
    m->by_fleet = true;
    atomic_fetch_add(&dep->share.closed, 1);
    announce(dep, &t, now);
}

static void apply_breaker(struct member *m, const bide_share_reply *r,
                          int64_t now)
{
    bide_dep *dep = m->dep;
    struct bide__share *s = &dep->share;
    bool fails = fleet_fails(&dep->policy, r);
    bool deaf = m->closed_ns >= 0 && now - m->closed_ns < AFTER_CLOSING_NS;

    atomic_store(&s->with_traffic, r->with_traffic);
    atomic_store(&s->failing, r->failing);
    if (dep->policy.conf.breaker.kind == BIDE_BREAKER_OFF ||
        bide__breaker_mode(&dep->breaker) == BIDE_BREAKER_FORCED_OPEN ||
        bide__breaker_mode(&dep->breaker) == BIDE_BREAKER_FORCED_CLOSED)
        return;
    if (bide__breaker_normal_state(&dep->breaker, now) == BIDE_BREAKER_CLOSED) {
        if (fails && !deaf)
            open_by_fleet(m, now);
        return;
    }
    if (fails && !deaf)
        atomic_store(&s->gated, true);
    if (atomic_load(&s->gated) && r->recovered_ns >= 0 &&
        m->opened_ns < now - r->recovered_ns)
        close_by_fleet(m, now);
    else if (r->probes > 0) {
        uint32_t most = dep->policy.conf.breaker.probes;
        atomic_store(&s->permits, r->probes < most ? r->probes : most);
        atomic_store(&s->permits_until_ns,
                     bide__add_ns(now, BIDE_SHARE_HOLDS_NS));
    }
}

void bide_share_apply(bide_share *share, const bide_share_reply *reply,
                      int64_t now_ns)
{
    struct member *m = opened(share);
    atomic_store(&m->dep->share.unheard_until_ns, 0);
    if (!reply)
        return;
    m->recovered = m->probe_failed = false;
    apply_budget(m, reply, now_ns);
    apply_breaker(m, reply, now_ns);
    atomic_store(&m->dep->share.joined_until_ns,
                 bide__add_ns(now_ns, BIDE_SHARE_HOLDS_NS));
}
