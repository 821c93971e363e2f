/* What every broker must do: rows of {put, take, settle, expected}. */
#include "conformance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bide/policy.h"

static const struct conformance_broker *tested;

enum { MOST = 64 };

struct bench {
    struct broker *b[4];
    char queue[QUEUE_NAME_MAX + 1];
    const char *url;
};

static struct broker *connect_to(struct bench *bench, bool consume)
{
    struct broker_conf conf = BROKER_CONF_INIT;
    char error[BROKER_ERROR] = "";
    struct broker *b = NULL;

    conf.url = bench->url;
    conf.queue = bench->queue;
    conf.consume = consume;
    conf.lease_ns = tested->lease_ms * BIDE_MILLISECOND;
    if (tested->set_clock)
        tested->set_clock(&conf);
    if (broker_open(&b, &conf, error) != 0)
        fail_msg("%s: %s", tested->name, error);
    return b;
}

static void begin(struct bench *bench, int workers)
{
    static int number;

    memset(bench, 0, sizeof *bench);
    snprintf(bench->queue, sizeof bench->queue, "conformance%d", ++number);
    bench->url = tested->url(bench->queue);
    for (int i = 0; i < workers; i++)
        bench->b[i] = connect_to(bench, true);
}

static void end(struct bench *bench)
{
    for (int i = 0; i < 4; i++)
        broker_close(bench->b[i]);
}

static struct broker_put item(const char *id, const char *body)
{
    return (struct broker_put){ .id = id, .body = body, .len = strlen(body) };
}

static void put(struct broker *b, struct broker_put p)
{
    if (b->kind->put(b, &p, 1) != 0)
        fail_msg("put: %s", b->error);
}

/* Takes up to `most`; the ids, as "a b c". */
static size_t take_into(struct broker *b, size_t most, bool alone,
                        struct queue_message **m, char *ids)
{
    struct broker_take want = { .most = most, .retries = most / 2,
                                .alone = alone };

    ids[0] = 0;
    if (b->kind->take(b, &want, m) != 0)
        fail_msg("take: %s", b->error);
    for (size_t i = 0; i < want.n; i++)
        sprintf(ids + strlen(ids), "%s%s", i ? " " : "", m[i]->id);
    return want.n;
}

static void expect_take(struct broker *b, size_t most, bool alone,
                        const char *expected, struct queue_message **m)
{
    char ids[MOST * 20];

    take_into(b, most, alone, m, ids);
    assert_string_equal(ids, expected);
}

static enum broker_result settle(struct broker *b, struct broker_end e)
{
    if (b->kind->settle(b, &e, 1) != 0)
        fail_msg("settle: %s", b->error);
    queue_message_free(e.message);
    return e.result;
}

static enum broker_result done(struct broker *b, struct queue_message *m)
{
    return settle(b, (struct broker_end){ .message = m, .how = BROKER_DONE,
                                          .ran = true });
}

static enum broker_result again(struct broker *b, struct queue_message *m,
                                int64_t delay_ms, bool counts)
{
    return settle(b, (struct broker_end){ .message = m,
                                          .how = BROKER_AGAIN,
                                          .counts = counts,
                                          .ran = true,
                                          .delay_ns =
                                              delay_ms * BIDE_MILLISECOND,
                                          .error = "exit 1" });
}

static struct broker_counts counts(struct broker *b)
{
    struct broker_counts c;

    if (b->kind->counts(b, &c) != 0)
        fail_msg("counts: %s", b->error);
    return c;
}

/* ===== cases ===== */

static void put_then_take_gives_the_same_bytes(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];
    const struct queue_attribute attributes[] = { { "trace", "4bf9" },
                                                  { "empty", "" } };
    struct broker_put p = { .id = "a", .body = "x\0\xff\n", .len = 4,
                            .attributes = attributes, .n_attributes = 2 };

    (void)state;
    begin(&bench, 1);
    put(bench.b[0], p);
    expect_take(bench.b[0], 8, true, "a", m);
    assert_int_equal(m[0]->body_len, 4);
    assert_memory_equal(m[0]->body, "x\0\xff\n", 4);
    assert_int_equal(m[0]->n_attributes, 2);
    assert_string_equal(m[0]->attributes[0].name, "trace");
    assert_string_equal(m[0]->attributes[1].value, "");
    assert_int_equal(m[0]->attempt, 0);
    assert_int_equal(m[0]->deliveries, 1);
    assert_int_equal(done(bench.b[0], m[0]), BROKER_SETTLED);
    expect_take(bench.b[0], 8, true, "", m);
    end(&bench);
}

