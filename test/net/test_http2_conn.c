/* test_http2_conn.c: connections from the inside: what either role is told and
 * writes, in order; bodies in turn; how it ends. */
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

/* Asks for something, as a client. */
static struct side_stream *ask(struct side *s, const char *method,
                               const char *path)
{
    struct side_stream *t = side_new(s);
    struct http2_request r = {
        .method = method,
        .method_len = strlen(method),
        .scheme = "http",
        .authority = "a",
        .authority_len = 1,
        .path = path,
        .path_len = strlen(path),
    };

    snprintf(t->path, sizeof t->path, "%s", path);
    if (!http2_open(&s->c, &t->stream)) {
        s->n_streams--;
        free(t);
        return NULL;
    }
    http2_head_begin(&t->stream);
    http2_put_request(&t->stream, &r);
    http2_put(&t->stream, "x-a", 3, "b", 1);
    http2_head_end(&t->stream, strcmp(method, "POST") != 0);
    return t;
}

/* Passes what each side writes to the other until both are silent. `cut`: so
 * many bytes are written at a time. */
static void talk(struct side *a, struct side *b, size_t cut)
{
    for (;;) {
        size_t n;

        side_write(a, cut);
        side_write(b, cut);
        n = a->wire_len + b->wire_len;
        if (n == 0)
            return;
        assert_int_equal(side_feed(b, a->wire, a->wire_len), 0);
        a->wire_len = 0;
        assert_int_equal(side_feed(a, b->wire, b->wire_len), 0);
        b->wire_len = 0;
    }
}

/* ===== heads ===== */

static void head_becomes_text(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 eh :method:PUT :authority:a%3a8080 :scheme:https "
                  ":path:/wait?x=1 content-length:5 cookie:a=1 te:trailers "
                  "cookie:b=2 x:y cookie:c=3");
    assert_string_equal(side_heard(&s), "request\n"
                                        "PUT /wait?x=1 HTTP/1.1\r\n"
                                        "host: a:8080\r\n"
                                        "content-length: 5\r\n"
                                        "cookie: a=1; b=2; c=3\r\n"
                                        "te: trailers\r\n"
                                        "x: y\r\n\r\n");
    side_end(&s);
}

/* What the parser of HTTP/1.1 says of the text is what the head says. */
static struct http2_head seen;
static struct http1_head seen_head;
static struct http1_field seen_fields[128];
static char seen_text[65536];

static void see(struct http2_conn *c, const struct http2_head *h)
{
    (void)c;
    seen = *h;
    seen_head = *h->head;
    memcpy(seen_text, h->text, h->head->head_len);
    memcpy(seen_fields, h->head->fields,
           h->head->n_fields * sizeof seen_fields[0]);
}

static void head_is_what_http1_would_read(void **state)
{
    static const char *const rows[] = {
        "HEADERS 1 es,eh @ok accept:x cookie:a=1 user-agent:t cookie:b=2",
        "HEADERS 1 es,eh :method:GET :path:/a?b :scheme:http host:h x_y:1",
        ("HEADERS 1 eh :method:POST :path:/ :scheme:http "
         ":authority:[%3a%3a1]%3a80 "
         "content-length:12 expect:100-continue"),
        "HEADERS 1 es,eh :method:OPTIONS :path:* :scheme:http :authority:a",
        ("HEADERS 1 es,eh :method:HEAD :path:/?? :scheme:http :authority:a%3a1 "
         "forwarded: x-forwarded-other:x trailer:x"),
    };
    struct http2_calls calls = side_calls;

    (void)state;
    calls.request = see;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct http1_field fields[128];
        struct http1_head h;
        struct side s;

        side_begin(&s, HTTP2_SERVER, NULL);
        s.c.calls = &calls;
        side_play(&s, rows[i]);
        http1_request_init(&h, fields, 128, 16384);
        assert_int_equal(http1_parse(&h, seen_text, seen_head.head_len),
                         seen_head.head_len);
        assert_int_equal(h.n_fields, seen_head.n_fields);
        assert_memory_equal(fields, seen_fields, h.n_fields * sizeof fields[0]);
        assert_int_equal(h.seen, seen_head.seen);
        assert_int_equal(h.content_length, seen_head.content_length);
        assert_int_equal(h.method_id, seen_head.method_id);
        assert_int_equal(h.method_len, seen_head.method_len);
        assert_int_equal(h.target, seen_head.target);
        assert_int_equal(h.target_len, seen_head.target_len);
        assert_int_equal(h.path, seen_head.path);
        assert_int_equal(h.path_len, seen_head.path_len);
        assert_int_equal(h.query_len, seen_head.query_len);
        assert_int_equal(h.host, seen_head.host);
        assert_int_equal(h.host_len, seen_head.host_len);
        assert_int_equal(h.form, seen_head.form);
        assert_int_equal(h.minor, seen_head.minor);
        assert_int_equal(h.framing, seen_head.framing);
        assert_int_equal(h.has_length, seen_head.has_length);
        assert_int_equal(h.expect_continue, seen_head.expect_continue);
        assert_int_equal(h.fields_at, seen_head.fields_at);
        assert_int_equal(h.keep_alive, seen_head.keep_alive);
        side_end(&s);
    }
}

