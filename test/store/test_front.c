/* The front: deadlines, down and up, what is given up and what is owed. */
#include "double.h"

#include <poll.h>

#define SHORT (300 * BIDE_MILLISECOND)
#define LONG (60 * BIDE_SECOND)
#define CLAIM BIDE_STORE_CLAIM
#define LOOK_UP BIDE_STORE_LOOK_UP

/* ===== down and up ===== */

static void store_hangs_costs_one_deadline_then_nothing(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, SHORT);
    (void)state;
    assert_int_equal(ask(store, CLAIM, "a"), BIDE_STORE_FIRST);
    double_set(&d, HANGS);
    int64_t begun = bide_now_ns();
    assert_int_equal(ask(store, CLAIM, "b"), BIDE_STORE_DOWN);
    assert_true(bide_now_ns() - begun >= SHORT);
    assert_false(is_up(store));
    assert_false(d.up);
    /* Each of these would take 300 ms; together they take none. */
    begun = bide_now_ns();
    for (int i = 0; i < 1000; i++)
        assert_int_equal(ask(store, CLAIM, "c"), BIDE_STORE_DOWN);
    assert_true(bide_now_ns() - begun < 100 * SHORT);
    double_set(&d, WORKS);
    UNTIL(is_up(store));
    assert_true(d.up);
    assert_int_equal(d.changes, 2);
    UNTIL(ask(store, LOOK_UP, "b") == BIDE_STORE_ABSENT);
    assert_int_equal(ask(store, LOOK_UP, "a"), BIDE_STORE_IN_PROGRESS);
    assert_int_equal(ask(store, CLAIM, "c"), BIDE_STORE_FIRST);
    bide_store_close(store);
}

static void store_fails_is_down_at_once_and_comes_back(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, LONG);
    (void)state;
    double_set(&d, FAILS);
    assert_int_equal(ask(store, CLAIM, "a"), BIDE_STORE_DOWN);
    assert_false(is_up(store));
    assert_string_equal(d.why, "the double fails");
    assert_int_equal(ask(store, CLAIM, "a"), BIDE_STORE_DOWN);
    double_set(&d, WORKS);
    UNTIL(is_up(store));
    UNTIL(owed(store) == 0);
    assert_int_equal(ask(store, CLAIM, "a"), BIDE_STORE_FIRST);
    bide_store_close(store);
}

static bool is_told(struct double_store *d, const char *why)
{
    pthread_mutex_lock(&d->lock);
    bool told = strcmp(d->why, why) == 0;
    pthread_mutex_unlock(&d->lock);
    return told;
}

/* As a Redis that was started again with nothing in it. */
static void regress_store_down_for_another_reason_says_so(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, LONG);
    (void)state;
    double_set(&d, FAILS);
    assert_int_equal(ask(store, CLAIM, "a"), BIDE_STORE_DOWN);
    assert_true(is_told(&d, "the double fails"));
    double_set(&d, REFUSES);
    UNTIL(is_told(
        &d, "the double refuses?[2J")); /* what a server says is made safe */
    assert_false(is_up(store));
    double_set(&d, WORKS);
    UNTIL(is_up(store));
    assert_int_equal(d.changes, 3);
    bide_store_close(store);
}

/* ===== what was given up ===== */

static void claim_that_may_have_been_granted_is_released(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, LONG);
    (void)state;
    double_set(&d, DOES_AND_FAILS);
    assert_int_equal(ask(store, CLAIM, "a"), BIDE_STORE_DOWN);
    assert_int_equal(owed(store), 1);
    double_set(&d, WORKS);
    UNTIL(is_up(store) && owed(store) == 0);
    UNTIL(ask(store, LOOK_UP, "a") == BIDE_STORE_ABSENT);
    bide_store_close(store);
}

