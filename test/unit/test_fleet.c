/* test_fleet.c: a fleet on virtual time, with a ledger in memory.
 *
 * Instances call an origin and sync with the ledger; rows say what happens to
 * both, and the rules of bide/share.h are checked from outside: by what arrives at
 * the origin, and by what is refused. */
#include "fixture.h"

#include <stdlib.h>

#include "bide/share.h"
#include "lib/fleet/ledger.h"

enum { INSTANCES = 8, MOST_SEEN = 400000 };

struct instance {
    bide_dep *dep;
    bide_share share;
    bide_call *waiting; /* calls with a retry to come: a small pool */
    int n_waiting;
    int64_t next_call, next_sync, every;
    bool cut;           /* from the origin */
    uint64_t refused;   /* first attempts */
};

enum { POOL = 64 };

static struct world {
    struct instance is[INSTANCES];
    struct bide__ledger ledger;
    bool ledger_up, origin_up;
    int64_t now;
    int64_t *retries; /* when each arrived at the origin */
    size_t n_retries;
    uint64_t probes;  /* first attempts that arrived while not closed */
} w;

static void set_up(const bide_policy_conf *conf, int64_t every)
{
    memset(&w, 0, sizeof w);
    w.retries = calloc(MOST_SEEN, sizeof *w.retries);
    w.ledger_up = w.origin_up = true;
    for (int i = 0; i < INSTANCES; i++) {
        struct instance *it = &w.is[i];
        const uint64_t seed = (uint64_t)i + 1;
        assert_int_equal(bide_dep_new_in(&it->dep, "x", conf,
                                         &(bide_host){ .seed = &seed }), 0);
        assert_int_equal(bide_share_init(&it->share, it->dep, 0), 0);
        it->waiting = calloc(POOL, sizeof *it->waiting);
        it->next_call = i * MS;
        it->next_sync = i * 7 * MS;
        it->every = every;
    }
}

static void tear_down(void)
{
    for (int i = 0; i < INSTANCES; i++) {
        bide_share_done(&w.is[i].share);
        bide_dep_free(w.is[i].dep);
        free(w.is[i].waiting);
    }
    free(w.retries);
}

static void sync_one(int i)
{
    struct instance *it = &w.is[i];
    bide_share_rule rule;
    bide_share_row row;
    bide_share_reply reply;
    it->next_sync = w.now + 200 * MS;
    bide_share_report(&it->share, w.now, &row);
    if (!w.ledger_up)
        return;
    bide_share_rule_of(it->dep, &rule);
    bide__ledger_sync(&w.ledger, &rule, (uint64_t)i + 1, &row, w.now, &reply);
    bide_share_apply(&it->share, &reply, w.now);
}

/* Goes on with a call until it waits or is over; true: over. */
static bool drive(struct instance *it, bide_call *call)
{
    for (;;) {
        bide_decision d = bide_call_next(call, w.now);
        if (d.action == BIDE_WAIT && d.at_ns > w.now)
            return false;
        if (d.action == BIDE_DONE) {
            it->refused += d.reason == BIDE_BECAUSE_BREAKER_OPEN &&
                           bide_call_attempts(call) == 0;
            bide_call_end(call, w.now);
            return true;
        }
        bool well = w.origin_up && !it->cut;
        bool closed = bide_dep_breaker(it->dep, w.now) == BIDE_BREAKER_CLOSED;
        if (!it->cut && d.attempt > 1 && w.n_retries < MOST_SEEN)
            w.retries[w.n_retries++] = w.now;
        w.probes += !it->cut && !closed;
        bide_outcome out = { .cls = well ? BIDE_SUCCESS : BIDE_TRANSIENT };
        if (!well)
            out.status = 500;
        bide_call_report(call, d.attempt, &out, w.now);
    }
}

static void call_one(struct instance *it)
{
    for (int k = 0; k < POOL; k++) {
        bide_call *call = &it->waiting[k];
        static const bide_call none;
        if (memcmp(call, &none, sizeof none) != 0)
            continue;
        bide_call_begin(call, it->dep, &twice_is_fine, w.now);
        if (drive(it, call))
            memset(call, 0, sizeof *call);
        else
            it->n_waiting++;
        return;
    }
}