static void put_empty_body_is_a_message(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];

    (void)state;
    begin(&bench, 1);
    put(bench.b[0], item("a", ""));
    expect_take(bench.b[0], 8, true, "a", m);
    assert_int_equal(m[0]->body_len, 0);
    done(bench.b[0], m[0]);
    end(&bench);
}

static void put_same_id_twice_is_one_message(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];
    struct broker_put p = item("a", "1"), q = item("a", "2");

    (void)state;
    begin(&bench, 1);
    put(bench.b[0], p);
    assert_int_equal(bench.b[0]->kind->put(bench.b[0], &q, 1), 0);
    assert_true(q.duplicate);
    assert_int_equal(counts(bench.b[0]).waiting, 1);
    expect_take(bench.b[0], 8, true, "a", m);
    assert_int_equal(m[0]->body[0], '1');
    done(bench.b[0], m[0]);
    end(&bench);
}

static void put_too_large_is_refused(void **state)
{
    struct bench bench;
    size_t len;
    char *body;

    (void)state;
    begin(&bench, 1);
    len = bench.b[0]->traits.max_body + 1;
    body = calloc(1, len);
    assert_non_null(body);
    struct broker_put p = { .id = "a", .body = body, .len = len };
    assert_int_equal(bench.b[0]->kind->put(bench.b[0], &p, 1), BROKER_REFUSED);
    assert_non_null(strstr(bench.b[0]->error, "at most"));
    assert_int_equal(counts(bench.b[0]).waiting, 0);
    free(body);
    end(&bench);
}

static void put_with_delay_waits(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];
    struct broker_put p = item("a", "1");

    (void)state;
    begin(&bench, 1);
    p.delay_ns = 2 * BIDE_SECOND;
    put(bench.b[0], p);
    expect_take(bench.b[0], 8, true, "", m);
    assert_int_equal(counts(bench.b[0]).later, 1);
    tested->advance(2001);
    expect_take(bench.b[0], 8, true, "a", m);
    done(bench.b[0], m[0]);
    end(&bench);
}

static void taken_message_is_nobody_elses(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST], *n[MOST];

    (void)state;
    begin(&bench, 2);
    put(bench.b[0], item("a", "1"));
    put(bench.b[0], item("b", "1"));
    expect_take(bench.b[0], 1, true, "a", m);
    expect_take(bench.b[1], 8, true, "b", n);
    assert_int_equal(counts(bench.b[0]).running, 2);
    done(bench.b[0], m[0]);
    done(bench.b[1], n[0]);
    end(&bench);
}

static void again_counts_and_waits(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];

    (void)state;
    begin(&bench, 1);
    put(bench.b[0], item("a", "1"));
    expect_take(bench.b[0], 1, true, "a", m);
    assert_int_equal(again(bench.b[0], m[0], 1500, true), BROKER_SETTLED);
    expect_take(bench.b[0], 1, true, "", m);
    tested->advance(1501);
    expect_take(bench.b[0], 1, true, "a", m);
    assert_int_equal(m[0]->attempt, 1);
    assert_int_equal(m[0]->deliveries, 2);
    assert_non_null(strstr(m[0]->errors, "1 exit 1\n"));
    assert_int_equal(again(bench.b[0], m[0], 0, false), BROKER_SETTLED);
    expect_take(bench.b[0], 1, true, "a", m);
    assert_int_equal(m[0]->attempt, 1); /* given back: not counted */
    done(bench.b[0], m[0]);
    end(&bench);
}


static bool look_at_dead(void *arg, const struct broker_row *row)
{
    int *seen = arg;

    assert_int_equal(row->state, BROKER_IS_DEAD);
    assert_string_equal(row->message->id, "a");
    assert_string_equal(row->reason, "attempts");
    assert_string_equal(row->cls, "transient");
    assert_int_equal(row->message->attempt, 1);
    assert_int_equal(row->tail_len, 5);
    assert_memory_equal(row->tail, "oops\n", 5);
    assert_non_null(strstr(row->message->errors, "exit 3"));
    assert_memory_equal(row->message->body, "body", 4);
    ++*seen;
    return true;
}

