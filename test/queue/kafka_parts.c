/* What the broker on Kafka decides without Kafka: the state beside an offset, windows
 * of offsets, the order of keys, URLs, and settings that lose messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "queue/kafka/check.h"
#include "queue/kafka/order.h"
#include "queue/kafka/url.h"

/* ===== the state beside an offset ===== */

static void state_written_is_read_back(void **unused)
{
    static const struct {
        int every; /* one of so many is done; 0: none, 1: all */
        size_t marks;
    } rows[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 5 },
                 { 7, KF_MARKS }, { 5000, 1 }, { 2, KF_MARKS } };
    static struct kf_state s, back;
    char text[KF_STATE_TEXT];

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        s = (struct kf_state){ .base = 1000000, .worker = "0123abcd",
                               .n_running = 3, .n_marks = rows[i].marks };
        for (int64_t j = 0; rows[i].every && j < KF_WINDOW; j += rows[i].every)
            kf_state_set_done(&s, s.base + j);
        for (size_t j = 0; j < rows[i].marks; j++)
            s.marks[j] = (struct kf_mark){ .offset = s.base + 8 + (int64_t)j,
                                           .deliveries = (uint32_t)j,
                                           .deaths = 1,
                                           .suspect = j % 2,
                                           .running = j % 3 == 0 };
        kf_state_write(text, &s);
        assert_true(strlen(text) < KF_STATE_TEXT - 1);
        assert_int_equal(kf_state_read(&back, s.base, text), 0);
        assert_memory_equal(s.done, back.done, sizeof s.done);
        assert_int_equal(back.n_marks, s.n_marks);
        for (size_t j = 0; j < s.n_marks; j++) {
            assert_int_equal(back.marks[j].offset, s.marks[j].offset);
            assert_int_equal(back.marks[j].deliveries, s.marks[j].deliveries);
            assert_int_equal(back.marks[j].deaths, 1);
            assert_int_equal(back.marks[j].suspect, s.marks[j].suspect);
            assert_int_equal(back.marks[j].running, s.marks[j].running);
        }
        assert_string_equal(back.worker, "0123abcd");
        assert_int_equal(back.n_running, 3);
    }
}

/* As many marks as there may be, as long as they may be, beside the longest text of what
 * is done. */
static void state_has_room_for_all_that_matters(void **unused)
{
    static struct kf_state s, back;
    char text[KF_STATE_TEXT];

    (void)unused;
    s = (struct kf_state){ .base = INT64_MAX - 2 * KF_WINDOW, .worker = "0123abcd",
                           .n_running = UINT32_MAX, .n_marks = KF_MARKS };
    for (int i = 0; i < KF_WINDOW; i++)
        if (i % 5 < 2 || i == KF_WINDOW - 1)
            kf_state_set_done(&s, s.base + i);
    for (int i = 0; i < KF_MARKS; i++)
        s.marks[i] = (struct kf_mark){ .offset = s.base + KF_WINDOW - 2 - i,
                                       .deliveries = UINT32_MAX,
                                       .deaths = UINT32_MAX,
                                       .suspect = true,
                                       .running = true };
    kf_state_write(text, &s);
    assert_true(strlen(text) < KF_STATE_TEXT - 1);
    assert_int_equal(kf_state_read(&back, s.base, text), 0);
    assert_memory_equal(s.done, back.done, sizeof s.done);
    assert_int_equal(back.n_marks, KF_MARKS);
    for (int i = 0; i < KF_MARKS; i++) {
        assert_int_equal(back.marks[i].offset, s.marks[i].offset);
        assert_int_equal(back.marks[i].deliveries, KF_COUNT);
        assert_int_equal(back.marks[i].deaths, KF_COUNT);
        assert_true(back.marks[i].suspect && back.marks[i].running);
    }
}