static void step(struct instance *it, int i)
{
    static const bide_call none;
    if (w.now >= it->next_sync)
        sync_one(i);
    for (int k = 0; k < POOL && it->n_waiting > 0; k++)
        if (memcmp(&it->waiting[k], &none, sizeof none) != 0 &&
            drive(it, &it->waiting[k])) {
            memset(&it->waiting[k], 0, sizeof none);
            it->n_waiting--;
        }
    if (it->every != 0 && w.now >= it->next_call) {
        it->next_call = w.now + it->every;
        call_one(it);
    }
}

static void run_for(int64_t time)
{
    for (int64_t end = w.now + time; w.now < end; w.now += MS)
        for (int i = 0; i < INSTANCES; i++)
            step(&w.is[i], i);
}

/* The most retries that arrived in any window from `from` on. */
static size_t most_in_a_window(int64_t from, int64_t window)
{
    size_t most = 0;
    for (size_t a = 0, b = 0; b < w.n_retries; b++) {
        while (w.retries[b] - w.retries[a] >= window || w.retries[a] < from)
            if (++a > b)
                break;
        if (a <= b && b - a + 1 > most)
            most = b - a + 1;
    }
    return most;
}

static bide_policy_conf without_breaker(void)
{
    bide_policy_conf conf = defaults();
    conf.breaker.kind = BIDE_BREAKER_OFF;
    return conf;
}

/* ===== budget ===== */

enum what { NOTHING, LOSE, LOSE_AND_COME_BACK, LOSE_AND_FORGET };

/* 50 calls/s each for 20 s, then everything fails for 30 s. Whatever happens to
 * the ledger on the way: once the deposits are gone, ten retries a window, and one
 * lease each. */
static void outage(enum what what, bool early)
{
    bide_policy_conf conf = without_breaker();
    set_up(&conf, 20 * MS);
    run_for(20 * S);
    int64_t began = w.now;
    if (early && what != NOTHING)
        w.ledger_up = false;
    w.origin_up = false;
    run_for(8 * S);
    if (what != NOTHING)
        w.ledger_up = false;
    run_for(4 * S);
    if (what == LOSE_AND_FORGET)
        memset(&w.ledger, 0, sizeof w.ledger);
    w.ledger_up = what != LOSE;
    run_for(18 * S);
    assert_in_range(most_in_a_window(began + 10 * S, 10 * S), 4, 10 + 8);
    /* At first what was deposited in the ten seconds before may be spent. */
    assert_in_range(most_in_a_window(began, 10 * S), 100,
                    8 * 500 / 5 + 10 + 8 * 60);
    tear_down();
}

static void budget_outage_has_one_floor_for_all(void **state)
{
    (void)state;
    outage(NOTHING, false);
}

static void budget_ledger_lost_has_one_floor_for_all(void **state)
{
    (void)state;
    outage(LOSE, false);
    outage(LOSE, true);
}

static void budget_ledger_that_returns_has_one_floor_for_all(void **state)
{
    (void)state;
    outage(LOSE_AND_COME_BACK, false);
    outage(LOSE_AND_COME_BACK, true);
}

static void budget_ledger_that_returns_empty_has_one_floor_for_all(void **state)
{
    (void)state;
    outage(LOSE_AND_FORGET, false);
    outage(LOSE_AND_FORGET, true);
}

/* A window that is shorter than the time between two reports: they know each other
 * all the same, and the breaker is theirs together. */
static void regress_short_window_knows_all(void **state)
{
    (void)state;
    bide_policy_conf conf = defaults();
    conf.budget.window_ns = 100 * MS;
    conf.budget.floor_per_s = 50;
    set_up(&conf, 20 * MS);
    w.is[7].every = 3 * S;
    run_for(25 * S);
    for (int i = 0; i < INSTANCES; i++) {
        bide_share_view v;
        assert_int_equal(bide_dep_share_view(w.is[i].dep, w.now, &v), 0);
        assert_int_equal(v.instances, INSTANCES);
    }
    w.origin_up = false;
    run_for(13 * S);
    assert_int_not_equal(bide_dep_breaker(w.is[7].dep, w.now),
                         BIDE_BREAKER_CLOSED);
    tear_down();
}

