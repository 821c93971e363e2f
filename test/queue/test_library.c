/* libbide-queue, as a program uses it: its public header, and the shared library. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <bide/policy.h>
#include <bide/queue.h>
#include <bide/run.h>

enum { PATIENCE_S = 120 };

static char folder[] = "/tmp/bide-library-XXXXXX";
static char why[BIDE_QUEUE_WHY];
static char *program; /* our own, which is its own visitor */

/* A queue of its own for each case. */
static bide_queue *open_queue(const char *name)
{
    bide_queue_conf conf = BIDE_QUEUE_CONF_INIT;
    bide_queue *q = NULL;
    char url[64];

    snprintf(url, sizeof url, "sqlite:%s/queue.db", folder);
    conf.broker = url;
    conf.name = name;
    if (bide_queue_open(&q, &conf, why) < 0)
        fail_msg("%s", why);
    return q;
}

static void put(bide_queue *q, const char *id, const char *body)
{
    bide_queue_item item = { .id = id, .body = body, .len = strlen(body) };

    if (bide_queue_put(q, &item, 1, why) < 0)
        fail_msg("%s", why);
}

static bide_queue_counts counts_of(bide_queue *q)
{
    bide_queue_counts c;

    if (bide_queue_counts_get(q, &c, why) < 0)
        fail_msg("%s", why);
    return c;
}

/* Short waits, so that nobody waits for a test. */
static bide_dep *impatient(uint32_t attempts)
{
    bide_policy_conf policy;
    bide_dep *dep;

    assert_int_equal(bide_policy_preset(&policy, "queue"), 0);
    policy.attempts = attempts;
    policy.backoff.base_ns = BIDE_MILLISECOND;
    policy.backoff.cap_ns = 5 * BIDE_MILLISECOND;
    assert_int_equal(bide_dep_new(&dep, "test", &policy), 0);
    return dep;
}

static bide_queue_stats run_until_empty(bide_queue *q,
                                        bide_queue_worker_conf conf)
{
    bide_queue_worker *w;
    bide_queue_stats stats;

    conf.until_empty = true;
    if (bide_queue_worker_new(&w, q, &conf, why) < 0)
        fail_msg("%s", why);
    assert_int_equal(bide_queue_worker_run(w), 0);
    assert_int_equal(bide_queue_worker_run(w), BIDE_ESTATE); /* once */
    assert_int_equal(bide_queue_worker_stats_get(w, &stats), 0);
    bide_queue_worker_free(w);
    return stats;
}

/* ===== arguments ===== */

static bide_outcome succeed(void *ctx, const bide_queue_message *m)
{
    (void)ctx, (void)m;
    return bide_queue_done();
}

static void opening_says_what_is_wrong(void **state)
{
    static const struct {
        const char *broker, *name;
        int rc;
        const char *says;
    } rows[] = {
        { "nonsense:x", "default", BIDE_ENAME, "`nonsense` is not a broker" },
        { "sqlite:/tmp/x.db", "", BIDE_EINVAL, "no name for a queue" },
        { "sqlite:/tmp/x.db", "a b", BIDE_EINVAL, "`a b` is no name" },
        { "sqlite:/nowhere/at/all/x.db", "default", BIDE_ENAME, "/nowhere" },
        { "redis://127.0.0.1:1", "default", BIDE_ESTATE, "127.0.0.1" },
    };
    bide_queue *q = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bide_queue_conf conf = { rows[i].broker, rows[i].name, true };
        assert_int_equal(bide_queue_open(&q, &conf, why), rows[i].rc);
        if (!strstr(why, rows[i].says))
            fail_msg("row %zu: %s", i, why);
        assert_null(q);
        assert_int_equal(bide_queue_open(&q, &conf, NULL), rows[i].rc);
    }
    assert_int_equal(bide_queue_open(NULL, NULL, why), BIDE_EINVAL);
    bide_queue_close(NULL);
}

