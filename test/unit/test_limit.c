/* test_limit.c: the in-flight cap and its queue, and adaptive throttling. */
#include "fixture.h"
#include "lib/limit/limit.h"

/* ===== the cap ===== */

static void place_cap_is_kept(void **state)
{
    struct bide__places p = { 0 };
    (void)state;
    assert_true(bide__place_take(&p, 2));
    assert_true(bide__place_take(&p, 2));
    assert_false(bide__place_take(&p, 2));
    assert_false(bide__place_give(&p)); /* nobody queues */
    assert_true(bide__place_take(&p, 2));
    assert_true(bide__queue_join(&p, 1));
    assert_false(bide__queue_join(&p, 1));
    assert_false(bide__place_wanted(&p, 2)); /* none is free */
    assert_true(bide__place_give(&p));
    assert_true(bide__place_wanted(&p, 2));
    bide__queue_leave(&p);
    assert_false(bide__place_wanted(&p, 2));
    assert_false(bide__place_give(&p));
    assert_false(bide__queue_join(&p, 0));
}

static int told; /* how often on_place was called */

static void on_place(void *ctx, const bide_dep *dep)
{
    (void)ctx;
    (void)dep;
    told++;
}

static bide_policy_conf capped(uint32_t in_flight, uint32_t queue)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.limits.in_flight = in_flight;
    conf.limits.queue = queue;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    return conf;
}

static bide_dep *new_capped(const bide_policy_conf *conf)
{
    told = 0;
    return new_dep_in(conf, (bide_host){ .on_place = on_place });
}

static void assert_limits(const bide_dep *dep, uint64_t in_flight,
                          uint64_t queued)
{
    bide_stats s = stats_of(dep, 0);
    assert_int_equal(s.in_flight, in_flight);
    assert_int_equal(s.queued, queued);
}

static void in_flight_over_the_cap_fails_fast(void **state)
{
    bide_policy_conf conf = capped(3, 0);
    bide_dep *dep = new_capped(&conf);
    bide_call calls[3], more;
    (void)state;
    for (int i = 0; i < 3; i++)
        start(&calls[i], dep, 0);
    assert_limits(dep, 3, 0);
    bide_decision d = begin(&more, dep, 0);
    assert_int_equal(d.action, BIDE_DONE);
    assert_int_equal(d.reason, BIDE_BECAUSE_IN_FLIGHT);
    bide_call_end(&more, 0);
    assert_limits(dep, 3, 0);

    bide_call_end(&calls[0], 0);        /* given up without a report */
    report(&calls[1], BIDE_SUCCESS, 0); /* or reported */
    assert_limits(dep, 1, 0);
    report(&calls[2], BIDE_TRANSIENT, 0); /* a call that waits holds none */
    assert_limits(dep, 0, 0);
    assert_int_equal(bide_call_next(&calls[2], 100 * MS).action, BIDE_TRY);
    assert_limits(dep, 1, 0);
    bide_call_cancel(&calls[2]); /* the attempt still runs */
    assert_limits(dep, 1, 0);
    bide_call_end(&calls[2], 100 * MS);
    bide_call_end(&calls[1], 0);
    assert_limits(dep, 0, 0);
    assert_int_equal(told, 0);
    bide_dep_free(dep);
}

/* A retry that finds no place gives its budget back. */
static void in_flight_refused_retry_costs_nothing(void **state)
{
    bide_policy_conf conf = capped(1, 0);
    bide_dep *dep = new_capped(&conf);
    bide_call call, other;
    (void)state;
    start(&call, dep, 0);
    assert_int_equal(report(&call, BIDE_TRANSIENT, 0).action, BIDE_WAIT);
    start(&other, dep, 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 9);
    assert_int_equal(bide_call_next(&call, 100 * MS).reason,
                     BIDE_BECAUSE_IN_FLIGHT);
    assert_int_equal(bide_dep_budget_left(dep, 0), 10);
    bide_call_end(&call, 0);
    bide_call_end(&other, 0);
    assert_limits(dep, 0, 0);
    bide_dep_free(dep);
}

/* ===== the queue ===== */

