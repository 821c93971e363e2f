/* threads/test_per_client.c: client addresses, counted by 64 threads at once: never
 * more open than allowed, never more asked for, and nothing left in the end. */
#include "team.h"

#include "proxy/front/per_client.h"

enum { MOST = 5, ADDRESSES = 300, ROUNDS = 3000 };

struct shared {
    struct per_client *table;
    _Atomic int open[ADDRESSES]; /* by our own count */
    _Atomic int over, in;
    _Atomic int allowed; /* of the one address that all ask for */
};

static void address_of(int n, uint8_t address[4])
{
    address[0] = 10;
    address[1] = 0;
    address[2] = (uint8_t)(n >> 8);
    address[3] = (uint8_t)n;
}

/* Few addresses for many threads, so that they meet. */
static void come_and_go(struct member *me)
{
    struct shared *s = me->ctx;
    for (int i = 0; i < ROUNDS; i++) {
        int n = (int)chance(me, chance(me, 2) ? 3 : ADDRESSES);
        uint8_t address[4];
        uint32_t place = 0;
        address_of(n, address);
        enum per_client_result got = per_client_enter(
            s->table, address, 4, MOST, now_ns(), &place);
        EXPECT(got != PER_CLIENT_FULL);
        if (got == PER_CLIENT_OVER) {
            atomic_fetch_add(&s->over, 1);
            continue;
        }
        EXPECT(atomic_fetch_add(&s->open[n], 1) < MOST);
        atomic_fetch_add(&s->in, 1);
        per_client_ask(s->table, place, PER_CLIENT_REQUESTS, 1e6, now_ns());
        if (chance(me, 3) == 0)
            sched_yield();
        if (chance(me, 20) == 0)
            atomic_fetch_add(&team_clock, MS);
        atomic_fetch_sub(&s->open[n], 1);
        per_client_leave(s->table, place);
    }
}

static void connections_never_exceed_the_limit(void **state)
{
    static struct shared s;
    (void)state;
    s.table = per_client_new(1);
    assert_non_null(s.table);
    run_team(come_and_go, &s, 0);
    assert_true(atomic_load(&s.over) > 0);
    assert_int_equal(s.over + s.in, ROUNDS * TEAM);
    for (int n = 0; n < ADDRESSES; n++) { /* all places are free again */
        uint8_t address[4];
        uint32_t place;
        address_of(n, address);
        for (int k = 0; k < MOST; k++)
            assert_int_equal(per_client_enter(s.table, address, 4, MOST,
                                              now_ns(), &place),
                             PER_CLIENT_IN);
    }
    per_client_free(s.table);
}

static void ask(struct member *me)
{
    struct shared *s = me->ctx;
    uint8_t address[4] = { 10, 1, 1, 1 };
    uint32_t place = 0;
    EXPECT(per_client_enter(s->table, address, 4, TEAM, S, &place) ==
           PER_CLIENT_IN);
    for (int i = 0; i < 100; i++)
        if (per_client_ask(s->table, place, PER_CLIENT_REQUESTS, 1000, S) == 0)
            atomic_fetch_add(&s->allowed, 1);
    per_client_leave(s->table, place);
}

static void rate_gives_each_token_once(void **state)
{
    static struct shared s;
    (void)state;
    s.table = per_client_new(2);
    assert_non_null(s.table);
    run_team(ask, &s, 0);
    assert_int_equal(atomic_load(&s.allowed), 1000);
    per_client_free(s.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_never_exceed_the_limit),
        cmocka_unit_test(rate_gives_each_token_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
