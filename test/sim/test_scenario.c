/* test_scenario.c: what a scenario file means, and what is wrong with others.
 */
#define _GNU_SOURCE /* open_memstream, mkdtemp */
#include <unistd.h>

#include "config/doc/read_file.h"
#include "findings.h"
#include "sim/scenario/builtin.h"
#include "sim/scenario/reference.h"
#include "sim/scenario/scenario.h"

#define S  BIDE_SECOND
#define MS BIDE_MILLISECOND

static int parse(struct sim_model **ret, const char *text,
                 bide_diagnostics *notes)
{
    size_t len = strlen(text);
    char *copy = malloc(len ? len : 1);
    int rc;

    assert_non_null(copy);
    memcpy(copy, text, len);
    rc = sim_scenario_parse(ret, "test.yaml", copy, len, notes);
    free(copy);
    return rc;
}

static struct sim_model *must_read(const char *text)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    struct sim_model *m = NULL;

    if (parse(&m, text, notes) != 0) {
        bide_diagnostics_print(notes, stderr, false);
        fail_msg("refused");
    }
    assert_null(sim_model_check(m));
    bide_diagnostics_free(notes);
    return m;
}

/* ===== what is read ===== */

#define HEAD "version: 1\npolicies:\n  default: { attempts: 2 }\n"

static const char whole[] =
    "version: 1\n"
    "scenario: { title: T, about: \"A \\n\", duration: 3m, warm_up: 5s, "
    "seed: 7 }\n"
    "policies:\n"
    "  default: { attempts: 2 }\n"
    "  naive: { attempts: 5, rules: [ { status: 409, class: transient } ] }\n"
    "clients:\n"
    "  web: { count: 1000, processes: 10, rate: 6/m, steady: true, policy: "
    "naive, calls: api, idempotent: key, from: 1s, until: 2s, most_calls: 9 }\n"
    "  app: { think: { exponential: 1s }, calls: api, idempotent: false }\n"
    "services:\n"
    "  api:\n"
    "    workers: 30\n"
    "    shards: 4\n"
    "    time: 100ms\n"
    "    network: { normal: { mean: 1ms, deviation: 200us } }\n"
    "    queue: { order: lifo, limit: 1000, drop: late, no_retry: true }\n"
    "    rate_limit: { rate: 100/s, burst: 20, retry_after: when_free }\n"
    "    cancels: true\n"
    "    detached: true\n"
    "    error_rate: 1%\n"
    "    lost_rate: 0.02\n"
    "    keys: true\n"
    "    calls: [ db, { service: db, policy: naive, times: 3, idempotent: key "
    "} ]\n"
    "  db: { queue: { retry_after: 2s }, rate_limit: { rate: 10/s } }\n"
    "faults:\n"
    "  - { at: 30s, for: 10s, service: api, slow: 5, shard: 4 }\n"
    "  - { at: 1s, until: 2s, service: db, partition: true, from: app }\n"
    "  - { at: 1s, service: db, crash: true, every: 4s, down: 2s, stop: false "
    "}\n"
    "variants:\n"
    "  a: naive\n"
    "  b: { web: default, api > db: naive, app: { idempotent: true } }\n"
    "  c: { api: default }\n"
    "  d:\n";