static void putting_says_what_is_wrong(void **state)
{
    static const bide_queue_attribute odd = { "a b", "c" }, none = { "a", NULL };
    const struct {
        bide_queue_item item;
        const char *says;
    } rows[] = {
        { { .len = 1 }, "no body" },
        { { .id = "" }, "an id has" },
        { { .id = "a\nb" }, "an id has" },
        { { .key = "\x7f" }, "a key has" },
        { { .delay_ns = -1 }, "delay" },
        { { .priority = 10 }, "priority" },
        { { .n_attributes = 1 }, "attributes" },
        { { .n_attributes = 33, .attributes = &odd }, "attributes" },
        { { .n_attributes = 1, .attributes = &odd }, "attribute" },
        { { .n_attributes = 1, .attributes = &none }, "attribute" },
        { { .body = "x", .len = SIZE_MAX / 4 }, "bytes, more than" },
    };
    bide_queue *q = open_queue("putting");

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bide_queue_item item = rows[i].item;
        assert_int_equal(bide_queue_put(q, &item, 1, why), BIDE_EINVAL);
        if (!strstr(why, rows[i].says) || !strstr(why, "message 1"))
            fail_msg("row %zu: %s", i, why);
    }
    assert_int_equal(bide_queue_put(NULL, NULL, 0, why), BIDE_EINVAL);
    assert_int_equal(bide_queue_put(q, NULL, 0, why), 0);
    assert_int_equal(counts_of(q).waiting, 0);
    bide_queue_close(q);
}

static void worker_says_what_is_wrong(void **state)
{
    static const struct {
        bide_queue_worker_conf conf;
        const char *says;
    } rows[] = {
        { { NULL, NULL, NULL, 1, false, 0, 30 * BIDE_SECOND, NULL }, "handler" },
        { { succeed, NULL, NULL, 0, false, 0, 30 * BIDE_SECOND, NULL },
          "at_once" },
        { { succeed, NULL, NULL, 1001, false, 0, 30 * BIDE_SECOND, NULL },
          "at_once" },
        { { succeed, NULL, NULL, 1, false, -1, 30 * BIDE_SECOND, NULL },
          "drain_ns" },
        { { succeed, NULL, NULL, 1, false, 0, 1, NULL }, "lease_ns" },
    };
    bide_queue_worker_conf hedges = BIDE_QUEUE_WORKER_CONF_INIT;
    bide_policy_conf policy = BIDE_POLICY_CONF_INIT;
    bide_queue *q = open_queue("workers");
    bide_queue_worker *w = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(bide_queue_worker_new(&w, q, &rows[i].conf, why),
                         BIDE_EINVAL);
        assert_non_null(strstr(why, rows[i].says));
    }
    policy.attempts = 1;
    policy.hedge.max = 1;
    policy.hedge.after_ns = BIDE_SECOND;
    assert_int_equal(bide_dep_new(&hedges.dep, "hedges", &policy), 0);
    hedges.handler = succeed;
    assert_int_equal(bide_queue_worker_new(&w, q, &hedges, why), BIDE_EINVAL);
    assert_non_null(strstr(why, "does not hedge"));
    bide_dep_free(hedges.dep);
    assert_null(w);
    assert_int_equal(bide_queue_worker_run(NULL), BIDE_EINVAL);
    bide_queue_worker_stop(NULL);
    bide_queue_worker_free(NULL);
    bide_queue_close(q);
}

/* ===== messages ===== */

static void same_id_is_one_message(void **state)
{
    bide_queue *q = open_queue("ids");
    bide_queue_item two[] = { { .id = "a" }, { .body = "x", .len = 1 } };

    (void)state;
    assert_int_equal(bide_queue_put(q, two, 2, why), 0);
    assert_false(two[0].duplicate);
    assert_string_equal(two[0].queued_id, "a");
    assert_in_range(strlen(two[1].queued_id), 16, 32);
    assert_int_equal(bide_queue_put(q, two, 1, why), 0);
    assert_true(two[0].duplicate);
    assert_int_equal(counts_of(q).waiting, 2);
    bide_queue_close(q);
}