static void mark_that_matters_displaces_one_that_does_not(void **unused)
{
    static struct kf_state s;
    const struct kf_mark runs = { .offset = 1000, .deliveries = 1, .running = true },
                         waits = { .offset = 2000, .deliveries = 1 };

    (void)unused;
    s = (struct kf_state){ .n_marks = 0 };
    for (int i = 0; i < KF_MARKS; i++)
        kf_state_add_mark(&s, &(struct kf_mark){ .offset = i, .deliveries = 1,
                                                 .deaths = i != 7 });
    assert_int_equal(s.n_marks, KF_MARKS);
    kf_state_add_mark(&s, &waits); /* no better than what is there */
    assert_null(kf_state_mark(&s, 2000));
    assert_non_null(kf_state_mark(&s, 7));
    kf_state_add_mark(&s, &runs);
    assert_true(kf_state_mark(&s, 1000)->running);
    assert_null(kf_state_mark(&s, 7));
    assert_int_equal(s.n_marks, KF_MARKS);
    kf_state_add_mark(&s, &(struct kf_mark){ .offset = 3000, .running = true });
    assert_null(kf_state_mark(&s, 3000)); /* all that are there matter as much */
}

static void state_of_others_is_empty(void **unused)
{
    static const char *const rows[] = {
        "", "hello", "bide1", "bide1 w", "bide1 w 1", "bide1 w 1|", "bide1 w 1|x|",
        "bide1 w 1|9999.1.1.|", "bide1 w 1|-1.1.1.|", "bide1 w 1||9000.9000",
        "bide1 w 1||a", "bide1 w 1||=!", "bide2 w 1||",
    };
    static struct kf_state s;

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(kf_state_read(&s, 7, rows[i]), -1);
        assert_int_equal(s.base, 7);
        assert_int_equal(s.n_marks, 0);
        assert_false(kf_state_done(&s, 7));
        assert_true(kf_state_done(&s, 6));
    }
}

/* ===== windows ===== */

static struct kf_slot *add(struct kf_window *w, int64_t offset, enum kf_stage stage)
{
    struct kf_slot *s = kf_window_add(w, offset);

    assert_non_null(s);
    s->stage = stage;
    w->next = offset + 1;
    return s;
}

static void window_commits_in_order(void **unused)
{
    struct kf_lane lane = { .partition = 0 };
    struct kf_window *w = &lane.windows[KF_MAIN];
    static struct kf_state s;

    (void)unused;
    assert_int_equal(kf_window_init(w, &lane, KF_MAIN, 100, ""), 0);
    struct kf_slot *first = add(w, 100, KF_RUNNING);
    add(w, 101, KF_DONE);
    add(w, 102, KF_WAITING)->deliveries = 1;
    add(w, 103, KF_DONE);
    first->deliveries = 1;
    kf_window_state(w, &s);
    assert_int_equal(s.base, 100); /* it runs: nothing goes past it */
    assert_true(kf_state_done(&s, 101) && kf_state_done(&s, 103));
    assert_int_equal(s.n_marks, 2);
    assert_true(kf_state_mark(&s, 100)->running);
    assert_false(kf_state_mark(&s, 102)->running);
    kf_window_committed(w);
    first->stage = KF_DONE;
    kf_window_state(w, &s);
    assert_int_equal(s.base, 102);
    kf_window_committed(w);
    assert_int_equal(w->base, 102);
    kf_window_skip(w, 200); /* offsets that do not exist */
    (*kf_window_at(w, 102))->stage = KF_DONE;
    kf_window_state(w, &s);
    assert_int_equal(s.base, 200);
    kf_window_done(w);
}

static void window_keeps_what_it_was_told(void **unused)
{
    struct kf_lane lane = { .partition = 0 };
    struct kf_window *w = &lane.windows[KF_MAIN];
    static struct kf_state s;

    (void)unused;
    assert_int_equal(kf_window_init(w, &lane, KF_MAIN, 10,
                                    "bide1 deadbeef 1|0.2.1.sr,5.1.0.|1.2"),
                     0);
    kf_window_state(w, &s); /* nothing was fetched yet */
    assert_int_equal(s.base, 10);
    assert_true(kf_state_mark(&s, 10)->running);
    assert_int_equal(kf_state_mark(&s, 10)->deaths, 1);
    assert_non_null(kf_state_mark(&s, 15));
    assert_true(kf_state_done(&s, 11) && kf_state_done(&s, 12));
    assert_false(kf_state_done(&s, 13));
    kf_window_done(w);
}

