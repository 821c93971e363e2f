/* What becomes of a message: rows of {attempts made, outcome, expected}. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bide/policy.h"
#include "queue/blame.h"
#include "queue/key.h"
#include "queue/sqlite/clock.h"
#include "base/queue_verdict.h"

static bide_dep *queue_dep(void)
{
    bide_policy_conf conf;
    bide_dep *dep;

    assert_int_equal(bide_policy_preset(&conf, "queue"), 0);
    assert_int_equal(bide_dep_new(&dep, "test", &conf), 0);
    return dep;
}

static struct queue_verdict try(bide_dep *dep, uint32_t made, bide_outcome out,
                                enum queue_probe probe, int64_t now)
{
    bide_op op = { .attempts_made = made, .idempotent = true };
    bide_call call;

    bide_call_begin(&call, dep, &op, now);
    bide_decision d = bide_call_next(&call, now);
    assert_int_equal(d.action, BIDE_TRY);
    bide_call_report(&call, d.attempt, &out, now);
    struct queue_verdict v = queue_verdict(&call, &out, bide_dep_policy(dep), probe, now);
    bide_call_end(&call, now);
    return v;
}

#define TRANSIENT { .cls = BIDE_TRANSIENT }
#define REFUSED                                                                \
    { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_CONNECT,                      \
      .not_processed = true }
#define NOT_STARTED                                                            \
    { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_LOCAL, .not_processed = true }

#define IN_PROGRESS                                                            \
    { .cls = BIDE_TRANSIENT, .status = 409, .not_processed = true,             \
      .refused_below = true, .hinted = true, .hint_ns = BIDE_SECOND }

static const struct row {
    uint32_t made;
    bide_outcome out;
    enum queue_probe probe;
    enum broker_how how;
    bool counts, down;
    bide_reason reason;
    int64_t least_s, most_s; /* of the wait */
} rows[] = {
    { 0, { .cls = BIDE_SUCCESS }, QUEUE_NO_PROBE, BROKER_DONE, true, false, 0, 0, 0 },
    { 0, TRANSIENT, QUEUE_NO_PROBE, BROKER_AGAIN, true, false, 0, 2, 4 },
    { 1, TRANSIENT, QUEUE_NO_PROBE, BROKER_AGAIN, true, false, 0, 6, 12 },
    { 13, TRANSIENT, QUEUE_NO_PROBE, BROKER_AGAIN, true, false, 0, 9450, 12600 },
    { 14, TRANSIENT, QUEUE_NO_PROBE, BROKER_DEAD, true, false, BIDE_BECAUSE_ATTEMPTS, 0,
      0 },
    { 0, { .cls = BIDE_PERMANENT }, QUEUE_NO_PROBE, BROKER_DEAD, true, false,
      BIDE_BECAUSE_PERMANENT, 0, 0 },
    { 0, { .cls = BIDE_IGNORED }, QUEUE_NO_PROBE, BROKER_AGAIN, false, false, 0, 0, 0 },
    { 0, REFUSED, QUEUE_NO_PROBE, BROKER_AGAIN, false, true, BIDE_BECAUSE_UNREACHABLE, 0,
      4 },
    /* not even the last one dies of it */
    { 14, REFUSED, QUEUE_NO_PROBE, BROKER_AGAIN, false, true, BIDE_BECAUSE_UNREACHABLE,
      0, 12600 },
    { 14, NOT_STARTED, QUEUE_NO_PROBE, BROKER_AGAIN, false, true,
      BIDE_BECAUSE_UNREACHABLE, 0, 12600 },
    { 3, { .cls = BIDE_THROTTLED, .hinted = true, .hint_ns = 60 * BIDE_SECOND },
      QUEUE_NO_PROBE, BROKER_AGAIN, false, true, BIDE_BECAUSE_LOCAL_THROTTLE, 60, 100 },
    /* a hint is followed up to retry_after.max, 5 min, however long it is */
    { 3, { .cls = BIDE_THROTTLED, .hinted = true, .hint_ns = 8760 * BIDE_HOUR }, false,
      BROKER_AGAIN, false, true, BIDE_BECAUSE_LOCAL_THROTTLE, 300, 330 },
    { 3, { .cls = BIDE_TRANSIENT, .hinted = true, .hint_ns = INT64_MAX }, false,
      BROKER_AGAIN, true, false, 0, 300, 330 },
    /* nobody is to blame a message for a certificate */
    { 14, { .cls = BIDE_PERMANENT, .fault = BIDE_FAULT_TLS, .not_processed = true },
      QUEUE_NO_PROBE, BROKER_AGAIN, false, true, BIDE_BECAUSE_UNREACHABLE, 0, 12600 },
    { 3, { .cls = BIDE_PERMANENT, .fault = BIDE_FAULT_TLS, .not_processed = true },
      QUEUE_FREE_PROBE, BROKER_AGAIN, false, true, BIDE_BECAUSE_UNREACHABLE, 0, 12600 },
    { 3, { .cls = BIDE_OVERLOADED }, QUEUE_NO_PROBE, BROKER_AGAIN, false, true,
      BIDE_BECAUSE_SERVER_REFUSED, 0, 12600 },
    /* a probe that fails says that the handler is still ill */
    { 3, TRANSIENT, QUEUE_FREE_PROBE, BROKER_AGAIN, false, true, BIDE_BECAUSE_BREAKER_OPEN,
      0, 12600 },
    { 3, { .cls = BIDE_PERMANENT }, QUEUE_FREE_PROBE, BROKER_DEAD, true, false,
      BIDE_BECAUSE_PERMANENT, 0, 0 },
    { 3, { .cls = BIDE_SUCCESS }, QUEUE_FREE_PROBE, BROKER_DONE, true, false, 0, 0, 0 },
    /* ... but not for ever: after hours of errors it is an attempt */
    { 3, TRANSIENT, QUEUE_COUNTED_PROBE, BROKER_AGAIN, true, true,
      BIDE_BECAUSE_BREAKER_OPEN, 60, 102 },
    { 14, TRANSIENT, QUEUE_FREE_PROBE, BROKER_AGAIN, false, true,
      BIDE_BECAUSE_BREAKER_OPEN, 0, 12600 },
    { 14, TRANSIENT, QUEUE_COUNTED_PROBE, BROKER_DEAD, true, true,
      BIDE_BECAUSE_ATTEMPTS, 0, 0 },
    { 14, REFUSED, QUEUE_COUNTED_PROBE, BROKER_AGAIN, false, true,
      BIDE_BECAUSE_UNREACHABLE, 0, 12600 },
    { 14, { .cls = BIDE_THROTTLED }, QUEUE_COUNTED_PROBE, BROKER_AGAIN, false,
      true, BIDE_BECAUSE_LOCAL_THROTTLE, 0, 12600 },
    /* idempotency_in_progress: it runs elsewhere, and is no attempt of this delivery */
    { 14, IN_PROGRESS, QUEUE_NO_PROBE, BROKER_AGAIN, false, false, 0, 1, 2 },
    { 14, IN_PROGRESS, QUEUE_COUNTED_PROBE, BROKER_AGAIN, false, false, 0, 1, 2 },
    /* a 409 that a rule calls transient is one */
    { 14, { .cls = BIDE_TRANSIENT, .status = 409, .not_processed = true }, QUEUE_NO_PROBE,
      BROKER_DEAD, true, false, BIDE_BECAUSE_ATTEMPTS, 0, 0 },
};

