/* threads/test_pace.c: turns under 64 threads: each is taken once, none is
 * lost, and no two go at once. */
#include "team.h"

#include "lib/limit/pace.h"

enum { ROUNDS = 200, INTERVAL = 10, BURST = 8 };

struct shared {
    struct bide__pace pace;
    _Atomic int at[TEAM * ROUNDS + 1]; /* turns that may be used from then on */
    _Atomic int refused;
};

/* All of them want a turn, at one time, and take what they are given. */
static void take_all(struct member *me)
{
    struct shared *s = me->ctx;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t at = -1;
        EXPECT(bide__pace_take(&s->pace, INTERVAL, 0, 0, INT64_MAX, &at));
        EXPECT(at >= 0 && at % INTERVAL == 0);
        int64_t n = at / INTERVAL;
        EXPECT(n < TEAM * ROUNDS);
        if (n < TEAM * ROUNDS)
            EXPECT(atomic_fetch_add(&s->at[n], 1) == 0);
    }
}

static void turns_are_taken_once_and_none_is_left_out(void **state)
{
    static struct shared s;

    (void)state;
    run_team(take_all, &s, 0);
    for (int i = 0; i < TEAM * ROUNDS; i++)
        assert_int_equal(atomic_load(&s.at[i]), 1);
}

/* Time goes on by one interval a round; only those go who may go at once, and
 * some give their turn back. */
static void take_now(struct member *me)
{
    struct shared *s = me->ctx;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t now = now_ns(), at;
        if (bide__pace_take(&s->pace, INTERVAL, (BURST - 1) * INTERVAL, now, now,
                            &at)) {
            if (chance(me, 4) == 0)
                bide__pace_give(&s->pace, INTERVAL, (BURST - 1) * INTERVAL, at);
            else
                atomic_fetch_add(&s->at[now / INTERVAL], 1);
        } else {
            EXPECT(at > now);
            atomic_fetch_add(&s->refused, 1);
        }
        ONE_OF_US(atomic_fetch_add(&team_clock, INTERVAL););
    }
}

static void turns_at_once_are_a_burst_and_then_one_each(void **state)
{
    static struct shared s;
    int sum = 0;

    (void)state;
    run_team(take_now, &s, 0);
    for (int i = 0; i < ROUNDS; i++) {
        sum += atomic_load(&s.at[i]);
        assert_true(sum <= BURST + i);
    }
    assert_true(sum >= ROUNDS / 2);
    assert_true(atomic_load(&s.refused) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_taken_once_and_none_is_left_out),
        cmocka_unit_test(turns_at_once_are_a_burst_and_then_one_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
