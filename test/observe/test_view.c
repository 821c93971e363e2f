/* test_view.c: samples, the journal, the ideal shape of waits, and the state
 * that is made of them. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "config/doc/tree.h"
#include "observe/event/history.h"
#include "observe/admin/condition.h"
#include "observe/admin/ideal.h"
#include "observe/event/journal.h"
#include "scene.h"
#include "observe/admin/view.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ===== history ===== */

static const int FINE[] = { 200, 0 }, LATE[] = { 503, 200, 0 },
                 WRONG[] = { 404, 0 };

static void history_samples_are_differences(void **state)
{
    static struct bide__history h;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep = scene_dep("pay", &conf);
    struct bide__observed_dep d = { .name = "pay", .policy = "", .dep = dep };
    struct bide__observed w = { .deps = &d, .n_deps = 1 };
    const struct bide__sample *s;

    (void)state;
    scene_call(dep, 0, FINE); /* before anybody looked */
    bide__history_tick(&h, &w, BIDE_SECOND);
    assert_int_equal(bide__track_samples(bide__history_find(&h, "pay")), 0);

    for (int i = 0; i < 3; i++)
        scene_call(dep, BIDE_SECOND, FINE);
    scene_call(dep, BIDE_SECOND, LATE);
    scene_call(dep, BIDE_SECOND, WRONG);
    bide__history_tick(&h, &w, 3 * BIDE_SECOND);
    s = bide__track_sample(bide__history_find(&h, "pay"), 0);
    assert_true(s->seconds == 2);
    assert_int_equal(s->first, 3);
    assert_int_equal(s->late, 1);
    assert_int_equal(s->refused[BIDE_BECAUSE_PERMANENT], 1);
    assert_int_equal(s->attempts, 6);
    assert_int_equal(s->backoff, 1);
    assert_true(s->p50_attempt_ms > 9 && s->p50_attempt_ms < 12);
    assert_true(s->p99_call_ms >= s->p99_attempt_ms);

    bide__history_tick(&h, &w, 4 * BIDE_SECOND);
    s = bide__track_sample(bide__history_find(&h, "pay"), 0);
    assert_int_equal(s->first + s->late + s->attempts, 0);
    assert_true(s->p50_call_ms == -1);
    bide__history_tick(&h, &w, 4 * BIDE_SECOND); /* time stood still */
    assert_int_equal(bide__track_samples(bide__history_find(&h, "pay")), 2);
    bide__history_done(&h);
    bide_dep_free(dep);
}

static void history_keeps_the_last_minutes(void **state)
{
    static struct bide__history h;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep = scene_dep("pay", &conf), *other = scene_dep("pay", &conf);
    struct bide__observed_dep d = { .name = "pay", .policy = "", .dep = dep };
    struct bide__observed w = { .deps = &d, .n_deps = 1 };

    (void)state;
    for (int64_t t = 0; t <= 315; t++)
        bide__history_tick(&h, &w, t * BIDE_SECOND);
    const struct bide__track *track = bide__history_find(&h, "pay");
    assert_true(bide__track_sample(track, 0)->at_ns == 315 * BIDE_SECOND);

    /* A reload made it anew: it goes on from the one before. */
    scene_call(dep, 0, FINE);
    scene_call(other, 0, FINE);
    d.dep = other;
    d.prior = dep;
    bide__history_tick(&h, &w, 400 * BIDE_SECOND);
    assert_int_equal(bide__track_sample(track, 0)->first, 2);
    scene_call(other, 0, FINE);
    bide__history_tick(&h, &w, 401 * BIDE_SECOND);
    assert_int_equal(bide__track_sample(track, 0)->first, 1);

    w.n_deps = 0; /* gone from the list */
    bide__history_tick(&h, &w, 402 * BIDE_SECOND);
    assert_null(bide__history_find(&h, "pay"));
    bide__history_done(&h);
    bide_dep_free(dep);
    bide_dep_free(other);
}

/* Fifteen minutes without gap or overlap at any moment, whose parts have what the
 * whole has: five minutes by the second, and before that by ten. */