static bide_decision queue_up(bide_call *call, bide_dep *dep, int64_t now)
{
    bide_decision d = begin(call, dep, now);
    assert_int_equal(d.action, BIDE_WAIT);
    assert_int_equal(d.reason, BIDE_BECAUSE_QUEUED);
    return d;
}

static void queue_is_bounded(void **state)
{
    bide_policy_conf conf = capped(1, 2);
    bide_dep *dep = new_capped(&conf);
    bide_call running, a, b, more;
    (void)state;
    start(&running, dep, 0);
    assert_true(queue_up(&a, dep, 0).at_ns == S);
    queue_up(&b, dep, 0);
    assert_limits(dep, 1, 2);
    assert_int_equal(begin(&more, dep, 0).reason, BIDE_BECAUSE_IN_FLIGHT);
    bide_call_end(&more, 0);
    assert_limits(dep, 1, 2);
    assert_int_equal(bide_call_next(&a, 0).action, BIDE_WAIT); /* asked again */
    assert_limits(dep, 1, 2);

    report(&running, BIDE_SUCCESS, 0);
    assert_int_equal(told, 1);
    assert_int_equal(bide_call_next(&a, 0).action, BIDE_TRY);
    assert_limits(dep, 1, 1);
    assert_int_equal(bide_call_next(&b, 0).action, BIDE_WAIT);
    report(&a, BIDE_SUCCESS, 0);
    assert_int_equal(told, 2);
    assert_int_equal(bide_call_next(&b, 0).action, BIDE_TRY);
    report(&b, BIDE_SUCCESS, 0);
    assert_int_equal(told, 2); /* nobody to tell */
    bide_call_end(&running, 0);
    bide_call_end(&a, 0);
    bide_call_end(&b, 0);
    assert_limits(dep, 0, 0);
    bide_dep_free(dep);
}

static void queue_timeout_refuses(void **state)
{
    bide_policy_conf conf = capped(1, 9);
    conf.limits.queue_timeout_ns = 300 * MS;
    bide_dep *dep = new_capped(&conf);
    bide_call running, a, b;
    (void)state;
    start(&running, dep, 0);
    assert_true(queue_up(&a, dep, 0).at_ns == 300 * MS);
    assert_true(queue_up(&b, dep, 100 * MS).at_ns == 400 * MS);
    assert_true(bide_call_next(&a, 300 * MS - 1).at_ns == 300 * MS);
    bide_decision d = bide_call_next(&a, 300 * MS);
    assert_int_equal(d.reason, BIDE_BECAUSE_IN_FLIGHT);
    assert_limits(dep, 1, 1);
    report(&running, BIDE_SUCCESS, 400 * MS);
    assert_int_equal(bide_call_next(&b, 400 * MS).action, BIDE_TRY);
    bide_call_end(&a, S);
    bide_call_end(&b, S);
    bide_call_end(&running, S);
    assert_limits(dep, 0, 0);

    conf.limits.queue_timeout_ns = 0; /* then there is no waiting */
    bide_dep *hasty = new_capped(&conf);
    start(&running, hasty, 0);
    assert_int_equal(begin(&a, hasty, 0).reason, BIDE_BECAUSE_IN_FLIGHT);
    bide_call_end(&a, 0);
    bide_call_end(&running, 0);
    assert_limits(hasty, 0, 0);
    bide_dep_free(hasty);
    bide_dep_free(dep);
}

static void queue_ends_with_the_deadline(void **state)
{
    bide_policy_conf conf = capped(1, 9);
    conf.deadline_ns = 200 * MS;
    bide_dep *dep = new_capped(&conf);
    bide_call running, a;
    (void)state;
    start(&running, dep, 0);
    assert_true(queue_up(&a, dep, 0).at_ns == 200 * MS);
    assert_int_equal(bide_call_next(&a, 200 * MS).reason,
                     BIDE_BECAUSE_DEADLINE);
    assert_limits(dep, 1, 0);
    bide_call_end(&a, 200 * MS);
    bide_call_end(&running, 200 * MS);
    bide_dep_free(dep);
}

