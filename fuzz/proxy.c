/* proxy.c: a worker of the sidecar between clients and endpoints that do as the
 * input says: send pieces of messages, well-formed or not, stall, close, reset,
 * while time passes by leaps.
 *
 * The first byte chooses the policy. Then each step is a byte: in its low half what
 * is done, in its high half by whom, or which of the texts below. Sockets are real;
 * the clock is not. In the end everything that was taken has been given back. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "exchange.h"
#include "pool.h"
#include "proxy.h"
#include "resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARTIES = 4, STEPS = 300 };

static int64_t fake_ns; /* never before the real one, by which loops begin */
static int64_t fake_clock(void) { return fake_ns; }

static void must(int truth)
{
    if (!truth)
        abort();
}

/* ===== what is said ===== */

static const char *const questions[] = {
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n",
    "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n",
    "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
    "5\r\nhello\r\n",
    "0\r\n\r\n",
    "hello",
    "GET /w HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: w\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "0\r\nX-T: 1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nX-Bide-Timeout-Ms: 50\r\n\r\n",
    "GET / HTTP/1.1\r\nHo",
    "st: x\r\n\r\n",
};

static const char *const answers[] = {
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "5\r\nhello\r\n",
    "0\r\n\r\n",
    "HTTP/1.1 503 No\r\nContent-Length: 5\r\n\r\nsorry",
    "HTTP/1.1 503 No\r\nContent-Length: 500\r\n\r\n",
    "HTTP/1.1 200 OK\r\n\r\nuntil the end",
    "HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: w\r\n\r\nw",
    "HTTP/1.1 103 Soon\r\nLink: x\r\n\r\n",
    "HTTP/1.1 204 No\r\n\r\n",
    "HTTP/1.1 500 No\r\nContent-Type: application/problem+json\r\nContent-Length: 2\r\n\r\n{",
    "}",
    "HTTP/1.1 2",
    "00 OK\r\nContent-Length: 0\r\n\r\n",
    "garbage\r\n",
};

static const char filler[600] = { 'x' };

/* ===== the stage ===== */

struct stage {
    struct proxy proxy;
    struct worker *workers[1], *worker;
    struct net_addresses *address;
    int listening;
    int client[PARTIES], endpoint[PARTIES]; /* our ends; -1: none */
};

static struct bide__proxy_endpoint two[] = {
    { "http://127.0.0.1:1", "127.0.0.1", 1, false },
    { "http://127.0.0.1:2", "127.0.0.1", 2, false },
};

static void choose_policy(uint8_t how, bide_policy_conf *p,
                          struct bide__proxy_conf *c,
                          struct bide__proxy_upstream *u)
{
    *p = (bide_policy_conf)BIDE_POLICY_CONF_INIT;
    *c = (struct bide__proxy_conf)BIDE__PROXY_CONF_INIT;
    *u = (struct bide__proxy_upstream)BIDE__PROXY_UPSTREAM_INIT;
    p->attempts = 3;
    p->backoff.base_ns = BIDE_MILLISECOND;
    if (how & 1) {
        p->attempts = 1;
        p->hedge.max = 2;
        p->hedge.after_ns = 5 * BIDE_MILLISECOND;
        p->hedge.extra_load = 1;
    }
    u->name = "up";
    u->endpoints = two;
    u->n_endpoints = how & 2 ? 2 : 1;
    if (how & 4)
        c->limits.replay_bytes = 100;
    if (how & 8) {
        p->limits.in_flight = 1;
        p->limits.queue = 2;
    }
    if (how & 16) {
        u->connections = u->connecting = 1;
        c->limits.header_bytes = 1024;
    }
    if (how & 32)
        p->budget.kind = BIDE_BUDGET_OFF, p->breaker.kind = BIDE_BREAKER_OFF;
    if (how & 64)
        p->idempotency_key = BIDE_KEY_GENERATE;
    if (how & 128)
        c->limits.body_bytes = 400;
}

/* A name in the abstract name space, that the kernel chooses. */
static void listen_somewhere(struct stage *s)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    socklen_t len = sizeof to;
    s->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    must(bind(s->listening, (struct sockaddr *)&to, sizeof(sa_family_t)) == 0 &&
         listen(s->listening, 64) == 0 &&
         getsockname(s->listening, (struct sockaddr *)&to, &len) == 0);
    s->address = calloc(1, sizeof *s->address + sizeof s->address->list[0]);
    s->address->n = 1;
    s->address->list[0].to.un = to;
    s->address->list[0].len = len;
}

