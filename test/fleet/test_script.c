/* test_script.c: the ledger in Redis and the one in memory, side by side.
 *
 * The script uses Redis' clock, so times here are what it says: after each step
 * the C ledger is given the millisecond that the script has written. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "bide/run.h"
#include "lib/fleet/ledger.h"
#include "store/fleet/script.h"

static struct redis *r;
static struct redis_script script = { .text = fleet_script };
static const char key[] = "{bide:test:x}:ledger";
static const bide_share_rule rule = { .window_ns = 400 * MS,
                                      .floor = 10000000,
                                      .ratio = 200000,
                                      .failure_rate = 900000,
                                      .slow_rate = 2000000,
                                      .probes = 3 };

static int64_t in_a_while(void)
{
    return bide_now_ns() + 20 * S;
}

static void ask(struct redis_reply *ret, const char *a, const char *b,
                const char *c, const char *d)
{
    const char *const words[] = { a, b, c, d };
    unsigned n = 2u + (c != NULL) + (d != NULL);
    redis_command(r, n);
    for (unsigned i = 0; i < n; i++)
        redis_arg(r, words[i]);
    assert_int_equal(redis_next(r, in_a_while(), ret), 0);
}

static void send_to_redis(uint64_t id, const bide_share_row *row,
                          struct redis_reply *ret)
{
    char name[17];
    snprintf(name, sizeof name, "%llu", (unsigned long long)id);
    redis_script_begin(r, &script, 1, FLEET_ARGS);
    redis_arg(r, key);
    fleet_put_report(r, name, &rule, row, false);
    assert_int_equal(redis_next(r, in_a_while(), ret), 0);
}

static bool sync_in_redis(uint64_t id, const bide_share_row *row,
                          bide_share_reply *ret)
{
    struct redis_reply reply;
    send_to_redis(id, row, &reply);
    if (reply.type == REDIS_ERROR)
        print_error("%.*s\n", (int)reply.len, reply.text);
    return fleet_read_reply(&reply, ret);
}

static int set_up(void **state)
{
    (void)state;
    struct redis_url url;
    struct redis_reply reply;
    char why[REDIS_WHY];
    assert_int_equal(redis_url_read(&url, getenv("BIDE_TEST_REDIS"), why), 0);
    r = redis_new(&url);
    assert_int_equal(redis_connect(r, in_a_while()), 0);
    assert_int_equal(redis_script_load(r, &script, in_a_while()), 0);
    ask(&reply, "DEL", key, NULL, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    redis_free(r);
    return 0;
}

static void assert_same(const bide_share_reply *a, const bide_share_reply *b)
{
    assert_int_equal(a->instances, b->instances);
    assert_int_equal(a->fresh, b->fresh);
    assert_int_equal(a->held, b->held);
    assert_int_equal(a->allowed, b->allowed);
    assert_int_equal(a->used, b->used);
    assert_int_equal(a->with_traffic, b->with_traffic);
    assert_int_equal(a->failing, b->failing);
    assert_int_equal(a->attempts, b->attempts);
    assert_int_equal(a->failed, b->failed);
    assert_int_equal(a->slow, b->slow);
    assert_int_equal(a->probes, b->probes);
    assert_int_equal(a->recovered_ns, b->recovered_ns);
}

/* Tells both, and they say the same. */
static void sync_both(struct bide__ledger *ledger, uint64_t id,
                      const bide_share_row *row, bide_share_reply *ret)
{
    bide_share_reply same;
    struct redis_reply reply;
    int64_t now;
    assert_true(sync_in_redis(id, row, ret));
    ask(&reply, "HGET", key, "last", NULL);
    assert_true(redis_reply_int(&reply, &now));
    bide__ledger_sync(ledger, &rule, id, row, now * MS, &same);
    assert_same(ret, &same);
}

