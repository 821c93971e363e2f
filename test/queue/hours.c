/* Hours of a worker with its defaults, on a clock that moves when everybody waits: what
 * happens to a queue when its handler is away, fails, or takes long. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bide/policy.h"
#include "queue/callback.h"
#include "virtual.h"

enum { MOST = 10000 };

/* In memory where there is such a place: 20 000 commits are not the point. */
static char folder[32] = "/dev/shm/bide-hours-XXXXXX";

/* What the handler was asked to do. */
struct start {
    int64_t at_ns;
    uint32_t attempt;
    int number;       /* of the message */
};

/* One case: a queue, its handler, and what that saw. */
struct scene {
    char queue[32];
    struct broker *b;      /* the producer's */
    bide_dep *dep;
    struct queue_callback handler;
    bide_rng_seeded seeded;
    bide_rng rng;
    int64_t begin_ns;
    int64_t back_ns;       /* until then the handler is away */
    bide_outcome away;
    int64_t work_ns;       /* of one message */
    int at_once;
    int64_t max_run_ns;    /* what the broker allows; 0 */
    int64_t timeout_ns;    /* what the handler was given */

    pthread_mutex_t lock;
    struct start *starts;
    size_t n_starts, room;
    uint32_t running, peak[40]; /* by half seconds after back_ns */
    int64_t last_ns;       /* the last success */
    size_t done;
    size_t enough;         /* so many, and the workers stop; 0: when it is empty */
    struct queue_worker *workers[VIRTUAL_WORKERS];
};

/* ===== the scene ===== */

static struct broker *open_queue(struct scene *s, bool consume)
{
    struct broker_conf conf = BROKER_CONF_INIT;
    char error[BROKER_ERROR], url[128];
    struct broker *b = NULL;

    snprintf(url, sizeof url, "sqlite:%s/queue.db", folder);
    conf.url = url;
    conf.queue = s->queue;
    conf.consume = consume;
    conf.clock_ns = virtual_clock;
    if (broker_open(&b, &conf, error) != 0)
        fail_msg("%s", error);
    return b;
}

static void put(struct scene *s, int first, int n)
{
    static struct broker_put items[MOST];
    static char bodies[MOST][8];

    for (int i = 0; i < n; i++) {
        snprintf(bodies[i], sizeof bodies[i], "%d", first + i);
        items[i] = (struct broker_put){ .body = bodies[i],
                                        .len = strlen(bodies[i]) };
    }
    if (s->b->kind->put(s->b, items, (size_t)n) != 0)
        fail_msg("%s", s->b->error);
}

static void make_dep(struct scene *s, bool breaker)
{
    bide_policy_conf policy;

    bide_policy_preset(&policy, "queue");
    if (!breaker)
        policy.breaker.kind = BIDE_BREAKER_OFF;
    bide_dep_free(s->dep);
    assert_int_equal(bide_dep_new(&s->dep, "test", &policy), 0);
}

static void begin(struct scene *s, const char *queue,
                  bide_outcome (*fn)(void *ctx, const struct queue_job *job))
{
    memset(s, 0, sizeof *s);
    snprintf(s->queue, sizeof s->queue, "%s", queue);
    pthread_mutex_init(&s->lock, NULL);
    make_dep(s, true);
    s->handler = (struct queue_callback){ { &queue_callback_kind }, fn, s };
    s->rng = bide_rng_seed(&s->seeded, 7);
    s->begin_ns = virtual_now();
    s->at_once = 16;
    s->b = open_queue(s, false);
}