static void history_of_fifteen_minutes_has_no_gap(void **state)
{
    static struct bide__history h;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep = scene_dep("pay", &conf);
    struct bide__observed_dep d = { .name = "pay", .policy = "", .dep = dep };
    struct bide__observed w = { .deps = &d, .n_deps = 1 };

    (void)state;
    for (int64_t t = 0; t <= 2000; t++) {
        bide__history_tick(&h, &w, t * BIDE_SECOND);
        scene_call(dep, t * BIDE_SECOND, FINE);
        const struct bide__track *track = bide__history_find(&h, "pay");
        size_t n = bide__track_samples(track);
        int64_t at = t * BIDE_SECOND;
        uint32_t calls = 0;
        for (size_t age = 0; age < n; age++) {
            const struct bide__sample *s = bide__track_sample(track, age);
            assert_true(s->at_ns == at);
            at -= (int64_t)((double)s->seconds * 1e9 + 0.5);
            calls += s->first;
            if (age < 300)
                assert_true(s->seconds == 1);
        }
        assert_int_equal(calls, t - at / BIDE_SECOND);
        if (t < 900)
            assert_int_equal(at, 0);
        else
            assert_in_range(calls, 900, 909);
    }
    bide__history_done(&h);
    bide_dep_free(dep);
}

/* All that is added to nothing is all there is: none is forgotten. */
static void totals_are_all_added(void **state)
{
    bide_stats from, to;

    (void)state;
    memset(&from, 0x11, sizeof from);
    memset(&to, 0, sizeof to);
    bide__stats_add(&to, &from);
    to.breaker = from.breaker; /* what is no total */
    to.budget_left = from.budget_left;
    to.rate = from.rate;
    to.in_flight = from.in_flight;
    to.queued = from.queued;
    memset(&from.in_flight_limit, 0,
           offsetof(bide_stats, wait_computed) -
               offsetof(bide_stats, in_flight_limit)); /* with the padding */
    memset(&from.breaker, 0,
           offsetof(bide_stats, breaker_to) - offsetof(bide_stats, breaker));
    memset(&to.breaker, 0,
           offsetof(bide_stats, breaker_to) -
               offsetof(bide_stats, breaker)); /* padding */
    assert_memory_equal(&to, &from, sizeof to);
}

/* ===== the journal ===== */

static struct bide__event refused(const char *dep, bide_reason reason,
                                  int64_t at)
{
    struct bide__event e;
    bide__event_call(&e, 0, reason, NULL, at, at);
    bide__event_put(&e, BIDE__DEP, dep, strlen(dep));
    return e;
}

static void journal_keeps_decisions_and_nothing_else(void **state)
{
    static struct bide__journal j;
    const struct bide__entry *list[BIDE__JOURNAL_SHOWN];
    struct bide__event e[3];

    (void)state;
    scene_events(e); /* a failed attempt, a good one, the call */
    for (int i = 0; i < 3; i++)
        bide__journal_add(&j, &e[i]);
    assert_int_equal(bide__journal_list(&j, NULL, list), 1);
    assert_int_equal(list[0]->event.status, 503);
    assert_int_equal(list[0]->id, 1);
    bide__journal_done(&j);
}

static void journal_counts_refusals_in_a_row(void **state)
{
    static struct bide__journal j;
    const struct bide__entry *list[BIDE__JOURNAL_SHOWN];
    struct bide__event e;

    (void)state;
    for (int i = 1; i <= 5; i++) {
        e = refused("pay", BIDE_BECAUSE_BREAKER_OPEN, i);
        bide__journal_add(&j, &e);
    }
    e = refused("search", BIDE_BECAUSE_BREAKER_OPEN, 6);
    bide__journal_add(&j, &e);
    e = refused("pay", BIDE_BECAUSE_IN_FLIGHT, 7);
    bide__journal_add(&j, &e);
    e = refused("pay", BIDE_BECAUSE_BREAKER_OPEN, 8);
    bide__journal_add(&j, &e);
    assert_int_equal(bide__journal_list(&j, NULL, list), 4);
    assert_int_equal(list[0]->times, 1); /* newest first */
    assert_int_equal(list[3]->times, 5);
    assert_int_equal(list[3]->event.end_ns, 5);
    bide__journal_done(&j);
}

