/* The phases of attempts and exchanges: their tables hang together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"

/* The phases that can be reached from one, in any number of moves. */
static unsigned reach(const unsigned *moves, int n, int from)
{
    unsigned seen = 1u << from, before;
    do {
        before = seen;
        for (int i = 0; i < n; i++)
            if (seen >> i & 1)
                seen |= moves[i];
    } while (seen != before);
    return seen;
}

static void must_hang_together(const unsigned *moves, int n)
{
    unsigned all = (1u << n) - 1;
    assert_int_equal(reach(moves, n, 0), all);
    for (int i = 0; i < n; i++)
        if (!(reach(moves, n, i) >> (n - 1) & 1))
            fail_msg("phase %d has no end", i);
    assert_int_equal(moves[n - 1], 0);
}

static void phases_of_an_attempt_lead_to_its_end(void **unused)
{
    unsigned moves[ATTEMPT_OVER + 1];
    (void)unused;
    for (int i = 0; i <= ATTEMPT_OVER; i++)
        moves[i] = attempt_moves[i];
    must_hang_together(moves, ATTEMPT_OVER + 1);
}

static void phases_of_an_exchange_lead_to_its_end(void **unused)
{
    unsigned moves[EXCHANGE_OVER + 1];
    (void)unused;
    for (int i = 0; i <= EXCHANGE_OVER; i++)
        moves[i] = exchange_moves[i];
    must_hang_together(moves, EXCHANGE_OVER + 1);
}

/* Whatever has been reported is not reported again. */
static void attempt_is_judged_once(void **unused)
{
    (void)unused;
    for (int i = ATTEMPT_JUDGED; i <= ATTEMPT_OVER; i++)
        assert_int_equal(attempt_moves[i] & ((2u << ATTEMPT_JUDGED) - 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_of_an_attempt_lead_to_its_end),
        cmocka_unit_test(phases_of_an_exchange_lead_to_its_end),
        cmocka_unit_test(attempt_is_judged_once),
    };
    return cmocka_run_group_tests_name("phase", tests, NULL, NULL);
}