static void each_outcome_has_its_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *r = &rows[i];
        bide_dep *dep = queue_dep();
        struct queue_verdict v =
            try(dep, r->made, r->out, r->probe, BIDE_SECOND);
        if (v.how != r->how || v.counts != r->counts || v.down != r->down ||
            ((r->how == BROKER_DEAD || r->down) && v.reason != r->reason) ||
            v.delay_ns < r->least_s * BIDE_SECOND ||
            v.delay_ns > r->most_s * BIDE_SECOND)
            fail_msg("row %zu: how %d counts %d down %d reason %s wait %lld", i,
                     v.how, v.counts, v.down, bide_reason_name(v.reason),
                     (long long)v.delay_ns);
        bide_dep_free(dep);
    }
}

/* A dependency that a command needs is away, and all of them exit with 1. */
static void everything_fails_and_the_breaker_pauses(void **state)
{
    bide_dep *dep = queue_dep();
    bide_op op = { .idempotent = true };
    bide_call call;
    int n = 0;
    struct queue_verdict v;

    (void)state;
    do {
        v = try(dep, 0, (bide_outcome)TRANSIENT, QUEUE_NO_PROBE,
                BIDE_SECOND + n * BIDE_MILLISECOND);
        assert_int_equal(v.how, BROKER_AGAIN);
    } while (!v.down && ++n < 100);
    assert_in_range(n, 10, 40);
    assert_int_equal(v.reason, BIDE_BECAUSE_BREAKER_OPEN);
    assert_true(v.not_before_ns > BIDE_SECOND);
    bide_call_begin(&call, dep, &op, 2 * BIDE_SECOND / 2 + 200 * BIDE_MILLISECOND);
    bide_decision d = bide_call_next(&call, BIDE_SECOND + 200 * BIDE_MILLISECOND);
    assert_int_not_equal(d.action, BIDE_TRY);
    v = queue_verdict_refused(&d, BIDE_SECOND + 200 * BIDE_MILLISECOND);
    assert_int_equal(v.how, BROKER_AGAIN);
    assert_false(v.counts);
    assert_true(v.down);
    bide_call_end(&call, 2 * BIDE_SECOND);
    bide_dep_free(dep);
}

