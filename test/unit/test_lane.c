/* test_lane.c: one window added up over all lanes. */
#include "fixture.h"
#include "lib/lane.h"

static void lanes_sum_is_of_one_window_in_all_lanes(void **state)
{
    static struct bide__lane lanes[4];
    (void)state;
    memset(lanes, 0, sizeof lanes);
    for (int i = 0; i < 4; i++) {
        for (int n = 0; n <= i; n++)
            bide__window_add(&lanes[i].failed, 9, 2);
        bide__window_add(&lanes[i].slow, 9, 2);
        bide__window_add(&lanes[i].failed, 10, 3);
    }
    const struct {
        uint32_t lanes;
        size_t member;
        uint64_t tick;
        uint8_t era;
        uint64_t sum;
    } rows[] = {
        { 4, offsetof(struct bide__lane, failed), 9, 2, 10 },
        { 2, offsetof(struct bide__lane, failed), 9, 2, 3 },
        { 1, offsetof(struct bide__lane, failed), 24, 2, 1 },
        { 4, offsetof(struct bide__lane, failed), 25, 2, 0 },
        { 4, offsetof(struct bide__lane, failed), 9, 3, 0 },
        { 4, offsetof(struct bide__lane, failed), 10, 3, 4 },
        { 4, offsetof(struct bide__lane, slow), 9, 2, 4 },
        { 4, offsetof(struct bide__lane, succeeded), 9, 2, 0 },
        { 0, offsetof(struct bide__lane, failed), 9, 2, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(bide__lanes_sum(lanes, rows[i].lanes, rows[i].member,
                                         rows[i].tick, rows[i].era),
                         rows[i].sum);
}

/* Two lanes that shared a cache line would slow each other down. */
static void lanes_share_no_cache_line(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct bide__lane) % BIDE__CACHE_LINE, 0);
    assert_int_equal(_Alignof(struct bide__lane), BIDE__CACHE_LINE);
}

static void lane_of_a_call_is_one_of_the_dependency(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    (void)state;
    for (conf.lanes = 1; conf.lanes <= 64; conf.lanes *= 2) {
        bide_dep *dep = new_dep(&conf);
        struct bide__lane *lane = bide__dep_lane(dep);
        assert_true(lane >= dep->lanes && lane < dep->lanes + conf.lanes);
        bide_dep_free(dep);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_sum_is_of_one_window_in_all_lanes),
        cmocka_unit_test(lanes_share_no_cache_line),
        cmocka_unit_test(lane_of_a_call_is_one_of_the_dependency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
