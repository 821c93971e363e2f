/* Creating a dependency, and the views of it that are not statistics.
 *
 * Everything is in one block: one allocation to fail, one to free, and the
 * order of the parts is the order on the cache lines. */
#include "lib/dep.h"

#include <stddef.h>
#include <string.h>

#include "bide/error.h"
#include "lib/host.h"
#include "lib/response/outcome.h"
#include "lib/rng.h"
#include "lib/sized.h"

enum { NAME_MAX_LEN = 255 };

/* ===== drawing ===== */

/* A forked process must not draw what its parent draws: the mark is wiped on
 * fork, and a process that finds it wiped reseeds. If the kernel refuses, the
 * old seed is mixed instead. */
static void reseed_after_fork(bide_dep *dep)
{
    uint64_t seed;
    if (!bide__host_entropy(&seed))
        seed = bide__mix(atomic_load(&dep->seed));
    atomic_store(&dep->seed, seed);
    __atomic_store_n(dep->fork_mark, 1, __ATOMIC_RELEASE);
}

static uint64_t draw(void *state)
{
    bide_dep *dep = state;
    if (dep->fork_mark &&
        __atomic_load_n(dep->fork_mark, __ATOMIC_ACQUIRE) == 0)
        reseed_after_fork(dep);
    uint64_t n =
        atomic_fetch_add_explicit(&dep->draws, 1, memory_order_relaxed);
    uint64_t seed = atomic_load_explicit(&dep->seed, memory_order_relaxed);
    return bide__mix(seed + (n + 1) * BIDE__GOLDEN);
}

static int seed_it(bide_dep *dep)
{
    uint64_t seed;
    if (dep->host.seed) {
        seed = *dep->host.seed;
        dep->host.seed = NULL; /* it need not outlive this call */
    } else {
        if (!bide__host_entropy(&seed))
            return BIDE_EENTROPY;
        dep->fork_mark = bide__host_fork_mark();
    }
    atomic_init(&dep->seed, bide__mix(seed));
    dep->rng = (bide_rng){ draw, dep };
    return 0;
}

/* ===== layout ===== */

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t rules_size(const bide_policy_conf *conf)
{
    size_t size = conf->n_rules * sizeof(bide_rule);
    for (size_t i = 0; i < conf->n_rules; i++) {
        const bide_rule *r = &conf->rules[i];
        size += text_size(r->method) + text_size(r->header) +
                text_size(r->header_value) + text_size(r->problem_type);
    }
    return size;
}

static size_t ring_size(const bide_policy_conf *conf)
{
    return conf->breaker.kind == BIDE_BREAKER_COUNT
               ? conf->breaker.window_calls * sizeof(_Atomic uint16_t)
               : 0;
}

static size_t latency_size(const bide_policy_conf *conf)
{
    return conf->latency.measure ? conf->lanes * sizeof(struct bide__latency)
                                 : 0;
}

/* The first part of the block, with room to align the second, ... */
static size_t own_size(const bide_policy_conf *conf, const char *name)
{
    return BIDE__CACHE_LINE - 1 + text_size(name) + rules_size(conf) +
           offsetof(struct bide_dep, breaker);
}

/* ... and the second. */
static size_t shared_size(const bide_policy_conf *conf)
{
    return sizeof(bide_dep) - offsetof(struct bide_dep, breaker) +
           conf->lanes * sizeof(struct bide__lane) + latency_size(conf) +
           ring_size(conf);
}

/* Cuts `size` bytes off the rest of the block. */
static void *cut(char **rest, size_t size)
{
    char *part = *rest;
    *rest += size;
    return size ? part : NULL;
}

static const char *copy_text(char **rest, const char *text)
{
    char *copy = cut(rest, text_size(text));
    return copy ? memcpy(copy, text, text_size(text)) : NULL;
}

static void copy_rules(bide_rule *copies, char **rest,
                       const bide_policy_conf *conf)
{
    for (size_t i = 0; i < conf->n_rules; i++) {
        bide_rule *r = &copies[i];
        *r = conf->rules[i];
        r->method = copy_text(rest, r->method);
        r->header = copy_text(rest, r->header);
        r->header_value = copy_text(rest, r->header_value);
        r->problem_type = copy_text(rest, r->problem_type);
    }
}

/* After the struct, the widest alignment first; before it the rules, and at the
 * very beginning the text. */
