/* The breaker's transitions; breaker.h explains the layout of its word.
 *
 * What counts is an attempt, not a call. Transient and overloaded responses and
 * transport failures are failures. Any other response, even a 404, shows that
 * the dependency works. Throttled is neutral: a server that says "you are too
 * fast" is healthy, and opening would turn a slower client into a silent
 * one. */
#include "lib/breaker.h"

enum { STATE_MASK = 3, GENERATION_BITS = 15, DETAIL_SHIFT = 17 };
enum { UNTIL_SHIFT = 16 }; /* 2^63 ns fit the 47 bits of detail */

static bide_breaker_state state_of(uint64_t control)
{
    return (bide_breaker_state)(control & STATE_MASK);
}

static uint16_t generation_of(uint64_t control)
{
    return control >> 2 & ((1u << GENERATION_BITS) - 1);
}

static uint64_t detail_of(uint64_t control)
{
    return control >> DETAIL_SHIFT;
}

/* The control word that follows: the next generation, in this state. */
static uint64_t successor(uint64_t control, bide_breaker_state state,
                          uint64_t detail)
{
    uint64_t generation = generation_of(control) + 1u;
    generation &= (1u << GENERATION_BITS) - 1;
    return detail << DETAIL_SHIFT | generation << 2 | (uint64_t)state;
}

/* ===== since when it is half-open ===== */

/* Beside the counts of probes, in units of 2^28 ns, modulo 26 days. */
enum { SINCE_AT = 24, SINCE_BITS = 23, SINCE_SHIFT = 28 };

static uint64_t half_open_since(int64_t now)
{
    uint64_t unit = (uint64_t)now >> SINCE_SHIFT;
    return (unit & ((1u << SINCE_BITS) - 1)) << SINCE_AT;
}

static int64_t half_open_for(uint64_t control, int64_t now)
{
    uint64_t since = detail_of(control) >> SINCE_AT;
    uint64_t units = ((uint64_t)now >> SINCE_SHIFT) - since;
    return (int64_t)((units & ((1u << SINCE_BITS) - 1)) << SINCE_SHIFT);
}

static bool over(uint64_t open_control, int64_t now)
{
    return (uint64_t)now >> UNTIL_SHIFT >= detail_of(open_control);
}

void bide__breaker_init(struct bide__breaker *b, const struct bide__policy *p)
{
    atomic_init(&b->mode, (uint32_t)p->conf.breaker.mode);
}

/* Before jitter. */
static int64_t most_open(const bide_breaker_conf *conf)
{
    return conf->open_max_ns > conf->open_ns ? conf->open_max_ns
                                             : conf->open_ns;
}

int64_t bide__breaker_longest(const struct bide__policy *p)
{
    int64_t most = most_open(&p->conf.breaker);
    return bide__add_ns(most,
                        bide__scale_ns(most, p->conf.breaker.open_jitter));
}

/* No longer than this policy would keep it open. */
static int64_t open_until(const struct bide__policy *p, int64_t until,
                          int64_t now)
{
    int64_t latest = bide__add_ns(now, bide__breaker_longest(p));
    return until < latest ? until : latest;
}

/* Half-open is an open time that is over: the next attempt is a probe. */
void bide__breaker_start(const struct bide__breaker_env *env,
                         const bide_dep_state *state, int64_t now)
{
    struct bide__breaker *b = env->breaker;
    int64_t until = state->breaker == BIDE_BREAKER_OPEN
                        ? open_until(env->policy, state->open_until_ns, now)
                        : now;
    atomic_store(&b->mode, (uint32_t)state->mode);
    atomic_store(&b->reopenings, state->reopenings);
    if (state->breaker != BIDE_BREAKER_CLOSED)
        atomic_store(&b->control, successor(0, BIDE_BREAKER_OPEN,
                                            (uint64_t)until >> UNTIL_SHIFT));
    else
        bide__breaker_start_counts(env, state, now);
}

/* Makes a transition, unless another thread did so first. */
static bool shift(struct bide__breaker *b, uint64_t *control, uint64_t next,
                  struct bide__transition *t)
{
    uint64_t was = *control;
    if (!atomic_compare_exchange_strong_explicit(&b->control, control, next,
                                                 memory_order_acq_rel,
                                                 memory_order_acquire))
        return false;
    *t = (struct bide__transition){ true, state_of(was), state_of(next) };
    atomic_fetch_add_explicit(&b->entered[state_of(next)], 1,
                              memory_order_relaxed);
    if (state_of(was) == BIDE_BREAKER_CLOSED)
        atomic_fetch_add_explicit(&b->trips, 1, memory_order_relaxed);
    *control = next;
    return true;
}

/* ===== opening ===== */