static void dead_letter_has_everything_and_comes_back(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];
    const char *ids[] = { "a", "nobody" };
    int seen = 0;
    size_t n = 0;

    (void)state;
    begin(&bench, 1);
    put(bench.b[0], item("a", "body"));
    expect_take(bench.b[0], 1, true, "a", m);
    settle(bench.b[0], (struct broker_end){ .message = m[0],
                                            .how = BROKER_DEAD,
                                            .counts = true,
                                            .ran = true,
                                            .error = "exit 3",
                                            .reason = "attempts",
                                            .cls = "transient",
                                            .tail = "oops\n",
                                            .tail_len = 5 });
    struct broker_counts c = counts(bench.b[0]);
    assert_int_equal(c.dead, 1);
    assert_string_equal(c.dead_by[0].reason, "attempts");
    expect_take(bench.b[0], 1, true, "", m);
    struct broker_filter f = { .dead = true };
    assert_int_equal(bench.b[0]->kind->each(bench.b[0], &f, look_at_dead, &seen),
                     0);
    assert_int_equal(seen, 1);
    assert_int_equal(
        bench.b[0]->kind->redrive(bench.b[0], ids, 2, true, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(counts(bench.b[0]).dead, 0);
    expect_take(bench.b[0], 1, true, "a", m);
    assert_int_equal(m[0]->attempt, 0);
    assert_int_equal(m[0]->generation, 1);
    done(bench.b[0], m[0]);
    end(&bench);
}

static void killed_worker_frees_its_messages(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];
    struct broker_rescued r;

    (void)state;
    begin(&bench, 2);
    expect_take(bench.b[1], 1, true, "", m); /* it is a worker */
    put(bench.b[0], item("a", "1"));
    put(bench.b[0], item("b", "1"));
    expect_take(bench.b[0], 8, true, "a b", m);
    queue_message_free(m[0]);
    queue_message_free(m[1]);
    assert_int_equal(bench.b[1]->kind->rescue(bench.b[1], &r), 0);
    assert_int_equal(r.messages, 0); /* it lives */
    tested->kill_worker(bench.b[0]);
    bench.b[0] = NULL;
    if (!bench.b[1]->traits.embedded)
        tested->advance(tested->lease_ms + 1);
    assert_int_equal(bench.b[1]->kind->rescue(bench.b[1], &r), 0);
    assert_int_equal(r.messages, 2);
    /* both are suspects: one at a time, and only when nothing else runs */
    expect_take(bench.b[1], 8, false, "", m);
    expect_take(bench.b[1], 8, true, "a", m);
    assert_true(m[0]->suspect);
    assert_int_equal(m[0]->deaths, 0);
    again(bench.b[1], m[0], 0, true); /* it ran: cleared */
    expect_take(bench.b[1], 8, true, "b", m);
    done(bench.b[1], m[0]);
    expect_take(bench.b[1], 8, true, "a", m);
    assert_false(m[0]->suspect);
    done(bench.b[1], m[0]);
    end(&bench);
}

static void third_death_is_a_dead_letter(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];
    struct broker_rescued r;

    (void)state;
    begin(&bench, 2);
    expect_take(bench.b[1], 1, true, "", m);
    put(bench.b[0], item("a", "1"));
    for (uint32_t death = 1; death <= 3; death++) {
        if (!bench.b[0])
            bench.b[0] = connect_to(&bench, true);
        expect_take(bench.b[0], 8, true, "a", m);
        assert_int_equal(m[0]->deaths, death - 1);
        queue_message_free(m[0]);
        tested->kill_worker(bench.b[0]);
        bench.b[0] = NULL;
        if (!bench.b[1]->traits.embedded)
            tested->advance(tested->lease_ms + 1);
        assert_int_equal(bench.b[1]->kind->rescue(bench.b[1], &r), 0);
        assert_int_equal(r.messages, 1);
        assert_int_equal(r.dead, death == 3);
    }
    struct broker_counts c = counts(bench.b[1]);
    assert_int_equal(c.dead, 1);
    assert_string_equal(c.dead_by[0].reason, "crashed");
    end(&bench);
}

static void beat_keeps_a_message_for_hours(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];
    struct broker_rescued r;
    int64_t step = tested->lease_ms / 3;

    (void)state;
    begin(&bench, 2);
    expect_take(bench.b[1], 1, true, "", m);
    put(bench.b[0], item("a", "1"));
    expect_take(bench.b[0], 1, true, "a", m);
    for (int i = 0; i < (tested->set_clock ? 1080 : 12); i++) {
        tested->advance(step);
        assert_int_equal(bench.b[0]->kind->beat(bench.b[0], m, 1), 0);
        assert_false(m[0]->lost);
        assert_int_equal(bench.b[1]->kind->rescue(bench.b[1], &r), 0);
        assert_int_equal(r.messages, 0);
    }
    assert_int_equal(done(bench.b[0], m[0]), BROKER_SETTLED);
    end(&bench);
}