static void queue_is_left_by_whoever_ends(void **state)
{
    bide_policy_conf conf = capped(1, 9);
    bide_dep *dep = new_capped(&conf);
    bide_call running, a, b, c;
    (void)state;
    start(&running, dep, 0);
    queue_up(&a, dep, 0);
    queue_up(&b, dep, 0);
    queue_up(&c, dep, 0);
    bide_call_cancel(&a);
    assert_limits(dep, 1, 2);
    bide_call_end(&b, 0);
    assert_limits(dep, 1, 1);
    bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_OPEN);
    assert_int_equal(bide_call_next(&c, 0).reason, BIDE_BECAUSE_BREAKER_OPEN);
    assert_limits(dep, 1, 0);
    assert_int_equal(told, 0); /* there was no place to tell of */
    bide_call_end(&a, 0);
    bide_call_end(&c, 0);
    bide_call_end(&running, 0);
    assert_limits(dep, 0, 0);
    bide_dep_free(dep);
}

/* The driver is told of a place and picks a call that has just been given up:
 * the place must not be forgotten over it. */
static void regress_queue_wakeup_is_passed_on(void **state)
{
    bide_policy_conf conf = capped(1, 9);
    bide_dep *dep = new_capped(&conf);
    bide_call running, a, b, c;
    (void)state;
    start(&running, dep, 0);
    queue_up(&a, dep, 0);
    queue_up(&b, dep, 0);
    queue_up(&c, dep, 0);
    report(&running, BIDE_SUCCESS, 0);
    assert_int_equal(told, 1); /* for a, who ... */
    bide_call_cancel(&a);
    assert_int_equal(told, 2); /* then b, who ... */
    bide_call_end(&b, 0);
    assert_int_equal(told, 3);
    assert_int_equal(bide_call_next(&c, 0).action, BIDE_TRY);
    bide_call_end(&a, 0);
    bide_call_end(&c, 0);
    bide_call_end(&running, 0);
    assert_int_equal(told, 3);
    assert_limits(dep, 0, 0);
    bide_dep_free(dep);
}

/* on_place may ask for a queued call at once, on the spot. */
static bide_call *next_in_line;
static bide_decision answer_on_the_spot;

static void ask_on_the_spot(void *ctx, const bide_dep *dep)
{
    bide_call *call = next_in_line;
    (void)ctx;
    (void)dep;
    told++;
    next_in_line = NULL;
    if (call)
        answer_on_the_spot = bide_call_next(call, 0);
}

static void queue_place_may_be_taken_inside_the_hook(void **state)
{
    bide_policy_conf conf = capped(1, 9);
    bide_dep *dep =
        new_dep_in(&conf, (bide_host){ .on_place = ask_on_the_spot });
    bide_call running, a;
    (void)state;
    told = 0;
    start(&running, dep, 0);
    queue_up(&a, dep, 0);
    next_in_line = &a;
    report(&running, BIDE_SUCCESS, 0);
    assert_int_equal(told, 1);
    assert_int_equal(answer_on_the_spot.action, BIDE_TRY);
    assert_limits(dep, 1, 0);
    bide_call_end(&running, 0);
    bide_call_end(&a, 0);
    bide_dep_free(dep);
}

/* A queued call gets its place, but the breaker is half-open and full: it must
 * be out of the queue when it tells of the place, or it may be asked for inside
 * its own question. */
static uint64_t queued_when_told;

static void look_at_the_queue(void *ctx, const bide_dep *dep)
{
    (void)ctx;
    told++;
    queued_when_told = stats_of(dep, 0).queued;
}

