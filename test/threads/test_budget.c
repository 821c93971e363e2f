/* threads/test_budget.c: 64 threads and one budget: never overspent, and exact.
 *
 * In each round all threads want retries at the same moment, more of them than
 * there is budget; then it is counted what they got. */
#include "team.h"

#include "lib/budget/budget.h"
#include "lib/budget/spend.h"

/* ===== spending ===== */

struct spending {
    struct bide__spend spend;
    uint64_t tick;
    int64_t limit;
    _Atomic int64_t granted;
    int64_t in_tick[1 << 16]; /* what was granted in each tick */
    bool race_expiry;         /* nobody clears up before the race */
    int rounds;
};

static int64_t outstanding_by_book(const struct spending *s)
{
    int64_t sum = 0;
    for (uint64_t b = 0; b < BIDE__SPEND_SLOTS && b <= s->tick; b++)
        sum += s->in_tick[s->tick - b];
    return sum;
}

static void spend_in_rounds(struct member *me)
{
    struct spending *s = me->ctx;
    for (int round = 0; round < s->rounds; round++) {
        uint64_t ticket = 0, tickets[4];
        int n = 0;
        ONE_OF_US({
            s->tick += (uint64_t)chance(me, round % 5 ? 20 : 150);
            s->limit = chance(me, 120);
            atomic_store(&s->granted, 0);
            if (!s->race_expiry && /* clears up, if there is anything */
                bide__spend_take(&s->spend, s->tick, INT64_MAX, &ticket))
                bide__spend_give(&s->spend, ticket);
        });
        for (int i = 0; i < 4; i++)
            if (bide__spend_take(&s->spend, s->tick, s->limit, &tickets[n]))
                n++;
        atomic_fetch_add(&s->granted, n);
        ONE_OF_US({
            int64_t before = outstanding_by_book(s);
            int64_t room = s->limit > before ? s->limit - before : 0;
            int64_t expected = room < TEAM * 4 ? room : TEAM * 4;
            int64_t got = atomic_load(&s->granted);
            EXPECT(got <= expected);
            if (!s->race_expiry)
                EXPECT(got == expected);
            s->in_tick[s->tick] += got;
            if (room <= TEAM * 4)
                while (bide__spend_take(&s->spend, s->tick, s->limit, &ticket))
                    s->in_tick[s->tick]++; /* what the race left over */
            EXPECT(outstanding_by_book(s) ==
                   (room <= TEAM * 4 ? before + room : before + got));
            EXPECT(bide__spend_outstanding(&s->spend, s->tick) ==
                   outstanding_by_book(s));
        });
        int given = 0;
        while (n > 0 && chance(me, 2)) {
            bide__spend_give(&s->spend, tickets[--n]);
            given++;
        }
        atomic_fetch_sub(&s->granted, given);
        ONE_OF_US({
            s->in_tick[s->tick] = 0; /* as the slot says, which is checked: */
            int64_t rest = outstanding_by_book(s);
            s->in_tick[s->tick] =
                bide__spend_outstanding(&s->spend, s->tick) - rest;
            EXPECT(s->in_tick[s->tick] >= atomic_load(&s->granted));
        });
    }
}

static void spend_race_is_exact(void **state)
{
    static struct spending s;
    (void)state;
    memset(&s, 0, sizeof s);
    s.rounds = 200;
    run_team(spend_in_rounds, &s, 0);
    assert_int_equal(bide__spend_outstanding(&s.spend, s.tick + 64), 0);
}

static void spend_race_with_expiry_is_never_over(void **state)
{
    static struct spending s;
    (void)state;
    memset(&s, 0, sizeof s);
    s.rounds = 200;
    s.race_expiry = true;
    run_team(spend_in_rounds, &s, 0);
    assert_int_equal(bide__spend_outstanding(&s.spend, s.tick + 64), 0);
}

/* No rounds: time runs, and everybody takes and gives as they like. In the end
 * the total is what the slots hold, and a window later it is nothing. */