static void scenario_whole_is_read(void **state)
{
    struct sim_model *m = must_read(whole);
    const struct sim_model_fleet *web = &m->fleets[0], *app = &m->fleets[1];
    const struct sim_model_service *api = &m->services[0];

    (void)state;
    assert_string_equal(m->title, "T");
    assert_string_equal(m->about, "A");
    assert_null(m->look_at);
    assert_true(m->duration_ns == 180 * S && m->warm_up_ns == 5 * S);
    assert_true(m->seed == 7);
    assert_int_equal(m->n_policies, 2);
    assert_int_equal(m->policies[1].conf.n_rules, 1);
    assert_string_equal(web->name, "web");
    assert_true(web->arrival == SIM_OPEN && web->rate == 0.1 && web->steady);
    assert_int_equal(web->clients, 1000);
    assert_int_equal(web->processes, 10);
    assert_int_equal(web->policy, 1);
    assert_int_equal(web->repeat, SIM_KEYED);
    assert_true(web->from_ns == S && web->until_ns == 2 * S);
    assert_true(web->most_calls == 9);
    assert_true(app->arrival == SIM_CLOSED && app->clients == 1);
    assert_true(app->think.kind == SIM_EXPONENTIAL && app->think.at_ns == 1e9);
    assert_int_equal(app->repeat, SIM_NOT_IDEMPOTENT);
    assert_true(api->workers == 30 && api->shards == 4 && api->queue == 1000);
    assert_true(api->order == SIM_LIFO && api->drop_late && api->cancels);
    assert_true(api->refuse_overload && api->detached && api->keys);
    assert_true(api->error_rate == 0.01 && api->lost_rate == 0.02);
    assert_true(api->limit_rate == 100 && api->limit_burst == 20);
    assert_true(api->retry_after_ns == SIM_WHEN_FREE);
    assert_true(api->network.kind == SIM_NORMAL && api->network.spread == 2e5);
    sim_model_free(m);
}

static void scenario_graph_faults_and_variants_are_read(void **state)
{
    struct sim_model *m = must_read(whole);
    const struct sim_model_edge *e = m->services[0].edges;
    const struct sim_model_service *db = &m->services[1];
    const struct sim_fault *f = m->faults;
    const struct sim_model_variant *v = m->variants;

    (void)state;
    assert_int_equal(m->services[0].n_edges, 2);
    assert_true(e[0].service == 1 && e[0].policy == 0 && e[0].times == 1);
    assert_true(e[1].policy == 1 && e[1].times == 3);
    assert_int_equal(e[1].repeat, SIM_KEYED);
    assert_true(db->retry_after_ns == 2 * S && db->limit_burst == 10);
    assert_true(db->workers == SIM_UNBOUNDED && db->queue == SIM_UNBOUNDED);
    assert_true(f[0].kind == SIM_SLOW && f[0].factor == 5 && f[0].shard == 3);
    assert_true(f[0].from_ns == 30 * S && f[0].to_ns == 40 * S);
    assert_true(f[0].fleet == SIM_NONE);
    assert_true(f[1].kind == SIM_PARTITION && f[1].fleet == 1);
    assert_true(f[1].to_ns == 2 * S && f[1].shard == SIM_NONE);
    assert_true(f[2].kind == SIM_CRASH && f[2].to_ns == 180 * S);
    assert_true(f[2].every_ns == 4 * S && f[2].for_ns == 2 * S);
    assert_int_equal(m->n_variants, 4);
    assert_true(v[0].fleet_policy[0] == 1 && v[0].edge_policy[0][1] == 1);
    assert_true(v[1].fleet_policy[0] == 0 && v[1].fleet_policy[1] == SIM_NONE);
    assert_true(v[1].fleet_repeat[1] == SIM_IDEMPOTENT &&
                v[1].fleet_repeat[0] == SIM_NONE);
    assert_true(v[1].edge_policy[0][0] == 1 && v[1].edge_policy[0][1] == 1);
    assert_true(v[2].edge_policy[0][1] == 0 &&
                v[2].fleet_policy[0] == SIM_NONE);
    assert_true(v[3].edge_policy[0][0] == SIM_NONE);
    sim_model_free(m);
}

static void scenario_leaves_out_what_can_be(void **state)
{
    struct sim_model *m =
        must_read(HEAD "clients: { web: { rate: 1/s } }\nservices: { api: }\n"
                       "faults: [ { at: 1m, stop: true } ]\n");

    (void)state;
    assert_true(m->duration_ns == 120 * S && m->seed == 1);
    assert_true(m->fleets[0].clients == 1 && m->fleets[0].processes == 1);
    assert_true(m->fleets[0].service == 0 && m->fleets[0].policy == 0);
    assert_true(m->faults[0].service == 0 && m->faults[0].to_ns == 120 * S);
    assert_true(m->services[0].time.kind == SIM_CONSTANT);
    sim_model_free(m);
}

