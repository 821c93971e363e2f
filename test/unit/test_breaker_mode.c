/* test_breaker_mode.c: forced, dry and off; and who is told of it. */
#include "breaker_steps.h"

/* ===== modes ===== */

static void breaker_forced_open_refuses_all(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.mode = BIDE_BREAKER_FORCED_OPEN;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_true(refused(dep, 0).at_ns == BIDE_FOREVER);
    assert_int_equal(bide_dep_breaker(dep, 0), BIDE_BREAKER_OPEN);
    assert_int_equal(view_of(dep, 0).mode, BIDE_BREAKER_FORCED_OPEN);
    assert_int_equal(bide_dep_force_breaker(dep, BIDE_BREAKER_NORMAL), 0);
    assert_int_equal(view_of(dep, 0).mode, BIDE_BREAKER_NORMAL);
    many(dep, BIDE_SUCCESS, 5, 0);
    assert_int_equal(stats_of(dep, 0).breaker_to[BIDE_BREAKER_OPEN], 0);

    /* and a call that runs meanwhile gets no retry */
    bide_call call;
    start(&call, dep, 0);
    bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_OPEN);
    bide_decision d = report(&call, BIDE_THROTTLED, 0);
    assert_int_equal(d.action, BIDE_DONE);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

static void breaker_forced_closed_refuses_none(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.mode = BIDE_BREAKER_FORCED_CLOSED;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    many(dep, BIDE_TRANSIENT, 50, 0);
    assert_int_equal(bide_dep_breaker(dep, 0), BIDE_BREAKER_CLOSED);
    assert_int_equal(stats_of(dep, 0).breaker_to[BIDE_BREAKER_OPEN], 0);
    assert_int_equal(view_of(dep, 0).failed,
                     50); /* what it has counted stays */
    bide_dep_force_breaker(dep, BIDE_BREAKER_NORMAL);
    many(dep, BIDE_TRANSIENT, 1, 0);
    assert_int_equal(bide_dep_breaker(dep, 0), BIDE_BREAKER_OPEN);

    bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_CLOSED);
    many(dep, BIDE_TRANSIENT, 50, S); /* though it is open underneath */
    assert_int_equal(bide_dep_breaker(dep, S), BIDE_BREAKER_CLOSED);
    bide_dep_force_breaker(dep, BIDE_BREAKER_NORMAL);
    refused(dep, S);
    bide_dep_free(dep);
}

static void breaker_dry_run_counts_and_never_refuses(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.mode = BIDE_BREAKER_DRY_RUN;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    int64_t now = trip(dep, 0);
    many(dep, BIDE_TRANSIENT, 100, 0); /* not refused */
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_HALF_OPEN);
    bide_call calls[10];
    for (int i = 0; i < 10; i++)
        start(&calls[i], dep, now); /* three of them are probes */
    for (int i = 3; i < 10; i++)
        report(&calls[i], BIDE_TRANSIENT, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_HALF_OPEN);
    for (int i = 0; i < 3; i++)
        report(&calls[i], BIDE_SUCCESS, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
    for (int i = 0; i < 10; i++)
        bide_call_end(&calls[i], now);
    bide_stats s = stats_of(dep, now);
    assert_int_equal(s.breaker_to[BIDE_BREAKER_OPEN], 1);
    assert_int_equal(s.breaker_to[BIDE_BREAKER_HALF_OPEN], 1);
    assert_int_equal(s.breaker_to[BIDE_BREAKER_CLOSED], 1);
    assert_int_equal(s.done[BIDE_BECAUSE_BREAKER_OPEN], 0);
    bide_dep_free(dep);
}

static void regress_breaker_dry_run_retries_a_probe(void **state)
{
    bide_policy_conf conf = steady();
    conf.attempts = 4;
    conf.breaker.mode = BIDE_BREAKER_DRY_RUN;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    int64_t now = trip(dep, 0);
    bide_call call;
    start(&call, dep, now);
    assert_int_equal(report(&call, BIDE_TRANSIENT, now).action, BIDE_WAIT);
    bide_call_end(&call, now);
    bide_dep_free(dep);
}

