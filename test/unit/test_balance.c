/* test_balance.c: which server is chosen, by each of the four rules. What the
 * breakers of servers do to it is in test/proxy/test_choice.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/balance.h"
#include "bide/rng.h"

enum { N = 5 };

struct pool {
    bool out[N], tried[N];
    uint64_t in_flight[N];
    int64_t weight[N];
};

static bool is_out(const void *self, unsigned i)
{
    return ((const struct pool *)self)->out[i];
}

static bool is_tried(const void *self, unsigned i)
{
    return ((const struct pool *)self)->tried[i];
}

static uint64_t in_flight(const void *self, unsigned i)
{
    return ((const struct pool *)self)->in_flight[i];
}

static int64_t weight(const void *self, unsigned i, int64_t now)
{
    (void)now;
    return ((const struct pool *)self)->weight[i];
}

static bide_dep *breaker(const void *self, unsigned i)
{
    (void)self;
    (void)i;
    return NULL;
}

static const struct bide__servers_verbs verbs = { is_out, is_tried, in_flight,
                                                  weight, breaker,  is_out };

static const struct pool even = { .weight = { 100, 100, 100, 100, 100 } };

/* How often each is chosen, of 10 000 times. */
static void count(const struct pool *p, enum bide__balance_by by, int *n)
{
    struct bide__servers s = { .n = N, .self = p, .of = &verbs };
    struct bide__pick pick = { .by = by };
    bide_call permit;

    for (int i = 0; i < N; i++)
        n[i] = 0;
    for (uint64_t k = 0; k < 10000; k++) {
        pick.random = bide_rng_hash(1, 2, 3, k);
        n[bide__balance(&s, &pick, &permit)]++;
        assert_false(pick.held);
    }
}

static const enum bide__balance_by all[] = { BIDE__TWO_CHOICES,
                                             BIDE__LEAST_REQUESTS,
                                             BIDE__ROUND_ROBIN, BIDE__RANDOM };

static void balance_of_equals_is_even(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        int n[N];

        count(&even, all[k], n);
        for (int i = 0; i < N; i++)
            assert_true(n[i] > 1800 && n[i] < 2200);
    }
}

static void balance_avoids_the_ejected_and_the_tried(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct pool p = even;
        int n[N];

        p.out[1] = p.tried[3] = true;
        count(&p, all[k], n);
        assert_int_equal(n[1] + n[3], 0);
        /* next in line, or not: nobody has twice the share of another */
        if (all[k] != BIDE__TWO_CHOICES)
            for (int i = 0; i < N; i += 2)
                assert_true(n[i] > 3000 && n[i] < 3700);
        for (int i = 0; i < N; i++)
            p.tried[i] = true;
        count(&p, all[k],
              n); /* one again, rather than none; not an ejected one */
        assert_int_equal(n[1], 0);
    }
}

static void balance_prefers_the_less_busy(void **state)
{
    struct pool p = even;
    int n[N];

    (void)state;
    for (int i = 0; i < N; i++)
        p.in_flight[i] = (uint64_t)i;
    count(&p, BIDE__LEAST_REQUESTS, n);
    assert_int_equal(n[0], 10000);
    count(&p, BIDE__TWO_CHOICES, n);
    assert_int_equal(n[4], 0); /* always the worse one */
    for (int i = 0; i + 1 < N; i++)
        assert_true(n[i] > n[i + 1]);
    p.weight[0] = 10; /* just returned: one in hand counts for ten */
    count(&p, BIDE__LEAST_REQUESTS, n);
    assert_int_equal(n[1], 10000);
}

static void returned_server_gets_a_growing_share(void **state)
{
    static const struct {
        int64_t back, slow, now, weight;
    } rows[] = { { 0, 100, 5, 100 },    { 10, 100, 10, 10 },
                 { 10, 100, 15, 10 },   { 10, 100, 60, 50 },
                 { 10, 100, 110, 100 }, { 10, 0, 10, 100 } };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(
            bide__returned_weight(rows[i].back, rows[i].slow, rows[i].now),
            rows[i].weight);
}

static void ejection_never_takes_the_last(void **state)
{
    static const struct {
        double share;
        size_t n;
        unsigned most;
    } rows[] = {
        { 0.5, 10, 5 }, { 0.5, 3, 1 }, { 0.5, 1, 0 }, { 1, 4, 3 }, { 0, 4, 0 }
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bide__ejection e = { .max_ejected = rows[i].share };
        assert_int_equal(bide__most_ejected(&e, rows[i].n), rows[i].most);
    }
}

static void server_is_not_to_blame_for_the_request(void **state)
{
    bide_outcome out = { .cls = BIDE_PERMANENT };

    (void)state;
    assert_int_equal(bide__server_outcome(&out, 404).cls, BIDE_SUCCESS);
    assert_int_equal(bide__server_outcome(&out, 501).cls, BIDE_PERMANENT);
    out.fault = BIDE_FAULT_CONNECT;
    assert_int_equal(bide__server_outcome(&out, 0).cls, BIDE_PERMANENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balance_of_equals_is_even),
        cmocka_unit_test(balance_avoids_the_ejected_and_the_tried),
        cmocka_unit_test(balance_prefers_the_less_busy),
        cmocka_unit_test(returned_server_gets_a_growing_share),
        cmocka_unit_test(ejection_never_takes_the_last),
        cmocka_unit_test(server_is_not_to_blame_for_the_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
