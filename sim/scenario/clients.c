/* clients.c: the fleets of clients. A fleet has one of `rate`, `think` and
 * `replay`; the service that it calls and its policy can be left out where
 * there is only one. */
#include "sim/scenario/clients.h"

#include <string.h>

#include "config/field/read.h"

static uint32_t usual_service(struct sim_load *l,
                              const struct bide__node *where)
{
    if (l->services && l->services->n == 1)
        return 0;
    if (l->services) /* else an error has been reported */
        sim_mistake(l, where, "missing-key",
                    "add `calls:` with the name of a service",
                    "`calls` is missing");
    return SIM_NONE;
}

static void read_arrival(struct sim_load *l, struct sim_model_fleet *fleet,
                         const struct bide__node *name,
                         const struct bide__node *map)
{
    static const char *const ways[] = { "rate", "think", "replay" };
    static const enum sim_arrival arrivals[] = { SIM_OPEN, SIM_CLOSED,
                                                 SIM_REPLAY };
    struct bide__node *key;
    int found = -1;

    for (int i = 0; i < 3; i++) {
        if (!bide__map_get(map, ways[i], &key))
            continue;
        if (found >= 0)
            sim_both(l, map, ways[found], ways[i], "when calls come");
        found = i;
        fleet->arrival = arrivals[i];
    }
    if (found < 0)
        sim_mistake(l, name, "missing-key",
                    "add `rate: 100/s` (open loop), `think: 1s` (closed loop) "
                    "or `replay: access.log`",
                    "when its calls come is missing");
    if (found > 0 && bide__map_get(map, "steady", &key))
        sim_mistake(l, key, "contradiction", "take it out",
                    "`steady` goes with `rate`, not with `%s`", ways[found]);
}

static void check_times(struct sim_load *l, const struct sim_model_fleet *fleet,
                        const struct bide__node *map)
{
    struct bide__node *key;

    if (fleet->until_ns && fleet->until_ns <= fleet->from_ns &&
        bide__map_get(map, "until", &key))
        sim_mistake(l, key, "contradiction", NULL,
                    "`until` is not after `from`: no call would begin");
    if (fleet->processes > fleet->clients &&
        bide__map_get(map, "processes", &key))
        sim_mistake(l, key, "contradiction",
                    "give each process at least one client",
                    "`processes` is %u and `count` is %u", fleet->processes,
                    fleet->clients);
}

static void read_fleet(struct sim_load *l, struct sim_model_fleet *fleet,
                       const struct bide__node *name,
                       const struct bide__node *map)
{
    memcpy(fleet, sim_fleet_table.init, sizeof *fleet);
    fleet->name = (char *)name->text;
    if (!bide__expect_map(&l->base, name, map, "write `{ rate: 100/s }`"))
        return;
    bide__read_fields(&l->base, &sim_fleet_table, name, map, fleet);
    if (!bide__map_get(map, "calls", NULL))
        fleet->service = usual_service(l, name);
    if (!bide__map_get(map, "policy", NULL))
        fleet->policy = sim_usual_policy(l, name);
    read_arrival(l, fleet, name, map);
    check_times(l, fleet, map);
}

static void check_name(struct sim_load *l, const struct bide__node *name)
{
    if (name->len == 0 || memchr(name->text, '\0', name->len))
        sim_mistake(l, name, "bad-value", NULL,
                    "clients need a name, without NUL bytes in it");
}

void sim_load_clients(struct sim_load *l)
{
    const struct bide__node *all = l->clients;
    struct sim_model *m = l->model;

    if (!all || !(m->fleets = sim_load_alloc(l, all->n, sizeof *m->fleets)))
        return;
    m->n_fleets = (uint32_t)all->n;
    for (size_t i = 0; i < all->n; i++) {
        check_name(l, all->keys[i]);
        read_fleet(l, &m->fleets[i], all->keys[i], all->items[i]);
    }
}
