/* Structures of programs that were compiled with other headers than ours, and
 * the sizes that must not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bide/bide.h"
#include "lib/sized.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

struct grown_host {
    bide_host host;
    uint64_t new_member;
};

static void sized_host_of_a_newer_program(void **state)
{
    struct grown_host newer = { .new_member = 0 };
    bide_dep *dep = NULL;
    (void)state;
    assert_int_equal(bide_dep_new_in_sized(&dep, "x", &conf, &newer.host,
                                           sizeof newer), 0);
    bide_dep_free(dep);
    dep = NULL;
    newer.new_member = 1;
    assert_int_equal(bide_dep_new_in_sized(&dep, "x", &conf, &newer.host,
                                           sizeof newer), BIDE_ESIZE);
    assert_null(dep);
}

/* `seed` is the last member that it knows; what follows is not its memory. */
static void sized_host_of_an_older_program(void **state)
{
    uint64_t seed = 7;
    struct {
        void *ctx, *alloc, *release;
        const uint64_t *seed;
    } older = { .seed = &seed };
    bide_dep *dep = NULL;
    (void)state;
    assert_int_equal(
        bide_dep_new_in_sized(&dep, "x", &conf, (const bide_host *)(void *)&older,
                              sizeof older), 0);
    bide_dep_free(dep);
}

static void sized_stats_are_filled_as_far_as_known(void **state)
{
    static unsigned char memory[sizeof(bide_stats) + 16];
    bide_dep *dep = NULL;
    (void)state;
    assert_int_equal(bide_dep_new(&dep, "x", &conf), 0);
    memset(memory, 0xee, sizeof memory);
    assert_int_equal(bide_dep_stats_sized(dep, 0, (void *)memory, 40), 0);
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(memory[i], 0);
    assert_int_equal(memory[40], 0xee);
    assert_int_equal(bide_dep_stats_sized(dep, 0, (void *)memory,
                                          sizeof(bide_stats) + 8), 0);
    assert_int_equal(memory[sizeof(bide_stats) + 7], 0);
    assert_int_equal(memory[sizeof(bide_stats) + 8], 0xee);
    bide_dep_free(dep);
}

static void sized_views_are_filled_as_far_as_known(void **state)
{
    struct {
        bide_breaker_state state;
        uint32_t next;
    } view = { .next = 0xeeeeeeee };
    bide_dep *dep = NULL;
    (void)state;
    assert_int_equal(bide_dep_new(&dep, "x", &conf), 0);
    assert_int_equal(bide_dep_breaker_view_sized(
                         dep, 0, (bide_breaker_view *)(void *)&view,
                         sizeof view.state), 0);
    assert_int_equal(view.state, BIDE_BREAKER_CLOSED);
    assert_int_equal(view.next, 0xeeeeeeee);
    bide_dep_free(dep);
}

/* What is passed by value, or lies inside others or in an array. A new member
 * takes of its `_room`: a change here is a change of the ABI, and needs a new
 * soname. */
static void sized_fixed_structs_keep_their_size(void **state)
{
    static const struct {
        const char *name;
        size_t size, on_64_bits;
    } fixed[] = {
        { "bide_op", sizeof(bide_op), 80 },
        { "bide_outcome", sizeof(bide_outcome), 32 },
        { "bide_decision", sizeof(bide_decision), 32 },
        { "bide_response", sizeof(bide_response), 96 },
        { "bide_header", sizeof(bide_header), 32 },
        { "bide_hint", sizeof(bide_hint), 24 },
        { "bide_rule", sizeof(bide_rule), 88 },
        { "bide_option", sizeof(bide_option), 120 },
        { "bide_rng", sizeof(bide_rng), 16 },
        { "bide_call", sizeof(bide_call), 256 },
    };
    (void)state;
    for (size_t i = 0; sizeof(void *) == 8 && i < COUNT(fixed); i++)
        if (fixed[i].size != fixed[i].on_64_bits)
            fail_msg("%s has %zu bytes", fixed[i].name, fixed[i].size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sized_host_of_a_newer_program),
        cmocka_unit_test(sized_host_of_an_older_program),
        cmocka_unit_test(sized_stats_are_filled_as_far_as_known),
        cmocka_unit_test(sized_views_are_filled_as_far_as_known),
        cmocka_unit_test(sized_fixed_structs_keep_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
