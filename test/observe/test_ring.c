/* test_ring.c: events cross from one thread to another, or are counted. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "observe/event/ring.h"

static void put(struct bide__ring *r, uint32_t n)
{
    struct bide__event *e = bide__ring_next(r);
    if (e) {
        e->attempt = n;
        bide__ring_commit(r);
    }
}

static void ring_full_drops_and_counts(void **state)
{
    struct bide__ring *r = bide__ring_new(4);
    size_t n;

    (void)state;
    assert_null(bide__ring_first(r, &n));
    for (uint32_t i = 0; i < 7; i++)
        put(r, i);
    assert_int_equal(bide__ring_dropped(r), 3);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(bide__ring_first(r, &n)->attempt, i);
        assert_int_equal(n, 4 - i);
        bide__ring_drop(r, 1);
    }
    assert_null(bide__ring_first(r, &n));
    put(r, 7);
    put(r, 8);
    bide__ring_drop(r, 1);
    for (uint32_t i = 9; i < 12; i++)
        put(r, i);
    assert_int_equal(bide__ring_first(r, &n)->attempt, 8);
    assert_int_equal(n, 3); /* up to the end of the ring */
    bide__ring_drop(r, n);
    assert_int_equal(bide__ring_first(r, &n)->attempt, 11);
    assert_int_equal(n, 1);
    bide__ring_free(r);
}

static void ring_rounds_its_size_up(void **state)
{
    struct bide__ring *r = bide__ring_new(5);

    (void)state;
    assert_int_equal(r->mask, 7);
    bide__ring_free(r);
    bide__ring_free(NULL);
}

enum { MANY = 200000 };

static void *produce(void *arg)
{
    for (uint32_t i = 1; i <= MANY; i++)
        put(arg, i);
    return NULL;
}

/* In order, each once, and what is missing was counted. */
static void ring_between_threads_loses_nothing_uncounted(void **state)
{
    struct bide__ring *r = bide__ring_new(64);
    pthread_t thread;
    uint32_t last = 0;
    uint64_t got = 0;
    size_t n;
    bool over = false;

    (void)state;
    pthread_create(&thread, NULL, produce, r);
    while (!over) {
        const struct bide__event *e;
        over = got + bide__ring_dropped(r) >= MANY;
        while ((e = bide__ring_first(r, &n))) {
            for (size_t i = 0; i < n; i++) {
                assert_true(e[i].attempt > last);
                last = e[i].attempt;
            }
            got += n;
            bide__ring_drop(r, n);
        }
        sched_yield();
    }
    pthread_join(thread, NULL);
    assert_int_equal(got + bide__ring_dropped(r), MANY);
    bide__ring_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_full_drops_and_counts),
        cmocka_unit_test(ring_rounds_its_size_up),
        cmocka_unit_test(ring_between_threads_loses_nothing_uncounted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
