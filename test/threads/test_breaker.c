/* threads/test_breaker.c: 64 threads and one breaker: never more probes than
 * allowed, and each transition made, and told of, once. */
#include "team.h"

#include "lib/breaker.h"
#include "lib/call.h"

enum { GENERATIONS = 1 << 15, ROUNDS = 100 };

struct shared {
    bide_dep *dep;
    uint32_t probes;
    bool all_report;                  /* no probe is given up */
    _Atomic int in_flight;            /* probes, by our own count */
    _Atomic int through[GENERATIONS]; /* probes let through in each */
    _Atomic uint64_t told[3][3];      /* callbacks, from and to */
    _Atomic int inside;
};

static void told(void *ctx, const bide_dep *dep, bide_breaker_state from,
                 bide_breaker_state to, int64_t now)
{
    struct shared *s = ctx;
    bide_stats stats;
    atomic_fetch_add(&s->told[from][to], 1);
    bide_dep_stats(dep, now, &stats); /* nothing is locked */
}

static const struct bide__running *running_of(const bide_call *call)
{
    return &((const struct bide__call *)(const void *)call)->running[0];
}

/* One attempt; counts it among the probes if it is one. */
static void attempt(struct member *me, bide_class cls, bool give_up)
{
    struct shared *s = me->ctx;
    int64_t now = now_ns();
    bide_op op = { .idempotent = true, .rng = &me->rng };
    bide_outcome out = { .cls = cls,
                         .hinted = chance(me, 9) == 0,
                         .hint_ns = chance(me, 3) * MS };
    bide_call call;
    bide_call_begin(&call, s->dep, &op, now);
    bide_decision d = bide_call_next(&call, now);
    if (d.action != BIDE_TRY) {
        EXPECT(d.reason == BIDE_BECAUSE_BREAKER_OPEN);
        bide_call_end(&call, now);
        sched_yield(); /* to whoever holds the probes' places */
        return;
    }
    bool probe = running_of(&call)->probe >= 0;
    if (probe) {
        EXPECT(atomic_fetch_add(&s->in_flight, 1) < (int)s->probes);
        atomic_fetch_add(&s->through[running_of(&call)->generation], 1);
    }
    if (chance(me, 3) == 0)
        sched_yield();
    if (probe)
        atomic_fetch_sub(&s->in_flight, 1);
    if (!give_up || (probe && s->all_report))
        bide_call_report(&call, 1, &out, now_ns());
    bide_call_end(&call, now_ns());
}

static bide_policy_conf hasty(uint32_t probes)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.attempts = 1;
    conf.attempt_timeout_ns = BIDE_HOUR; /* no probe is taken for lost */
    conf.breaker.min_calls = 5;
    conf.breaker.window_ns = 100 * MS;
    conf.breaker.open_ns = MS;
    conf.breaker.open_max_ns = 4 * MS;
    conf.breaker.probes = probes;
    return conf;
}

static void check_books(const struct shared *s)
{
    bide_stats stats = stats_of(s->dep, now_ns());
    const int C = BIDE_BREAKER_CLOSED, O = BIDE_BREAKER_OPEN,
              H = BIDE_BREAKER_HALF_OPEN;
    uint64_t co = s->told[C][O], oh = s->told[O][H], ho = s->told[H][O],
             hc = s->told[H][C];
    assert_int_equal(s->told[C][C] + s->told[C][H] + s->told[O][C] +
                         s->told[O][O] + s->told[H][H],
                     0);
    assert_int_equal(stats.breaker_to[O], co + ho);
    assert_int_equal(stats.breaker_to[H], oh);
    assert_int_equal(stats.breaker_to[C], hc);
    /* each state was left as often as it was entered, but for the last */
    assert_in_range(hc + 1 - co, 0, 1);
    assert_in_range(co + ho - oh, 0, 1);
    assert_in_range(oh - ho - hc, 0, 1);
    assert_true(co > 0); /* whether it closes again is up to chance */
    for (uint32_t i = 0; i < s->probes; i++)
        assert_int_equal(atomic_load(&s->dep->breaker.probe[i]), 0);
    if (s->all_report)
        for (int g = 0; g < GENERATIONS; g++)
            assert_true(atomic_load(&s->through[g]) <= (int)s->probes);
}

/* Time runs; the dependency is ill for a while, then well, then ill. */
static void live(struct member *me)
{
    struct shared *s = me->ctx;
    for (int i = 0; i < 1000; i++) {
        bool ill_now = now_ns() / (200 * MS) % 2;
        bide_class cls =
            chance(me, 10) < (ill_now ? 9 : 1) ? BIDE_TRANSIENT : BIDE_SUCCESS;
        if (!s->all_report && chance(me, 10) == 0)
            cls = BIDE_IGNORED;
        /* time stands still for probes, or it would all go by in their wait
         * for a processor */
        if (chance(me, 20) == 0 &&
            bide_dep_breaker(s->dep, now_ns()) != BIDE_BREAKER_HALF_OPEN)
            atomic_fetch_add(&team_clock, chance(me, 300) * MS / 10);
        attempt(me, cls, chance(me, 20) == 0);
    }
}

