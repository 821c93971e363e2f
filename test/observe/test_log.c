/* test_log.c: one line for each decision, and not more than is good. */
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/event/log.h"
#include "scene.h"
#include "observe/event/wall.h"

static char text[1 << 20];

/* What has been written to the pipe so far. */
static const char *written(int fd)
{
    size_t len = 0;
    ssize_t n;
    while ((n = read(fd, text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    return text;
}

/* A sink whose lines come out of fd[0], and stay there if nobody reads. */
static struct bide__sink *open_sink(int fd[2])
{
    char path[64], why[256];
    assert_int_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd[1]);
    struct bide__target *to = bide__target_new(path, why, sizeof why);
    assert_non_null(to);
    struct bide__sink *sink = bide__sink_new(to, 1, 1 << 16);
    assert_non_null(sink);
    return sink;
}

static void close_sink(struct bide__sink *sink, const int fd[2])
{
    bide__sink_free(sink);
    close(fd[0]);
    close(fd[1]);
}

/* Waits until the sink's thread has written all that it was given. */
static void settle(struct bide__sink *sink)
{
    struct bide__lines *l = bide__sink_lines(sink, 0);
    while (atomic_load(&l->read) != atomic_load(&l->written))
        sched_yield();
}

static int lines(const char *in)
{
    int n = 0;
    for (; *in; in++)
        n += *in == '\n';
    return n;
}

static void log_line_says_everything(void **state)
{
    struct bide__event e[3];
    struct bide__out out = { 0 };
    int64_t offset = INT64_C(1763280000) * BIDE_SECOND - 5 * BIDE_SECOND;

    (void)state;
    scene_events(e);
    e[0].hinted = true;
    e[0].hint_ns = 2 * BIDE_SECOND;
    bide__log_line(&out, &e[0], offset);
    bide__out_char(&out, '\0');
    assert_string_equal(
        out.data,
        "{\"time\":\"2025-11-16T08:00:00.010Z\",\"event\":\"retry\","
        "\"dep\":\"pay\",\"operation\":\"GET "
        "/pay/17\",\"request_id\":\"req-1\","
        "\"trace_id\":\"abababababababababababababababab\","
        "\"endpoint\":\"127.0.0.1:9001\",\"attempt\":1,\"attempts\":4,"
        "\"class\":\"transient\",\"status\":503,\"hint_ms\":2000,"
        "\"reason\":\"backoff\",\"wait_computed_ms\":200,\"wait_ms\":120,"
        "\"took_ms\":10}\n");
    bide__out_done(&out);
}

static void log_leaves_successes_to_the_access_log(void **state)
{
    struct bide__event e[3];
    struct bide__log log;
    int fd[2];

    (void)state;
    struct bide__sink *sink = open_sink(fd);
    scene_events(e);
    bide__log_init(&log, bide__sink_lines(sink, 0), 1000, 1000, 0);
    for (int i = 0; i < 3; i++)
        bide__log_event(&log, &e[i], BIDE_SECOND);
    bide__log_flush(&log, BIDE_SECOND);
    settle(sink);
    assert_int_equal(lines(written(fd[0])), 2); /* and the retry that worked */
    bide__log_done(&log);
    close_sink(sink, fd);
}

/* The wait before a retry: computed, drawn, slept; also of one that worked. */
static void log_line_of_a_retry_has_its_wait(void **state)
{
    struct bide__event e[3];
    struct bide__out out = { 0 };

    (void)state;
    scene_events(e);
    e[1].computed_ns = 200 * SCENE_MS;
    e[1].grpc = BIDE_GRPC_OK + 1;
    bide__log_line(&out, &e[1], 0);
    bide__out_char(&out, '\0');
    assert_non_null(strstr(out.data, "\"event\":\"success\""));
    assert_non_null(strstr(out.data, "\"class\":\"success\""));
    assert_non_null(strstr(out.data, "\"grpc_status\":\"OK\""));
    assert_non_null(strstr(out.data, "\"request_id\":\"req-1\""));
    assert_non_null(strstr(
        out.data, "\"computed_ms\":200,\"asked_ms\":120,\"slept_ms\":121"));
    bide__out_done(&out);
}

/* Nothing was sent, so nothing was a success. */
static void regress_log_of_a_refused_call_is_no_success(void **state)
{
    struct bide__event e;
    struct bide__out out = { 0 };

    (void)state;
    bide__event_call(&e, 0, BIDE_BECAUSE_BREAKER_OPEN, NULL, 0, 0);
    e.status = 503;
    bide__log_line(&out, &e, 0);
    bide__out_char(&out, '\0');
    assert_non_null(strstr(out.data, "\"event\":\"refused\""));
    assert_non_null(strstr(out.data, "\"class\":\"ignored\",\"status\":503"));
    assert_null(strstr(out.data, "success"));
    bide__out_done(&out);
}

static void log_never_becomes_the_next_storm(void **state)
{
    static const struct {
        int64_t at_ms;
        int events, want; /* lines, the one about the rest included */
        uint64_t suppressed;
    } rows[] = {
        { 1000, 5, 5, 0 },    /* within the burst of 10 */
        { 1000, 100, 6, 95 }, /* what is left of it, and one line */
        { 1000, 0, 0, 95 },
        { 1500, 100, 6, 190 },  /* 5 more in half a second */
        { 9000, 100, 11, 280 }, /* never over the burst */
        { 8000, 100, 1, 380 },  /* a clock that steps back adds nothing */
        { 9000, 3, 3, 380 },
    };
    struct bide__event e[3];
    struct bide__log log;
    int fd[2];

    (void)state;
    struct bide__sink *sink = open_sink(fd);
    scene_events(e);
    bide__log_init(&log, bide__sink_lines(sink, 0), 10, 10, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t now = rows[i].at_ms * SCENE_MS;
        for (int n = 0; n < rows[i].events; n++)
            bide__log_event(&log, &e[0], now);
        bide__log_flush(&log, now);
        settle(sink);
        assert_int_equal(lines(written(fd[0])), rows[i].want);
        assert_int_equal(log.suppressed_ever, rows[i].suppressed);
    }
    bide__log_event(&log, &e[0], 9000 * SCENE_MS);
    bide__log_done(&log);
    close_sink(sink, fd);
}

static void log_suppressed_says_how_many(void **state)
{
    struct bide__out out = { 0 };

    (void)state;
    bide__log_suppressed(&out, 1834, 0);
    bide__out_char(&out, '\0');
    assert_string_equal(out.data, "{\"time\":\"1970-01-01T00:00:00.000Z\","
                                  "\"event\":\"suppressed\",\"lines\":1834}\n");
    bide__out_done(&out);
}

static void log_breaker(void **state)
{
    struct bide__event e;
    struct bide__out out = { 0 };

    (void)state;
    bide__event_breaker(&e, "pay", BIDE_BREAKER_CLOSED, BIDE_BREAKER_OPEN, 0);
    bide__log_line(&out, &e, 0);
    bide__out_char(&out, '\0');
    assert_string_equal(out.data, "{\"time\":\"1970-01-01T00:00:00.000Z\","
                                  "\"event\":\"breaker\",\"dep\":\"pay\","
                                  "\"from\":\"closed\",\"to\":\"open\"}\n");
    bide__out_done(&out);
}

static void event_text_is_cut_between_characters(void **state)
{
    (void)state;
    assert_int_equal(bide__event_fits("abcdefgh", 8, 6), 5);
    assert_int_equal(bide__event_fits("abcd\xc3\xa9", 6, 6), 4);
    assert_int_equal(bide__event_fits("abcd\xc3\xa9", 6, 7), 6);
    assert_int_equal(bide__event_fits("\x80\x80", 2, 2), 0);
    assert_int_equal(bide__event_fits("", 0, 6), 0);
}

/* All at their longest, in any order, and one of them over and over. */
static void event_has_room_for_its_texts(void **state)
{
    static const size_t most[] = { 127, 79, 47, 55 };
    struct bide__event e;
    char long_one[200];

    (void)state;
    memset(long_one, 'x', sizeof long_one);
    for (unsigned first = 0; first < BIDE__N_TEXTS; first++) {
        bide__event_call(&e, 1, BIDE_BECAUSE_SUCCESS, NULL, 1, 2);
        for (unsigned i = 0; i < BIDE__N_TEXTS; i++)
            assert_string_equal(bide__event_get(&e, i), "");
        for (unsigned i = 0; i < BIDE__N_TEXTS; i++)
            bide__event_put(&e, (first + i) % BIDE__N_TEXTS, long_one, sizeof long_one);
        for (unsigned i = 0; i < BIDE__N_TEXTS; i++) {
            assert_int_equal(strlen(bide__event_get(&e, i)), most[i]);
            assert_int_equal(e.len[i], most[i]);
        }
        for (int i = 0; i < 10; i++)
            bide__event_put(&e, BIDE__DEP, long_one, sizeof long_one);
        assert_int_equal(strlen(bide__event_get(&e, BIDE__OPERATION)), 79);
    }
}

/* A clock that was set is followed; one that was only read again is not. */
static void wall_follows_a_clock_that_was_set(void **state)
{
    static const struct {
        int64_t before, now, want;
    } rows[] = {
        { 5 * BIDE_SECOND, 5 * BIDE_SECOND + 30, 5 * BIDE_SECOND },
        { 5 * BIDE_SECOND, 5 * BIDE_SECOND - 999999999, 5 * BIDE_SECOND },
        { 5 * BIDE_SECOND, 6 * BIDE_SECOND, 6 * BIDE_SECOND },
        { 5 * BIDE_SECOND, -BIDE_HOUR, -BIDE_HOUR },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(bide__wall_follow(rows[i].before, rows[i].now) ==
                    rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_line_says_everything),
        cmocka_unit_test(log_leaves_successes_to_the_access_log),
        cmocka_unit_test(log_line_of_a_retry_has_its_wait),
        cmocka_unit_test(regress_log_of_a_refused_call_is_no_success),
        cmocka_unit_test(log_never_becomes_the_next_storm),
        cmocka_unit_test(log_suppressed_says_how_many),
        cmocka_unit_test(log_breaker),
        cmocka_unit_test(event_text_is_cut_between_characters),
        cmocka_unit_test(event_has_room_for_its_texts),
        cmocka_unit_test(wall_follows_a_clock_that_was_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
