/* test_slab.c: things by number, that stay where they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/model/luck.h"
#include "sim/model/slab.h"

enum { THINGS = 30000, STEPS = 100000 };

/* A line and a half: what is taken for lines must not lie on its neighbour's. */
struct thing {
    uint64_t word[12];
};

static struct thing *at(const struct sim_slab *s, uint32_t i)
{
    return sim_slab_at(s, i, sizeof(struct thing));
}

static bool holds(const struct thing *t, uint64_t word)
{
    for (int i = 0; i < 12; i++)
        if (t->word[i] != word)
            return false;
    return true;
}

static void fill(struct thing *t, uint64_t word)
{
    for (int i = 0; i < 12; i++)
        t->word[i] = word;
}

static void slab_keeps_what_is_in_it(void **state)
{
    static uint32_t taken[THINGS];
    static struct thing *where[THINGS];
    struct sim_slab s = { 0 };
    uint32_t n = 0;
    (void)state;
    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t word = sim_luck_word(1, i, 0, 0);
        if (n < THINGS && (n == 0 || word % 5 < 3)) {
            uint32_t seen = s.n, slot = sim_slab_take(&s, sizeof(struct thing));
            if (slot == seen) { /* a new one */
                assert_true(holds(at(&s, slot), 0));
                where[slot] = at(&s, slot);
            }
            assert_ptr_equal(at(&s, slot), where[slot]);
            fill(at(&s, slot), slot + 1);
            taken[n++] = slot;
        } else {
            uint32_t k = (uint32_t)(word >> 32) % n, slot = taken[k];
            assert_true(holds(at(&s, slot), slot + 1));
            sim_slab_leave(&s, slot);
            taken[k] = taken[--n];
        }
    }
    assert_true(s.n > 15000); /* several blocks of the store, large ones too */
    for (uint32_t k = 0; k < n; k++)
        assert_true(holds(at(&s, taken[k]), taken[k] + 1));
    sim_slab_done(&s);
}

static void slab_gives_the_last_left_first(void **state)
{
    struct sim_slab s = { 0 };
    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(sim_slab_take(&s, 64), i);
    for (uint32_t i = 0; i < 1000; i += 3)
        sim_slab_leave(&s, i);
    for (uint32_t i = 1000; i-- > 0;)
        if (i % 3 == 0)
            assert_int_equal(sim_slab_take(&s, 64), i);
    assert_int_equal(sim_slab_take(&s, 64), 1000);
    sim_slab_done(&s);
}

static void store_gives_whole_lines_of_zeros(void **state)
{
    struct sim_store store = { 0 };
    unsigned char *last = NULL;
    size_t last_bytes = 0;
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        size_t bytes = 1 + sim_luck_word(1, i, 1, 0) % 10000;
        unsigned char *taken = sim_store_take(&store, bytes);
        assert_int_equal((uintptr_t)taken % SIM_LINE, 0);
        for (size_t k = 0; k < bytes; k++)
            assert_int_equal(taken[k], 0);
        for (size_t k = 0; k < last_bytes; k++)
            assert_int_equal(last[k], 0xff);
        for (size_t k = 0; k < bytes; k++)
            taken[k] = 0xff;
        last = taken;
        last_bytes = bytes;
    }
    assert_true(sim_store_take(&store, 1 << 19) != NULL);
    sim_store_done(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slab_keeps_what_is_in_it),
        cmocka_unit_test(slab_gives_the_last_left_first),
        cmocka_unit_test(store_gives_whole_lines_of_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