struct seen {
    atomic_int n;
    char key[128], text[512];
};

static bide_outcome inspect(void *ctx, const bide_queue_message *m)
{
    struct seen *s = ctx;

    s->n++;
    if (m->attempt == 1) {
        snprintf(s->key, sizeof s->key, "%s", m->idempotency_key);
        return bide_queue_retry();
    }
    snprintf(s->text, sizeof s->text, "%s %s %s %s %zu %s=%s %d %u/%u %u %s %s",
             m->id, m->key, m->queue, m->body, m->len, m->attributes[0].name,
             m->attributes[0].value, m->priority, m->attempt, m->attempts,
             m->deliveries, strcmp(s->key, m->idempotency_key) ? "new" : "same",
             strstr(m->errors, "transient") ? "transient" : "none");
    return bide_queue_done();
}

static void handler_finds_all_of_a_message(void **state)
{
    static const bide_queue_attribute type = { "type", "email" };
    struct seen seen = { 0 };
    bide_queue_worker_conf conf = BIDE_QUEUE_WORKER_CONF_INIT;
    bide_queue_item item = { .body = "hello", .len = 5, .id = "7f3a",
                             .key = "alice", .priority = 3,
                             .attributes = &type, .n_attributes = 1 };
    bide_queue *q = open_queue("whole");

    (void)state;
    assert_int_equal(bide_queue_put(q, &item, 1, why), 0);
    conf.handler = inspect;
    conf.ctx = &seen;
    conf.dep = impatient(5);
    bide_queue_stats stats = run_until_empty(q, conf);
    assert_string_equal(seen.text, "7f3a alice whole hello 5 type=email 3 2/5 2 "
                                   "same transient");
    assert_int_equal(seen.n, 2);
    assert_int_equal(stats.done, 1);
    assert_int_equal(stats.retried, 1);
    assert_int_equal(stats.redelivered, 1);
    bide_dep_free(conf.dep);
    bide_queue_close(q);
}

/* ===== outcomes ===== */

struct row {
    const char *id;
    bide_outcome first;  /* of the first attempt; then it succeeds */
    int calls;
    bool dead;
    const char *reason;
    const char *error;
};

struct table {
    const struct row *rows;
    atomic_int calls[16];
};

static bide_outcome by_table(void *ctx, const bide_queue_message *m)
{
    struct table *t = ctx;
    int i = atoi(m->id);

    if (t->calls[i]++ > 0)
        return bide_queue_done();
    if (t->rows[i].error && !strcmp(t->rows[i].error, "said"))
        bide_queue_error(m, "said");
    bide_queue_output(m, "out", 3);
    bide_queue_output(m, "put", 3);
    return t->rows[i].first;
}

struct found {
    char reason[64], errors[512], output[64];
};

static bool find(void *ctx, const bide_queue_row *row)
{
    struct found *f = ctx;

    snprintf(f->reason, sizeof f->reason, "%s", row->reason);
    snprintf(f->errors, sizeof f->errors, "%s", row->message->errors);
    snprintf(f->output, sizeof f->output, "%.*s", (int)row->output_len,
             (const char *)row->output);
    return row->state == BIDE_QUEUE_DEAD;
}