static void frozen_worker_is_fenced_off(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST], *n[MOST];
    struct broker_rescued r;

    (void)state;
    begin(&bench, 2);
    expect_take(bench.b[1], 1, true, "", n);
    for (int i = 0; i < 4; i++)
        put(bench.b[0], item((const char *[]){ "a", "b", "c", "d" }[i], "1"));
    expect_take(bench.b[0], 8, true, "a b c d", m);
    assert_int_equal(bench.b[1]->kind->rescue(bench.b[1], &r), 0);
    tested->advance(tested->lease_ms + 1);
    assert_int_equal(bench.b[1]->kind->rescue(bench.b[1], &r), 0);
    assert_int_equal(r.messages, 4);
    for (int i = 0; i < 4; i++) {
        char id[20 * MOST];
        assert_int_equal(take_into(bench.b[1], 1, true, n, id), 1);
        assert_int_equal(done(bench.b[1], n[0]), BROKER_SETTLED);
    }
    /* its late word: done, again, dead, and its beat */
    assert_int_equal(bench.b[0]->kind->beat(bench.b[0], m, 4), 0);
    assert_true(m[3]->lost);
    queue_message_free(m[3]);
    assert_int_equal(done(bench.b[0], m[0]), BROKER_LOST);
    assert_int_equal(again(bench.b[0], m[1], 0, true), BROKER_LOST);
    assert_int_equal(
        settle(bench.b[0], (struct broker_end){ .message = m[2],
                                                .how = BROKER_DEAD,
                                                .reason = "permanent",
                                                .cls = "permanent" }),
        BROKER_LOST);
    struct broker_counts c = counts(bench.b[0]);
    assert_int_equal(c.waiting + c.running + c.later + c.dead, 0);
    put(bench.b[0], item("e", "1")); /* and it works on */
    expect_take(bench.b[0], 8, true, "e", m);
    assert_int_equal(done(bench.b[0], m[0]), BROKER_SETTLED);
    end(&bench);
}

static void closing_gives_back(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];

    (void)state;
    begin(&bench, 2);
    put(bench.b[0], item("a", "1"));
    expect_take(bench.b[0], 8, true, "a", m);
    queue_message_free(m[0]);
    broker_close(bench.b[0]);
    bench.b[0] = NULL;
    expect_take(bench.b[1], 8, true, "a", m);
    assert_int_equal(m[0]->attempt, 0);
    assert_int_equal(m[0]->deaths, 0);
    assert_false(m[0]->suspect);
    done(bench.b[1], m[0]);
    end(&bench);
}

static void key_keeps_order_and_holds_only_itself(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST], *n[MOST];

    (void)state;
    begin(&bench, 1);
    if (!bench.b[0]->traits.has_keys)
        skip();
    for (int i = 0; i < 6; i++) {
        static const char *const ids[] = { "a1", "a2", "b1", "a3", "c", "b2" };
        struct broker_put p = item(ids[i], "1");
        p.key = ids[i][0] == 'c' ? NULL : ids[i][0] == 'a' ? "a" : "b";
        put(bench.b[0], p);
    }
    expect_take(bench.b[0], 8, true, "a1 b1 c", m);
    assert_int_equal(counts(bench.b[0]).held, 3);
    done(bench.b[0], m[2]);
    again(bench.b[0], m[0], 5000, true); /* a waits, b goes on */
    done(bench.b[0], m[1]);
    expect_take(bench.b[0], 8, true, "b2", n);
    done(bench.b[0], n[0]);
    expect_take(bench.b[0], 8, true, "", n);
    tested->advance(5001);
    expect_take(bench.b[0], 8, true, "a1", m);
    settle(bench.b[0], (struct broker_end){ .message = m[0],
                                            .how = BROKER_DEAD,
                                            .reason = "permanent",
                                            .cls = "permanent" });
    expect_take(bench.b[0], 8, true, "a2", m);
    done(bench.b[0], m[0]);
    expect_take(bench.b[0], 8, true, "a3", m);
    done(bench.b[0], m[0]);
    end(&bench);
}