static void live_with(uint32_t probes, bide_breaker_kind kind, bool all_report)
{
    static struct shared s;
    bide_policy_conf conf = hasty(probes);
    memset(&s, 0, sizeof s);
    s.probes = probes;
    s.all_report = all_report;
    conf.breaker.kind = kind;
    conf.breaker.window_calls = 20;
    if (kind == BIDE_BREAKER_COUNT)
        conf.breaker.consecutive = 7;
    s.dep = new_dep_in(&conf, (bide_host){ .ctx = &s, .on_breaker = told });
    run_team(live, &s, 0);
    check_books(&s);
    bide_dep_free(s.dep);
}

static void breaker_one_probe_at_a_time(void **state)
{
    (void)state;
    live_with(1, BIDE_BREAKER_TIME, true);
}

static void breaker_no_more_probes_than_allowed(void **state)
{
    (void)state;
    live_with(3, BIDE_BREAKER_TIME, true);
}

static void breaker_probes_may_be_given_up(void **state)
{
    (void)state;
    live_with(4, BIDE_BREAKER_TIME, false);
}

static void breaker_by_count_holds_too(void **state)
{
    (void)state;
    live_with(3, BIDE_BREAKER_COUNT, true);
}

/* ===== rounds ===== */

/* All threads find the breaker half-open at the same moment. */
static void probe_together(struct member *me)
{
    struct shared *s = me->ctx;
    bide_call call;
    static _Atomic int in;
    for (int round = 0; round < 150; round++) {
        ONE_OF_US({
            int64_t now = now_ns();
            while (bide_dep_breaker(s->dep, now) == BIDE_BREAKER_CLOSED)
                attempt(me, BIDE_TRANSIENT, false);
            atomic_store(&team_clock, now + 10 * MS);
            atomic_store(&in, 0);
        });
        int64_t now = now_ns();
        bool mine = begin(&call, s->dep, now).action == BIDE_TRY;
        atomic_fetch_add(&in, mine);
        ONE_OF_US({
            EXPECT(atomic_load(&in) == (int)s->probes);
            EXPECT(bide_dep_breaker(s->dep, now) == BIDE_BREAKER_HALF_OPEN);
        });
        bide_outcome out = { .cls = BIDE_SUCCESS };
        if (round % 3 == 1 && mine && chance(me, 2))
            out.cls = BIDE_TRANSIENT;
        if (mine)
            bide_call_report(&call, 1, &out, now);
        bide_call_end(&call, now);
        ONE_OF_US({
            bide_breaker_state is = bide_dep_breaker(s->dep, now);
            EXPECT(is != BIDE_BREAKER_HALF_OPEN);
            EXPECT(round % 3 == 1 || is == BIDE_BREAKER_CLOSED);
        });
    }
}

static void breaker_probes_together_are_exact(void **state)
{
    static struct shared s;
    bide_policy_conf conf = hasty(3);
    (void)state;
    memset(&s, 0, sizeof s);
    s.probes = 3;
    s.dep = new_dep_in(&conf, (bide_host){ .ctx = &s, .on_breaker = told });
    run_team(probe_together, &s, 0);
    check_books(&s);
    bide_dep_free(s.dep);
}

/* All threads bring the bad news at once: it opens once. */
static void open_together(struct member *me)
{
    struct shared *s = me->ctx;
    bide_call call;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t now = now_ns();
        EXPECT(begin(&call, s->dep, now).action == BIDE_TRY);
        together();
        bide_outcome out = { .cls = BIDE_TRANSIENT };
        bide_call_report(&call, 1, &out, now);
        bide_call_end(&call, now);
        ONE_OF_US({
            uint64_t opened = atomic_load(&s->told[0][1]);
            EXPECT(opened == (uint64_t)round + 1);
            EXPECT(bide_dep_breaker(s->dep, now) == BIDE_BREAKER_OPEN);
            atomic_store(&team_clock, now + 10 * MS);
            for (uint32_t i = 0; i < s->probes; i++)
                attempt(me, BIDE_SUCCESS, false);
            EXPECT(bide_dep_breaker(s->dep, now_ns()) == BIDE_BREAKER_CLOSED);
        });
    }
}

static void breaker_opens_once(void **state)
{
    static struct shared s;
    (void)state;
    for (int kind = BIDE_BREAKER_TIME; kind <= BIDE_BREAKER_COUNT; kind++) {
        bide_policy_conf conf = hasty(2);
        conf.breaker.kind = (bide_breaker_kind)kind;
        memset(&s, 0, sizeof s);
        s.probes = 2;
        s.dep = new_dep_in(&conf, (bide_host){ .ctx = &s, .on_breaker = told });
        run_team(open_together, &s, 0);
        check_books(&s);
        /* those who came after it had opened were late, and nowhere else */
        bide_stats stats = stats_of(s.dep, now_ns());
        assert_true(stats.late_reports < ROUNDS * TEAM);
        bide_dep_free(s.dep);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaker_one_probe_at_a_time),
        cmocka_unit_test(breaker_no_more_probes_than_allowed),
        cmocka_unit_test(breaker_probes_may_be_given_up),
        cmocka_unit_test(breaker_by_count_holds_too),
        cmocka_unit_test(breaker_probes_together_are_exact),
        cmocka_unit_test(breaker_opens_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
