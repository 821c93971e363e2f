/* Copies of answers: found by key and fields, thrown out by use, and never more
 * than there may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/exchange/stale.h"

enum { BOUND = 64 * 1024 };

static size_t bytes_of(struct stale *s)
{
    size_t copies, bytes;
    stale_count(s, &copies, &bytes);
    return bytes;
}

static size_t copies_of(struct stale *s)
{
    size_t copies, bytes;
    stale_count(s, &copies, &bytes);
    return copies;
}

static struct stale_copy *make(struct stale *s, const char *key,
                               const char *vary, size_t body)
{
    struct stale_shape shape = { (uint32_t)strlen(key), (uint32_t)strlen(vary),
                                 0, 0 };
    struct stale_copy *c = stale_copy_new(s, &shape, body);
    if (!c)
        return NULL;
    memcpy(c->bytes, key, shape.key_len);
    memcpy(c->bytes + shape.key_len, vary, shape.vary_len);
    memset(stale_body(c), 'b', body);
    c->shape.body_len = (uint32_t)body;
    return c;
}

static void keep(struct stale *s, const char *key, size_t body)
{
    struct stale_copy *c = make(s, key, "", body);
    assert_non_null(c);
    stale_put(c);
}

static bool any(const struct stale_copy *c, const void *ctx)
{
    (void)c;
    (void)ctx;
    return true;
}

static bool with(const struct stale_copy *c, const void *vary)
{
    return c->shape.vary_len == strlen(vary) &&
           memcmp(stale_vary(c), vary, c->shape.vary_len) == 0;
}

static bool has(struct stale *s, const char *key)
{
    struct stale_copy *c = stale_get(s, key, strlen(key), any, NULL);
    stale_unref(c);
    return c != NULL;
}

static struct stale *stale_of(size_t bound)
{
    struct stale *s = stale_new();
    assert_non_null(s);
    stale_resize(s, bound);
    return s;
}

static void stale_copy_is_found_by_its_key(void **state)
{
    struct stale *s = stale_of(BOUND);

    (void)state;
    keep(s, "a", 10);
    keep(s, "a", 20); /* in the place of the first */
    keep(s, "ab", 30);
    struct stale_copy *c = stale_get(s, "a", 1, any, NULL);
    assert_non_null(c);
    assert_int_equal(c->shape.body_len, 20);
    stale_unref(c);
    assert_int_equal(copies_of(s), 2);
    assert_false(has(s, "b"));
    stale_forget(s, "a", 1);
    assert_false(has(s, "a"));
    assert_true(has(s, "ab"));
    stale_free(s);
}

static void stale_copies_of_one_key_differ_by_fields(void **state)
{
    struct stale *s = stale_of(BOUND);

    (void)state;
    stale_put(make(s, "a", "x: 1\n", 1));
    stale_put(make(s, "a", "x: 2\n", 2));
    stale_put(make(s, "a", "x: 2\n", 3));
    assert_int_equal(copies_of(s), 2);
    struct stale_copy *c = stale_get(s, "a", 1, with, "x: 2\n");
    assert_int_equal(c->shape.body_len, 3);
    stale_unref(c);
    assert_null(stale_get(s, "a", 1, with, "x: 3\n"));
    stale_forget(s, "a", 1);
    assert_int_equal(copies_of(s), 0);
    assert_int_equal(bytes_of(s), 0);
    stale_free(s);
}

/* A client that makes up values of a field. */
static void stale_variants_of_a_key_are_few(void **state)
{
    struct stale *s = stale_of(BOUND);
    char vary[32];

    (void)state;
    keep(s, "b", 1);
    for (int i = 0; i < 40; i++) {
        snprintf(vary, sizeof vary, "x: %d\n", i);
        stale_put(make(s, "a", vary, 1));
    }
    assert_int_equal(copies_of(s), 16 + 1);
    assert_null(stale_get(s, "a", 1, with, "x: 23\n"));
    for (int i = 24; i < 40; i++) {
        snprintf(vary, sizeof vary, "x: %d\n", i);
        struct stale_copy *c = stale_get(s, "a", 1, with, vary);
        assert_non_null(c);
        stale_unref(c);
    }
    assert_true(has(s, "b"));
    stale_free(s);
}