static void run(struct scene *s, size_t n)
{
    struct queue_worker_conf conf = QUEUE_WORKER_CONF_INIT;
    struct broker *brokers[VIRTUAL_WORKERS];

    conf.dep = s->dep;
    conf.handler = &s->handler.handler;
    conf.at_once = (uint32_t)s->at_once;
    conf.ahead = (uint32_t)s->at_once;
    conf.until_empty = s->enough == 0; /* which counts every second */
    conf.rng = &s->rng;
    for (size_t i = 0; i < n; i++) {
        conf.broker = brokers[i] = open_queue(s, true);
        brokers[i]->traits.max_run_ns = s->max_run_ns;
        s->workers[i] = queue_worker_new(&conf);
        assert_non_null(s->workers[i]);
    }
    virtual_run(s->workers, n);
    for (size_t i = 0; i < n; i++) {
        queue_worker_free(s->workers[i]);
        broker_close(brokers[i]);
    }
}

static struct broker_counts end(struct scene *s)
{
    struct broker_counts c;

    assert_int_equal(s->b->kind->counts(s->b, &c), 0);
    broker_close(s->b);
    bide_dep_free(s->dep);
    pthread_mutex_destroy(&s->lock);
    free(s->starts);
    return c;
}

/* ===== handlers ===== */

static void note_start(struct scene *s, const struct queue_job *job)
{
    int64_t now = virtual_now();

    pthread_mutex_lock(&s->lock);
    if (s->n_starts == s->room) {
        s->room = s->room ? 2 * s->room : 4096;
        s->starts = realloc(s->starts, s->room * sizeof *s->starts);
        if (!s->starts)
            abort();
    }
    s->starts[s->n_starts++] = (struct start){
        now, job->attempt, atoi((const char *)job->message->body)
    };
    s->running++;
    int64_t slot = (now - s->back_ns) / (BIDE_SECOND / 2);
    if (now >= s->back_ns && slot < 40 && s->running > s->peak[slot])
        s->peak[slot] = s->running;
    pthread_mutex_unlock(&s->lock);
}

static bide_outcome note_end(struct scene *s, bide_outcome out)
{
    pthread_mutex_lock(&s->lock);
    s->running--;
    if (out.cls == BIDE_SUCCESS) {
        s->done++;
        s->last_ns = virtual_now();
    }
    bool enough = s->enough && s->done == s->enough;
    for (int i = 0; enough && i < VIRTUAL_WORKERS && s->workers[i]; i++)
        queue_worker_stop(s->workers[i]);
    pthread_mutex_unlock(&s->lock);
    return out;
}

static bide_outcome until_back(void *ctx, const struct queue_job *job)
{
    struct scene *s = ctx;

    note_start(s, job);
    if (virtual_now() < s->back_ns)
        return note_end(s, s->away);
    virtual_sleep(job, s->work_ns);
    return note_end(s, (bide_outcome){ .cls = BIDE_SUCCESS });
}

static bool is_first_attempt_of_fifth(const struct queue_job *job)
{
    return job->attempt == 1 && atoi((const char *)job->message->body) % 5 == 0;
}

static bide_outcome a_fifth_fails(void *ctx, const struct queue_job *job)
{
    struct scene *s = ctx;

    note_start(s, job);
    virtual_sleep(job, s->work_ns);
    return note_end(s, (bide_outcome){ .cls = is_first_attempt_of_fifth(job)
                                                  ? BIDE_TRANSIENT
                                                  : BIDE_SUCCESS });
}

static bide_outcome always_fails(void *ctx, const struct queue_job *job)
{
    note_start(ctx, job);
    return note_end(ctx, (bide_outcome){ .cls = BIDE_TRANSIENT });
}

/* Has done with a message when it was its last attempt; or when all that is left should
 * have been dead for long. */
static bide_outcome fails_to_the_last(void *ctx, const struct queue_job *job)
{
    struct scene *s = ctx;
    bide_outcome out = { .cls = BIDE_TRANSIENT };
    bool last = job->attempt == job->attempts;

    note_start(s, job);
    if (virtual_now() > s->begin_ns + 40 * BIDE_HOUR)
        queue_worker_stop(s->workers[0]);
    note_end(s, last ? (bide_outcome){ .cls = BIDE_SUCCESS } : out);
    return out;
}