/* One in trouble does not hide the others. */
static void journal_has_room_for_each(void **state)
{
    static struct bide__journal j;
    const struct bide__entry *list[BIDE__JOURNAL_SHOWN];
    struct bide__event e[3], quiet = refused("quiet", BIDE_BECAUSE_BUDGET, 1);
    bool found = false;

    (void)state;
    bide__journal_add(&j, &quiet);
    scene_events(e);
    for (int i = 0; i < 1000; i++)
        bide__journal_add(&j, &e[0]);
    size_t n = bide__journal_list(&j, NULL, list);
    for (size_t i = 0; i < n; i++)
        found |=
            strcmp(bide__event_get(&list[i]->event, BIDE__DEP), "quiet") == 0;
    assert_true(found);
    assert_int_equal(n, BIDE__JOURNAL + 1);

    for (int i = 0; i < 600; i++) { /* more dependencies than it has room for */
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        quiet = refused(name, BIDE_BECAUSE_BUDGET, 100 + i);
        bide__journal_add(&j, &quiet);
    }
    assert_int_equal(bide__journal_list(&j, NULL, list), BIDE__JOURNAL_SHOWN);
    assert_int_equal(list[BIDE__JOURNAL_SHOWN - 1]->times, 1);

    /* all of the one that is asked for, and the newest of the rest */
    assert_int_equal(bide__journal_list(&j, "pay", list), BIDE__JOURNAL_SHOWN);
    size_t pay = 0;
    for (size_t i = 0; i < BIDE__JOURNAL_SHOWN; i++)
        pay += strcmp(bide__event_get(&list[i]->event, BIDE__DEP), "pay") == 0;
    assert_int_equal(pay, BIDE__JOURNAL);
    bide__journal_done(&j);
}

static void journal_turns(void **state)
{
    static struct bide__journal j;
    struct bide__event e;

    (void)state;
    for (int i = 1; i <= BIDE__JOURNAL_TURNS + 3; i++) {
        bide__event_breaker(&e, "pay", BIDE_BREAKER_CLOSED, BIDE_BREAKER_OPEN,
                            i);
        bide__journal_add(&j, &e);
    }
    assert_int_equal(bide__journal_turns(&j), BIDE__JOURNAL_TURNS);
    assert_int_equal(bide__journal_turn(&j, 0)->at_ns, BIDE__JOURNAL_TURNS + 3);
    assert_int_equal(bide__journal_turn(&j, BIDE__JOURNAL_TURNS - 1)->at_ns, 4);
    bide__journal_done(&j);
}

/* ===== the ideal shape ===== */

static double add_up(const double want[BIDE_N_BUCKETS])
{
    double sum = 0;
    for (int i = 0; i < BIDE_N_BUCKETS; i++)
        sum += want[i];
    return sum;
}

/* Draws by the engine, and compares: no bucket with a share worth seeing is off
 * by more than chance allows. */
static void ideal_is_what_the_engine_draws(void **state)
{
    enum { DRAWS = 40000, RETRIES = 4 };

    (void)state;
    for (int jitter = BIDE_JITTER_NONE; jitter <= BIDE_JITTER_PROPORTIONAL;
         jitter++) {
        bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
        static bide_histogram computed, drawn;
        double want[BIDE_N_BUCKETS];
        bide_stats stats;

        conf.backoff.jitter = (bide_jitter)jitter;
        conf.attempts = RETRIES + 1;
        conf.budget.kind = BIDE_BUDGET_OFF;
        conf.breaker.kind = BIDE_BREAKER_OFF;
        bide_dep *dep = scene_dep("d", &conf);
        static const int all[] = { 503, 503, 503, 503, 503, 0 };
        for (int i = 0; i < DRAWS / RETRIES; i++)
            scene_call(dep, 0, all);
        bide_dep_stats(dep, 0, &stats);
        computed = stats.wait_computed;
        drawn = stats.wait_jittered;
        bide__ideal_waits(&conf.backoff, conf.attempts, &computed, want);
        assert_true(fabs(add_up(want) - DRAWS) < 1);
        for (int i = 0; i < BIDE_N_BUCKETS; i++) {
            double p = want[i] / DRAWS;
            double sigma = sqrt(DRAWS * p * (1 - p)) + 0.03 * want[i] + 3;
            if (fabs((double)drawn.bucket[i] - want[i]) > 5 * sigma)
                fail_msg("%s, bucket %d: %llu drawn, %.1f expected",
                         bide_jitter_name((bide_jitter)jitter), i,
                         (unsigned long long)drawn.bucket[i], want[i]);
        }
        bide_dep_free(dep);
    }
}

