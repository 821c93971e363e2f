/* The breaker: closed, open, half-open.
 *
 * Everything that decides is in one word, so that each transition is one
 * compare-and-swap which exactly one thread wins:
 *
 *   control = state (2 bits) | generation (15) | detail (47)
 *
 *   closed     detail: 0
 *   open       detail: when it ends, in units of 2^16 ns
 *   half-open  detail: probes that succeeded (8 bits), that failed (8), and
 *              how many of either were slow (8); since when (23 bits)
 *
 * The generation counts transitions. An attempt remembers the generation in
 * which it was let through; if it reports in another one, its result is dropped
 * as out of date.
 *
 * A probe occupies one of `probes` places, each a word that holds the time at
 * which the place may be taken over. So there are never more probes in flight
 * than places, and the place of a probe that never reports expires by itself.
 *
 * In the closed state the rates come from windows in the lanes (kind time) or
 * from a ring of the last results (kind count). test/spin/breaker.pml models
 * the transitions. */
#ifndef BIDE_LIB_BREAKER_H
#define BIDE_LIB_BREAKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bide/dep.h"
#include "bide/rng.h"
#include "bide/state.h"
#include "lib/lane.h"
#include "lib/policy.h"

enum { BIDE__PROBES_MAX = 16 };

struct bide__breaker {
    _Atomic uint64_t control;
    _Atomic uint32_t mode;          /* a bide_breaker_mode, and flags: NEAR, and
                                       those of the gate */

    _Alignas(64) _Atomic uint32_t reopenings; /* in a row */
    _Atomic uint64_t in_a_row;      /* failures: generation << 32 | count */
    _Atomic int64_t probe[BIDE__PROBES_MAX];
    _Atomic uint64_t entered[3];    /* transitions into each state */
    _Atomic uint64_t trips;         /* of those, from closed to open */
    _Atomic uint64_t late_reports;

    /* kind count: the last results, each a generation and bits, and their sums:
     * generation (16 bits) | all (16) | failed (16) | slow (16) */
    _Atomic uint64_t ring_next;
    _Atomic uint64_t ring_sums;
    uint64_t ring_at;               /* their offset from here in bytes: the
                                       address differs between processes */
};

/* How an attempt was let through. */
struct bide__pass {
    int64_t probe_until; /* the content of its place, if it is a probe */
    uint16_t generation;
    int8_t probe;        /* its place, or -1 */
};

/* What an attempt says about the health of the dependency. */
enum bide__health { BIDE__WELL, BIDE__ILL, BIDE__NEUTRAL };

/* A transition that the caller must announce, once nothing is held. */
struct bide__transition {
    bool happened;
    bide_breaker_state from, to;
};

/* What the breaker needs to know about its dependency. */
struct bide__breaker_env {
    struct bide__breaker *breaker;
    const struct bide__policy *policy;
    struct bide__lane *lanes;
    struct bide__lane *lane;    /* of this call */
    const bide_rng *rng;
};

/* Each closed period is counted separately. */
static inline uint8_t bide__breaker_era(uint16_t generation)
{
    return (uint8_t)generation;
}

/* Beside the mode, so that the usual call finds in one word that it has nothing
 * to ask. NEAR: enough of the results are bad, only there are fewer than
 * min_calls; then a success may be the result that opens it. The others say that
 * attempts have to ask the gate, or only to tell it that they reached somebody
 * (lib/attempt.c keeps them). */
enum {
    BIDE__BREAKER_NEAR = 0x100,
    BIDE__GATE_ASK = 0x200,
    BIDE__GATE_TELL = 0x400,
    BIDE__MODE_FLAGS = 0x700
};

static inline bide_breaker_mode bide__breaker_mode(const struct bide__breaker *b)
{
    return (bide_breaker_mode)(atomic_load_explicit(&b->mode,
                                                    memory_order_relaxed) &
                               ~(uint32_t)BIDE__MODE_FLAGS);
}

/* True, at the cost of two loads, when an attempt has nothing to ask, neither
 * here nor at the gate. */
static inline bool bide__breaker_idle(const struct bide__breaker *b,
                                      uint16_t *ret_generation)
{
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);
    *ret_generation = (uint16_t)(control >> 2 & 0x7fff);
    uint32_t mode = atomic_load_explicit(&b->mode, memory_order_relaxed);
    return (control & 3) == BIDE_BREAKER_CLOSED &&
           (mode & ~(uint32_t)(BIDE__BREAKER_NEAR | BIDE__GATE_TELL)) ==
               BIDE_BREAKER_NORMAL;
}

/* The same, and a success can change nothing either. */
static inline bool bide__breaker_calm(const struct bide__breaker *b,
                                      uint16_t *ret_generation)
{
    uint64_t control = atomic_load_explicit(&b->control, memory_order_acquire);
    *ret_generation = (uint16_t)(control >> 2 & 0x7fff);
    return (control & 3) == BIDE_BREAKER_CLOSED &&
           atomic_load_explicit(&b->mode, memory_order_relaxed) ==
               BIDE_BREAKER_NORMAL;
}