static void lay_out(bide_dep *dep, const bide_policy_conf *conf,
                    const char *name)
{
    char *rest = (char *)(dep + 1), *text = dep->memory;
    bide_rule *rules = (bide_rule *)dep - conf->n_rules;
    dep->lanes = cut(&rest, conf->lanes * sizeof(struct bide__lane));
    dep->latency = cut(&rest, latency_size(conf));
    copy_rules(rules, &text, conf);
    dep->policy.conf.rules = conf->n_rules ? rules : NULL;
    dep->name = copy_text(&text, name);
}

/* ===== the state ===== */

/* A number for some numbers, never 0. */
static uint64_t mixed(const uint64_t *parts, size_t n)
{
    uint64_t stamp = 0;
    for (size_t i = 0; i < n; i++)
        stamp = bide__mix(stamp ^ parts[i]) + BIDE__GOLDEN;
    return stamp | 1;
}

/* Where the words of a state are. Increment it when the layout changes. */
static uint64_t layout_of(const bide_policy_conf *c)
{
    enum { LAYOUT = 2 };
    const uint64_t parts[] = { LAYOUT, shared_size(c), c->lanes,
                               c->latency.measure };
    return mixed(parts, sizeof parts / sizeof parts[0]);
}

/* What must be the same for all processes that share a state: its layout, the
 * length of its ticks, the meaning of its words. */
static uint64_t stamp_of(const struct bide__policy *p)
{
    const bide_policy_conf *c = &p->conf;
    const uint64_t parts[] = {
        layout_of(c),
        (uint64_t)c->latency.window_ns, (uint64_t)c->budget.kind,
        (uint64_t)c->budget.window_ns, c->budget.capacity,
        (uint64_t)p->max_tokens, (uint64_t)c->breaker.kind,
        (uint64_t)c->breaker.mode, (uint64_t)c->breaker.window_ns,
        c->breaker.window_calls, (uint64_t)c->limits.throttle_window_ns,
        (uint64_t)c->hedge.window_ns, (uint64_t)c->limits.adaptive,
    };
    return mixed(parts, sizeof parts / sizeof parts[0]);
}

static uint64_t ring_place(const bide_policy_conf *conf)
{
    return shared_size(conf) - ring_size(conf);
}

static void start_state(bide_dep *dep)
{
    const bide_policy_conf *conf = &dep->policy.conf;
    dep->breaker.ring_at = ring_place(conf);
    bide__breaker_init(&dep->breaker, &dep->policy);
    bide__budget_init(&dep->budget, &dep->policy);
    bide__adaptive_init(&dep->adaptive, &conf->limits);
    atomic_init(&dep->hedge_after_ns, -1);
    atomic_init(&dep->measured_since_ns, -1);
    dep->made_for = bide__made_for(conf);
    dep->layout = layout_of(conf);
    dep->stamp = stamp_of(&dep->policy);
}

/* A process that was killed left its attempts running and its calls open. */
static void reclaim_state(bide_dep *dep)
{
    bide__breaker_reclaim(&dep->breaker, &dep->policy);
    memset(&dep->gate, 0, sizeof dep->gate); /* the next call finds out */
    atomic_fetch_and(&dep->breaker.mode,
                     ~(uint32_t)(BIDE__GATE_ASK | BIDE__GATE_TELL));
    bide__budget_reclaim(&dep->budget, &dep->policy);
    bide__spend_recount(&dep->hedge_spend);
    atomic_store(&dep->places.used, 0);
    atomic_store(&dep->places.queued, 0);
    for (uint32_t i = 0; i < dep->policy.conf.lanes; i++)
        atomic_store(&dep->lanes[i].running, 0);
}

/* The policy has changed since the state was made: what was spent stays spent.
 * Only if nobody else uses it, because its words change their meaning. */
static void take_state_over(bide_dep *dep)
{
    int64_t at_ns;
    const struct bide__made_for other = dep->made_for;
    bide__spend_recount(&dep->budget.spend);
    bide_dep_state state = bide__state_of_other(dep, &other, &at_ns);
    bool retries = bide_dep_retries(dep);
    uint64_t instance = atomic_load(&dep->instance);
    memset(&dep->breaker, 0, shared_size(&dep->policy.conf));
    start_state(dep);
    atomic_store(&dep->instance, instance);
    bide_dep_set_retries(dep, retries);
    bide_dep_state_set(dep, &state, at_ns);
}

