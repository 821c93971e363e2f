/* threads/test_latency.c: counters that 64 threads share lose nothing: slices
 * of latency, histograms, and windows. */
#include "team.h"

#include "lib/latency.h"
#include "lib/window.h"

enum { EACH = 4000 };

static void measure(struct member *me)
{
    bide_dep *dep = me->ctx;
    for (int i = 0; i < EACH; i++) {
        if (chance(me, 100) == 0) /* slices of 10 s go by all the time */
            atomic_fetch_add(&team_clock, chance(me, 8) * S);
        int64_t now = now_ns();
        bide__record_first(dep, &dep->lanes[chance(me, 4)],
                           1 + chance(me, 2 * S), now);
        if (chance(me, 500) == 0) {
            int64_t p = bide_dep_latency(dep, 0.5, now);
            EXPECT(p == -1 || (p > 0 && p < 3 * S));
        }
    }
}

static void latency_count_is_conserved(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    run_team(measure, dep, 0);
    bide_stats s = stats_of(dep, now_ns());
    assert_int_equal(s.attempt_time.count, EACH * TEAM);
    uint64_t sum = 0;
    for (int i = 0; i < BIDE_N_BUCKETS; i++)
        sum += s.attempt_time.bucket[i];
    assert_int_equal(sum, EACH * TEAM);
    double mean = (double)s.attempt_time.sum_ns / (EACH * TEAM);
    assert_in_range((int64_t)mean, 990 * MS, 1010 * MS);
    bide_dep_free(dep);
}

static struct bide__histogram totals;

static void pour(struct member *me)
{
    for (int i = 0; i < EACH; i++)
        bide__histogram_add(&totals, 1000 * (1 + chance(me, 1000)), 2);
}

static void histogram_count_is_conserved(void **state)
{
    bide_histogram h = { 0 };
    (void)state;
    memset(&totals, 0, sizeof totals);
    run_team(pour, NULL, 0);
    bide__histogram_read(&totals, &h);
    assert_int_equal(h.count, 2 * EACH * TEAM);
}

static struct bide__window window;

/* Within 16 ticks nothing leaves, so that all must be there in the end. */
static void add(struct member *me)
{
    for (int i = 0; i < EACH; i++) {
        int64_t seen = now_ns(); /* no further than 1015, whoever else adds */
        if (chance(me, EACH) == 0 && seen < 1015)
            atomic_compare_exchange_strong(&team_clock, &seen, seen + 1);
        bide__window_add(&window, (uint64_t)now_ns(), 3);
    }
}

static void window_count_is_conserved(void **state)
{
    (void)state;
    memset(&window, 0, sizeof window);
    /* what lies there is old, and taken over by whoever is first */
    for (uint64_t t = 900; t < 916; t++)
        bide__window_add(&window, t, 2);
    run_team(add, NULL, 1000);
    assert_int_equal(bide__window_sum(&window, 1015, 3), EACH * TEAM);
}

/* Rounds of one tick each, 16 apart: every slot is turned over in a race. */
static void turn(struct member *me)
{
    (void)me;
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 10; i++)
            bide__window_add(&window, (uint64_t)now_ns(), 3);
        ONE_OF_US({
            EXPECT(bide__window_sum(&window, (uint64_t)now_ns(), 3) ==
                   10 * TEAM);
            atomic_fetch_add(&team_clock, 16);
        });
    }
}

static void window_turned_over_in_a_race_counts_all(void **state)
{
    (void)state;
    memset(&window, 0, sizeof window);
    run_team(turn, NULL, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_count_is_conserved),
        cmocka_unit_test(histogram_count_is_conserved),
        cmocka_unit_test(window_count_is_conserved),
        cmocka_unit_test(window_turned_over_in_a_race_counts_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