static void regress_queue_refused_probe_leaves_before_it_tells(void **state)
{
    bide_policy_conf conf = capped(2, 9);
    conf.attempts = 1;
    conf.breaker.probes = 1;
    conf.breaker.open_jitter = 0;
    conf.breaker.min_calls = 1;
    conf.attempt_timeout_ns = 60 * S;
    bide_dep *dep =
        new_dep_in(&conf, (bide_host){ .on_place = look_at_the_queue });
    bide_call probe, other, a, b;
    (void)state;
    told = 0;
    start(&other, dep, 0);
    one_call(dep, BIDE_TRANSIENT, 0, 0); /* opens it */
    start(&probe, dep, 30 * S);
    queue_up(&a, dep, 30 * S);
    queue_up(&b, dep, 30 * S);
    report(&other, BIDE_SUCCESS, 30 * S); /* late; frees a place */
    assert_int_equal(told, 1);
    assert_int_equal(queued_when_told, 2);
    assert_int_equal(bide_call_next(&a, 30 * S).reason,
                     BIDE_BECAUSE_BREAKER_OPEN);
    assert_int_equal(told, 2);
    assert_int_equal(queued_when_told, 1);
    bide_call_end(&a, 30 * S);
    bide_call_end(&b, 30 * S);
    bide_call_end(&probe, 30 * S);
    bide_call_end(&other, 30 * S);
    assert_limits(dep, 0, 0);
    bide_dep_free(dep);
}

/* The rate's token is had once; the time in the queue is another matter. */
/* A loop written by call.h alone sleeps until it is told to ask again: nobody
 * tells it of a place. */
static void queue_without_a_host_is_asked_again_soon(void **state)
{
    bide_policy_conf conf = capped(1, 9);
    conf.limits.queue_timeout_ns = 10 * S;
    bide_dep *dep = new_dep(&conf);
    bide_call running, a;
    int asked = 0;
    (void)state;
    start(&running, dep, 0);
    bide_decision d = begin(&a, dep, 0);
    int64_t now = 0;
    for (; d.action == BIDE_WAIT && now < 2 * S; asked++) {
        assert_int_equal(d.reason, BIDE_BECAUSE_QUEUED);
        assert_true(d.at_ns > now && d.at_ns <= now + 50 * MS);
        now = d.at_ns;
        d = bide_call_next(&a, now);
    }
    assert_true(asked > 30 && asked < 100);
    report(&running, BIDE_SUCCESS, now);
    now = d.at_ns;
    assert_int_equal(bide_call_next(&a, now).action, BIDE_TRY);
    bide_call_end(&a, now);
    bide_call_end(&running, now);
    bide_dep_free(dep);
}

static void regress_queue_after_pacing_gets_the_place(void **state)
{
    bide_policy_conf conf = capped(1, 9);
    conf.attempts = 1;
    conf.limits.adaptive_rate = true;
    bide_dep *dep = new_capped(&conf);
    bide_call running, a;
    (void)state;
    one_call(dep, BIDE_THROTTLED, 0, 0); /* now a token every 2 s */
    start(&running, dep, 2 * S);
    bide_decision d = begin(&a, dep, 2 * S);
    assert_int_equal(d.reason, BIDE_BECAUSE_PACED);
    int64_t now = d.at_ns;
    d = bide_call_next(&a, now);
    assert_int_equal(d.reason, BIDE_BECAUSE_QUEUED);
    assert_true(d.at_ns == now + S);
    d = bide_call_next(&a, now + 1);
    assert_int_equal(d.reason, BIDE_BECAUSE_QUEUED);
    report(&running, BIDE_SUCCESS, now + 1);
    assert_int_equal(told, 1);
    assert_int_equal(bide_call_next(&a, now + 1).action, BIDE_TRY);
    bide_call_end(&a, now + 1);
    bide_call_end(&running, now + 1);
    assert_limits(dep, 0, 0);
    bide_dep_free(dep);
}

/* A hedge waits for nothing. */
static void in_flight_hedge_does_not_queue(void **state)
{
    bide_policy_conf conf = capped(1, 9);
    conf.attempts = 1;
    conf.hedge.max = 1;
    conf.hedge.after_ns = 10 * MS;
    conf.hedge.extra_load = 1;
    bide_dep *dep = new_capped(&conf);
    bide_call call;
    (void)state;
    start(&call, dep, 0);
    bide_decision d = bide_call_next(&call, 10 * MS);
    assert_int_equal(d.action, BIDE_WAIT);
    assert_int_equal(d.reason, BIDE_BECAUSE_RUNNING);
    assert_limits(dep, 1, 0);
    assert_int_equal(report(&call, BIDE_SUCCESS, 20 * MS).reason,
                     BIDE_BECAUSE_SUCCESS);
    bide_call_end(&call, 20 * MS);
    assert_int_equal(stats_of(dep, 0).hedges_refused, 1);
    bide_dep_free(dep);
}