static void raise_curtain(struct stage *s, uint8_t how)
{
    static bide_policy_conf p;
    static struct bide__proxy_conf c;
    static struct bide__proxy_upstream u;
    static struct bide__proxy_route r;
    char err[256];

    memset(s, 0, sizeof *s);
    memset(s->client, -1, sizeof s->client);
    memset(s->endpoint, -1, sizeof s->endpoint);
    choose_policy(how, &p, &c, &u);
    r = (struct bide__proxy_route){ .policy_name = "p", .policy = &p };
    c.routes = &r, c.n_routes = 1, c.upstreams = &u, c.n_upstreams = 1;
    listen_somewhere(s);
    pthread_mutex_init(&s->proxy.lock, NULL);
    s->proxy.workers = s->workers;
    s->proxy.n_workers = 1;
    s->proxy.state = state_new(&c, NULL, 1, &s->proxy.hooks, NULL, err,
                               sizeof err);
    must(s->proxy.state != NULL);
    struct upstream *up = s->proxy.state->upstreams[0];
    for (unsigned i = 0; i < up->n_endpoints; i++)
        atomic_store(&up->endpoints[i].addresses, s->address);
    s->worker = worker_new(&s->proxy, 0, err, sizeof err);
    must(s->worker != NULL);
    if (fake_ns < s->worker->loop.now_ns)
        fake_ns = s->worker->loop.now_ns;
    s->worker->loop.clock_ns = fake_clock;
}

/* ===== what is done ===== */

static void turn(struct stage *s)
{
    net_loop_poll(&s->worker->loop);
    for (int i = 0; i < PARTIES; i++)
        if (s->endpoint[i] < 0)
            s->endpoint[i] = accept4(s->listening, NULL, NULL, SOCK_NONBLOCK);
    net_loop_poll(&s->worker->loop);
}

static void hang_up(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void new_client(struct stage *s, int *fd)
{
    int pair[2];
    hang_up(fd);
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    *fd = pair[0];
    client_new(s->worker, pair[1], &(struct sockaddr){ .sa_family = AF_UNIX });
}

static void say(int fd, const char *text, size_t len)
{
    if (fd >= 0)
        (void)!send(fd, text, len, MSG_NOSIGNAL);
}

static void hear(int fd)
{
    char bin[4096];
    while (fd >= 0 && recv(fd, bin, sizeof bin, MSG_DONTWAIT) > 0)
        ;
}

/* Who speaks is who has spoken last, unless a step says otherwise. */
static void step(struct stage *s, uint8_t what, int *who)
{
    unsigned n = what >> 4;
    int *client = &s->client[*who], *endpoint = &s->endpoint[*who];
    switch (what & 15) {
    case 0: *who = (int)(n % PARTIES); break;
    case 1: new_client(s, client); break;
    case 2:
    case 3: say(*client, questions[n], strlen(questions[n])); break;
    case 4:
    case 5: say(*endpoint, answers[n], strlen(answers[n])); break;
    case 6: hear(*endpoint); break;
    case 7: hear(*client); break;
    case 8: hang_up(client); break;
    case 9: hang_up(endpoint); break;
    case 10: shutdown(*client, SHUT_WR); break;
    case 11: shutdown(*endpoint, SHUT_WR); break;
    case 12: fake_ns += (int64_t)(n + 1) * BIDE_MILLISECOND; break;
    case 13: fake_ns += (int64_t)(n + 1) * BIDE_SECOND; break;
    case 14: say(*client, filler, 37 * n + 1); break;
    default: say(*endpoint, filler, 37 * n + 1);
    }
}

/* ===== the end ===== */

static void check(const struct stage *s)
{
    const struct upstream *u = s->proxy.state->upstreams[0];
    const struct worker *w = s->worker;
    must(w->n_clients == 0 && w->n_exchanges == 0 && w->bufs.n_taken == 0 &&
         w->n_queued == 0 && w->era->n_exchanges == 0);
    for (unsigned i = 0; i < u->n_endpoints; i++) {
        const struct pool *p = &u->endpoints[i].pools[0];
        must(p->in_flight == 0 && p->n_waiting == 0 && !p->first);
        must(p->n_links == p->n_idle + p->n_connecting);
    }
}

static void drop_curtain(struct stage *s)
{
    struct upstream *u = s->proxy.state->upstreams[0];
    for (int i = 0; i < PARTIES; i++)
        hang_up(&s->client[i]);
    turn(s);
    fake_ns += BIDE_HOUR;
    turn(s);
    turn(s);
    check(s);
    for (int i = 0; i < PARTIES; i++)
        hang_up(&s->endpoint[i]);
    close(s->listening);
    worker_free(s->worker);
    for (unsigned i = 0; i < u->n_endpoints; i++)
        atomic_store(&u->endpoints[i].addresses, NULL);
    state_unref(s->proxy.state);
    pthread_mutex_destroy(&s->proxy.lock);
    free(s->address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stage s;
    int who = 0;

    raise_curtain(&s, size ? data[0] : 0);
    new_client(&s, &s.client[0]);
    for (size_t i = 1; i < size && i < STEPS; i++) {
        step(&s, data[i], &who);
        turn(&s);
    }
    drop_curtain(&s);
    return 0;
}