/* Longer at each reopening in a row, spread so that the probes of a fleet do
 * not arrive together, and at least as long as the server requested. */
static int64_t open_time(const struct bide__breaker_env *env, uint32_t again,
                         int64_t hint_ns)
{
    const bide_breaker_conf *conf = &env->policy->conf.breaker;
    int64_t most = most_open(conf);
    int64_t open = bide__grow_ns(conf->open_ns, conf->open_factor, again, most);
    if (hint_ns > open)
        open = hint_ns < most ? hint_ns : most;
    int64_t spread = bide__scale_ns(open, conf->open_jitter);
    return bide__add_ns(open, bide_rng_between(env->rng, 0, spread));
}

/* How many times in a row it has opened, if it opens now. */
static uint32_t openings_before(const struct bide__breaker *b, uint64_t control)
{
    if (state_of(control) != BIDE_BREAKER_HALF_OPEN)
        return 0;
    return 1 + atomic_load_explicit(&b->reopenings, memory_order_relaxed);
}

static void open_it(const struct bide__breaker_env *env, uint64_t control,
                    int64_t hint_ns, int64_t now, struct bide__transition *t)
{
    struct bide__breaker *b = env->breaker;
    uint32_t again = openings_before(b, control);
    uint64_t until =
        (uint64_t)bide__add_ns(now, open_time(env, again, hint_ns));
    if (shift(b, &control,
              successor(control, BIDE_BREAKER_OPEN, until >> UNTIL_SHIFT), t))
        atomic_store_explicit(&b->reopenings, again, memory_order_relaxed);
}

/* ===== closed ===== */

static void report_closed(const struct bide__breaker_env *env, uint64_t control,
                          bool ill, bool slow, int64_t hint_ns, int64_t now,
                          struct bide__transition *t)
{
    bool due = bide__breaker_count(env, generation_of(control), ill, slow, now);
    if (due && bide__breaker_mode(env->breaker) != BIDE_BREAKER_FORCED_CLOSED)
        open_it(env, control, hint_ns, now, t);
}

/* ===== half-open: probes ===== */

enum { PROBE_BITS = 8 }; /* of each count */

static uint32_t probes_succeeded(uint64_t detail)
{
    return detail & 0xff;
}

static uint32_t probes_failed(uint64_t detail)
{
    return detail >> PROBE_BITS & 0xff;
}

static uint32_t probes_slow(uint64_t detail)
{
    return detail >> 2 * PROBE_BITS & 0xff;
}

static uint32_t probes_seen(uint64_t control)
{
    return probes_succeeded(detail_of(control)) +
           probes_failed(detail_of(control));
}

static uint32_t places_held(const struct bide__breaker_env *env, int64_t now)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < env->policy->conf.breaker.probes; i++)
        held += atomic_load(&env->breaker->probe[i]) > now;
    return held;
}

/* Takes a free place, or one whose probe has been silent for too long. */
static bool take_place(const struct bide__breaker_env *env, int64_t now,
                       struct bide__pass *ret)
{
    int64_t until = bide__add_ns(now, env->policy->probe_ns);
    for (uint32_t i = 0; i < env->policy->conf.breaker.probes; i++) {
        _Atomic int64_t *place = &env->breaker->probe[i];
        int64_t held = atomic_load(place);
        if (held <= now &&
            atomic_compare_exchange_strong(place, &held, until)) {
            ret->probe = (int8_t)i;
            ret->probe_until = until;
            return true;
        }
    }
    return false;
}

void bide__breaker_keep(struct bide__breaker *b, struct bide__pass *pass,
                        int64_t until)
{
    if (pass->probe < 0)
        return;
    int64_t mine = pass->probe_until;
    atomic_compare_exchange_strong_explicit(&b->probe[pass->probe], &mine, until,
                                            memory_order_acq_rel,
                                            memory_order_relaxed);
    pass->probe_until = until;
}

void bide__breaker_leave(struct bide__breaker *b, const struct bide__pass *pass)
{
    if (pass->probe < 0)
        return;
    int64_t mine = pass->probe_until; /* or the place was taken over */
    atomic_compare_exchange_strong_explicit(&b->probe[pass->probe], &mine, 0,
                                            memory_order_acq_rel,
                                            memory_order_relaxed);
}

/* Admits no more probes than results are still needed. Two threads may have
 * found the same place free, so each looks again once it has a place, and
 * leaves if there are too many: at least one of the two sees the other. A probe
 * that reports is counted before it gives up its place, so it is never
 * missed. */
