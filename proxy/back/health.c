/* Health checks: one request, on a connection of its own, at intervals. */
#include "proxy/back/health.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "net/http/client_loop.h"
#include "net/tls.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/health_http2.h"
#include "proxy/back/link.h"
#include "proxy/back/upstream.h"
#include "proxy/generation.h"
#include "proxy/worker.h"

enum { LOOK_AGAIN_MS = 100 };

struct health {
    struct net_grave grave; /* first */
    struct net_timer timer; /* to begin */
    struct http_client client;
    struct http_request request;
    struct health_http2 http2; /* instead, where that is spoken */
    struct health *next; /* of its worker */
    struct worker *worker;
    struct endpoint *endpoint;
    uint32_t good, bad; /* in a row */
    uint32_t turn;      /* of its addresses */
    char in[HTTP1_HEAD_BYTES + HTTP_CLIENT_ROOM];
};

static const struct bide__proxy_health *conf_of(const struct health *h)
{
    return &h->endpoint->upstream->conf.health;
}

static int64_t now_of(const struct health *h)
{
    return h->worker->loop.now_ns;
}

/* ===== the outcome ===== */

static void note(struct health *h, bool good)
{
    struct endpoint *e = h->endpoint;
    h->good = good ? h->good + 1 : 0;
    h->bad = good ? 0 : h->bad + 1;
    if (h->bad >= conf_of(h)->unhealthy)
        endpoint_eject(e, EJECTED_BY_HEALTH);
    else if (h->good >= conf_of(h)->healthy)
        endpoint_restore(e, EJECTED_BY_HEALTH, now_of(h));
}

/* A tenth more or less: the checks of a fleet must not coincide. */
static int64_t next_time(struct health *h)
{
    int64_t every = conf_of(h)->every_ns;
    int64_t spread = every / 5;
    int64_t luck =
        spread > 0 ? (int64_t)(worker_random(h->worker) % (uint64_t)spread) : 0;
    return net_after(now_of(h), every - spread / 2 + luck);
}

static void over(struct health *h, bool good)
{
    note(h, good);
    net_timer_set(&h->worker->loop, &h->timer, next_time(h));
}

/* ===== a check ===== */

static struct health *of(struct http_client *c)
{
    return bide__container_of(c, struct health, client);
}

static bool is_success(const struct health *h, int status)
{
    return status >= conf_of(h)->status_min && status <= conf_of(h)->status_max;
}

/* By gRPC, or of an upstream that speaks nothing else. */
static bool is_http2(const struct health *h)
{
    return conf_of(h)->grpc ||
           h->endpoint->upstream->conf.protocol == BIDE__SPEAKS_HTTP2;
}

static bool begin(struct net_conn *conn, const struct endpoint *e,
                  enum net_tls_offer offer)
{
    const char *name = e->upstream->conf.tls.server_name;

    return proxied_health(conn->io.fd, e) &&
           (!e->tls || net_tls_connect(conn, e->upstream->tls,
                                       name ? name : e->host, offer) == 0);
}

static bool connected(struct http_client *c)
{
    return begin(&c->conn, of(c)->endpoint, NET_TLS_HTTP1);
}

static struct health *of_http2(struct health_http2 *g)
{
    return bide__container_of(g, struct health, http2);
}

static bool connected_http2(struct health_http2 *g)
{
    return begin(&g->conn, of_http2(g)->endpoint, NET_TLS_HTTP2);
}

static void done_http2(struct health_http2 *g)
{
    struct health *h = of_http2(g);

    over(h, conf_of(h)->grpc ? g->serving : is_success(h, g->status));
}

static void done(struct http_client *c)
{
    struct health *h = of(c);

    over(h, c->fault == BIDE_FAULT_NONE && is_success(h, c->head.status));
}

static void fire(struct net_timer *t)
{
    struct health *h = bide__container_of(t, struct health, timer);
    struct net_address to;

    if (endpoint_is_pending(h->endpoint)) { /* not a failure yet */
        net_timer_set(&h->worker->loop, &h->timer,
                      now_of(h) + LOOK_AGAIN_MS * BIDE_MILLISECOND);
        return;
    }
    h->request.to = endpoint_address(h->endpoint, h->turn++, &to) ? &to : NULL;
    h->request.until_ns = net_after(now_of(h), conf_of(h)->timeout_ns);
    if (is_http2(h)) {
        if (h->request.to)
            health_http2_start(&h->http2, &to, h->request.until_ns);
        else
            over(h, false);
        return;
    }
    if (!http_client_start(&h->client, &h->worker->loop, &h->request))
        over(h, false);
}

/* ===== beginning and end ===== */

struct health *health_new(struct worker *w, struct endpoint *e)
{
    struct health *h = calloc(1, sizeof *h);
    const struct bide__proxy_health *c = &e->upstream->conf.health;
    if (!h)
        return NULL;
    h->worker = w;
    h->endpoint = e;
    h->timer.fire = fire;
    http_client_init(&h->client, h->in, sizeof h->in);
    h->client.done = done;
    h->client.connected = connected;
    health_http2_init(&h->http2, &w->loop, c->host ? c->host : e->authority);
    h->http2.path = c->path;
    if (c->grpc)
        health_http2_service(&h->http2,
                             strcmp(c->grpc, "*") == 0 ? "" : c->grpc);
    h->http2.done = done_http2;
    h->http2.connected = connected_http2;
    h->request = (struct http_request){
        .method = "GET",
        .target = c->path ? c->path : "/",
        .host = c->host ? c->host : e->authority,
        .headers = "User-Agent: bide-health\r\n",
    };
    if (!http_client_fits(&h->client, &h->request)) {
        free(h);
        return NULL;
    }
    net_timer_set(&w->loop, &h->timer, w->loop.now_ns);
    return h;
}

static void bury(void *user, struct net_grave *grave)
{
    (void)user;
    free(grave);
}

void health_free(struct health *h)
{
    net_timer_cancel(&h->worker->loop, &h->timer);
    http_client_close(&h->client);
    health_http2_close(&h->http2);
    net_loop_bury(&h->worker->loop, &h->grave, bury);
}

static bool is_checked(const struct worker *w, const struct endpoint *e)
{
    for (const struct health *h = w->checks; h; h = h->next)
        if (h->endpoint == e)
            return true;
    return false;
}

static void drop_strangers(struct worker *w)
{
    struct health **at = &w->checks;
    while (*at) {
        struct health *h = *at;
        if (generation_has(w->generation, h->endpoint->upstream)) {
            at = &h->next;
            continue;
        }
        *at = h->next;
        health_free(h);
    }
}

bool health_follow(struct worker *w)
{
    bool fine = true;
    drop_strangers(w);
    for (size_t i = 0; i < w->generation->n_upstreams; i++) {
        struct upstream *u = w->generation->upstreams[i];
        const struct bide__proxy_health *c = &u->conf.health;
        for (unsigned e = 0; (c->path || c->grpc) && e < u->n_endpoints; e++) {
            struct endpoint *ep = &u->endpoints[e];
            if (is_checked(w, ep))
                continue;
            struct health *h = health_new(w, ep);
            fine &= h != NULL;
            if (!h)
                continue;
            h->next = w->checks;
            w->checks = h;
        }
    }
    return fine;
}

void health_end_all(struct worker *w)
{
    while (w->checks) {
        struct health *h = w->checks;
        w->checks = h->next;
        health_free(h);
    }
}
