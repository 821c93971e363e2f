/* Handlers end while their message is certain to be ours, and begin only then. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bide/policy.h"
#include "queue/hold.h"
#include "queue/hold_clock.h"
#include "queue/worker.h"

#define MS INT64_C(1000000)

/* ===== a handler that ends only when it is told ===== */

struct stubborn {
    struct queue_handler handler;
    enum queue_stop until;  /* it ignores what is less */
    atomic_int begun, asked_first;
};

static void run(const struct queue_handler *h, void *slot, struct queue_job *job)
{
    struct stubborn *s = (struct stubborn *)(uintptr_t)h;

    (void)slot;
    atomic_fetch_add(&s->begun, 1);
    while (atomic_load(&job->stop) < (int)s->until) {
        if (atomic_load(&job->stop) == QUEUE_STOP_ASKED)
            atomic_store(&s->asked_first, 1);
        poll(NULL, 0, 1);
    }
    job->out = (bide_outcome){ .cls = BIDE_IGNORED };
}

static const struct queue_handler_kind stubborn_kind = { .run = run };

static struct stubborn stubborn(enum queue_stop until)
{
    return (struct stubborn){ .handler = { &stubborn_kind }, .until = until };
}

/* ===== the thread ===== */

static void run_until_ended(struct stubborn *s, int64_t hold_ns, int64_t grace_ns)
{
    struct queue_job job = { .queue = "q" };
    struct queue_pool *pool = queue_pool_new(&s->handler, 1);
    struct queue_hold *hold = queue_hold_new(pool, &job, 1, grace_ns);
    struct bide__list jobs, ended;
    struct pollfd p = { queue_pool_fd(pool), POLLIN, 0 };

    assert_non_null(hold);
    bide__list_init(&jobs);
    bide__list_init(&ended);
    bide__list_append(&jobs, &job.line);
    queue_hold_set(hold, &job, hold_ns);
    queue_pool_give(pool, &jobs);
    while (bide__list_empty(&ended)) {
        poll(&p, 1, -1);
        queue_pool_reap(pool, &ended);
    }
    assert_int_equal(job.out.cls, BIDE_IGNORED);
    queue_hold_free(hold);
    queue_pool_free(pool);
}

static void hold_asks_then_ends(void **state)
{
    struct stubborn s = stubborn(QUEUE_STOP_NOW);

    (void)state;
    run_until_ended(&s, hold_clock_ns() + 2000 * MS, 1900 * MS);
    assert_int_equal(atomic_load(&s.begun), 1);
    assert_int_equal(atomic_load(&s.asked_first), 1);
}

static void hold_that_is_over_begins_nothing(void **state)
{
    struct stubborn s = stubborn(QUEUE_STOP_ASKED);

    (void)state;
    run_until_ended(&s, hold_clock_ns() - 1, 0);
    assert_int_equal(atomic_load(&s.begun), 0);
}

/* ===== the worker ===== */

/* Has one message, which is certain for `for_ns`; if it `leaves`, it is away from when it
 * has given that out until it gets it back. Threads: owned. */
struct scene {
    struct broker b;
    int64_t for_ns;
    bool leaves;
    int taken, given_back, counted;
    struct queue_worker *worker;
};

static int is_away(const struct broker *b)
{
    const struct scene *s = (const struct scene *)b;

    return s->leaves && s->taken && !s->given_back ? BROKER_DOWN : 0;
}

static int take(struct broker *b, struct broker_take *want, struct queue_message **ret)
{
    struct scene *s = (struct scene *)b;

    want->next_ns = BIDE_FOREVER;
    if (s->taken)
        return is_away(b);
    ret[0] = queue_message_new(&(struct queue_text){ .id = "m", .key = "k" });
    ret[0]->hold_ns = hold_clock_ns() + s->for_ns;
    s->taken = 1;
    want->n = 1;
    return 0;
}

static int settle(struct broker *b, struct broker_end *ends, size_t n)
{
    struct scene *s = (struct scene *)b;

    for (size_t i = 0; i < n; i++) {
        ends[i].result = BROKER_SETTLED;
        s->given_back += ends[i].how == BROKER_AGAIN;
        s->counted += ends[i].counts;
    }
    queue_worker_stop(s->worker);
    return 0;
}

static int beat(struct broker *b, struct queue_message **running, size_t n)
{
    (void)running, (void)n;
    return is_away(b);
}

static int rescue(struct broker *b, struct broker_rescued *ret)
{
    *ret = (struct broker_rescued){ 0, 0, 0 };
    return is_away(b);
}

static const struct broker_kind kind = { .name = "scene", .take = take, .settle = settle,
                                         .beat = beat, .rescue = rescue };

static void play(struct scene *s, struct stubborn *handler, int64_t beat_ns)
{
    struct queue_worker_conf conf = QUEUE_WORKER_CONF_INIT;
    bide_policy_conf policy;

    bide_policy_preset(&policy, "queue");
    assert_int_equal(bide_dep_new(&conf.dep, "test", &policy), 0);
    s->b.kind = &kind;
    conf.broker = &s->b;
    conf.handler = &handler->handler;
    conf.beat_ns = beat_ns;
    s->worker = queue_worker_new(&conf);
    assert_non_null(s->worker);
    queue_worker_run(s->worker);
    queue_worker_free(s->worker);
    bide_dep_free(conf.dep);
    assert_int_equal(s->given_back, 1);
    assert_int_equal(s->counted, 0);
}

static void worker_ends_a_handler_while_its_broker_is_away(void **state)
{
    struct stubborn handler = stubborn(QUEUE_STOP_NOW);
    struct scene s = { .for_ns = 500 * MS, .leaves = true };

    (void)state;
    play(&s, &handler, 100 * MS);
    assert_int_equal(atomic_load(&handler.begun), 1);
}

static void worker_that_was_frozen_since_the_take_begins_nothing(void **state)
{
    struct stubborn handler = stubborn(QUEUE_STOP_ASKED);
    struct scene s = { .for_ns = -1 };

    (void)state;
    play(&s, &handler, 100 * MS);
    assert_int_equal(atomic_load(&handler.begun), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hold_asks_then_ends),
        cmocka_unit_test(hold_that_is_over_begins_nothing),
        cmocka_unit_test(worker_ends_a_handler_while_its_broker_is_away),
        cmocka_unit_test(worker_that_was_frozen_since_the_take_begins_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