/* What runs has to be remembered beside what waits and has died before. */
static void window_lets_run_what_it_can_remember(void **unused)
{
    static const struct {
        int died;
        size_t most;
    } rows[] = { { 0, 100 }, { 28, 100 }, { 29, 99 },
                 { 63, 65 }, { 64, 64 },  { 120, 64 } };
    static struct kf_state s;

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct kf_lane lane = { .partition = 0 };
        struct kf_window *w = &lane.windows[KF_MAIN];
        assert_int_equal(kf_window_init(w, &lane, KF_MAIN, 100, ""), 0);
        for (int j = 0; j < rows[i].died; j++)
            add(w, 100 + j, KF_WAITING)->deaths = 1;
        kf_window_state(w, &s);
        for (w->n_running = 0; kf_window_may_run(w); w->n_running++)
            add(w, w->next, KF_RUNNING)->deliveries = 1;
        assert_int_equal(w->n_running, rows[i].most);
        kf_window_state(w, &s); /* what runs does not count twice */
        assert_false(kf_window_may_run(w));
        w->n_running--;
        assert_true(kf_window_may_run(w));
        kf_window_done(w);
    }
}

static void window_is_full_of_what_its_last_owner_left(void **unused)
{
    struct kf_lane lane = { .partition = 0 };
    struct kf_window *w = &lane.windows[KF_MAIN];
    char text[KF_STATE_TEXT] = "bide1 deadbeef 40|0.1.0.r";

    (void)unused;
    for (int i = 1; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",%d.1.0.r", i);
    strcat(text, "|");
    assert_int_equal(kf_window_init(w, &lane, KF_MAIN, 10, text), 0);
    w->n_running = KF_MARKS - 40 - 1;
    assert_true(kf_window_may_run(w));
    w->n_running++;
    assert_false(kf_window_may_run(w));
    kf_window_done(w);
}

/* ===== keys and due times ===== */

static void order_of_a_key_is_its_place(void **unused)
{
    static struct kf_lane lane;
    struct kf_order o;
    struct kf_slot s[5];

    (void)unused;
    memset(s, 0, sizeof s);
    assert_int_equal(kf_order_init(&o), 0);
    for (int i = 0; i < 5; i++) {
        s[i].window = &lane.windows[KF_MAIN];
        s[i].stage = KF_WAITING;
        s[i].place = i;
        s[i].due_ns = 100 - i;
    }
    assert_int_equal(kf_enter(&o, &s[2], "k", 1), 0);
    assert_ptr_equal(kf_first(&o.fresh), &s[2]);
    assert_int_equal(kf_enter(&o, &s[1], "k", 1), 0); /* before it */
    assert_ptr_equal(kf_first(&o.fresh), &s[1]);
    assert_int_equal(o.fresh.n, 1);
    s[0].stage = KF_AWAITED; /* a copy that is on its way holds its key */
    assert_int_equal(kf_enter(&o, &s[0], "k", 1), 0);
    assert_int_equal(o.fresh.n, 0);
    assert_int_equal(kf_enter(&o, &s[3], "other", 5), 0);
    assert_int_equal(kf_enter(&o, &s[4], NULL, 0), 0);
    assert_ptr_equal(kf_pop(&o.fresh), &s[4]); /* due first */
    assert_ptr_equal(kf_pop(&o.fresh), &s[3]);
    kf_leave(&o, &s[0]);
    assert_ptr_equal(kf_pop(&o.fresh), &s[1]);
    kf_leave(&o, &s[1]);
    assert_ptr_equal(kf_pop(&o.fresh), &s[2]);
    kf_leave(&o, &s[2]);
    kf_leave(&o, &s[3]);
    kf_order_done(&o);
}