static void script_does_what_the_ledger_does(void **state)
{
    (void)state;
    static struct bide__ledger ledger;
    bide_rng_seeded seed;
    bide_rng rng = bide_rng_seed(&seed, 5);
    uint64_t held[6] = { 0 };
    for (int i = 0; i < 4000; i++) {
        uint64_t id = (uint64_t)bide_rng_between(&rng, 1, 5);
        bide_share_row row = {
            .deposits = (uint64_t)bide_rng_between(&rng, 0, 200),
            .spent = (uint64_t)bide_rng_between(&rng, 0, 5),
            .held = held[id],
            .attempts = (uint64_t)bide_rng_between(&rng, 0, 10),
            .busy = bide_rng_between(&rng, 0, 1),
            .wants_probes = bide_rng_between(&rng, 0, 1),
            .probing = (uint32_t)bide_rng_between(&rng, 0, 2),
            .probe_failed = bide_rng_between(&rng, 0, 30) == 0,
            .hold_ns = bide_rng_between(&rng, 0, 40) * MS,
            .recovered = bide_rng_between(&rng, 0, 50) == 0,
        };
        row.failed = (uint64_t)bide_rng_between(&rng, 0, (int64_t)row.attempts);
        row.slow = (uint64_t)bide_rng_between(&rng, 0, (int64_t)row.attempts);
        bide_share_reply said;
        sync_both(&ledger, id, &row, &said);
        held[id] = said.held;
    }
}

/* Two want probes and make none: it is for one after the other, then for both,
 * until one is seen to run. */
static void script_probes_that_nobody_makes_are_for_all(void **state)
{
    (void)state;
    static struct bide__ledger ledger;
    struct redis_reply reply;
    bide_share_reply one, two;
    bide_share_row row = { .attempts = 5, .failed = 5, .wants_probes = true };
    ask(&reply, "DEL", key, NULL, NULL);
    do {
        sync_both(&ledger, 1, &row, &one);
        sync_both(&ledger, 2, &row, &two);
        assert_true(one.probes == 0 || two.probes < 2);
    } while (one.probes != 1 || two.probes != 1);
    row.probing = 1;
    sync_both(&ledger, 1, &row, &one);
    row.probing = 0;
    sync_both(&ledger, 2, &row, &two);
    assert_true(one.probes != 1 && two.probes != 1);
}

/* Redis takes it as a whole or not at all: had it dropped what is old, it would
 * take the rest as well, now and then, and the ledger would know of a few. */
static void script_without_room_changes_nothing(void **state)
{
    (void)state;
    struct redis_reply reply;
    bide_share_reply said;
    bide_share_row row = { .spent = 9, .attempts = 5 };
    int64_t last, then;
    ask(&reply, "DEL", key, NULL, NULL);
    assert_true(sync_in_redis(1, &row, &said));
    assert_true(sync_in_redis(2, &row, &said));
    ask(&reply, "HGET", key, "last", NULL);
    assert_true(redis_reply_int(&reply, &last));
    ask(&reply, "CONFIG", "SET", "maxmemory", "1");
    for (int64_t end = bide_now_ns() + 3300 * MS; bide_now_ns() < end;) {
        send_to_redis(2, &row, &reply);
        assert_int_equal(reply.type, REDIS_ERROR);
    }
    ask(&reply, "CONFIG", "SET", "maxmemory", "0");
    ask(&reply, "HGET", key, "last", NULL);
    assert_true(redis_reply_int(&reply, &then));
    assert_int_equal(then, last);
}

/* A policy whose floor is more than anybody spends, and deposits that nobody has
 * made: it is much, and not nothing. */
static void script_absurd_numbers_are_much(void **state)
{
    (void)state;
    bide_share_rule much = rule;
    struct redis_reply reply;
    char text[64];
    bide_share_reply said;
    bide_share_row row = { .attempts = 5 };
    ask(&reply, "DEL", key, NULL, NULL);
    assert_true(sync_in_redis(1, &row, &said));
    ask(&reply, "HGET", key, "last", NULL);
    snprintf(text, sizeof text, "%.*s 90000000000000 0 0 9 9 0 0 1",
             (int)reply.len, reply.text);
    ask(&reply, "HSET", key, "i:7", text);
    much.floor = INT64_C(3600000000000000); /* 1e6 a second, an hour */
    much.ratio = 100000000;                 /* 100 for each */
    redis_script_begin(r, &script, 1, FLEET_ARGS);
    redis_arg(r, key);
    fleet_put_report(r, "1", &much, &row, false);
    assert_int_equal(redis_next(r, in_a_while(), &reply), 0);
    assert_true(fleet_read_reply(&reply, &said));
    assert_true(said.allowed == UINT64_C(90000000000000));
    assert_int_equal(said.failing, 1);
}

