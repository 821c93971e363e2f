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

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "net/address.h"
#include "net/conn.h"
#include "net/http/client.h"
#include "net/http/server.h"
#include "net/loop.h"
#include "observe/admin/admin.h"

/* ===== the plan ===== */

enum {
    DEMO_FLEETS = 4,
    DEMO_SECONDS = 30, /* a whole timetable */
    DEMO_SHORTEST = 4, /* seconds: under that there are too few clients left */
    DEMO_LONGEST = 3600,
    DEMO_WORKERS = 8,
    DEMO_SERVICE_MS = 40, /* a worker's time for a request, on average */
    DEMO_CAPACITY = DEMO_WORKERS * 1000 / DEMO_SERVICE_MS, /* requests/s */
};

/* What happens to the origin, in this order and then again. */
enum demo_phase { DEMO_HEALTHY, DEMO_HANGS, DEMO_ERRORS, DEMO_LOADS };

/* A run of under 30 s is the same in small: shorter times and, in proportion,
 * fewer clients and shorter queues, so that rates and shapes stay as they are.
 * A longer one only has a longer end. Threads: immutable. */
struct demo_plan {
    double scale;      /* 1, or less for a short run */
    int64_t length_ns; /* of the timetable; with --keep it begins anew */
    int64_t hangs_ns, errors_ns, loads_ns, healthy_ns; /* when these begin */
    int64_t think_ns; /* between two calls of a client, on average */
    unsigned clients; /* of each fleet */
    unsigned queue;   /* requests that an origin lets wait */
};

void demo_plan_init(struct demo_plan *plan, double seconds);

/* What the origin does at a time after the start; and when that changes. */
enum demo_phase demo_phase_at(const struct demo_plan *plan, int64_t at_ns);
int64_t demo_next_phase(const struct demo_plan *plan, int64_t at_ns);

/* "errors", and in plain words what it does then. */
const char *demo_phase_name(enum demo_phase phase);
const char *demo_phase_text(enum demo_phase phase);

/* The name of fleet i, and what it does, in a few words. */
const char *demo_fleet_name(unsigned i);
const char *demo_fleet_text(unsigned i);
void demo_policy(bide_policy_conf *conf, unsigned fleet,
                 const struct demo_plan *plan);

/* ===== what happened ===== */

#define DEMO_SLOT_NS (100 * BIDE_MILLISECOND)

enum demo_count {
    DEMO_BEGUN,   /* calls */
    DEMO_SENT,    /* attempts of those */
    DEMO_ARRIVED, /* requests, as the origin saw them */
    DEMO_GOOD,    /* calls that succeeded */
    DEMO_FAILED,  /* calls that did not */
    DEMO_COUNTS
};

struct demo_slot {
    _Atomic uint32_t n[DEMO_COUNTS];
};

/* Counts by slot; what comes after the last one is not counted.
 * Threads: shared. */
struct demo_tally {
    int64_t start_ns;
    size_t n_slots;
    struct demo_slot *slots;
};

bool demo_tally_init(struct demo_tally *t, int64_t start_ns, int64_t length_ns);
void demo_tally_done(struct demo_tally *t);
void demo_tally_add(struct demo_tally *t, enum demo_count what, int64_t now_ns);

/* How many there were in slots `from` to under `to`; and a second, on
 * average. */
uint64_t demo_tally_sum(const struct demo_tally *t, enum demo_count what,
                        size_t from, size_t to);
double demo_tally_rate(const struct demo_tally *t, enum demo_count what,
                       size_t from, size_t to);

/* ===== the whole value ===== */

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

/* ===== the servers ===== */

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

/* Threads: owned. */
struct demo_origin {
    struct http_server server;
    struct demo_fleet *fleet;
    struct demo_desk desk;
};

/* The thread of all four. Threads: owned. */
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

/* One of them: listens on a port that is free; false, and errno. In a crash all
 * who are connected are cut off, at the same moment. */
bool demo_origin_listen(struct demo_origin *o);
void demo_origin_crash(struct demo_origin *o);

/* All zero before. False: no memory. */
bool demo_desk_init(struct demo_desk *d, struct net_loop *loop, unsigned size,
                    uint64_t seed);

/* A request has come. It is answered now or later. */
void demo_desk_take(struct demo_desk *d, struct http_conn *c);
void demo_desk_open(struct demo_desk *d);  /* the workers begin */
void demo_desk_clear(struct demo_desk *d); /* a crash: nothing is left */
void demo_desk_done(struct demo_desk *d);

/* The desk has an answer for it. */
void demo_answer(struct http_conn *c, int status);

