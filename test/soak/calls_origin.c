/* Two endpoints that serve gRPC over HTTP/2 and fail on purpose, in every way that a
 * stream can (calls_acts.h), and that know what they did to each call.
 *
 *     calls-origin CALLS SEED
 *
 * The first line is `PORT PORT`. A request names its call (`x-call: 17`). The second
 * endpoint goes away (GOAWAY, then nobody listens) and comes back, again and again.
 *
 * At the end of standard input it prints the story of each call that is not just `O`:
 * its number, and a letter for each time that it came. Besides those of acts[]:
 *
 *   x   on a connection that ended, by an orderly close: it is read to its end
 *   k   on one that was reset; what came at that very moment is in no story
 *   g   above the last stream of a GOAWAY
 *   C   the other side has left it
 *   !   it was garbled
 *
 * `killed MS` is when it has reset a connection, by the clock of both ends.
 *
 * Then `connections=N killed=N reset=N dumb=N unnamed=N`: connections that it has reset,
 * that the other side has, and that were closed before a word; requests without a call.
 * One thread, epoll. */
#include <arpa/inet.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "calls_acts.h"
#include "calls_wire.h"

enum {
    STORY = 15,    /* letters that are kept */
    BATCH = 64,
    LATER_MS = 5,  /* until the second part of an answer */
    AWAY_MS = 150, /* how long the second endpoint is gone ... */
    BACK_MS = 850, /* ... and there */
    SHORT = 32,    /* bytes of an answer that does not wait for its request */
    DUMB = 23,     /* one connection in so many is closed at once ... */
    BRIEF = 17,    /* ... or told at once to go away */
};

struct story {
    uint8_t n;
    char letters[STORY];
};

struct server;

struct stream {
    struct stream *next, *prev;   /* of its connection */
    struct stream *later, **from; /* of those with a second part to come */
    struct server *server;
    const struct act *act;        /* NULL: nothing is decided */
    int64_t due_ms;
    unsigned long call;
    int32_t id;
    struct message in;
    uint32_t sent, size;          /* bytes of the answer */
    bool told;
    bool counted;                 /* among n_answering */
};

struct server {
    struct wire wire; /* first: events refer to it */
    struct server *next, **from;
    struct stream streams; /* a ring, this its head */
    unsigned endpoint;
    uint32_t n_answering;  /* decided, and not all is sent */
    int32_t last, highest; /* streams that count; that came */
    int32_t end_id;        /* what it ends with, when all others are done; or 0 */
    enum act_then end_how;
    bool going, finished;
};

static struct story *stories;
static unsigned long n_calls, n_connections, n_killed, n_reset, n_dumb;
static unsigned long n_accepted;
static uint64_t seed;
static struct server *servers;
static struct stream *later, **later_end = &later;
static int epoll, doors[2] = { -1, -1 };
static struct sockaddr_in addresses[2];
static nghttp2_session_callbacks *callbacks;

static void tell(struct stream *s, char letter)
{
    struct story *t = &stories[s->call];
    if (s->told)
        return;
    s->told = true;
    if (t->n < STORY)
        t->letters[t->n] = letter;
    if (t->n < UINT8_MAX)
        t->n++;
}

/* ===== answering ===== */

static nghttp2_nv field(const char *name, const char *value)
{
    return (nghttp2_nv){ (uint8_t *)(uintptr_t)name,
                         (uint8_t *)(uintptr_t)value, strlen(name),
                         strlen(value), NGHTTP2_NV_FLAG_NONE };
}

static void send_trailers(struct stream *s)
{
    char status[8];
    snprintf(status, sizeof status, "%d", s->act->status);
    const nghttp2_nv nv[] = { field("grpc-status", status) };
    nghttp2_submit_trailer(s->server->wire.h2, s->id, nv, 1);
}

static void leave_later(struct stream *s)
{
    if (!s->from)
        return;
    *s->from = s->later;
    if (s->later)
        s->later->from = s->from;
    else
        later_end = s->from;
    s->from = NULL;
}

static void enter_later(struct stream *s)
{
    s->due_ms = now_ms() + LATER_MS;
    s->later = NULL;
    s->from = later_end;
    *later_end = s;
    later_end = &s->later;
}

static ssize_t read_body(nghttp2_session *h2, int32_t id, uint8_t *buf,
                         size_t length, uint32_t *flags,
                         nghttp2_data_source *source, void *user)
{
    struct stream *s = source->ptr;
    uint8_t message[MESSAGE_MOST];
    size_t n = s->size - s->sent;
    (void)h2, (void)id, (void)user;
    if (n > length)
        n = length;
    message_make(message, s->call, s->size);
    memcpy(buf, message + s->sent, n);
    s->sent += (uint32_t)n;
    if (s->sent < s->size)
        return (ssize_t)n;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (s->act->status != NO_STATUS || s->act->then != LEAVE)
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    if (s->act->status != NO_STATUS)
        send_trailers(s);
    return (ssize_t)n;
}

