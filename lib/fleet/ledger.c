/* The ledger in memory; ledger.h has the rules in words. */
#include "lib/fleet/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/breaker.h"

static int64_t ms(int64_t ns)
{
    return ns / BIDE_MILLISECOND;
}

/* The row of this instance, or a free one; NULL: full. */
static struct bide__ledger_row *row_of(struct bide__ledger *l, uint64_t id)
{
    struct bide__ledger_row *free_one = NULL;
    for (int i = 0; i < BIDE__LEDGER_ROWS; i++) {
        if (l->row[i].id == id)
            return &l->row[i];
        if (l->row[i].id == 0 && !free_one)
            free_one = &l->row[i];
    }
    return free_one;
}

static void forget_silent(struct bide__ledger *l, int64_t window_ms,
                          int64_t now)
{
    for (int i = 0; i < BIDE__LEDGER_ROWS; i++)
        if (now - l->row[i].seen_ms > window_ms ||
            l->row[i].seen_ms > now + window_ms)
            l->row[i].id = 0;
}

static bool row_fails(const bide_share_row *r, const bide_share_rule *rule)
{
    return (r->failed != 0 &&
            bide__reaches(r->failed, r->attempts, rule->failure_rate)) ||
           (r->slow != 0 && bide__reaches(r->slow, r->attempts,
                                          rule->slow_rate));
}

/* What all rows come to. */
struct sums {
    uint64_t deposits, used; /* of all */
    bool another_waits;      /* for probes */
    bool another_busy;       /* and may want retries */
};

static struct sums sum_up(const struct bide__ledger *l,
                          const bide_share_rule *rule, uint64_t id, int64_t now,
                          bide_share_reply *ret)
{
    struct sums s = { 0, 0, false, false };
    for (int i = 0; i < BIDE__LEDGER_ROWS; i++) {
        const struct bide__ledger_row *r = &l->row[i];
        if (r->id == 0)
            continue;
        s.deposits += r->told.deposits;
        s.used += r->told.spent + r->told.held;
        if (now - r->seen_ms > BIDE__LEDGER_ALIVE_MS)
            continue;
        ret->instances++;
        s.another_waits = s.another_waits ||
                          (r->id != id && r->told.wants_probes);
        s.another_busy = s.another_busy || (r->id != id && r->told.busy);
        ret->with_traffic += r->told.attempts > 0;
        ret->failing += r->told.attempts > 0 && row_fails(&r->told, rule);
        ret->attempts += r->told.attempts;
        ret->failed += r->told.failed;
        ret->slow += r->told.slow;
    }
    return s;
}

/* How many an instance may hold, if so much is left. One without traffic holds
 * one for its next call, unless there is little and others want it. */
static uint64_t lease(const bide_share_row *row, uint64_t room,
                      uint32_t instances, bool another_busy)
{
    uint64_t most = room / (2 * (uint64_t)instances);
    if (row->deposits == 0 && row->attempts == 0 && !row->busy)
        most = room >= instances || !another_busy ? 1 : 0;
    else if (most < 1)
        most = 1;
    return most < room ? most : room;
}

/* What became of the probes that it was given. */
static void hear_of_probes(struct bide__ledger *l, uint64_t id,
                           const bide_share_row *row, int64_t now)
{
    if (row->probe_failed) {
        int64_t hold = ms(row->hold_ns);
        if (hold > BIDE__LEDGER_HOLD_MS)
            hold = BIDE__LEDGER_HOLD_MS;
        l->hold_until_ms = now + (hold > 0 ? hold : 0);
        l->failed = id;
        l->prober = 0;
    }
    if (row->recovered) {
        l->recovered_ms = now;
        l->hold_until_ms = 0;
        l->failed = l->prober = 0;
    }
    if (row->probe_failed || row->recovered || row->probing > 0 ||
        now - l->asking_ms > BIDE__LEDGER_PROBE_MS || l->asked_ms > now)
        l->asked_ms = 0;
}

static uint32_t give_probes(struct bide__ledger *l, const bide_share_rule *rule,
                            uint64_t id, const bide_share_row *row,
                            bool another_waits, int64_t now)
{
    bool taken = l->prober != 0 && now < l->prober_until_ms;
    if (taken && l->prober == id && row->probing > 0)
        l->prober_until_ms = now + BIDE__LEDGER_PROBE_MS;
    if (!row->wants_probes || now < l->hold_until_ms)
        return 0;
    l->asking_ms = now;
    if (l->asked_ms == 0)
        l->asked_ms = now;
    if (l->failed == id && another_waits)
        return 0;
    if (now - l->asked_ms >= BIDE__LEDGER_UNUSED_MS)
        return 1;
    if (taken)
        return 0;
    l->prober = id;
    l->prober_until_ms = now + BIDE__LEDGER_PROBE_MS;
    return rule->probes;
}

void bide__ledger_sync(struct bide__ledger *l, const bide_share_rule *rule,
                       uint64_t id, const bide_share_row *row, int64_t now_ns,
                       bide_share_reply *ret)
{
    int64_t now = ms(now_ns), window = ms(rule->window_ns);
    bide_share_reply reply = { 0 };

    if (window < BIDE__LEDGER_ALIVE_MS)
        window = BIDE__LEDGER_ALIVE_MS;
    if (l->since_ms == 0 || l->since_ms > now ||
        now - l->last_ms > BIDE__LEDGER_SILENT_MS)
        l->since_ms = now;
    l->last_ms = now;
    forget_silent(l, window, now);
    struct bide__ledger_row *mine = row_of(l, id);
    if (!mine) {
        reply.fresh = true; /* too many: each uses its own */
        reply.instances = BIDE__LEDGER_ROWS;
        reply.recovered_ns = -1;
        *ret = reply;
        return;
    }
    *mine = (struct bide__ledger_row){ id, now, *row };
    struct sums s = sum_up(l, rule, id, now, &reply);
    reply.fresh = now - l->since_ms < window;
    reply.allowed = ((uint64_t)rule->floor + (uint64_t)rule->ratio * s.deposits) /
                    1000000;
    uint64_t others = s.used - row->held;
    if (!reply.fresh && reply.allowed > others)
        reply.held = lease(row, reply.allowed - others, reply.instances,
                           s.another_busy);
    if (reply.held > row->held)
        mine->told.held = reply.held;
    reply.used = others + mine->told.held;
    hear_of_probes(l, id, row, now);
    reply.probes = give_probes(l, rule, id, row, s.another_waits, now);
    reply.recovered_ns = l->recovered_ms == 0
                             ? -1
                             : (now - l->recovered_ms) * BIDE_MILLISECOND;
    *ret = reply;
}