static void regress_limit_that_was_lowered_is_not_exceeded(void **state)
{
    struct queue_verdict v = { .how = BROKER_DONE };

    (void)state;
    assert_false(queue_verdict_spent(0, 1, &v));
    assert_false(queue_verdict_spent(1, 2, &v));
    assert_int_equal(v.how, BROKER_DONE);
    for (uint32_t made = 2; made < 4; made++) {
        assert_true(queue_verdict_spent(made, 2, &v));
        assert_int_equal(v.how, BROKER_DEAD);
        assert_int_equal(v.reason, BIDE_BECAUSE_ATTEMPTS);
        assert_false(v.counts);
    }
}

static void blame_falls_on_who_ran_alone(void **state)
{
    static const struct {
        size_t n;
        uint32_t deaths, then;
        bool dead;
    } cases[] = { { 1, 0, 1, false }, { 1, 1, 2, false }, { 1, 2, 3, true },
                  { 2, 2, 2, false }, { 8, 0, 0, false } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct queue_blame b = queue_blame(cases[i].n, cases[i].deaths, 3);
        assert_int_equal(b.deaths, cases[i].then);
        assert_int_equal(b.dead, cases[i].dead);
        assert_true(b.suspect);
    }
}

/* Each row: what it was; then how it died, or that it survived. */
static void blame_that_is_unsure_counts_when_it_is_sure(void **state)
{
    static const struct {
        const char *story; /* b: beside others or not, a: alone, s: survived */
        uint32_t deaths;
        bool dead;
    } cases[] = { { "b", 0, false },    { "ba", 2, false },  { "baa", 3, true },
                  { "bs", 0, false },   { "bsb", 0, false }, { "bsba", 2, false },
                  { "basba", 4, true }, { "bab", 2, false } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct queue_blame b = { 0, false, false };
        bool unsure = false;
        for (const char *at = cases[i].story; *at; at++)
            if (*at == 's')
                unsure = false;
            else
                b = queue_blame_unsure(*at == 'a', b.deaths, &unsure, 3);
        assert_int_equal(b.deaths, cases[i].deaths);
        assert_int_equal(b.dead, cases[i].dead);
    }
}

