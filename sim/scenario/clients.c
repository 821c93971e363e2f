/* clients.c: the fleets of clients. A fleet has one of `rate` (or `load`),
 * `think`, `every` and `replay`; the service that it calls and its policy can be left out where
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

/* Keys that go with some ways only. */
static void check_companions(struct sim_load *l, const struct bide__node *map,
                             enum sim_arrival arrival, const char *way)
{
    static const struct {
        const char *key, *with;
        unsigned arrivals; /* bits */
    } companions[] = {
        { "steady", "`rate` or `load`", 1 << SIM_OPEN },
        { "repeat", "`load`", 1 << SIM_OPEN },
        { "spread", "`every` or `think`", 1 << SIM_CLOSED | 1 << SIM_CRON },
    };
    struct bide__node *key;

    for (size_t i = 0; i < sizeof companions / sizeof companions[0]; i++)
        if (bide__map_get(map, companions[i].key, &key) &&
            !(companions[i].arrivals >> arrival & 1))
            sim_mistake(l, key, "contradiction", "take it out",
                        "`%s` goes with %s, not with `%s`", companions[i].key,
                        companions[i].with, way);
}

/* ===== the rate over time ===== */

/* When a change is over, and the next may begin. */
static int64_t end_of(const struct sim_rate_step *s)
{
    int64_t over = s->at_ns + s->over_ns, lasts = s->at_ns + s->for_ns;

    return over > lasts ? over : lasts;
}

static void check_step(struct sim_load *l, const struct sim_rate_step *s,
                       const struct sim_rate_step *before,
                       const struct bide__node *map)
{
    struct bide__node *key = NULL;
    char text[32];

    if (s->for_ns > 0 && s->over_ns > s->for_ns &&
        bide__map_get(map, "over", &key))
        sim_mistake(l, key, "contradiction", NULL,
                    "`over` is longer than `for`: the rate would never be "
                    "reached");
    if (!before || s->at_ns >= end_of(before) ||
        !bide__map_get(map, "at", &key))
        return;
    if (s->at_ns <= before->at_ns)
        sim_mistake(l, key, "bad-value", "put the changes in rising order",
                    "`at` is not after that of the change before");
    else
        sim_mistake(l, key, "contradiction", NULL,
                    "the change before is not over until %s",
                    bide_format_duration(end_of(before), text, sizeof text));
}

static void check_load(struct sim_load *l, struct sim_model_fleet *fleet,
                       const struct bide__node *map)
{
    const struct sim_profile *p = &fleet->load;
    const struct bide__node *list = bide__map_get(map, "load", NULL);
    struct bide__node *repeat = NULL;
    const struct sim_rate_step *last = NULL;

    bide__map_get(map, "repeat", &repeat);
    if (repeat && !list)
        sim_mistake(l, repeat, "missing-key", "add `load:`, or take it out",
                    "`repeat` says that `load` begins again, and there is "
                    "none");
    if (!list || list->kind != BIDE__LIST || list->n != p->n_steps)
        return;
    for (size_t i = 0; i < p->n_steps; i++) {
        check_step(l, &p->steps[i], last, list->items[i]);
        last = &p->steps[i];
    }
    if (repeat && last && end_of(last) > p->repeat_ns)
        sim_mistake(l, repeat, "contradiction", NULL,
                    "the list begins again before its last change is over");
    if (repeat && last && !bide__map_get(map, "rate", NULL) && !last->for_ns)
        fleet->rate = last->rate; /* as it was on the day before */
}

static void read_arrival(struct sim_load *l, struct sim_model_fleet *fleet,
                         const struct bide__node *name,
                         const struct bide__node *map)
{
    static const char *const ways[] = { "rate", "load", "think", "every",
                                        "replay" };
    static const enum sim_arrival arrivals[] = { SIM_OPEN, SIM_OPEN, SIM_CLOSED,
                                                 SIM_CRON, SIM_REPLAY };
    int found = -1;

    for (int i = 0; i < 5; i++) {
        if (!bide__map_get(map, ways[i], NULL))
            continue;
        if (found >= 0 && arrivals[i] != arrivals[found])
            sim_both(l, map, ways[found], ways[i], "when calls come");
        found = i;
        fleet->arrival = arrivals[i];
    }
    if (found < 0)
        sim_mistake(l, name, "missing-key",
                    "add `rate: 100/s` (open loop), `think: 1s` (closed loop), "
                    "`every: 60s` (by the clock) or `replay: access.log`",
                    "when its calls come is missing");
    else
        check_companions(l, map, fleet->arrival, ways[found]);
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

/* Each process knows each server: that takes memory. */
static void check_views(struct sim_load *l, const struct sim_model_fleet *fleet,
                        const struct bide__node *name,
                        const struct bide__node *map)
{
    enum { MOST = 100000 };
    const struct sim_model *m = l->model;
    struct bide__node *key = NULL;
    uint64_t servers;

    if (fleet->service >= m->n_services ||
        m->services[fleet->service].servers <= 1)
        return;
    servers = sim_service_servers(&m->services[fleet->service]);
    bide__map_get(map, "processes", &key);
    if (fleet->processes * servers > MOST)
        sim_mistake(l, key ? key : name, "out-of-range",
                    "let fewer processes stand for them",
                    "%u processes that balance over %llu servers each are too "
                    "many: at most %d together",
                    fleet->processes, (unsigned long long)servers, MOST);
}

static void check_queue(struct sim_load *l, struct sim_model_fleet *fleet,
                        const struct bide__node *map)
{
    const struct bide__node *queue = bide__map_get(map, "queue", NULL);
    struct bide__node *key = NULL;

    if (!queue)
        return;
    if (fleet->queue.workers == 0)
        fleet->queue.workers = 1;
    if (bide__map_get(map, "processes", &key))
        sim_mistake(l, key, "contradiction",
                    "write `queue: { workers: 2 }`",
                    "`processes` are of clients that call the service "
                    "themselves; here the workers of the queue do");
    if (fleet->queue.waiting > 0 && fleet->arrival == SIM_CLOSED &&
        bide__map_get(queue, "waiting", &key))
        sim_mistake(l, key, "contradiction", "give the clients a `rate`",
                    "with `think`, nobody has queued anything yet when the "
                    "run begins");
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
    check_load(l, fleet, map);
    check_times(l, fleet, map);
    check_views(l, fleet, name, map);
    check_queue(l, fleet, map);
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
