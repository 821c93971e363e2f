/* bide demo: a real outage on loopback, and what four ways to retry make of it.
 *
 *   plan.c    the timetable, and the four policies
 *   tally.c   what happened, counted in slots of a tenth of a second
 *   servers.c the servers, one for each fleet, on the timetable
 *   origin.c  one of them: sockets and HTTP
 *   desk.c    what a server does with a request: workers and a queue
 *   fleet.c   the clients: each call is the engine's, begin to end
 *   wire.c    one attempt of a client on its connection
 *   dashboard.c  the dashboard
 *   result.c  the figures, and what was seen, as a sentence
 *   view.c    a picture that moves, on a terminal
 *   print.c   lines where there is none; the table; JSON
 *   stage.c   all that runs: set up, and done away with
 *   main.c    flags, signals, and showing it
 *
 * Three threads: the servers', the clients', and the one that shows. They share
 * the tally and nothing else. */
#ifndef BIDE_CMD_DEMO_DEMO_H
#define BIDE_CMD_DEMO_DEMO_H

#include <stdatomic.h>
#include <stdint.h>

#include "bide/dep.h"
#include "cmd/demo/plan.h"
#include "cmd/demo/tally.h"
#include "net/address.h"

struct demo;

/* A fleet, and the origin that it has to itself. Threads: immutable, but for
 * the tally and dep, which are shared. */
struct demo_fleet {
    struct demo *demo;
    unsigned number;
    bide_dep *dep;
    struct net_address origin; /* where it listens */
    struct demo_tally tally;
};

/* Threads: immutable once they run, but for `stop`. */
struct demo {
    struct demo_plan plan;
    int64_t start_ns;
    struct demo_fleet fleets[DEMO_FLEETS];
    struct bide__ring *ring; /* of the clients' thread; NULL: nobody listens */
    atomic_bool stop;
};

#endif