/* The head, its body, and what follows. */
static void send_parts(struct stream *s, const nghttp2_nv *nv, size_t n)
{
    const struct act *a = s->act;
    nghttp2_session *h2 = s->server->wire.h2;
    nghttp2_data_provider body = { .source.ptr = s, .read_callback = read_body };
    bool last = !a->message && a->then == LEAVE &&
                (a->head == ONLY_TRAILERS || a->status == NO_STATUS);
    if (a->message) {
        s->size = a->when == AT_HEAD ? SHORT : s->in.got;
        nghttp2_submit_response(h2, s->id, nv, n, &body);
        return;
    }
    nghttp2_submit_headers(h2, last ? NGHTTP2_FLAG_END_STREAM : 0, s->id, NULL,
                           nv, n, NULL);
    if (last || a->status == NO_STATUS)
        return;
    if (a->more)
        enter_later(s);
    else
        send_trailers(s);
}

static void answer(struct stream *s)
{
    const struct act *a = s->act;
    nghttp2_nv nv[4];
    char status[8];
    size_t n = 0;
    if (a->head == NO_HEAD)
        return;
    nv[n++] = field(":status", a->head == HTML ? a->more : "200");
    nv[n++] = field("content-type",
                    a->head == HTML ? "text/html" : "application/grpc");
    if (a->head == ONLY_TRAILERS) {
        snprintf(status, sizeof status, "%d", a->status);
        nv[n++] = field("grpc-status", status);
        if (a->more)
            nv[n++] = field("grpc-retry-pushback-ms", a->more);
    }
    send_parts(s, nv, n);
}

/* ===== connections that end ===== */

static void put32(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(x >> (24 - 8 * i));
}

/* By hand: nghttp2 would not show what comes after it. */
static void go_away(struct server *v, int32_t last)
{
    uint8_t frame[17] = { 0, 0, 8, 7 };
    v->going = true;
    v->last = last;
    put32(frame + 9, (uint32_t)last);
    wire_push(&v->wire);
    wire_raw(&v->wire, frame, sizeof frame);
}

/* Ten bytes of a message of a hundred. */
static void send_half(struct server *v)
{
    uint8_t frame[19] = { 0, 0, 100 };
    put32(frame + 5, (uint32_t)v->end_id);
    wire_raw(&v->wire, frame, sizeof frame);
}

static void lose_all(struct server *v, char letter)
{
    for (struct stream *s = v->streams.next; s != &v->streams; s = s->next)
        tell(s, letter);
}

static void stream_free(struct stream *s)
{
    s->prev->next = s->next;
    s->next->prev = s->prev;
    leave_later(s);
    free(s);
}

static void server_free(struct server *v)
{
    while (v->streams.next != &v->streams)
        stream_free(v->streams.next);
    *v->from = v->next;
    if (v->next)
        v->next->from = v->from;
    wire_done(&v->wire);
    free(v);
}

/* Whether the peer has all that was written. */
static bool is_flushed(const struct server *v)
{
    int unsent = 1;
    return v->wire.len == 0 && ioctl(v->wire.fd, SIOCOUTQ, &unsent) == 0 &&
           unsent == 0;
}