/* Given up while it ran, given up while it was down: both are written. */
static void answers_are_written_when_it_is_back(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, SHORT);
    bide_store_op a = op_for(CLAIM, "a"), b = op_for(CLAIM, "b"),
                  c = op_for(CLAIM, "c");
    (void)state;
    bide_store_do(store, &a);
    bide_store_do(store, &b);
    bide_store_do(store, &c);
    assert_int_equal(c.result, BIDE_STORE_FIRST);
    double_set(&d, HANGS);
    bide_store_complete(store, &a, 201, "one", 3);
    assert_int_equal(a.result, BIDE_STORE_DOWN);
    bide_store_complete(store, &b, 202, "two", 3);
    assert_int_equal(b.result, BIDE_STORE_DOWN);
    bide_store_release(store, &c);
    assert_int_equal(c.result, BIDE_STORE_DOWN);
    double_set(&d, WORKS);
    UNTIL(is_up(store) && owed(store) == 0);
    UNTIL(ask(store, LOOK_UP, "a") == BIDE_STORE_DONE);
    b.verb = LOOK_UP;
    bide_store_do(store, &b);
    assert_int_equal(b.result, BIDE_STORE_DONE);
    assert_int_equal(b.status, 202);
    assert_memory_equal(b.data, "two", 3);
    bide_store_op_done(&b);
    assert_int_equal(ask(store, LOOK_UP, "c"), BIDE_STORE_ABSENT);
    bide_store_close(store);
}

/* The store was away for longer than a lease, its owner lived on. */
static void regress_answer_is_owed_after_its_lease(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, LONG);
    bide_store_op a = op_for(CLAIM, "a");
    (void)state;
    a.lease_ns = BIDE_MILLISECOND;
    bide_store_do(store, &a);
    double_set(&d, FAILS);
    bide_store_complete(store, &a, 201, "one", 3);
    assert_int_equal(a.result, BIDE_STORE_DOWN);
    int64_t over = bide_now_ns() + 2 * BIDE_MILLISECOND;
    UNTIL(bide_now_ns() > over);
    double_set(&d, WORKS);
    UNTIL(is_up(store) && owed(store) == 0);
    assert_int_equal(ask(store, LOOK_UP, "a"), BIDE_STORE_DONE);
    bide_store_close(store);
}

static void what_is_owed_too_long_is_dropped_and_counted(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, LONG);
    bide_store_op a = op_for(CLAIM, "a");
    bide_store_stats stats;
    (void)state;
    bide_store_do(store, &a);
    double_set(&d, FAILS);
    a.keep_ns = BIDE_MILLISECOND;
    bide_store_complete(store, &a, 201, "one", 3);
    assert_int_equal(a.result, BIDE_STORE_DOWN);
    UNTIL(owed(store) == 0);
    UNTIL((bide_store_stats_get(store, &stats), stats.dropped == 1));
    double_set(&d, WORKS);
    UNTIL(is_up(store));
    assert_int_equal(ask(store, LOOK_UP, "a"), BIDE_STORE_IN_PROGRESS);
    bide_store_close(store);
}

/* What is owed when it is closed is tried once more. */
static void close_writes_what_is_owed(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, LONG);
    bide_store_op a = op_for(CLAIM, "a");
    bide_store_port *port;
    (void)state;
    assert_int_equal(bide_store_port_new(&port, store), 0);
    bide_store_do(store, &a);
    a.verb = BIDE_STORE_RELEASE;
    assert_int_equal(bide_store_submit(port, &a), 0);
    bide_store_forget(port, &a);
    bide_store_port_free(port);
    bide_store_close(store);
    assert_int_equal(d.closed, 1);
}

/* The thread hangs in the store: whoever closes it does not. */
static void close_does_not_wait_for_what_hangs(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, SHORT);
    (void)state;
    double_set(&d, HANGS);
    assert_int_equal(ask(store, CLAIM, "a"), BIDE_STORE_DOWN);
    bide_store_close(store);
    assert_int_equal(d.closed, 0);
    double_set(&d, WORKS);
    pthread_mutex_lock(&d.lock);
    while (!d.closed)
        pthread_cond_wait(&d.changed, &d.lock);
    pthread_mutex_unlock(&d.lock);
}

/* ===== ports ===== */

enum { MANY = 600 };

static bool readable(const bide_store_port *port, int ms)
{
    struct pollfd fd = { .fd = bide_store_port_fd(port), .events = POLLIN };
    return poll(&fd, 1, ms) == 1;
}