static void extended_connect_passes(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s,
              "HEADERS 1 eh :method:CONNECT :protocol:websocket :scheme:http "
              ":path:/wait :authority:a");
    assert_string_equal(side_heard(&s), "request protocol websocket\n"
                                        "CONNECT /wait HTTP/1.1\r\n"
                                        "host: a\r\n\r\n");
    side_play(&s, "DATA 1 - \"frame\"");
    assert_string_equal(side_said(&s), "");
    side_end(&s);
}

static void connect_is_a_tunnels(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 eh :method:CONNECT :authority:a%3a443");
    assert_string_equal(side_heard(&s), "request\n"
                                        "CONNECT a:443 HTTP/1.1\r\n"
                                        "host: a:443\r\n\r\n");
    side_end(&s);
}

static const char lines_of_http1[] = "GET / HTTP/1.1\r\n"
                                     "Host: gone\r\nConnection: close, x\r\n"
                                     "X-Name:  value \r\nKeep-Alive: 5\r\n"
                                     "TE: gzip\r\nTransfer-Encoding: chunked\r\n"
                                     "Authorization: Basic xx\r\nUpgrade: h2c\r\n"
                                     "Empty:\r\nX_y: z\r\nServer: s\r\n\r\n";

/* By the head, as it was parsed; or from the lines alone. */
static void put_lines(struct http2_stream *s, bool parsed)
{
    const char *text = lines_of_http1;
    struct http1_field fields[20];
    struct http1_head h;
    http1_request_init(&h, fields, 20, HTTP1_HEAD_MOST);
    assert_true(http1_parse(&h, text, sizeof lines_of_http1 - 1) > 0);
    assert_int_equal(h.n_fields, 11);
    if (!parsed)
        http2_put_lines(s, text + h.fields_at,
                        (size_t)(h.head_len - 2 - h.fields_at));
    for (unsigned i = 0; parsed && i < h.n_fields; i++)
        http2_put_field(s, &fields[i], text);
}

static void lines_of_http1_become_fields(void **state)
{
    struct side a, b;
    struct side_stream *t;

    (void)state;
    for (int parsed = 0; parsed < 2; parsed++) {
        side_init(&a, HTTP2_CLIENT, NULL);
        side_init(&b, HTTP2_SERVER, NULL);
        t = side_new(&a);
        assert_true(http2_open(&a.c, &t->stream));
        http2_head_begin(&t->stream);
        http2_put_request(&t->stream,
                          &(struct http2_request){ .method = "GET",
                                                   .method_len = 3,
                                                   .scheme = "https",
                                                   .path = "/",
                                                   .path_len = 1,
                                                   .authority = "a",
                                                   .authority_len = 1 });
        put_lines(&t->stream, parsed);
        assert_int_equal(http2_head_end(&t->stream, true), 0);
        talk(&a, &b, SIZE_MAX);
        assert_non_null(
            strstr(side_heard(&b), "request end\nGET / HTTP/1.1\r\n"
                                   "host: a\r\nx-name: value\r\n"
                                   "authorization: Basic xx\r\n"
                                   "empty: \r\nx_y: z\r\n"
                                   "server: s\r\n\r\n"));
        side_end(&a);
        side_end(&b);
    }
}

