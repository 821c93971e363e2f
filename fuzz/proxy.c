/* proxy.c: a worker of the sidecar between clients and endpoints that do as the
 * input says: send pieces of messages, well-formed or not, stall, close, reset,
 * while time passes by leaps.
 *
 * The first byte chooses the policy. Then each step is a byte: in its low half what
 * is done, in its high half by whom, or which of the texts below. Sockets are real;
 * the clock is not. What clients and endpoints hear is HTTP (proxy_heard.h); in the
 * end everything that was taken has been given back. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/resolve.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/pool.h"
#include "proxy/back/upstream.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"
#include "proxy_heard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARTIES = 4, STEPS = 300 };

/* Clients in the first half, endpoints in the second. */
static struct heard heard[2 * PARTIES];

static int64_t fake_ns; /* never before the real one, by which loops begin */
static int64_t fake_clock(void)
{
    return fake_ns;
}

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
    ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: "
     "100-continue\r\n\r\n"),
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
    ("HTTP/1.1 500 No\r\nContent-Type: "
     "application/problem+json\r\nContent-Length: 2\r\n\r\n{"),
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
    if (how & 64) {
        p->idempotency_key = BIDE_KEY_GENERATE;
        c->paths = BIDE__PATHS_NORMALIZE;
    }
    if (how & 128) {
        c->limits.body_bytes = 400;
        c->headers.bide = false;
    }
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

/* What the state is made from; a reload changes a number in it. */
static bide_policy_conf policy;
static struct bide__proxy_conf conf;
static struct bide__proxy_upstream upstream;
static struct bide__proxy_route route;

/* The endpoints of a state are all to be reached at s->address. */
static void place(const struct stage *s, struct generation *state)
{
    size_t size = sizeof *s->address + sizeof s->address->list[0];
    struct upstream *u = state->upstreams[0];
    for (unsigned i = 0; i < u->n_endpoints; i++) {
        free(u->endpoints[i].addresses);
        u->endpoints[i].addresses = malloc(size);
        memcpy(u->endpoints[i].addresses, s->address, size);
    }
}

/* A state whose endpoints are all reached at our listening socket. */
static struct generation *make_state(struct stage *s, struct generation *old)
{
    char err[256];
    struct generation *made =
        generation_new(&conf, NULL, 1, &s->proxy.hooks, old, err, sizeof err);
    must(made != NULL);
    place(s, made);
    return made;
}

static void raise_curtain(struct stage *s, uint8_t how)
{
    char err[256];

    memset(s, 0, sizeof *s);
    memset(s->client, -1, sizeof s->client);
    memset(s->endpoint, -1, sizeof s->endpoint);
    choose_policy(how, &policy, &conf, &upstream);
    route = (struct bide__proxy_route){ .policy_name = "p", .policy = &policy };
    conf.routes = &route, conf.n_routes = 1;
    conf.upstreams = &upstream, conf.n_upstreams = 1;
    listen_somewhere(s);
    pthread_mutex_init(&s->proxy.lock, NULL);
    s->proxy.workers = s->workers;
    s->proxy.n_workers = 1;
    strcpy(s->proxy.name, "bide-00000000");
    s->proxy.sockets = calloc(1, sizeof *s->proxy.sockets); /* nowhere */
    must(s->proxy.sockets != NULL);
    listen_sockets_ref(s->proxy.sockets);
    s->proxy.generation = make_state(s, NULL);
    s->worker = worker_new(&s->proxy, 0, err, sizeof err);
    must(s->worker != NULL);
    if (fake_ns < s->worker->loop.now_ns)
        fake_ns = s->worker->loop.now_ns;
    s->worker->loop.clock_ns = fake_clock;
}

/* To another upstream in all but its endpoints. */
static void reload(struct stage *s)
{
    struct generation *old = s->proxy.generation;
    upstream.idle++;
    s->proxy.generation = make_state(s, old);
    generation_unref(old);
    worker_tell(s->worker, WORKER_RELOAD);
}

/* ===== what is done ===== */

static void new_endpoint(struct stage *s, int i)
{
    if (s->endpoint[i] >= 0)
        return;
    s->endpoint[i] = accept4(s->listening, NULL, NULL, SOCK_NONBLOCK);
    if (s->endpoint[i] >= 0)
        heard_begin(&heard[PARTIES + i], HTTP1_HEAD_MOST, HEARD_FIELDS);
}

static void turn(struct stage *s)
{
    net_loop_poll(&s->worker->loop);
    for (int i = 0; i < PARTIES; i++)
        new_endpoint(s, i);
    net_loop_poll(&s->worker->loop);
}

static void hang_up(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void new_client(struct stage *s, int who)
{
    int pair[2], least = 1;
    hang_up(&s->client[who]);
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &least, sizeof least);
    s->client[who] = pair[0];
    heard_begin(&heard[who], conf.limits.header_bytes, conf.limits.headers);
    client_new(s->worker, pair[1], &(struct sockaddr){ .sa_family = AF_UNIX });
}

