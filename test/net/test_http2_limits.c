/* test_http2_limits.c: every limit of a connection, reached and just not reached. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bide/policy.h"
#include "http2_side.h"

static const struct http2_conf usual = HTTP2_CONF_INIT;

/* A frame n times, its stream's number (where the format has one) counting up by
 * two from `from`. Returns how many were taken. */
static unsigned repeat(struct side *s, const char *format, uint32_t from,
                       unsigned n)
{
    char text[512];

    for (unsigned i = 0; i < n; i++) {
        uint32_t id = from + 2 * i;

        snprintf(text, sizeof text, format, id, id, id);
        if (side_play(s, text) < 0)
            return i;
        if (!s->stuck)
            side_write(s, SIZE_MAX);
    }
    return n;
}

static void check_calm(struct side *s, enum http2_why why)
{
    assert_non_null(strstr(side_said(s), "ENHANCE_YOUR_CALM"));
    assert_int_equal(s->c.why, why);
    assert_int_equal(s->shared.counts[why], 1);
    assert_true(s->c.failed);
}

/* ===== streams ===== */

static void streams_over_the_limit_are_refused(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    assert_int_equal(repeat(&s, "HEADERS %u es,eh @get", 1, 100), 100);
    assert_null(strstr(side_said(&s), "RST_STREAM"));
    assert_int_equal(s.c.n_streams, 100);
    side_play(&s, "HEADERS 201 es,eh @get");
    assert_string_equal(side_said(&s), "RST_STREAM 201 REFUSED_STREAM\n");
    assert_int_equal(s.shared.counts[HTTP2_WHY_STREAMS], 1);
    side_end(&s);
}

static void streams_that_are_cancelled_count_until_released(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    repeat(&s, "HEADERS %u es,eh @get ; RST_STREAM %u - x00000008", 1, 100);
    assert_null(strstr(side_said(&s), "RST_STREAM"));
    side_play(&s, "HEADERS 201 es,eh @get");
    assert_string_equal(side_said(&s), "RST_STREAM 201 REFUSED_STREAM\n");
    side_release(side_find(&s, 1), HTTP2_CANCEL);
    side_play(&s, "HEADERS 203 es,eh @ok");
    assert_string_equal(side_said(&s), "HEADERS 203\nDATA 203 3 es\n");
    side_end(&s);
}

/* ===== heads ===== */

/* A head with so many fields besides the pseudo-headers, and a body's end. */
static void play_fields(struct side *s, uint32_t id, unsigned n,
                        const char *first)
{
    char text[8192];
    int at = snprintf(text, sizeof text, "%s", first);

    for (unsigned i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " f%u:v", i);
    (void)id;
    side_play(s, text);
}

static void fields_over_the_limit_are_reported(void **state)
{
    struct side s;
    const char *heard;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    play_fields(&s, 1, 99, "HEADERS 1 es,eh @ok");
    heard = side_heard(&s);
    assert_non_null(strstr(heard, "f98: v\r\n"));
    assert_null(strstr(heard, "error"));
    play_fields(&s, 3, 100, "HEADERS 3 es,eh @ok");
    assert_non_null(strstr(side_heard(&s), "request error -12"));
    assert_non_null(strstr(side_said(&s), "HEADERS 3"));
    side_end(&s);
}

static void play_long(struct side *s, const char *first, unsigned bytes)
{
    static char text[1 << 16];
    int at = snprintf(text, sizeof text, "%s", first);

    while (bytes > 0) {
        unsigned n = bytes < 104 ? bytes : 104;

        at += snprintf(text + at, sizeof text - (size_t)at, " x:%0*u",
                       (int)n - 5, 0);
        bytes -= n;
    }
    side_play(s, text);
}