/* More than a buffer, and more than a frame. */
static void long_head_goes_on_in_continuations(void **state)
{
    struct http2_conf conf = HTTP2_CONF_INIT;
    char *value = malloc(30000);
    struct side a, b;
    struct side_stream *t;

    (void)state;
    conf.header_bytes = 65535;
    memset(value, 'v', 30000);
    side_init(&a, HTTP2_CLIENT, &conf);
    side_init(&b, HTTP2_SERVER, &conf);
    t = side_new(&a);
    assert_true(http2_open(&a.c, &t->stream));
    http2_head_begin(&t->stream);
    http2_put_request(&t->stream,
                      &(struct http2_request){ .method = "GET",
                                               .method_len = 3,
                                               .scheme = "https",
                                               .path = "/",
                                               .path_len = 1,
                                               .authority = "a",
                                               .authority_len = 1 });
    for (int i = 0; i < 20; i++)
        http2_put(&t->stream, "x-name-of-some-length", 21, value, 300);
    http2_put(&t->stream, "x-long", 6, value, 20000);
    assert_int_equal(http2_head_end(&t->stream, true), 0);
    talk(&a, &b, 1000);
    assert_int_equal(a.c.n_streams, 1);
    assert_int_equal(t->status, 200);
    assert_int_equal(t->got, 3);
    free(value);
    side_end(&a);
    side_end(&b);
}

/* ===== answers ===== */

static void answer_comes_with_trailers(void **state)
{
    struct side a, b;
    struct side_stream *t;

    (void)state;
    side_init(&a, HTTP2_CLIENT, NULL);
    side_init(&b, HTTP2_SERVER, NULL);
    talk(&a, &b, SIZE_MAX);
    t = ask(&a, "GET", "/trailers");
    side_heard(&a);
    talk(&a, &b, SIZE_MAX);
    (void)t;
    assert_string_equal(side_heard(&a),
                        "response 1\nHTTP/1.1 200 \r\n"
                        "content-type: text/plain\r\n"
                        "x-long: yes\r\n\r\n"
                        "trailers 1 end\ngrpc-status: 0\r\n\r\n");
    assert_int_equal(b.c.n_streams, 0);
    side_end(&a);
    side_end(&b);
}

/* Responses: the same rules, mirrored. `what`: of http2_rules.txt's kind. */
static void bad_answers_end_their_stream(void **state)
{
    static const struct {
        const char *frames, *said;
    } rows[] = {
        { "HEADERS 1 es,eh :status:200", "" },
        { "HEADERS 1 eh :status:100 ; HEADERS 1 eh :status:103 a:b ;"
          "HEADERS 1 es,eh :status:200",
          "" },
        { "HEADERS 1 eh :status:304 content-length:5 ; DATA 1 es", "" },
        { "HEADERS 1 es,eh :status:304 content-length:5", "" },
        { "HEADERS 1 es,eh :status:100", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:101", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:20", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:2000", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:+20", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh a:b", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:200 :status:200", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:200 :path:/", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:200 a:b :status:200", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:200 A:b", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:200 a:b%0ac", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:200 connection:close", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:200 transfer-encoding:chunked",
          "PROTOCOL_ERROR" },
        { "HEADERS 1 eh :status:200 content-length:2 ; DATA 1 es \"abc\"",
          "PROTOCOL_ERROR" },
        { "HEADERS 1 eh :status:200 content-length:2 ; DATA 1 es \"a\"",
          "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:200 content-length:2", "PROTOCOL_ERROR" },
        { "HEADERS 1 eh :status:204 ; DATA 1 es \"a\"", "PROTOCOL_ERROR" },
        { "DATA 1 es \"a\"", "PROTOCOL_ERROR" },
        { "HEADERS 1 eh :status:100 ; DATA 1 es \"a\"", "PROTOCOL_ERROR" },
        { "HEADERS 1 es,eh :status:200 ; DATA 1 es \"a\"", "STREAM_CLOSED" },
        { "HEADERS 1 eh :status:200 ; HEADERS 1 eh a:b", "PROTOCOL_ERROR" },
        { "HEADERS 1 eh :status:200 ; HEADERS 1 es,eh :status:200",
          "PROTOCOL_ERROR" },
        { "HEADERS 3 es,eh :status:200", "GOAWAY 0 PROTOCOL_ERROR" },
        { "HEADERS 2 es,eh :status:200", "GOAWAY 0 PROTOCOL_ERROR" },
        { "PUSH_PROMISE 1 eh x00000002 :status:200",
          "GOAWAY 0 PROTOCOL_ERROR" },
        { "SETTINGS 0 - x000200000001", "GOAWAY 0 PROTOCOL_ERROR" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct side s;
        const char *said;

        side_begin(&s, HTTP2_CLIENT, NULL);
        assert_non_null(ask(&s, "POST", "/wait"));
        side_said(&s);
        side_play(&s, rows[i].frames);
        said = side_said(&s);
        if (!rows[i].said[0] ? said[0] != '\0' : !strstr(said, rows[i].said))
            fail_msg("%s: %s", rows[i].frames, said);
        side_end(&s);
    }
}

static void head_answer_has_a_length_and_no_body(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_CLIENT, NULL);
    ask(&s, "HEAD", "/");
    side_said(&s);
    side_play(&s, "HEADERS 1 es,eh :status:200 content-length:500");
    assert_string_equal(side_said(&s), "");
    assert_non_null(strstr(side_heard(&s), "response 1 end"));
    side_end(&s);
}