/* ===== the handler is away ===== */

/* Two hours, with n messages waiting. */
static void outage(const char *name, int n, bide_outcome away,
                   uint32_t most_attempt)
{
    struct scene s;

    begin(&s, name, until_back);
    s.away = away;
    s.back_ns = s.begin_ns + 2 * BIDE_HOUR;
    s.work_ns = 50 * BIDE_MILLISECOND;
    s.enough = (size_t)n;
    put(&s, 0, n);
    run(&s, 1);
    size_t probes = 0, in_a_second = 0;
    uint32_t highest = 0;
    int64_t paused = s.begin_ns + BIDE_SECOND;
    for (size_t i = 0; i < s.n_starts; i++) {
        const struct start *at = &s.starts[i];
        highest = at->attempt > highest ? at->attempt : highest;
        if (at->at_ns < paused || at->at_ns >= s.back_ns)
            continue;
        probes++;
        in_a_second += i > 0 && at->at_ns - s.starts[i - 1].at_ns < BIDE_SECOND;
    }
    int64_t late = s.last_ns - s.back_ns;
    int64_t work = n * s.work_ns / s.at_once;
    size_t done = s.done;
    struct broker_counts c = end(&s);
    printf("# %s: %zu probes in 2 h, all done %.1f s after it, work is %.1f s\n",
           name, probes, (double)late / 1e9, (double)work / 1e9);
    assert_int_equal(c.dead, 0);
    assert_int_equal(done, n);
    assert_in_range(highest, 1, most_attempt);
    assert_in_range(probes, 600, 7199);
    assert_int_equal(in_a_second, 0);
    assert_in_range(late, 0, 60 * BIDE_SECOND + work);
}

static void refused_for_two_hours_counts_no_attempt(void **state)
{
    (void)state;
    outage("refused", MOST,
           (bide_outcome){ .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_CONNECT,
                           .not_processed = true },
           1);
}

static void throttled_for_two_hours_counts_no_attempt(void **state)
{
    (void)state;
    outage("throttled", 1000, (bide_outcome){ .cls = BIDE_THROTTLED }, 1);
}

static void command_missing_for_two_hours_counts_no_attempt(void **state)
{
    (void)state;
    outage("missing", 1000,
           (bide_outcome){ .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_LOCAL,
                           .not_processed = true },
           1);
}

/* What the handler needs is away, and it exits with 1: the breaker opens. */
static void failing_for_two_hours_reaches_attempt_two_at_most(void **state)
{
    (void)state;
    outage("failing", MOST, (bide_outcome){ .cls = BIDE_TRANSIENT }, 2);
}

/* The first answer, then twice as many with each half second. */
static void load_rises_in_steps_when_it_is_back(void **state)
{
    struct scene s;
    uint32_t before = 1;

    (void)state;
    begin(&s, "steps", until_back);
    s.away = (bide_outcome){ .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_CONNECT,
                             .not_processed = true };
    s.back_ns = s.begin_ns + 10 * BIDE_MINUTE;
    s.work_ns = 50 * BIDE_MILLISECOND;
    s.enough = 1000;
    put(&s, 0, 1000);
    run(&s, 1);
    for (size_t i = 0; i < 40; i++) {
        assert_in_range(s.peak[i], 0, 2 * before);
        before = s.peak[i] > before ? s.peak[i] : before;
    }
    assert_int_equal(before, 16);
    assert_int_equal(end(&s).dead, 0);
}

/* ===== messages that fail ===== */

static int by_number(const void *a, const void *b)
{
    const struct start *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->attempt < y->attempt ? -1 : x->attempt > y->attempt;
}

