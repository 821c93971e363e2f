/* threads/test_dep.c: whole calls on one dependency, by 64 threads: any
 * outcome, cancelled or abandoned at any moment. When all is over, nothing is
 * held. */
#include "team.h"

struct shared {
    bide_dep *dep;
    _Atomic uint64_t calls, attempts;
};

/* Goes on with a call until it is done, or the caller has had enough. */
static void carry_out(struct member *me, bide_call *call)
{
    struct shared *s = me->ctx;
    uint32_t running[5];
    int n = 0;
    for (int steps = 0; steps < 40; steps++) {
        bide_decision d = bide_call_next(call, now_ns());
        if (d.action == BIDE_DONE)
            return;
        if (d.action == BIDE_TRY) {
            running[n++] = d.attempt;
            atomic_fetch_add(&s->attempts, 1);
        } else if (chance(me, 4) == 0 && d.at_ns != BIDE_FOREVER) {
            int64_t seen = now_ns(); /* somebody has to let time pass */
            if (d.at_ns > seen && d.at_ns - seen < S)
                atomic_compare_exchange_strong(&team_clock, &seen, d.at_ns);
        }
        if (n > 0 && chance(me, 3) != 0) {
            static const bide_class classes[] = {
                BIDE_SUCCESS,   BIDE_SUCCESS,   BIDE_SUCCESS,   BIDE_SUCCESS,
                BIDE_TRANSIENT, BIDE_TRANSIENT, BIDE_THROTTLED, BIDE_OVERLOADED,
                BIDE_PERMANENT, BIDE_IGNORED
            };
            int which = (int)chance(me, n);
            bide_outcome out = { .cls = classes[chance(me, 10)],
                                 .not_processed = chance(me, 2) };
            if (chance(me, 10) == 0) {
                out.hinted = true;
                out.hint_ns = chance(me, 100) * MS;
            }
            EXPECT(bide_call_report(call, running[which], &out, now_ns()) == 0);
            EXPECT(bide_call_report(call, running[which], &out, now_ns()) ==
                   BIDE_ESTATE);
            running[which] = running[--n];
        }
        if (chance(me, 50) == 0)
            bide_call_cancel(call);
        if (chance(me, 50) == 0)
            return; /* abandoned, with whatever runs and waits */
    }
}

static void call_and_call(struct member *me)
{
    struct shared *s = me->ctx;
    bide_stats stats;
    for (int i = 0; i < 300; i++) {
        bide_call call;
        bide_op op = { .idempotent = chance(me, 4) != 0,
                       .rng = chance(me, 2) ? &me->rng : NULL };
        if (chance(me, 10) == 0)
            op.deadline_ns = now_ns() + chance(me, 100) * MS;
        if (chance(me, 3) == 0)
            atomic_fetch_add(&team_clock, chance(me, 10) * MS);
        bide_call_begin(&call, s->dep, &op, now_ns());
        carry_out(me, &call);
        bide_call_end(&call, now_ns());
        atomic_fetch_add(&s->calls, 1);
        if (chance(me, 200) == 0) { /* snapshots stop nobody */
            bide_dep_stats(s->dep, now_ns(), &stats);
            EXPECT(stats.calls <= 300 * TEAM);
            EXPECT(stats.attempt_time.count <= 300 * 5 * TEAM);
        }
    }
}

static void check_nothing_is_held(bide_dep *dep, int64_t whole)
{
    int64_t later = now_ns() + 2 * BIDE_MINUTE; /* past every window */
    bide_stats s = stats_of(dep, later);
    assert_int_equal(s.in_flight, 0);
    assert_int_equal(s.queued, 0);
    for (int i = 0; i < BIDE__PROBES_MAX; i++)
        assert_int_equal(atomic_load(&dep->breaker.probe[i]), 0);
    assert_int_equal(atomic_load(&dep->budget.calls), 0);
    if (dep->policy.conf.budget.kind == BIDE_BUDGET_WINDOW ||
        dep->policy.conf.budget.kind == BIDE_BUDGET_IN_FLIGHT)
        assert_int_equal(bide_dep_budget_left(dep, later), whole);
    assert_int_equal(bide__spend_outstanding(
                         &dep->hedge_spend,
                         bide__tick(dep->policy.hedge_spend_ticks, later)),
                     0);
}