void bide__breaker_init(struct bide__breaker *b, const struct bide__policy *p);

/* Begins in this state; nobody uses it yet. */
void bide__breaker_start(const struct bide__breaker_env *env,
                         const bide_dep_state *state, int64_t now);

/* Its state whatever the mode, and failures in a row while it is closed. */
bide_breaker_state bide__breaker_normal_state(const struct bide__breaker *b,
                                              int64_t now);
uint32_t bide__breaker_in_a_row(const struct bide__breaker *b);

/* Lets an attempt through, or refuses it. */
bool bide__breaker_enter(const struct bide__breaker_env *env, int64_t now,
                         struct bide__pass *ret, struct bide__transition *t);

/* Whether an attempt requested now, while the breaker is not idle or after a
 * failure, would be refused, places aside. With `no_probe` it must not be a
 * probe: it is a hedge, or the retry of a probe. */
bool bide__breaker_refuses(const struct bide__breaker *b, bool no_probe,
                           int64_t now);

/* Whether it could be probed, and nobody has settled it for as long as it may stay
 * open. Then even a call whose body is still arriving may be a probe: if there
 * are no others, it would never close. */
bool bide__breaker_starves(const struct bide__breaker *b,
                           const struct bide__policy *p, int64_t now);

/* Ends the time that an open breaker stays open. False: it is not open, or is
 * forced to be. */
bool bide__breaker_probe_now(struct bide__breaker *b,
                             struct bide__transition *t);

/* Opens it if it is closed, or closes it if it is not, for a reason that is not
 * its own: what a fleet has found out. */
void bide__breaker_open(const struct bide__breaker_env *env, int64_t now,
                        struct bide__transition *t);
void bide__breaker_close(struct bide__breaker *b, struct bide__transition *t);

/* Takes the result of an attempt that was let through. `hint_ns` is the wait
 * that the server requested, 0 if none. */
void bide__breaker_report(const struct bide__breaker_env *env,
                          const struct bide__pass *pass,
                          enum bide__health health, bool slow, int64_t hint_ns,
                          int64_t now, struct bide__transition *t);

/* A probe takes longer than its place was reserved for: it keeps the place
 * until then, unless another probe has taken it over. */
void bide__breaker_keep(struct bide__breaker *b, struct bide__pass *pass,
                        int64_t until);

/* Gives a probe's place back without a result. */
void bide__breaker_leave(struct bide__breaker *b, const struct bide__pass *pass);

/* Counts the result of an attempt in the closed period `generation`; true if it
 * is time to open. In breaker_count.c. */
bool bide__breaker_count(const struct bide__breaker_env *env,
                         uint16_t generation, bool ill, bool slow, int64_t now);

/* Begins the first closed period with these counts; nobody uses it yet. In
 * breaker_count.c. */
void bide__breaker_start_counts(const struct bide__breaker_env *env,
                                const bide_dep_state *state, int64_t now);

/* What was counted in the closed period `generation`, over the window up to
 * now. In breaker_count.c. */
struct bide__breaker_counts {
    uint64_t all, failed, slow;
};
struct bide__breaker_counts
bide__breaker_counted(const struct bide__breaker *b,
                      const struct bide__policy *p,
                      const struct bide__lane *lanes, uint16_t generation,
                      int64_t now);

/* Whether the word can be a breaker's. Not everything that it cannot be is
 * found: it is read from a file. */
bool bide__breaker_is_sound(const struct bide__breaker *b);

/* No probe is running, though some may have reported: probes begin anew, also
 * where the last of them was killed before its transition. */
void bide__breaker_probe_anew(struct bide__breaker *b);

/* No attempt is running: frees the probes' places, and recomputes the sums of
 * the ring. The counts stay. In breaker_count.c. */
void bide__breaker_reclaim(struct bide__breaker *b,
                           const struct bide__policy *p);

/* Whether part / all >= rate, in integers. */
bool bide__reaches(uint64_t part, uint64_t all, int64_t rate_millionths);

bide_breaker_state bide__breaker_state(const struct bide__breaker *b,
                                       int64_t now);

/* All of it at one moment, as bide_dep_breaker_view() gives it. */
void bide__breaker_view(const struct bide__breaker *b,
                        const struct bide__policy *p,
                        const struct bide__lane *lanes, int64_t now,
                        bide_breaker_view *ret);

/* The longest that it may stay open. */
int64_t bide__breaker_longest(const struct bide__policy *p);

/* When an open breaker will let probes through; 0 if it is not open. */
int64_t bide__breaker_open_until(const struct bide__breaker *b);

#endif