static void outcomes_decide_about_messages(void **state)
{
    const struct row rows[] = {
        { "0", bide_queue_done(), 1, false, NULL, NULL },
        { "1", bide_queue_retry(), 2, false, NULL, NULL },
        { "2", bide_queue_retry_after(2 * BIDE_MILLISECOND), 2, false, NULL,
          NULL },
        { "3", bide_queue_dead(), 1, true, "permanent", "said" },
        { "4", bide_queue_dead(), 1, true, "permanent", "permanent" },
        { "5", bide_outcome_errno(ECONNRESET, false), 2, false, NULL, NULL },
        { "6", { .cls = (bide_class)77 }, 2, false, NULL, NULL },
        /* nobody asked it to stop */
        { "7", bide_queue_given_back(), 2, false, NULL, NULL },
    };
    enum { N = sizeof rows / sizeof rows[0] };
    struct table table = { .rows = rows };
    bide_queue_worker_conf conf = BIDE_QUEUE_WORKER_CONF_INIT;
    bide_queue *q = open_queue("outcomes");

    (void)state;
    for (size_t i = 0; i < N; i++)
        put(q, rows[i].id, "");
    conf.handler = by_table;
    conf.ctx = &table;
    conf.dep = impatient(5);
    bide_queue_stats stats = run_until_empty(q, conf);
    for (size_t i = 0; i < N; i++) {
        bide_queue_filter filter = { .dead = true, .id = rows[i].id };
        struct found found = { "", "", "" };
        assert_int_equal(table.calls[i], rows[i].calls);
        int rc = bide_queue_look(q, &filter, find, &found, why);
        assert_string_equal(found.reason, rows[i].dead ? rows[i].reason : "");
        if (rows[i].dead) {
            assert_int_equal(rc, 0);
            assert_non_null(strstr(found.errors, rows[i].error));
            assert_string_equal(found.output, "output");
        }
    }
    assert_int_equal(stats.dead, 2);
    assert_int_equal(stats.done, N - 2);
    assert_int_equal(counts_of(q).dead, 2);
    bide_dep_free(conf.dep);
    bide_queue_close(q);
}

struct away {
    atomic_bool there;
    atomic_int calls, paused, resumed;
    atomic_uint most; /* the highest number of an attempt */
};

static bide_outcome maybe_away(void *ctx, const bide_queue_message *m)
{
    struct away *a = ctx;

    if (m->attempt > a->most)
        a->most = m->attempt;
    a->calls++;
    return a->there ? bide_queue_done() : bide_queue_away();
}

static void note_pause(void *ctx, const bide_queue_event *e)
{
    struct away *a = ctx;

    a->paused += e->kind == BIDE_QUEUE_PAUSED &&
                 e->reason == BIDE_BECAUSE_UNREACHABLE;
    a->resumed += e->kind == BIDE_QUEUE_RESUMED;
    if (a->paused && a->calls >= 2)
        a->there = true; /* also the probe found nobody */
}

static void away_pauses_and_costs_no_attempt(void **state)
{
    struct away away = { 0 };
    bide_queue_worker_conf conf = BIDE_QUEUE_WORKER_CONF_INIT;
    bide_queue *q = open_queue("away");

    (void)state;
    for (int i = 0; i < 20; i++)
        put(q, NULL, "x");
    conf.handler = maybe_away;
    conf.on_event = note_pause;
    conf.ctx = &away;
    bide_queue_stats stats = run_until_empty(q, conf);
    assert_int_equal(stats.done, 20);
    assert_int_equal(stats.dead, 0);
    assert_int_equal(away.most, 1);
    assert_in_range(away.paused, 1, 20);
    assert_in_range(away.resumed, 1, 20);
    bide_queue_close(q);
}

/* ===== stopping ===== */

struct stopping {
    atomic_int begun, told;
};

static bide_outcome until_told(void *ctx, const bide_queue_message *m)
{
    struct stopping *s = ctx;

    s->begun++;
    for (int i = 0; i < PATIENCE_S * 100 && !bide_queue_stopping(m); i++)
        usleep(10000);
    s->told += bide_queue_stopping(m);
    return bide_queue_given_back();
}

static void *run_worker(void *w)
{
    bide_queue_worker_run(w);
    return NULL;
}

static void wait_for(atomic_int *n, int least)
{
    for (int i = 0; i < PATIENCE_S * 100 && *n < least; i++)
        usleep(10000);
    assert_true(*n >= least);
}

