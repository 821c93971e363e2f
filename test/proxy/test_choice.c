/* Which endpoint gets an attempt, and which are out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/back/balance.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/pool.h"
#include "proxy/back/upstream.h"

enum { N = 4, DRAWS = 4000 };

static struct upstream u;
static struct endpoint endpoints[N];
static struct pool pools[N];
static uint64_t luck;

static int fresh(void **unused)
{
    (void)unused;
    memset(&u, 0, sizeof u);
    memset(endpoints, 0, sizeof endpoints);
    memset(pools, 0, sizeof pools);
    luck = 1;
    u.endpoints = endpoints;
    u.n_endpoints = N;
    u.max_ejected = N / 2;
    u.conf.slow_start_ns = 10 * BIDE_SECOND;
    for (unsigned i = 0; i < N; i++) {
        endpoints[i].upstream = &u;
        endpoints[i].index = i;
        endpoints[i].pools = &pools[i];
        endpoints[i].moves = 1;
    }
    return 0;
}

static void draw(uint64_t tried, int64_t now, int counts[N])
{
    memset(counts, 0, N * sizeof counts[0]);
    for (int i = 0; i < DRAWS; i++) {
        bide_call permit;
        bool held;
        counts[endpoint_choose(&u, 0, tried, false, &luck, now, &permit, &held)
                   ->index]++;
        assert_false(held);
    }
}

static void choice_equal_endpoints_share_evenly(void **unused)
{
    int counts[N];
    (void)unused;
    draw(0, BIDE_SECOND, counts);
    for (int i = 0; i < N; i++)
        assert_in_range(counts[i], DRAWS / N * 8 / 10, DRAWS / N * 12 / 10);
}

static void choice_the_busiest_gets_nothing_beside_others(void **unused)
{
    int counts[N];
    (void)unused;
    pools[2].in_flight = 5;
    draw(0, BIDE_SECOND, counts);
    assert_int_equal(counts[2], 0);
}

static void choice_retry_goes_where_it_has_not_been(void **unused)
{
    int counts[N];
    (void)unused;
    draw(1u << 0 | 1u << 1 | 1u << 3, BIDE_SECOND, counts);
    assert_int_equal(counts[2], DRAWS);
    draw((1u << N) - 1, BIDE_SECOND, counts); /* all tried: any */
    assert_true(counts[0] > 0 && counts[3] > 0);
}

static void choice_those_without_an_address_get_nothing(void **unused)
{
    int counts[N];
    (void)unused;
    endpoints[1].moves = 0;
    draw(0, 0, counts);
    assert_true(counts[0] > 0 && counts[1] == 0 && counts[2] > 0);
}

static void choice_those_out_get_nothing(void **unused)
{
    int counts[N];
    (void)unused;
    assert_true(endpoint_eject(&endpoints[0], EJECTED_BY_HEALTH));
    assert_true(endpoint_eject(&endpoints[1], EJECTED_BY_HEALTH));
    draw(0, BIDE_SECOND, counts);
    assert_true(counts[0] == 0 && counts[1] == 0 && counts[2] > 0);
    draw(1u << 2 | 1u << 3, BIDE_SECOND, counts); /* rather tried than out */
    assert_true(counts[0] == 0 && counts[1] == 0);
}

/* A probe of the service itself must not be one of an endpoint, too. */
static void choice_sure_tries_nobody_out(void **unused)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_call permit;
    bool held, tried_out = false;
    (void)unused;
    conf.breaker.open_ns = BIDE_MILLISECOND;
    assert_int_equal(bide_dep_new(&endpoints[0].breaker, "out", &conf), 0);
    assert_true(endpoint_eject(&endpoints[0], EJECTED_BY_BREAKER));
    for (int sure = 0; sure < 2; sure++)
        for (int i = 0; i < DRAWS; i++) {
            struct endpoint *e = endpoint_choose(&u, 0, 0, sure == 1, &luck,
                                                 BIDE_SECOND, &permit, &held);
            assert_false(sure == 1 && e == &endpoints[0]);
            tried_out = tried_out || e == &endpoints[0];
            if (held)
                bide_call_end(&permit, BIDE_SECOND);
        }
    assert_true(tried_out);
    bide_dep_free(endpoints[0].breaker);
    endpoints[0].breaker = NULL;
}

static void out_no_more_than_allowed(void **unused)
{
    (void)unused;
    assert_true(endpoint_eject(&endpoints[0], EJECTED_BY_HEALTH));
    assert_true(endpoint_eject(&endpoints[1], EJECTED_BY_BREAKER));
    assert_false(endpoint_eject(&endpoints[2], EJECTED_BY_HEALTH));
    assert_true(endpoint_eject(&endpoints[0], EJECTED_BY_BREAKER)); /* is out */
    assert_int_equal(u.n_ejected, 2);
    endpoint_restore(&endpoints[0], EJECTED_BY_HEALTH, 7);
    assert_int_equal(u.n_ejected, 2);
    endpoint_restore(&endpoints[0], EJECTED_BY_BREAKER, 8);
    endpoint_restore(&endpoints[0], EJECTED_BY_BREAKER, 9);
    assert_int_equal(u.n_ejected, 1);
    assert_int_equal(endpoints[0].back_ns, 8);
    assert_true(endpoint_eject(&endpoints[2], EJECTED_BY_HEALTH));
}

static void choice_one_that_came_back_starts_slowly(void **unused)
{
    int soon[N], later[N];
    (void)unused;
    endpoints[1].back_ns = BIDE_SECOND;
    for (int i = 0; i < N; i++)
        pools[i].in_flight = 2; /* with some to do already */
    draw(0, BIDE_SECOND + 1, soon);
    assert_int_equal(soon[1], 0);
    draw(0, 12 * BIDE_SECOND, later);
    assert_true(later[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(choice_equal_endpoints_share_evenly, fresh),
        cmocka_unit_test_setup(choice_the_busiest_gets_nothing_beside_others,
                               fresh),
        cmocka_unit_test_setup(choice_retry_goes_where_it_has_not_been, fresh),
        cmocka_unit_test_setup(choice_those_out_get_nothing, fresh),
        cmocka_unit_test_setup(choice_those_without_an_address_get_nothing,
                               fresh),
        cmocka_unit_test_setup(choice_sure_tries_nobody_out, fresh),
        cmocka_unit_test_setup(out_no_more_than_allowed, fresh),
        cmocka_unit_test_setup(choice_one_that_came_back_starts_slowly, fresh),
    };
    return cmocka_run_group_tests_name("choice", tests, NULL, NULL);
}
