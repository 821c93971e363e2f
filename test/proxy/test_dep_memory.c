/* Breakers and budgets that outlive their process: by a second opening of the
 * file, which is all that a process after a crash is, and by processes that are
 * killed at any moment. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "proxy/dep_memory.h"

#define NAME "up/default"
static const int64_t now = 1000 * BIDE_SECOND;

/* A process, as the file sees it. */
struct process {
    struct dep_memory *memory;
    struct dep_block block;
    bide_dep *dep;
};

static int make(struct process *p, const bide_policy_conf *policy)
{
    return dep_memory_make(p->memory, &p->block, &p->dep, NAME, policy,
                           &(bide_host){ .ctx = &p->block });
}

static void begin(struct process *p, int fd, unsigned seat, uint32_t others,
                  const bide_policy_conf *policy)
{
    p->memory = dep_memory_open(fd, seat, others);
    assert_non_null(p->memory);
    assert_int_equal(make(p, policy), 0);
    assert_non_null(p->block.memory);
    dep_memory_sweep(p->memory);
}

static void end(struct process *p)
{
    dep_memory_release(&p->block, p->dep);
    dep_memory_free(p->memory);
}

/* One attempt that fails, or one that is left running. */
static void attempt(bide_dep *dep, bool leave)
{
    bide_call call;
    bide_outcome out = { .cls = BIDE_TRANSIENT };
    bide_call_begin(&call, dep, &(bide_op){ .idempotent = true }, now);
    bide_decision d = bide_call_next(&call, now);
    if (d.action != BIDE_TRY || leave)
        return;
    bide_call_report(&call, d.attempt, &out, now);
    bide_call_end(&call, now);
}

static bide_policy_conf breaking(void)
{
    bide_policy_conf c = BIDE_POLICY_CONF_INIT;
    c.attempts = 1;
    c.breaker.consecutive = 3;
    c.breaker.open_ns = BIDE_MINUTE;
    return c;
}

static void dep_memory_open_breaker_stays_open(void **unused)
{
    bide_policy_conf policy = breaking();
    int fd = dep_memory_file();
    struct process a, b;
    (void)unused;

    begin(&a, fd, 0, 0, &policy);
    for (int i = 0; i < 3; i++)
        attempt(a.dep, false);
    assert_int_equal(bide_dep_breaker(a.dep, now), BIDE_BREAKER_OPEN);
    begin(&b, fd, 0, 0, &policy); /* a is dead */
    assert_int_equal(bide_dep_breaker(b.dep, now), BIDE_BREAKER_OPEN);
    end(&b);
    policy.breaker.open_ns /= 2;
    begin(&b, fd, 0, 0, &policy);
    assert_int_equal(bide_dep_breaker(b.dep, now), BIDE_BREAKER_CLOSED);
    end(&b);
    end(&a);
    close(fd);
}

/* The file was edited while nobody served: no reason to close a breaker. */
static void dep_memory_changed_policy_takes_over(void **unused)
{
    bide_policy_conf policy = breaking();
    int fd = dep_memory_file();
    struct process a, b, c;
    (void)unused;

    begin(&a, fd, 0, 0, &policy);
    for (int i = 0; i < 3; i++)
        attempt(a.dep, false);
    policy.budget.window_ns *= 2;
    begin(&c, fd, 1, 1, &policy); /* beside it: that one still uses its own */
    assert_int_equal(bide_dep_breaker(c.dep, now), BIDE_BREAKER_CLOSED);
    end(&c);
    begin(&b, fd, 0, 0, &policy); /* a is dead */
    assert_int_equal(bide_dep_breaker(b.dep, now), BIDE_BREAKER_OPEN);
    end(&b);
    end(&a);
    close(fd);
}

static void dep_memory_spent_budget_stays_spent(void **unused)
{
    bide_policy_conf policy = BIDE_POLICY_CONF_INIT;
    int fd = dep_memory_file();
    struct process a, b;
    (void)unused;

    policy.breaker.kind = BIDE_BREAKER_OFF;
    begin(&a, fd, 0, 0, &policy);
    int64_t full = bide_dep_budget_left(a.dep, now);
    for (int i = 0; i < 3; i++) {
        bide_call call;
        bide_outcome out = { .cls = BIDE_TRANSIENT };
        bide_call_begin(&call, a.dep, &(bide_op){ .idempotent = true }, now);
        bide_decision d = bide_call_next(&call, now);
        bide_call_report(&call, d.attempt, &out, now);
        bide_call_next(&call, now); /* a retry is paid for */
    }
    int64_t left = bide_dep_budget_left(a.dep, now);
    assert_true(left < full);
    begin(&b, fd, 1, 1, &policy);
    assert_int_equal(bide_dep_budget_left(b.dep, now), left);
    end(&b);
    end(&a);
    close(fd);
}

static void dep_memory_dead_hold_no_places(void **unused)
{
    bide_policy_conf policy = breaking();
    int fd = dep_memory_file();
    struct process a, b, c;
    bide_stats stats;
    (void)unused;

    policy.limits.in_flight = 2;
    begin(&a, fd, 0, 0, &policy);
    attempt(a.dep, true);
    attempt(a.dep, true);
    begin(&b, fd, 1, 1, &policy); /* beside it, as in an upgrade */
    bide_dep_stats(b.dep, now, &stats);
    assert_int_equal(stats.in_flight, 2);
    end(&b);
    begin(&c, fd, 0, 0, &policy); /* after its death */
    bide_dep_stats(c.dep, now, &stats);
    assert_int_equal(stats.in_flight, 0);
    end(&c);
    end(&a);
    close(fd);
}

