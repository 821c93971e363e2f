/* bide demo: the dashboard. */
#ifndef BIDE_CMD_DEMO_DASHBOARD_H
#define BIDE_CMD_DEMO_DASHBOARD_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/demo/plan.h"
#include "observe/event/observed.h"
#include "observe/event/source.h"

struct demo;

/* Threads: owned. */
struct demo_dashboard {
    struct bide__source source;
    struct bide__observed_dep deps[DEMO_FLEETS];
    struct bide__observed observed;
    struct bide__collector *collector;
    struct bide__admin *admin;
    char url[192];
};

/* Serves it at `listen`; NULL: on the default port, or another one if that is
 * taken. False, and why. */
bool demo_dashboard_start(struct demo_dashboard *w, struct demo *demo,
                      const char *listen, char *why, size_t size);
void demo_dashboard_stop(struct demo_dashboard *w);

#endif
