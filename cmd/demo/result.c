/* The figures of a fleet, computed from its tally. */
#include "cmd/demo/result.h"

#include <math.h>
#include <stdio.h>

#include "cmd/demo/demo.h"

/* Calls succeed as before once the rate is at least nine tenths of the usual
 * one in each of two seconds. One second alone may be a passing wave. */
static const double AGAIN = 0.9;
#define AGAIN_NS BIDE_SECOND

static size_t slot_at(int64_t at_ns)
{
    return (size_t)(at_ns / DEMO_SLOT_NS);
}

static double peak(const struct demo_tally *t, size_t until)
{
    double most = 0;

    for (size_t i = 0; i < until; i++)
        most = fmax(most, demo_tally_rate(t, DEMO_ARRIVED, i, i + 1));
    return most;
}

/* The slot from which on calls succeed as before; `until`: there is none. */
static size_t again(const struct demo_tally *t, const struct demo_plan *plan,
                    double usual, size_t until)
{
    size_t span = slot_at((int64_t)((double)AGAIN_NS * plan->scale));
    size_t i = slot_at(plan->healthy_ns);

    for (; i + 2 * span <= until; i++) {
        size_t middle = i + span, end = middle + span;
        if (demo_tally_rate(t, DEMO_GOOD, i, middle) >= AGAIN * usual &&
            demo_tally_rate(t, DEMO_GOOD, middle, end) >= AGAIN * usual)
            return i;
    }
    return until;
}

void demo_result(struct demo_result *r, const struct demo_fleet *fleet,
                 int64_t until_ns)
{
    const struct demo_plan *plan = &fleet->demo->plan;
    const struct demo_tally *t = &fleet->tally;
    int64_t end_ns = until_ns < plan->length_ns ? until_ns : plan->length_ns;
    size_t end = slot_at(end_ns), healthy = slot_at(plan->healthy_ns);
    size_t hangs = slot_at(plan->hangs_ns);

    *r = (struct demo_result){
        .calls = demo_tally_sum(t, DEMO_BEGUN, 0, end),
        .good = demo_tally_sum(t, DEMO_GOOD, 0, end),
        .failed = demo_tally_sum(t, DEMO_FAILED, 0, end),
        .sent = demo_tally_sum(t, DEMO_SENT, 0, end),
        .seconds = (double)end * (double)DEMO_SLOT_NS / 1e9,
        .goodput = demo_tally_rate(t, DEMO_GOOD, 0, end),
        /* not from the start: clients begin one by one */
        .usual =
            demo_tally_rate(t, DEMO_GOOD, hangs / 2, hangs < end ? hangs : end),
        .peak = peak(t, end),
        .back_s = -1,
    };
    r->amplification = r->calls ? (double)r->sent / (double)r->calls : 0;
    if (end <= healthy)
        return;
    r->watched_s = (double)(end - healthy) * (double)DEMO_SLOT_NS / 1e9;
    size_t back = again(t, plan, r->usual, end);
    if (back < end)
        r->back_s = (double)(back - healthy) * (double)DEMO_SLOT_NS / 1e9;
}

/* ===== in words ===== */

static int say_back(const struct demo_result *r, char *to, size_t size)
{
    if (r->back_s < 0)
        return snprintf(to, size,
                        "calls had not recovered %.0f s after the origin had",
                        r->watched_s);
    if (r->back_s == 0)
        return snprintf(to, size, "calls recovered as soon as the origin had");
    return snprintf(to, size, "calls recovered %.1f s after the origin had",
                    r->back_s);
}

void demo_seen(const struct demo_result r[DEMO_FLEETS], char *to, size_t size)
{
    const struct demo_result *worst = &r[0], *best = &r[DEMO_FLEETS - 1];
    char naive[96], bide[96];

    if (worst->watched_s == 0) {
        snprintf(
            to, size,
            "It ended before the outage did: there is nothing to compare.");
        return;
    }
    say_back(worst, naive, sizeof naive);
    say_back(best, bide, sizeof bide);
    snprintf(to, size,
             "Retried at once, a call cost %.1f attempts, the origin met up to "
             "%.0f requests/s where it can answer %d, and %s; with jitter, a "
             "budget and a breaker it was %.2f attempts and up to %.0f "
             "requests/s, and %s.",
             worst->amplification, worst->peak, DEMO_CAPACITY, naive,
             best->amplification, best->peak, bide);
}