static off_t size_of(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return st.st_size;
}

static void dep_memory_reloads_do_not_add_up(void **unused)
{
    bide_policy_conf policy = breaking();
    int fd = dep_memory_file();
    struct process p;
    off_t size = 0;
    (void)unused;

    begin(&p, fd, 0, 0, &policy);
    for (int i = 0; i < 3000; i++) {
        struct process next = { .memory = p.memory };
        policy.attempts = 2 + (uint32_t)i;
        assert_int_equal(make(&next, &policy), 0);
        assert_non_null(next.block.memory);
        dep_memory_release(&p.block, p.dep);
        dep_memory_sweep(p.memory);
        p = next;
        if (i == 10)
            size = size_of(fd);
    }
    assert_int_equal(size_of(fd), size);
    end(&p);
    close(fd);
}

/* Two dependencies of one process may lie in one entry: a policy that was
 * changed and changed back while requests of the first were running. */
static void dep_memory_twice_in_one_process(void **unused)
{
    bide_policy_conf policy = breaking();
    int fd = dep_memory_file();
    struct process a, b;
    (void)unused;

    begin(&a, fd, 0, 0, &policy);
    b.memory = a.memory;
    assert_int_equal(make(&b, &policy), 0);
    dep_memory_release(&a.block, a.dep);
    dep_memory_sweep(b.memory);
    for (int i = 0; i < 3; i++)
        attempt(b.dep, false);
    assert_int_equal(bide_dep_breaker(b.dep, now), BIDE_BREAKER_OPEN);
    end(&b);
    close(fd);
}

/* Takes on one configuration after the other until it is killed. */
/* Its totals are counted on from the one before (carried_totals.c): with those of its own
 * earlier time they would count twice. */
static void regress_dep_memory_policy_that_comes_back_counts_once(void **unused)
{
    bide_policy_conf policy = BIDE_POLICY_CONF_INIT;
    int fd = dep_memory_file();
    struct process a, again, after;
    bide_stats stats = { 0 };
    (void)unused;

    begin(&a, fd, 0, 0, &policy);
    attempt(a.dep, false);
    again = a;
    assert_int_equal(make(&again, &policy), 0); /* beside a, which is not gone */
    assert_int_equal(bide_dep_stats(again.dep, now, &stats), 0);
    assert_int_equal(stats.calls, 0);
    dep_memory_release(&a.block, a.dep);
    attempt(again.dep, false);
    attempt(again.dep, false);
    begin(&after, fd, 0, 0, &policy); /* the process has died: the last counts */
    assert_int_equal(bide_dep_stats(after.dep, now, &stats), 0);
    assert_int_equal(stats.calls, 2);
    end(&after);
    end(&again);
    close(fd);
}

static void work_until_killed(int fd, unsigned seat)
{
    struct process p = { .memory = dep_memory_open(fd, seat, 0) };
    for (uint32_t i = 0;; i++) {
        bide_policy_conf policy = breaking();
        policy.attempts = 1 + i % 5;
        if (make(&p, &policy) < 0)
            _exit(1);
        attempt(p.dep, i % 2);
        dep_memory_sweep(p.memory);
        dep_memory_release(&p.block, p.dep);
    }
}

static void dep_memory_killed_at_any_moment(void **unused)
{
    enum { ROUNDS = 200 };
    int fd = dep_memory_file();
    bide_policy_conf policy = breaking();
    int rounds = getenv("BIDE_TEST_VALGRIND") ? 5 : ROUNDS;
    (void)unused;

    srand(11);
    for (int i = 0; i < rounds; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            work_until_killed(fd, 0);
        nanosleep(&(struct timespec){ 0, rand() % 2000000 }, NULL);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        struct process p;
        begin(&p, fd, 0, 0, &policy);
        bide_stats stats;
        bide_dep_stats(p.dep, now, &stats);
        assert_int_equal(stats.in_flight, 0);
        end(&p);
    }
    close(fd);
}

/* No file, or one that is not ours: memory of its own will do. */
static void dep_memory_does_without(void **unused)
{
    bide_policy_conf policy = breaking();
    struct process p = { .memory = NULL };
    int fd = dep_memory_file();
    (void)unused;

    assert_int_equal(write(fd, "something else, much longer than a magic", 40),
                     40);
    assert_null(dep_memory_open(fd, 0, 0));
    assert_int_equal(make(&p, &policy), 0);
    assert_null(p.block.memory);
    end(&p);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dep_memory_open_breaker_stays_open),
        cmocka_unit_test(dep_memory_changed_policy_takes_over),
        cmocka_unit_test(dep_memory_spent_budget_stays_spent),
        cmocka_unit_test(dep_memory_dead_hold_no_places),
        cmocka_unit_test(dep_memory_reloads_do_not_add_up),
        cmocka_unit_test(dep_memory_twice_in_one_process),
        cmocka_unit_test(
            regress_dep_memory_policy_that_comes_back_counts_once),
        cmocka_unit_test(dep_memory_killed_at_any_moment),
        cmocka_unit_test(dep_memory_does_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
