/* test_arena.c: pieces are zeroed, aligned, apart, and of any size. */
#include "base/arena.h"

#include "findings.h"

static void arena_pieces_are_zeroed_and_aligned(void **state)
{
    static const size_t sizes[] = {
        1, 7, 16, 100, 4095, 4096, 4097, 100000, 3
    };
    struct bide__arena *arena = bide__arena_new();

    (void)state;
    for (int round = 0; round < 50; round++)
        for (size_t i = 0; i < COUNT(sizes); i++) {
            unsigned char *piece = bide__arena_alloc(arena, sizes[i]);

            assert_non_null(piece);
            assert_true((uintptr_t)piece % _Alignof(max_align_t) == 0);
            for (size_t b = 0; b < sizes[i]; b++)
                assert_int_equal(piece[b], 0);
            memset(piece, 0xff, sizes[i]);
        }
    bide__arena_free(arena);
}

static void arena_absurd_size_is_refused(void **state)
{
    struct bide__arena *arena = bide__arena_new();

    (void)state;
    assert_null(bide__arena_alloc(arena, SIZE_MAX));
    assert_null(bide__arena_alloc(arena, SIZE_MAX - 8));
    assert_null(bide__arena_copy(arena, "", SIZE_MAX));
    assert_non_null(bide__arena_alloc(arena, 0));
    bide__arena_free(arena);
    bide__arena_free(NULL);
}

static void arena_texts_end_in_nul(void **state)
{
    struct bide__arena *arena = bide__arena_new();

    (void)state;
    assert_string_equal(bide__arena_copy(arena, "hello", 4), "hell");
    assert_string_equal(bide__arena_copy(arena, NULL, 0), "");
    assert_string_equal(bide__arena_printf(arena, "%s-%d", "a", 7), "a-7");
    bide__arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_pieces_are_zeroed_and_aligned),
        cmocka_unit_test(arena_absurd_size_is_refused),
        cmocka_unit_test(arena_texts_end_in_nul),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
