/* test_fleet.c: bide/fleet.h, with a real Redis that is stopped and killed. */
#include "fixture.h"

#include <dlfcn.h>
#include <netdb.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bide/fleet.h"
#include "bide/run.h"
#include "bide/share.h"
#include "store/redis/redis.h"

enum { N = 3 };

static bide_fleet *join(const char *url, const char *name)
{
    bide_fleet_conf conf = BIDE_FLEET_CONF_INIT;
    char why[BIDE_FLEET_WHY] = "";
    bide_fleet *fleet = NULL;
    conf.store = url;
    conf.name = name;
    if (bide_fleet_join(&fleet, &conf, why) < 0)
        fail_msg("%s", why);
    return fleet;
}

/* Waits until so many are known, and it has joined or not. */
static void until(bide_dep *dep, bool joined, uint32_t instances)
{
    bide_share_view v;
    for (int64_t end = bide_now_ns() + 60 * S; bide_now_ns() < end;) {
        assert_int_equal(bide_dep_share_view(dep, bide_now_ns(), &v), 0);
        if (v.joined == joined && (!joined || v.instances == instances))
            return;
        bide_sleep_until(bide_now_ns() + 5 * MS, NULL);
    }
    fail_msg("joined %d, instances %u", v.joined, v.instances);
}

static void fleet_of_three_knows_itself(void **state)
{
    (void)state;
    bide_policy_conf conf = defaults();
    conf.budget.window_ns = 2 * S;
    conf.budget.floor_per_s = 5;
    bide_fleet *fleet[N];
    bide_dep *dep[N];
    for (int i = 0; i < N; i++) {
        dep[i] = new_dep(&conf);
        fleet[i] = join(getenv("BIDE_TEST_REDIS"), "three");
        assert_int_equal(bide_fleet_attach(fleet[i], dep[i]), 0);
        assert_int_equal(bide_fleet_attach(fleet[i], dep[i]), BIDE_ESTATE);
    }
    for (int i = 0; i < N; i++)
        until(dep[i], true, N);
    /* A new ledger leases nothing yet: each has its part of the floor. */
    assert_int_equal(bide_dep_budget_left(dep[0], bide_now_ns()), 10 / N);
    bide_fleet_detach(fleet[0], dep[0]);
    assert_int_equal(bide_dep_budget_left(dep[0], bide_now_ns()), 10);
    /* Then each holds one, for its next call. */
    bide_share_view v = { .leased = false };
    while (!v.leased || v.held == 0)
        assert_int_equal(bide_dep_share_view(dep[1], bide_now_ns(), &v), 0);
    assert_int_equal(v.held, 1);
    until(dep[1], true, N - 1);
    for (int i = 0; i < N; i++) {
        bide_fleet_leave(fleet[i]);
        bide_dep_free(dep[i]);
    }
}

static void redis_that_hangs_leaves_it_alone_and_returns(void **state)
{
    (void)state;
    bide_policy_conf conf = defaults();
    pid_t pid = (pid_t)atoi(getenv("BIDE_TEST_REDIS_PID"));
    bide_dep *dep = new_dep(&conf);
    bide_fleet *fleet = join(getenv("BIDE_TEST_REDIS"), "hangs");
    bide_fleet_view v;
    assert_int_equal(bide_fleet_attach(fleet, dep), 0);
    until(dep, true, 1);
    kill(pid, SIGSTOP);
    until(dep, false, 0);
    do
        assert_int_equal(bide_fleet_view_get(fleet, &v), 0);
    while (v.joined);
    kill(pid, SIGCONT);
    assert_false(v.joined);
    assert_true(v.failures > 0);
    assert_non_null(strstr(v.why, "no answer in time"));
    until(dep, true, 1);
    bide_fleet_leave(fleet);
    bide_dep_free(dep);
}

static _Atomic int changes;

static void count_changes(void *ctx, bool joined, const char *why)
{
    (void)ctx;
    (void)joined;
    (void)why;
    changes++;
}

static void redis_that_is_not_there_is_said_once(void **state)
{
    (void)state;
    bide_policy_conf policy = defaults();
    bide_fleet_conf conf = BIDE_FLEET_CONF_INIT;
    char why[BIDE_FLEET_WHY];
    bide_fleet *fleet;
    bide_fleet_view v = { .failures = 0 };
    bide_dep *dep = new_dep(&policy);
    conf.store = "unix:/nonexistent/redis.sock";
    conf.name = "x";
    conf.instances = 5;
    conf.on_change = count_changes;
    assert_int_equal(bide_fleet_join(&fleet, &conf, why), 0);
    assert_int_equal(bide_fleet_attach(fleet, dep), 0);
    while (v.failures < 4)
        assert_int_equal(bide_fleet_view_get(fleet, &v), 0);
    assert_int_equal(changes, 1);
    assert_int_equal(bide_dep_budget_left(dep, bide_now_ns()), 2);
    bide_fleet_leave(fleet);
    bide_dep_free(dep);
}

