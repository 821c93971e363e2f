/* The gate, as attempts see it: asking to pass, and telling who was there. gate.h
 * explains the gate itself. */
#include "lib/attempt_gate.h"

#include "lib/blame.h"

/* Puts what the gate wants from attempts into the word that all of them read.
 * Whoever clears it looks once more, in case that another thread has just found
 * nobody there. */
static void note_gate(bide_dep *dep)
{
    _Atomic uint32_t *mode = &dep->breaker.mode;
    for (int again = 0; again < 2; again++) {
        uint32_t want = bide__gate_busy(&dep->gate) ? BIDE__GATE_ASK : 0;
        if (!bide__gate_calm(&dep->gate))
            want |= BIDE__GATE_TELL;
        uint32_t have = atomic_load(mode) & (BIDE__GATE_ASK | BIDE__GATE_TELL);
        if (want & ~have)
            atomic_fetch_or(mode, want);
        if (!(have & ~want))
            return;
        atomic_fetch_and(mode, ~(have & ~want));
    }
}

/* A call that was queued or paced when the gate was shut holds neither its place
 * in the queue nor its turn while it waits there: at_ns becomes the gate's. */
static void leave_queue_and_turn(struct bide__call *c)
{
    if (c->is.queued)
        bide__queue_quit(c);
    else if (c->is.paced)
        bide__turn_give_back(c, c->at_ns);
}

/* At the gate a call waits no longer than an attempt would still be worth
 * making. */
static struct bide__answer_to_start wait_at_gate(const struct bide__call *c,
                                                 int64_t at, int64_t now)
{
    int64_t latest = c->deadline_ns;
    if (latest != BIDE_FOREVER)
        latest -= c->dep->policy.conf.attempt_min_ns + 1;
    if (now >= latest)
        return bide__answer(BIDE__REFUSED, BIDE_BECAUSE_UNREACHABLE, 0);
    return bide__answer(BIDE__HELD_UP, BIDE_BECAUSE_KNOCKING,
                        at < latest ? at : latest);
}

struct bide__answer_to_start bide__attempt_ask_gate(struct bide__call *c,
                                                    bool beside, int64_t now,
                                                    struct bide__running *r)
{
    bide_dep *dep = c->dep;
    struct bide__gate_place place = { c->at_gate, c->gate_ticket };
    struct bide__gate_answer a =
        bide__gate_ask(&dep->gate, &dep->policy, c->rng, &place, now);
    if (!bide__gate_busy(&dep->gate))
        note_gate(dep);
    switch (a.verb) {
    case BIDE__GATE_GO:
        return bide__answer(BIDE__ADMITTED, BIDE_BECAUSE_SUCCESS, 0);
    case BIDE__GATE_KNOCK:
        r->knock = true;
        return bide__answer(BIDE__ADMITTED, BIDE_BECAUSE_SUCCESS, 0);
    case BIDE__GATE_WAIT:
        if (beside)
            return bide__answer(BIDE__REFUSED, BIDE_BECAUSE_UNREACHABLE, 0);
        leave_queue_and_turn(c);
        c->at_gate = true;
        c->is.hinted = false;
        c->gate_ticket = place.ticket;
        return wait_at_gate(c, a.at_ns, now);
    default:
        return bide__answer(BIDE__REFUSED, BIDE_BECAUSE_UNREACHABLE, 0);
    }
}

/* ===== ending ===== */

/* So often a call goes to another server at once; then it waits like any other,
 * in case they all only seem to be there. */
enum { ELSEWHERE_MOST = 8 };

/* Whether it was the only attempt that runs. */
static bool was_alone(const struct bide__call *c, const struct bide__running *r)
{
    return c->n_running == 0 && r->attempt == c->attempts;
}

/* ... and provably reached nobody. */
static bool reached_nobody(const struct bide__call *c,
                           const struct bide__running *r,
                           const bide_outcome *out)
{
    return c->dep->policy.gated && bide_outcome_unreached(out) &&
           was_alone(c, r);
}

/* ... and reached a server that did not begin with it. Once: a server that
 * refuses every stream must not be asked for ever. */
static bool was_not_begun(const struct bide__call *c,
                          const struct bide__running *r,
                          const bide_outcome *out)
{
    return out->fault == BIDE_FAULT_REFUSED_STREAM &&
           out->cls == BIDE_TRANSIENT && out->not_processed && !c->sparing &&
           was_alone(c, r);
}

/* Such an attempt does not count: the next one takes its place, with what was
 * paid for it. */
void bide__attempt_discount(struct bide__call *c, const struct bide__running *r,
                            int64_t now)
{
    c->missed++;
    c->again = true;
    c->is.granted = r->paid;
    c->at_ns = now;
    bide__count(&c->dep->counters.unreached);
}

static void tell_gate(const struct bide__call *c, const struct bide__running *r,
                      const bide_outcome *out, int64_t now)
{
    struct bide__gate *gate = &c->dep->gate;
    if (c->unreached && !c->elsewhere)
        bide__gate_missed(gate, &c->dep->policy, c->rng, r->knock, r->start_ns,
                          now);
    else if (out->cls == BIDE_SUCCESS || out->status != 0 ||
             !(out->not_processed || bide__blames_nobody(out)))
        bide__gate_reached(gate, r->start_ns, now);
    else if (r->knock)
        bide__gate_unknock(gate, r->start_ns, now);
    note_gate(c->dep);
}

bool bide__attempt_is_free(struct bide__call *c, const struct bide__running *r,
                          const bide_outcome *out, int64_t now)
{
    c->unreached = reached_nobody(c, r, out);
    c->elsewhere = c->unreached && out->elsewhere && c->missed < ELSEWHERE_MOST;
    if (c->dep->policy.gated &&
        (c->unreached || r->knock || !bide__gate_calm(&c->dep->gate)))
        tell_gate(c, r, out, now);
    c->spared = was_not_begun(c, r, out);
    c->sparing |= c->spared;
    return bide__is_free(c);
}