/* The deposits of seven pay for the retries of the eighth. */
static void budget_deposits_are_shared(void **state)
{
    (void)state;
    bide_policy_conf conf = without_breaker();
    set_up(&conf, 20 * MS);
    run_for(25 * S);
    uint64_t before = w.n_retries;
    w.is[0].cut = true; /* its retries do not arrive, but are spent */
    run_for(5 * S);
    assert_int_equal(before, w.n_retries);
    bide_stats s;
    bide_dep_stats(w.is[0].dep, w.now, &s);
    assert_true(s.retries > 200); /* alone: 100 and its floor */
    tear_down();
}

static void budget_alone_with_a_known_number_has_its_part(void **state)
{
    (void)state;
    bide_policy_conf conf = without_breaker();
    bide_dep *dep = new_dep(&conf);
    bide_share share;
    assert_int_equal(bide_dep_budget_left(dep, 0), 10);
    assert_int_equal(bide_share_init(&share, dep, 5), 0);
    assert_int_equal(bide_share_init(&share, dep, 5), BIDE_ESTATE);
    assert_int_equal(bide_dep_budget_left(dep, 0), 1); /* nothing is known yet */
    bide_share_apply(&share, NULL, 0);                 /* nobody answers */
    assert_int_equal(bide_dep_budget_left(dep, 0), 2);
    bide_share_done(&share);
    assert_int_equal(bide_dep_budget_left(dep, 0), 10);
    bide_dep_free(dep);
}

/* Programs that come and go one after the other, as commands in a script do, on a
 * ledger that is new: what those before have spent counts for the next. */
static void budget_new_ledger_counts_what_those_before_spent(void **state)
{
    (void)state;
    bide_policy_conf conf = without_breaker();
    int64_t now = S;
    int retries = 0;
    struct bide__ledger ledger = { 0 };
    for (uint64_t id = 1; id <= 20; id++, now += 200 * MS) {
        bide_dep *dep = new_dep(&conf);
        bide_share share;
        bide_share_rule rule;
        bide_share_row row;
        bide_share_reply reply;
        assert_int_equal(bide_share_init(&share, dep, 1), 0);
        bide_share_rule_of(dep, &rule);
        for (int attempt = 0; attempt < 2; attempt++, now += 10 * MS) {
            bide_share_report(&share, now, &row);
            bide__ledger_sync(&ledger, &rule, id, &row, now, &reply);
            assert_true(reply.fresh);
            bide_share_apply(&share, &reply, now);
            for (int k = 0; attempt == 0 && k < 3; k++) {
                struct bide__ticket ticket;
                retries += bide__share_take(dep, now, &ticket);
            }
        }
        bide_share_done(&share);
        bide_dep_free(dep);
    }
    /* One that has just gone counts as an instance for 3 s: they have a part
     * each. */
    assert_in_range(retries, 4, 10);
}

static int take(bide_dep *dep, int times, int64_t now)
{
    int taken = 0;
    struct bide__ticket ticket;
    for (int i = 0; i < times; i++)
        taken += bide__share_take(dep, now, &ticket);
    return taken;
}

/* Told nothing at all, as while a name is looked up, it waits no longer than a reply
 * would hold. */
static void budget_nothing_heard_for_a_second_is_alone(void **state)
{
    (void)state;
    bide_policy_conf conf = without_breaker();
    bide_dep *dep = new_dep(&conf);
    bide_share share;
    static const struct {
        int64_t at;
        int taken;
    } rows[] = { { 5 * S, 1 }, { 5 * S + 900 * MS, 0 }, { 6 * S, 4 } };
    assert_int_equal(bide_share_init(&share, dep, 2), 0);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(take(dep, 9, rows[i].at), rows[i].taken);
    bide_share_done(&share);
    bide_dep_free(dep);
}

