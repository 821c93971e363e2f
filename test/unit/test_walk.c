/* test_walk.c: random policies, random events, and invariants after each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "walk.h"

static uint32_t draw(void *state, uint32_t n)
{
    return (uint32_t)bide_rng_between(state, 0, (int64_t)n - 1);
}

static void walk(uint64_t seed, int steps)
{
    bide_rng_seeded mem;
    bide_rng rng = bide_rng_seed(&mem, seed);
    struct walk w = { .pick = draw, .state = &rng };
    bide_policy_conf conf = walk_conf(&w);

    walk_start(&w, &conf);
    for (int i = 0; i < steps; i++)
        walk_step(&w);
    walk_finish(&w);
    bide_dep_free(w.dep);
}

static int rounds(void)
{
    return getenv("BIDE_TEST_VALGRIND") ? 20 : 4000;
}

static void walk_invariants_hold_at_every_step(void **state)
{
    (void)state;
    for (int i = 0; i < rounds(); i++)
        walk((uint64_t)i, 500);
}

static void walk_books_balance_after_a_long_run(void **state)
{
    (void)state;
    for (int i = 0; i < rounds() / 20; i++)
        walk(UINT64_C(1000000) + (uint64_t)i, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walk_invariants_hold_at_every_step),
        cmocka_unit_test(walk_books_balance_after_a_long_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