static bool enter_half_open(const struct bide__breaker_env *env,
                            uint64_t control, int64_t now,
                            struct bide__pass *ret)
{
    uint32_t probes = env->policy->conf.breaker.probes;
    if (places_held(env, now) + probes_seen(control) >= probes ||
        !take_place(env, now, ret))
        return false;
    uint32_t held = places_held(env, now);
    control = atomic_load(&env->breaker->control);
    if (generation_of(control) == ret->generation &&
        held + probes_seen(control) <= probes)
        return true;
    bide__breaker_leave(env->breaker, ret);
    ret->probe = -1;
    return false;
}

/* One failure is enough, unless a rate is set for them. Slow probes reopen it by
 * the rate that slow attempts open it by. */
static bool reopens(const struct bide__policy *p, uint64_t detail)
{
    uint32_t failed = probes_failed(detail), slow = probes_slow(detail);
    uint32_t all = failed + probes_succeeded(detail);

    if (failed != 0 && p->probe_rate == 0)
        return true;
    return all >= p->conf.breaker.probes &&
           ((failed != 0 && bide__reaches(failed, all, p->probe_rate)) ||
            (slow != 0 && bide__reaches(slow, all, p->slow_rate)));
}

/* Counts a probe. The probe whose result settles the matter makes the
 * transition; if a second result arrives in between, that one has seen the
 * first, and settles it. */
static void report_probe(const struct bide__breaker_env *env, uint64_t control,
                         bool ill, bool slow, int64_t hint_ns, int64_t now,
                         struct bide__transition *t)
{
    const struct bide__policy *p = env->policy;
    uint16_t generation = generation_of(control);
    uint64_t one = ill ? UINT64_C(1) << PROBE_BITS : 1;
    one = (one | (uint64_t)slow << 2 * PROBE_BITS) << DETAIL_SHIFT;
    do {
        if (generation_of(control) != generation)
            return; /* already settled */
    } while (!atomic_compare_exchange_weak_explicit(&env->breaker->control,
                                                    &control, control + one,
                                                    memory_order_acq_rel,
                                                    memory_order_acquire));
    control += one;
    if (reopens(p, detail_of(control)))
        open_it(env, control, hint_ns, now, t);
    else if (probes_seen(control) >= p->conf.breaker.probes)
        shift(env->breaker, &control,
              successor(control, BIDE_BREAKER_CLOSED, 0), t);
}

bool bide__breaker_is_sound(const struct bide__breaker *b)
{
    return state_of(atomic_load(&b->control)) <= BIDE_BREAKER_HALF_OPEN;
}

void bide__breaker_probe_anew(struct bide__breaker *b)
{
    uint64_t control = atomic_load(&b->control);
    for (int i = 0; i < BIDE__PROBES_MAX; i++)
        atomic_store(&b->probe[i], 0);
    if (state_of(control) == BIDE_BREAKER_HALF_OPEN)
        atomic_store(&b->control,
                     successor(control, BIDE_BREAKER_HALF_OPEN, 0));
}

/* ===== the two verbs ===== */

static bool enter(const struct bide__breaker_env *env, int64_t now,
                  struct bide__pass *ret, struct bide__transition *t)
{
    struct bide__breaker *b = env->breaker;
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);

    while (state_of(control) == BIDE_BREAKER_OPEN && over(control, now))
        shift(b, &control,
              successor(control, BIDE_BREAKER_HALF_OPEN, half_open_since(now)),
              t);
    ret->generation = generation_of(control);
    switch (state_of(control)) {
    case BIDE_BREAKER_CLOSED:
        return true;
    case BIDE_BREAKER_HALF_OPEN:
        return enter_half_open(env, control, now, ret);
    default:
        return false;
    }
}

bool bide__breaker_enter(const struct bide__breaker_env *env, int64_t now,
                         struct bide__pass *ret, struct bide__transition *t)
{
    ret->probe = -1;
    switch (bide__breaker_mode(env->breaker)) {
    case BIDE_BREAKER_FORCED_OPEN:
        return false;
    case BIDE_BREAKER_FORCED_CLOSED:
        ret->generation = generation_of(atomic_load_explicit(
            &env->breaker->control, memory_order_acquire));
        return true;
    case BIDE_BREAKER_DRY_RUN:
        enter(env, now, ret, t);
        return true;
    default:
        return enter(env, now, ret, t);
    }
}

bool bide__breaker_probe_now(struct bide__breaker *b,
                             struct bide__transition *t)
{
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);
    return state_of(control) == BIDE_BREAKER_OPEN &&
           bide__breaker_mode(b) != BIDE_BREAKER_FORCED_OPEN &&
           shift(b, &control, successor(control, BIDE_BREAKER_HALF_OPEN, 0), t);
}