static void check_books(const struct shared *shared)
{
    bide_stats s = stats_of(shared->dep, now_ns());
    uint64_t reasons = 0, classes = 0;
    for (int i = 0; i < BIDE_N_REASONS; i++)
        reasons += s.done[i];
    for (int i = 0; i < BIDE_N_CLASSES; i++)
        classes += s.by_class[i];
    assert_int_equal(s.calls, atomic_load(&shared->calls));
    assert_int_equal(reasons, s.calls);
    assert_int_equal(s.first_successes + s.late_successes + s.failures,
                     s.calls);
    assert_int_equal(s.done[BIDE_BECAUSE_SUCCESS],
                     s.first_successes + s.late_successes);
    assert_int_equal(s.attempts, atomic_load(&shared->attempts));
    assert_int_equal(classes, s.attempts);
    assert_int_equal(s.attempt_time.count, s.by_class[BIDE_SUCCESS]);
    assert_int_equal(s.call_time.count, s.done[BIDE_BECAUSE_SUCCESS]);
    /* some slept, and were not let through then */
    assert_true(s.wait_slept.count >= s.retries);
    assert_true(s.wait_slept.count <= s.retries + s.retries_dropped);
    assert_int_equal(s.wait_computed.count, s.wait_jittered.count);
}

static void live_with(const bide_policy_conf *conf)
{
    struct shared s = { .dep = new_dep(conf) };
    int64_t whole = bide_dep_budget_left(s.dep, 0);
    run_team(call_and_call, &s, 0);
    check_nothing_is_held(s.dep, whole);
    check_books(&s);
    bide_dep_free(s.dep);
}

static bide_policy_conf with_budget(bide_budget_kind kind)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.budget.kind = kind;
    conf.breaker.open_ns = 10 * MS;
    conf.breaker.open_max_ns = 20 * MS;
    conf.breaker.failure_rate = 0.6;
    return conf;
}

static void dep_usual_policy_holds_nothing(void **state)
{
    bide_policy_conf conf = with_budget(BIDE_BUDGET_WINDOW);
    (void)state;
    live_with(&conf);
}

static void dep_quota_holds_nothing(void **state)
{
    bide_policy_conf conf = with_budget(BIDE_BUDGET_QUOTA);
    (void)state;
    conf.breaker.kind = BIDE_BREAKER_COUNT;
    conf.breaker.consecutive = 9;
    live_with(&conf);
}

static void dep_throttle_holds_nothing(void **state)
{
    bide_policy_conf conf = with_budget(BIDE_BUDGET_THROTTLE);
    (void)state;
    conf.limits.adaptive_throttle = true;
    conf.limits.throttle_window_ns = S;
    live_with(&conf);
}

static void dep_in_flight_with_queue_holds_nothing(void **state)
{
    bide_policy_conf conf = with_budget(BIDE_BUDGET_IN_FLIGHT);
    (void)state;
    conf.limits.in_flight = 10;
    conf.limits.queue = 20;
    conf.limits.queue_timeout_ns = 50 * MS;
    live_with(&conf);
}

static void dep_paced_holds_nothing(void **state)
{
    bide_policy_conf conf = with_budget(BIDE_BUDGET_WINDOW);
    (void)state;
    conf.limits.adaptive_rate = true;
    conf.limits.in_flight = 10;
    conf.limits.queue = 20;
    conf.deadline_ns = S;
    live_with(&conf);
}

static void dep_hedging_holds_nothing(void **state)
{
    bide_policy_conf conf = with_budget(BIDE_BUDGET_WINDOW);
    (void)state;
    conf.attempts = 1;
    conf.hedge.max = 3;
    conf.hedge.after_ns = 3 * MS;
    conf.hedge.extra_load = 0.5;
    conf.limits.in_flight = 30;
    live_with(&conf);
    conf.hedge.after_ns = BIDE_FOREVER; /* by quantile */
    live_with(&conf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dep_usual_policy_holds_nothing),
        cmocka_unit_test(dep_quota_holds_nothing),
        cmocka_unit_test(dep_throttle_holds_nothing),
        cmocka_unit_test(dep_in_flight_with_queue_holds_nothing),
        cmocka_unit_test(dep_paced_holds_nothing),
        cmocka_unit_test(dep_hedging_holds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
