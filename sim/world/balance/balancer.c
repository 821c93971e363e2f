/* The balancer of a caller: what its processes know of each server, and the
 * attempts that each call has running. */
#include "sim/world/balance/balancer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/balance.h"
#include "sim/model/luck.h"
#include "sim/model/memory.h"
#include "sim/model/slab.h"

/* A retry avoids the last so many servers of its call. */
enum { AT_ONCE = 5, TRIED = 16 };

/* What a process knows of a server. */
struct server {
    struct sim_balancer *balancer;
    struct group *group;
    bide_dep *breaker; /* NULL: it has not been asked, or is never ejected */
    int64_t back_ns;   /* when it returned; 0: it was never ejected */
    uint32_t in_flight;
    bool out;
};

/* The servers of a shard, as a process knows them. */
struct group {
    struct server *servers;
    uint32_t n_out;
    unsigned turn;
};

/* An attempt of a call. Its permit must not be moved. */
struct sent {
    bide_call permit;
    struct server *to;
    uint32_t attempt; /* 0: none */
    bool held;
};

/* What the balancer knows of a call. */
struct choice {
    struct sent sent[AT_ONCE];
    struct group *group; /* NULL: no attempt yet */
    uint32_t tried[TRIED];
    uint32_t n_tried;
};

struct sim_balancer {
    const struct sim_model_service *conf;
    struct group *groups;         /* process by process, shard by shard */
    struct server *servers;       /* of all groups, in their order */
    uint32_t n_groups, n_servers; /* n_servers: of a group */
    uint32_t most_out;
    uint32_t part; /* of the caller, and the ... */
    uint64_t seed; /* ... world's, for the luck of breakers */
    struct sim_slab choices;
};

static struct choice *at(const struct sim_balancer *b, uint32_t i)
{
    return sim_slab_at(&b->choices, i, sizeof(struct choice));
}

/* ===== ejection ===== */

static void on_breaker(void *ctx, const bide_dep *dep, bide_breaker_state from,
                       bide_breaker_state to, int64_t now_ns)
{
    struct server *s = ctx;
    (void)dep;
    (void)from;
    if (to == BIDE_BREAKER_OPEN && !s->out &&
        s->group->n_out < s->balancer->most_out) {
        s->out = true;
        s->group->n_out++;
    } else if (to == BIDE_BREAKER_CLOSED && s->out) {
        s->out = false;
        s->group->n_out--;
        s->back_ns = now_ns;
    }
}

/* Like world_build.c: without memory there is nothing to go on with. */
static void make_breaker(struct server *s)
{
    const struct sim_balancer *b = s->balancer;
    uint64_t what = sim_luck_what(SIM_LUCK_SERVER, b->part, 0);
    uint64_t seed = sim_luck_word(b->seed, (uint64_t)(s - b->servers), 0, what);
    bide_policy_conf p = bide__ejection_policy(&b->conf->balance.ejection);
    bide_host host = { .ctx = s, .on_breaker = on_breaker, .seed = &seed };
    int rc = bide_dep_new_in(&s->breaker, "server", &p, &host);
    if (rc < 0) {
        fprintf(stderr, "bide sim: %s\n", bide_strerror(rc));
        exit(1);
    }
}

/* ===== as base/balance.h sees them ===== */

static const struct server *nth(const void *self, unsigned i)
{
    return &((const struct choice *)self)->group->servers[i];
}

static bool is_out(const void *self, unsigned i)
{
    return nth(self, i)->out;
}

static bool is_tried(const void *self, unsigned i)
{
    const struct choice *c = self;
    uint32_t n = c->n_tried < TRIED ? c->n_tried : TRIED;
    for (uint32_t k = 0; k < n; k++)
        if (c->tried[k] == i)
            return true;
    return false;
}

static uint64_t in_flight(const void *self, unsigned i)
{
    return nth(self, i)->in_flight;
}

static int64_t weight(const void *self, unsigned i, int64_t now)
{
    const struct server *s = nth(self, i);
    return bide__returned_weight(s->back_ns,
                                 s->balancer->conf->balance.slow_start_ns, now);
}

/* Made when it is first needed: ten kilobytes for each server and process. */
static bide_dep *breaker(const void *self, unsigned i)
{
    struct server *s = &((const struct choice *)self)->group->servers[i];
    if (!s->breaker && s->balancer->conf->balance.ejects)
        make_breaker(s);
    return s->breaker;
}