/* ===== bodies ===== */

/* The windows of 65 535 bytes stop it; then it goes on, to the last byte. */
static void large_body_waits_for_the_window(void **state)
{
    static const size_t cuts[] = { SIZE_MAX, 1, 9, 1000, 16393, 40000 };

    (void)state;
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        struct side a, b;
        struct side_stream *t;

        side_init(&a, HTTP2_CLIENT, NULL);
        side_init(&b, HTTP2_SERVER, NULL);
        talk(&a, &b, SIZE_MAX);
        t = ask(&a, "GET", "/big");
        talk(&a, &b, cuts[i]);
        assert_int_equal(t->got, SIDE_BIG);
        assert_true(t->complete);
        assert_int_equal(b.c.n_streams, 0);
        assert_int_equal(b.bufs.n_taken, 0);
        side_end(&a);
        side_end(&b);
    }
}

static void large_body_stops_at_the_window(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 es,eh @/big");
    assert_string_equal(side_said(&s), "HEADERS 1\nDATA 1 16384\nDATA 1 16384\n"
                                       "DATA 1 16384\nDATA 1 16383\n");
    side_play(&s, "WINDOW_UPDATE 1 - x00000064");
    assert_string_equal(side_said(&s), "");
    side_play(&s, "WINDOW_UPDATE 0 - x00000032");
    assert_string_equal(side_said(&s), "DATA 1 50\n");
    side_play(&s, "SETTINGS 0 - x000400000000 ; WINDOW_UPDATE 0 - x00010000");
    assert_string_equal(side_said(&s), "SETTINGS ack\n");
    side_play(&s, "SETTINGS 0 - x000400010000");
    assert_string_equal(side_said(&s), "SETTINGS ack\nDATA 1 51\n");
    side_end(&s);
}

static void streams_take_turns(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "WINDOW_UPDATE 0 - x00100000");
    side_play(&s, "HEADERS 1 es,eh @/big ; HEADERS 3 es,eh @/big ;"
                  "HEADERS 5 es,eh @ok");
    assert_string_equal(side_said(&s),
                        "HEADERS 1\nHEADERS 3\nHEADERS 5\n"
                        "DATA 1 16384\nDATA 3 16384\nDATA 5 3 es\n"
                        "DATA 1 16384\nDATA 3 16384\nDATA 1 16384\n"
                        "DATA 3 16384\nDATA 1 16383\nDATA 3 16383\n");
    side_end(&s);
}

/* Bytes are taken in their order, and the piece is, when none is needed. */
static char takings[256];

static void note_taken(struct http2_stream *st, size_t n)
{
    snprintf(takings + strlen(takings), sizeof takings - strlen(takings),
             "%zu of %zu, ", n, st->piece_len + n);
}

static void bytes_are_taken_in_order(void **state)
{
    struct http2_calls calls = side_calls;
    struct side s;

    (void)state;
    calls.taken = note_taken;
    takings[0] = '\0';
    side_begin(&s, HTTP2_SERVER, NULL);
    s.c.calls = &calls;
    side_play(&s, "HEADERS 1 es,eh @get ; WINDOW_UPDATE 1 - x00010000");
    http2_head_begin(&side_find(&s, 1)->stream);
    http2_put_status(&side_find(&s, 1)->stream, 200);
    http2_head_end(&side_find(&s, 1)->stream, false);
    http2_send(&side_find(&s, 1)->stream, s.big, 17000, false);
    side_said(&s);
    http2_send(&side_find(&s, 1)->stream, s.big, 100, true);
    assert_string_equal(side_said(&s), "DATA 1 100 es\n");
    assert_string_equal(takings, "16384 of 17000, 616 of 616, 100 of 100, ");
    side_end(&s);
}