static void kill_it(struct server *v)
{
    const struct linger now = { .l_onoff = 1 };
    bool reset;
    wire_pull(&v->wire, &reset);
    lose_all(v, 'k');
    n_killed++;
    setsockopt(v->wire.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    server_free(v);
    printf("killed %lld\n", (long long)now_ms());
}

/* Ends it if it is to end, once the peer has all other answers: so that those in the
 * stories have been given. */
static void end_if_due(struct server *v)
{
    wire_push(&v->wire);
    if (v->n_answering > 0 || !is_flushed(v))
        return;
    v->finished = true;
    if (v->end_how == KILL) {
        kill_it(v);
        return;
    }
    if (v->end_how == HALF_FRAME)
        send_half(v);
    wire_push(&v->wire);
    lose_all(v, 'x');
    shutdown(v->wire.fd, SHUT_WR);
}

/* ===== deciding ===== */

static bool ends_connection(const struct act *a)
{
    return a->then >= FINISH;
}

static void act(struct stream *s, const struct act *a)
{
    struct server *v = s->server;
    bool whole = message_is_whole(&s->in) && s->in.got <= MESSAGE_MOST;
    tell(s, a->when == AT_END && !whole ? '!' : a->letter);
    if (a->when == AT_END && !whole)
        return;
    s->act = a;
    s->counted = a->then != GO_AWAY &&
                 (!ends_connection(a) || a->status != NO_STATUS);
    v->n_answering += s->counted;
    answer(s);
    if (ends_connection(a)) {
        v->end_id = s->id;
        v->end_how = (enum act_then)a->then;
    } else if (a->then == GO_AWAY) {
        go_away(v, s->id - 2 > 0 ? s->id - 2 : 0);
    } else if (a->then == RESET && a->head == NO_HEAD) {
        nghttp2_submit_rst_stream(v->wire.h2, 0, s->id, act_code(a, s->call));
    }
}

/* A connection that is about to end begins nothing any more; one that goes away serves
 * what it has, and ends in no other way. */
static void decide(struct stream *s, bool complete)
{
    struct server *v = s->server;
    if (s->told)
        return;
    if (v->finished || (v->going && s->id > v->last)) {
        tell(s, v->finished ? 'x' : 'g');
        return;
    }
    if (v->end_id)
        return;
    const struct act *a = act_for(seed, s->call, stories[s->call].n);
    if (v->going && (ends_connection(a) || a->then == GO_AWAY))
        a = &acts[0];
    if (complete && a->when == AT_HEAD)
        a = &acts[0];
    if (complete || a->when == AT_HEAD)
        act(s, a);
}

/* ===== what arrives ===== */

static int on_begin(nghttp2_session *h2, const nghttp2_frame *f, void *user)
{
    struct server *v = user;
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        die("calloc");
    s->server = v;
    s->id = f->hd.stream_id;
    s->call = n_calls; /* nobody's */
    s->next = &v->streams;
    s->prev = v->streams.prev;
    s->prev->next = s->next->prev = s;
    v->highest = s->id;
    nghttp2_session_set_stream_user_data(h2, s->id, s);
    return 0;
}

static struct stream *stream_of(nghttp2_session *h2, int32_t id)
{
    return nghttp2_session_get_stream_user_data(h2, id);
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *f,
                     const uint8_t *name, size_t name_len, const uint8_t *value,
                     size_t value_len, uint8_t flags, void *user)
{
    struct stream *s = stream_of(h2, f->hd.stream_id);
    (void)value_len, (void)flags, (void)user;
    if (s && name_len == 6 && memcmp(name, "x-call", 6) == 0) {
        unsigned long call = strtoul((const char *)value, NULL, 10);
        s->call = call < n_calls ? call : n_calls;
    }
    return 0;
}

static int on_frame(nghttp2_session *h2, const nghttp2_frame *f, void *user)
{
    struct stream *s = stream_of(h2, f->hd.stream_id);
    (void)user;
    if (s && f->hd.type == NGHTTP2_HEADERS)
        decide(s, false);
    if (s && f->hd.type <= NGHTTP2_HEADERS &&
        f->hd.flags & NGHTTP2_FLAG_END_STREAM)
        decide(s, true);
    return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t id,
                   const uint8_t *data, size_t n, void *user)
{
    struct stream *s = stream_of(h2, id);
    (void)flags, (void)user;
    if (s)
        message_take(&s->in, s->call, data, n);
    return 0;
}

/* A stream that is to break breaks when what precedes that has been sent. */
static int on_sent(nghttp2_session *h2, const nghttp2_frame *f, void *user)
{
    struct stream *s = stream_of(h2, f->hd.stream_id);
    const struct act *a = s ? s->act : NULL;
    (void)user;
    if (!a || a->then != RESET || a->head == NO_HEAD)
        return 0;
    bool head = f->hd.type == NGHTTP2_HEADERS;
    bool data = f->hd.type == NGHTTP2_DATA && s->sent == s->size;
    if ((head && !a->message) || (data && a->status == NO_STATUS) ||
        (head && f->hd.flags & NGHTTP2_FLAG_END_STREAM))
        nghttp2_submit_rst_stream(h2, 0, s->id, act_code(a, s->call));
    return 0;
}

static int on_close(nghttp2_session *h2, int32_t id, uint32_t code, void *user)
{
    struct stream *s = stream_of(h2, id);
    struct server *v = user;
    (void)code;
    if (!s)
        return 0;
    tell(s, 'C');
    v->n_answering -= s->counted;
    nghttp2_session_set_stream_user_data(h2, id, NULL);
    stream_free(s);
    return 0;
}

static void set_callbacks(void)
{
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                              on_data);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
}

/* ===== connections ===== */