/* One that makes up queries. */
static void stale_path_has_an_eighth(void **state)
{
    struct stale *s = stale_of(BOUND);
    char key[32];

    (void)state;
    keep(s, "x/page", 100);
    keep(s, "x/bigger?0", 100);
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "x/big?%d", i);
        keep(s, key, 2000);
        assert_true(bytes_of(s) <= BOUND / 8 + 1000);
    }
    assert_true(has(s, "x/page"));
    assert_true(has(s, "x/bigger?0"));
    assert_true(has(s, key));
    assert_true(has(s, "x/big?98"));
    assert_false(has(s, "x/big?90"));
    keep(s, "x/big?huge", 12000); /* alone, it may have more */
    assert_true(has(s, "x/big?huge"));
    assert_false(has(s, key));
    assert_true(has(s, "x/page"));
    stale_free(s);
}

/* A client that asks for a million things. */
static void stale_million_keys_stay_in_bounds(void **state)
{
    struct stale *s = stale_of(BOUND);
    int n = getenv("BIDE_TEST_VALGRIND") ? 20000 : 1000000;
    char key[32];

    (void)state;
    for (int i = 0; i < n; i++) {
        snprintf(key, sizeof key, "http://x/%d", i);
        keep(s, key, (size_t)(i % 700));
        if (i % 50 == 0)
            keep(s, "used", 100);
        assert_true(bytes_of(s) <= BOUND);
        if (i % 10 == 0)
            assert_true(has(s, "used")); /* what is used stays */
    }
    assert_false(has(s, "http://x/0"));
    assert_true(has(s, key));
    stale_free(s);
}

/* What is thrown out while it is being sent still counts. */
static void stale_held_copies_count_until_they_are_left(void **state)
{
    struct stale *s = stale_of(BOUND);
    struct stale_copy *held[64], *c;
    size_t n = 0;
    char key[32];

    (void)state;
    for (int i = 0; i < 64; i++) {
        snprintf(key, sizeof key, "%d", i);
        if ((c = make(s, key, "", 8000)))
            stale_put(c);
        if ((c = stale_get(s, key, strlen(key), any, NULL)))
            held[n++] = c;
        assert_true(bytes_of(s) <= BOUND);
    }
    assert_in_range(n, 1, 6);
    stale_resize(s, 0);
    assert_int_equal(copies_of(s), 0);
    assert_true(bytes_of(s) > 0);
    while (n > 0) {
        assert_int_equal(stale_body(held[n - 1])[7999], 'b');
        stale_unref(held[--n]);
    }
    assert_int_equal(bytes_of(s), 0);
    stale_free(s);
}

static void stale_copies_being_made_have_a_quarter(void **state)
{
    struct stale *s = stale_of(BOUND);
    struct stale_copy *made[64], *grown;
    size_t n = 0;

    (void)state;
    keep(s, "kept", 100);
    while (n < 64 && (made[n] = make(s, "k", "", 2000)))
        n++;
    assert_in_range(n, 1, 8);
    assert_null(stale_copy_grow(made[0], 20000));
    assert_true(has(s, "kept")); /* nobody is thrown out for them */
    stale_copy_drop(made[--n]);
    grown = stale_copy_grow(made[0], 3000);
    assert_non_null(grown);
    made[0] = grown;
    while (n > 0)
        stale_copy_drop(made[--n]);
    stale_copy_drop(NULL);
    stale_unref(NULL);
    stale_free(s);
}

static void stale_without_a_bound_keeps_nothing(void **state)
{
    struct stale *s = stale_new();

    (void)state;
    assert_null(make(s, "a", "", 1));
    assert_false(has(s, "a"));
    stale_forget(s, "a", 1);
    stale_resize(s, BOUND);
    struct stale_copy *c = make(s, "a", "", 1);
    stale_resize(s, 0); /* a reload, while it is being made */
    stale_put(c);
    assert_int_equal(copies_of(s), 0);
    assert_int_equal(bytes_of(s), 0);
    stale_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stale_copy_is_found_by_its_key),
        cmocka_unit_test(stale_copies_of_one_key_differ_by_fields),
        cmocka_unit_test(stale_variants_of_a_key_are_few),
        cmocka_unit_test(stale_path_has_an_eighth),
        cmocka_unit_test(stale_million_keys_stay_in_bounds),
        cmocka_unit_test(stale_held_copies_count_until_they_are_left),
        cmocka_unit_test(stale_copies_being_made_have_a_quarter),
        cmocka_unit_test(stale_without_a_bound_keeps_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
