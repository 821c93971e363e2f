/* faults.c: the timetable of faults. The key of a fault names its kind; its end
 * is given in one of two ways. */
#include "config/field/read.h"
#include "sim/scenario/services.h"

static const struct {
    const char *key;
    enum sim_fault_kind kind;
    bool flag; /* its only value is `true` */
} kinds[] = {
    { "stop", SIM_STOP, true },        { "slow", SIM_SLOW, false },
    { "error_rate", SIM_FAIL, false }, { "capacity", SIM_CAPACITY, false },
    { "crash", SIM_CRASH, true },      { "partition", SIM_PARTITION, true },
    { "refuse", SIM_REFUSE, true },
};

enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static void read_kind(struct sim_load *l, struct sim_fault *fault,
                      const struct bide__node *map)
{
    int found = -1;

    for (int i = 0; i < N_KINDS; i++) {
        const struct bide__node *value = bide__map_get(map, kinds[i].key, NULL);

        if (!value || (kinds[i].flag && bide__node_is(value, "false")))
            continue;
        if (found >= 0)
            sim_both(l, map, kinds[found].key, kinds[i].key, "what happens");
        found = i;
        fault->kind = kinds[i].kind;
    }
    if (found < 0)
        sim_mistake(l, map, "missing-key",
                    "add one of `stop: true`, `slow: 5`, `error_rate: 50%`, "
                    "`capacity: 30%`, `crash: true`, `refuse: true`, "
                    "`partition: true`",
                    "the fault does not say what happens");
    if (found >= 0 && kinds[found].flag)
        fault->factor = 0;
    struct bide__node *key;
    if (fault->at_once && fault->kind != SIM_FAIL &&
        bide__map_get(map, "at_once", &key))
        sim_mistake(l, key, "contradiction", "take it out",
                    "`at_once` goes with `error_rate`");
}

/* ===== which servers ===== */

static void check_servers(struct sim_load *l, struct sim_fault *fault,
                          const struct bide__node *map)
{
    const struct sim_model *m = l->model;
    const struct bide__node *one = bide__map_get(map, "server", NULL);
    const struct bide__node *some = bide__map_get(map, "servers", NULL);
    const struct bide__node *where = one ? one : some;
    uint32_t asked = one ? fault->server : fault->n_servers;

    if (sim_both(l, map, "server", "servers", "whom it happens to"))
        return;
    if (where && fault->service < m->n_services &&
        asked > m->services[fault->service].servers) {
        const struct sim_model_service *s = &m->services[fault->service];
        sim_mistake(l, where, "out-of-range",
                    s->servers > 1 ? NULL : "give the service `servers: 10`",
                    one ? "there is no server %u: `%s` has %u"
                        : "there are no %u servers: `%s` has %u",
                    asked, s->name, s->servers);
    }
    if (one && fault->server > 0) {
        fault->server--; /* a file counts from 1 */
        fault->n_servers = 1;
    }
}

/* How often it happens until each server has had its turn. */
static int64_t rounds(const struct sim_load *l, const struct sim_fault *fault)
{
    uint32_t n = fault->n_servers;

    if (fault->service >= l->model->n_services || n == 0)
        return 1;
    return (l->model->services[fault->service].servers + n - 1) / n;
}

static void check_turns(struct sim_load *l, struct sim_fault *fault,
                        const struct bide__node *map)
{
    struct bide__node *key = NULL;

    if (!fault->in_turn || !bide__map_get(map, "in_turn", &key))
        return;
    if (fault->n_servers == 0)
        fault->n_servers = 1;
    if (!bide__map_get(map, "every", NULL))
        sim_mistake(l, key, "missing-key", "add `every: 10s, down: 2s`",
                    "`in_turn` needs `every`: how far apart the turns are");
    else if (fault->service < l->model->n_services &&
             l->model->services[fault->service].servers <= 1)
        sim_mistake(l, key, "contradiction", "give the service `servers: 10`",
                    "`%s` has one server, which is always next",
                    l->model->services[fault->service].name);
    if (!bide__map_get(map, "for", NULL) && !bide__map_get(map, "until", NULL))
        fault->to_ns = fault->from_ns + rounds(l, fault) * fault->every_ns;
}