/* A stream that is released in the middle of a frame: the frame is completed, and
 * the owner's bytes are not looked at. */
static void release_in_the_middle_of_a_frame(void **state)
{
    struct iovec iov[HTTP2_IOV];
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 es,eh @/big");
    assert_true(http2_fill(&s.c, iov) > 1);
    side_wire(&s, &(struct iovec){ iov[0].iov_base, iov[0].iov_len });
    side_wire(&s, &(struct iovec){ iov[1].iov_base, 100 });
    http2_written(&s.c, iov[0].iov_len + 100);
    side_release(side_find(&s, 1), HTTP2_INTERNAL_ERROR);
    memset(s.big, 'x', SIDE_BIG);
    side_write(&s, SIZE_MAX);
    for (size_t i = 0; i + 13 < s.wire_len; i++)
        assert_true(s.wire[i] != 'x' || i < 100);
    assert_non_null(strstr(side_said(&s), "RST_STREAM 1 INTERNAL_ERROR\n"));
    side_play(&s, "WINDOW_UPDATE 0 - x00010000 ; HEADERS 3 es,eh @ok");
    assert_string_equal(side_said(&s), "HEADERS 3\nDATA 3 3 es\n");
    side_end(&s);
}

/* What was on its way when we reset a stream is ignored, but decoded. */
static void frames_after_our_reset_are_ignored(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 eh @put ; HEADERS 3 eh @put");
    side_release(side_find(&s, 1), HTTP2_NO_ERROR);
    assert_string_equal(side_said(&s), "RST_STREAM 1 NO_ERROR\n");
    side_play(&s, "DATA 1 - \"x\" ; HEADERS 1 es,eh x40026161026262 ;"
                  "WINDOW_UPDATE 1 - x00000001 ; RST_STREAM 1 - x00000008");
    assert_string_equal(side_said(&s), "");
    side_heard(&s);
    side_play(&s, "HEADERS 5 es,eh @ok xbe");
    assert_non_null(strstr(side_heard(&s), "aa: bb\r\n"));
    side_end(&s);
}

/* One that ended in order takes nothing more. */
static void frames_after_the_end_close(void **state)
{
    static const char *const frames[] = { "DATA 1 - \"x\"",
                                          "HEADERS 1 es,eh a:b" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct side s;

        side_begin(&s, HTTP2_SERVER, NULL);
        side_play(&s, "HEADERS 1 es,eh @ok");
        side_said(&s);
        assert_int_equal(side_play(&s, "WINDOW_UPDATE 1 - x00000001 ;"
                                       "RST_STREAM 1 - x00000008"),
                         0);
        assert_int_equal(side_play(&s, frames[i]), -1);
        assert_string_equal(side_said(&s), "GOAWAY 1 STREAM_CLOSED\n");
        side_end(&s);
    }
}

static void early_answer_ends_the_upload(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 eh @/early ; DATA 1 - \"x\"");
    assert_string_equal(side_said(&s), "HEADERS 1\nDATA 1 3 es\n");
    side_release(side_find(&s, 1), HTTP2_NO_ERROR);
    assert_string_equal(side_said(&s), "RST_STREAM 1 NO_ERROR\n");
    side_end(&s);
}

static void refused_request_is_reset(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 eh @/refuse ; DATA 1 es \"x\"");
    assert_string_equal(side_said(&s), "RST_STREAM 1 REFUSED_STREAM\n");
    side_end(&s);
}

/* ===== clients ===== */

static void peers_limit_of_streams_is_kept(void **state)
{
    struct side s;

    (void)state;
    side_init(&s, HTTP2_CLIENT, NULL);
    assert_int_equal(http2_may_open(&s.c), 1); /* until it is known */
    assert_non_null(ask(&s, "GET", "/wait"));
    assert_null(ask(&s, "GET", "/wait"));
    side_play(&s, "SETTINGS 0 - x000300000003");
    assert_int_equal(http2_may_open(&s.c), 2);
    assert_non_null(ask(&s, "GET", "/wait"));
    assert_non_null(ask(&s, "GET", "/wait"));
    assert_null(ask(&s, "GET", "/wait"));
    side_play(&s, "SETTINGS 0 - x000300000001");
    assert_int_equal(http2_may_open(&s.c), 0);
    side_play(&s, "SETTINGS 0 - x0003000000ff");
    assert_int_equal(http2_may_open(&s.c), 252);
    side_end(&s);
}