/* ===== the state ===== */

static const struct bide__node *at(const struct bide__node *n, const char *key)
{
    const struct bide__node *v = bide__map_get(n, key, NULL);
    if (!v)
        fail_msg("no member `%s`", key);
    return v;
}

static void expect(const struct bide__node *n, const char *key,
                   const char *want)
{
    if (!bide__node_is(at(n, key), want))
        fail_msg("%s is %s, expected %s", key, at(n, key)->text, want);
}

static void state_is_json_with_everything(void **state)
{
    static struct bide__history history;
    static struct bide__journal journal;
    struct bide__out out = { 0 };
    struct bide__tree *tree;
    struct bide__event e[3];
    struct scene s;

    (void)state;
    scene_init(&s);
    scene_events(e);
    for (int i = 0; i < 3; i++)
        bide__journal_add(&journal, &e[i]);
    bide__event_breaker(&e[0], "pay", BIDE_BREAKER_CLOSED, BIDE_BREAKER_OPEN,
                        0);
    bide__journal_add(&journal, &e[0]);
    bide__history_tick(&history, &s.observed, SCENE_NOW - BIDE_SECOND);
    bide__history_tick(&history, &s.observed, SCENE_NOW);
    struct bide__view view = { .program = "scene\"\n",
                               .now_ns = SCENE_NOW,
                               .ready = true,
                               .observed = &s.observed,
                               .history = &history,
                               .journal = &journal };
    bide__view_write(&out, &view);
    assert_int_equal(bide__tree_json(&tree, "s", out.data, out.len, NULL), 0);
    expect(tree->root, "program", "scene\"\n");
    expect(tree->root, "now_ms", "100000");
    assert_int_equal(at(tree->root, "bounds_ms")->n, BIDE_N_BUCKETS + 1);
    const struct bide__node *pay = at(tree->root, "deps")->items[0];
    expect(pay, "name", "pay");
    expect(at(pay, "calls"), "late_success", "1");
    expect(at(pay, "breaker"), "opened", "1");
    expect(at(pay, "second"), "first", "0");
    assert_int_equal(at(pay, "endpoints")->n, 2);
    expect(at(pay, "endpoints")->items[1], "state", "ejected");
    expect(at(pay, "endpoints")->items[1], "retries", "2");
    expect(at(pay, "routes")->items[0], "name", "POST /pay/*");
    expect(at(pay, "routes")->items[0], "retries", "5");
    expect(at(pay, "breaker"), "trips", "1");
    const struct bide__node *search = at(tree->root, "deps")->items[1];
    assert_true(bide__node_is(at(at(search, "budget"), "left"), "null"));
    expect(at(search, "hedges"), "won", "1");
    const struct bide__node *d = at(tree->root, "decisions")->items[0];
    expect(d, "reason", "backoff");
    expect(d, "wait_ms", "120");
    expect(at(tree->root, "turns")->items[0], "to", "open");
    bide__tree_free(tree);

    bide__out_clear(&out);
    bide__view_history(&out, &view);
    assert_int_equal(bide__tree_json(&tree, "h", out.data, out.len, NULL), 0);
    assert_int_equal(at(at(tree->root, "deps"), "pay")->n, 1);
    bide__tree_free(tree);
    bide__out_done(&out);
    bide__history_done(&history);
    bide__journal_done(&journal);
    scene_done(&s);
}

/* Without a collector there is still a state. */
static void state_of_nothing(void **state)
{
    struct bide__observed none = { 0 };
    struct bide__view view = { .program = "p", .observed = &none };
    struct bide__out out = { 0 };
    struct bide__tree *tree;

    (void)state;
    bide__view_write(&out, &view);
    assert_int_equal(bide__tree_json(&tree, "s", out.data, out.len, NULL), 0);
    assert_int_equal(at(tree->root, "deps")->n, 0);
    bide__tree_free(tree);
    bide__out_done(&out);
}