static void head_over_the_limit_is_reported(void **state)
{
    struct http2_conf conf = HTTP2_CONF_INIT;
    /* "GET / HTTP/1.1" CRLF "host: a" CRLF, and the empty line */
    const unsigned first = 16 + 9 + 2;
    struct side s;

    (void)state;
    conf.header_bytes = 4096;
    side_begin(&s, HTTP2_SERVER, &conf);
    play_long(&s, "HEADERS 1 es,eh @ok", 4096 - first);
    assert_null(strstr(side_heard(&s), "error"));
    assert_int_equal(s.shared.counts[HTTP2_WHY_HEAD_SIZE], 0);
    play_long(&s, "HEADERS 3 es,eh @ok", 4096 - first + 1);
    assert_non_null(strstr(side_heard(&s), "request error -13"));
    assert_int_equal(s.shared.counts[HTTP2_WHY_HEAD_SIZE], 1);
    side_end(&s);
}

static void trailers_over_the_limit_are_reported(void **state)
{
    struct http2_conf conf = HTTP2_CONF_INIT;
    struct side s;

    (void)state;
    conf.header_bytes = 4096;
    side_begin(&s, HTTP2_SERVER, &conf);
    side_play(&s, "HEADERS 1 eh @put ; HEADERS 3 eh @put");
    play_long(&s, "HEADERS 1 es,eh", 4096 - 2);
    assert_null(strstr(side_heard(&s), "error"));
    play_long(&s, "HEADERS 3 es,eh", 4096 - 1);
    assert_non_null(strstr(side_heard(&s), "trailers 3 error -13"));
    assert_string_equal(side_said(&s), "");
    side_end(&s);
}

/* What a refused head put into the table is there for the next one: a literal
 * with indexing first, x6161 is "aa". */
static void head_over_the_limit_leaves_hpack_in_step(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    play_fields(&s, 1, 120, "HEADERS 1 es,eh @ok x40026161026262");
    side_heard(&s);
    side_play(&s, "HEADERS 3 es,eh @ok xbe");
    assert_non_null(strstr(side_heard(&s), "aa: bb\r\n"));
    side_end(&s);
}

static void bad_head_leaves_hpack_in_step(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 es,eh @ok A:b x40026161026262");
    assert_string_equal(side_said(&s), "RST_STREAM 1 PROTOCOL_ERROR\n");
    side_play(&s, "HEADERS 3 es,eh @ok xbe");
    assert_non_null(strstr(side_heard(&s), "aa: bb\r\n"));
    side_end(&s);
}

static void continuations_over_the_limit_close(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 es @ok");
    for (int i = 0; i < 7; i++)
        side_play(&s, "CONTINUATION 1 -");
    side_play(&s, "CONTINUATION 1 eh");
    assert_string_equal(side_said(&s), "HEADERS 1\nDATA 1 3 es\n");
    side_play(&s, "HEADERS 3 es @ok");
    for (int i = 0; i < 8; i++)
        assert_int_equal(side_play(&s, "CONTINUATION 3 -"), 0);
    assert_int_equal(side_play(&s, "CONTINUATION 3 eh"), -1);
    check_calm(&s, HTTP2_WHY_CONTINUATIONS);
    side_end(&s);
}

/* ===== windows ===== */

static void window_of_a_stream_is_kept(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 eh @/stall ; DATA 1 - 0*16384 ; DATA 1 - 0*16384 ;"
                  "DATA 1 - 0*16384 ; DATA 1 - 0*16384");
    assert_string_equal(side_said(&s), "");
    side_play(&s, "DATA 1 - x00");
    assert_string_equal(side_said(&s), "RST_STREAM 1 FLOW_CONTROL_ERROR\n");
    side_play(&s, "HEADERS 3 es,eh @ok");
    assert_non_null(strstr(side_said(&s), "DATA 3 3 es"));
    side_end(&s);
}

static void window_opens_as_it_is_consumed(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 eh @put ; DATA 1 - 0*16384 ; DATA 1 - 0*16383");
    assert_string_equal(side_said(&s), "");
    side_play(&s, "DATA 1 - x00");
    assert_string_equal(side_said(&s), "WINDOW_UPDATE 1 32768\n");
    side_end(&s);
}

static void padding_is_given_back(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 eh @/stall");
    for (int i = 0; i < 2000; i++)
        assert_int_equal(side_play(&s, "DATA 1 pad xfe61 0*254"), 0);
    assert_null(strstr(side_said(&s), "RST_STREAM"));
    assert_null(strstr(side_said(&s), "GOAWAY"));
    side_end(&s);
}