static void port_gives_each_result_once(void **state)
{
    static bide_store_op ops[MANY];
    static char keys[MANY][16];
    struct double_store d;
    bide_store *store = double_open(&d, LONG);
    bide_store_port *port;
    int out = 0, firsts = 0;
    (void)state;
    assert_int_equal(bide_store_port_new(&port, store), 0);
    assert_null(bide_store_reap(port));
    assert_false(readable(port, 0));
    for (int i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "%d", i / 2); /* each twice */
        ops[i] = op_for(CLAIM, keys[i]);
        ops[i].tag = &ops[i];
        assert_int_equal(bide_store_submit(port, &ops[i]), 0);
    }
    while (out < MANY) {
        assert_true(readable(port, 60000));
        for (bide_store_op *op; (op = bide_store_reap(port)) != NULL; out++) {
            assert_ptr_equal(op->tag, op);
            firsts += op->result == BIDE_STORE_FIRST;
        }
    }
    assert_int_equal(firsts, MANY / 2);
    assert_false(readable(port, 0));
    bide_store_port_free(port);
    bide_store_close(store);
}

/* What was submitted while it was busy is one commit. */
static void many_operations_share_a_commit(void **state)
{
    static bide_store_op ops[MANY];
    static char keys[MANY][16];
    struct double_store d;
    bide_store *store = double_open(&d, LONG);
    bide_store_port *port;
    bide_store_stats stats;
    (void)state;
    assert_int_equal(bide_store_port_new(&port, store), 0);
    double_set(&d, HANGS);
    for (int i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "%d", i);
        ops[i] = op_for(CLAIM, keys[i]);
        assert_int_equal(bide_store_submit(port, &ops[i]), 0);
    }
    double_set(&d, WORKS);
    for (int out = 0; out < MANY;) {
        assert_true(readable(port, 60000));
        while (bide_store_reap(port))
            out++;
    }
    bide_store_stats_get(store, &stats);
    assert_int_equal(stats.operations, MANY);
    assert_in_range(stats.commits, 1, 4); /* 600 at 256 each, and the first */
    bide_store_port_free(port);
    bide_store_close(store);
}

static void port_wakes_when_time_is_over(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, SHORT);
    bide_store_op a = op_for(CLAIM, "a"), b = op_for(CLAIM, "b");
    bide_store_port *port;
    (void)state;
    assert_int_equal(bide_store_port_new(&port, store), 0);
    double_set(&d, HANGS);
    assert_int_equal(bide_store_submit(port, &a), 0);
    assert_null(bide_store_reap(port));
    assert_true(readable(port, 60000));
    assert_ptr_equal(bide_store_reap(port), &a);
    assert_int_equal(a.result, BIDE_STORE_DOWN);
    assert_null(bide_store_reap(port));
    assert_false(readable(port, 0));
    /* Down: at once, and still by the descriptor. */
    assert_int_equal(bide_store_submit(port, &b), 0);
    assert_true(readable(port, 0));
    assert_ptr_equal(bide_store_reap(port), &b);
    assert_int_equal(b.result, BIDE_STORE_DOWN);
    double_set(&d, WORKS);
    UNTIL(is_up(store) && owed(store) == 0);
    UNTIL(ask(store, LOOK_UP, "a") == BIDE_STORE_ABSENT);
    bide_store_port_free(port);
    bide_store_close(store);
}

/* Before it ran, while it runs, and when it is done. */
static void forgotten_claims_are_released(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, LONG);
    bide_store_op running = op_for(CLAIM, "running"),
                  queued = op_for(CLAIM, "queued"), done = op_for(CLAIM, "done");
    bide_store_port *port;
    (void)state;
    assert_int_equal(bide_store_port_new(&port, store), 0);
    bide_store_submit(port, &done);
    assert_true(readable(port, 60000));
    double_set(&d, HANGS);
    bide_store_submit(port, &running);
    UNTIL(__atomic_load_n(&d.hanging, __ATOMIC_RELAXED) == 1);
    bide_store_submit(port, &queued);
    bide_store_forget(port, &queued);
    bide_store_forget(port, &running);
    bide_store_forget(port, &done);
    assert_null(bide_store_reap(port));
    double_set(&d, WORKS);
    UNTIL(ask(store, LOOK_UP, "done") == BIDE_STORE_ABSENT);
    UNTIL(ask(store, LOOK_UP, "running") == BIDE_STORE_ABSENT);
    assert_int_equal(ask(store, LOOK_UP, "queued"), BIDE_STORE_ABSENT);
    bide_store_port_free(port);
    bide_store_close(store);
}

