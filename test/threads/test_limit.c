/* threads/test_limit.c: the cap on attempts at once, its queue, and the rate,
 * under 64 threads. */
#include "team.h"

#include <errno.h>
#include <time.h>

#include "lib/limit/limit.h"

enum { CAP = 5 };

struct shared {
    bide_dep *dep;
    _Atomic int running; /* by our own count */
    _Atomic int done, tried;

    /* a driver that blocks: who queues sleeps until somebody is told */
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int wakeups;
};

static void on_place(void *ctx, const bide_dep *dep)
{
    struct shared *s = ctx;
    (void)dep;
    pthread_mutex_lock(&s->lock);
    s->wakeups++;
    pthread_cond_signal(&s->cond);
    pthread_mutex_unlock(&s->lock);
}

/* Sleeps without any timeout of the queue's: a lost wakeup shows as a thread
 * that sleeps forever, which here is 20 s. */
static bool sleep_until_told(struct shared *s)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 20;
    pthread_mutex_lock(&s->lock);
    int rc = 0;
    while (s->wakeups == 0 && rc == 0)
        rc = pthread_cond_timedwait(&s->cond, &s->lock, &limit);
    if (rc == 0)
        s->wakeups--;
    pthread_mutex_unlock(&s->lock);
    return rc != ETIMEDOUT;
}

static void try_it(struct member *me, bide_call *call)
{
    struct shared *s = me->ctx;
    EXPECT(atomic_fetch_add(&s->running, 1) < CAP);
    atomic_fetch_add(&s->tried, 1);
    if (chance(me, 2))
        sched_yield();
    atomic_fetch_sub(&s->running, 1);
    bide_outcome out = { .cls = BIDE_SUCCESS };
    if (chance(me, 10) != 0)
        bide_call_report(call, bide_call_attempts(call), &out, 0);
}

static void hurry(struct member *me)
{
    struct shared *s = me->ctx;
    for (int i = 0; i < 2000; i++) {
        bide_call call;
        bide_decision d = begin(&call, s->dep, 0);
        if (d.action == BIDE_TRY)
            try_it(me, &call);
        else
            EXPECT(d.reason == BIDE_BECAUSE_IN_FLIGHT);
        bide_call_end(&call, 0);
    }
}

static void queue_up(struct member *me)
{
    struct shared *s = me->ctx;
    for (int i = 0; i < 120; i++) {
        bide_call call;
        bide_decision d = begin(&call, s->dep, 0);
        while (d.action == BIDE_WAIT) {
            EXPECT(d.reason == BIDE_BECAUSE_QUEUED);
            if (!sleep_until_told(s)) {
                bool wakeup_lost = true;
                EXPECT(!wakeup_lost);
                break;
            }
            if (chance(me, 4) == 0)
                bide_call_cancel(&call); /* told, but no longer interested */
            d = bide_call_next(&call, 0);
        }
        if (d.action == BIDE_TRY)
            try_it(me, &call);
        bide_call_end(&call, 0);
        atomic_fetch_add(&s->done, 1);
    }
}

static void run_capped(void (*work)(struct member *me), uint32_t queue,
                       struct shared *s)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    memset(s, 0, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->cond, NULL);
    conf.attempts = 1;
    conf.limits.in_flight = CAP;
    conf.limits.queue = queue;
    s->dep = new_dep_in(&conf, (bide_host){ .ctx = s, .on_place = on_place });
    run_team(work, s, 0);
    bide_stats stats = stats_of(s->dep, 0);
    assert_int_equal(stats.in_flight, 0);
    assert_int_equal(stats.queued, 0);
    assert_int_equal(stats.attempts, atomic_load(&s->tried));
    bide_dep_free(s->dep);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->cond);
}

static void in_flight_cap_is_never_exceeded(void **state)
{
    static struct shared s;
    (void)state;
    run_capped(hurry, 0, &s);
    assert_true(atomic_load(&s.tried) >= CAP);
}

static void queue_loses_no_wakeup(void **state)
{
    static struct shared s;
    (void)state;
    run_capped(queue_up, TEAM, &s);
    assert_int_equal(atomic_load(&s.done), 120 * TEAM);
}

/* With a short queue some are refused; the rest gets through all the same. */
static void queue_bound_is_kept(void **state)
{
    static struct shared s;
    (void)state;
    run_capped(queue_up, 7, &s);
    assert_int_equal(atomic_load(&s.done), 120 * TEAM);
}

/* ===== the adaptive rate ===== */

struct bucket {
    struct bide__rate rate;
    _Atomic int now, reserved, refused;
};

/* All want a token at the same moment: each gets another one. */
static void take_tokens(struct member *me)
{
    struct bucket *b = me->ctx;
    for (int i = 0; i < 20; i++) {
        int64_t now = 1024 * S;
        int64_t at = bide__rate_take(&b->rate, now, now + 3 * S);
        EXPECT(at == -1 || at == 0 || (at > now && at <= now + 3 * S));
        atomic_fetch_add(at == -1  ? &b->refused
                         : at == 0 ? &b->now
                                   : &b->reserved,
                         1);
    }
}

static void rate_gives_each_token_once(void **state)
{
    static struct bucket b;
    float measured = 100.f / 0.7f;
    uint32_t bits;
    (void)state;
    memset(&b, 0, sizeof b);
    memcpy(&bits, &measured, sizeof bits);
    atomic_store(&b.rate.measured, bits);
    atomic_store(&b.rate.sending, UINT64_C(0xffffffff00000000));
    bide__rate_report(&b.rate, true, 1024 * S);
    atomic_store(&b.rate.next_ns, 0); /* the bucket is full */
    run_team(take_tokens, &b, 0);
    /* 100 in the bucket, and 3 s of 100 each */
    assert_in_range(atomic_load(&b.now), 99, 101);
    assert_in_range(atomic_load(&b.reserved), 298, 302);
    assert_int_equal(b.now + b.reserved + b.refused, 20 * TEAM);
}

static void send_and_be_throttled(struct member *me)
{
    struct bucket *b = me->ctx;
    for (int i = 0; i < 2000; i++) {
        if (chance(me, 10) == 0)
            atomic_fetch_add(&team_clock, chance(me, 20) * MS);
        bide__rate_report(&b->rate, chance(me, 50) == 0, now_ns());
        double rate = bide__rate_allowed(&b->rate, now_ns());
        EXPECT(rate >= 0.5);
        int64_t at = bide__rate_take(&b->rate, now_ns(), BIDE_FOREVER);
        EXPECT(at >= 0);
    }
}

static void rate_stays_in_its_bounds(void **state)
{
    static struct bucket b;
    (void)state;
    memset(&b, 0, sizeof b);
    run_team(send_and_be_throttled, &b, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_flight_cap_is_never_exceeded),
        cmocka_unit_test(queue_loses_no_wakeup),
        cmocka_unit_test(queue_bound_is_kept),
        cmocka_unit_test(rate_gives_each_token_once),
        cmocka_unit_test(rate_stays_in_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