/* 99 streams that nobody reads, each with all of its window full: more than the
 * connection's window, and less than its memory. */
static void stalled_streams_hold_no_other(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    for (unsigned i = 0; i < 99; i++)
        repeat(&s,
               "HEADERS %u eh @/stall ; DATA %u - 0*16384 ; DATA %u - 0*16384",
               1 + 2 * i, 1);
    for (unsigned i = 0; i < 99; i++)
        repeat(&s, "DATA %u - 0*16384 ; DATA %u - 0*16384", 1 + 2 * i, 1);
    assert_null(strstr(side_said(&s), "RST_STREAM"));
    assert_int_equal(s.c.unconsumed, 99 * 65536);
    assert_int_equal(side_play(&s, "HEADERS 201 eh @post ; DATA 201 - 0*16384 ;"
                                   "DATA 201 es 0*16384"),
                     0);
    assert_non_null(strstr(side_said(&s), "DATA 201 3 es"));
    assert_true(s.c.unconsumed + s.bufs.n_taken * 4096 < 8388608);
    side_end(&s);
}

/* Where streams times windows are more than the memory, the connection's window
 * waits for what is consumed. */
static void memory_closes_the_connections_window(void **state)
{
    struct http2_conf conf = HTTP2_CONF_INIT;
    struct side s;
    unsigned n;

    (void)state;
    conf.memory_bytes = 2 * 1048576;
    side_begin(&s, HTTP2_SERVER, &conf);
    for (n = 0; n < 99; n++)
        if (repeat(&s,
                   "HEADERS %u eh @/stall ; DATA %u - 0*16384 ; DATA %u - "
                   "0*16384",
                   1 + 2 * n, 1) == 0)
            break;
    assert_in_range(s.c.conf->memory_bytes, 32 * 32768, 2 * 1048576);
    assert_true(n < 99);
    assert_non_null(strstr(side_said(&s), "GOAWAY"));
    assert_int_equal(s.c.why, HTTP2_WHY_FLOW);
    assert_int_equal(s.c.code, HTTP2_FLOW_CONTROL_ERROR);
    side_end(&s);
}

/* ===== over time ===== */

static void resets_over_the_limit_close(void **state)
{
    struct http2_conf conf = HTTP2_CONF_INIT;
    struct side s;

    (void)state;
    conf.streams = 3000;
    side_begin(&s, HTTP2_SERVER, &conf);
    assert_int_equal(repeat(&s,
                            "HEADERS %u es,eh @get ; "
                            "RST_STREAM %u - x00000008",
                            1, 1000),
                     1000);
    s.now_ns += BIDE_SECOND; /* 100 more */
    assert_int_equal(repeat(&s,
                            "HEADERS %u es,eh @get ; "
                            "RST_STREAM %u - x00000008",
                            2001, 200),
                     100);
    check_calm(&s, HTTP2_WHY_RESETS);
    side_end(&s);
}

static void resets_of_answered_streams_are_free(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    assert_int_equal(repeat(&s,
                            "HEADERS %u eh @/early ; "
                            "RST_STREAM %u - x00000000",
                            1, 3000),
                     3000);
    side_end(&s);
}

static void errors_over_the_limit_close(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    assert_int_equal(repeat(&s, "HEADERS %u es,eh @ok A:b", 1, 101), 100);
    check_calm(&s, HTTP2_WHY_ERRORS);
    side_end(&s);
    side_begin(&s, HTTP2_SERVER, NULL);
    assert_int_equal(repeat(&s, "HEADERS %u es,eh @ok A:b", 1, 100), 100);
    s.now_ns += 60 * BIDE_SECOND;
    assert_int_equal(repeat(&s, "HEADERS %u es,eh @ok A:b", 201, 100), 100);
    side_end(&s);
}

