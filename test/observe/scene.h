/* scene.h: two dependencies to which things have happened, all on a made-up
 * clock, so that each test sees the same numbers.
 *
 * "pay" had 6 calls: 3 worked at once, 1 after two retries, 1 failed for good,
 * 1 ran out of attempts; its breaker opened once. "search" is hedged: 1 of 2
 * hedges won. */
#ifndef BIDE_TEST_SCENE_H
#define BIDE_TEST_SCENE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bide/bide.h"
#include "bide/share.h"
#include "observe/event/event.h"
#include "observe/event/observed.h"

#define SCENE_MS  BIDE_MILLISECOND
#define SCENE_NOW (100 * BIDE_SECOND)

struct scene {
    bide_dep *pay, *search;
    bide_share share; /* of `search`, in a fleet that nobody answers for */
    struct bide__observed_dep deps[2];
    struct bide__observed_endpoint endpoints[2];
    struct bide__observed_value values[3];
    struct bide__observed_route routes[1];
    struct bide__observed observed;
};

static inline bide_outcome scene_outcome(int status)
{
    bide_response r = { .status = status, .method = "GET" };
    return bide_classify(NULL, &r);
}

/* Plays a call: each status is an attempt of 10 ms; 0 ends the list. */
static inline int64_t scene_call(bide_dep *dep, int64_t now,
                                 const int *statuses)
{
    bide_op op = { .idempotent = true };
    bide_call call;

    bide_call_begin(&call, dep, &op, now);
    for (int i = 0; statuses[i];) {
        bide_decision d = bide_call_next(&call, now);
        if (d.action == BIDE_DONE)
            break;
        if (d.action == BIDE_WAIT) {
            now = d.at_ns + SCENE_MS; /* the scheduler is late */
            continue;
        }
        bide_outcome out = scene_outcome(statuses[i++]);
        now += 10 * SCENE_MS;
        bide_call_report(&call, d.attempt, &out, now);
    }
    bide_call_next(&call, now);
    bide_call_end(&call, now);
    return now;
}

/* A hedged call: the hedge goes out after 50 ms, and wins or loses. */
static inline int64_t scene_hedged(bide_dep *dep, int64_t now, bool wins)
{
    bide_op op = { .idempotent = true };
    bide_outcome good = BIDE_OUTCOME_SUCCESS;
    bide_call call;

    bide_call_begin(&call, dep, &op, now);
    bide_call_next(&call, now);
    now += 50 * SCENE_MS;
    bide_call_next(&call, now);
    now += 10 * SCENE_MS;
    bide_call_report(&call, wins ? 2 : 1, &good, now);
    bide_call_end(&call, now);
    return now;
}

static inline bide_dep *scene_dep(const char *name,
                                  const bide_policy_conf *conf)
{
    static const uint64_t seed = 7;
    bide_host host = { .seed = &seed };
    bide_dep *dep = NULL;

    if (bide_dep_new_in(&dep, name, conf, &host) < 0)
        abort();
    return dep;
}

static inline void scene_play(struct scene *s)
{
    static const int fine[] = { 200, 0 }, late[] = { 503, 503, 200, 0 },
                     no[] = { 404, 0 }, never[] = { 503, 503, 503, 503, 0 };
    int64_t now = BIDE_SECOND;

    for (int i = 0; i < 3; i++)
        now = scene_call(s->pay, now, fine);
    now = scene_call(s->pay, now, late);
    now = scene_call(s->pay, now, no);
    scene_call(s->pay, now, never);
    now = scene_hedged(s->search, BIDE_SECOND, true);
    scene_hedged(s->search, now, false);
}

