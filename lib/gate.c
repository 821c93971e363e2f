/* Waiting together for a dependency that nobody can reach. gate.h explains
 * it. */
#include "lib/gate.h"

#include <stddef.h>

enum { STATE_MASK = BIDE__GATE_STATE };

/* No ramp is slower than this, however few waited: ten calls a second hurt
 * nobody. */
#define SPACING_MAX_NS (BIDE_SECOND / 10)

/* A knock that has been due for longer shows that nobody calls. */
#define LATELY_NS (10 * BIDE_SECOND)

static enum bide__gate_state state_of(uint64_t control)
{
    return (enum bide__gate_state)(control & STATE_MASK);
}

static int64_t since_of(uint64_t control)
{
    return (int64_t)(control & ~(uint64_t)STATE_MASK);
}

static uint64_t control_of(enum bide__gate_state state, int64_t now)
{
    return ((uint64_t)now & ~(uint64_t)STATE_MASK) | (uint64_t)state;
}

static uint64_t control_now(const struct bide__gate *g)
{
    return atomic_load_explicit(&g->control, memory_order_acquire);
}

static int64_t get_ns(const _Atomic int64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void set_ns(_Atomic int64_t *word, int64_t ns)
{
    atomic_store_explicit(word, ns, memory_order_relaxed);
}

static bool shift(struct bide__gate *g, uint64_t from, uint64_t to)
{
    return atomic_compare_exchange_strong_explicit(
        &g->control, &from, to, memory_order_acq_rel, memory_order_acquire);
}

/* ===== knocks ===== */

int64_t bide__gate_doubt(const struct bide__policy *p)
{
    return p->conf.unreachable.knock_ns / 32;
}

/* About how long until the next knock, if the gate has been shut since then. */
static int64_t interval(const struct bide__policy *p, int64_t since,
                        int64_t now)
{
    int64_t v = bide__elapsed_ns(since, now) / 4;
    int64_t least = bide__gate_doubt(p), most = p->conf.unreachable.knock_ns;
    return v < least ? least : v > most ? most : v;
}

static int64_t next_knock(const struct bide__policy *p, const bide_rng *rng,
                          int64_t since, int64_t now)
{
    int64_t v = interval(p, since, now);
    return bide__add_ns(now, bide_rng_between(rng, v / 2, v));
}

/* The knock keeps others from knocking for as long as an attempt may take. */
static bool take_knock(struct bide__gate *g, const struct bide__policy *p,
                       int64_t now)
{
    int64_t at = get_ns(&g->knock_at_ns);
    return now >= at && atomic_compare_exchange_strong_explicit(
                            &g->knock_at_ns, &at,
                            bide__add_ns(now, p->probe_ns),
                            memory_order_relaxed, memory_order_relaxed);
}

/* Whether an attempt that began then knocked at the gate as it is shut now, and
 * not before it was open in between: somebody else may be knocking by now. */
static bool is_knock_of(uint64_t control, int64_t start_ns)
{
    return state_of(control) == BIDE__GATE_SHUT && start_ns >= since_of(control);
}

void bide__gate_unknock(struct bide__gate *g, int64_t start_ns, int64_t now)
{
    if (is_knock_of(control_now(g), start_ns))
        set_ns(&g->knock_at_ns, now);
}

/* ===== asking ===== */

static bool wait_is_over(const struct bide__policy *p, int64_t since,
                         int64_t now)
{
    return bide__elapsed_ns(since, now) >= p->conf.unreachable.wait_ns;
}

/* When to ask again: about when the knock after this one is due, or shortly
 * after the time to wait is over. Spread, so that not all ask at once. */
static int64_t look_again(const struct bide__gate *g,
                          const struct bide__policy *p, const bide_rng *rng,
                          int64_t since, int64_t now)
{
    int64_t v = interval(p, since, now);
    int64_t wait = bide__elapsed_ns(now, get_ns(&g->knock_at_ns));
    int64_t end = bide__add_ns(since, p->conf.unreachable.wait_ns);
    if (wait > v)
        wait = v;
    if (wait > bide__elapsed_ns(now, end))
        wait = bide__elapsed_ns(now, end);
    return bide__add_ns(bide__add_ns(now, wait),
                        bide_rng_between(rng, 1, v / 2));
}

static struct bide__gate_answer answer(enum bide__gate_verb verb, int64_t at_ns)
{
    return (struct bide__gate_answer){ verb, at_ns };
}

static struct bide__gate_answer ask_shut(struct bide__gate *g,
                                         const struct bide__policy *p,
                                         const bide_rng *rng,
                                         struct bide__gate_place *place,
                                         int64_t since, int64_t now)
{
    if (take_knock(g, p, now))
        return answer(BIDE__GATE_KNOCK, now);
    if (wait_is_over(p, since, now))
        return answer(BIDE__GATE_REFUSE, 0);
    if (!place->taken) {
        place->taken = true;
        place->ticket = atomic_fetch_add_explicit(&g->tickets, 1,
                                                  memory_order_relaxed);
    }
    return answer(BIDE__GATE_WAIT, look_again(g, p, rng, since, now));
}

/* When the ticket's turn comes. Tickets wrap: the difference counts. */
static int64_t turn_of(const struct bide__gate *g, uint32_t ticket,
                       int64_t since)
{
    uint32_t first = atomic_load_explicit(&g->first, memory_order_relaxed);
    int32_t ahead = (int32_t)(ticket - first);
    int64_t spacing = get_ns(&g->spacing_ns);
    return ahead > 0 ? bide__add_ns(since, ahead * spacing) : since;
}

static struct bide__gate_answer ask_ramp(struct bide__gate *g, uint64_t control,
                                         const struct bide__gate_place *place,
                                         int64_t now)
{
    int64_t since = since_of(control);
    uint32_t last = atomic_load_explicit(&g->tickets, memory_order_relaxed);
    if (now >= turn_of(g, last, since))
        shift(g, control, control_of(BIDE__GATE_OPEN, now)); /* all may go */
    if (!place->taken)
        return answer(BIDE__GATE_GO, now);
    int64_t at = turn_of(g, place->ticket, since);
    return answer(now >= at ? BIDE__GATE_GO : BIDE__GATE_WAIT, at);
}

struct bide__gate_answer bide__gate_ask(struct bide__gate *g,
                                        const struct bide__policy *p,
                                        const bide_rng *rng,
                                        struct bide__gate_place *place,
                                        int64_t now)
{
    uint64_t control = control_now(g);
    switch (state_of(control)) {
    case BIDE__GATE_SHUT:
        return ask_shut(g, p, rng, place, since_of(control), now);
    case BIDE__GATE_RAMP:
        return ask_ramp(g, control, place, now);
    default:
        return answer(BIDE__GATE_GO, now);
    }
}

/* ===== shutting and opening ===== */

/* Those that wait since an earlier time keep their order. */
static void shut(struct bide__gate *g, const struct bide__policy *p,
                 const bide_rng *rng, uint64_t control, int64_t since,
                 int64_t now)
{
    uint32_t tickets = atomic_load_explicit(&g->tickets, memory_order_relaxed);
    uint32_t first = tickets;
    int64_t spacing = get_ns(&g->spacing_ns);
    if (state_of(control) == BIDE__GATE_RAMP && spacing > 0) {
        int64_t gone = bide__elapsed_ns(since_of(control), now) / spacing;
        first = atomic_load_explicit(&g->first, memory_order_relaxed);
        first = gone < (int32_t)(tickets - first) ? first + (uint32_t)gone
                                                  : tickets;
    }
    atomic_store_explicit(&g->first, first, memory_order_relaxed);
    atomic_store_explicit(&g->shut_at, tickets, memory_order_relaxed);
    int64_t knock_at = get_ns(&g->knock_at_ns);
    if (shift(g, control, control_of(BIDE__GATE_SHUT, since)))
        atomic_compare_exchange_strong_explicit(
            &g->knock_at_ns, &knock_at, next_knock(p, rng, since, now),
            memory_order_relaxed, memory_order_relaxed); /* or one knocks */
}

void bide__gate_missed(struct bide__gate *g, const struct bide__policy *p,
                       const bide_rng *rng, bool knock, int64_t start_ns,
                       int64_t now)
{
    uint64_t control = control_now(g);
    if (state_of(control) == BIDE__GATE_SHUT) {
        if (knock && is_knock_of(control, start_ns))
            set_ns(&g->knock_at_ns,
                   next_knock(p, rng, since_of(control), now));
        return;
    }
    if (start_ns < since_of(control))
        return; /* it began before somebody was there */
    int64_t doubt = get_ns(&g->doubt_ns);
    if (doubt == 0)
        atomic_compare_exchange_strong_explicit(&g->doubt_ns, &doubt,
                                                now > 0 ? now : 1,
                                                memory_order_relaxed,
                                                memory_order_relaxed);
    else if (start_ns >= doubt &&
             bide__elapsed_ns(doubt, now) >= bide__gate_doubt(p))
        shut(g, p, rng, control, doubt, now);
}

/* They came at n / length, and go at two tenths of that: a service that is busy
 * for 80 % of its time has no more to spare. */
static int64_t spacing_for(uint32_t n, int64_t length)
{
    int64_t spacing = n ? length / n : SPACING_MAX_NS;
    return spacing < SPACING_MAX_NS / 5 ? 5 * spacing + 1 : SPACING_MAX_NS;
}

/* A result of an attempt that began before the trouble says nothing about the
 * time since. */
void bide__gate_reached(struct bide__gate *g, int64_t start_ns, int64_t now)
{
    uint64_t control = control_now(g);
    int64_t doubt = get_ns(&g->doubt_ns);
    if (doubt != 0 && start_ns >= doubt)
        set_ns(&g->doubt_ns, 0);
    if (state_of(control) != BIDE__GATE_SHUT || start_ns < since_of(control))
        return;
    uint32_t came =
        atomic_load_explicit(&g->tickets, memory_order_relaxed) -
        atomic_load_explicit(&g->shut_at, memory_order_relaxed);
    set_ns(&g->spacing_ns,
           spacing_for(came, bide__elapsed_ns(since_of(control), now)));
    shift(g, control, control_of(BIDE__GATE_RAMP, now));
}

/* ===== views ===== */

bool bide__gate_waits(const struct bide__gate *g, const struct bide__policy *p,
                      int64_t begin_ns, int64_t now)
{
    uint64_t control = control_now(g);
    int64_t since = state_of(control) == BIDE__GATE_SHUT ? since_of(control)
                                                         : begin_ns;
    return !wait_is_over(p, since, now);
}

int64_t bide__gate_next_knock(const struct bide__gate *g,
                              const struct bide__policy *p, int64_t now)
{
    int64_t at = get_ns(&g->knock_at_ns);
    int64_t latest = bide__add_ns(now, p->conf.unreachable.knock_ns);
    if (state_of(control_now(g)) != BIDE__GATE_SHUT)
        return 0;
    return at < latest ? at : latest; /* one is under way */
}

int64_t bide__gate_shut_since(const struct bide__gate *g)
{
    uint64_t control = control_now(g);
    int64_t since = since_of(control);
    return state_of(control) != BIDE__GATE_SHUT ? 0 : since > 0 ? since : 1;
}

int64_t bide__gate_shut_for(const struct bide__gate *g, int64_t now)
{
    int64_t since = bide__gate_shut_since(g);
    int64_t late = bide__elapsed_ns(get_ns(&g->knock_at_ns), now);
    return since && late < LATELY_NS ? bide__elapsed_ns(since, now) : 0;
}
