/* What libcurl does behind one's back: it sends a request again when a kept
 * connection breaks, when it is to log in, when an expectation fails. Counted
 * at the server: a POST that may have been processed gets there once. */
#include <poll.h>
#include <pthread.h>

#include "common.h"

/* ===== a server of a few lines =====
 *
 * One connection at a time, each handled by `talk`, which is told whether it
 * is the first. */
struct origin {
    int listener, port;
    int posts; /* that were read as a whole */
    int held;  /* a connection that is left alone; -1: none yet */
    void (*talk)(struct origin *o, int fd);
    pthread_t thread;
};

static int listen_on(int *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(fd, 16), 0);
    getsockname(fd, (struct sockaddr *)&at, &len);
    *port = ntohs(at.sin_port);
    return fd;
}

static int connect_to(int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((unsigned short)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return connect(fd, (struct sockaddr *)&at, sizeof at) == 0 ? fd : -1;
}

static void *serve(void *origin)
{
    struct origin *o = origin;
    int fd;
    while ((fd = accept(o->listener, NULL, NULL)) >= 0) {
        o->talk(o, fd);
        close(fd);
    }
    return NULL;
}

static void origin_start(struct origin *o,
                         void (*talk)(struct origin *o, int fd))
{
    *o = (struct origin){ .held = -1, .talk = talk };
    o->listener = listen_on(&o->port);
    assert_int_equal(pthread_create(&o->thread, NULL, serve, o), 0);
}

static void origin_stop(struct origin *o)
{
    shutdown(o->listener, SHUT_RDWR);
    pthread_join(o->thread, NULL);
    close(o->listener);
    if (o->held >= 0)
        close(o->held);
}

/* Reads a request whose body is "pay=1"; false at the end. */
static bool read_post(struct origin *o, int fd)
{
    char text[4096] = "";
    size_t len = 0;
    ssize_t n;
    while (len < sizeof text - 1 &&
           (n = read(fd, text + len, sizeof text - 1 - len)) > 0) {
        len += (size_t)n;
        text[len] = '\0';
        if (strstr(text, "\r\n\r\npay=1")) {
            o->posts++;
            return true;
        }
    }
    return false;
}

static void answer(int fd)
{
    dprintf(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

static void pay(struct exchange *x, int port)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    exchange_to(x, url);
    curl_easy_setopt(x->easy, CURLOPT_POSTFIELDS, "pay=1");
}

/* ===== a kept connection breaks, and no other is to be had ===== */

static void answer_once_and_be_gone(struct origin *o, int fd)
{
    if (read_post(o, fd))
        answer(fd);
    if (read_post(o, fd))
        shutdown(o->listener, SHUT_RDWR); /* from now on it refuses */
}

/* The refusal is of the connection that libcurl wanted for sending the request
 * again. It says nothing of the one that had been sent. */
static void resend_that_is_refused_proves_nothing(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct origin o;
    struct exchange x;
    origin_start(&o, answer_once_and_be_gone);
    pay(&x, o.port);
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts), CURLE_OK);
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_NOT_IDEMPOTENT);
    assert_int_equal(x.result.attempts, 1);
    assert_int_equal(x.result.code, CURLE_GOT_NOTHING);
    origin_stop(&o);
    assert_int_equal(o.posts, 2);
    exchange_done(&x);
    bide_dep_free(dep);
}

/* ===== through a proxy ===== */

static void relay(int a, int b)
{
    struct pollfd p[2] = { { a, POLLIN, 0 }, { b, POLLIN, 0 } };
    char data[4096];
    for (;;) {
        poll(p, 2, -1);
        for (int i = 0; i < 2; i++) {
            if (!p[i].revents)
                continue;
            ssize_t n = read(p[i].fd, data, sizeof data);
            if (n <= 0 || write(p[1 - i].fd, data, (size_t)n) != n)
                return;
        }
    }
}

/* CONNECT, to wherever it is wanted on this machine. */
static void tunnel(struct origin *o, int fd)
{
    char head[4096] = "";
    size_t len = 0;
    ssize_t n;
    int port = 0;
    (void)o;
    while (!strstr(head, "\r\n\r\n") && len < sizeof head - 1 &&
           (n = read(fd, head + len, sizeof head - 1 - len)) > 0)
        len += (size_t)n;
    if (sscanf(head, "CONNECT 127.0.0.1:%d", &port) != 1)
        return;
    int to = connect_to(port);
    if (to < 0) {
        dprintf(fd, "HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n");
        return;
    }
    dprintf(fd, "HTTP/1.1 200 Go on\r\nVia: test\r\n\r\n");
    relay(fd, to);
    close(to);
}

