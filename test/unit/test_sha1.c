/* test_sha1.c: digests, and base64, against published vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/sha1.h"

static void check(const void *data, size_t len, const char *expected)
{
    uint8_t digest[BIDE__SHA1_SIZE];
    char text[2 * BIDE__SHA1_SIZE + 1];

    bide__sha1(data, len, digest);
    for (unsigned i = 0; i < BIDE__SHA1_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, expected);
}

/* FIPS 180-2, appendix A, and the empty text. */
static void sha1_vectors_match(void **state)
{
    static const struct {
        const char *text, *digest;
    } rows[] = {
        { "", "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
        { "abc", "a9993e364706816aba3e25717850c26c9cd0d89d" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
    };

    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(rows[i].text, strlen(rows[i].text), rows[i].digest);
}

/* Lengths around the end of a block, where the padding changes. */
static void sha1_padding_matches(void **state)
{
    static const struct {
        size_t len;
        const char *digest;
    } rows[] = {
        { 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a" },
        { 56, "c2db330f6083854c99d4b5bfb6e8f29f201be699" },
        { 63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5" },
        { 64, "0098ba824b5c16427bd7a1122a5a442a25ec644d" },
        { 65, "11655326c708d70319be2610e8a57d9a5b959d3b" },
        { 119, "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56" },
        { 120, "f34c1488385346a55709ba056ddd08280dd4c6d6" },
    };
    char text[128];

    (void)state;
    memset(text, 'a', sizeof text);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(text, rows[i].len, rows[i].digest);
}

/* RFC 4648, 10. */
static void base64_vectors_match(void **state)
{
    static const char *const rows[] = { "",     "Zg==",     "Zm8=",    "Zm9v",
                                        "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };
    char text[BIDE__BASE64_SIZE(6) + 1];

    (void)state;
    for (unsigned n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        text[bide__base64(text, "foobar", n)] = '\0';
        assert_string_equal(text, rows[n]);
    }
    assert_int_equal(bide__base64_value('A'), 0);
    assert_int_equal(bide__base64_value('/'), 63);
    assert_int_equal(bide__base64_value('='), -1);
    assert_int_equal(bide__base64_value('\0'), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha1_vectors_match),
        cmocka_unit_test(sha1_padding_matches),
        cmocka_unit_test(base64_vectors_match),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