/* A hundred programs that begin at once, and fail before the ledger has answered,
 * have one floor, and one retry each. */
static void budget_many_that_begin_at_once_have_one_floor(void **state)
{
    (void)state;
    enum { MANY = 100 };
    bide_policy_conf conf = without_breaker();
    static bide_dep *dep[MANY];
    static bide_share share[MANY];
    static struct bide__ledger ledger;
    bide_share_rule rule;
    bide_share_row row = { .spent = 0 };
    bide_share_reply reply;
    int64_t now = S;
    int retries = 0;
    for (int i = 0; i < MANY; i++) {
        dep[i] = new_dep(&conf);
        assert_int_equal(bide_share_init(&share[i], dep[i], 1), 0);
        retries += take(dep[i], 3, now + 12 * S);
    }
    bide_share_rule_of(dep[0], &rule);
    for (int64_t end = now + 12 * S; now < end; now += S) /* a ledger that knows */
        bide__ledger_sync(&ledger, &rule, MANY + 1, &row, now, &reply);
    for (int i = 0; i < MANY; i++) {
        bide_share_report(&share[i], now, &row);
        bide__ledger_sync(&ledger, &rule, (uint64_t)i + 1, &row, now, &reply);
        assert_false(reply.fresh);
        bide_share_apply(&share[i], &reply, now);
        retries += take(dep[i], 3, now);
    }
    assert_in_range(retries, MANY, MANY + 10);
    for (int i = 0; i < MANY; i++) {
        bide_share_done(&share[i]);
        bide_dep_free(dep[i]);
    }
}

/* {what the ledger has, what is held before; the lease} */
static void ledger_leases_shrink_to_1(void **state)
{
    (void)state;
    static const struct {
        uint64_t deposits, spent_by_others, expected;
    } rows[] = {
        { 10000, 0, 502 }, { 10000, 1000, 252 }, { 1000, 0, 52 },
        { 50, 0, 4 },      { 50, 12, 1 },        { 0, 0, 2 },
        { 0, 7, 1 },       { 0, 9, 1 },          { 0, 10, 0 },
        { 0, 11, 0 },
    };
    const bide_share_rule rule = { .window_ns = 10 * S,
                                   .floor = 10000000,
                                   .ratio = 200000,
                                   .failure_rate = 900000,
                                   .slow_rate = 500000,
                                   .probes = 3 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bide__ledger l = { 0 };
        bide_share_reply r = { 0 };
        for (int64_t t = S; t <= 12 * S; t += S) {
            const bide_share_row a = { .deposits = rows[i].deposits, .busy = true },
                                 b = { .spent = rows[i].spent_by_others };
            bide__ledger_sync(&l, &rule, 2, &b, t, &r);
            assert_true(r.held <= 1); /* it has no traffic */
            bide__ledger_sync(&l, &rule, 1, &a, t, &r);
            assert_int_equal(r.fresh, t < 11 * S);
            assert_int_equal(r.instances, 2);
        }
        assert_int_equal(r.held, rows[i].expected);
    }
}

/* ===== breaker ===== */

/* Seven with traffic see it fail; the eighth makes a call every 3 s. */
static void breaker_most_see_it_opens_all_within_a_second(void **state)
{
    (void)state;
    bide_policy_conf conf = defaults();
    set_up(&conf, 20 * MS);
    w.is[7].every = 3 * S;
    run_for(25 * S);
    w.origin_up = false;
    int64_t failed_at = w.now;
    while (bide_dep_breaker(w.is[0].dep, w.now) == BIDE_BREAKER_CLOSED)
        run_for(MS);
    assert_true(w.now - failed_at < 12 * S);
    run_for(S);
    for (int i = 0; i < INSTANCES; i++)
        assert_int_not_equal(bide_dep_breaker(w.is[i].dep, w.now),
                             BIDE_BREAKER_CLOSED);
    tear_down();
}

