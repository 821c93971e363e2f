/* hours URL: waits and handlers of hours on SQS, against one whose clock is moved
 * (stub.py). This program's clock moves with it: clock_gettime() is replaced for the
 * broker's module, too, which finds this one first. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "test/queue/brokers/rig.h"

#define MINUTE (60 * RIG_S)
#define HOUR (60 * MINUTE)

static int64_t *ahead_ns; /* shared with workers in other processes */

int clock_gettime(clockid_t clock, struct timespec *to)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, to);

    if (rc == 0 && clock == CLOCK_BOOTTIME && ahead_ns) {
        int64_t ns = to->tv_nsec + *ahead_ns % RIG_S;
        to->tv_sec += (time_t)(*ahead_ns / RIG_S + ns / RIG_S);
        to->tv_nsec = (long)(ns % RIG_S);
    }
    return rc;
}

static int64_t now(void)
{
    return rig_now() + *ahead_ns;
}

static void advance(int64_t ns)
{
    rig_ask("advance %lld.%03d", (long long)(ns / RIG_S),
            (int)(ns % RIG_S / RIG_MS));
    *ahead_ns += ns;
}

/* To when the next message is shown. False: none is hidden. */
static bool skip(void)
{
    double s = atof(rig_ask("skip"));

    *ahead_ns += (int64_t)(s * 1e9);
    return s > 0;
}

static long received(void)
{
    return atol(rig_ask("received"));
}

/* Takes one, whenever it comes. */
static struct queue_message *take_later(struct broker *b)
{
    struct queue_message *m = rig_take_one(b, false);

    while (!m) {
        expect(skip(), "a message is on its way");
        m = rig_take_one(b, false);
    }
    return m;
}

static void wait_out(struct broker *b, const char *key, int64_t wait, int times)
{
    rig_put(b, "a", .key = key);
    struct queue_message *m = take_later(b);
    int64_t begun = now();
    long before = received();

    expect(m->attempt == 0 && m->deliveries == 1, "as it was put");
    rig_settle(b, m, BROKER_AGAIN, .counts = true, .ran = true, .delay_ns = wait,
               .error = "exit 1");
    expect(rig_take_one(b, false) == NULL, "not yet");
    m = take_later(b);
    int64_t late = now() - begun - wait;
    expect(late >= 0 && late < 3 * RIG_S, "%lld ms late",
           (long long)(late / RIG_MS));
    expect(received() - before == times, "received %ld times, not %d",
           received() - before, times);
    expect(m->attempt == 1 && m->deliveries == 2, "attempt %u, delivery %u",
           m->attempt, m->deliveries);
    expect(m->deaths == 0 && !m->suspect, "nobody died");
    expect(strstr(m->errors, "exit 1") != NULL, "its errors: %s", m->errors);
    rig_settle(b, m, BROKER_DONE, .ran = true);
    struct broker_counts c = rig_counts(b);
    expect(c.waiting + c.later + c.running + c.dead == 0, "nothing is left");
}

/* Up to 15 min a copy is delayed; more is hidden then, 12 h at a time. */
static void wait_of_hours_is_exact(struct rig *r)
{
    static const struct {
        int64_t wait;
        int times, fifo;
    } rows[] = { { 10 * MINUTE, 1, 2 },
                 { 16 * MINUTE, 2, 2 },
                 { 3 * HOUR, 2, 2 },
                 { 11 * HOUR, 2, 2 },
                 { 20 * HOUR, 3, 3 },
                 { 40 * HOUR, 5, 5 } };
    struct broker *b = rig_open(r);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        wait_out(b, NULL, rows[i].wait,
                 b->traits.has_keys ? rows[i].fifo : rows[i].times);
}

static void wait_of_hours_with_a_key(struct rig *r)
{
    static const int64_t waits[] = { 16 * MINUTE, 3 * HOUR, 7 * HOUR, 11 * HOUR,
                                     20 * HOUR };
    struct broker *b = rig_open(r);

    if (!b->traits.has_keys)
        rig_skip("a standard queue has no keys");
    for (int i = 0; i < 5; i++)
        wait_out(b, "k", waits[i], waits[i] > 12 * HOUR ? 3 : 2);
}

/* Like the default policy's: 15 attempts, up to 4 h apart. */
static void wait_after_wait_counts_each_attempt(struct rig *r)
{
    struct broker *b = rig_open(r);
    int64_t wait = 3 * RIG_S;

    rig_put(b, "a", .key = rig_key(b, "k"));
    rig_put(b, "b", .key = rig_key(b, "k"), .delay_ns = MINUTE);
    for (uint32_t i = 0; i < 15; i++) {
        struct queue_message *m = take_later(b);
        if (strcmp(m->id, "b") == 0) {
            /* a key keeps its place for 12 h less 4 */
            expect(!b->traits.has_keys || i == 9, "not before it: %u", i);
            rig_settle(b, m, BROKER_DONE, .ran = true);
            m = take_later(b);
        }
        expect(m->attempt == i && m->deliveries == i + 1 && m->deaths == 0,
               "attempt %u, not %u", m->attempt, i);
        wait = wait * 3 < 4 * HOUR ? wait * 3 : 4 * HOUR;
        rig_settle(b, m, i == 14 ? BROKER_DEAD : BROKER_AGAIN, .counts = true,
                   .ran = true, .delay_ns = wait, .reason = "attempts",
                   .cls = "transient");
    }
    expect(rig_counts(b).dead == 1, "dead after 15");
    expect(!skip() || rig_take_one(b, false) == NULL, "and only dead");
}