static void port_freed_with_operations_in_it(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, LONG);
    bide_store_op a = op_for(CLAIM, "a"), b = op_for(CLAIM, "b");
    bide_store_port *port;
    (void)state;
    assert_int_equal(bide_store_port_new(&port, store), 0);
    double_set(&d, HANGS);
    bide_store_submit(port, &a);
    bide_store_submit(port, &b);
    bide_store_port_free(port);
    double_set(&d, WORKS);
    UNTIL(ask(store, LOOK_UP, "a") == BIDE_STORE_ABSENT);
    UNTIL(ask(store, LOOK_UP, "b") == BIDE_STORE_ABSENT);
    bide_store_close(store);
}

/* ===== arguments ===== */

static void operations_out_of_range_are_refused(void **state)
{
    struct double_store d;
    bide_store *store = double_open(&d, LONG);
    char text[1200];
    (void)state;
    memset(text, 'x', sizeof text);
    text[1025] = '\0';
    for (int i = 0; i < 9; i++) {
        bide_store_op op = op_for(CLAIM, "k");
        if (i == 0)
            op.key = "";
        if (i == 1)
            op.key = NULL;
        if (i == 2)
            op.key = text;
        if (i == 3)
            op.scope = NULL;
        if (i == 4)
            op.lease_ns = 0;
        if (i == 5)
            op.keep_ns = -1;
        if (i == 6)
            op.room = text;
        if (i == 7)
            op.verb = (bide_store_verb)99;
        if (i == 8) {
            op.verb = BIDE_STORE_COMPLETE;
            op.len = 1;
        }
        assert_int_equal(bide_store_do(store, &op), BIDE_EINVAL);
        assert_int_equal(op.result, BIDE_STORE_DOWN);
    }
    assert_int_equal(bide_store_do(NULL, NULL), BIDE_EINVAL);
    assert_int_equal(bide_store_submit(NULL, NULL), BIDE_EINVAL);
    assert_null(bide_store_reap(NULL));
    bide_store_port_free(NULL);
    bide_store_op_done(NULL);
    bide_store_close(store);
    bide_store_close(NULL);
}

static void urls_and_numbers_are_checked(void **state)
{
    bide_store *store;
    char why[256];
    (void)state;
    static const struct {
        const char *url;
        int rc;
    } rows[] = {
        { "mysql://x", BIDE_ENAME }, { "", BIDE_ENAME },
        { "memory2", BIDE_ENAME },   { "sqlite:", BIDE_EINVAL },
        { "sqlite:/no/such/dir/x.db", BIDE_ESTATE },
        { "sqlite:/", BIDE_ESTATE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        why[0] = '\0';
        assert_int_equal(
            bide_store_open(&store, rows[i].url, NULL, why, sizeof why),
            rows[i].rc);
        assert_true(why[0] != '\0');
        assert_int_equal(bide_store_open(&store, rows[i].url, NULL, NULL, 0),
                         rows[i].rc);
    }
    bide_store_conf conf = BIDE_STORE_CONF_INIT;
    conf.timeout_ns = 0;
    assert_int_equal(bide_store_open(&store, "memory", &conf, NULL, 0),
                     BIDE_EINVAL);
    conf = (bide_store_conf)BIDE_STORE_CONF_INIT;
    conf.limit_bytes = 1000;
    assert_int_equal(bide_store_open(&store, "memory", &conf, NULL, 0),
                     BIDE_EINVAL);
    assert_int_equal(bide_store_open(NULL, "memory", NULL, NULL, 0),
                     BIDE_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_hangs_costs_one_deadline_then_nothing),
        cmocka_unit_test(store_fails_is_down_at_once_and_comes_back),
        cmocka_unit_test(regress_store_down_for_another_reason_says_so),
        cmocka_unit_test(claim_that_may_have_been_granted_is_released),
        cmocka_unit_test(answers_are_written_when_it_is_back),
        cmocka_unit_test(regress_answer_is_owed_after_its_lease),
        cmocka_unit_test(what_is_owed_too_long_is_dropped_and_counted),
        cmocka_unit_test(close_writes_what_is_owed),
        cmocka_unit_test(close_does_not_wait_for_what_hangs),
        cmocka_unit_test(port_gives_each_result_once),
        cmocka_unit_test(many_operations_share_a_commit),
        cmocka_unit_test(port_wakes_when_time_is_over),
        cmocka_unit_test(forgotten_claims_are_released),
        cmocka_unit_test(port_freed_with_operations_in_it),
        cmocka_unit_test(operations_out_of_range_are_refused),
        cmocka_unit_test(urls_and_numbers_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