static void order_line_is_by_due_time(void **unused)
{
    static struct kf_lane lane;
    struct kf_order o;
    struct kf_slot s[100];
    int64_t last = -1;

    (void)unused;
    memset(s, 0, sizeof s);
    assert_int_equal(kf_order_init(&o), 0);
    for (int i = 0; i < 100; i++) {
        s[i].window = &lane.windows[KF_MAIN];
        s[i].stage = KF_WAITING;
        s[i].due_ns = i * 37 % 100;
        s[i].attempt = 1;
        assert_int_equal(kf_enter(&o, &s[i], NULL, 0), 0);
    }
    kf_unline(&o, &s[50]);
    for (int i = 0; i < 99; i++) {
        struct kf_slot *first = kf_pop(&o.retries);
        assert_true(first->due_ns > last && first != &s[50]);
        last = first->due_ns;
    }
    assert_null(kf_pop(&o.retries));
    kf_order_done(&o);
}

/* ===== URLs ===== */

static void url_parts_are_read(void **unused)
{
    struct kf_url u;
    char why[KF_WHY];

    (void)unused;
    assert_int_equal(kf_url_read(&u, "kafka://eve:a%40b@x:1,y:2/?client.id=c%20d&"
                                     "partitions=12&security.protocol=SASL_PLAINTEXT",
                                 why),
                     0);
    assert_string_equal(u.servers, "x:1,y:2");
    assert_string_equal(kf_url_setting(&u, "sasl.username"), "eve");
    assert_string_equal(kf_url_setting(&u, "sasl.password"), "a@b");
    assert_string_equal(kf_url_setting(&u, "client.id"), "c d");
    assert_string_equal(kf_url_setting(&u, "security.protocol"), "SASL_PLAINTEXT");
    assert_int_equal(u.partitions, 12);
    kf_url_done(&u);
}

static void url_mistakes_are_named(void **unused)
{
    static const struct {
        const char *url, *found;
    } rows[] = {
        { "kafka:x", "kafka://HOST" },
        { "kafka://", "no host" },
        { "kafka://?a=b", "no host" },
        { "kafka://x?a", "`a`" },
        { "kafka://x?=a", "NAME=VALUE" },
        { "kafka://x?partitions=0", "partitions=0" },
        { "kafka://x?replication=many", "replication=many" },
    };
    struct kf_url u;
    char why[KF_WHY];

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(kf_url_read(&u, rows[i].url, why), -1);
        if (!strstr(why, rows[i].found))
            fail_msg("%s: %s", rows[i].url, why);
    }
}

/* ===== settings ===== */

struct findings {
    char text[4000];
};

static void note(void *arg, enum broker_severity severity, const char *found,
                 const char *change)
{
    struct findings *f = arg;
    size_t len = strlen(f->text);

    snprintf(f->text + len, sizeof f->text - len, "%s: %s: %s\n",
             severity == BROKER_LOSS ? "loss" : "waste", found, change);
}

#define DAY INT64_C(86400000)

static void settings_that_lose_are_found(void **unused)
{
    const struct broker_plan plan = { .attempts = 15,
                                      .longest_wait_ns = DAY / 4 * 1000000,
                                      .lease_ns = INT64_C(30000000000) };
    const struct kf_settings good = { .name = "q", .known = true, .main = true,
                                      .retention_ms = 14 * DAY,
                                      .retention_bytes = -1, .min_insync = 2,
                                      .replicas = 3, .brokers = 3,
                                      .max_bytes = 2 << 20,
                                      .queue_max_bytes = 1 << 20 };
    struct kf_settings s[10];
    static const char *const expected[10] = {
        "", "loss: cleanup.policy", "loss: retention.ms", "loss: retention.bytes",
        "loss: q has one replica", "loss: min.insync.replicas",
        "waste: min.insync.replicas", "waste: message.timestamp.type",
        "waste: the broker does not show", "waste: max.message.bytes",
    };

    (void)unused;
    for (int i = 0; i < 10; i++)
        s[i] = good;
    s[1].compacts = true;
    s[2].retention_ms = DAY / 3;
    s[3].retention_bytes = 1 << 20;
    s[4].replicas = 1;
    s[5].min_insync = 1;
    s[6].min_insync = 3;
    s[7].main = false;
    s[8].known = false;
    s[9].main = false;
    s[9].log_append_time = true;
    s[9].max_bytes = 1 << 20;
    for (int i = 0; i < 10; i++) {
        struct findings f = { "" };
        kf_compare(&s[i], &plan, note, &f);
        if (strncmp(f.text, expected[i], strlen(expected[i])) != 0 ||
            (i == 0 && *f.text))
            fail_msg("%d: %s", i, f.text);
    }
}