static int join_state(bide_dep *dep)
{
    bool fits = dep->stamp == stamp_of(&dep->policy);
    if (dep->stamp == 0)
        start_state(dep);
    else if (fits && (dep->breaker.ring_at != ring_place(&dep->policy.conf) ||
                      !bide__breaker_is_sound(&dep->breaker)))
        return BIDE_ESTATE; /* damaged */
    else if (fits && dep->host.alone)
        reclaim_state(dep);
    else if (!fits && dep->host.alone &&
             dep->layout == layout_of(&dep->policy.conf))
        take_state_over(dep);
    else if (!fits)
        return BIDE_ESTATE;
    return 0;
}

/* ===== from new to free ===== */

/* Puts the boundary between the two parts on a cache line. */
static bide_dep *place(void *memory, size_t own)
{
    uintptr_t shared = ((uintptr_t)memory + own) &
                       ~(uintptr_t)(BIDE__CACHE_LINE - 1);
    return (bide_dep *)(shared - offsetof(struct bide_dep, breaker));
}

/* Everything that can fail once there is memory. */
static int set_up(bide_dep *dep, const bide_policy_conf *conf, const char *name)
{
    bide__policy_init(&dep->policy, conf);
    int rc = seed_it(dep);
    if (rc < 0)
        return rc;
    lay_out(dep, conf, name);
    rc = join_state(dep);
    if (rc < 0)
        bide__host_fork_mark_free(dep->fork_mark);
    return rc;
}

int bide_dep_new_in_sized(bide_dep **ret_dep, const char *name,
                          const bide_policy_conf *conf, const bide_host *host,
                          size_t host_size)
{
    bide_host room;
    if (!ret_dep || !name || !conf || !host || strlen(name) > NAME_MAX_LEN)
        return BIDE_EINVAL;
    int rc = bide_policy_check(conf);
    if (rc < 0)
        return rc;
    host = bide__sized_in(host, host_size, &room, sizeof room);
    if (!host)
        return BIDE_ESIZE;
    bide_policy_conf full;
    bide__policy_widen(&full, conf);

    size_t own = own_size(&full, name), shared = shared_size(&full);
    void *memory = bide__host_alloc(host, own + shared);
    if (!memory)
        return BIDE_ENOMEM;
    memset(memory, 0, host->shared ? own : own + shared);
    bide_dep *dep = place(memory, own);
    dep->memory = memory;
    dep->host = *host;
    bool aligned = (char *)&dep->breaker == (char *)memory + own;
    rc = host->shared && !aligned ? BIDE_EINVAL : set_up(dep, &full, name);
    if (rc < 0) {
        bide__host_free(host, memory);
        return rc;
    }
    *ret_dep = dep;
    return 0;
}

int bide_dep_new(bide_dep **ret_dep, const char *name,
                 const bide_policy_conf *conf)
{
    return bide_dep_new_in(ret_dep, name, conf, &(bide_host){ .ctx = NULL });
}

void bide_dep_free(bide_dep *dep)
{
    if (!dep)
        return;
    bide__host_fork_mark_free(dep->fork_mark);
    bide_host host = dep->host; /* it is in the memory that is freed */
    bide__host_free(&host, dep->memory);
}

size_t bide_dep_size(const bide_policy_conf *conf)
{
    if (!conf || bide_policy_check(conf) < 0)
        return 0;
    bide_policy_conf full;
    bide__policy_widen(&full, conf);
    return own_size(&full, NULL) + shared_size(&full);
}

size_t bide_dep_shared_size(const bide_policy_conf *conf)
{
    if (!conf || bide_policy_check(conf) < 0)
        return 0;
    bide_policy_conf full;
    bide__policy_widen(&full, conf);
    return shared_size(&full);
}

/* ===== views ===== */

const char *bide_dep_name(const bide_dep *dep)
{
    return dep ? dep->name : NULL;
}

const bide_policy_conf *bide_dep_policy(const bide_dep *dep)
{
    return dep ? &dep->policy.conf : NULL;
}

bide_breaker_state bide_dep_breaker(const bide_dep *dep, int64_t now_ns)
{
    if (!dep)
        return BIDE_BREAKER_CLOSED;
    return bide__breaker_state(&dep->breaker, bide__clock(now_ns));
}

int bide_dep_breaker_view_sized(const bide_dep *dep, int64_t now_ns,
                                bide_breaker_view *ret, size_t size)
{
    bide_breaker_view view;
    if (!dep || !ret)
        return BIDE_EINVAL;
    bide__breaker_view(&dep->breaker, &dep->policy, dep->lanes,
                       bide__clock(now_ns), &view);
    bide__sized_out(ret, size, &view, sizeof view);
    return 0;
}

