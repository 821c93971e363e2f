/* test_shared.c: one state under several dependencies, as several processes
 * have it: the same memory, mapped at different addresses. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "bide/call.h"
#include "bide/dep.h"
#include "bide/error.h"
#include "bide/share.h"
#include "bide/stats.h"
#include "lib/dep.h"

#define S BIDE_SECOND

enum { PAGE = 4096, OWN = 64 * PAGE };

/* A process: its own memory, and right behind it what is shared. */
struct side {
    int fd;
    size_t shared;
    size_t shift; /* away from where it should be */
    char *base;
};

static void *side_alloc(void *ctx, size_t size)
{
    struct side *s = ctx;
    size_t own = size - s->shared;
    size_t mapped = (s->shared / PAGE + 1) * PAGE;

    s->base = mmap(NULL, OWN + mapped + PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(s->base != MAP_FAILED);
    assert_true(mmap(s->base + OWN, mapped, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED, s->fd, 0) != MAP_FAILED);
    return s->base + OWN - own + s->shift;
}

static bide_policy_conf small_conf(void)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.backoff.base_ns = conf.backoff.cap_ns = 1;
    conf.lanes = 1;
    return conf;
}

static int new_file(const bide_policy_conf *conf)
{
    int fd = memfd_create("state", MFD_CLOEXEC);
    assert_true(fd >= 0);
    size_t size = (bide_dep_shared_size(conf) / PAGE + 1) * PAGE;
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    return fd;
}

static int try_join(struct side *s, int fd, const bide_policy_conf *conf,
                    bool alone, bide_dep **ret)
{
    static const uint64_t seed = 1;
    bide_host host = { .ctx = s,
                       .alloc = side_alloc,
                       .seed = &seed,
                       .shared = true,
                       .alone = alone };
    s->fd = fd;
    s->shared = bide_dep_shared_size(conf);
    return bide_dep_new_in(ret, "shared", conf, &host);
}

static bide_dep *join(struct side *s, int fd, const bide_policy_conf *conf,
                      bool alone)
{
    bide_dep *dep = NULL;
    *s = (struct side){ .fd = fd };
    assert_int_equal(try_join(s, fd, conf, alone, &dep), 0);
    return dep;
}

/* A call all of whose attempts fail; gives the reason of its end. */
static bide_reason fail_all(bide_dep *dep, int64_t *now)
{
    bide_call call;
    bide_outcome out = { .cls = BIDE_TRANSIENT };
    bide_decision d;
    bide_call_begin(&call, dep, &(bide_op){ .idempotent = true }, *now);
    while ((d = bide_call_next(&call, *now)).action != BIDE_DONE) {
        if (d.action == BIDE_WAIT)
            *now = d.at_ns;
        else
            bide_call_report(&call, d.attempt, &out, *now);
    }
    bide_call_end(&call, *now);
    return d.reason;
}

static void shared_size_is_a_part_of_the_whole(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    assert_int_equal(bide_dep_shared_size(NULL), 0);
    assert_in_range(bide_dep_shared_size(&conf), 1, bide_dep_size(&conf) - 1);
    conf.attempts = 0;
    assert_int_equal(bide_dep_shared_size(&conf), 0);
}

/* 10 retries in the window, whoever makes them. */
static void shared_budget_is_one(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    conf.breaker.kind = BIDE_BREAKER_OFF;
    int fd = new_file(&conf);
    struct side a, b;
    bide_dep *one = join(&a, fd, &conf, false);
    bide_dep *two = join(&b, fd, &conf, false);
    int64_t now = 100 * S;
    assert_ptr_not_equal(one, two);
    assert_int_equal(bide_dep_budget_left(one, now), 10);
    for (int i = 0; i < 3; i++)
        assert_int_equal(fail_all(one, &now), BIDE_BECAUSE_ATTEMPTS);
    assert_int_equal(bide_dep_budget_left(two, now), 1);
    assert_int_equal(fail_all(two, &now), BIDE_BECAUSE_BUDGET);
    assert_int_equal(fail_all(one, &now), BIDE_BECAUSE_BUDGET);
    bide_stats stats;
    bide_dep_stats(two, now, &stats);
    assert_int_equal(stats.retries, 10);
    close(fd);
}

static void breaker_opens_for_all(bide_policy_conf conf)
{
    conf.budget.kind = BIDE_BUDGET_OFF;
    int fd = new_file(&conf);
    struct side a, b, c;
    bide_dep *one = join(&a, fd, &conf, false);
    bide_dep *two = join(&b, fd, &conf, false);
    int64_t now = 100 * S;
    for (int i = 0; i < 5; i++)
        fail_all(i % 2 ? one : two, &now);
    assert_int_equal(bide_dep_breaker(one, now), BIDE_BREAKER_OPEN);
    assert_int_equal(bide_dep_breaker(two, now), BIDE_BREAKER_OPEN);
    bide_dep *late = join(&c, fd, &conf, true);
    assert_int_equal(fail_all(late, &now), BIDE_BECAUSE_BREAKER_OPEN);
    close(fd);
}