static void stopped_worker_gives_back(void **state)
{
    struct stopping stopping = { 0 };
    bide_queue_worker_conf conf = BIDE_QUEUE_WORKER_CONF_INIT;
    bide_queue *q = open_queue("stopped");
    bide_queue_worker *w;
    bide_queue_stats stats;
    pthread_t thread;

    (void)state;
    for (int i = 0; i < 5; i++)
        put(q, NULL, "x");
    conf.handler = until_told;
    conf.ctx = &stopping;
    conf.at_once = 2;
    conf.drain_ns = 10 * BIDE_MILLISECOND;
    assert_int_equal(bide_queue_worker_new(&w, q, &conf, why), 0);
    pthread_create(&thread, NULL, run_worker, w);
    wait_for(&stopping.begun, 2);
    bide_queue_worker_stop(w);
    pthread_join(thread, NULL);
    assert_int_equal(bide_queue_worker_stats_get(w, &stats), 0);
    assert_int_equal(stopping.begun, 2);
    assert_int_equal(stopping.told, 2);
    assert_true(stats.draining);
    assert_int_equal(stats.retried, 0); /* none counts */
    assert_int_equal(counts_of(q).waiting, 5);
    bide_queue_worker_free(w);
    bide_queue_close(q);
}

static void time_of_an_attempt_ends_it_and_counts(void **state)
{
    struct stopping stopping = { 0 };
    bide_queue_worker_conf conf = BIDE_QUEUE_WORKER_CONF_INIT;
    bide_policy_conf policy;
    bide_queue *q = open_queue("timeout");

    (void)state;
    put(q, NULL, "x");
    assert_int_equal(bide_policy_preset(&policy, "queue"), 0);
    policy.attempts = 1;
    policy.attempt_timeout_ns = 20 * BIDE_MILLISECOND;
    assert_int_equal(bide_dep_new(&conf.dep, "test", &policy), 0);
    conf.handler = until_told;
    conf.ctx = &stopping;
    bide_queue_stats stats = run_until_empty(q, conf);
    bide_queue_filter filter = { .dead = true };
    struct found found = { "", "", "" };
    assert_int_equal(bide_queue_look(q, &filter, find, &found, why), 0);
    assert_int_equal(stats.dead, 1);
    assert_string_equal(found.reason, "attempts");
    assert_non_null(strstr(found.errors, "timeout"));
    bide_dep_free(conf.dep);
    bide_queue_close(q);
}

/* ===== in advance ===== */

struct slow {
    atomic_int quick, blocked;
    atomic_bool go;
};

static bide_outcome quick_or_slow(void *ctx, const bide_queue_message *m)
{
    struct slow *s = ctx;

    if (strcmp(m->body, "slow") != 0) {
        s->quick++;
        return bide_queue_done();
    }
    s->blocked++;
    for (int i = 0; i < 2 * PATIENCE_S * 100 && !s->go; i++)
        usleep(10000); /* longer than the test waits */
    return bide_queue_done();
}

/* What was taken in advance before a handler that takes long runs elsewhere. */
static void slow_handler_keeps_no_other_message(void **state)
{
    struct slow slow = { 0 };
    bide_queue_worker_conf conf = BIDE_QUEUE_WORKER_CONF_INIT;
    bide_queue *q = open_queue("slow");
    bide_queue_worker *one, *two;
    pthread_t threads[2];
    bide_queue_item items[240] = { { 0 } };

    (void)state;
    for (int i = 0; i < 240; i++)
        items[i] = (bide_queue_item){ .body = i == 199 ? "slow" : "fast",
                                      .len = 4 };
    assert_int_equal(bide_queue_put(q, items, 240, why), 0);
    conf.handler = quick_or_slow;
    conf.ctx = &slow;
    conf.at_once = 1;
    assert_int_equal(bide_queue_worker_new(&one, q, &conf, why), 0);
    assert_int_equal(bide_queue_worker_new(&two, q, &conf, why), 0);
    pthread_create(&threads[0], NULL, run_worker, one);
    wait_for(&slow.blocked, 1);
    assert_true(slow.quick < 239);
    pthread_create(&threads[1], NULL, run_worker, two);
    wait_for(&slow.quick, 239);
    assert_false(slow.go);
    slow.go = true;
    bide_queue_worker_stop(one);
    bide_queue_worker_stop(two);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counts_of(q).waiting + counts_of(q).running, 0);
    bide_queue_worker_free(one);
    bide_queue_worker_free(two);
    bide_queue_close(q);
}