void bide__breaker_open(const struct bide__breaker_env *env, int64_t now,
                        struct bide__transition *t)
{
    uint64_t control =
        atomic_load_explicit(&env->breaker->control, memory_order_acquire);
    if (state_of(control) == BIDE_BREAKER_CLOSED)
        open_it(env, control, 0, now, t);
}

void bide__breaker_close(struct bide__breaker *b, struct bide__transition *t)
{
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);
    while (state_of(control) != BIDE_BREAKER_CLOSED &&
           !shift(b, &control, successor(control, BIDE_BREAKER_CLOSED, 0), t))
        ;
}

bool bide__breaker_refuses(const struct bide__breaker *b, bool no_probe,
                           int64_t now)
{
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);
    switch (bide__breaker_mode(b)) {
    case BIDE_BREAKER_NORMAL:
        return no_probe ||
               (state_of(control) == BIDE_BREAKER_OPEN && !over(control, now));
    case BIDE_BREAKER_FORCED_OPEN:
        return true;
    default:
        return false;
    }
}

bool bide__breaker_starves(const struct bide__breaker *b,
                           const struct bide__policy *p, int64_t now)
{
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);
    int64_t patience = p->conf.breaker.open_max_ns;
    int64_t until = (int64_t)(detail_of(control) << UNTIL_SHIFT);

    if (state_of(control) == BIDE_BREAKER_HALF_OPEN)
        return half_open_for(control, now) > patience;
    return state_of(control) == BIDE_BREAKER_OPEN &&
           bide__elapsed_ns(until, now) > patience;
}

void bide__breaker_report(const struct bide__breaker_env *env,
                          const struct bide__pass *pass,
                          enum bide__health health, bool slow, int64_t hint_ns,
                          int64_t now, struct bide__transition *t)
{
    struct bide__breaker *b = env->breaker;
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);
    bool ill = health == BIDE__ILL;

    if (health == BIDE__NEUTRAL)
        ; /* says nothing */
    else if (generation_of(control) != pass->generation)
        atomic_fetch_add_explicit(&b->late_reports, 1, memory_order_relaxed);
    else if (state_of(control) == BIDE_BREAKER_CLOSED)
        report_closed(env, control, ill, slow, hint_ns, now, t);
    else if (state_of(control) == BIDE_BREAKER_HALF_OPEN && pass->probe >= 0)
        report_probe(env, control, ill, slow, hint_ns, now, t);
    bide__breaker_leave(b, pass); /* last: see enter_half_open() */
}

bide_breaker_state bide__breaker_normal_state(const struct bide__breaker *b,
                                              int64_t now)
{
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);
    if (state_of(control) == BIDE_BREAKER_OPEN && over(control, now))
        return BIDE_BREAKER_HALF_OPEN;
    return state_of(control);
}

uint32_t bide__breaker_in_a_row(const struct bide__breaker *b)
{
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);
    uint64_t seen = atomic_load_explicit(&b->in_a_row, memory_order_relaxed);
    return seen >> 32 == generation_of(control) ? (uint32_t)seen : 0;
}

bide_breaker_state bide__breaker_state(const struct bide__breaker *b,
                                       int64_t now)
{
    switch (bide__breaker_mode(b)) {
    case BIDE_BREAKER_FORCED_OPEN:
        return BIDE_BREAKER_OPEN;
    case BIDE_BREAKER_FORCED_CLOSED:
        return BIDE_BREAKER_CLOSED;
    default:
        return bide__breaker_normal_state(b, now);
    }
}

int64_t bide__breaker_open_until(const struct bide__breaker *b)
{
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);
    if (state_of(control) != BIDE_BREAKER_OPEN)
        return 0;
    return (int64_t)(detail_of(control) << UNTIL_SHIFT);
}

void bide__breaker_view(const struct bide__breaker *b,
                        const struct bide__policy *p,
                        const struct bide__lane *lanes, int64_t now,
                        bide_breaker_view *ret)
{
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);
    uint64_t detail = detail_of(control);
    struct bide__breaker_counts seen = { 0, 0, 0 };

    if (state_of(control) == BIDE_BREAKER_CLOSED)
        seen = bide__breaker_counted(b, p, lanes, generation_of(control), now);
    else if (state_of(control) == BIDE_BREAKER_HALF_OPEN)
        seen = (struct bide__breaker_counts){
            probes_succeeded(detail) + probes_failed(detail),
            probes_failed(detail), probes_slow(detail)
        };
    *ret = (bide_breaker_view){
        .state = bide__breaker_state(b, now),
        .attempts = seen.all,
        .failed = seen.failed,
        .slow = seen.slow,
        .mode = bide__breaker_mode(b)
    };
    if (ret->state == BIDE_BREAKER_OPEN)
        ret->open_until_ns = bide__breaker_open_until(b);
}