static const struct bide__servers_verbs verbs = { is_out, is_tried, in_flight,
                                                  weight, breaker,  is_out };

/* ===== calls ===== */

uint32_t sim_balancer_join(struct sim_balancer *b)
{
    uint32_t i = sim_slab_take(&b->choices, sizeof(struct choice));
    struct choice *c = at(b, i);
    for (int k = 0; k < AT_ONCE; k++)
        c->sent[k].attempt = 0;
    c->group = NULL;
    c->n_tried = 0;
    return i;
}

static void end(struct sent *s, const bide_outcome *out, int64_t now)
{
    s->attempt = 0;
    s->to->in_flight--;
    if (!s->held)
        return;
    if (out)
        bide_call_report(&s->permit, 1, out, now);
    bide_call_end(&s->permit, now);
}

void sim_balancer_leave(struct sim_balancer *b, uint32_t choice, int64_t now)
{
    struct choice *c = at(b, choice);
    for (int k = 0; k < AT_ONCE; k++)
        if (c->sent[k].attempt != 0)
            end(&c->sent[k], NULL, now);
    sim_slab_leave(&b->choices, choice);
}

/* The place of an attempt; 0: a free one, of which there are enough. */
static struct sent *place_of(struct choice *c, uint32_t attempt)
{
    int k = 0;
    while (k < AT_ONCE - 1 && c->sent[k].attempt != attempt)
        k++;
    return &c->sent[k];
}

uint32_t sim_balancer_choose(struct sim_balancer *b, uint32_t choice,
                             const struct sim_choosing *for_it, int64_t now)
{
    struct choice *c = at(b, choice);
    struct sent *sent = place_of(c, 0);
    uint32_t shards = b->conf->shards;
    c->group = &b->groups[for_it->process * shards + for_it->client % shards];
    struct bide__servers servers = { .n = b->n_servers,
                                     .any_out = c->group->n_out > 0,
                                     .self = c,
                                     .of = &verbs };
    struct bide__pick pick = { .by = b->conf->balance.by,
                               .first = for_it->attempt == 1,
                               .random = for_it->random,
                               .turn = c->group->turn,
                               .now_ns = now };
    unsigned i = bide__balance(&servers, &pick, &sent->permit);
    c->group->turn = pick.turn;
    sent->to = &c->group->servers[i];
    sent->attempt = for_it->attempt;
    sent->held = pick.held;
    sent->to->in_flight++;
    c->tried[c->n_tried++ % TRIED] = i;
    return i;
}

void sim_balancer_ended(struct sim_balancer *b, uint32_t choice,
                        uint32_t attempt, const bide_outcome *out, int64_t now)
{
    end(place_of(at(b, choice), attempt), out, now);
}

/* ===== beginning and end ===== */

static void make_group(struct sim_balancer *b, uint32_t n)
{
    struct group *g = &b->groups[n];
    g->servers = &b->servers[(size_t)n * b->n_servers];
    for (uint32_t i = 0; i < b->n_servers; i++) {
        struct server *s = &g->servers[i];
        s->balancer = b;
        s->group = g;
    }
}

struct sim_balancer *sim_balancer_new(const struct sim_world *w,
                                      const struct sim_model_service *conf,
                                      uint32_t n_processes, uint32_t part)
{
    struct sim_balancer *b = sim_new(1, sizeof *b);
    b->conf = conf;
    b->seed = w->seed;
    b->part = part;
    b->n_servers = conf->servers;
    b->n_groups = n_processes * conf->shards;
    b->most_out = bide__most_ejected(&conf->balance.ejection, conf->servers);
    b->groups = sim_new(b->n_groups, sizeof *b->groups);
    b->servers =
        sim_new((size_t)b->n_groups * b->n_servers, sizeof *b->servers);
    for (uint32_t i = 0; i < b->n_groups; i++)
        make_group(b, i);
    return b;
}

void sim_balancer_free(struct sim_balancer *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < (size_t)b->n_groups * b->n_servers; i++)
        bide_dep_free(b->servers[i].breaker);
    free(b->servers);
    free(b->groups);
    sim_slab_done(&b->choices);
    free(b);
}