/* Hedges go out while the breaker is closed, or is not to be listened to. */
static void regress_breaker_modes_let_hedges_through(void **state)
{
    static const struct {
        bide_breaker_mode mode;
        bool tripped, hedged;
    } rows[] = {
        { BIDE_BREAKER_NORMAL, false, true },
        { BIDE_BREAKER_NORMAL, true, false },
        { BIDE_BREAKER_FORCED_OPEN, false, false },
        { BIDE_BREAKER_FORCED_CLOSED, false, true },
        { BIDE_BREAKER_FORCED_CLOSED, true, true },
        { BIDE_BREAKER_DRY_RUN, false, true },
        { BIDE_BREAKER_DRY_RUN, true, true },
    };
    bide_policy_conf conf = steady();
    (void)state;
    conf.hedge.max = 1;
    conf.hedge.after_ns = 10 * MS;
    conf.hedge.extra_load = 1;
    conf.budget.kind = BIDE_BUDGET_OFF;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep = new_dep(&conf);
        bide_call call;
        start(&call, dep, 0);
        if (rows[i].tripped)
            trip(dep, 0);
        bide_dep_force_breaker(dep, rows[i].mode);
        bide_decision d = bide_call_next(&call, 10 * MS);
        if ((d.action == BIDE_TRY) != rows[i].hedged)
            fail_msg("row %zu", i);
        bide_call_end(&call, 10 * MS);
        bide_dep_free(dep);
    }
}

static void breaker_bad_mode_is_refused(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    bide_breaker_view view;
    (void)state;
    assert_int_equal(bide_dep_force_breaker(NULL, BIDE_BREAKER_NORMAL),
                     BIDE_EINVAL);
    assert_int_equal(bide_dep_force_breaker(dep, (bide_breaker_mode)4),
                     BIDE_EINVAL);
    assert_int_equal(bide_dep_force_breaker(dep, (bide_breaker_mode)-1),
                     BIDE_EINVAL);
    assert_int_equal(bide_dep_breaker_view(NULL, 0, &view), BIDE_EINVAL);
    assert_int_equal(bide_dep_breaker_view(dep, 0, NULL), BIDE_EINVAL);
    assert_int_equal(bide_dep_breaker(NULL, 0), BIDE_BREAKER_CLOSED);
    bide_dep_free(dep);
}

/* ===== probes before their time ===== */

static void note_turn(void *ctx, const bide_dep *dep, bide_breaker_state from,
                      bide_breaker_state to, int64_t now)
{
    (void)dep;
    (void)now;
    *(unsigned *)ctx = *(unsigned *)ctx * 100 + (unsigned)from * 10 + to;
}

static void breaker_probe_now_ends_the_open_time(void **state)
{
    bide_policy_conf conf = steady();
    unsigned turns = 0;
    bide_dep *dep = new_dep_in(
        &conf, (bide_host){ .ctx = &turns, .on_breaker = note_turn });
    (void)state;
    assert_int_equal(bide_dep_probe_now(NULL, 0), BIDE_EINVAL);
    assert_int_equal(bide_dep_probe_now(dep, 0), BIDE_ESTATE);
    trip(dep, 0);
    refused(dep, MS);
    assert_int_equal(bide_dep_probe_now(dep, MS), 0);
    assert_int_equal(bide_dep_probe_now(dep, MS), BIDE_ESTATE);
    recover(dep, MS);
    assert_int_equal(turns, 11220); /* 0 to 1, 1 to 2, 2 to 0: announced */
    bide_dep_free(dep);
}

static void breaker_probe_now_leaves_a_forced_one(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    (void)state;
    trip(dep, 0);
    bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_OPEN);
    assert_int_equal(bide_dep_probe_now(dep, MS), BIDE_ESTATE);
    bide_dep_force_breaker(dep, BIDE_BREAKER_NORMAL);
    refused(dep, MS); /* open as before */
    bide_dep_free(dep);
}

/* Flapping is what is counted here: one long outage is one trip. */
static void breaker_trips_leave_out_failed_probes(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    int64_t now = trip(dep, 0);
    (void)state;
    many(dep, BIDE_TRANSIENT, 1, now);
    now = view_of(dep, now).open_until_ns;
    assert_int_equal(stats_of(dep, now).breaker_to[BIDE_BREAKER_OPEN], 2);
    assert_int_equal(stats_of(dep, now).breaker_trips, 1);
    recover(dep, now);
    trip(dep, now);
    assert_int_equal(stats_of(dep, now).breaker_to[BIDE_BREAKER_OPEN], 3);
    assert_int_equal(stats_of(dep, now).breaker_trips, 2);
    bide_dep_free(dep);
}