static void breaker_one_alone_opens_only_its_own(void **state)
{
    (void)state;
    bide_policy_conf conf = defaults();
    set_up(&conf, 20 * MS);
    run_for(20 * S);
    w.is[3].cut = true;
    run_for(30 * S);
    assert_true(w.is[3].refused > 0);
    for (int i = 0; i < INSTANCES; i++)
        assert_true(i == 3 || w.is[i].refused == 0);
    w.is[3].cut = false;
    run_for(8 * S);
    assert_int_equal(bide_dep_breaker(w.is[3].dep, w.now), BIDE_BREAKER_CLOSED);
    tear_down();
}

/* The only one with traffic is not the fleet. */
static void breaker_one_of_idle_ones_opens_only_its_own(void **state)
{
    (void)state;
    bide_policy_conf conf = defaults();
    set_up(&conf, 0);
    w.is[0].every = 20 * MS;
    run_for(20 * S);
    w.origin_up = false;
    run_for(20 * S);
    assert_true(w.is[0].refused > 0);
    assert_int_equal(bide_dep_breaker(w.is[1].dep, w.now), BIDE_BREAKER_CLOSED);
    tear_down();
}

/* An open time is 1 s at first, then 2 s, then 3 s: about ten rounds in 30 s, of
 * up to three probes for all. Each by itself would make eight times as many. */
static void breaker_probes_are_for_the_fleet(void **state)
{
    (void)state;
    bide_policy_conf conf = defaults();
    set_up(&conf, 20 * MS);
    run_for(20 * S);
    w.origin_up = false;
    run_for(14 * S); /* open everywhere */
    uint64_t before = w.probes;
    run_for(30 * S);
    assert_in_range(w.probes - before, 5, 3 * 12);
    w.origin_up = true;
    run_for(9 * S);
    for (int i = 0; i < INSTANCES; i++)
        assert_int_equal(bide_dep_breaker(w.is[i].dep, w.now),
                         BIDE_BREAKER_CLOSED);
    bide_share_view v;
    uint64_t closed = 0;
    for (int i = 0; i < INSTANCES; i++) {
        assert_int_equal(bide_dep_share_view(w.is[i].dep, w.now, &v), 0);
        closed += v.closed;
    }
    assert_in_range(closed, 4, INSTANCES); /* by what others have found out */
    tear_down();
}

/* In an outage one is cut off for good: the others recover without it. */
static void breaker_one_that_stays_cut_holds_nobody_up(void **state)
{
    (void)state;
    bide_policy_conf conf = defaults();
    set_up(&conf, 20 * MS);
    run_for(20 * S);
    w.origin_up = false;
    w.is[5].cut = true;
    run_for(20 * S);
    w.origin_up = true;
    run_for(15 * S);
    for (int i = 0; i < INSTANCES; i++) {
        uint64_t refused = w.is[i].refused;
        run_for(2 * S);
        if (i != 5)
            assert_int_equal(w.is[i].refused, refused);
    }
    tear_down();
}

/* An outage under load, and then a call every 10 s at each: how many are refused
 * from when the origin is well again. */
static uint64_t refused_when_calls_are_rare(bool in_a_fleet)
{
    bide_policy_conf conf = defaults();
    uint64_t before = 0, after = 0;
    set_up(&conf, 20 * MS);
    w.ledger_up = in_a_fleet;
    run_for(20 * S);
    w.origin_up = false;
    run_for(14 * S);
    for (int i = 0; i < INSTANCES; i++) {
        w.is[i].every = 10 * S;
        w.is[i].next_call = w.now + (i + 1) * 1130 * MS;
    }
    w.origin_up = true;
    for (int i = 0; i < INSTANCES; i++)
        before += w.is[i].refused;
    run_for(60 * S);
    for (int i = 0; i < INSTANCES; i++) {
        after += w.is[i].refused;
        assert_int_equal(bide_dep_breaker(w.is[i].dep, w.now),
                         BIDE_BREAKER_CLOSED);
    }
    tear_down();
    return after - before;
}

/* The probes are given to one at a time, but its next call may be far: then
 * whoever has a call may probe, as it would alone. */