/* ===== the clients ===== */

enum demo_client_state { DEMO_THINKS, DEMO_WAITS, DEMO_TRIES };

/* One client: thinks, makes a call, thinks. Threads: owned. */
struct demo_client {
    struct net_timer timer; /* first: of a state that waits */
    struct http_client http; /* its connection is kept from call to call */
    struct demo_clients *all;
    struct demo_fleet *fleet;
    enum demo_client_state state;
    uint32_t attempt;                      /* the one that runs, or ran last */
    bide_reason why;                       /* of that */
    int64_t call_ns, attempt_ns;           /* when they began */
    int64_t failed_ns, asked_ns, slept_ns; /* the wait before it */
    bide_outcome last;
    bide_call call;
    char in[768];
};

/* The thread of all. Threads: owned. */
struct demo_clients {
    struct net_loop loop;
    struct demo *demo;
    struct net_timer look; /* whether it is time to end */
    bide_rng_seeded luck;
    bide_rng rng;
    struct demo_client *list;
    size_t n;
};

bool demo_clients_init(struct demo_clients *all, struct demo *demo);
void demo_clients_run(struct demo_clients *all);
void demo_clients_done(struct demo_clients *all);

/* Sends an attempt on its way; false if it failed at once. What becomes of it
 * later goes to demo_attempt_ended(). */
void demo_wire_init(struct demo_client *c);
bool demo_wire_send(struct demo_client *c, int64_t until_ns);
void demo_attempt_ended(struct demo_client *c, const bide_response *r);

/* ===== the dashboard ===== */

/* Threads: owned. */
struct demo_dashboard {
    struct bide__source source;
    struct bide__observed_dep deps[DEMO_FLEETS];
    struct bide__observed observed;
    struct bide__collector *collector;
    struct bide__admin *admin;
    char url[192];
};

/* Serves it at `listen`; NULL: at the usual port, or any other if that is
 * taken. False, and why. */
bool demo_dashboard_start(struct demo_dashboard *w, struct demo *demo,
                      const char *listen, char *why, size_t size);
void demo_dashboard_stop(struct demo_dashboard *w);

/* ===== all that runs ===== */

/* Threads: owned. */
struct demo_stage {
    struct demo demo;
    struct demo_servers servers;
    struct demo_clients clients;
    struct demo_dashboard dashboard;
    pthread_t server_thread, client_thread;
    unsigned threads; /* that run */
};

enum { DEMO_DAY_S = 86400 }; /* that --keep goes on at the most */

/* Starts it all. False, and what is wrong has been printed; what was begun is
 * done away with by demo_stage_done() in any case. */
bool demo_stage_init(struct demo_stage *s, double seconds, bool keep,
                     bool dashboard, const char *listen);
void demo_stage_done(struct demo_stage *s);

/* ===== what came of it ===== */

/* Of one fleet. Threads: owned. */
struct demo_result {
    uint64_t calls, good, failed; /* begun; ended well; ended otherwise */
    uint64_t sent;                /* attempts */
    double seconds;               /* that this is about */
    double goodput;               /* calls a second that succeeded */
    double usual;                 /* the same before the outage */
    double amplification;         /* attempts per call; 0: no calls */
    double peak;      /* requests a second at the origin, in the worst slot */
    double back_s;    /* from the end of the outage until calls succeed again as
                         before; negative: they did not, ... */
    double watched_s; /* ... though that long was looked; 0: it did not end */
};

/* Up to a time after the start, the end of the timetable at the most. */
void demo_result(struct demo_result *ret, const struct demo_fleet *fleet,
                 int64_t until_ns);

/* One sentence of what was seen. */
void demo_seen(const struct demo_result r[DEMO_FLEETS], char *to, size_t size);

/* ===== showing ===== */

/* Draws on a terminal, over what it drew before. Threads: owned. */
struct demo_view {
    const struct demo *demo;
    bool keep;
    int lines; /* that the last picture took */
};

bool demo_view_possible(FILE *out); /* a terminal, and wide enough */
void demo_view_draw(struct demo_view *v, int64_t at_ns);

/* Without a terminal: what this is, then a line now and then. */
void demo_print_head(FILE *out, const struct demo *demo, const char *url);
void demo_print_columns(FILE *out);
void demo_print_line(FILE *out, const struct demo *demo, int64_t at_ns);

void demo_print_table(FILE *out, const struct demo_result r[DEMO_FLEETS]);

/* False: no memory. */
bool demo_print_json(FILE *out, const struct demo *demo,
                     const struct demo_result r[DEMO_FLEETS], bool cut_short);

#endif
