/* bide demo: sets everything up and tears it down. */
#ifndef BIDE_CMD_DEMO_STAGE_H
#define BIDE_CMD_DEMO_STAGE_H

#include <pthread.h>
#include <stdbool.h>

#include "cmd/demo/clients.h"
#include "cmd/demo/dashboard.h"
#include "cmd/demo/demo.h"
#include "cmd/demo/servers.h"

/* Threads: owned. */
struct demo_stage {
    struct demo demo;
    struct demo_servers servers;
    struct demo_clients clients;
    struct demo_dashboard dashboard;
    pthread_t server_thread, client_thread;
    unsigned threads; /* running */
};

enum { DEMO_DAY_S = 86400 }; /* --keep ends after that */

/* Starts everything. False: an error message has been printed. Call
 * demo_stage_done() in any case. */
bool demo_stage_init(struct demo_stage *s, double seconds, bool keep,
                     bool dashboard, const char *listen);
void demo_stage_done(struct demo_stage *s);

#endif