static void goaway_tells_what_was_not_processed(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_CLIENT, NULL);
    ask(&s, "GET", "/");
    ask(&s, "GET", "/");
    side_said(&s);
    side_play(&s, "GOAWAY 0 - x0000000100000000 \"too_many_pings\"");
    assert_string_equal(side_heard(&s),
                        "closed 3 by peer NO_ERROR unprocessed\n"
                        "goaway 1 NO_ERROR \"too_many_pings\"\n");
    assert_int_equal(http2_may_open(&s.c), 0);
    side_play(&s, "HEADERS 1 es,eh :status:200");
    assert_non_null(strstr(side_heard(&s), "response 1 end"));
    side_end(&s);
}

static void refused_stream_was_not_processed(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_CLIENT, NULL);
    ask(&s, "GET", "/");
    ask(&s, "GET", "/");
    side_said(&s);
    side_play(&s, "RST_STREAM 1 - x00000007 ; RST_STREAM 3 - x00000002");
    assert_string_equal(side_heard(&s),
                        "closed 1 by peer REFUSED_STREAM unprocessed\n"
                        "closed 3 by peer INTERNAL_ERROR\n");
    side_end(&s);
}

static void what_was_never_written_was_not_processed(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_CLIENT, NULL);
    ask(&s, "GET", "/");
    side_said(&s);
    ask(&s, "GET", "/");
    http2_lost(&s.c);
    assert_string_equal(side_heard(&s),
                        "closed 1 by lost NO_ERROR\n"
                        "closed 3 by lost NO_ERROR unprocessed\n");
    side_end(&s);
}

/* A peer that has only stopped to send would read what is queued, and do what was said
 * not to have been begun, and is being done elsewhere. */
static void regress_nothing_is_written_once_it_is_lost(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_CLIENT, NULL);
    ask(&s, "GET", "/");
    assert_true(http2_wants_write(&s.c));
    http2_lost(&s.c);
    assert_string_equal(side_heard(&s),
                        "closed 1 by lost NO_ERROR unprocessed\n");
    assert_false(http2_wants_write(&s.c));
    assert_string_equal(side_said(&s), "");
    side_end(&s);
}

/* What is queued goes out before the GOAWAY: it may be processed. */
static void regress_what_is_written_before_goaway_may_be_processed(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_CLIENT, NULL);
    ask(&s, "GET", "/");
    http2_fail(&s.c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_SETTING);
    assert_null(strstr(side_heard(&s), "unprocessed"));
    assert_non_null(strstr(side_said(&s), "HEADERS 1"));
    side_end(&s);
}

/* ===== the end ===== */

static void shutdown_says_goaway_twice(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 es,eh @get");
    http2_ping(&s.c, s.now_ns);
    assert_string_equal(side_said(&s), "PING\n");
    http2_shutdown(&s.c, s.now_ns);
    assert_false(http2_is_shut(&s.c));
    assert_string_equal(side_said(&s), "GOAWAY 2147483647 NO_ERROR\nPING\n");
    /* One that was on its way is served; the PING before is not the one. */
    side_play(&s, "HEADERS 3 es,eh @ok ; PING 0 ack x6269646520202001");
    assert_string_equal(side_said(&s), "HEADERS 3\nDATA 3 3 es\n");
    side_play(&s, "PING 0 ack x6269646520202002");
    assert_string_equal(side_said(&s), "GOAWAY 3 NO_ERROR\n");
    assert_true(http2_is_shut(&s.c));
    /* One after it is not, and is not answered either. */
    side_heard(&s);
    side_play(&s, "HEADERS 5 es,eh @ok x40026161026262");
    assert_string_equal(side_said(&s), "");
    assert_string_equal(side_heard(&s), "");
    assert_int_equal(s.c.n_streams, 1);
    side_end(&s);
}

static void shutdown_does_not_wait_for_ever(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    http2_shutdown(&s.c, s.now_ns);
    side_said(&s);
    assert_int_equal(http2_due_ns(&s.c), s.now_ns + 10 * BIDE_SECOND);
    assert_int_equal(http2_expire(&s.c, http2_due_ns(&s.c)), 0);
    assert_string_equal(side_said(&s), "GOAWAY 0 NO_ERROR\n");
    side_end(&s);
}