static void through(struct exchange *x, const struct origin *proxy)
{
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d", proxy->port);
    curl_easy_setopt(x->easy, CURLOPT_PROXY, url);
    curl_easy_setopt(x->easy, CURLOPT_NOPROXY, "");
    curl_easy_setopt(x->easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
}

/* The answer to CONNECT is none to the request. */
static void resend_through_a_tunnel_is_not_let(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    struct origin proxy;
    struct exchange x;
    origin_start(&proxy, tunnel);
    exchange_init(&x, "200,reset,200;body=again");
    curl_easy_setopt(x.easy, CURLOPT_POSTFIELDS, "pay=1");
    through(&x, &proxy);
    assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts), CURLE_OK);
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(requests(&x), 2);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_NOT_IDEMPOTENT);
    assert_int_equal(x.result.code, CURLE_GOT_NOTHING);
    exchange_done(&x);
    origin_stop(&proxy);
    bide_dep_free(dep);
}

static const char *refusal; /* of the proxy, to CONNECT */

static void refuse(struct origin *o, int fd)
{
    char head[4096];
    if (read(fd, head, sizeof head) > 0)
        o->posts++;
    dprintf(fd, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", refusal);
}

/* The request was not sent; whether it is worth another attempt, the proxy
 * says. */
static void tunnel_that_is_refused_is_judged_by_the_answer(void **state)
{
    (void)state;
    static const struct {
        const char *refusal;
        bide_reason reason;
        int attempts;
    } answers[] = {
        { "403 No", BIDE_BECAUSE_PERMANENT, 1 },
        { "407 Who", BIDE_BECAUSE_PERMANENT, 1 },
        { "503 Later", BIDE_BECAUSE_ATTEMPTS, 4 },
        { "502 Not there", BIDE_BECAUSE_ATTEMPTS, 4 },
        { "503 Later\r\nX-Bide-Retry: no", BIDE_BECAUSE_SERVER_REFUSED, 1 },
        { "503 Later\r\nRetry-After: 9999", BIDE_BECAUSE_HINT_TOO_LONG, 1 },
    };
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    for (size_t i = 0; i < COUNT(answers); i++) {
        struct origin proxy;
        struct exchange x;
        refusal = answers[i].refusal;
        origin_start(&proxy, refuse);
        exchange_init(&x, "200");
        curl_easy_setopt(x.easy, CURLOPT_POSTFIELDS, "pay=1");
        through(&x, &proxy);
        bide_curl_perform(dep, x.easy, &x.opts);
        origin_stop(&proxy);
        if (x.result.reason != answers[i].reason ||
            proxy.posts != answers[i].attempts || requests(&x) > 0)
            fail_msg("%s: %s, %d asked", refusal,
                     bide_reason_name(x.result.reason), proxy.posts);
        assert_int_equal(x.result.status, 0);
        exchange_done(&x);
    }
    bide_dep_free(dep);
}

/* ===== a hedge that gets through before the original ===== */

static void hold_the_first_and_tunnel(struct origin *o, int fd)
{
    if (o->held < 0)
        o->held = dup(fd);
    else
        tunnel(o, fd);
}

/* What was learned of the request must outlive the copy of the handle that it
 * was learned from. AddressSanitizer tells. */
static void regress_hedge_that_is_gone_leaves_the_method(void **state)
{
    (void)state;
    static const bide_rule rule = { .method = "REPORT",
                                    .faults = 1u << BIDE_FAULT_TIMEOUT,
                                    .cls = BIDE_PERMANENT };
    bide_policy_conf conf = quick();
    conf.attempts = 1;
    conf.attempt_timeout_ns = 300 * MS; /* of the one that is held */
    conf.hedge.max = 1;
    conf.hedge.after_ns = MS;
    conf.hedge.extra_load = 1;
    conf.rules = &rule;
    conf.n_rules = 1;
    bide_dep *dep = dep_of(&conf);
    struct origin proxy;
    struct exchange x;
    origin_start(&proxy, hold_the_first_and_tunnel);
    exchange_init(&x, "503");
    curl_easy_setopt(x.easy, CURLOPT_CUSTOMREQUEST, "REPORT");
    through(&x, &proxy);
    x.opts.op.idempotent = true;
    bide_curl_perform(dep, x.easy, &x.opts);
    assert_int_equal(x.result.attempts, 2);
    assert_int_equal(requests(&x), 1);
    assert_int_equal(x.result.reason, BIDE_BECAUSE_PERMANENT);
    exchange_done(&x);
    origin_stop(&proxy);
    bide_dep_free(dep);
}

/* ===== answers that libcurl follows with another request ===== */

#define LOG_IN "401;h=WWW-Authenticate:Digest+realm=%22r%22%2C+nonce=%221%22"

/* What it does of its own after an answer is part of the attempt. What is lost
 * after that is lost as anything else. */
static const struct row {
    const char *script;
    unsigned long auth;
    const char *field;
    bool fails; /* CURLOPT_FAILONERROR */
    bool get;
    bide_reason reason;
    uint32_t attempts;
    int requests;
} rows[] = {
    { LOG_IN ",200", CURLAUTH_DIGEST, NULL, false, false, BIDE_BECAUSE_SUCCESS,
      1, 2 },
    { LOG_IN ",200", CURLAUTH_ANY, NULL, false, false, BIDE_BECAUSE_SUCCESS, 1,
      2 },
    { LOG_IN ",reset,200", CURLAUTH_DIGEST, NULL, false, false,
      BIDE_BECAUSE_NOT_IDEMPOTENT, 1, 2 },
    { LOG_IN ",close,200", CURLAUTH_ANY, NULL, false, false,
      BIDE_BECAUSE_NOT_IDEMPOTENT, 1, 2 },
    { LOG_IN ",503,200", CURLAUTH_ANY, NULL, false, false,
      BIDE_BECAUSE_NOT_IDEMPOTENT, 1, 2 },
    { "reset,200", CURLAUTH_DIGEST, NULL, false, false,
      BIDE_BECAUSE_NOT_IDEMPOTENT, 1, 1 },
    { "417;early,200", CURLAUTH_BASIC, "Expect: 100-continue", false, false,
      BIDE_BECAUSE_SUCCESS, 1, 2 },
    { "417;early,reset,200", CURLAUTH_BASIC, "Expect: 100-continue", false,
      false, BIDE_BECAUSE_NOT_IDEMPOTENT, 1, 2 },
    { "reset,200", CURLAUTH_BASIC, "Expect: 100-continue", false, false,
      BIDE_BECAUSE_NOT_IDEMPOTENT, 1, 1 },
    { "503,200", CURLAUTH_BASIC, NULL, true, false, BIDE_BECAUSE_NOT_IDEMPOTENT,
      1, 1 },
    { "503,200", CURLAUTH_BASIC, "Idempotency-Key: k", true, false,
      BIDE_BECAUSE_SUCCESS, 2, 2 },
    { LOG_IN ",reset,200", CURLAUTH_DIGEST, NULL, false, true,
      BIDE_BECAUSE_SUCCESS, 2, 3 },
    { LOG_IN ",401,200", CURLAUTH_DIGEST, NULL, false, true,
      BIDE_BECAUSE_PERMANENT, 1, 2 },
    { "503,200", CURLAUTH_BASIC, NULL, true, true, BIDE_BECAUSE_SUCCESS, 2, 2 },
    { "404", CURLAUTH_BASIC, NULL, true, false, BIDE_BECAUSE_PERMANENT, 1, 1 },
};

static void play(const struct row *r, bide_dep *dep, bool kept)
{
    struct exchange x;
    char script[1024];
    snprintf(script, sizeof script, "%s%s", kept ? "200," : "", r->script);
    exchange_init(&x, script);
    if (!r->get)
        curl_easy_setopt(x.easy, CURLOPT_POSTFIELDS, "pay=1");
    if (kept)
        assert_int_equal(bide_curl_perform(dep, x.easy, &x.opts), CURLE_OK);
    curl_easy_setopt(x.easy, CURLOPT_USERPWD, "me:secret");
    curl_easy_setopt(x.easy, CURLOPT_HTTPAUTH, r->auth);
    curl_easy_setopt(x.easy, CURLOPT_FAILONERROR, r->fails ? 1L : 0L);
    if (r->field)
        x.opts.headers = curl_slist_append(NULL, r->field);
    bide_curl_perform(dep, x.easy, &x.opts);
    if (x.result.reason != r->reason || x.result.attempts != r->attempts ||
        requests(&x) != r->requests + kept)
        fail_msg("%s, auth %lx, kept %d: %s, %u attempts, %d requests", script,
                 r->auth, kept, bide_reason_name(x.result.reason),
                 x.result.attempts, requests(&x));
    curl_slist_free_all(x.opts.headers);
    exchange_done(&x);
}

static void resend_after_an_answer_is_part_of_the_attempt(void **state)
{
    (void)state;
    bide_policy_conf conf = quick();
    bide_dep *dep = dep_of(&conf);
    for (size_t i = 0; i < COUNT(rows); i++) {
        play(&rows[i], dep, false);
        play(&rows[i], dep, true);
    }
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resend_that_is_refused_proves_nothing),
        cmocka_unit_test(resend_through_a_tunnel_is_not_let),
        cmocka_unit_test(tunnel_that_is_refused_is_judged_by_the_answer),
        cmocka_unit_test(regress_hedge_that_is_gone_leaves_the_method),
        cmocka_unit_test(resend_after_an_answer_is_part_of_the_attempt),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