/* Received too early, and not hidden again: its worker died with that request. */
static void wait_hop_that_fails_burns_nothing(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_message *m;
    int64_t begun;

    rig_put(b, "a");
    m = rig_take_one(b, true);
    begun = now();
    rig_settle(b, m, BROKER_AGAIN, .counts = true, .ran = true,
               .delay_ns = 3 * HOUR);
    if (!b->traits.has_keys)
        expect(skip(), "15 minutes later");
    rig_ask("fail ChangeMessageVisibilityBatch 100");
    struct broker_take want = { .most = 1 };
    expect(b->kind->take(b, &want, &m) == BROKER_DOWN, "the hop fails");
    rig_ask("fail ChangeMessageVisibilityBatch 0");
    m = take_later(b);
    expect(now() - begun >= 3 * HOUR, "not before it is due");
    expect(now() - begun < 3 * HOUR + 5 * RIG_S, "and not long after");
    expect(m->attempt == 1 && m->deaths == 0 && !m->suspect,
           "nobody is blamed for it");
    rig_settle(b, m, BROKER_DONE, .ran = true);
}

enum { MANY = 1000 };

static int end_all(struct broker *b, struct queue_message **m, size_t n,
                   enum broker_how how, int total)
{
    struct broker_end ends[RIG_MOST];

    for (size_t i = 0; i < n; i++)
        ends[i] = (struct broker_end){
            .message = m[i], .how = how, .counts = true, .ran = true,
            .delay_ns = 30 * RIG_S + (total++ * INT64_C(7919) % MANY) * 30 * RIG_MS
        };
    expect(b->kind->settle(b, ends, n) == 0, "settle: %s", b->error);
    for (size_t i = 0; i < n; i++)
        queue_message_free(m[i]);
    return total;
}

/* 1 000 failed in one second, their waits drawn from 30 to 60 s. */
static void wait_of_a_thousand_stays_spread(struct rig *r)
{
    struct broker *b = rig_open(r);
    struct queue_message *m[RIG_MOST];
    struct broker_put p[100];
    int n = 0, back = 0;
    size_t got;

    if (b->traits.has_keys)
        rig_skip("as on a standard queue");
    memset(p, 0, sizeof p);
    for (int i = 0; i < MANY / 100; i++)
        expect(b->kind->put(b, p, 100) == 0, "put: %s", b->error);
    while ((got = rig_take(b, m, RIG_MOST)) > 0)
        n = end_all(b, m, got, BROKER_AGAIN, n);
    expect(n == MANY, "all of them: %d", n);
    while (back < MANY) {
        int before = back;
        advance(RIG_S);
        while ((got = rig_take(b, m, RIG_MOST)) > 0)
            back = end_all(b, m, got, BROKER_DONE, back);
        expect(back - before <= 100, "%d in a second", back - before);
    }
}

/* A handler of hours, with its beats. */
static void run_of_hours_is_left_alone(struct rig *r)
{
    r->conf.lease_ns = 10 * MINUTE;
    struct broker *b = rig_open(r), *other = rig_open(r);

    rig_put(b, "a", .key = rig_key(b, "k"));
    struct queue_message *m = rig_take_one(b, true);
    int64_t begun = now();
    while (now() - begun < b->traits.max_run_ns) {
        expect(b->kind->beat(b, &m, 1) == 0 && !m->lost, "it is ours");
        expect(rig_take_one(other, false) == NULL, "and is not started twice");
        advance(4 * MINUTE);
    }
    rig_settle(b, m, BROKER_AGAIN, .counts = true, .ran = true,
               .error = "timeout");
    m = take_later(other);
    expect(m->attempt == 1 && m->deaths == 0 && !m->suspect, "an attempt");
    rig_settle(other, m, BROKER_DONE, .ran = true);
}