/* With hundreds of dependencies a page needs all of one, and little of each. */
static void state_is_brief_but_for_the_topic(void **state)
{
    static struct bide__history history;
    struct bide__out out = { 0 };
    struct bide__tree *tree;
    struct scene s;

    (void)state;
    scene_init(&s);
    bide__history_tick(&history, &s.observed, SCENE_NOW - BIDE_SECOND);
    bide__history_tick(&history, &s.observed, SCENE_NOW);
    struct bide__view view = { .program = "scene",
                               .file = "/etc/bide.yaml",
                               .now_ns = SCENE_NOW,
                               .observed = &s.observed,
                               .history = &history,
                               .topic = bide__view_topic(s.deps[1].name) };
    bide__view_write(&out, &view);
    assert_int_equal(bide__tree_json(&tree, "s", out.data, out.len, NULL), 0);
    expect(tree->root, "file", "/etc/bide.yaml");
    const struct bide__node *pay = at(tree->root, "deps")->items[0];
    expect(pay, "brief", "true");
    expect(pay, "endpoints_up", "1");
    expect(pay, "endpoints_all", "2");
    expect(at(pay, "breaker"), "opened", "1");
    assert_null(bide__map_get(pay, "rules", NULL));
    assert_non_null(
        bide__map_get(at(tree->root, "deps")->items[1], "rules", NULL));
    bide__tree_free(tree);

    view.topic = bide__view_topic("pay");
    bide__out_clear(&out);
    bide__view_history(&out, &view);
    assert_int_equal(bide__tree_json(&tree, "h", out.data, out.len, NULL), 0);
    assert_int_equal(at(tree->root, "deps")->n, 1);
    bide__tree_free(tree);

    view.topic = 0;
    bide__out_clear(&out);
    bide__view_brief_history(&out, &view);
    assert_int_equal(bide__tree_json(&tree, "b", out.data, out.len, NULL), 0);
    assert_int_equal(at(tree->root, "deps")->n, 2);
    assert_int_equal(at(at(tree->root, "deps"), "pay")->items[0]->n, 5);
    bide__tree_free(tree);
    bide__out_done(&out);
    bide__history_done(&history);
    scene_done(&s);
}

/* ===== the condition ===== */

/* So many calls with this outcome, then a look at it. */
static struct bide__condition condition_after(bide_dep *dep, int calls,
                                              const int *statuses,
                                              enum bide__endpoint_state first,
                                              enum bide__endpoint_state second,
                                              bool faults)
{
    static struct bide__history history;
    struct bide__observed_endpoint ends[] = {
        { .upstream = "u", .address = "a", .state = first },
        { .upstream = "u", .address = "b", .state = second },
    };
    struct bide__observed_dep d = {
        .name = "d", .policy = "", .upstream = "u", .dep = dep, .faults = faults
    };
    struct bide__observed w = {
        .deps = &d, .n_deps = 1, .endpoints = ends, .n_endpoints = 2
    };
    struct bide__view view = { .now_ns = 3 * BIDE_SECOND,
                               .observed = &w,
                               .history = &history };

    bide__history_tick(&history, &w, BIDE_SECOND);
    for (int i = 0; i < calls; i++)
        scene_call(dep, BIDE_SECOND, statuses);
    bide__history_tick(&history, &w, 3 * BIDE_SECOND);
    struct bide__condition c = bide__condition_of(&view, &d);
    bide__history_done(&history);
    return c;
}