static void shutdown_before_the_settings_ends_too(void **state)
{
    struct side s;

    (void)state;
    side_init(&s, HTTP2_SERVER, NULL);
    side_feed(&s, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", HTTP2_PREFACE);
    http2_shutdown(&s.c, s.now_ns);
    side_play(&s, "SETTINGS 0 - ; SETTINGS 0 ack");
    side_said(&s);
    assert_int_equal(http2_expire(&s.c, http2_due_ns(&s.c)), 0);
    assert_string_equal(side_said(&s), "GOAWAY 0 NO_ERROR\n");
    assert_int_equal(http2_due_ns(&s.c), BIDE_FOREVER);
    side_end(&s);
}

static void ping_is_timed(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    http2_ping(&s.c, s.now_ns);
    http2_ping(&s.c, s.now_ns);
    assert_string_equal(side_said(&s), "PING\n");
    s.now_ns += 5000;
    side_play(&s, "PING 0 ack x6269646520202001");
    assert_string_equal(side_heard(&s), "pong 5000\n");
    side_end(&s);
}

static void failure_closes_every_stream(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s,
              "HEADERS 1 eh @put ; HEADERS 3 es,eh @/big ; HEADERS 5 eh @post");
    side_heard(&s);
    assert_int_equal(side_play(&s, "DATA 0 - \"x\""), -1);
    assert_non_null(
        strstr(side_heard(&s), "closed 1 by lost PROTOCOL_ERROR\n"));
    assert_int_equal(side_play(&s, "HEADERS 7 es,eh @ok"), -1);
    assert_non_null(strstr(side_said(&s), "GOAWAY 5 PROTOCOL_ERROR\n"));
    side_end(&s);
}

static void idle_connection_holds_no_buffer(void **state)
{
    struct side s;

    (void)state;
    side_begin(&s, HTTP2_SERVER, NULL);
    side_play(&s, "HEADERS 1 es,eh @ok");
    side_said(&s);
    assert_int_equal(s.bufs.n_taken, 0);
    assert_int_equal(s.shared.heads.n_taken, 0);
    assert_in_range(sizeof s.c, 0, 1024);
    side_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head_becomes_text),
        cmocka_unit_test(head_is_what_http1_would_read),
        cmocka_unit_test(extended_connect_passes),
        cmocka_unit_test(connect_is_a_tunnels),
        cmocka_unit_test(lines_of_http1_become_fields),
        cmocka_unit_test(long_head_goes_on_in_continuations),
        cmocka_unit_test(answer_comes_with_trailers),
        cmocka_unit_test(bad_answers_end_their_stream),
        cmocka_unit_test(head_answer_has_a_length_and_no_body),
        cmocka_unit_test(large_body_waits_for_the_window),
        cmocka_unit_test(large_body_stops_at_the_window),
        cmocka_unit_test(streams_take_turns),
        cmocka_unit_test(bytes_are_taken_in_order),
        cmocka_unit_test(release_in_the_middle_of_a_frame),
        cmocka_unit_test(frames_after_our_reset_are_ignored),
        cmocka_unit_test(frames_after_the_end_close),
        cmocka_unit_test(early_answer_ends_the_upload),
        cmocka_unit_test(refused_request_is_reset),
        cmocka_unit_test(peers_limit_of_streams_is_kept),
        cmocka_unit_test(goaway_tells_what_was_not_processed),
        cmocka_unit_test(refused_stream_was_not_processed),
        cmocka_unit_test(what_was_never_written_was_not_processed),
        cmocka_unit_test(regress_nothing_is_written_once_it_is_lost),
        cmocka_unit_test(regress_what_is_written_before_goaway_may_be_processed),
        cmocka_unit_test(shutdown_says_goaway_twice),
        cmocka_unit_test(shutdown_does_not_wait_for_ever),
        cmocka_unit_test(shutdown_before_the_settings_ends_too),
        cmocka_unit_test(ping_is_timed),
        cmocka_unit_test(failure_closes_every_stream),
        cmocka_unit_test(idle_connection_holds_no_buffer),
    };

    return cmocka_run_group_tests_name("http2_conn", tests, NULL, NULL);
}
