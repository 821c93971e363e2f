/* The blocking runner. Waits are a few milliseconds; nothing here asserts how
 * long anything took, only what was done and why. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include <cmocka.h>

#include "bide/bide.h"
#include "bide/run.h"

struct script {
    const bide_outcome *outcomes;
    uint32_t n, made;
    int64_t timeout_ns;
    bide_cancel *cancel_after; /* cancelled inside the first attempt */
};

static bide_outcome play(void *arg, const bide_attempt *attempt)
{
    struct script *s = arg;
    assert_int_equal(attempt->number, s->made + 1);
    s->timeout_ns = attempt->timeout_ns;
    if (s->cancel_after)
        bide_cancel_now(s->cancel_after);
    uint32_t i = s->made++;
    return s->outcomes[i < s->n ? i : s->n - 1];
}

static bide_dep *dep_of(bide_policy_conf *conf)
{
    bide_dep *dep;
    conf->backoff.base_ns = conf->backoff.cap_ns = BIDE_MILLISECOND;
    assert_int_equal(bide_run_dep_new(&dep, "test", conf), 0);
    return dep;
}

static const bide_outcome fails = { .cls = BIDE_TRANSIENT };
static const bide_outcome works = { .cls = BIDE_SUCCESS };

static void run_failing_twice_succeeds_at_third(void **state)
{
    (void)state;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep = dep_of(&conf);
    bide_outcome outcomes[] = { fails, fails, works };
    struct script s = { outcomes, 3, 0, 0, NULL };
    bide_run_result result;
    bide_run_opts opts = { .op.idempotent = true, .result = &result };
    assert_int_equal(bide_run(dep, play, &s, &opts), BIDE_BECAUSE_SUCCESS);
    assert_int_equal(s.made, 3);
    assert_int_equal(result.attempts, 3);
    assert_int_equal(result.last.cls, BIDE_SUCCESS);
    assert_true(result.slept_ns >= result.waited_ns);
    bide_stats stats;
    bide_dep_stats(dep, bide_now_ns(), &stats);
    assert_int_equal(stats.late_successes, 1);
    assert_int_equal(stats.wait_slept.count, 2);
    bide_dep_free(dep);
}

static void run_without_options_is_cautious(void **state)
{
    (void)state;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep = dep_of(&conf);
    struct script s = { &fails, 1, 0, 0, NULL };
    assert_int_equal(bide_run(dep, play, &s, NULL), BIDE_BECAUSE_NOT_IDEMPOTENT);
    assert_int_equal(s.made, 1);
    assert_int_equal(s.timeout_ns, 10 * BIDE_SECOND);
    bide_dep_free(dep);
}

static void run_cancelled_before_makes_no_attempt(void **state)
{
    (void)state;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep = dep_of(&conf);
    bide_cancel cancel = { 0 };
    struct script s = { &works, 1, 0, 0, NULL };
    bide_cancel_now(&cancel);
    bide_run_opts opts = { .cancel = &cancel };
    assert_int_equal(bide_run(dep, play, &s, &opts), BIDE_BECAUSE_CANCELLED);
    assert_int_equal(s.made, 0);
    bide_dep_free(dep);
}

static void run_cancelled_in_a_long_wait_ends_and_refunds(void **state)
{
    (void)state;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    conf.backoff.base_ns = conf.backoff.cap_ns = BIDE_HOUR;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    assert_int_equal(bide_run_dep_new(&dep, "test", &conf), 0);
    bide_cancel cancel = { 0 };
    struct script s = { &fails, 1, 0, 0, &cancel };
    bide_run_opts opts = { .op.idempotent = true, .cancel = &cancel };
    assert_int_equal(bide_run(dep, play, &s, &opts), BIDE_BECAUSE_CANCELLED);
    assert_int_equal(s.made, 1);
    assert_int_equal(bide_dep_budget_left(dep, bide_now_ns()), 10);
    bide_dep_free(dep);
}

static bide_cancel by_signal;

static void on_alarm(int sig)
{
    (void)sig;
    bide_cancel_now(&by_signal);
}

static void sleep_cancelled_from_a_signal_handler_ends(void **state)
{
    (void)state;
    struct sigaction act = { .sa_handler = on_alarm }, old;
    sigaction(SIGALRM, &act, &old);
    struct itimerval soon = { { 0, 0 }, { 0, 5000 } };
    setitimer(ITIMER_REAL, &soon, NULL);
    assert_false(bide_sleep_until(BIDE_FOREVER, &by_signal));
    sigaction(SIGALRM, &old, NULL);
}

