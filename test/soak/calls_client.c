/* Makes gRPC calls over HTTP/2, many at once, and writes down how each ended.
 *
 *     calls-client PORT CALLS CONNECTIONS AT_ONCE
 *
 * Calls 0 to CALLS - 1, so many at once on each connection. Prints a line for each
 * call that did not simply succeed with its own answer, at its first attempt:
 *
 *   NUMBER STATUS HTTP RESET ATTEMPTS REASON BODY BEGAN_MS TOOK_MS
 *
 *   STATUS   grpc-status, or `-`; `cancelled`: by this client; `lost`: its connection
 *            ended; `open`: nothing came for a minute
 *   RESET    the code of RST_STREAM, or `-`
 *   BODY     own, other, or none
 *
 * and last `asked=N open=N again=N`: `again` are those that bide had certainly not
 * begun, and that were asked once more. One call in 500 is cancelled. One thread, epoll. */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "calls_wire.h"

enum {
    BATCH = 64,
    CANCELLED = 500, /* one in so many */
    LARGE = 64,      /* ... of MESSAGE_MOST bytes */
    SHORT = 32,      /* an answer may be as short as this */
    PATIENCE_MS = 60000,
    REASON = 20,
    NONE = -1,
};

enum how { OPEN, ENDED, CANCELLED_IT, LOST };
enum body { NO_BODY, OWN, OTHER };

struct result {
    int64_t began_ms;
    int32_t took_ms;
    int32_t reset;
    int16_t http;
    int8_t status;
    uint8_t attempts;
    uint8_t how, body; /* enum how, body */
    char reason[REASON];
};

struct caller;

struct call {
    struct caller *caller;
    struct result *result;
    unsigned long number;
    uint32_t size, sent; /* of the request */
    struct message in;
    bool cancelled;
};

struct caller {
    struct wire wire; /* first: events refer to it */
    unsigned open;
    int32_t to_cancel; /* a stream; or 0 */
};

static struct sockaddr_in target = { .sin_family = AF_INET };
static struct result *results;
static unsigned long n_calls, n_left, next_call; /* next_call: not asked yet */
static unsigned long n_again, *again;           /* to be asked once more */
static unsigned long n_refused;
static unsigned at_once;
static int epoll;
static nghttp2_session_callbacks *callbacks;

/* ===== asking ===== */

static uint32_t size_of(unsigned long call)
{
    uint64_t bits = mixed(call);
    return bits % LARGE == 0 ? MESSAGE_MOST
                             : 16 + (uint32_t)(bits >> 8) % 100;
}

