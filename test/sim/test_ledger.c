/* test_ledger.c: a set of names, against a plain list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/world/ledger.h"
#include "sim/model/luck.h"

enum { NAMES = 300, STEPS = 20000 };

/* Few names, many of which want the same place: their upper halves, by which
 * they are placed, are alike. */
static uint64_t name(uint64_t n)
{
    return (n % 7) << 32 | (n + 1);
}

static void ledger_is_a_set(void **state)
{
    struct sim_ledger l = { 0 };
    bool there[NAMES] = { false };
    uint32_t n = 0;
    (void)state;
    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t word = sim_luck_word(1, i, 0, 0), which = word % NAMES;
        if (word >> 63) {
            assert_int_equal(sim_ledger_add(&l, name(which)), !there[which]);
            n += !there[which];
            there[which] = true;
        } else {
            sim_ledger_remove(&l, name(which));
            n -= there[which];
            there[which] = false;
        }
        assert_int_equal(l.n, n);
    }
    sim_ledger_done(&l);
}

static void ledger_empty_has_nothing_to_remove(void **state)
{
    struct sim_ledger l = { 0 };
    (void)state;
    sim_ledger_remove(&l, 1);
    assert_true(sim_ledger_add(&l, 1));
    sim_ledger_remove(&l, 2);
    assert_false(sim_ledger_add(&l, 1));
    sim_ledger_done(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ledger_is_a_set),
        cmocka_unit_test(ledger_empty_has_nothing_to_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
