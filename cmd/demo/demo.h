/* bide demo: a real outage on loopback, met by four ways to retry.
 *
 *   plan.c    the timetable, and the four policies
 *   tally.c   counters in slots of a tenth of a second
 *   servers.c the servers, one for each fleet, following the timetable
 *   origin.c  one server: sockets and HTTP
 *   desk.c    how a server processes requests: workers and a queue
 *   fleet.c   the clients; the engine runs each call
 *   wire.c    one attempt of a client on its connection
 *   dashboard.c  the dashboard
 *   result.c  the figures, and a sentence that sums them up
 *   view.c    animated charts on a terminal
 *   print.c   lines where there is no terminal; the table; JSON
 *   stage.c   sets everything up and tears it down
 *   main.c    flags, signals and output
 *
 * There are three threads: one for the servers, one for the clients, and one
 * for output. They share only the tally. */
#ifndef BIDE_CMD_DEMO_DEMO_H
#define BIDE_CMD_DEMO_DEMO_H

#include <stdatomic.h>
#include <stdint.h>

#include "bide/dep.h"
#include "cmd/demo/plan.h"
#include "cmd/demo/tally.h"
#include "net/address.h"

struct demo;

/* A fleet and its own origin. Threads: immutable, except the tally and dep,
 * which are shared. */
struct demo_fleet {
    struct demo *demo;
    unsigned number;
    bide_dep *dep;
    struct net_address origin; /* where it listens */
    struct demo_tally tally;
};

/* Threads: immutable once they run, except `stop`. */
struct demo {
    struct demo_plan plan;
    int64_t start_ns;
    struct demo_fleet fleets[DEMO_FLEETS];
    struct bide__ring *ring; /* of the clients' thread; NULL: no dashboard */
    atomic_bool stop;
};

#endif