static void spend_freely(struct member *me)
{
    struct spending *s = me->ctx;
    uint64_t tickets[8];
    int n = 0;
    for (int i = 0; i < 4000; i++) {
        uint64_t tick = (uint64_t)now_ns();
        if (chance(me, 50) == 0)
            atomic_fetch_add(&team_clock, chance(me, 3));
        if (n > 0 && chance(me, 2))
            bide__spend_give(&s->spend, tickets[--n]);
        else if (n < 8 && bide__spend_take(&s->spend, tick, 20, &tickets[n]))
            n++;
        EXPECT(atomic_load(&s->spend.total) <= 20);
        EXPECT(atomic_load(&s->spend.total) >= 0);
    }
}

static void spend_total_is_what_the_slots_hold(void **state)
{
    static struct spending s;
    (void)state;
    memset(&s, 0, sizeof s);
    run_team(spend_freely, &s, 30);
    int64_t noted = 0;
    for (int i = 0; i < BIDE__SPEND_SLOTS; i++)
        noted += (int64_t)(atomic_load(&s.spend.slot[i]) & 0xfffffff);
    assert_int_equal(atomic_load(&s.spend.total), noted);
    uint64_t ticket;
    uint64_t later = (uint64_t)now_ns() + 200;
    for (int i = 0; i < 20; i++)
        assert_true(bide__spend_take(&s.spend, later, 20, &ticket));
    assert_false(bide__spend_take(&s.spend, later, 20, &ticket));
}

/* ===== the kinds, through calls ===== */

struct racing {
    bide_dep *dep;
    int64_t expected; /* grants of a round */
    bool exact;
    _Atomic int64_t granted;
};

/* All calls are begun, then all fail at once and ask; nobody ends before all
 * have asked. Then they go each their way. */
static void fail_in_rounds(struct member *me)
{
    struct racing *r = me->ctx;
    const bide_outcome throttled = { .cls = BIDE_THROTTLED };
    bide_call call, first;
    for (int round = 0; round < 150; round++) {
        ONE_OF_US({
            atomic_store(&r->granted, 0);
            atomic_fetch_add(&team_clock, 11 * S);
            begin(&first, r->dep, now_ns()); /* asks, and so clears up */
            bide_call_report(&first, 1, &throttled, now_ns());
            bide_call_next(&first, now_ns());
            bide_call_end(&first, now_ns());
        });
        int64_t now = now_ns();
        EXPECT(begin(&call, r->dep, now).action == BIDE_TRY);
        together();
        bide_outcome out = { .cls = BIDE_TRANSIENT };
        bide_call_report(&call, 1, &out, now);
        bool waits = bide_call_next(&call, now).action == BIDE_WAIT;
        atomic_fetch_add(&r->granted, waits);
        ONE_OF_US({
            EXPECT(atomic_load(&r->granted) <= r->expected);
            if (r->exact)
                EXPECT(atomic_load(&r->granted) == r->expected);
            EXPECT(!r->exact || bide_dep_budget_left(r->dep, now) == 0);
        });
        if (waits && chance(me, 2)) {
            now += 100 * MS;
            EXPECT(bide_call_next(&call, now).action == BIDE_TRY);
            out = BIDE_OUTCOME_SUCCESS;
            if (chance(me, 2))
                bide_call_report(&call, 2, &out, now);
        }
        bide_call_end(&call, now);
    }
}

static void race(bide_policy_conf *conf, int64_t expected, bool exact)
{
    struct racing r = { .expected = expected, .exact = exact };
    conf->attempts = 2;
    conf->breaker.kind = BIDE_BREAKER_OFF;
    conf->backoff.jitter = BIDE_JITTER_NONE;
    r.dep = new_dep(conf);
    int64_t whole = bide_dep_budget_left(r.dep, 0);
    run_team(fail_in_rounds, &r, 0);
    bide_stats s = stats_of(r.dep, now_ns());
    uint64_t sum = 0;
    for (int i = 0; i < BIDE_N_REASONS; i++)
        sum += s.done[i];
    assert_int_equal(s.calls, 151 * TEAM - TEAM + 150);
    assert_int_equal(sum, s.calls);
    if (exact) /* all is back, at once or a window later */
        assert_int_equal(bide_dep_budget_left(r.dep, now_ns() + 11 * S), whole);
    assert_int_equal(atomic_load(&r.dep->budget.calls), 0);
    bide_dep_free(r.dep);
}