/* A backlog of minutes, and all the time a fifth fails. */
static void a_fifth_of_first_attempts_fails_and_neither_starves(void **state)
{
    struct scene s;
    int fresh[100] = { 0 };
    int64_t longest = 0;

    (void)state;
    begin(&s, "fifth", a_fifth_fails);
    s.work_ns = 100 * BIDE_MILLISECOND;
    s.at_once = 4;
    put(&s, 0, 2000);
    run(&s, 1);
    int64_t last_fresh = 0;
    for (size_t i = 0; i < s.n_starts; i++)
        if (s.starts[i].attempt == 1) {
            int64_t second = (s.starts[i].at_ns - s.begin_ns) / BIDE_SECOND;
            last_fresh = second;
            fresh[second < 100 ? second : 99]++;
        }
    for (int64_t i = 0; i + 1 < last_fresh; i++)
        assert_in_range(fresh[i], 10, 100); /* of 40 */
    qsort(s.starts, s.n_starts, sizeof *s.starts, by_number);
    for (size_t i = 1; i < s.n_starts; i++)
        if (s.starts[i].attempt == 2) {
            int64_t waited = s.starts[i].at_ns - s.starts[i - 1].at_ns;
            longest = waited > longest ? waited : longest;
        }
    assert_int_equal(s.n_starts, 2400);
    assert_in_range(longest, 2 * BIDE_SECOND, 7500 * BIDE_MILLISECOND);
    assert_int_equal(end(&s).dead, 0);
}

static struct scene *late_scene;

static void put_late(void *arg)
{
    (void)arg;
    put(late_scene, 1000, 40);
}

static bide_outcome old_ones_fail_once(void *ctx, const struct queue_job *job)
{
    struct scene *s = ctx;
    bool old = atoi((const char *)job->message->body) < 1000;

    note_start(s, job);
    virtual_sleep(job, old && job->attempt == 1 ? 0 : s->work_ns);
    return note_end(s, old && job->attempt == 1
                           ? (bide_outcome){ .cls = BIDE_TRANSIENT }
                           : (bide_outcome){ .cls = BIDE_SUCCESS });
}

/* One handler, so one place at a time becomes free: a hundred that failed are due
 * when forty others arrive. */
static void retries_in_the_way_share_one_place(void **state)
{
    struct scene s;
    int fresh = 0, first = 0;

    (void)state;
    begin(&s, "share", old_ones_fail_once);
    s.work_ns = BIDE_SECOND;
    s.at_once = 1;
    late_scene = &s;
    make_dep(&s, false); /* that all fail at first is not the point */
    put(&s, 0, 100);
    virtual_at(s.begin_ns + 10 * BIDE_SECOND, put_late, NULL);
    run(&s, 1);
    for (size_t i = 0; i < s.n_starts && first < 40; i++) {
        if (s.starts[i].at_ns < s.begin_ns + 11 * BIDE_SECOND)
            continue;
        first++;
        fresh += s.starts[i].number >= 1000;
    }
    assert_int_equal(first, 40);
    assert_in_range(fresh, 13, 27);
    assert_int_equal(end(&s).dead, 0);
}

static void one_that_keeps_failing_dies_after_fifteen_in_a_day(void **state)
{
    struct scene s;

    (void)state;
    begin(&s, "one", always_fails);
    put(&s, 0, 1);
    run(&s, 1);
    assert_int_equal(s.n_starts, 15);
    for (uint32_t i = 0; i < 15; i++)
        assert_int_equal(s.starts[i].attempt, i + 1);
    assert_in_range(s.starts[1].at_ns - s.starts[0].at_ns, BIDE_SECOND,
                    5 * BIDE_SECOND);
    assert_in_range(s.starts[14].at_ns - s.starts[0].at_ns, 16 * BIDE_HOUR,
                    28 * BIDE_HOUR);
    struct broker_counts c = end(&s);
    assert_int_equal(c.dead, 1);
    assert_string_equal(c.dead_by[0].reason, "attempts");
}