static void shared_switch_turns_retries_off_for_all(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    conf.breaker.kind = BIDE_BREAKER_OFF;
    int fd = new_file(&conf);
    struct side a, b, c;
    bide_dep *one = join(&a, fd, &conf, false);
    bide_dep *two = join(&b, fd, &conf, false);
    int64_t now = 100 * S;
    assert_int_equal(bide_dep_set_retries(one, false), 0);
    assert_int_equal(fail_all(two, &now), BIDE_BECAUSE_RETRIES_OFF);
    bide_dep *three = join(&c, fd, &conf, true); /* one that starts later */
    assert_int_equal(fail_all(three, &now), BIDE_BECAUSE_RETRIES_OFF);
    assert_int_equal(bide_dep_set_retries(three, true), 0);
    assert_int_equal(fail_all(one, &now), BIDE_BECAUSE_ATTEMPTS);
    close(fd);
}

static void shared_breaker_opens_for_all(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    breaker_opens_for_all(conf);
    conf.breaker.kind = BIDE_BREAKER_COUNT;
    breaker_opens_for_all(conf);
}

/* Those who come later do not fill it up again. */
static void shared_quota_starts_once(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.budget.kind = BIDE_BUDGET_QUOTA;
    conf.budget.capacity = 50;
    int fd = new_file(&conf);
    struct side a, b;
    bide_dep *one = join(&a, fd, &conf, false);
    int64_t now = 100 * S;
    fail_all(one, &now);
    assert_int_equal(bide_dep_budget_left(one, now), 7);
    bide_dep *two = join(&b, fd, &conf, true);
    assert_int_equal(bide_dep_budget_left(two, now), 7);
    close(fd);
}

static void shared_state_of_another_shape_is_refused(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    int fd = new_file(&conf);
    struct side a, b = { .fd = fd };
    bide_dep *one = join(&a, fd, &conf, false), *other = NULL;
    char before[PAGE];
    assert_int_equal(pread(fd, before, PAGE, 0), PAGE);

    bide_policy_conf wide = conf;
    wide.budget.window_ns = 20 * S;
    assert_int_equal(try_join(&b, fd, &wide, false, &other), BIDE_ESTATE);
    wide = conf;
    wide.breaker.window_ns = 20 * S;
    assert_int_equal(try_join(&b, fd, &wide, false, &other), BIDE_ESTATE);
    wide = conf;
    wide.latency.measure = false;
    assert_int_equal(try_join(&b, fd, &wide, true, &other), BIDE_ESTATE);
    wide = conf;
    wide.breaker.kind = BIDE_BREAKER_COUNT;
    assert_int_equal(try_join(&b, fd, &wide, true, &other), BIDE_ESTATE);
    assert_null(other);

    char after[PAGE];
    assert_int_equal(pread(fd, after, PAGE, 0), PAGE);
    assert_memory_equal(before, after, PAGE); /* and was not touched */

    wide = conf;
    wide.attempts = 9;
    wide.deadline_ns = S;
    wide.backoff.base_ns = wide.backoff.cap_ns = 2;
    assert_int_equal(try_join(&b, fd, &wide, false, &other), 0);
    assert_int_equal(bide_dep_policy(other)->attempts, 9);
    assert_int_equal(bide_dep_policy(one)->attempts, 4);
    close(fd);
}

/* 5 of 10 are spent under the old policy: half of whatever the new one has. */
static void shared_budget_stays_spent_under_a_changed_policy(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf(), changed[4];
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.attempts = 2;
    for (int i = 0; i < 4; i++)
        changed[i] = conf;
    changed[0].budget.window_ns = 20 * S;
    changed[1].budget.kind = BIDE_BUDGET_QUOTA; /* 500 tokens, 5 each */
    changed[2].budget.kind = BIDE_BUDGET_QUOTA;
    changed[2].budget.capacity = 40;
    changed[3].budget.kind = BIDE_BUDGET_THROTTLE;
    static const int64_t left[] = { 10, 50, 4, 0 };
    for (int i = 0; i < 4; i++) {
        int fd = new_file(&conf);
        struct side a, b, c;
        int64_t now = 100 * S;
        bide_dep *one = join(&a, fd, &conf, false);
        for (int n = 0; n < 5; n++)
            assert_int_equal(fail_all(one, &now), BIDE_BECAUSE_ATTEMPTS);
        bide_dep *two = join(&b, fd, &changed[i], true);
        assert_int_equal(bide_dep_budget_left(two, now), left[i]);
        bide_dep *three = join(&c, fd, &changed[i], true); /* now it fits */
        assert_int_equal(bide_dep_budget_left(three, now), left[i]);
        close(fd);
    }
}