/* ===== adaptive throttling ===== */

static bide_policy_conf throttled(double k)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.attempts = 1;
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.limits.adaptive_throttle = true;
    conf.limits.throttle_k = k;
    return conf;
}

/* A generator that gives the same word again and again. */
static uint64_t stuck(void *state)
{
    return *(uint64_t *)state;
}

/* Requests and accepts so far, and the probability that the next is refused:
 * asked with draws just under and just over it. */
static void throttle_probability_is_the_formula(void **state)
{
    static const struct {
        double k;
        int requests, accepts;
    } rows[] = {
        { 2, 0, 0 },        { 2, 1, 0 },      { 2, 10, 0 },    { 2, 100, 50 },
        { 2, 100, 49 },     { 2, 100, 20 },   { 2, 100, 0 },   { 1, 100, 99 },
        { 1, 100, 100 },    { 1.5, 100, 60 }, { 100, 100, 1 }, { 100, 101, 1 },
        { 1.1, 1000, 909 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = throttled(rows[i].k);
        bide_dep *dep = new_dep(&conf);
        uint64_t word = UINT64_MAX; /* never refuses while it fills up */
        bide_rng rng = { stuck, &word };
        for (int n = 0; n < rows[i].requests; n++)
            bide__throttle_refuses(dep->lanes, &dep->lanes[n % 4], &dep->policy,
                                   &rng, S);
        for (int n = 0; n < rows[i].accepts; n++)
            bide__throttle_accepted(&dep->lanes[n % 4], &dep->policy, S);

        double p = (rows[i].requests - rows[i].k * rows[i].accepts) /
                   (rows[i].requests + 1.0);
        for (int over = 0; over < 2; over++) {
            struct bide__lane *copy =
                test_malloc(4 * sizeof *copy + _Alignof(struct bide__lane));
            struct bide__lane *lanes =
                (struct bide__lane *)(((uintptr_t)copy + 63) & ~(uintptr_t)63);
            memcpy(lanes, dep->lanes, 4 * sizeof *lanes);
            double draw = p + (over ? 2e-6 : -2e-6);
            if (draw >= 0) {
                word = (uint64_t)(draw * 18446744073709549568.0);
                assert_int_equal(
                    bide__throttle_refuses(lanes, lanes, &dep->policy, &rng, S),
                    !over);
            } else {
                word = 0;
                assert_int_equal(
                    bide__throttle_refuses(lanes, lanes, &dep->policy, &rng, S),
                    p > 0);
            }
            test_free(copy);
        }
        bide_dep_free(dep);
    }
}

/* What counts as accepted: any answer of a dependency that works. What says
 * nothing of it was no request. */
static void throttle_accepts_by_outcome(void **state)
{
    static const struct {
        bide_outcome out;
        uint64_t accepts, requests;
    } rows[] = {
        { { .cls = BIDE_SUCCESS }, 1, 1 },
        { { .cls = BIDE_PERMANENT, .status = 404 }, 1, 1 },
        { { .cls = BIDE_THROTTLED }, 0, 1 },
        { { .cls = BIDE_OVERLOADED }, 0, 1 },
        { { .cls = BIDE_TRANSIENT }, 0, 1 },
        { { .cls = BIDE_IGNORED }, 0, 0 },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_LOCAL }, 0, 0 },
        { { .cls = BIDE_IGNORED, .fault = BIDE_FAULT_UPLOAD }, 0, 0 },
    };
    bide_policy_conf conf = throttled(2);
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep = new_dep(&conf);
        bide_call call;
        uint64_t tick = bide__tick(dep->policy.throttle_ticks, S);
        start(&call, dep, S);
        bide_call_report(&call, 1, &rows[i].out, S);
        bide_call_end(&call, S);
        assert_int_equal(bide__lanes_sum(dep->lanes, 4,
                                         offsetof(struct bide__lane, accepts),
                                         tick, 0),
                         rows[i].accepts);
        assert_int_equal(bide__lanes_sum(dep->lanes, 4,
                                         offsetof(struct bide__lane, requests),
                                         tick, 0),
                         rows[i].requests);
        bide_dep_free(dep);
    }
}