/* ===== several at once ===== */

/* Another process comes, looks, and leaves: what we have open it leaves alone. */
static void regress_second_opening_keeps_the_locks(void **state)
{
    bide_queue *q = open_queue("locks"), *again = open_queue("locks");
    char log[64], *arguments[] = { program, folder, NULL };
    int status = -1;
    pid_t child;

    (void)state;
    put(q, NULL, "x");
    assert_int_equal(posix_spawn(&child, program, NULL, NULL, arguments,
                                 environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    snprintf(log, sizeof log, "%s/queue.db-wal", folder);
    assert_int_equal(access(log, F_OK), 0);
    put(q, NULL, "y");
    assert_int_equal(counts_of(again).waiting, 2);
    bide_queue_close(again);
    bide_queue_close(q);
}

static int look_and_leave(const char *in)
{
    bide_queue *q;

    memcpy(folder, in, sizeof folder);
    q = open_queue("locks");
    bide_queue_counts c = counts_of(q);
    bide_queue_close(q);
    return c.waiting != 1;
}

enum { PRODUCERS = 4, EACH = 50 };

static void *produce(void *queue)
{
    char reason[BIDE_QUEUE_WHY];

    for (int i = 0; i < EACH; i++) {
        bide_queue_item item = { .body = "x", .len = 1 };
        if (bide_queue_put(queue, &item, 1, reason) < 0)
            return queue;
    }
    return NULL;
}

struct follow {
    bide_queue *queue;
    atomic_int n;
};

/* The first puts a second: into the queue that it comes from. */
static bide_outcome followed(void *ctx, const bide_queue_message *m)
{
    struct follow *f = ctx;
    bide_queue_item next = { .body = "next", .len = 4 };
    char reason[BIDE_QUEUE_WHY];

    f->n++;
    if (strcmp(m->body, "next") != 0 &&
        bide_queue_put(f->queue, &next, 1, reason) < 0) {
        bide_queue_error(m, reason);
        return bide_queue_retry();
    }
    return bide_queue_done();
}

static void threads_put_while_handlers_do(void **state)
{
    bide_queue *q = open_queue("threads");
    struct follow follow = { .queue = q };
    bide_queue_worker_conf conf = BIDE_QUEUE_WORKER_CONF_INIT;
    pthread_t threads[PRODUCERS];

    (void)state;
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[i], NULL, produce, q);
    for (int i = 0; i < PRODUCERS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    conf.handler = followed;
    conf.ctx = &follow;
    conf.dep = impatient(100);
    bide_queue_stats stats = run_until_empty(q, conf);
    assert_int_equal(stats.done, 2 * PRODUCERS * EACH);
    assert_true(follow.n >= 2 * PRODUCERS * EACH);
    bide_dep_free(conf.dep);
    bide_queue_close(q);
}

static int remove_folder(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_says_what_is_wrong),
        cmocka_unit_test(putting_says_what_is_wrong),
        cmocka_unit_test(worker_says_what_is_wrong),
        cmocka_unit_test(same_id_is_one_message),
        cmocka_unit_test(handler_finds_all_of_a_message),
        cmocka_unit_test(outcomes_decide_about_messages),
        cmocka_unit_test(away_pauses_and_costs_no_attempt),
        cmocka_unit_test(stopped_worker_gives_back),
        cmocka_unit_test(time_of_an_attempt_ends_it_and_counts),
        cmocka_unit_test(slow_handler_keeps_no_other_message),
        cmocka_unit_test(regress_second_opening_keeps_the_locks),
        cmocka_unit_test(threads_put_while_handlers_do),
    };

    program = argv[0];
    if (argc > 1)
        return look_and_leave(argv[1]);
    if (!mkdtemp(folder))
        return 1;
    return cmocka_run_group_tests_name("library", tests, NULL, remove_folder);
}
