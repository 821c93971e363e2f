/* The event loop's tasks and timers: in which order, how often, and never
 * inside one another; and that nothing is heard of what was closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "bide/policy.h"
#include "net/loop.h"

static struct net_loop loop;
static int64_t now_ns;
static int64_t fake_clock(void)
{
    return now_ns;
}

static char said[64];
static struct net_task a, b;
static int inside;

static void say(char what)
{
    size_t n = strlen(said);
    assert_true(n + 1 < sizeof said);
    said[n] = what;
}

static void run_a(struct net_task *t)
{
    assert_int_equal(inside++, 0);
    say('a');
    net_task_later(&loop, t);  /* itself: next time */
    net_task_later(&loop, &b); /* another: is queued, or next time */
    inside--;
}

static void run_b(struct net_task *t)
{
    (void)t;
    assert_int_equal(inside++, 0);
    say('b');
    inside--;
}

static void fire(struct net_timer *t)
{
    (void)t;
    say('t');
}

static int setup(void **unused)
{
    (void)unused;
    memset(said, 0, sizeof said);
    a = (struct net_task){ .run = run_a };
    b = (struct net_task){ .run = run_b };
    if (net_loop_init(&loop) < 0)
        return -1;
    now_ns = loop.now_ns;
    loop.clock_ns = fake_clock;
    return 0;
}

static int teardown(void **unused)
{
    (void)unused;
    net_loop_done(&loop);
    return 0;
}

static void loop_tasks_run_once_a_turn(void **unused)
{
    (void)unused;
    net_task_later(&loop, &a);
    net_task_later(&loop, &a);
    net_loop_poll(&loop);
    assert_string_equal(said, "a");
    net_loop_poll(&loop); /* a and b were queued by a */
    assert_string_equal(said, "aab");
    net_loop_step(&loop); /* with tasks waiting it does not wait */
    assert_string_equal(said, "aaba");
}

static void loop_cancelled_task_does_not_run(void **unused)
{
    (void)unused;
    net_task_later(&loop, &a);
    net_task_later(&loop, &b);
    net_task_cancel(&a);
    net_task_cancel(&a);
    net_loop_poll(&loop);
    assert_string_equal(said, "b");
}

static void loop_timers_fire_when_due(void **unused)
{
    struct net_timer t = { .fire = fire };
    (void)unused;
    net_timer_set(&loop, &t, now_ns + 5 * BIDE_MILLISECOND);
    now_ns += 4 * BIDE_MILLISECOND;
    net_loop_poll(&loop);
    assert_string_equal(said, "");
    now_ns += 3 * BIDE_MILLISECOND;
    net_loop_poll(&loop);
    net_loop_poll(&loop);
    assert_string_equal(said, "t");
    net_timer_cancel(&loop, &t);
}

/* The last of an iteration: after the timers, and with the tasks that it queues. */
static void run_last(struct net_task *t)
{
    (void)t;
    say('z');
    net_task_later(&loop, &b);
}

static void loop_last_tasks_run_after_all_else(void **unused)
{
    struct net_timer t = { .fire = fire };
    struct net_task last = { .run = run_last }, gone = { .run = run_last };
    (void)unused;
    net_timer_set(&loop, &t, now_ns + BIDE_MILLISECOND);
    now_ns += 2 * BIDE_MILLISECOND;
    net_task_last(&loop, &last);
    net_task_last(&loop, &last);
    net_task_last(&loop, &gone);
    net_task_later(&loop, &b);
    net_task_cancel(&gone);
    net_loop_step(&loop); /* it does not wait, either */
    assert_string_equal(said, "btzb");
    net_timer_cancel(&loop, &t);
}

static int buried;
static void bury(void *user, struct net_grave *grave)
{
    (void)user;
    (void)grave;
    buried++;
}

static void loop_graves_last_until_the_turn_is_over(void **unused)
{
    struct net_grave grave;
    (void)unused;
    net_loop_bury(&loop, &grave, bury);
    assert_int_equal(buried, 0);
    net_loop_poll(&loop);
    assert_int_equal(buried, 1);
}

static void hear(struct net_io *io, unsigned events)
{
    (void)io;
    (void)events;
    say('h');
}

/* A child that was forked holds a copy until it runs its program, and the kernel
 * reports what happens to a copy: to memory that may be somebody else's now. */
static void loop_closed_is_not_heard_of_while_a_copy_is_open(void **unused)
{
    (void)unused;
    int pair[2], copy;
    struct net_io io = { .ready = hear };

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    copy = dup(pair[0]);
    assert_true(copy >= 0);
    assert_int_equal(net_loop_add(&loop, &io, pair[0]), 0);
    net_loop_poll(&loop);
    assert_string_equal(said, "h"); /* it can be written to */
    net_io_close(&io);
    assert_int_equal(io.fd, -1);
    io.fd = copy; /* as if the memory belonged to another */
    assert_int_equal(send(pair[1], "x", 1, 0), 1);
    net_loop_poll(&loop);
    assert_string_equal(said, "h");
    close(copy);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loop_tasks_run_once_a_turn, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(loop_cancelled_task_does_not_run, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(loop_timers_fire_when_due, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(loop_last_tasks_run_after_all_else,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            loop_closed_is_not_heard_of_while_a_copy_is_open, setup, teardown),
        cmocka_unit_test_setup_teardown(loop_graves_last_until_the_turn_is_over,
                                        setup, teardown),
    };
    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