static ssize_t take(int fd, char *bin, size_t size)
{
    return fd < 0 ? -1 : recv(fd, bin, size, MSG_DONTWAIT);
}

static void client_hears(const struct stage *s, int who)
{
    char bin[4096];
    ssize_t n;
    while ((n = take(s->client[who], bin, sizeof bin)) > 0)
        heard_client_hears(&heard[who], bin, (size_t)n);
}

static void endpoint_hears(const struct stage *s, int who)
{
    char bin[4096];
    ssize_t n;
    while ((n = take(s->endpoint[who], bin, sizeof bin)) > 0)
        heard_endpoint_hears(&heard[PARTIES + who], bin, (size_t)n);
}

static void client_says(const struct stage *s, int who, const char *text,
                        size_t len)
{
    int fd = s->client[who];
    ssize_t n = fd < 0 ? -1 : send(fd, text, len, MSG_NOSIGNAL);
    if (n > 0)
        heard_client_says(&heard[who], text, (size_t)n);
}

/* It listens first: what it says answers what it was asked. */
static void endpoint_says(const struct stage *s, int who, const char *text,
                          size_t len)
{
    int fd = s->endpoint[who];
    endpoint_hears(s, who);
    ssize_t n = fd < 0 ? -1 : send(fd, text, len, MSG_NOSIGNAL);
    if (n > 0)
        heard_endpoint_says(&heard[PARTIES + who], text, (size_t)n);
}

/* What is rare. */
static void special(struct stage *s, unsigned n)
{
    if (n == 1)
        reload(s);
    else if (n == 2)
        worker_tell(s->worker, WORKER_DRAIN);
    if (n != 3)
        return;
    s->address->list[0].to.un.sun_path[2] ^= 1; /* refused, or no more */
    place(s, s->proxy.generation);
}

/* Who speaks is who has spoken last, unless a step says otherwise. */
static void step(struct stage *s, uint8_t what, int *who)
{
    unsigned n = what >> 4;
    int *client = &s->client[*who], *endpoint = &s->endpoint[*who];
    switch (what & 15) {
    case 0:
        *who = (int)(n % PARTIES);
        break;
    case 1:
        new_client(s, *who);
        break;
    case 2:
    case 3:
        client_says(s, *who, questions[n], strlen(questions[n]));
        break;
    case 4:
    case 5:
        endpoint_says(s, *who, answers[n], strlen(answers[n]));
        break;
    case 6:
        endpoint_hears(s, *who);
        special(s, n);
        break;
    case 7:
        client_hears(s, *who);
        break;
    case 8:
        hang_up(client);
        break;
    case 9:
        hang_up(endpoint);
        break;
    case 10:
        shutdown(*client, SHUT_WR);
        break;
    case 11:
        shutdown(*endpoint, SHUT_WR);
        break;
    case 12:
        fake_ns += (int64_t)(n + 1) * BIDE_MILLISECOND;
        break;
    case 13:
        fake_ns += (int64_t)(n + 1) * BIDE_SECOND;
        break;
    case 14:
        client_says(s, *who, filler, 37 * n + 1);
        break;
    default:
        endpoint_says(s, *who, filler, 37 * n + 1);
    }
}

/* ===== the end ===== */

static void check(const struct stage *s)
{
    const struct upstream *u = s->proxy.generation->upstreams[0];
    const struct worker *w = s->worker;
    must(w->n_clients == 0 && w->n_exchanges == 0 && w->bufs.n_taken == 0 &&
         w->n_queued == 0 && w->use->n_exchanges == 0);
    for (unsigned i = 0; i < u->n_endpoints; i++) {
        const struct pool *p = &u->endpoints[i].pools[0];
        must(p->in_flight == 0 && p->n_waiting == 0 && bide__list_empty(&p->line));
        must(p->n_links == p->n_idle + p->n_connecting);
    }
}

static void drop_curtain(struct stage *s)
{
    for (int i = 0; i < PARTIES; i++) {
        client_hears(s, i);
        endpoint_hears(s, i);
        hang_up(&s->client[i]);
    }
    turn(s);
    fake_ns += BIDE_HOUR;
    turn(s);
    turn(s);
    check(s);
    for (int i = 0; i < PARTIES; i++)
        hang_up(&s->endpoint[i]);
    close(s->listening);
    worker_free(s->worker);
    generation_unref(s->proxy.generation);
    listen_sockets_unref(s->proxy.sockets);
    pthread_mutex_destroy(&s->proxy.lock);
    free(s->address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stage s;
    int who = 0;

    raise_curtain(&s, size ? data[0] : 0);
    new_client(&s, 0);
    for (size_t i = 1; i < size && i < STEPS; i++) {
        step(&s, data[i], &who);
        turn(&s);
    }
    drop_curtain(&s);
    return 0;
}