static inline void scene_init(struct scene *s)
{
    bide_policy_conf pay = BIDE_POLICY_CONF_INIT,
                     search = BIDE_POLICY_CONF_INIT;

    memset(s, 0, sizeof *s);
    pay.backoff.jitter = BIDE_JITTER_EQUAL;
    pay.breaker.consecutive = 4;
    search.attempts = 1;
    search.hedge.max = 1;
    search.hedge.after_ns = 50 * SCENE_MS;
    search.hedge.extra_load = 1;
    search.budget.kind = BIDE_BUDGET_OFF;
    s->pay = scene_dep("pay", &pay);
    s->search = scene_dep("search", &search);
    bide_share_init(&s->share, s->search, 1);
    scene_play(s);

    s->deps[0] = (struct bide__observed_dep){
        .name = "pay", .policy = "payments", .upstream = "pay", .dep = s->pay
    };
    s->deps[1] = (struct bide__observed_dep){ .name = "se\"ar\\ch\n\xff",
                                              .policy = "",
                                              .upstream = "",
                                              .dep = s->search };
    s->endpoints[0] = (struct bide__observed_endpoint){
        "pay", "127.0.0.1:9001", BIDE__ENDPOINT_UP, 2, 5, 3, 1, 11, 1, 3
    };
    s->endpoints[1] = (struct bide__observed_endpoint){
        "pay", "127.0.0.1:9002", BIDE__ENDPOINT_EJECTED, 0, 0, 0, 0, 4, 4, 2
    };
    s->routes[0] = (struct bide__observed_route){ "pay", "POST /pay/*", 6, 5 };
    s->values[0] =
        (struct bide__observed_value){ "bide_connections", "Open connections.",
                                       BIDE__VALUE_GAUGE,  "side",
                                       "client",           12 };
    s->values[1] =
        (struct bide__observed_value){ "bide_connections", "Open connections.",
                                       BIDE__VALUE_GAUGE,  "side",
                                       "upstream",         5 };
    s->values[2] = (struct bide__observed_value){ "bide_spans_dropped_total",
                                                  "Spans that were dropped.",
                                                  BIDE__VALUE_COUNTER,
                                                  NULL,
                                                  NULL,
                                                  3 };
    s->observed = (struct bide__observed){ s->deps,   2, s->endpoints, 2,
                                           s->values, 3, s->routes,    1 };
}

static inline void scene_done(struct scene *s)
{
    bide_dep_free(s->pay);
    bide_dep_free(s->search);
}

/* The events of one call: a 503 that is retried after 120 ms, a 200, its end.
 */
static inline void scene_events(struct bide__event e[3])
{
    bide_outcome bad = scene_outcome(503), good = scene_outcome(200);
    bide_decision wait = { BIDE_WAIT, BIDE_BECAUSE_BACKOFF, 0, 0, 0 };
    bide_verdict verdict = { .value_ns = 200 * SCENE_MS,
                             .wait_ns = 120 * SCENE_MS };
    int64_t t = 5 * BIDE_SECOND;

    bide__event_attempt(&e[0], 1, BIDE_BECAUSE_FIRST, &bad, t,
                        t + 10 * SCENE_MS);
    bide__event_decision(&e[0], &wait, &verdict);
    bide__event_attempt(&e[1], 2, BIDE_BECAUSE_BACKOFF, &good,
                        t + 131 * SCENE_MS, t + 140 * SCENE_MS);
    e[1].asked_ns = 120 * SCENE_MS;
    e[1].slept_ns = 121 * SCENE_MS;
    bide__event_call(&e[2], 2, BIDE_BECAUSE_SUCCESS, &good, t,
                     t + 140 * SCENE_MS);
    e[2].slept_ns = 121 * SCENE_MS;
    for (int i = 0; i < 3; i++) {
        e[i].attempts = 4;
        e[i].trace.sampled = true;
        memset(e[i].trace.trace_id, 0xab, 16);
        memset(e[i].trace.span_id, 0x10 + i, 8);
        memset(e[i].trace.parent_id, i < 2 ? 0x12 : 0xcd, 8);
        bide__event_put(&e[i], BIDE__DEP, "pay", 3);
        bide__event_put(&e[i], BIDE__OPERATION, "GET /pay/17", 11);
        bide__event_put(&e[i], BIDE__REQUEST_ID, "req-1", 5);
        bide__event_put(&e[i], BIDE__ENDPOINT, "127.0.0.1:9001", 14);
    }
}

#endif