static void scenario_json_is_read(void **state)
{
    static const char text[] =
        "{\"version\": 1, \"policies\": {\"default\": {}}, \"clients\": "
        "{\"web\": {\"rate\": \"5/s\"}}, \"services\": {\"api\": "
        "{\"workers\": 3}}}";
    struct sim_model *m = NULL;

    (void)state;
    assert_int_equal(
        sim_scenario_parse(&m, "s.json", text, sizeof text - 1, NULL), 0);
    assert_int_equal(m->services[0].workers, 3);
    sim_model_free(m);
    assert_true(sim_scenario_is(text, sizeof text - 1));
    assert_true(sim_scenario_is(whole, sizeof whole - 1));
    assert_false(sim_scenario_is(HEAD, sizeof HEAD - 1));
    assert_false(sim_scenario_is("x: { scenario: 1 }", 18));
}

static struct sim_model *with_time(const char *time)
{
    char text[512];

    snprintf(text, sizeof text,
             HEAD "clients: { web: { rate: 1/s } }\n"
                  "services: { api: { time: %s } }\n",
             time);
    return must_read(text);
}

static void scenario_distributions_are_read(void **state)
{
    static const struct {
        const char *text;
        enum sim_dist_kind kind;
        double at_ns, spread;
    } rows[] = {
        { "20ms", SIM_CONSTANT, 2e7, 0 },
        { "{ constant: 20ms }", SIM_CONSTANT, 2e7, 0 },
        { "{ exponential: 1s }", SIM_EXPONENTIAL, 1e9, 0 },
        { "{ lognormal: { median: 1ms, sigma: 0.5 } }", SIM_LOGNORMAL, 1e6,
          0.5 },
        { "{ lognormal: { median: 100ms, p99: 100ms } }", SIM_LOGNORMAL, 1e8,
          0 },
        { "{ pareto: { least: 1us, alpha: 2 } }", SIM_PARETO, 1e3, 2 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sim_model *m = with_time(rows[i].text);
        struct sim_dist d = m->services[0].time;

        if (d.kind != rows[i].kind || d.at_ns != rows[i].at_ns ||
            d.spread != rows[i].spread)
            fail_msg("%s", rows[i].text);
        sim_model_free(m);
    }
}

static void scenario_mixtures_and_histograms_are_read(void **state)
{
    struct sim_model *m = with_time("{ mixture: [ { share: 95%, exponential: "
                                    "1ms }, { share: 5%, constant: 2s } ] }");
    struct sim_dist d = m->services[0].time;

    (void)state;
    assert_int_equal(d.kind, SIM_MIXTURE);
    assert_int_equal(d.n_parts, 2);
    assert_true(d.parts[0].share == 0.95 && d.parts[1].of.at_ns == 2e9);
    sim_model_free(m);
    m = with_time("{ histogram: [ { upto: 1ms, share: 50% }, { upto: 1s, "
                  "share: 50% } ] }");
    d = m->services[0].time;
    assert_int_equal(d.kind, SIM_EMPIRICAL);
    assert_true(d.parts[0].from_ns == 0 && d.parts[1].from_ns == 1e6);
    assert_true(d.parts[1].upto_ns == 1e9 && d.parts[1].share == 0.5);
    sim_model_free(m);
    m = with_time("{ lognormal: { median: 20ms, p99: 204.8ms } }");
    assert_true(m->services[0].time.spread > 0.9999 &&
                m->services[0].time.spread < 1.0001);
    sim_model_free(m);
}

static void scenario_percentiles_are_read(void **state)
{
    struct sim_model *m = with_time("{ percentiles: { p50: 1ms, p99.9: 1s } }");
    struct sim_dist d = m->services[0].time;

    (void)state;
    assert_int_equal(d.kind, SIM_PERCENTILES);
    assert_true(d.n_parts == 2 && d.parts[0].share == 0.5);
    assert_true(d.parts[1].from_ns == 1e9 && d.parts[1].share > 0.9989);
    sim_model_free(m);
}

static void scenario_servers_and_load_are_read(void **state)
{
    struct sim_model *m = must_read(
        HEAD
        "clients:\n"
        "  web: { load: [ { at: 1s, rate: 5/s, over: 2s }, { at: 4s, rate: 9/s,"
        " for: 1s } ], repeat: 10s, rate: 2/s, steady: true }\n"
        "  cron: { every: 60s, spread: 2s, count: 3 }\n"
        "services:\n"
        "  api: { servers: 4, balance: round_robin, ejection: { open: 2s },"
        " slow_start: 3s }\n"
        "faults:\n"
        "  - { at: 1s, every: 5s, down: 2s, in_turn: true, refuse: true }\n"
        "  - { at: 1s, for: 5s, servers: 3, error_rate: 50%, at_once: true }\n"
        "  - { at: 1s, for: 5s, server: 4, crash: true }\n"
        "variants:\n"
        "  a: { api: { balance: random } }\n"
        "  b: default\n");
    const struct sim_model_fleet *web = &m->fleets[0], *cron = &m->fleets[1];
    const struct sim_model_balance *b = &m->services[0].balance;
    const struct sim_fault *f = m->faults;

    (void)state;
    assert_true(web->arrival == SIM_OPEN && web->rate == 2 && web->steady);
    assert_true(web->load.n_steps == 2 && web->load.repeat_ns == 10 * S);
    assert_true(web->load.steps[0].rate == 5 &&
                web->load.steps[0].over_ns == 2 * S);
    assert_true(web->load.steps[1].for_ns == S && web->load.factor == 1);
    assert_true(cron->arrival == SIM_CRON && cron->every_ns == 60 * S);
    assert_true(cron->spread_ns == 2 * S);
    assert_true(m->services[0].servers == 4 && b->by == BIDE__ROUND_ROBIN);
    assert_true(b->ejects && b->ejection.open_ns == 2 * S);
    assert_true(b->ejection.consecutive == 5 && b->slow_start_ns == 3 * S);
    assert_true(f[0].kind == SIM_REFUSE && f[0].in_turn && f[0].n_servers == 1);
    assert_true(f[0].to_ns == 21 * S); /* a turn for each */
    assert_true(f[1].n_servers == 3 && f[1].server == 0 && f[1].at_once);
    assert_true(f[2].n_servers == 1 && f[2].server == 3);
    assert_true(m->variants[0].balance[0]->by == BIDE__RANDOM);
    assert_true(m->variants[0].balance[0]->ejects);
    assert_null(m->variants[1].balance[0]);
    sim_model_free(m);
}

/* ===== logs ===== */

/* Reads a scenario with a log beside it. */
static int read_beside(const char *log, struct sim_model **ret,
                       bide_diagnostics *notes)
{
    static const char scenario[] =
        HEAD "clients: { old: { replay: x.log, count: 3 } }\n"
             "services: { api: }\n";
    char dir[] = "/tmp/bide-scenario-XXXXXX", path[64], name[64];
    FILE *f;
    int rc;

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/x.log", dir);
    snprintf(name, sizeof name, "%s/s.yaml", dir);
    assert_non_null(f = fopen(path, "w"));
    fputs(log, f);
    fclose(f);
    assert_non_null(f = fopen(name, "w"));
    fputs(scenario, f);
    fclose(f);
    rc = sim_scenario_read(ret, name, notes);
    unlink(path);
    unlink(name);
    rmdir(dir);
    return rc;
}

static void scenario_logs_are_read(void **state)
{
    static const struct {
        const char *log;
        uint32_t n;
        int64_t ms[4];
    } rows[] = {
        { "10.5 GET /\n11.25\n\n# a word\n10.75\n", 3, { 0, 250, 750 } },
        { "2026-11-16T07:40:00.5Z\n2026-11-16T08:40:01+01:00\n",
          2,
          { 0, 500 } },
        { "1.2.3.4 - - [16/Nov/2026:07:40:00 +0000] \"GET /\" 200 1\n"
          "1.2.3.4 - - [16/Nov/2026:07:40:00 +0000] \"GET /\" 200 1\n"
          "1.2.3.4 - - [16/Nov/2026:09:40:01 +0200] \"GET /\" 200 1",
          3,
          { 0, 500, 1000 } },
        { "1763278800\r\n1763278803\r\n", 2, { 0, 3000 } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_diagnostics *notes = bide_diagnostics_new();
        struct sim_model *m = NULL;

        if (read_beside(rows[i].log, &m, notes) != 0) {
            bide_diagnostics_print(notes, stderr, false);
            fail_msg("%s", rows[i].log);
        }
        assert_int_equal(m->fleets[0].arrival, SIM_REPLAY);
        assert_int_equal(m->fleets[0].n_replay, rows[i].n);
        for (uint32_t k = 0; k < rows[i].n; k++)
            assert_true(m->fleets[0].replay_ns[k] == rows[i].ms[k] * MS);
        sim_model_free(m);
        bide_diagnostics_free(notes);
    }
}

static void scenario_log_without_times_is_refused(void **state)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    struct sim_model *m = NULL;

    (void)state;
    assert_int_equal(read_beside("10.5\nhello\n12x\n", &m, notes), BIDE_EPARSE);
    assert_true(has_finding(notes, "bad-log-line", 2, 1));
    assert_true(has_finding(notes, "bad-log-line", 3, 1));
    assert_null(m);
    bide_diagnostics_free(notes);
}

/* 31 February was once taken for 3 March. */
static void regress_scenario_log_dates_must_exist(void **state)
{
    static const char log[] = "1.2.3.4 - - [31/Feb/2026:07:40:00 +0000] \"\"\n"
                              "1.2.3.4 - - [30/Feb/2024:07:40:00 +0000] \"\"\n"
                              "1.2.3.4 - - [29/Feb/2026:07:40:00 +0000] \"\"\n"
                              "2026-02-29T07:40:00Z\n"
                              "2026-04-31T07:40:00Z\n"
                              "2026-11-16T24:00:00Z\n";
    bide_diagnostics *notes = bide_diagnostics_new();
    struct sim_model *m = NULL;

    (void)state;
    assert_int_equal(read_beside(log, &m, notes), BIDE_EPARSE);
    for (unsigned line = 1; line <= 6; line++)
        assert_true(has_finding(notes, "bad-log-line", line, 1));
    bide_diagnostics_free(notes);
}

/* ===== what is refused ===== */

#define FLEET   "clients: { web: { rate: 1/s } }\n"
#define SERVICE "services: { api: }\n"

static void scenario_mistakes_are_told_with_their_place(void **state)
{
    static const struct {
        const char *text;
        const char *code;
        unsigned line, column;
    } rows[] = {
        { "", "empty-file", 0, 0 },
        { "[1]", "wrong-type", 1, 1 },
        { HEAD FLEET, "missing-key", 0, 0 },
        { HEAD FLEET "services: {}\n", "missing-key", 5, 1 },
        { HEAD FLEET SERVICE "scenarios: x\n", "unknown-key", 6, 1 },
        { HEAD FLEET SERVICE "scenario: { duration: 0s }\n", "out-of-range", 6,
          23 },
        { HEAD FLEET SERVICE "scenario: { warm_up: 2m }\n", "contradiction", 6,
          22 },
        { HEAD SERVICE "clients: { web: { rate: 1/s, think: 1s } }\n",
          "contradiction", 5, 30 },
        { HEAD SERVICE "clients: { web: { calls: api } }\n", "missing-key", 5,
          12 },
        { HEAD SERVICE "clients: { web: { rate: 1/s, calls: aip } }\n",
          "unknown-service", 5, 37 },
        { HEAD SERVICE "clients: { api: { rate: 1/s } }\n", "contradiction", 4,
          13 },
        { HEAD SERVICE "clients: { web: { replay: . } }\n", "cannot-read", 5,
          27 },
        { HEAD FLEET "services: { api: { calls: api } }\n", "call-loop", 5,
          27 },
        { HEAD FLEET "services: { api: { calls: b }, b: { calls: [ c, api ] "
                     "}, c: }\n",
          "call-loop", 5, 49 },
        { HEAD FLEET "services: { api: { time: { mixture: [ { share: 5%, "
                     "constant: 1s } ] } } }\n",
          "shares-not-100", 5, 28 },
        { HEAD FLEET "services: { api: { time: { mixture: [ { constant: 1s } "
                     "] } } }\n",
          "missing-key", 5, 39 },
        { HEAD FLEET "services: { api: { time: { constant: 1s, exponential: "
                     "1s } } }\n",
          "contradiction", 5, 42 },
        { HEAD FLEET SERVICE "faults: [ { at: 1s } ]\n", "missing-key", 6, 11 },
        { HEAD FLEET SERVICE "faults: [ { at: 1s, stop: true, shard: 2 } ]\n",
          "out-of-range", 6, 40 },
        { HEAD SERVICE "clients: { web: { load: [ { at: 2s, rate: 1/s }, { at: "
                       "1s, rate: 2/s } ] } }\n",
          "bad-value", 5, 52 },
        { HEAD SERVICE "clients: { web: { load: [ { at: 1s, rate: 1/s, over: "
                       "9s }, { at: 5s, rate: 2/s } ] } }\n",
          "contradiction", 5, 62 },
        { HEAD SERVICE "clients: { web: { load: [ { at: 1s, rate: 1/s, for: "
                       "2s, over: 3s } ] } }\n",
          "contradiction", 5, 57 },
        { HEAD SERVICE "clients: { web: { load: [ { at: 1s } ] } }\n",
          "missing-key", 5, 27 },
        { HEAD SERVICE "clients: { web: { load: [ { at: 1s, rate: 1/s, for: 5s "
                       "} ], repeat: 4s } }\n",
          "contradiction", 5, 61 },
        { HEAD SERVICE "clients: { web: { rate: 1/s, repeat: 4s } }\n",
          "missing-key", 5, 30 },
        { HEAD SERVICE "clients: { web: { rate: 1/s, every: 4s } }\n",
          "contradiction", 5, 30 },
        { HEAD SERVICE "clients: { web: { rate: 1/s, spread: 4s } }\n",
          "contradiction", 5, 30 },
        { HEAD SERVICE "clients: { web: { every: 4s, steady: true } }\n",
          "contradiction", 5, 30 },
        { HEAD SERVICE "clients: { web: { rate: 1/s, processes: 2, count: 2, "
                       "queue: {} } }\n",
          "contradiction", 5, 30 },
        { HEAD SERVICE "clients: { web: { think: 1s, queue: { waiting: 5 } } }\n",
          "contradiction", 5, 39 },
        { HEAD SERVICE "clients: { web: { rate: 1/s, queue: { at_once: 0 } } }\n",
          "out-of-range", 5, 48 },
        { HEAD SERVICE "clients: { web: { rate: 1/s, queue: { pause: no } } }\n",
          "unknown-key", 5, 39 },
        { HEAD FLEET SERVICE
          "variants: { x: { web: { queue: { pauses: false } } } }\n",
          "contradiction", 6, 25 },
        { HEAD FLEET SERVICE
          "variants: { x: { api: { queue: { pauses: false } } } }\n",
          "contradiction", 6, 25 },
        { HEAD "clients: { web: { rate: 1/s, count: 9000, processes: 9000 } }\n"
               "services: { api: { servers: 50 } }\n",
          "out-of-range", 4, 43 },
        { HEAD FLEET "services: { api: { balance: random } }\n",
          "contradiction", 5, 20 },
        { HEAD FLEET "services: { api: { servers: 3, balance: randon } }\n",
          "bad-value", 5, 41 },
        { HEAD FLEET "services: { api: { servers: 3, slow_start: 1s } }\n",
          "contradiction", 5, 32 },
        { HEAD FLEET "services: { api: { servers: 3, ejection: { open: 0s } } "
                     "}\n",
          "out-of-range", 5, 50 },
        { HEAD FLEET "services: { api: { time: { percentiles: { p99: 1s, p50: "
                     "2s } } } }\n",
          "bad-value", 5, 52 },
        { HEAD FLEET "services: { api: { time: { percentiles: { p100: 1s } } } "
                     "}\n",
          "bad-value", 5, 43 },
        { HEAD FLEET "services: { api: { servers: 3 } }\n"
                     "faults: [ { at: 1s, stop: true, server: 4 } ]\n",
          "out-of-range", 6, 41 },
        { HEAD FLEET "services: { api: { servers: 3 } }\n"
                     "faults: [ { at: 1s, stop: true, servers: 4 } ]\n",
          "out-of-range", 6, 42 },
        { HEAD FLEET "services: { api: { servers: 3 } }\n"
                     "faults: [ { at: 1s, stop: true, server: 1, servers: 2 } "
                     "]\n",
          "contradiction", 6, 44 },
        { HEAD FLEET "services: { api: { servers: 3 } }\n"
                     "faults: [ { at: 1s, stop: true, in_turn: true } ]\n",
          "missing-key", 6, 33 },
        { HEAD FLEET SERVICE "faults: [ { at: 1s, stop: true, in_turn: true, "
                             "every: 2s, down: 1s } ]\n",
          "contradiction", 6, 33 },
        { HEAD FLEET SERVICE "faults: [ { at: 1s, stop: true, at_once: true } "
                             "]\n",
          "contradiction", 6, 33 },
        { HEAD FLEET SERVICE "variants: { a: { api: { balance: random } } }\n",
          "contradiction", 6, 25 },
        { HEAD FLEET SERVICE "variants: { a: { web: { balance: random } } }\n",
          "contradiction", 6, 25 },
        { HEAD FLEET SERVICE "variants: { a: { wob: default } }\n",
          "unknown-fleet", 6, 18 },
        { HEAD FLEET SERVICE "variants: { a: nope }\n", "unknown-policy", 6,
          16 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_diagnostics *notes = bide_diagnostics_new();
        struct sim_model *m = NULL;

        if (parse(&m, rows[i].text, notes) != BIDE_EPARSE || m ||
            !has_finding(notes, rows[i].code, rows[i].line, rows[i].column)) {
            bide_diagnostics_print(notes, stderr, false);
            fail_msg("row %zu: %s", i, rows[i].code);
        }
        bide_diagnostics_free(notes);
    }
}

static void scenario_that_is_odd_is_read_with_a_warning(void **state)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    struct sim_model *m = NULL;

    (void)state;
    assert_int_equal(parse(&m,
                           HEAD
                           "clients: { web: { rate: 1/s, calls: api } }\n"
                           "services: { api: , lonely: }\n"
                           "faults: [ { at: 3m, service: api, stop: true } ]\n",
                           notes),
                     0);
    assert_true(has_finding(notes, "L022", 5, 20));
    assert_true(has_finding(notes, "L023", 6, 17));
    assert_int_equal(bide_diagnostics_size(notes), 2);
    sim_model_free(m);
    bide_diagnostics_free(notes);
}

static void scenario_overloaded_from_the_start_is_a_warning(void **state)
{
    static const struct {
        const char *text;
        bool warned;
    } rows[] = {
        { "{ web: { rate: 99/s } }\nservices: { api: { workers: 1, time: 10ms "
          "} "
          "}\n",
          false },
        { "{ web: { rate: 101/s } }\nservices: { api: { workers: 1, time: 10ms "
          "} "
          "}\n",
          true },
        { "{ web: { rate: 101/s, until: 5s } }\nservices: { api: { workers: 1, "
          "time: 10ms } }\n",
          false },
        { "{ web: { rate: 101/s } }\nservices: { api: { shards: 2, workers: 1, "
          "time: 10ms } }\n",
          false },
        { "{ web: { rate: 101/s, calls: a } }\nservices: { a: { calls: [ b, b "
          "] "
          "}, b: { workers: 2, time: 10ms } }\n",
          true },
        { "{ web: { rate: 101/s, queue: { at_once: 1 } } }\nservices: { api: { "
          "time: 10ms } }\n",
          true },
        { "{ web: { rate: 101/s, queue: { at_once: 1, workers: 2 } } }\n"
          "services: { api: { time: 10ms } }\n",
          false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_diagnostics *notes = bide_diagnostics_new();
        struct sim_model *m = NULL;
        char text[512];

        snprintf(text, sizeof text, HEAD "clients: %s", rows[i].text);
        assert_int_equal(parse(&m, text, notes), 0);
        if ((bide_diagnostics_size(notes) > 0) != rows[i].warned)
            fail_msg("row %zu", i);
        sim_model_free(m);
        bide_diagnostics_free(notes);
    }
}

static void model_made_by_hand_is_checked(void **state)
{
    struct sim_model_policy policy = { "p", BIDE_POLICY_CONF_INIT };
    struct sim_model_edge edge = { .service = 0, .times = 1 };
    struct sim_model_service service = { .name = "s",
                                         .workers = 1,
                                         .shards = 1 };
    struct sim_model_fleet fleet = {
        .name = "f", .clients = 1, .processes = 1, .rate = 1
    };
    struct sim_model m = { .duration_ns = S,
                           .policies = &policy,
                           .fleets = &fleet,
                           .services = &service,
                           .n_policies = 1,
                           .n_fleets = 1,
                           .n_services = 1 };

    (void)state;
    assert_null(sim_model_check(&m));
    service.edges = &edge;
    service.n_edges = 1;
    assert_non_null(strstr(sim_model_check(&m), "circle"));
    service.n_edges = 0;
    fleet.policy = 1;
    assert_non_null(sim_model_check(&m));
    sim_model_free(&m); /* does nothing */
    sim_model_free(NULL);
}

/* ===== what comes with the program ===== */

static void builtins_are_read_without_findings(void **state)
{
    size_t n;
    const struct sim_builtin *all = sim_builtins(&n);

    (void)state;
    assert_int_equal(n, 18);
    for (size_t i = 0; i < n; i++) {
        bide_diagnostics *notes = bide_diagnostics_new();
        struct sim_model *m = NULL;

        if (sim_scenario_parse(&m, all[i].name, all[i].text, all[i].len,
                               notes) != 0 ||
            bide_diagnostics_size(notes) != 0) {
            bide_diagnostics_print(notes, stderr, false);
            fail_msg("%s", all[i].name);
        }
        assert_null(sim_model_check(m));
        assert_true(m->title && m->about && m->look_at && m->n_variants > 1);
        assert_true(strlen(all[i].sentence) > 20);
        assert_int_equal(all[i].text[all[i].len], '\0');
        assert_ptr_equal(sim_builtin_find(all[i].name), &all[i]);
        sim_model_free(m);
        bide_diagnostics_free(notes);
    }
    assert_null(sim_builtin_find("none"));
}

static void must_be_committed(const char *path, void (*write)(FILE *out),
                              const char *flag)
{
    char *want, *got;
    size_t want_len, got_len;
    FILE *out = open_memstream(&got, &got_len);

    assert_non_null(out);
    write(out);
    fclose(out);
    assert_int_equal(bide__read_file(path, &want, &want_len, NULL), 0);
    if (want_len != got_len || memcmp(want, got, got_len) != 0)
        fail_msg("%s is out of date: write it with `bide sim %s`", path, flag);
    free(want);
    free(got);
}

static void reference_of_scenarios_is_current(void **state)
{
    (void)state;
    must_be_committed(DOCS "/scenario-reference.md", sim_scenario_reference,
                      "--reference");
    must_be_committed(DOCS "/scenario.schema.json", sim_scenario_schema,
                      "--schema");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenario_whole_is_read),
        cmocka_unit_test(scenario_graph_faults_and_variants_are_read),
        cmocka_unit_test(scenario_leaves_out_what_can_be),
        cmocka_unit_test(scenario_json_is_read),
        cmocka_unit_test(scenario_distributions_are_read),
        cmocka_unit_test(scenario_mixtures_and_histograms_are_read),
        cmocka_unit_test(scenario_percentiles_are_read),
        cmocka_unit_test(scenario_servers_and_load_are_read),
        cmocka_unit_test(scenario_logs_are_read),
        cmocka_unit_test(scenario_log_without_times_is_refused),
        cmocka_unit_test(regress_scenario_log_dates_must_exist),
        cmocka_unit_test(scenario_mistakes_are_told_with_their_place),
        cmocka_unit_test(scenario_that_is_odd_is_read_with_a_warning),
        cmocka_unit_test(scenario_overloaded_from_the_start_is_a_warning),
        cmocka_unit_test(model_made_by_hand_is_checked),
        cmocka_unit_test(builtins_are_read_without_findings),
        cmocka_unit_test(reference_of_scenarios_is_current),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
