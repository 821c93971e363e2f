/* bide demo: the servers, one for each fleet, following the timetable
 * (servers.c); sockets and HTTP of one server (origin.c). */
#ifndef BIDE_CMD_DEMO_SERVERS_H
#define BIDE_CMD_DEMO_SERVERS_H

#include <stdbool.h>

#include "cmd/demo/desk.h"
#include "cmd/demo/plan.h"

struct demo;
struct demo_fleet;

/* Threads: owned. */
struct demo_origin {
    struct http_server server;
    struct demo_fleet *fleet;
    struct demo_desk desk;
};

/* All four, in one thread. Threads: owned. */
struct demo_servers {
    struct net_loop loop;
    struct demo *demo;
    struct net_timer turn; /* of the timetable */
    struct demo_origin origins[DEMO_FLEETS];
};

/* Listens on four ports of loopback. False, and errno. */
bool demo_servers_init(struct demo_servers *s, struct demo *demo);
void demo_servers_run(struct demo_servers *s);
void demo_servers_done(struct demo_servers *s);

/* One of them: listens on a free port; false, and errno. A crash closes all
 * connections at the same time. */
bool demo_origin_listen(struct demo_origin *o);
void demo_origin_crash(struct demo_origin *o);

/* Sends the desk's response. */
void demo_answer(struct http_conn *c, int status);

#endif