static ssize_t read_body(nghttp2_session *h2, int32_t id, uint8_t *buf,
                         size_t length, uint32_t *flags,
                         nghttp2_data_source *source, void *user)
{
    struct call *c = source->ptr;
    uint8_t message[MESSAGE_MOST];
    size_t n = c->size - c->sent;
    (void)h2, (void)id, (void)user;
    if (n > length)
        n = length;
    message_make(message, c->number, c->size);
    memcpy(buf, message + c->sent, n);
    c->sent += (uint32_t)n;
    if (c->sent == c->size)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

#define FIELD(name, value)                                                     \
    {                                                                          \
        (uint8_t *)(uintptr_t)(name), (uint8_t *)(uintptr_t)(value),           \
            sizeof(name) - 1, strlen(value), NGHTTP2_NV_FLAG_NONE              \
    }

static void ask(struct caller *who, unsigned long number)
{
    struct call *c = calloc(1, sizeof *c);
    char text[24], path[48];
    if (!c)
        die("calloc");
    snprintf(text, sizeof text, "%lu", number);
    snprintf(path, sizeof path, "/soak.Calls/%lu", number);
    const nghttp2_nv nv[] = {
        FIELD(":method", "POST"),   FIELD(":scheme", "http"),
        FIELD(":path", path),       FIELD(":authority", "soak"),
        FIELD("te", "trailers"),    FIELD("content-type", "application/grpc"),
        FIELD("x-call", text),
    };
    nghttp2_data_provider body = { .source.ptr = c, .read_callback = read_body };
    c->caller = who;
    c->number = number;
    c->size = size_of(number);
    c->result = &results[number];
    c->result->began_ms = now_ms();
    c->result->reset = c->result->status = NONE;
    int32_t id = nghttp2_submit_request(who->wire.h2, NULL, nv,
                                        sizeof nv / sizeof nv[0], &body, c);
    if (id < 0)
        die("nghttp2_submit_request");
    who->open++;
    if (mixed(~number) % CANCELLED == 0)
        who->to_cancel = id;
}

static bool has_more(void)
{
    return n_again > 0 || next_call < n_calls;
}

static void fill(struct caller *who)
{
    while (who->open < at_once && has_more() &&
           nghttp2_session_check_request_allowed(who->wire.h2))
        ask(who, n_again > 0 ? again[--n_again] : next_call++);
}

/* ===== what comes back ===== */

static bool is(const uint8_t *name, size_t len, const char *text)
{
    return len == strlen(text) && memcmp(name, text, len) == 0;
}

static int on_header(nghttp2_session *h2, const nghttp2_frame *f,
                     const uint8_t *name, size_t name_len, const uint8_t *value,
                     size_t value_len, uint8_t flags, void *user)
{
    struct call *c = nghttp2_session_get_stream_user_data(h2, f->hd.stream_id);
    const char *text = (const char *)value;
    (void)flags, (void)user;
    if (!c)
        return 0;
    if (is(name, name_len, ":status"))
        c->result->http = (int16_t)atoi(text);
    else if (is(name, name_len, "grpc-status"))
        c->result->status = (int8_t)atoi(text);
    else if (is(name, name_len, "x-bide-attempts"))
        c->result->attempts = (uint8_t)atoi(text);
    else if (is(name, name_len, "x-bide-reason"))
        snprintf(c->result->reason, REASON, "%.*s", (int)value_len, text);
    return 0;
}

static int on_data(nghttp2_session *h2, uint8_t flags, int32_t id,
                   const uint8_t *data, size_t n, void *user)
{
    struct call *c = nghttp2_session_get_stream_user_data(h2, id);
    (void)flags, (void)user;
    if (c)
        message_take(&c->in, c->number, data, n);
    return 0;
}

static enum body judge(const struct call *c)
{
    if (c->in.got == 0)
        return NO_BODY;
    return message_is_whole(&c->in) && (c->in.got == c->size || c->in.got == SHORT)
               ? OWN
               : OTHER;
}

static void end(struct call *c, enum how how)
{
    struct result *r = c->result;
    r->how = (uint8_t)how;
    r->took_ms = (int32_t)(now_ms() - r->began_ms);
    r->body = (uint8_t)judge(c);
    c->caller->open--;
    n_left--;
    free(c);
}

/* Bide has certainly not begun with it: that is as if it had not been asked. */
static void ask_again(struct call *c)
{
    n_refused++;
    again[n_again++] = c->number;
    c->caller->open--;
    free(c);
}

static int on_close(nghttp2_session *h2, int32_t id, uint32_t code, void *user)
{
    struct call *c = nghttp2_session_get_stream_user_data(h2, id);
    (void)user;
    if (!c)
        return 0;
    nghttp2_session_set_stream_user_data(h2, id, NULL);
    if (code == NGHTTP2_REFUSED_STREAM) {
        ask_again(c);
        return 0;
    }
    if (code != 0)
        c->result->reset = (int32_t)code;
    end(c, c->cancelled ? CANCELLED_IT : ENDED);
    return 0;
}

static void set_callbacks(void)
{
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                              on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
}

/* ===== connections ===== */

static void open_one(struct caller *who)
{
    const nghttp2_settings_entry none = { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&target, sizeof target) < 0)
        die("connect");
    if (nghttp2_session_client_new(&who->wire.h2, callbacks, who) != 0)
        die("nghttp2");
    who->open = 0;
    who->to_cancel = 0;
    wire_init(&who->wire, fd, epoll);
    nghttp2_submit_settings(who->wire.h2, 0, &none, 1);
}