static void budget_window_race_is_exact(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    (void)state;
    race(&conf, 10, true);
}

static void budget_quota_race_is_exact(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    (void)state;
    conf.budget.kind = BIDE_BUDGET_QUOTA;
    conf.budget.capacity = 153;
    race(&conf, 30, true);
}

static void budget_in_flight_race_is_exact(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    (void)state;
    conf.budget.kind = BIDE_BUDGET_IN_FLIGHT;
    conf.budget.ratio = 0.29; /* of 64 is 18.56 */
    race(&conf, 18, true);
}

/* Each failure takes its token before it asks, so those who fail together may
 * find fewer left than when they fail one after the other; never more. */
static void budget_throttle_race_is_never_over(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    (void)state;
    conf.budget.kind = BIDE_BUDGET_THROTTLE;
    race(&conf, 4, false);
}

/* Levels that everybody moves at once neither overflow nor leak. */
static void move_levels(struct member *me)
{
    struct racing *r = me->ctx;
    bide_dep *dep = r->dep;
    struct bide__ticket ticket[4];
    int n = 0;
    for (int i = 0; i < 4000; i++) {
        struct bide__failure after = {
            (bide_class)(BIDE_TRANSIENT + chance(me, 2)), chance(me, 2), 0
        };
        struct bide__budget_end end = {
            chance(me, 4) ? BIDE_SUCCESS : BIDE_TRANSIENT, false, true
        };
        if (n < 4 && bide__budget_take(&dep->budget, &dep->policy, dep->lanes,
                                       &after, 0, &ticket[n]))
            n++;
        else if (n > 0)
            bide__budget_give_back(&dep->budget, &dep->policy, &ticket[--n]);
        if (dep->policy.conf.budget.kind == BIDE_BUDGET_THROTTLE)
            bide__budget_report(&dep->budget, &dep->policy, dep->lanes, &end,
                                0);
        int64_t level = atomic_load(&dep->budget.level);
        EXPECT(level >= 0 && level <= r->expected);
    }
    while (n > 0)
        bide__budget_give_back(&dep->budget, &dep->policy, &ticket[--n]);
}

static void budget_levels_stay_in_their_bounds(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    (void)state;
    for (int kind = BIDE_BUDGET_QUOTA; kind <= BIDE_BUDGET_IN_FLIGHT; kind++) {
        conf.budget.kind = (bide_budget_kind)kind;
        conf.budget.capacity = 500;
        conf.budget.min_in_flight = 40;
        struct racing r = { .dep = new_dep(&conf) };
        r.expected = kind == BIDE_BUDGET_QUOTA       ? 500
                     : kind == BIDE_BUDGET_IN_FLIGHT ? 40
                                                     : 10000000;
        run_team(move_levels, &r, 0);
        int64_t level = atomic_load(&r.dep->budget.level);
        if (kind == BIDE_BUDGET_QUOTA)
            assert_int_equal(level, 500);
        if (kind == BIDE_BUDGET_IN_FLIGHT)
            assert_int_equal(level, 0);
        bide_dep_free(r.dep);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spend_race_is_exact),
        cmocka_unit_test(spend_race_with_expiry_is_never_over),
        cmocka_unit_test(spend_total_is_what_the_slots_hold),
        cmocka_unit_test(budget_window_race_is_exact),
        cmocka_unit_test(budget_quota_race_is_exact),
        cmocka_unit_test(budget_in_flight_race_is_exact),
        cmocka_unit_test(budget_throttle_race_is_never_over),
        cmocka_unit_test(budget_levels_stay_in_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