static void condition_names_the_worst_sign(void **state)
{
    static const int bad[] = { 500, 500, 500, 500, 0 },
                     twice[] = { 500, 200, 0 };
    static const struct {
        int calls;
        const int *statuses;
        bide_breaker_mode mode;
        enum bide__endpoint_state first, second;
        bool faults;
        enum bide__mood mood;
        const char *why;
    } rows[] = {
        { 0, FINE, 0, 0, 0, false, BIDE__MOOD_IDLE, "" },
        { 5, FINE, 0, 0, 0, false, BIDE__MOOD_GOOD, "" },
        { 5, WRONG, 0, 0, 0, false, BIDE__MOOD_GOOD, "" }, /* no failure */
        { 1, bad, 0, 0, 0, false, BIDE__MOOD_WARN, "some calls fail" },
        { 3, bad, 0, 0, 0, false, BIDE__MOOD_BAD, "100% of calls fail" },
        { 3, twice, 0, 0, 0, false, BIDE__MOOD_WARN, "many retries" },
        { 2, twice, 0, 0, 0, false, BIDE__MOOD_GOOD, "" }, /* chance */
        { 5, FINE, BIDE_BREAKER_FORCED_OPEN, 0, 0, false, BIDE__MOOD_BAD,
          "breaker forced open" },
        { 5, FINE, BIDE_BREAKER_FORCED_CLOSED, 0, 0, false, BIDE__MOOD_WARN,
          "breaker forced closed" },
        { 5, FINE, 0, BIDE__ENDPOINT_DOWN, BIDE__ENDPOINT_EJECTED, false,
          BIDE__MOOD_BAD, "no endpoint up" },
        { 5, FINE, 0, BIDE__ENDPOINT_UP, BIDE__ENDPOINT_DOWN, false,
          BIDE__MOOD_WARN, "1 of 2 endpoints out" },
        { 5, FINE, 0, 0, 0, true, BIDE__MOOD_WARN, "faults injected" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
        conf.breaker.mode = rows[i].mode;
        bide_dep *dep = scene_dep("d", &conf);
        struct bide__condition c =
            condition_after(dep, rows[i].calls, rows[i].statuses, rows[i].first,
                            rows[i].second, rows[i].faults);
        if (c.mood != rows[i].mood || strcmp(c.why, rows[i].why) != 0)
            fail_msg("row %zu: %s, %s", i, bide__mood_name(c.mood), c.why);
        bide_dep_free(dep);
    }
}

/* Calls that wait have not failed: there is nothing to count yet. */
static void condition_says_unreachable_before_a_call_fails(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_outcome nobody = bide_outcome_errno(ECONNREFUSED, true);
    struct bide__observed_dep d = { .name = "d",
                                    .policy = "",
                                    .upstream = "u" };
    struct bide__observed w = { .deps = &d, .n_deps = 1 };
    struct bide__view view = { .now_ns = BIDE_SECOND, .observed = &w };
    struct bide__condition c;
    bide_op op = { .idempotent = true };
    bide_call call;

    (void)state;
    d.dep = scene_dep("d", &conf);
    bide_call_begin(&call, d.dep, &op, BIDE_SECOND);
    for (int64_t t = BIDE_SECOND; t < 2 * BIDE_SECOND; t += BIDE_SECOND / 20) {
        bide_decision what = bide_call_next(&call, t);
        assert_int_not_equal(what.action, BIDE_DONE);
        if (what.action == BIDE_TRY)
            bide_call_report(&call, what.attempt, &nobody, t);
    }
    view.now_ns = 3 * BIDE_SECOND;
    c = bide__condition_of(&view, &d);
    assert_int_equal(c.mood, BIDE__MOOD_BAD);
    assert_string_equal(c.why, "unreachable for 2s");
    d.trouble = "broker away"; /* the program knows better */
    c = bide__condition_of(&view, &d);
    assert_int_equal(c.mood, BIDE__MOOD_BAD);
    assert_string_equal(c.why, "broker away");
    bide_call_end(&call, view.now_ns);
    bide_dep_free(d.dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history_samples_are_differences),
        cmocka_unit_test(history_keeps_the_last_minutes),
        cmocka_unit_test(history_of_fifteen_minutes_has_no_gap),
        cmocka_unit_test(totals_are_all_added),
        cmocka_unit_test(journal_keeps_decisions_and_nothing_else),
        cmocka_unit_test(journal_counts_refusals_in_a_row),
        cmocka_unit_test(journal_has_room_for_each),
        cmocka_unit_test(journal_turns),
        cmocka_unit_test(ideal_is_what_the_engine_draws),
        cmocka_unit_test(state_is_json_with_everything),
        cmocka_unit_test(state_of_nothing),
        cmocka_unit_test(state_is_brief_but_for_the_topic),
        cmocka_unit_test(condition_names_the_worst_sign),
        cmocka_unit_test(condition_says_unreachable_before_a_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
