/* test_error.c: every code has a name and a text, and none is NULL. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bide/bide.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void error_codes_have_fixed_values_and_names(void **state)
{
    static const struct {
        int rc, value;
        const char *name;
    } rows[] = {
        { BIDE_EINVAL, -1, "BIDE_EINVAL" },
        { BIDE_ENOMEM, -2, "BIDE_ENOMEM" },
        { BIDE_ENAME, -3, "BIDE_ENAME" },
        { BIDE_ESTATE, -4, "BIDE_ESTATE" },
        { BIDE_EENTROPY, -5, "BIDE_EENTROPY" },
        { BIDE_EPARSE, -6, "BIDE_EPARSE" },
        { BIDE_ERULE, -7, "BIDE_ERULE" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(rows[i].rc, rows[i].value);
        assert_string_equal(bide_error_name(rows[i].rc), rows[i].name);
        assert_true(strlen(bide_strerror(rows[i].rc)) > 5);
        assert_string_not_equal(bide_strerror(rows[i].rc), "unknown error");
    }
    assert_int_equal(BIDE_EFIELD, -1000);
}

static void error_zero_is_success(void **state)
{
    (void)state;
    assert_string_equal(bide_error_name(0), "success");
    assert_string_equal(bide_strerror(0), "success");
}

static void error_refused_field_is_named(void **state)
{
    size_t n;
    const bide_option *o = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        char text[512];
        int rc = BIDE_EFIELD - (int)i;
        assert_string_equal(bide_error_name(rc), o[i].key);
        snprintf(text, sizeof text, "%s: expected %s", o[i].key, o[i].expects);
        assert_string_equal(bide_strerror(rc), text);
    }
}

static void error_unknown_codes_are_never_null(void **state)
{
    size_t n;
    bide_policy_options(&n);
    const int codes[] = { 1,
                          42,
                          INT_MAX,
                          -9,
                          -100,
                          -999,
                          BIDE_EFIELD - (int)n,
                          BIDE_EFIELD - (int)n - 1,
                          -100000,
                          INT_MIN + 1,
                          INT_MIN };

    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        assert_string_equal(bide_error_name(codes[i]), "unknown");
        assert_string_equal(bide_strerror(codes[i]), "unknown error");
    }
}

/* What users see in logs and metrics: these may never change. */
static void error_reasons_keep_their_keys_in_order(void **state)
{
    static const char *const keys[] = {
        "success",        "cancelled",
        "client_timeout", "upload",
        "connection_wait", "permanent",
        "server_refused",
        "not_idempotent", "not_replayable",
        "attempts",       "upstream_retries",
        "retries_off",    "no_hint",        "hint_too_long",
        "deadline",       "breaker_open",
        "budget",         "unreachable",
        "in_flight",
        "local_throttle", "adaptive_rate",
        "rate",
        "shed_retry",     "shed_priority",
        "first",          "backoff",
        "hint",           "immediate",
        "hedge",          "running",
        "queued",         "paced",
        "knocking",       "held",
        "not_processed",
        "cut_short",
    };

    (void)state;
    assert_int_equal(BIDE_N_REASONS, COUNT(keys));
    for (int r = 0; r < BIDE_N_REASONS; r++) {
        assert_string_equal(bide_reason_name((bide_reason)r), keys[r]);
        assert_true(strlen(bide_reason_text((bide_reason)r)) > 5);
    }
    assert_null(bide_reason_name(BIDE_N_REASONS));
    assert_null(bide_reason_text(BIDE_N_REASONS));
    assert_string_equal(bide_reason_name((bide_reason)-1), "BIDE_EINVAL");
    assert_string_equal(bide_reason_text((bide_reason)-1),
                        bide_strerror(-1));
}

/* DESIGN section 6: "when bide itself refuses". */
static void reason_of_bide_itself_is_refusal(void **state)
{
    static const char *const own[] = { "breaker_open", "budget", "in_flight",
                                       "local_throttle", "adaptive_rate",
                                       "rate", "retries_off",
                                       "shed_retry", "shed_priority",
                                       "unreachable",
                                       "connection_wait" };

    (void)state;
    for (int r = -1; r <= BIDE_N_REASONS; r++) {
        const char *name = bide_reason_name((bide_reason)r);
        bool expected = false;
        for (size_t i = 0; name && i < COUNT(own); i++)
            expected |= strcmp(name, own[i]) == 0;
        assert_int_equal(bide_reason_is_refusal((bide_reason)r), expected);
    }
}

static void error_version_is_that_of_the_header(void **state)
{
    char version[32];

    (void)state;
    snprintf(version, sizeof version, "%d.%d.%d", BIDE_VERSION_MAJOR,
             BIDE_VERSION_MINOR, BIDE_VERSION_PATCH);
    assert_string_equal(bide_version(), version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_codes_have_fixed_values_and_names),
        cmocka_unit_test(error_zero_is_success),
        cmocka_unit_test(error_refused_field_is_named),
        cmocka_unit_test(error_unknown_codes_are_never_null),
        cmocka_unit_test(error_reasons_keep_their_keys_in_order),
        cmocka_unit_test(error_version_is_that_of_the_header),
        cmocka_unit_test(reason_of_bide_itself_is_refusal),
    };

    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
