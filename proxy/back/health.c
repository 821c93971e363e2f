/* Health checks: one request, on a connection of its own, now and then. */
#include "proxy/back/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/address.h"
#include "net/conn.h"
#include "net/http1.h"
#include "net/tls.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/link.h"
#include "proxy/back/upstream.h"
#include "proxy/generation.h"
#include "proxy/worker.h"

enum { HEAD_MOST = HTTP1_HEAD_BYTES, LOOK_AGAIN_MS = 100 };

enum health_phase { RESTING, CONNECTING, SHAKING, SENDING, READING };

struct health {
    struct net_conn conn; /* first: events name it */
    struct net_grave grave;
    struct net_timer timer; /* to begin, or to give up */
    struct health *next;    /* of its worker */
    struct worker *worker;
    struct endpoint *endpoint;
    uint8_t phase;
    uint32_t good, bad; /* in a row */
    uint32_t turn;      /* of its addresses */
    size_t out_len, out_at, in_len;
    struct http1_head head;
    struct http1_field fields[HTTP1_FIELDS];
    char out[1024], in[HEAD_MOST];
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

/* A tenth more or less: the fleet's checks shall not come together. */
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
    net_conn_close(&h->conn);
    h->phase = RESTING;
    note(h, good);
    net_timer_set(&h->worker->loop, &h->timer, next_time(h));
}

/* ===== a check ===== */

static void expect_head(struct health *h)
{
    http1_response_init(&h->head, h->fields, HTTP1_FIELDS, HEAD_MOST, HTTP1_GET,
                        false);
}

/* Takes interim answers off; what http1_parse() says of the head that follows.
 */
static int parse(struct health *h)
{
    int rc;
    while ((rc = http1_parse(&h->head, h->in, h->in_len)) > 0 &&
           h->head.status < 200) {
        h->in_len -= (size_t)rc;
        memmove(h->in, h->in + rc, h->in_len);
        expect_head(h);
    }
    return rc;
}

static void read_answer(struct health *h)
{
    while (net_can_read(&h->conn)) {
        ssize_t n =
            net_read(&h->conn, h->in + h->in_len, HEAD_MOST - h->in_len);
        if (n == NET_AGAIN)
            return;
        if (n <= 0) {
            over(h, false);
            return;
        }
        h->in_len += (size_t)n;
        int rc = parse(h);
        if (rc == 0)
            continue;
        over(h, rc > 0 && h->head.status >= conf_of(h)->status_min &&
                    h->head.status <= conf_of(h)->status_max);
        return;
    }
}

static void send_question(struct health *h)
{
    while (h->out_at < h->out_len) {
        ssize_t n =
            net_write(&h->conn, h->out + h->out_at, h->out_len - h->out_at);
        if (n == NET_AGAIN)
            return;
        if (n < 0) {
            over(h, false);
            return;
        }
        h->out_at += (size_t)n;
    }
    h->phase = READING;
    read_answer(h);
}

static void shake(struct health *h)
{
    const char *why;
    int rc = h->conn.layer->handshake(&h->conn, &why);
    if (rc == NET_ERROR)
        over(h, false);
    if (rc != 1)
        return;
    h->phase = SENDING;
    send_question(h);
}

static void connected(struct health *h)
{
    struct endpoint *e = h->endpoint;
    const char *name = e->upstream->conf.tls.server_name;
    if (net_connect_result(h->conn.io.fd) != 0 ||
        !proxied_health(h->conn.io.fd, e)) {
        over(h, false);
        return;
    }
    h->phase = e->tls ? SHAKING : SENDING;
    if (!e->tls)
        send_question(h);
    else if (net_tls_connect(&h->conn, e->upstream->tls,
                             name ? name : e->host) < 0)
        over(h, false);
    else
        shake(h);
}

static void ready(struct net_io *io, unsigned events)
{
    struct health *h = (struct health *)io;
    net_conn_note(&h->conn, events);
    switch (h->phase) {
    case CONNECTING:
        if (h->conn.writable)
            connected(h);
        break;
    case SHAKING:
        shake(h);
        break;
    case SENDING:
        send_question(h);
        break;
    case READING:
        read_answer(h);
        break;
    default:
        break;
    }
}

static void begin(struct health *h)
{
    struct net_address to;
    if (endpoint_is_pending(h->endpoint)) { /* that is no failure yet */
        net_timer_set(&h->worker->loop, &h->timer,
                      now_of(h) + LOOK_AGAIN_MS * BIDE_MILLISECOND);
        return;
    }
    int fd =
        endpoint_address(h->endpoint, h->turn++, &to) ? net_connect(&to) : -1;
    struct net_conn fresh = { .io = { ready, -1 } };

    h->conn = fresh;
    h->phase = CONNECTING;
    h->out_at = h->in_len = 0;
    expect_head(h);
    if (fd < 0 || net_loop_add(&h->worker->loop, &h->conn.io, fd) < 0) {
        if (fd >= 0)
            close(fd);
        over(h, false);
        return;
    }
    net_timer_set(&h->worker->loop, &h->timer,
                  net_after(now_of(h), conf_of(h)->timeout_ns));
}

static void fire(struct net_timer *t)
{
    struct health *h =
        (struct health *)((char *)t - offsetof(struct health, timer));
    if (h->phase == RESTING)
        begin(h);
    else
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
    h->conn.io.fd = -1;
    h->timer.fire = fire;
    h->out_len = (size_t)snprintf(h->out, sizeof h->out,
                                  "GET %s HTTP/1.1\r\nHost: %s\r\n"
                                  "User-Agent: bide-health\r\n"
                                  "Connection: close\r\n\r\n",
                                  c->path, c->host ? c->host : e->authority);
    if (h->out_len >= sizeof h->out) {
        free(h);
        return NULL;
    }
    net_timer_set(&w->loop, &h->timer, w->loop.now_ns);
    return h;
}

static void bury(void *user, struct net_grave *grave)
{
    (void)user;
    free((char *)grave - offsetof(struct health, grave));
}

void health_free(struct health *h)
{
    net_timer_cancel(&h->worker->loop, &h->timer);
    net_conn_close(&h->conn);
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

void health_follow(struct worker *w)
{
    drop_strangers(w);
    for (size_t i = 0; i < w->generation->n_upstreams; i++) {
        struct upstream *u = w->generation->upstreams[i];
        for (unsigned e = 0; u->conf.health.path && e < u->n_endpoints; e++) {
            struct endpoint *ep = &u->endpoints[e];
            struct health *h = is_checked(w, ep) ? NULL : health_new(w, ep);
            if (!h)
                continue;
            h->next = w->checks;
            w->checks = h;
        }
    }
}

void health_end_all(struct worker *w)
{
    while (w->checks) {
        struct health *h = w->checks;
        w->checks = h->next;
        health_free(h);
    }
}