static void breaker_off_never_opens(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.kind = BIDE_BREAKER_OFF;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    many(dep, BIDE_TRANSIENT, 500, 0);
    assert_int_equal(bide_dep_breaker(dep, 0), BIDE_BREAKER_CLOSED);
    bide_dep_free(dep);
}

/* ===== the callback ===== */

struct watcher {
    bide_dep *dep;
    int n;
    char seen[64]; /* "co" for closed to open, and so on */
    bool inside;
};

/* Calls back into the dependency: reads it, and makes whole calls. */
static void watch(void *ctx, const bide_dep *dep, bide_breaker_state from,
                  bide_breaker_state to, int64_t now)
{
    struct watcher *w = ctx;
    bide_stats s;
    bide_call call;
    assert_ptr_equal(dep, w->dep);
    w->seen[w->n++] = "coh"[from];
    w->seen[w->n++] = "coh"[to];
    bide_dep_stats(dep, now, &s);
    assert_int_equal(s.breaker, to);
    if (w->inside)
        return;
    w->inside = true;
    bide_decision d = begin(&call, w->dep, now);
    assert_int_equal(d.action, to == BIDE_BREAKER_OPEN ? BIDE_DONE : BIDE_TRY);
    if (d.action == BIDE_TRY)
        report(&call, BIDE_SUCCESS, now);
    bide_call_end(&call, now);
    w->inside = false;
}

static void breaker_callback_is_called_once_per_transition(void **state)
{
    bide_policy_conf conf = steady();
    struct watcher w = { .n = 0 };
    bide_dep *dep =
        new_dep_in(&conf, (bide_host){ .ctx = &w, .on_breaker = watch });
    (void)state;
    w.dep = dep;
    w.inside = true; /* first without the calls */
    int64_t now = trip(dep, 0);
    assert_string_equal(w.seen, "co");
    refused(dep, now - 1);
    one_call(dep, BIDE_TRANSIENT, now, now);
    assert_string_equal(w.seen, "coohho");
    now = view_of(dep, now).open_until_ns;
    recover(dep, now);
    assert_string_equal(w.seen, "coohhoohhc");
    bide_dep_force_breaker(dep,
                           BIDE_BREAKER_FORCED_OPEN); /* not a transition */
    refused(dep, now);
    assert_string_equal(w.seen, "coohhoohhc");
    bide_dep_free(dep);
}

static void breaker_callback_may_call_the_dependency(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.probes = 2;
    struct watcher w = { .n = 0 };
    bide_dep *dep =
        new_dep_in(&conf, (bide_host){ .ctx = &w, .on_breaker = watch });
    bide_call call;
    (void)state;
    w.dep = dep;
    int64_t now = trip(dep, 0);
    start(&call, dep, now); /* the callback's own call was the other probe */
    assert_int_equal(view_of(dep, now).attempts, 1);
    report(&call, BIDE_SUCCESS, now);
    bide_call_end(&call, now);
    assert_string_equal(w.seen, "coohhc");
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaker_forced_open_refuses_all),
        cmocka_unit_test(breaker_forced_closed_refuses_none),
        cmocka_unit_test(breaker_dry_run_counts_and_never_refuses),
        cmocka_unit_test(regress_breaker_dry_run_retries_a_probe),
        cmocka_unit_test(regress_breaker_modes_let_hedges_through),
        cmocka_unit_test(breaker_bad_mode_is_refused),
        cmocka_unit_test(breaker_probe_now_ends_the_open_time),
        cmocka_unit_test(breaker_probe_now_leaves_a_forced_one),
        cmocka_unit_test(breaker_trips_leave_out_failed_probes),
        cmocka_unit_test(breaker_off_never_opens),
        cmocka_unit_test(breaker_callback_is_called_once_per_transition),
        cmocka_unit_test(breaker_callback_may_call_the_dependency),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