static void listen_at(unsigned endpoint)
{
    const int on = 1;
    struct sockaddr_in *to = &addresses[endpoint];
    socklen_t len = sizeof *to;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)to, len) < 0 ||
        listen(fd, 1024) < 0 ||
        getsockname(fd, (struct sockaddr *)to, &len) < 0)
        die("listen");
    struct epoll_event e = { .events = EPOLLIN, .data.ptr = &doors[endpoint] };
    doors[endpoint] = fd;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0)
        die("epoll_ctl");
}

static void accept_one(unsigned endpoint)
{
    const nghttp2_settings_entry most = {
        NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 100
    };
    int fd = accept4(doors[endpoint], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (++n_accepted % DUMB == 0) {
        n_dumb++;
        close(fd);
        return;
    }
    struct server *v = calloc(1, sizeof *v);
    if (!v || nghttp2_session_server_new(&v->wire.h2, callbacks, v) != 0)
        die("accept");
    n_connections++;
    v->endpoint = endpoint;
    v->streams.next = v->streams.prev = &v->streams;
    v->next = servers;
    v->from = &servers;
    if (servers)
        servers->from = &v->next;
    servers = v;
    wire_init(&v->wire, fd, epoll);
    nghttp2_submit_settings(v->wire.h2, 0, &most, 1);
    wire_push(&v->wire);
    if (n_accepted % BRIEF == 0)
        go_away(v, 0);
    wire_push(&v->wire);
}

static void serve(struct server *v, uint32_t events)
{
    bool reset = false;
    bool fine = !(events & ~(uint32_t)EPOLLOUT) || wire_pull(&v->wire, &reset);
    if (fine && !v->finished)
        fine = wire_push(&v->wire);
    if (fine)
        return;
    n_reset += reset;
    lose_all(v, 'C');
    server_free(v);
}

/* The second endpoint goes, and comes back. */
static void come_and_go(int64_t now)
{
    static int64_t next_ms;
    if (next_ms == 0)
        next_ms = now + BACK_MS;
    if (now < next_ms)
        return;
    if (doors[1] < 0) {
        listen_at(1);
        next_ms = now + BACK_MS;
        return;
    }
    close(doors[1]);
    doors[1] = -1;
    for (struct server *v = servers; v; v = v->next)
        if (v->endpoint == 1 && !v->end_id && !v->going) {
            go_away(v, v->highest);
            wire_push(&v->wire);
        }
    next_ms = now + AWAY_MS;
}

/* What is due. True: something is still to come. */
static bool by_the_clock(void)
{
    int64_t now = now_ms();
    bool waits = false;
    while (later && later->due_ms <= now) {
        struct stream *s = later;
        struct server *v = s->server;
        leave_later(s);
        send_trailers(s);
        wire_push(&v->wire);
    }
    for (struct server *v = servers, *next; v; v = next) {
        next = v->next;
        if (v->end_id && !v->finished) {
            waits = true;
            end_if_due(v);
        }
    }
    come_and_go(now);
    return waits || later;
}

static void run(void)
{
    struct epoll_event ready[BATCH], in = { .events = EPOLLIN };
    bool waits = false;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &in) < 0)
        die("standard input");
    for (;;) {
        int n = epoll_wait(epoll, ready, BATCH, waits ? 1 : 20);
        for (int i = 0; i < n; i++) {
            int *door = ready[i].data.ptr;
            if (!door)
                return; /* standard input */
            if (door == &doors[0] || door == &doors[1])
                accept_one(door == &doors[1]);
            else
                serve(ready[i].data.ptr, ready[i].events);
        }
        waits = by_the_clock();
    }
}

static void report(void)
{
    for (unsigned long i = 0; i < n_calls; i++)
        if (stories[i].n != 1 || stories[i].letters[0] != 'O')
            printf("%lu %.*s\n", i, stories[i].n < STORY ? stories[i].n : STORY,
                   stories[i].letters);
    printf("connections=%lu killed=%lu reset=%lu dumb=%lu unnamed=%u\n",
           n_connections, n_killed, n_reset, n_dumb, stories[n_calls].n);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "calls-origin CALLS SEED\n");
        return 2;
    }
    n_calls = strtoul(argv[1], NULL, 10);
    seed = strtoull(argv[2], NULL, 10);
    stories = calloc(n_calls + 1, sizeof *stories);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!stories || epoll < 0)
        die("start");
    signal(SIGPIPE, SIG_IGN);
    set_callbacks();
    for (unsigned i = 0; i < 2; i++) {
        addresses[i].sin_family = AF_INET;
        addresses[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        listen_at(i);
    }
    printf("%u %u\n", ntohs(addresses[0].sin_port),
           ntohs(addresses[1].sin_port));
    fflush(stdout);
    run();
    report();
    return 0;
}