static void read_times(struct sim_load *l, struct sim_fault *fault,
                       const struct bide__node *map)
{
    struct bide__node *until;

    if (sim_both(l, map, "for", "until", "when it ends"))
        return;
    if (bide__map_get(map, "for", NULL))
        fault->to_ns += fault->from_ns;
    else if (!bide__map_get(map, "until", &until))
        fault->to_ns = l->model->duration_ns > fault->from_ns
                           ? l->model->duration_ns
                           : fault->from_ns + 1;
    else if (fault->to_ns <= fault->from_ns)
        sim_mistake(l, until, "contradiction", NULL,
                    "`until` is not after `at`: the fault would be over before "
                    "it begins");
}

static void check_flapping(struct sim_load *l, const struct sim_fault *fault,
                           const struct bide__node *map)
{
    struct bide__node *every = NULL, *down = NULL;

    bide__map_get(map, "every", &every);
    bide__map_get(map, "down", &down);
    if (!every != !down)
        sim_mistake(l, every ? every : down, "missing-key",
                    "write both, as in `every: 4s, down: 2s`",
                    "`%s` goes with `%s`, which is missing",
                    every ? "every" : "down", every ? "down" : "every");
    else if (every && fault->for_ns > fault->every_ns)
        sim_mistake(l, down, "contradiction", NULL,
                    "`down` is longer than `every`: it would be down all the "
                    "time");
}

/* Checks which shard it affects, and calls from where. */
static void check_part(struct sim_load *l, struct sim_fault *fault,
                       const struct bide__node *map)
{
    const struct sim_model *m = l->model;
    const struct bide__node *shard = bide__map_get(map, "shard", NULL);
    struct bide__node *from;

    if (!bide__map_get(map, "from", &from))
        fault->fleet = SIM_NONE;
    else if (fault->kind != SIM_PARTITION)
        sim_mistake(l, from, "contradiction", NULL,
                    "`from` goes with `partition`: other faults happen to all "
                    "clients alike");
    if (!shard || fault->shard == SIM_NONE)
        return;
    if (fault->service < m->n_services &&
        fault->shard > m->services[fault->service].shards) {
        sim_mistake(l, shard, "out-of-range", NULL,
                    "there is no shard %u: `%s` has %u", fault->shard,
                    m->services[fault->service].name,
                    m->services[fault->service].shards);
    } else {
        fault->shard--; /* a file counts from 1 */
    }
}

static void read_fault(struct sim_load *l, struct sim_fault *fault,
                       const struct bide__node *key,
                       const struct bide__node *map)
{
    fault->service = SIM_NONE;
    fault->shard = fault->fleet = SIM_NONE;
    if (map->kind != BIDE__MAP) {
        sim_wrong(l, key, map, "a map for each fault",
                  "write `- { at: 30s, for: 10s, service: api, stop: true }`");
        return;
    }
    bide__read_fields(&l->base, &sim_fault_table, map, map, fault);
    if (!bide__map_get(map, "service", NULL)) {
        if (l->services && l->services->n == 1)
            fault->service = 0;
        else
            sim_mistake(l, map, "missing-key", NULL, "`service` is missing");
    }
    read_kind(l, fault, map);
    read_times(l, fault, map);
    check_flapping(l, fault, map);
    check_part(l, fault, map);
    check_servers(l, fault, map);
    check_turns(l, fault, map);
}

void sim_load_faults(struct sim_load *l, const struct bide__node *key,
                     const struct bide__node *node)
{
    struct sim_model *m = l->model;

    if (bide__node_empty(node))
        return;
    if (node->kind != BIDE__LIST) {
        sim_wrong(l, key, node, "a list of faults",
                  "begin each with a dash: `- { at: 30s, stop: true }`");
        return;
    }
    m->faults = sim_load_alloc(l, node->n, sizeof *m->faults);
    if (!m->faults)
        return;
    m->n_faults = (uint32_t)node->n;
    for (size_t i = 0; i < node->n; i++)
        read_fault(l, &m->faults[i], key, node->items[i]);
}
