/* Creating and freeing a caller, and its gauge. */
#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/world/caller.h"
#include "sim/world/caller_answer.h"

/* How a client would classify a response: its policy's rules decide, and the
 * header field that forbids a retry is read as usual. */
static bide_outcome judge(const bide_dep *dep, int status, bide_fault fault,
                          bool says_no)
{
    static const bide_header no = { "X-Bide-Retry", 12, "no", 2 };
    bide_response r = { .status = status, .fault = fault };
    if (says_no) {
        r.headers = &no;
        r.n_headers = 1;
    }
    return bide_classify(dep, &r);
}

static void learn_answers(struct sim_caller *c)
{
#define X(name, status, fault, no)                                             \
    c->known[name] = judge(c->deps[0], status, fault, no);
    SIM_ANSWERS(X)
#undef X
}

static int make_dep(struct sim_caller *c, struct sim_world *w,
                    const bide_policy_conf *conf, uint32_t i)
{
    uint64_t what = sim_luck_what(SIM_LUCK_OTHER, c->part, 0);
    uint64_t seed = sim_luck_word(w->seed, i, 0, what);
    bide_host host = { .seed = &seed };
    if (c->places) {
        sim_places_init(&c->places[i], c, w);
        host.ctx = &c->places[i];
        host.on_place = sim_places_free;
    }
    return bide_dep_new_in(&c->deps[i], "sim", conf, &host);
}

int sim_caller_init(struct sim_caller *c, struct sim_world *w,
                    const bide_policy_conf *conf, uint32_t n_deps)
{
    bide_policy_conf mine = *conf;
    mine.lanes = 1;
    int rc = bide_policy_check(&mine);
    if (rc < 0)
        return rc;
    c->deps = sim_new(n_deps, sizeof(bide_dep *));
    if (mine.limits.queue != 0)
        c->places = sim_new(n_deps, sizeof *c->places);
    for (c->n_deps = 0; c->n_deps < n_deps; c->n_deps++) {
        rc = make_dep(c, w, &mine, c->n_deps);
        if (rc < 0) {
            sim_caller_done(c);
            return rc;
        }
    }
    if (c->target->pool)
        c->balancer = sim_balancer_new(w, c->target->pool, n_deps, c->part);
    c->keyed = c->repeat == SIM_KEYED ||
               mine.idempotency_key == BIDE_KEY_GENERATE;
    c->sender.hedges = mine.hedge.max != 0;
    c->sender.part = c->part;
    c->timeouts.length_ns = mine.attempt_timeout_ns;
    c->seed = w->seed;
    c->op = (bide_op){ .idempotent = c->repeat == SIM_IDEMPOTENT,
                       .has_key = c->keyed,
                       .rng = &c->rng };
    sim_caller_connect(c);
    learn_answers(c);
    return 0;
}

void sim_caller_done(struct sim_caller *c)
{
    for (uint32_t i = 0; i < c->n_deps; i++) {
        bide_dep_free(c->deps[i]);
        if (c->places)
            sim_places_done(&c->places[i]);
    }
    free(c->deps);
    free(c->places);
    sim_balancer_free(c->balancer);
    sim_slab_done(&c->calls);
    sim_timeouts_done(&c->timeouts);
}

/* Free slots still hold the call that they held last. */
uint64_t sim_caller_older(const struct sim_caller *c, int64_t before_ns)
{
    bool *is_free = sim_new(c->calls.n, sizeof *is_free);
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->calls.n_left; i++)
        is_free[c->calls.left[i]] = true;
    for (uint32_t i = 0; i < c->calls.n; i++)
        n += !is_free[i] && sim_caller_at(c, i)->begin_ns < before_ns;
    free(is_free);
    return n;
}