static void priority_is_strict_until_ten_minutes(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];
    static const int priorities[] = { 0, -3, 9, 0 };
    static const char *const ids[] = { "n1", "low", "high", "n2" };

    (void)state;
    begin(&bench, 1);
    if (!bench.b[0]->traits.has_priorities)
        skip();
    for (int i = 0; i < 4; i++) {
        struct broker_put p = item(ids[i], "1");
        p.priority = priorities[i];
        put(bench.b[0], p);
    }
    expect_take(bench.b[0], 3, true, "high n1 n2", m);
    for (int i = 0; i < 3; i++)
        done(bench.b[0], m[i]);
    if (tested->set_clock) {
        tested->advance(10 * 60 * 1000 + 1);
        for (int i = 0; i < 3; i++) {
            struct broker_put p = item(ids[i == 1 ? 3 : i], "1");
            p.priority = 9;
            put(bench.b[0], p);
        }
        expect_take(bench.b[0], 2, true, "low n1", m);
        done(bench.b[0], m[0]);
        done(bench.b[0], m[1]);
    }
    end(&bench);
}

static void retries_get_their_share_and_no_more(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];
    char id[20], ids[MOST * 20];
    size_t n, retries = 0;

    (void)state;
    begin(&bench, 1);
    for (int i = 0; i < 8; i++) {
        snprintf(id, sizeof id, "r%d", i);
        put(bench.b[0], item(id, "1"));
    }
    n = take_into(bench.b[0], 8, true, m, ids);
    assert_int_equal(n, 8);
    for (int i = 0; i < 8; i++) {
        snprintf(id, sizeof id, "f%d", i);
        put(bench.b[0], item(id, "1"));
        again(bench.b[0], m[i], 1000, true);
    }
    tested->advance(1001);
    n = take_into(bench.b[0], 8, true, m, ids);
    assert_int_equal(n, 8);
    for (size_t i = 0; i < n; i++) {
        retries += m[i]->attempt > 0;
        done(bench.b[0], m[i]);
    }
    assert_in_range(retries, 1, 7); /* neither starves the other */
    end(&bench);
}

static void thousand_that_failed_come_back_spread(void **state)
{
    struct bench bench;
    struct queue_message *m[MOST];
    char id[20], ids[MOST * 20];
    int per_second[64] = { 0 };
    bide_rng_seeded seeded;

    (void)state;
    if (!tested->set_clock)
        skip();
    begin(&bench, 1);
    bide_rng rng = bide_rng_seed(&seeded, 7);
    for (int i = 0; i < 1000; i++) {
        snprintf(id, sizeof id, "m%d", i);
        put(bench.b[0], item(id, "1"));
    }
    for (int i = 0; i < 1000;) {
        size_t n = take_into(bench.b[0], 20, true, m, ids);
        for (size_t j = 0; j < n; j++, i++)
            again(bench.b[0], m[j], bide_rng_between(&rng, 30000, 60000), true);
    }
    for (int s = 0; s < 64; s++) {
        size_t n;
        tested->advance(1000);
        while ((n = take_into(bench.b[0], 20, true, m, ids)) > 0) {
            per_second[s] += (int)n;
            for (size_t j = 0; j < n; j++)
                done(bench.b[0], m[j]);
        }
    }
    for (int s = 0; s < 64; s++)
        assert_in_range(per_second[s], 0, 100);
    assert_int_equal(counts(bench.b[0]).later, 0);
    end(&bench);
}

int conformance_run(const struct conformance_broker *broker)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_then_take_gives_the_same_bytes),
        cmocka_unit_test(put_empty_body_is_a_message),
        cmocka_unit_test(put_same_id_twice_is_one_message),
        cmocka_unit_test(put_too_large_is_refused),
        cmocka_unit_test(put_with_delay_waits),
        cmocka_unit_test(taken_message_is_nobody_elses),
        cmocka_unit_test(again_counts_and_waits),
        cmocka_unit_test(dead_letter_has_everything_and_comes_back),
        cmocka_unit_test(killed_worker_frees_its_messages),
        cmocka_unit_test(third_death_is_a_dead_letter),
        cmocka_unit_test(beat_keeps_a_message_for_hours),
        cmocka_unit_test(frozen_worker_is_fenced_off),
        cmocka_unit_test(closing_gives_back),
        cmocka_unit_test(key_keeps_order_and_holds_only_itself),
        cmocka_unit_test(priority_is_strict_until_ten_minutes),
        cmocka_unit_test(retries_get_their_share_and_no_more),
        cmocka_unit_test(thousand_that_failed_come_back_spread),
    };

    tested = broker;
    return cmocka_run_group_tests_name(broker->name, tests, NULL, NULL);
}
