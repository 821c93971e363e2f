/* Knocking at endpoints that accept no connections. knock.h explains it. */
#include "proxy/back/knock.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/list.h"
#include "net/address.h"
#include "net/loop.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/upstream.h"
#include "proxy/generation.h"
#include "proxy/worker.h"

#define FIRST_NS   (20 * BIDE_MILLISECOND)
#define LONGEST_NS (250 * BIDE_MILLISECOND)

struct knock {
    struct net_io io;       /* first: events refer to it. fd -1: not trying */
    struct net_grave grave;
    struct net_timer timer; /* to try, and to give a try up */
    struct knock *next;     /* of its worker */
    struct worker *worker;
    struct endpoint *endpoint;
    int64_t since_ns;
    uint32_t turn; /* of its addresses */
};

static int64_t now_of(const struct knock *k)
{
    return k->worker->loop.now_ns;
}

/* ===== a try ===== */

static void hang_up(struct knock *k)
{
    if (k->io.fd >= 0)
        net_io_close(&k->io);
}

/* About four times in the time that has passed. */
static void try_later(struct knock *k)
{
    int64_t wait = (now_of(k) - k->since_ns) / 4;
    if (wait < FIRST_NS)
        wait = FIRST_NS;
    if (wait > LONGEST_NS)
        wait = LONGEST_NS;
    wait -= (int64_t)(worker_random(k->worker) % (uint64_t)(wait / 4));
    hang_up(k);
    net_timer_set(&k->worker->loop, &k->timer, net_after(now_of(k), wait));
}

static void bury(void *user, struct net_grave *grave)
{
    (void)user;
    free(bide__container_of(grave, struct knock, grave));
}

static void end(struct knock *k)
{
    struct knock **at = &k->worker->knocks;
    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
    net_timer_cancel(&k->worker->loop, &k->timer);
    hang_up(k);
    net_loop_bury(&k->worker->loop, &k->grave, bury);
}

static void ready(struct net_io *io, unsigned events)
{
    struct knock *k = (struct knock *)io;
    if (!(events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
        return;
    if (net_connect_result(io->fd) != 0) {
        try_later(k);
        return;
    }
    endpoint_found(k->endpoint, now_of(k));
    end(k);
}

/* The timer: a try is due, or has taken too long. */
static void fire(struct net_timer *t)
{
    struct knock *k = bide__container_of(t, struct knock, timer);
    struct net_loop *loop = &k->worker->loop;
    struct net_address to;
    int fd = -1;

    if (k->io.fd < 0 && endpoint_address(k->endpoint, k->turn++, &to))
        fd = net_connect(&to);
    if (fd < 0) {
        try_later(k);
        return;
    }
    if (net_loop_add(loop, &k->io, fd) < 0) {
        close(fd);
        try_later(k);
        return;
    }
    net_timer_set(loop, t,
                  net_after(loop->now_ns,
                            k->endpoint->upstream->conf.connect_timeout_ns));
}

/* ===== beginning and end ===== */

void knock_begin(struct worker *w, struct endpoint *e)
{
    struct knock *k = NULL;
    if (e->upstream->n_endpoints == 1 || !endpoint_missed(e))
        return;
    if (generation_has(w->generation, e->upstream))
        k = calloc(1, sizeof *k);
    if (!k) {
        endpoint_found(e, w->loop.now_ns);
        return;
    }
    k->io = (struct net_io){ .ready = ready, .fd = -1 };
    k->timer.fire = fire;
    k->worker = w;
    k->endpoint = e;
    k->since_ns = w->loop.now_ns;
    k->next = w->knocks;
    w->knocks = k;
    try_later(k);
}

void knock_follow(struct worker *w)
{
    struct knock *next;
    for (struct knock *k = w->knocks; k; k = next) {
        next = k->next;
        if (!generation_has(w->generation, k->endpoint->upstream))
            end(k);
    }
}

void knock_end_all(struct worker *w)
{
    while (w->knocks)
        end(w->knocks);
}