static void shared_open_breaker_stays_open_under_a_changed_policy(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    conf.budget.kind = BIDE_BUDGET_OFF;
    conf.breaker.min_calls = 4;
    int fd = new_file(&conf);
    struct side a, b;
    int64_t now = 100 * S;
    bide_dep *one = join(&a, fd, &conf, false);
    fail_all(one, &now);
    assert_int_equal(bide_dep_breaker(one, now), BIDE_BREAKER_OPEN);
    conf.breaker.window_ns = 20 * S;
    bide_dep *two = join(&b, fd, &conf, true);
    assert_int_equal(bide_dep_breaker(two, now), BIDE_BREAKER_OPEN);
    close(fd);
}

static void shared_state_off_its_line_is_refused(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    int fd = new_file(&conf);
    struct side s = { .shift = 8 };
    bide_dep *dep = NULL;
    assert_int_equal(try_join(&s, fd, &conf, false, &dep), BIDE_EINVAL);
    assert_null(dep);
    close(fd);
}

/* A process begins calls, and is no more. */
static void leave_things_behind(bide_dep *dep, int64_t now)
{
    static bide_call left[3];
    bide_outcome out = { .cls = BIDE_TRANSIENT };
    for (int i = 0; i < 3; i++) {
        bide_call_begin(&left[i], dep, &(bide_op){ .idempotent = true }, now);
        bide_decision d = bide_call_next(&left[i], now);
        if (i == 0 && d.action == BIDE_TRY) {
            bide_call_report(&left[i], d.attempt, &out, now);
            bide_call_next(&left[i], now);
        }
    }
}

static void shared_places_of_the_dead_return_when_alone(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.budget.kind = BIDE_BUDGET_IN_FLIGHT;
    conf.backoff.base_ns = conf.backoff.floor_ns = conf.backoff.cap_ns = S;
    conf.limits.in_flight = 2;
    conf.limits.queue = 5;
    int fd = new_file(&conf);
    struct side a, b, c;
    leave_things_behind(join(&a, fd, &conf, false), S);

    bide_dep *beside = join(&b, fd, &conf, false);
    assert_int_equal(beside->places.used, 2);
    assert_int_equal(beside->budget.calls, 3);
    assert_int_equal(beside->budget.level, 1);
    bide_dep *alone = join(&c, fd, &conf, true);
    assert_int_equal(alone->places.used, 0);
    assert_int_equal(alone->places.queued, 0);
    assert_int_equal(alone->budget.calls, 0);
    assert_int_equal(alone->budget.level, 0);
    close(fd);
}

/* Killed between adding to the total and noting it in a slot. */
static void shared_unit_of_the_dead_returns_when_alone(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    conf.breaker.kind = BIDE_BREAKER_OFF;
    int fd = new_file(&conf);
    struct side a, b;
    bide_dep *one = join(&a, fd, &conf, false);
    int64_t now = 100 * S;
    fail_all(one, &now);
    assert_int_equal(bide_dep_budget_left(one, now), 7);
    atomic_fetch_add(&one->budget.spend.total, 7);
    assert_int_equal(bide_dep_budget_left(one, now + 60 * S), 3);
    bide_dep *two = join(&b, fd, &conf, true);
    assert_int_equal(bide_dep_budget_left(two, now), 7);
    assert_int_equal(bide_dep_budget_left(two, now + 60 * S), 10);
    close(fd);
}

/* The ring holds the results; its sums may be those of somebody half done. */
static void shared_ring_is_summed_up_when_alone(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    conf.budget.kind = BIDE_BUDGET_OFF;
    conf.breaker.kind = BIDE_BREAKER_COUNT;
    int fd = new_file(&conf);
    struct side a, b;
    bide_dep *one = join(&a, fd, &conf, false);
    int64_t now = 100 * S;
    fail_all(one, &now);
    bide_breaker_view before, after;
    bide_dep_breaker_view(one, now, &before);
    assert_int_equal(before.failed, 4);
    atomic_fetch_add(&one->breaker.ring_sums, 0x000300020001);
    atomic_store(&one->breaker.probe[1], 1000 * S);
    bide_dep *two = join(&b, fd, &conf, true);
    bide_dep_breaker_view(two, now, &after);
    assert_int_equal(after.state, before.state);
    assert_int_equal(after.attempts, before.attempts);
    assert_int_equal(after.failed, before.failed);
    assert_int_equal(after.slow, before.slow);
    assert_int_equal(atomic_load(&one->breaker.probe[1]), 0);
    close(fd);
}