/* Nothing else is left, so the breaker opens, and for all that the worker knows it is
 * the handler. They die all the same, and no sooner than alone. Nor does the worker spin
 * when it could probe and nothing is due. */
static void all_that_is_left_fails_and_dies_in_a_day(void **state)
{
    enum { N = 30, ATTEMPTS = 15 };
    struct scene s;
    uint32_t made[N] = { 0 };
    int64_t last_ns[N];

    (void)state;
    begin(&s, "all", fails_to_the_last);
    s.enough = N;
    put(&s, 0, N);
    run(&s, 1);
    for (size_t i = 0; i < s.n_starts; i++) {
        const struct start *at = &s.starts[i];
        assert_in_range(at->attempt, made[at->number], made[at->number] + 1);
        made[at->number] = at->attempt;
        last_ns[at->number] = at->at_ns - s.begin_ns;
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(made[i], ATTEMPTS);
        assert_in_range(last_ns[i], 16 * BIDE_HOUR, 28 * BIDE_HOUR);
    }
    struct broker_counts c = end(&s);
    assert_int_equal(c.dead, N);
    assert_int_equal(c.waiting + c.later, 0);
    assert_string_equal(c.dead_by[0].reason, "attempts");
}

/* ===== handlers that take long ===== */

static void three_hours_of_work_are_started_once(void **state)
{
    struct scene s;

    (void)state;
    begin(&s, "long", until_back);
    s.work_ns = 3 * BIDE_HOUR;
    s.at_once = 2;
    put(&s, 0, 3);
    run(&s, 2);
    assert_int_equal(s.n_starts, 3);
    assert_int_equal(s.done, 3);
    assert_int_equal(end(&s).dead, 0);
}

static bide_outcome note_timeout(void *ctx, const struct queue_job *job)
{
    struct scene *s = ctx;

    s->timeout_ns = job->timeout_ns;
    return (bide_outcome){ .cls = BIDE_SUCCESS };
}

/* Where a broker ends a delivery, the handler is stopped before. */
static void what_the_broker_allows_is_the_longest_timeout(void **state)
{
    static const int64_t most[] = { 0, 11 * BIDE_HOUR, 3 * BIDE_SECOND };
    struct scene s;
    int64_t own = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        begin(&s, "limited", note_timeout);
        s.max_run_ns = most[i];
        put(&s, 0, 1);
        run(&s, 1);
        if (i == 0)
            own = s.timeout_ns;
        assert_int_equal(s.timeout_ns,
                         most[i] && most[i] < own ? most[i] : own);
        assert_int_equal(end(&s).dead, 0);
    }
    assert_true(own > 3 * BIDE_SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_for_two_hours_counts_no_attempt),
        cmocka_unit_test(throttled_for_two_hours_counts_no_attempt),
        cmocka_unit_test(command_missing_for_two_hours_counts_no_attempt),
        cmocka_unit_test(failing_for_two_hours_reaches_attempt_two_at_most),
        cmocka_unit_test(load_rises_in_steps_when_it_is_back),
        cmocka_unit_test(a_fifth_of_first_attempts_fails_and_neither_starves),
        cmocka_unit_test(retries_in_the_way_share_one_place),
        cmocka_unit_test(one_that_keeps_failing_dies_after_fifteen_in_a_day),
        cmocka_unit_test(all_that_is_left_fails_and_dies_in_a_day),
        cmocka_unit_test(three_hours_of_work_are_started_once),
        cmocka_unit_test(what_the_broker_allows_is_the_longest_timeout),
    };
    static const char *const files[] = { "", "-wal", "-shm", "-bell",
                                         "-workers" };
    char path[128];

    if (!mkdtemp(folder)) {
        strcpy(folder, "/tmp/bide-hours-XXXXXX");
        if (!mkdtemp(folder))
            return 1;
    }
    int failed = cmocka_run_group_tests_name("hours", tests, NULL, NULL);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/queue.db%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    return failed;
}
