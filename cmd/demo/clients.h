/* bide demo: the clients. The engine runs each call (fleet.c); each attempt
 * uses the client's connection (wire.c). */
#ifndef BIDE_CMD_DEMO_CLIENTS_H
#define BIDE_CMD_DEMO_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/call.h"
#include "bide/run.h"
#include "net/http/client.h"

struct demo;
struct demo_fleet;

enum demo_client_state { DEMO_THINKS, DEMO_WAITS, DEMO_TRIES };

/* One client: thinks, makes a call, thinks. Threads: owned. */
struct demo_client {
    struct net_timer timer; /* must be first; runs while it waits */
    struct http_client http; /* its connection is kept alive between calls */
    struct demo_clients *all;
    struct demo_fleet *fleet;
    enum demo_client_state state;
    uint32_t attempt;                      /* the current or last one */
    bide_reason why;                       /* its reason */
    int64_t call_ns, attempt_ns;           /* when they began */
    int64_t failed_ns, asked_ns, slept_ns; /* the wait before it */
    bide_outcome last;
    bide_call call;
    char in[768];
};

/* All clients, in one thread. Threads: owned. */
struct demo_clients {
    struct net_loop loop;
    struct demo *demo;
    struct net_timer look; /* checks whether it is time to end */
    bide_rng_seeded luck;
    bide_rng rng;
    struct demo_client *list;
    size_t n;
};

bool demo_clients_init(struct demo_clients *all, struct demo *demo);
void demo_clients_run(struct demo_clients *all);
void demo_clients_done(struct demo_clients *all);

/* Starts an attempt; false if it failed at once. Otherwise its outcome goes to
 * demo_attempt_ended() later. */
void demo_wire_init(struct demo_client *c);
bool demo_wire_send(struct demo_client *c, int64_t until_ns);
void demo_attempt_ended(struct demo_client *c, const bide_response *r);

#endif