static void key_is_the_same_and_never_shared(void **state)
{
    static const struct {
        const char *queue, *id;
        uint32_t generation;
        const char *key;
    } cases[] = { { "default", "7f3a", 0, "default:7f3a" },
                  { "default", "7f3a", 2, "default:7f3a:2" },
                  { "a", "b:1", 0, "a:b%3A1" },
                  { "a", "\"x\"; y=1", 0, "a:%22x%22%3B%20y%3D1" },
                  { "a", "%41", 0, "a:%2541" },
                  { "a", "\xc3\xa9", 0, "a:%C3%A9" } };
    char key[QUEUE_IDEMPOTENCY_KEY];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct queue_message m = { .id = cases[i].id,
                                   .generation = cases[i].generation };
        queue_idempotency_key(key, cases[i].queue, &m);
        assert_string_equal(key, cases[i].key);
    }
}

static void longest_id_has_a_whole_key(void **state)
{
    char id[QUEUE_ID_MAX + 1], name[QUEUE_NAME_MAX + 1],
        key[QUEUE_IDEMPOTENCY_KEY];
    struct queue_message m = { .id = id, .generation = UINT32_MAX };

    (void)state;
    memset(id, '"', QUEUE_ID_MAX);
    memset(name, 'q', QUEUE_NAME_MAX);
    id[QUEUE_ID_MAX] = name[QUEUE_NAME_MAX] = 0;
    queue_idempotency_key(key, name, &m);
    assert_int_equal(strlen(key), QUEUE_NAME_MAX + 1 + 3 * QUEUE_ID_MAX + 11);
}

static void errors_keep_the_newest(void **state)
{
    char text[QUEUE_ERRORS_MAX + 1] = "";

    (void)state;
    queue_errors_add(text, text, 1790000000000, 1, "exit 1\nforged line\x1b[2J");
    assert_string_equal(text,
                        "2026-09-21T14:13:20Z 1 exit 1?forged line?[2J\n");
    for (uint32_t i = 2; i < 1000; i++)
        queue_errors_add(text, text, 1790000000000, i, "exit 1");
    assert_true(strlen(text) <= QUEUE_ERRORS_MAX);
    assert_non_null(strstr(text, "Z 999 exit 1\n"));
    assert_null(strstr(text, "forged"));
    assert_int_equal(strncmp(text, "2026-", 5), 0); /* whole lines */
}

static void names_that_are_none_are_refused(void **state)
{
    static const char *const bad[] = { "", ".hidden", "-q", "a/b", "a b", "../x",
                                       "q\n", "q'; DROP TABLE message" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(queue_name_ok(bad[i]));
    assert_true(queue_name_ok("mail.v2_a-b"));
    assert_false(queue_id_ok("a\nb"));
    assert_false(queue_id_ok(""));
    assert_true(queue_id_ok("order 17 / caf\xc3\xa9"));
}

/* A boot takes its offset from the wall clock, once; never behind what was. */
static void clock_steps_move_nothing(void **state)
{
    int64_t hour_ms = 3600 * 1000, hour_ns = hour_ms * 1000000;
    int64_t wall = 1790000000 * INT64_C(1000000000), boot = 100 * hour_ns;

    (void)state;
    assert_int_equal(boot + clock_offset(wall, boot, 0), wall);
    assert_int_equal(boot + clock_offset(wall - hour_ns, boot, wall / 1000000),
                     wall);
    assert_int_equal(boot + clock_offset(wall + hour_ns, boot, wall / 1000000),
                     wall + hour_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_outcome_has_its_end),
        cmocka_unit_test(everything_fails_and_the_breaker_pauses),
        cmocka_unit_test(regress_limit_that_was_lowered_is_not_exceeded),
        cmocka_unit_test(blame_falls_on_who_ran_alone),
        cmocka_unit_test(blame_that_is_unsure_counts_when_it_is_sure),
        cmocka_unit_test(key_is_the_same_and_never_shared),
        cmocka_unit_test(longest_id_has_a_whole_key),
        cmocka_unit_test(errors_keep_the_newest),
        cmocka_unit_test(names_that_are_none_are_refused),
        cmocka_unit_test(clock_steps_move_nothing),
    };

    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