static void breaker_rare_calls_find_a_probe(void **state)
{
    (void)state;
    uint64_t alone = refused_when_calls_are_rare(false);
    uint64_t together = refused_when_calls_are_rare(true);
    assert_true(together <= alone + INSTANCES);
}

/* Without the ledger each probes by itself, as ever. */
static void breaker_ledger_lost_recovers_alone(void **state)
{
    (void)state;
    bide_policy_conf conf = defaults();
    set_up(&conf, 20 * MS);
    run_for(20 * S);
    w.origin_up = false;
    run_for(14 * S);
    w.ledger_up = false;
    run_for(5 * S);
    w.origin_up = true;
    run_for(6 * S);
    for (int i = 0; i < INSTANCES; i++)
        assert_int_equal(bide_dep_breaker(w.is[i].dep, w.now),
                         BIDE_BREAKER_CLOSED);
    tear_down();
}

/* ===== garbage ===== */

/* A ledger that says anything: nothing overflows, no call waits, and a moment
 * after it is gone the budget is our own. */
static void garbage_from_the_ledger_is_survived(void **state)
{
    (void)state;
    bide_policy_conf conf = defaults();
    bide_dep *dep = new_dep(&conf);
    bide_share share;
    bide_rng_seeded seed;
    bide_rng rng = bide_rng_seed(&seed, 7);
    assert_int_equal(bide_share_init(&share, dep, 1), 0);
    int64_t now = S;
    for (int i = 0; i < 20000; i++, now += MS) {
        bide_share_row row;
        bide_share_reply reply;
        uint64_t words[sizeof reply / 8];
        for (size_t k = 0; k < COUNT(words); k++)
            words[k] = rng.next(rng.state) >> (rng.next(rng.state) % 64);
        memcpy(&reply, words, sizeof reply);
        reply.fresh = words[0] & 1;
        bide_share_report(&share, now, &row);
        bide_share_apply(&share, &reply, now);
        assert_true(bide_dep_budget_left(dep, now) >= 0);
        bide_call call;
        bide_call_begin(&call, dep, &twice_is_fine, now);
        bide_decision d = bide_call_next(&call, now);
        if (d.action == BIDE_TRY)
            bide_call_report(&call, 1,
                             &(bide_outcome){ .cls = BIDE_TRANSIENT }, now);
        bide_call_end(&call, now);
    }
    now += 30 * S;
    assert_in_range(bide_dep_budget_left(dep, now), 0, 10);
    bide_share_done(&share);
    assert_int_equal(bide_dep_budget_left(dep, now), 10);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_outage_has_one_floor_for_all),
        cmocka_unit_test(budget_ledger_lost_has_one_floor_for_all),
        cmocka_unit_test(budget_ledger_that_returns_has_one_floor_for_all),
        cmocka_unit_test(budget_ledger_that_returns_empty_has_one_floor_for_all),
        cmocka_unit_test(regress_short_window_knows_all),
        cmocka_unit_test(budget_deposits_are_shared),
        cmocka_unit_test(budget_alone_with_a_known_number_has_its_part),
        cmocka_unit_test(budget_nothing_heard_for_a_second_is_alone),
        cmocka_unit_test(budget_many_that_begin_at_once_have_one_floor),
        cmocka_unit_test(budget_new_ledger_counts_what_those_before_spent),
        cmocka_unit_test(ledger_leases_shrink_to_1),
        cmocka_unit_test(breaker_most_see_it_opens_all_within_a_second),
        cmocka_unit_test(breaker_one_alone_opens_only_its_own),
        cmocka_unit_test(breaker_one_of_idle_ones_opens_only_its_own),
        cmocka_unit_test(breaker_probes_are_for_the_fleet),
        cmocka_unit_test(breaker_one_that_stays_cut_holds_nobody_up),
        cmocka_unit_test(breaker_rare_calls_find_a_probe),
        cmocka_unit_test(breaker_ledger_lost_recovers_alone),
        cmocka_unit_test(garbage_from_the_ledger_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