/* ===== damage ===== */

static bool tries(bide_dep *dep, int64_t now)
{
    bide_call call;
    bide_call_begin(&call, dep, &(bide_op){ .idempotent = true }, now);
    bool tried = bide_call_next(&call, now).action == BIDE_TRY;
    bide_call_end(&call, now);
    return tried;
}

static void regress_shared_breaker_in_no_state_is_refused(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    int fd = new_file(&conf);
    struct side a, b = { .fd = fd };
    bide_dep *dep = join(&a, fd, &conf, false), *late = NULL;
    atomic_store(&dep->breaker.control, INT64_MAX); /* state 3 */
    assert_int_equal(try_join(&b, fd, &conf, true, &late), BIDE_ESTATE);
    close(fd);
}

/* The last probe has reported, and was killed before it closed the breaker. */
static void regress_shared_probes_begin_anew_when_alone(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    int fd = new_file(&conf);
    struct side a, b;
    bide_dep *dep = join(&a, fd, &conf, false);
    atomic_store(&dep->breaker.control,
                 (uint64_t)conf.breaker.probes << 17 | BIDE_BREAKER_HALF_OPEN);
    assert_false(tries(dep, 100 * S));
    assert_true(tries(join(&b, fd, &conf, true), 100 * S));
    close(fd);
}

static void regress_shared_gate_is_open_when_alone(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf();
    int fd = new_file(&conf);
    struct side a, b;
    bide_dep *dep = join(&a, fd, &conf, false);
    atomic_store(&dep->gate.control, UINT64_C(4) * S | BIDE__GATE_SHUT);
    atomic_store(&dep->gate.knock_at_ns, INT64_MAX);
    atomic_fetch_or(&dep->breaker.mode, BIDE__GATE_ASK | BIDE__GATE_TELL);
    assert_false(tries(dep, 100 * S));
    assert_true(tries(join(&b, fd, &conf, true), 100 * S));
    close(fd);
}

/* Counts that two processes have together, and a third one with another policy
 * after them, are one instance's; those of another memory are not, though the
 * seeds are the same. */
static void regress_shared_counts_are_one_instance_of_a_fleet(void **state)
{
    (void)state;
    bide_policy_conf conf = small_conf(), changed = conf;
    changed.budget.window_ns = 20 * S;
    int fd = new_file(&conf), other = new_file(&conf);
    const struct {
        int fd;
        const bide_policy_conf *conf;
        bool alone;
    } rows[] = { { fd, &conf, false },
                 { fd, &conf, false },
                 { fd, &changed, true },
                 { other, &conf, false } };
    uint64_t instance[4];
    for (int i = 0; i < 4; i++) {
        struct side side;
        bide_share share;
        bide_share_row row;
        bide_dep *dep = join(&side, rows[i].fd, rows[i].conf, rows[i].alone);
        assert_int_equal(bide_share_init(&share, dep, 1), 0);
        bide_share_report(&share, S, &row);
        instance[i] = row.instance;
    }
    assert_true(instance[0] != 0 && instance[3] != 0);
    assert_true(instance[1] == instance[0] && instance[2] == instance[0]);
    assert_true(instance[3] != instance[0]);
    close(fd);
    close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_size_is_a_part_of_the_whole),
        cmocka_unit_test(shared_budget_is_one),
        cmocka_unit_test(shared_breaker_opens_for_all),
        cmocka_unit_test(shared_switch_turns_retries_off_for_all),
        cmocka_unit_test(shared_quota_starts_once),
        cmocka_unit_test(shared_state_of_another_shape_is_refused),
        cmocka_unit_test(shared_budget_stays_spent_under_a_changed_policy),
        cmocka_unit_test(shared_open_breaker_stays_open_under_a_changed_policy),
        cmocka_unit_test(shared_state_off_its_line_is_refused),
        cmocka_unit_test(shared_places_of_the_dead_return_when_alone),
        cmocka_unit_test(shared_unit_of_the_dead_returns_when_alone),
        cmocka_unit_test(shared_ring_is_summed_up_when_alone),
        cmocka_unit_test(regress_shared_breaker_in_no_state_is_refused),
        cmocka_unit_test(regress_shared_probes_begin_anew_when_alone),
        cmocka_unit_test(regress_shared_gate_is_open_when_alone),
        cmocka_unit_test(regress_shared_counts_are_one_instance_of_a_fleet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
