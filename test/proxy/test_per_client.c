/* The table of client addresses: rows of time, address and what it may do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bide/bide.h"
#include "proxy/front/per_client.h"

#define S  BIDE_SECOND
#define MS BIDE_MILLISECOND

static const uint8_t a4[4] = { 10, 0, 0, 1 }, b4[4] = { 10, 0, 0, 2 };
static const uint8_t a6[16] = { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 1 };
static const uint8_t same_net[16] = { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 2 };
static const uint8_t next_net[16] = { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 2, 1 };
static const uint8_t loopback[16] = { [15] = 1 };

static struct per_client *make(void **state)
{
    struct per_client *t = per_client_new(42);
    (void)state;
    assert_non_null(t);
    return t;
}

static void connections_are_counted_by_address(void **state)
{
    static const struct {
        const uint8_t *address;
        unsigned len;
        enum per_client_result want; /* of at most 2 */
    } rows[] = {
        { a4, 4, PER_CLIENT_IN },        { a4, 4, PER_CLIENT_IN },
        { a4, 4, PER_CLIENT_OVER },      { b4, 4, PER_CLIENT_IN },
        { a6, 16, PER_CLIENT_IN },       { same_net, 16, PER_CLIENT_IN },
        { a6, 16, PER_CLIENT_OVER },     { same_net, 16, PER_CLIENT_OVER },
        { next_net, 16, PER_CLIENT_IN }, { loopback, 16, PER_CLIENT_IN },
        { loopback, 16, PER_CLIENT_IN }, { loopback, 16, PER_CLIENT_OVER },
        { b4, 4, PER_CLIENT_IN },        { b4, 4, PER_CLIENT_OVER },
    };
    struct per_client *t = make(state);
    uint32_t place = 77, first = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        place = 77;
        assert_int_equal(per_client_enter(t, rows[i].address, rows[i].len, 2, 0,
                                          &place),
                         rows[i].want);
        assert_true(place == 77 ? rows[i].want == PER_CLIENT_OVER : place > 0);
        if (i == 0)
            first = place;
    }
    per_client_leave(t, 0);
    per_client_leave(t, first);
    assert_int_equal(per_client_enter(t, a4, 4, 2, 0, &place), PER_CLIENT_IN);
    assert_int_equal(place, first);
    assert_int_equal(per_client_enter(t, a4, 4, 2, 0, &place), PER_CLIENT_OVER);
    /* A reload may allow more. */
    assert_int_equal(per_client_enter(t, a4, 4, 3, 0, &place), PER_CLIENT_IN);
    per_client_free(t);
    per_client_free(NULL);
}

static void rates_let_a_second_through_at_once(void **state)
{
    static const struct {
        int64_t at, wait;
        double rate;
    } rows[] = {
        { 10 * S, 0, 4 },
        { 10 * S, 0, 4 },
        { 10 * S, 0, 4 },
        { 10 * S, 0, 4 },
        { 10 * S, 250 * MS, 4 },
        { 10 * S + 200 * MS, 50 * MS, 4 },
        { 10 * S + 250 * MS, 0, 4 },
        { 10 * S + 250 * MS, 250 * MS, 4 },
        { 10 * S + 250 * MS, 10 * MS, 100 }, /* a reload that allows more */
        { 10 * S + 260 * MS, 0, 100 },
        { 9 * S, 1270 * MS, 100 }, /* clocks differ */
        { 20 * S, 0, 0.5 },
        { 20 * S, 2 * S, 0.5 },
        { 22 * S, 0, 0.5 },
        { 22 * S, 2 * S, 0.5 },
    };
    struct per_client *t = make(state);
    uint32_t place, other;

    per_client_enter(t, a4, 4, 10, 0, &place);
    per_client_enter(t, b4, 4, 10, 0, &other);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(per_client_ask(t, place, PER_CLIENT_REQUESTS,
                                        rows[i].rate, rows[i].at),
                         rows[i].wait);
    assert_int_equal(
        per_client_ask(t, place, PER_CLIENT_HANDSHAKES, 0.5, 22 * S), 0);
    assert_int_equal(per_client_ask(t, other, PER_CLIENT_REQUESTS, 0.5, 22 * S),
                     0);
    per_client_free(t);
}

/* Who leaves and comes back finds what he had used up. */
static void rates_outlast_the_connection(void **state)
{
    struct per_client *t = make(state);
    uint32_t place;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(per_client_enter(t, a4, 4, 1, 5 * S, &place),
                         PER_CLIENT_IN);
        assert_int_equal(
            per_client_ask(t, place, PER_CLIENT_HANDSHAKES, 2, 5 * S),
            i < 2 ? 0 : 500 * MS);
        per_client_leave(t, place);
    }
    per_client_free(t);
}

static enum per_client_result enter_nth(struct per_client *t, uint32_t n,
                                        int64_t now, uint32_t *place)
{
    uint8_t address[4] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16),
                           (uint8_t)(n >> 8), (uint8_t)n };

    return per_client_enter(t, address, 4, 1, now, place);
}

/* However many addresses come: what limits one is there until it has recovered,
 * and who has no place is let in. */
static void places_in_use_are_never_taken(void **state)
{
    struct per_client *t = make(state);
    uint32_t held, spent, place, full = 0;

    assert_int_equal(per_client_enter(t, a4, 4, 1, S, &held), PER_CLIENT_IN);
    assert_int_equal(per_client_enter(t, b4, 4, 1, S, &spent), PER_CLIENT_IN);
    assert_int_equal(per_client_ask(t, spent, PER_CLIENT_REQUESTS, 0.1, S), 0);
    per_client_leave(t, spent);
    for (uint32_t n = 1; n <= 4 * PER_CLIENT_PLACES; n++) {
        enum per_client_result got = enter_nth(t, n, S, &place);

        assert_true(got == PER_CLIENT_IN || (got == PER_CLIENT_FULL && !place));
        full += got == PER_CLIENT_FULL;
    }
    assert_true(full >= 3 * PER_CLIENT_PLACES);
    assert_int_equal(per_client_enter(t, a4, 4, 1, S, &place), PER_CLIENT_OVER);
    assert_int_equal(per_client_enter(t, b4, 4, 1, S, &place), PER_CLIENT_IN);
    assert_int_equal(place, spent);
    assert_int_equal(per_client_ask(t, place, PER_CLIENT_REQUESTS, 0.1, S),
                     10 * S);
    per_client_free(t);
}

/* One that has nothing open and nothing to wait for is as good as none. */
static void places_that_say_nothing_are_given_away(void **state)
{
    struct per_client *t = make(state);
    uint32_t place;

    for (uint32_t n = 1; n <= 10 * PER_CLIENT_PLACES; n++) {
        assert_int_equal(enter_nth(t, n, n * MS, &place), PER_CLIENT_IN);
        assert_int_equal(
            per_client_ask(t, place, PER_CLIENT_REQUESTS, 1, n * MS), 0);
        per_client_leave(t, place);
    }
    per_client_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_are_counted_by_address),
        cmocka_unit_test(rates_let_a_second_through_at_once),
        cmocka_unit_test(rates_outlast_the_connection),
        cmocka_unit_test(places_in_use_are_never_taken),
        cmocka_unit_test(places_that_say_nothing_are_given_away),
    };
    return cmocka_run_group_tests_name("per_client", tests, NULL, NULL);
}
