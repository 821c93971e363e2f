/* bide demo: how a server processes requests: workers and a queue. */
#ifndef BIDE_CMD_DEMO_DESK_H
#define BIDE_CMD_DEMO_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/demo/plan.h"
#include "net/http/server.h"

/* A worker with its request. It finishes the request even if the client has
 * given up, as real servers do. Threads: owned. */
struct demo_worker {
    struct net_timer timer; /* must be first; fires when it is done */
    struct demo_desk *desk;
    struct http_conn *request; /* NULL: none */
};

/* The workers and the queue of one origin. Threads: owned. */
struct demo_desk {
    struct net_loop *loop;
    enum demo_phase phase;
    unsigned busy;   /* workers */
    unsigned queued; /* requests, from `first` on, wrapping around at `size` */
    unsigned first, size;
    struct http_conn **queue;
    struct demo_worker workers[DEMO_WORKERS];
    bide_rng_seeded luck;
    bide_rng rng;
};

/* *d must be all zero. False: out of memory. */
bool demo_desk_init(struct demo_desk *d, struct net_loop *loop, unsigned size,
                    uint64_t seed);

/* Takes a request, and answers it now or later. */
void demo_desk_take(struct demo_desk *d, struct http_conn *c);
void demo_desk_open(struct demo_desk *d);  /* the workers start */
void demo_desk_clear(struct demo_desk *d); /* a crash: drops everything */
void demo_desk_done(struct demo_desk *d);

#endif