static void *cancel_it(void *arg)
{
    bide_cancel_now(arg);
    return NULL;
}

static void sleep_cancelled_from_a_thread_ends(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        bide_cancel cancel = { 0 };
        pthread_t t;
        pthread_create(&t, NULL, cancel_it, &cancel);
        assert_false(bide_sleep_until(BIDE_FOREVER, &cancel));
        pthread_join(t, NULL);
    }
}

static void sleep_to_the_past_returns_at_once(void **state)
{
    (void)state;
    assert_true(bide_sleep_until(0, NULL));
    assert_true(bide_sleep_until(bide_now_ns() - 1, NULL));
    int64_t at = bide_now_ns() + BIDE_MILLISECOND;
    assert_true(bide_sleep_until(at, NULL));
    assert_true(bide_now_ns() >= at);
}

/* ===== the queue for a place in flight ===== */

enum { THREADS = 16, ROUNDS = 50, PLACES = 2 };

static uint32_t inside, most_inside;

static bide_outcome crowd(void *arg, const bide_attempt *attempt)
{
    (void)arg, (void)attempt;
    uint32_t now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    uint32_t most = __atomic_load_n(&most_inside, __ATOMIC_SEQ_CST);
    while (now > most &&
           !__atomic_compare_exchange_n(&most_inside, &most, now, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    bide_sleep_until(bide_now_ns() + 100000, NULL);
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    return works;
}

static void *come_often(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        if (bide_run(arg, crowd, NULL, NULL) != BIDE_BECAUSE_SUCCESS)
            return arg;
    return NULL;
}

static void run_crowd_queues_for_places_and_all_get_in(void **state)
{
    (void)state;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.limits.in_flight = PLACES;
    conf.limits.queue = THREADS;
    conf.limits.queue_timeout_ns = BIDE_HOUR;
    bide_dep *dep = dep_of(&conf);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, come_often, dep);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_true(most_inside <= PLACES);
    bide_stats stats;
    bide_dep_stats(dep, bide_now_ns(), &stats);
    assert_int_equal(stats.first_successes, THREADS * ROUNDS);
    assert_int_equal(stats.queued, 0);
    assert_int_equal(stats.in_flight, 0);
    bide_dep_free(dep);
}

static void key_is_a_fresh_uuid(void **state)
{
    (void)state;
    char a[37], b[37];
    assert_int_equal(bide_key_new(a), 0);
    assert_int_equal(bide_key_new(b), 0);
    assert_int_equal(strlen(a), 36);
    assert_int_equal(a[14], '4');
    assert_non_null(strchr("89ab", a[19]));
    assert_string_not_equal(a, b);
    assert_int_equal(bide_key_new(NULL), BIDE_EINVAL);
}

/* Compiled with headers that have a member more than ours. */
static void run_invalid_arguments_are_told(void **state)
{
    (void)state;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep = dep_of(&conf);
    struct script s = { .outcomes = &BIDE_OUTCOME_SUCCESS, .n = 1 };
    struct {
        bide_run_opts opts;
        uint64_t unknown;
    } newer = { .unknown = 1 };
    assert_int_equal((int)bide_run_sized(dep, play, &s, &newer.opts,
                                         sizeof newer), BIDE_ESIZE);
    assert_int_equal((int)bide_run(NULL, play, &s, NULL), BIDE_EINVAL);
    assert_int_equal((int)bide_run(dep, NULL, &s, NULL), BIDE_EINVAL);
    assert_int_equal(s.made, 0);
    newer.unknown = 0;
    assert_int_equal(bide_run_sized(dep, play, &s, &newer.opts, sizeof newer),
                     BIDE_BECAUSE_SUCCESS);
    s.made = 0;
    assert_int_equal(bide_run_sized(dep, play, &s, &newer.opts,
                                    sizeof(bide_op)),
                     BIDE_BECAUSE_SUCCESS);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_failing_twice_succeeds_at_third),
        cmocka_unit_test(run_without_options_is_cautious),
        cmocka_unit_test(run_cancelled_before_makes_no_attempt),
        cmocka_unit_test(run_cancelled_in_a_long_wait_ends_and_refunds),
        cmocka_unit_test(sleep_cancelled_from_a_signal_handler_ends),
        cmocka_unit_test(sleep_cancelled_from_a_thread_ends),
        cmocka_unit_test(sleep_to_the_past_returns_at_once),
        cmocka_unit_test(run_crowd_queues_for_places_and_all_get_in),
        cmocka_unit_test(key_is_a_fresh_uuid),
        cmocka_unit_test(run_invalid_arguments_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