/* Those that it has open are lost: nghttp2 tells of none of them. */
static void lose(struct caller *who)
{
    nghttp2_session *h2 = who->wire.h2;
    int32_t end_id = (int32_t)nghttp2_session_get_next_stream_id(h2);
    for (int32_t id = 1; id < end_id; id += 2) {
        struct call *c = nghttp2_session_get_stream_user_data(h2, id);
        if (c)
            end(c, LOST);
    }
}

static void cancel(struct caller *who)
{
    struct call *c =
        nghttp2_session_get_stream_user_data(who->wire.h2, who->to_cancel);
    if (c) {
        c->cancelled = true;
        nghttp2_submit_rst_stream(who->wire.h2, 0, who->to_cancel,
                                  NGHTTP2_CANCEL);
    }
    who->to_cancel = 0;
}

/* One that bide ends, or has ended, makes room for another. */
static void tend(struct caller *who, bool fine)
{
    if (who->to_cancel && fine)
        cancel(who);
    if (fine) {
        fill(who);
        fine = wire_push(&who->wire);
    }
    bool useless = who->open == 0 &&
                   !nghttp2_session_check_request_allowed(who->wire.h2);
    if (fine && !useless)
        return;
    lose(who);
    wire_done(&who->wire);
    open_one(who);
    fill(who);
    wire_push(&who->wire);
}

static void run(struct caller *all, unsigned n)
{
    struct epoll_event ready[BATCH];
    for (unsigned i = 0; i < n; i++) {
        open_one(&all[i]);
        fill(&all[i]);
        wire_push(&all[i].wire);
    }
    while (n_left > 0) {
        int got = epoll_wait(epoll, ready, BATCH, PATIENCE_MS);
        if (got == 0)
            return; /* some are open still */
        for (int i = 0; i < got; i++) {
            struct caller *who = ready[i].data.ptr;
            bool reset, fine = wire_pull(&who->wire, &reset);
            tend(who, fine);
        }
    }
}

/* ===== the report ===== */

static void print(unsigned long i)
{
    static const char *const bodies[] = { "none", "own", "other" };
    const struct result *r = &results[i];
    char status[8] = "-", reset[12] = "-";
    if (r->how == ENDED && r->status == 0 && r->body == OWN &&
        r->reset == NONE && r->attempts == 1 && r->http == 200)
        return;
    if (r->status != NONE)
        snprintf(status, sizeof status, "%d", r->status);
    if (r->reset != NONE)
        snprintf(reset, sizeof reset, "%d", r->reset);
    printf("%lu %s %d %s %u %s %s %lld %d\n", i,
           r->how == OPEN           ? "open"
           : r->how == LOST         ? "lost"
           : r->how == CANCELLED_IT ? "cancelled"
                                    : status,
           r->http, reset, r->attempts, r->reason[0] ? r->reason : "-",
           bodies[r->body], (long long)r->began_ms, r->took_ms);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "calls-client PORT CALLS CONNECTIONS AT_ONCE\n");
        return 2;
    }
    target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    target.sin_port = htons((unsigned short)atoi(argv[1]));
    n_left = n_calls = strtoul(argv[2], NULL, 10);
    unsigned connections = (unsigned)atoi(argv[3]);
    at_once = (unsigned)atoi(argv[4]);
    signal(SIGPIPE, SIG_IGN);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    results = calloc(n_calls, sizeof *results);
    again = calloc((size_t)connections * at_once + 1, sizeof *again);
    struct caller *all = calloc(connections, sizeof *all);
    if (epoll < 0 || !results || !again || !all)
        die("start");
    set_callbacks();
    run(all, connections);
    for (unsigned i = 0; i < connections; i++)
        wire_done(&all[i].wire);
    free(all);
    for (unsigned long i = 0; i < n_calls; i++)
        print(i);
    printf("asked=%lu open=%lu again=%lu\n", n_calls, n_left, n_refused);
    return 0;
}