/* What provokes a reset (CVE-2025-8671): each of these counts. */
static void errors_of_every_kind_count(void **state)
{
    static const char *const kinds[] = {
        "HEADERS %u eh @put ; WINDOW_UPDATE %u - 0*4",
        "HEADERS %u es,eh @get ; DATA %u - x00",
        "HEADERS %u es,eh @get ; HEADERS %u es,eh a:b",
        "HEADERS %u eh @put ; WINDOW_UPDATE %u - x7fffffff",
        "HEADERS %u eh @put ; PRIORITY %u - 0*4",
        "HEADERS %u eh @put content-length:1 ; DATA %u - 0*2",
    };

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct http2_conf conf = HTTP2_CONF_INIT;
        struct side s;

        conf.streams = 1000;
        side_begin(&s, HTTP2_SERVER, &conf);
        assert_int_equal(repeat(&s, kinds[i], 1, 101), 100);
        check_calm(&s, HTTP2_WHY_ERRORS);
        side_end(&s);
    }
}

static void control_over_the_limit_closes(void **state)
{
    static const char *const kinds[] = {
        "PING 0 - 0*8",
        "SETTINGS 0 -",
        "SETTINGS 0 - x000400010000",
        "PRIORITY 99 - 0*5",
        "WINDOW_UPDATE 0 - x00000001",
        "TYPE_be 0 -",
        "GOAWAY 0 - 0*8",
        "SETTINGS 0 ack",
    };

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct side s;

        side_begin(&s, HTTP2_SERVER, NULL);
        assert_int_equal(repeat(&s, kinds[i], 0, 1000), 1000);
        s.now_ns += BIDE_SECOND; /* 200 more */
        assert_int_equal(repeat(&s, kinds[i], 0, 300), 200);
        check_calm(&s, HTTP2_WHY_CONTROL);
        side_end(&s);
    }
}

static void empty_data_over_the_limit_closes(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 eh @put");
    for (int i = 0; i < 1000; i++)
        assert_int_equal(side_play(&s, "DATA 1 -"), 0);
    assert_int_equal(side_play(&s, "DATA 1 -"), -1);
    check_calm(&s, HTTP2_WHY_CONTROL);
    side_end(&s);
}

/* Two WINDOW_UPDATEs for each stream and each DATA frame of ours are no flood. */
static void window_updates_that_are_due_are_free(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    assert_int_equal(repeat(&s,
                            "HEADERS %u es,eh @ok ; "
                            "WINDOW_UPDATE 0 - x00000003 ; "
                            "WINDOW_UPDATE 0 - x00000001",
                            1, 5000),
                     5000);
    side_end(&s);
}

static void answers_that_are_not_read_close(void **state)
{
    struct http2_conf conf = HTTP2_CONF_INIT;
    struct side s;

    (void)state;
    conf.control = conf.control_per_s = 1000000;
    side_begin(&s, HTTP2_SERVER, &conf);
    assert_int_equal(repeat(&s, "PING 0 - 0*8", 0, 5000), 5000);
    s.stuck = true;
    assert_int_equal(repeat(&s, "PING 0 - 0*8", 0, 1000), 1000);
    s.stuck = false;
    side_said(&s);
    s.stuck = true;
    assert_int_equal(repeat(&s, "PING 0 - 0*8", 0, 1001), 1000);
    s.stuck = false;
    check_calm(&s, HTTP2_WHY_UNSENT);
    side_end(&s);
}

/* Answers without a body need no window: only memory stops who reads none. */
static void heads_that_are_not_read_close(void **state)
{
    struct side s;
    unsigned n;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    s.stuck = true;
    n = repeat(&s, "HEADERS %u es,eh @/none", 1, 100000);
    assert_in_range(n, 2000, 20000);
    assert_true(s.bufs.n_taken * 4096 < 512 * 1024);
    s.stuck = false;
    check_calm(&s, HTTP2_WHY_UNSENT);
    side_end(&s);
}

/* ===== timeouts ===== */

