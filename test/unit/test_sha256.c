/* SHA-256 against the vectors of FIPS 180-4 and NIST's CAVP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hex.h"
#include "base/sha256.h"

static void sum_is(const void *data, size_t len, size_t step, const char *want)
{
    struct bide__sha256 sum;
    uint8_t digest[32];
    char text[65] = { 0 };
    bide__sha256_init(&sum);
    for (size_t at = 0; at < len; at += step)
        bide__sha256_add(&sum, (const char *)data + at,
                         len - at < step ? len - at : step);
    bide__sha256_end(&sum, digest);
    bide__hex_write(text, digest, sizeof digest);
    assert_string_equal(text, want);
}

static void sha256_vectors_match(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc",
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
          "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t step = 1; step <= 112; step++)
            sum_is(rows[i].text, strlen(rows[i].text), step, rows[i].want);
}

/* NIST's vector of a million times `a`, in pieces of any size. */
static void sha256_million_matches(void **state)
{
    (void)state;
    static char a[1000000];
    memset(a, 'a', sizeof a);
    static const size_t steps[] = { 1, 63, 64, 65, 127, 4096, sizeof a };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        sum_is(a, sizeof a, steps[i],
               "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Around the lengths where the padding takes one block more. */
static void sha256_padding_matches(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        const char *want;
    } rows[] = {
        { 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318" },
        { 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a" },
        { 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34" },
        { 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb" },
        { 119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb" },
        { 120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c" },
    };
    char a[128];
    memset(a, 'a', sizeof a);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        sum_is(a, rows[i].len, 7, rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_vectors_match),
        cmocka_unit_test(sha256_million_matches),
        cmocka_unit_test(sha256_padding_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
