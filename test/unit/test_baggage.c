/* test_baggage.c: bide's members of W3C baggage, beside those of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bide/claim.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define S            BIDE_SECOND
#define NONE         BIDE_FOREVER
#define WALL         INT64_C(1767225600000) /* 2026-01-01, in ms */

static bide_header value_of(const char *text)
{
    return (bide_header){ "baggage", 7, text, strlen(text) };
}

static bide_claim read(const char *text, int64_t wall_ms)
{
    bide_claim claim = BIDE_CLAIM_INIT;
    bide_header h = value_of(text);
    bide_claim_header(&claim, &h, NULL, wall_ms);
    return claim;
}

/* The tables are laid out by hand. */
/* clang-format off */

static void baggage_is_read_strictly(void **state)
{
    static const struct {
        const char *text;
        uint32_t attempt, max;
        int64_t left_ns;
    } rows[] = {
        { "bide.attempt=2,bide.max=4", 2, 4, NONE },
        { "bide.max=4,a=b,bide.attempt=2", 2, 4, NONE },
        { " a=b , bide.attempt = 2 ;p=q;r ,\tbide.max=4;x", 2, 4, NONE },
        { "bide.attempt=2", 2, 0, NONE },
        { "bide.max=4", 0, 0, NONE },
        { "bide.attempt=1,bide.max=1", 0, 0, NONE },
        { "bide.attempt=5,bide.max=4", 0, 0, NONE },
        { "bide.attempt=0", 0, 0, NONE },
        { "bide.attempt=-1", 0, 0, NONE },
        { "bide.attempt=2x", 0, 0, NONE },
        { "bide.attempt=%32", 0, 0, NONE },
        { "bide.attempt=\"2\"", 0, 0, NONE },
        { "bide.attempt", 0, 0, NONE },
        { "bide.attempt=", 0, 0, NONE },
        { "Bide.Attempt=2", 0, 0, NONE },
        { "bide.attempts=2", 0, 0, NONE },
        { "xbide.attempt=2", 0, 0, NONE },
        { "a=bide.attempt=2", 0, 0, NONE },
        { "a=b;bide.attempt=2", 0, 0, NONE },
        { ",,,bide.attempt=2,,", 2, 0, NONE },
        { "", 0, 0, NONE },
        { "bide.deadline=1767225601500", 0, 0, 3 * S / 2 },
        { "bide.deadline=1767225600000", 0, 0, 0 },
        { "bide.deadline=1767225599999", 0, 0, 0 },
        { "bide.deadline=1767225540000", 0, 0, 0 },
        { "bide.deadline=1767225539999", 0, 0, NONE }, /* a wrong clock */
        { "bide.deadline=1767225601.5", 0, 0, NONE },
        { "bide.deadline=0", 0, 0, NONE },
        { "bide.deadline=9223372036854775807", 0, 0, NONE },
        { "bide.deadline=99999999999999999999", 0, 0, NONE },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_claim got = read(rows[i].text, WALL);
        if (got.attempt != rows[i].attempt || got.max != rows[i].max ||
            got.left_ns != rows[i].left_ns)
            fail_msg("%s: %u of %u, %lld ns", rows[i].text, got.attempt,
                     got.max, (long long)got.left_ns);
    }
}

/* clang-format on */

static void baggage_deadline_needs_a_clock(void **state)
{
    static const int64_t walls[] = { 0, -1, INT64_MIN };
    (void)state;
    for (size_t i = 0; i < COUNT(walls); i++)
        assert_int_equal(read("bide.deadline=1767225601500", walls[i]).left_ns,
                         NONE);
    assert_int_equal(read("bide.deadline=1", INT64_MAX).left_ns, NONE);
}

/* Fills a text with `n` members, one of ours after `before` of them. */
static void fill(char *to, size_t n, size_t before)
{
    for (size_t i = 0; i < n; i++)
        to += sprintf(to, "%s%s", i ? "," : "",
                      i == before ? "bide.attempt=2" : "a=b");
}

static void baggage_over_the_limits_is_not_read(void **state)
{
    static char text[2 * BIDE_BAGGAGE_BYTES];
    (void)state;
    fill(text, 100, BIDE_BAGGAGE_MEMBERS - 1);
    assert_int_equal(read(text, WALL).attempt, 2);
    fill(text, 100, BIDE_BAGGAGE_MEMBERS);
    assert_int_equal(read(text, WALL).attempt, 0);

    memset(text, 'x', sizeof text);
    memcpy(text, "bide.attempt=2,a=", 17);
    text[BIDE_BAGGAGE_BYTES] = '\0';
    assert_int_equal(read(text, WALL).attempt, 2);
    text[BIDE_BAGGAGE_BYTES] = 'x';
    text[BIDE_BAGGAGE_BYTES + 1] = '\0';
    assert_int_equal(read(text, WALL).attempt, 0);
}

/* ===== writing ===== */

static const bide_claim second = { 2, 4, 3 * S / 2, BIDE_CLAIM_HEADER };
static const bide_claim nothing = BIDE_CLAIM_INIT;

static const char *written(const char *theirs, const bide_claim *claim,
                           int64_t wall_ms)
{
    static char text[2 * BIDE_BAGGAGE_BYTES];
    bide_header h = value_of(theirs);
    size_t len = bide_baggage_write(text, sizeof text, &h, 1, claim, wall_ms);
    assert_true(len < sizeof text);
    text[len] = '\0';
    return text;
}