static bool shares_budget(const bide_dep *dep)
{
    return dep->policy.conf.budget.kind == BIDE_BUDGET_WINDOW &&
           bide__share_pays(&dep->share);
}

int64_t bide_dep_budget_left(const bide_dep *dep, int64_t now_ns)
{
    if (!dep)
        return 0;
    if (shares_budget(dep)) {
        struct bide__budget_use u = bide__share_use(dep, bide__clock(now_ns));
        return u.all > u.spent ? u.all - u.spent : 0;
    }
    return bide__budget_left(&dep->budget, &dep->policy, dep->lanes,
                             bide__clock(now_ns));
}

int64_t bide_dep_unreachable(const bide_dep *dep, int64_t now_ns)
{
    return dep ? bide__gate_shut_for(&dep->gate, bide__clock(now_ns)) : 0;
}

int bide_dep_budget_view(const bide_dep *dep, int64_t now_ns,
                         bide_budget_view *ret)
{
    if (!dep || !ret)
        return BIDE_EINVAL;
    struct bide__budget_use u =
        shares_budget(dep)
            ? bide__share_use(dep, bide__clock(now_ns))
            : bide__budget_use(&dep->budget, &dep->policy, dep->lanes,
                               bide__clock(now_ns));
    bide_budget_kind kind = dep->policy.conf.budget.kind;
    double unit = kind == BIDE_BUDGET_THROTTLE ? 1e6 : 1;
    *ret = (bide_budget_view){ kind, (double)u.spent / unit,
                               (double)u.all / unit };
    return 0;
}

double bide_dep_rate(const bide_dep *dep, int64_t now_ns)
{
    return dep ? bide__rate_allowed(&dep->rate, bide__clock(now_ns)) : 0;
}

int64_t bide_dep_latency(const bide_dep *dep, double q, int64_t now_ns)
{
    uint64_t samples;
    if (!dep || !dep->latency || !(q >= 0 && q <= 1))
        return -1;
    return bide__latency_quantile(dep->latency, &dep->policy, q, 0,
                                  bide__clock(now_ns), &samples);
}

uint32_t bide_dep_in_flight_limit(const bide_dep *dep)
{
    return dep ? bide__dep_places(dep, BIDE__RANK_HIGH) : BIDE_UNLIMITED;
}

int bide_dep_set_retries(bide_dep *dep, bool on)
{
    if (!dep)
        return BIDE_EINVAL;
    atomic_store_explicit(&dep->retries_off, !on, memory_order_release);
    return 0;
}

bool bide_dep_retries(const bide_dep *dep)
{
    return dep && !bide__retries_off(dep);
}

int bide_dep_force_breaker(bide_dep *dep, bide_breaker_mode mode)
{
    if (!dep || (unsigned)mode > BIDE_BREAKER_DRY_RUN)
        return BIDE_EINVAL;
    uint32_t was = atomic_load_explicit(&dep->breaker.mode,
                                        memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(
        &dep->breaker.mode, &was, (was & BIDE__MODE_FLAGS) | (uint32_t)mode,
        memory_order_release, memory_order_relaxed))
        ;
    return 0;
}

int bide_dep_probe_now(bide_dep *dep, int64_t now_ns)
{
    struct bide__transition t = { false, 0, 0 };
    if (!dep)
        return BIDE_EINVAL;
    if (!bide__breaker_probe_now(&dep->breaker, &t))
        return BIDE_ESTATE;
    if (dep->host.on_breaker)
        dep->host.on_breaker(dep->host.ctx, dep, t.from, t.to,
                             bide__clock(now_ns));
    return 0;
}

const char *bide_breaker_state_name(bide_breaker_state state)
{
    static const char *const names[] = {
#define X(name, key) key,
        BIDE_BREAKER_STATES(X)
#undef X
    };
    return (unsigned)state < 3 ? names[state] : NULL;
}

bide_outcome bide_classify(const bide_dep *dep, const bide_response *response)
{
    const bide_policy_conf *conf = bide_dep_policy(dep);
    bide_outcome out = bide__classify(conf ? conf->rules : NULL,
                                      conf ? conf->n_rules : 0, response);
    if (conf && conf->trust.envoy)
        bide__heed_envoy(&out, response);
    return out;
}