/* What SQS does not allow: who runs on is told, before somebody else begins. */
static void run_beyond_the_limit_is_lost(struct rig *r)
{
    r->conf.lease_ns = 10 * MINUTE;
    struct broker *b = rig_open(r), *other = rig_open(r);

    rig_put(b, "a");
    struct queue_message *m = rig_take_one(b, true);
    int64_t begun = now();
    for (;;) {
        expect(b->kind->beat(b, &m, 1) == 0, "a beat: %s", b->error);
        if (m->lost)
            break;
        expect(rig_take_one(other, false) == NULL, "not started twice");
        expect(now() - begun < 13 * HOUR, "12 h are over");
        advance(MINUTE);
    }
    expect(now() - begun > 12 * HOUR - 11 * MINUTE, "not before");
    struct broker_end end = { .message = m, .how = BROKER_DONE, .ran = true };
    expect(b->kind->settle(b, &end, 1) == 0 && end.result == BROKER_LOST,
           "its result comes too late");
    queue_message_free(m);
}

/* A worker dies between the copy and the hiding of what it copied: the copy is
 * void, and the message itself is delivered again. */
static void key_whose_lock_was_not_taken_runs_once(struct rig *r)
{
    struct rig_worker w = rig_worker(r);
    struct broker *b = rig_open(r);

    if (!b->traits.has_keys)
        rig_skip("a standard queue has no keys");
    rig_put(b, "1", .key = "k");
    rig_put(b, "2", .key = "k");
    expect(rig_tell(&w, 't', 1) == 1, "it takes the first");
    rig_ask("fail ChangeMessageVisibilityBatch 100");
    expect(rig_tell(&w, 'a', 0) == -1, "it copies, and can say no more");
    rig_kill(&w);
    rig_ask("fail ChangeMessageVisibilityBatch 0");
    advance(r->conf.lease_ns);
    rig_rescue(b, 1);
    struct queue_message *m = NULL;
    for (int i = 1; i <= 2; i++) {
        struct broker_take want = { .most = 1, .retries = 1, .alone = true };
        do
            expect(b->kind->take(b, &want, &m) == 0, "take: %s", b->error);
        while (want.n == 0 && skip());
        expect(want.n == 1 && m->id[0] == '0' + i, "in order");
        expect(rig_take_one(b, false) == NULL, "nothing beside it");
        rig_settle(b, m, BROKER_DONE, .ran = true);
    }
    struct broker_counts c = rig_counts(b);
    expect(c.waiting + c.later + c.running + c.dead == 0, "each ran once");
}

/* Nobody is there for longer than a place is kept: nothing is lost. */
static void key_whose_lock_has_ended_runs_once(struct rig *r)
{
    struct broker *b = rig_open(r);

    if (!b->traits.has_keys)
        rig_skip("a standard queue has no keys");
    rig_put(b, "1", .key = "k");
    rig_put(b, "2", .key = "k");
    rig_settle(b, rig_take_one(b, true), BROKER_AGAIN, .counts = true,
               .ran = true, .delay_ns = 60 * RIG_S);
    advance(13 * HOUR);
    for (int i = 1; i <= 2; i++) {
        struct broker_take want = { .most = 1, .retries = 1, .alone = true };
        struct queue_message *m = NULL;
        do
            expect(b->kind->take(b, &want, &m) == 0, "take: %s", b->error);
        while (want.n == 0 && (want.suspects || skip()));
        expect(want.n == 1 && m->id[0] == '0' + i, "in order");
        rig_settle(b, m, BROKER_DONE, .ran = true);
    }
    struct broker_counts c = rig_counts(b);
    expect(c.waiting + c.later + c.running + c.dead == 0, "each ran once");
}

/* An account that may not list queues: the one that is missing is made all the same. */
static void queue_is_made_where_none_are_listed(struct rig *r)
{
    rig_ask("deny ListQueues");
    struct broker *b = rig_open(r);

    rig_put(b, "a");
    rig_settle(b, rig_take_one(b, true), BROKER_DONE, .ran = true);
    rig_ask("deny nothing");
}

#define HOURS(X)                                                               \
    X(wait_of_hours_is_exact)                                                  \
    X(wait_of_hours_with_a_key)                                                \
    X(wait_after_wait_counts_each_attempt)                                     \
    X(wait_hop_that_fails_burns_nothing)                                       \
    X(wait_of_a_thousand_stays_spread)                                         \
    X(run_of_hours_is_left_alone)                                              \
    X(run_beyond_the_limit_is_lost)                                            \
    X(key_whose_lock_was_not_taken_runs_once)                                  \
    X(key_whose_lock_has_ended_runs_once)                                      \
    X(queue_is_made_where_none_are_listed)

int main(int argc, char **argv)
{
    static const char *const suffixes[] = { "", ".fifo" };
    struct rig r = { .conf = BROKER_CONF_INIT };

    if (argc < 2) {
        fprintf(stderr, "usage: hours URL\n");
        return 2;
    }
    ahead_ns = mmap(NULL, sizeof *ahead_ns, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ahead_ns == MAP_FAILED)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    r.url = argv[1];
    for (int i = 0; i < 2; i++) {
        r.suffix = suffixes[i];
        r.conf.lease_ns = 30 * RIG_S;
#define X(name) rig_row(&r, i ? #name "_fifo" : #name, name);
        HOURS(X)
#undef X
    }
    return rig_finish();
}
