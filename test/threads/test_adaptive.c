/* threads/test_adaptive.c: the adaptive cap, and the switch of retries, under 64
 * threads. */
#include "team.h"

#include "lib/limit/adaptive.h"

struct shared {
    bide_limit_conf conf;
    struct bide__adaptive adaptive;
    bide_dep *dep;
    _Atomic int running, off;
};

static const bide_outcome good = { .cls = BIDE_SUCCESS };
static const bide_outcome bad = { .cls = BIDE_THROTTLED };

enum { REPORTS = 2000 };

static void report_good(struct member *me)
{
    struct shared *s = me->ctx;
    for (int i = 0; i < REPORTS; i++)
        bide__adaptive_report(&s->adaptive, &s->conf, &good, 1, 1000000);
}

/* No report is lost. */
static void adaptive_reports_all_count(void **state)
{
    static struct shared s;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    (void)state;
    s.conf = conf.limits;
    s.conf.adaptive = BIDE_ADAPTIVE_AIMD;
    s.conf.adaptive_max = 1000000;
    s.conf.adaptive_initial = 1;
    bide__adaptive_init(&s.adaptive, &s.conf);
    run_team(report_good, &s, 0);
    assert_int_equal(bide__adaptive_limit(&s.adaptive), 1 + TEAM * REPORTS);
}

static void report_any(struct member *me)
{
    struct shared *s = me->ctx;
    for (int i = 0; i < REPORTS; i++) {
        bide__adaptive_report(&s->adaptive, &s->conf,
                              chance(me, 5) ? &good : &bad,
                              1 + chance(me, 1000000),
                              (uint64_t)chance(me, 100));
        uint32_t limit = bide__adaptive_limit(&s->adaptive);
        EXPECT(limit >= 3 && limit <= 50);
    }
}

static void adaptive_cap_is_never_outside_its_bounds(void **state)
{
    static struct shared s;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    (void)state;
    s.conf = conf.limits;
    s.conf.adaptive = BIDE_ADAPTIVE_GRADIENT;
    s.conf.adaptive_min = 3;
    s.conf.adaptive_max = 50;
    bide__adaptive_init(&s.adaptive, &s.conf);
    run_team(report_any, &s, 0);
}

/* Calls under a cap of 2 to 4, while one thread turns retries on and off. */
static void call_and_switch(struct member *me)
{
    struct shared *s = me->ctx;
    for (int i = 0; i < REPORTS; i++) {
        bide_call call;
        bide_decision d = begin(&call, s->dep, 0);
        if (d.action == BIDE_TRY) {
            EXPECT(atomic_fetch_add(&s->running, 1) < 4);
            if (chance(me, 3) == 0)
                sched_yield();
            atomic_fetch_sub(&s->running, 1);
            bide_call_report(&call, d.attempt, chance(me, 3) ? &good : &bad, 0);
            d = bide_call_next(&call, 0);
            if (d.reason == BIDE_BECAUSE_RETRIES_OFF)
                atomic_fetch_add(&s->off, 1);
        }
        bide_call_end(&call, 0);
        if (me->who == 0)
            bide_dep_set_retries(s->dep, i % 2);
    }
}

static void adaptive_cap_holds_and_the_switch_is_seen(void **state)
{
    static struct shared s;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_stats stats;

    (void)state;
    conf.limits.adaptive = BIDE_ADAPTIVE_AIMD;
    conf.limits.adaptive_min = conf.limits.adaptive_initial = 2;
    conf.limits.adaptive_max = 4;
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.budget.kind = BIDE_BUDGET_OFF;
    assert_int_equal(bide_dep_new(&s.dep, "a", &conf), 0);
    run_team(call_and_switch, &s, 0);
    bide_dep_stats(s.dep, 0, &stats);
    assert_int_equal(stats.in_flight, 0);
    assert_int_equal(stats.done[BIDE_BECAUSE_RETRIES_OFF], s.off);
    bide_dep_free(s.dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adaptive_reports_all_count),
        cmocka_unit_test(adaptive_cap_is_never_outside_its_bounds),
        cmocka_unit_test(adaptive_cap_holds_and_the_switch_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
