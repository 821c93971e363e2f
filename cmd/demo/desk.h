/* bide demo: what a server does with a request, by workers and a queue. */
#ifndef BIDE_CMD_DEMO_DESK_H
#define BIDE_CMD_DEMO_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/demo/plan.h"
#include "net/http/server.h"

/* A request that is worked on. It is worked on to its end, also if nobody waits
 * for the answer any more: that is what servers do. Threads: owned. */
struct demo_worker {
    struct net_timer timer; /* first: until it is done */
    struct demo_desk *desk;
    struct http_conn *request; /* NULL: none */
};

/* What one origin does with its requests. Threads: owned. */
struct demo_desk {
    struct net_loop *loop;
    enum demo_phase phase;
    unsigned busy;   /* workers */
    unsigned queued; /* requests, from `first` on, around the end at `size` */
    unsigned first, size;
    struct http_conn **queue;
    struct demo_worker workers[DEMO_WORKERS];
    bide_rng_seeded luck;
    bide_rng rng;
};

/* All zero before. False: no memory. */
bool demo_desk_init(struct demo_desk *d, struct net_loop *loop, unsigned size,
                    uint64_t seed);

/* A request has come. It is answered now or later. */
void demo_desk_take(struct demo_desk *d, struct http_conn *c);
void demo_desk_open(struct demo_desk *d);  /* the workers begin */
void demo_desk_clear(struct demo_desk *d); /* a crash: nothing is left */
void demo_desk_done(struct demo_desk *d);

#endif