static void set_memory(const char *most)
{
    const char *const words[] = { "CONFIG", "SET", "maxmemory", most };
    struct redis_url url;
    struct redis_reply reply;
    char why[REDIS_WHY];
    assert_int_equal(redis_url_read(&url, getenv("BIDE_TEST_REDIS"), why), 0);
    struct redis *r = redis_new(&url);
    assert_int_equal(redis_connect(r, bide_now_ns() + 60 * S), 0);
    redis_command(r, COUNT(words));
    for (size_t i = 0; i < COUNT(words); i++)
        redis_arg(r, words[i]);
    assert_int_equal(redis_next(r, bide_now_ns() + 60 * S, &reply), 0);
    redis_free(r);
}

/* Which Redis, and what it says, but not in which line of a script. */
static void redis_that_is_full_is_named(void **state)
{
    (void)state;
    bide_policy_conf conf = defaults();
    bide_dep *dep = new_dep(&conf);
    bide_fleet *fleet = join(getenv("BIDE_TEST_REDIS"), "full");
    bide_fleet_view v = { .joined = true };
    assert_int_equal(bide_fleet_attach(fleet, dep), 0);
    until(dep, true, 1);
    set_memory("1");
    until(dep, false, 0);
    while (v.joined)
        assert_int_equal(bide_fleet_view_get(fleet, &v), 0);
    set_memory("0");
    assert_non_null(strstr(v.why, "redis.sock: OOM "));
    assert_null(strstr(v.why, "script"));
    until(dep, true, 1);
    bide_fleet_leave(fleet);
    bide_dep_free(dep);
}

static _Atomic bool answered;

/* Names that begin with `silent` are not answered for the time being. */
int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints,
                struct addrinfo **restrict ret)
{
    int (*real)(const char *, const char *, const struct addrinfo *,
                struct addrinfo **);
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&real, &symbol, sizeof real);
    if (!node || strncmp(node, "silent", 6) != 0)
        return real(node, service, hints, ret);
    while (!answered)
        bide_sleep_until(bide_now_ns() + 5 * MS, NULL);
    return EAI_FAIL;
}

/* Nobody waits for a name to be looked up, and nobody is told of it later. */
static void leaving_does_not_wait_for_a_name(void **state)
{
    (void)state;
    bide_policy_conf policy = defaults();
    bide_fleet_conf conf = BIDE_FLEET_CONF_INIT;
    char why[BIDE_FLEET_WHY];
    bide_fleet *fleet;
    bide_dep *dep = new_dep(&policy);
    int before = changes;
    conf.store = "redis://silent.example:1";
    conf.name = "x";
    conf.on_change = count_changes;
    assert_int_equal(bide_fleet_join(&fleet, &conf, why), 0);
    assert_int_equal(bide_fleet_attach(fleet, dep), 0);
    bide_fleet_leave(fleet);
    bide_dep_free(dep);
    answered = true;
    assert_int_equal(changes, before);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *store, *name;
        uint32_t instances;
        int64_t timeout_ns;
        const char *why;
    } rows[] = {
        { NULL, "x", 1, 100 * MS, "store: expected redis://" },
        { "http://x", "x", 1, 100 * MS, "store: expected redis://" },
        { "rediss://x", "x", 1, 100 * MS, "TLS" },
        { "redis://x", NULL, 1, 100 * MS, "name: " },
        { "redis://x", "a b", 1, 100 * MS, "name: " },
        { "redis://x", "", 1, 100 * MS, "name: " },
        { "redis://x", "x", 0, 100 * MS, "instances: " },
        { "redis://x", "x", 1, 5 * S, "timeout: " },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_fleet_conf conf = BIDE_FLEET_CONF_INIT;
        char why[BIDE_FLEET_WHY] = "";
        bide_fleet *fleet = NULL;
        conf.store = rows[i].store;
        conf.name = rows[i].name;
        conf.instances = rows[i].instances;
        conf.timeout_ns = rows[i].timeout_ns;
        assert_int_equal(bide_fleet_join(&fleet, &conf, why), BIDE_EINVAL);
        assert_non_null(strstr(why, rows[i].why));
        assert_null(fleet);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fleet_of_three_knows_itself),
        cmocka_unit_test(redis_that_hangs_leaves_it_alone_and_returns),
        cmocka_unit_test(redis_that_is_full_is_named),
        cmocka_unit_test(redis_that_is_not_there_is_said_once),
        cmocka_unit_test(leaving_does_not_wait_for_a_name),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