static void settings_of_brokers_are_compared(void **unused)
{
    static const struct {
        struct kf_broker_settings s;
        int64_t kept_ms;
        const char *expected;
    } rows[] = {
        { { true, false, 14 * DAY, 4096 }, 14 * DAY, "" },
        { { false, true, 0, 0 }, 14 * DAY, "" }, /* it does not tell */
        { { true, true, 14 * DAY, 4096 }, 14 * DAY, "waste: auto.create" },
        { { true, false, 7 * DAY, 4096 }, 14 * DAY, "waste: offsets.retention" },
        { { true, false, 7 * DAY, 4096 }, -1, "waste: offsets.retention" },
        { { true, false, 14 * DAY, 1024 }, 14 * DAY, "loss: offset.metadata" },
    };

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct findings f = { "" };
        kf_compare_broker(&rows[i].s, rows[i].kept_ms, note, &f);
        if (strncmp(f.text, rows[i].expected, strlen(rows[i].expected)) != 0 ||
            (!*rows[i].expected && *f.text))
            fail_msg("%zu: %s", i, f.text);
    }
}

static void settings_of_the_client_are_compared(void **unused)
{
    const struct broker_plan plan = { .lease_ns = INT64_C(30000000000),
                                      .at_once = 64 };
    const struct kf_client_settings good = { 300000, 30000, 6, true, true };
    struct kf_client_settings s[6];
    static const char *const expected[6] = {
        "", "loss: max.poll.interval.ms", "waste: session.timeout.ms",
        "waste: the topic has one", "loss: acks", "waste: enable.idempotence"
    };
    const struct broker_plan crowd = { .lease_ns = INT64_C(30000000000),
                                       .at_once = 6 * KF_AT_ONCE + 1 };
    struct findings many = { "" };

    (void)unused;
    for (int i = 0; i < 6; i++)
        s[i] = good;
    s[1].max_poll_ms = 30000;
    s[2].session_ms = 10000;
    s[3].partitions = 1;
    s[4].acks_all = false;
    s[5].idempotent = false;
    for (int i = 0; i < 6; i++) {
        struct findings f = { "" };
        kf_compare_client(&s[i], &plan, note, &f);
        if (strncmp(f.text, expected[i], strlen(expected[i])) != 0 ||
            (i == 0 && *f.text))
            fail_msg("%d: %s", i, f.text);
    }
    kf_compare_client(&good, &crowd, note, &many);
    assert_non_null(strstr(many.text, "waste: 601 handlers at once"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_written_is_read_back),
        cmocka_unit_test(state_has_room_for_all_that_matters),
        cmocka_unit_test(mark_that_matters_displaces_one_that_does_not),
        cmocka_unit_test(state_of_others_is_empty),
        cmocka_unit_test(window_commits_in_order),
        cmocka_unit_test(window_keeps_what_it_was_told),
        cmocka_unit_test(window_lets_run_what_it_can_remember),
        cmocka_unit_test(window_is_full_of_what_its_last_owner_left),
        cmocka_unit_test(order_of_a_key_is_its_place),
        cmocka_unit_test(order_line_is_by_due_time),
        cmocka_unit_test(url_parts_are_read),
        cmocka_unit_test(url_mistakes_are_named),
        cmocka_unit_test(settings_that_lose_are_found),
        cmocka_unit_test(settings_of_brokers_are_compared),
        cmocka_unit_test(settings_of_the_client_are_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