/* A server that is no ledger may reply with any number that fits. */
static void script_reply_of_absurd_numbers_is_bounded(void **state)
{
    (void)state;
    struct redis_reply items[12],
        reply = { .type = REDIS_ARRAY, .items = items, .n = COUNT(items) };
    bide_share_reply said;
    for (size_t i = 0; i < COUNT(items); i++)
        items[i] = (struct redis_reply){ .type = REDIS_INTEGER,
                                         .integer = INT64_C(1) << 50 };
    assert_true(fleet_read_reply(&reply, &said));
    assert_int_equal(said.instances, 1);
    assert_int_equal(said.probes, 0);
    assert_true(said.recovered_ns == -1);
    items[11].integer = 7;
    assert_true(fleet_read_reply(&reply, &said));
    assert_true(said.recovered_ns == 7 * MS);
    items[3].integer++;
    assert_false(fleet_read_reply(&reply, &said));
}

/* Whatever somebody writes into the key, the next sync works, and nothing stays. */
static void script_garbage_in_the_key_is_dropped(void **state)
{
    (void)state;
    static const char *const garbage[][4] = {
        { "SET", key, "x", NULL },
        { "RPUSH", key, "x", NULL },
        { "HSET", key, "i:7", "x" },
        { "HSET", key, "i:7", "1 2 3" },
        { "HSET", key, "i:7", "nan inf 1e400 -5 0x7f 1 1 1 1" },
        { "HSET", key, "i:7", "99999999999999999 9 9 9 9 9 9 9 1" },
        { "HSET", key, "since", "x" },
        { "HSET", key, "since", "99999999999999" },
        { "HSET", key, "last", "-1" },
        { "HSET", key, "prober", "nobody" },
        { "HSET", key, "until_", "99999999999999" },
        { "HSET", key, "held_up", "99999999999999" },
        { "HSET", key, "recovered", "99999999999999" },
    };
    for (size_t i = 0; i < COUNT(garbage); i++) {
        const char *const *g = garbage[i];
        struct redis_reply reply;
        bide_share_reply said;
        bide_share_row row = { .deposits = 10, .attempts = 5,
                               .wants_probes = true };
        if (g[0][0] != 'H')
            ask(&reply, "DEL", key, NULL, NULL);
        ask(&reply, g[0], g[1], g[2], g[3]);
        assert_true(reply.type != REDIS_ERROR);
        for (int k = 0; k < 2; k++)
            assert_true(sync_in_redis(1, &row, &said));
        assert_int_equal(said.instances, 1);
        assert_int_equal(said.attempts, 5);
        assert_true(said.recovered_ns == -1);
    }
}

static void script_forgets_the_silent(void **state)
{
    (void)state;
    bide_share_reply said;
    bide_share_row row = { .spent = 9, .attempts = 5, .busy = true };
    struct redis_reply reply;
    ask(&reply, "DEL", key, NULL, NULL);
    assert_true(sync_in_redis(1, &row, &said));
    assert_true(sync_in_redis(2, &row, &said));
    assert_int_equal(said.used, 18);
    for (int64_t end = bide_now_ns() + 3300 * MS; bide_now_ns() < end;)
        assert_true(sync_in_redis(2, &row, &said));
    assert_int_equal(said.used, 10); /* 9, and a lease of the one that is left */
    assert_int_equal(said.held, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(script_does_what_the_ledger_does),
        cmocka_unit_test(script_probes_that_nobody_makes_are_for_all),
        cmocka_unit_test(script_without_room_changes_nothing),
        cmocka_unit_test(script_absurd_numbers_are_much),
        cmocka_unit_test(script_reply_of_absurd_numbers_is_bounded),
        cmocka_unit_test(script_garbage_in_the_key_is_dropped),
        cmocka_unit_test(script_forgets_the_silent),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