/* A backend that accepts 100 a second is offered 1000: it sees K times its
 * capacity, once the window is full. */
static void throttle_backend_sees_k_times_its_capacity(void **state)
{
    static const double ks[] = { 1.5, 2, 3, 5 };
    enum { OFFERED = 1000, CAPACITY = 100, WINDOW_S = 20, MEASURED_S = 200 };
    (void)state;
    for (size_t i = 0; i < COUNT(ks); i++) {
        bide_policy_conf conf = throttled(ks[i]);
        conf.limits.throttle_window_ns = WINDOW_S * S;
        bide_dep *dep = new_dep(&conf);
        double seen = 0, room = 0;
        for (int64_t t = 0; t < (3 * WINDOW_S + MEASURED_S) * OFFERED; t++) {
            int64_t now = t * (S / OFFERED);
            bide_call call;
            bide_decision d = begin(&call, dep, now);
            room += (double)CAPACITY / OFFERED; /* half a second's worth */
            room = room < 50 ? room : 50;
            if (d.action == BIDE_TRY) {
                bool in = room >= 1;
                room -= in;
                seen += t >= 3 * WINDOW_S * OFFERED;
                report(&call, in ? BIDE_SUCCESS : BIDE_THROTTLED, now);
            } else {
                assert_int_equal(d.reason, BIDE_BECAUSE_LOCAL_THROTTLE);
            }
            bide_call_end(&call, now);
        }
        double ratio = seen / MEASURED_S / CAPACITY / ks[i];
        if (ratio < 0.98 || ratio > 1.02)
            fail_msg("K = %g: the backend sees %g of that", ks[i], ratio);
        bide_dep_free(dep);
    }
}

/* Under the limit nothing is refused; and when a refusing backend recovers, so
 * does the client. */
static void throttle_healthy_backend_sees_everything(void **state)
{
    bide_policy_conf conf = throttled(2);
    conf.limits.throttle_window_ns = 2 * S;
    bide_dep *dep = new_dep(&conf);
    int refused = 0;
    (void)state;
    for (int64_t t = 0; t < 10000; t++)
        one_call(dep, t % 2 ? BIDE_TRANSIENT : BIDE_SUCCESS, t * MS, t * MS);
    assert_int_equal(stats_of(dep, 0).done[BIDE_BECAUSE_LOCAL_THROTTLE], 0);
    for (int64_t t = 10000; t < 200000; t++) {
        bide_call call;
        if (begin(&call, dep, t * MS).action == BIDE_TRY)
            report(&call, t < 40000 ? BIDE_TRANSIENT : BIDE_SUCCESS, t * MS);
        else
            refused += t >= 100000; /* a while later */
        bide_call_end(&call, t * MS);
    }
    assert_true(stats_of(dep, 0).done[BIDE_BECAUSE_LOCAL_THROTTLE] > 10000);
    assert_int_equal(refused, 0);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(place_cap_is_kept),
        cmocka_unit_test(in_flight_over_the_cap_fails_fast),
        cmocka_unit_test(in_flight_refused_retry_costs_nothing),
        cmocka_unit_test(in_flight_hedge_does_not_queue),
        cmocka_unit_test(queue_is_bounded),
        cmocka_unit_test(queue_timeout_refuses),
        cmocka_unit_test(queue_ends_with_the_deadline),
        cmocka_unit_test(queue_is_left_by_whoever_ends),
        cmocka_unit_test(queue_place_may_be_taken_inside_the_hook),
        cmocka_unit_test(regress_queue_wakeup_is_passed_on),
        cmocka_unit_test(regress_queue_refused_probe_leaves_before_it_tells),
        cmocka_unit_test(queue_without_a_host_is_asked_again_soon),
        cmocka_unit_test(regress_queue_after_pacing_gets_the_place),
        cmocka_unit_test(throttle_probability_is_the_formula),
        cmocka_unit_test(throttle_accepts_by_outcome),
        cmocka_unit_test(throttle_backend_sees_k_times_its_capacity),
        cmocka_unit_test(throttle_healthy_backend_sees_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