static void preface_that_is_late_closes(void **state)
{
    struct side s;

    (void)state;
    side_init(&s, HTTP2_SERVER, NULL);
    assert_int_equal(http2_due_ns(&s.c), s.now_ns + 10 * BIDE_SECOND);
    side_feed(&s, "PRI * HTTP", 10);
    assert_int_equal(http2_expire(&s.c, s.now_ns + 10 * BIDE_SECOND - 1), 0);
    assert_int_equal(http2_expire(&s.c, s.now_ns + 10 * BIDE_SECOND), -1);
    assert_int_equal(s.c.code, HTTP2_SETTINGS_TIMEOUT);
    assert_int_equal(s.c.why, HTTP2_WHY_LATE_PREFACE);
    side_end(&s);
}

static void settings_that_are_not_acknowledged_close(void **state)
{
    struct side s;

    (void)state;
    side_init(&s, HTTP2_SERVER, NULL);
    side_feed(&s, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
    side_play(&s, "SETTINGS 0 -");
    assert_int_equal(http2_expire(&s.c, s.now_ns + 10 * BIDE_SECOND), -1);
    assert_int_equal(s.c.why, HTTP2_WHY_SETTINGS_ACK);
    assert_non_null(strstr(side_said(&s), "SETTINGS_TIMEOUT"));
    side_end(&s);
    side_begin(&s, HTTP2_SERVER, NULL);
    assert_int_equal(http2_due_ns(&s.c), BIDE_FOREVER);
    assert_int_equal(http2_expire(&s.c, s.now_ns + 100 * BIDE_SECOND), 0);
    side_end(&s);
}

static void preface_of_another_kind_closes(void **state)
{
    static const char *const bad[] = {
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\rX",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x08\x06\0\0\0\0\0........",
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct side s;

        side_init(&s, HTTP2_SERVER, NULL);
        assert_int_equal(side_feed(&s, bad[i], i == 2 ? 41 : strlen(bad[i])),
                         -1);
        assert_int_equal(s.c.why, HTTP2_WHY_PREFACE);
        side_end(&s);
    }
    assert_true(http2_is_preface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nmore", 28) >
                0);
    assert_true(http2_is_preface("PRI", 3) == 0);
    assert_true(http2_is_preface("PRX", 3) < 0);
    assert_true(http2_is_preface("GET /", 5) < 0);
}

static void defaults_are_those_of_the_docs(void **state)
{
    (void)state;
    assert_int_equal(usual.streams, 100);
    assert_int_equal(usual.window, 65536);
    assert_int_equal(usual.connection_window, 1048576);
    assert_int_equal(usual.memory_bytes, 8388608);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_over_the_limit_are_refused),
        cmocka_unit_test(streams_that_are_cancelled_count_until_released),
        cmocka_unit_test(fields_over_the_limit_are_reported),
        cmocka_unit_test(head_over_the_limit_is_reported),
        cmocka_unit_test(trailers_over_the_limit_are_reported),
        cmocka_unit_test(head_over_the_limit_leaves_hpack_in_step),
        cmocka_unit_test(bad_head_leaves_hpack_in_step),
        cmocka_unit_test(continuations_over_the_limit_close),
        cmocka_unit_test(window_of_a_stream_is_kept),
        cmocka_unit_test(window_opens_as_it_is_consumed),
        cmocka_unit_test(padding_is_given_back),
        cmocka_unit_test(stalled_streams_hold_no_other),
        cmocka_unit_test(memory_closes_the_connections_window),
        cmocka_unit_test(resets_over_the_limit_close),
        cmocka_unit_test(resets_of_answered_streams_are_free),
        cmocka_unit_test(errors_over_the_limit_close),
        cmocka_unit_test(errors_of_every_kind_count),
        cmocka_unit_test(control_over_the_limit_closes),
        cmocka_unit_test(empty_data_over_the_limit_closes),
        cmocka_unit_test(window_updates_that_are_due_are_free),
        cmocka_unit_test(answers_that_are_not_read_close),
        cmocka_unit_test(heads_that_are_not_read_close),
        cmocka_unit_test(preface_that_is_late_closes),
        cmocka_unit_test(settings_that_are_not_acknowledged_close),
        cmocka_unit_test(preface_of_another_kind_closes),
        cmocka_unit_test(defaults_are_those_of_the_docs),
    };

    return cmocka_run_group_tests_name("http2_limits", tests, NULL, NULL);
}