#define OWN "bide.attempt=2,bide.max=4,bide.deadline=1767225601500"

static void baggage_of_others_is_kept_as_it_is(void **state)
{
    static const struct {
        const char *theirs, *with, *without;
    } rows[] = {
        { "", OWN, "" },
        { "a=b", "a=b," OWN, "a=b" },
        { "a = b ;p;q=r, c=%20d", "a = b ;p;q=r,c=%20d," OWN,
          "a = b ;p;q=r,c=%20d" },
        { "bide.attempt=9,a=b,bide.max=9;p,bide.deadline=1", "a=b," OWN,
          "a=b" },
        { "bide.attempt=,bide.max", OWN, "" },
        { "bide.other=1,BIDE.MAX=2", "bide.other=1,BIDE.MAX=2," OWN,
          "bide.other=1,BIDE.MAX=2" },
        { ", ,a=b,,", "a=b," OWN, "a=b" },
        { "not even baggage", "not even baggage," OWN, "not even baggage" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(written(rows[i].theirs, &second, WALL),
                            rows[i].with);
        assert_string_equal(written(rows[i].theirs, NULL, WALL),
                            rows[i].without);
        assert_string_equal(written(rows[i].theirs, &nothing, WALL),
                            rows[i].without);
    }
}

static void baggage_written_has_what_is_known(void **state)
{
    bide_claim claim = second;
    (void)state;
    assert_string_equal(written("", &claim, 0), "bide.attempt=2,bide.max=4");
    claim.max = 0;
    assert_string_equal(written("", &claim, 0), "bide.attempt=2");
    claim.attempt = 0; /* a deadline without an owner */
    assert_string_equal(written("", &claim, WALL),
                        "bide.deadline=1767225601500");
    claim.left_ns = INT64_MAX - 1; /* all that there is room for */
    claim.attempt = claim.max = UINT32_MAX;
    assert_true(strlen(written("", &claim, INT64_C(9213372036854775807))) <=
                BIDE_BAGGAGE_OWN);
    assert_string_equal(written("", &claim, INT64_MAX),
                        "bide.attempt=4294967295,bide.max=4294967295");
}

static void baggage_joins_the_lines_that_there_are(void **state)
{
    char text[256];
    bide_header lines[] = { value_of("a=b"), value_of(""),
                            value_of("bide.max=3,c=d") };
    (void)state;
    size_t len = bide_baggage_write(text, sizeof text, lines, 3, &second, 0);
    assert_int_equal(len, strlen("a=b,c=d,bide.attempt=2,bide.max=4"));
    assert_memory_equal(text, "a=b,c=d,bide.attempt=2,bide.max=4", len);
}

/* Members of others have the right of way. */
static void baggage_adds_nothing_over_the_limits(void **state)
{
    static char text[2 * BIDE_BAGGAGE_BYTES];
    (void)state;
    fill(text, BIDE_BAGGAGE_MEMBERS - 3, SIZE_MAX);
    assert_non_null(strstr(written(text, &second, WALL), OWN));
    fill(text, BIDE_BAGGAGE_MEMBERS - 2, SIZE_MAX);
    assert_string_equal(written(text, &second, WALL), text);

    memset(text, 'x', sizeof text);
    memcpy(text, "a=", 2);
    text[BIDE_BAGGAGE_BYTES - strlen("," OWN)] = '\0';
    assert_int_equal(strlen(written(text, &second, WALL)), BIDE_BAGGAGE_BYTES);
    text[BIDE_BAGGAGE_BYTES - strlen("," OWN)] = 'x';
    text[BIDE_BAGGAGE_BYTES - strlen("," OWN) + 1] = '\0';
    assert_string_equal(written(text, &second, WALL), text);
    memset(text, 'x',
           sizeof text - 1); /* too long already: passed on all the same */
    text[sizeof text - 2] = '\0';
    assert_string_equal(written(text, &second, WALL), text);
}

static void baggage_that_does_not_fit_is_not_written(void **state)
{
    char text[8] = "unused";
    bide_header h = value_of("a=b");
    (void)state;
    assert_int_equal(bide_baggage_write(NULL, 0, &h, 1, NULL, 0), 3);
    assert_int_equal(bide_baggage_write(text, 2, &h, 1, NULL, 0), 3);
    assert_string_equal(text, "unused");
    assert_int_equal(bide_baggage_write(text, 3, &h, 1, NULL, 0), 3);
    assert_string_equal(text, "a=bsed");
    assert_int_equal(bide_baggage_write(NULL, 0, NULL, 0, NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baggage_is_read_strictly),
        cmocka_unit_test(baggage_deadline_needs_a_clock),
        cmocka_unit_test(baggage_over_the_limits_is_not_read),
        cmocka_unit_test(baggage_of_others_is_kept_as_it_is),
        cmocka_unit_test(baggage_written_has_what_is_known),
        cmocka_unit_test(baggage_joins_the_lines_that_there_are),
        cmocka_unit_test(baggage_adds_nothing_over_the_limits),
        cmocka_unit_test(baggage_that_does_not_fit_is_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
