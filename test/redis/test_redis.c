/* test_redis.c: the connection, against a real server (test/tools/with_redis.py). */
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bide/run.h"
#include "store/redis/redis.h"

static struct redis *new_redis(const char *variable, const char *more)
{
    struct redis_url url;
    char text[512], why[REDIS_WHY];
    snprintf(text, sizeof text, "%s%s", getenv(variable), more);
    assert_int_equal(redis_url_read(&url, text, why), 0);
    return redis_new(&url);
}

static int64_t in(int64_t wait)
{
    return bide_now_ns() + wait;
}

static void connected_by_socket_and_port(void **state)
{
    (void)state;
    static const char *const ways[][2] = {
        { "BIDE_TEST_REDIS", "" },
        { "BIDE_TEST_REDIS", "?db=3" },
        { "BIDE_TEST_REDIS_TCP", "" },
        { "BIDE_TEST_REDIS_TCP", "/3" },
    };
    for (size_t i = 0; i < COUNT(ways); i++) {
        struct redis *r = new_redis(ways[i][0], ways[i][1]);
        assert_int_equal(redis_connect(r, in(10 * S)), 0);
        assert_true(redis_is_connected(r));
        redis_free(r);
    }
}

static void pipeline_of_many_is_answered_in_order(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    struct redis *r = new_redis("BIDE_TEST_REDIS", "");
    struct redis_reply reply;
    char *big = calloc(1, 1 << 20);
    assert_int_equal(redis_connect(r, in(10 * S)), 0);
    for (int i = 0; i < MANY; i++) {
        redis_command(r, 2);
        redis_arg(r, "ECHO");
        redis_arg_int(r, i);
    }
    redis_command(r, 2);
    redis_arg(r, "ECHO");
    redis_arg_bytes(r, big, 1 << 20);
    for (int i = 0; i < MANY; i++) {
        int64_t n = -1;
        assert_int_equal(redis_next(r, in(30 * S), &reply), 0);
        assert_true(redis_reply_int(&reply, &n));
        assert_int_equal(n, i);
    }
    assert_int_equal(redis_next(r, in(30 * S), &reply), 0);
    assert_int_equal(reply.len, 1 << 20);
    assert_int_equal(redis_pending(r), 0);
    free(big);
    redis_free(r);
}

static void script_that_is_gone_is_loaded_again(void **state)
{
    (void)state;
    struct redis *r = new_redis("BIDE_TEST_REDIS", "");
    struct redis_script s = { .text = "return KEYS[1] .. ARGV[1]" };
    struct redis_reply reply;
    assert_int_equal(redis_connect(r, in(10 * S)), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(redis_script_load(r, &s, in(10 * S)), 0);
        redis_script_begin(r, &s, 1, 1);
        redis_arg(r, "a");
        redis_arg(r, "b");
        assert_int_equal(redis_next(r, in(10 * S), &reply), 0);
        assert_true(redis_reply_begins(&reply, "ab"));
        redis_command(r, 2);
        redis_arg(r, "SCRIPT");
        redis_arg(r, "FLUSH");
        assert_int_equal(redis_next(r, in(10 * S), &reply), 0);
        redis_script_begin(r, &s, 1, 1);
        redis_arg(r, "a");
        redis_arg(r, "b");
        assert_int_equal(redis_next(r, in(10 * S), &reply), 0);
        assert_true(redis_script_gone(&reply));
        redis_script_forget(&s);
    }
    redis_free(r);
}

static void wrong_password_is_named(void **state)
{
    (void)state;
    struct redis_url url;
    char why[REDIS_WHY], text[512];
    snprintf(text, sizeof text, "redis://:hidden@%s",
             getenv("BIDE_TEST_REDIS_TCP") + strlen("redis://"));
    assert_int_equal(redis_url_read(&url, text, why), 0);
    struct redis *r = redis_new(&url);
    assert_int_equal(redis_connect(r, in(10 * S)), -1);
    assert_non_null(strstr(redis_why(r), "AUTH"));
    assert_null(strstr(redis_why(r), "hidden"));
    assert_true(redis_retry_at(r) > 0);
    redis_free(r);
}

/* However often nobody is there. */
static void longest_wait_between_two_tries_is_kept(void **state)
{
    (void)state;
    struct redis_url url;
    char why[REDIS_WHY];
    assert_int_equal(redis_url_read(&url, "unix:/nonexistent/redis.sock", why), 0);
    struct redis *r = redis_new(&url);
    redis_longest_wait(r, 300 * MS);
    for (int i = 0; i < 40; i++) {
        redis_retry_now(r);
        assert_int_equal(redis_connect(r, in(10 * S)), -1);
        assert_true(redis_retry_at(r) <= in(300 * MS));
    }
    redis_free(r);
}

static void stopped_server_costs_the_deadline_and_the_connection(void **state)
{
    (void)state;
    struct redis *r = new_redis("BIDE_TEST_REDIS", "");
    pid_t pid = (pid_t)atoi(getenv("BIDE_TEST_REDIS_PID"));
    struct redis_reply reply;
    assert_int_equal(redis_connect(r, in(10 * S)), 0);
    uint64_t first = redis_connection(r);
    assert_int_equal(kill(pid, SIGSTOP), 0);
    redis_command(r, 1);
    redis_arg(r, "PING");
    int rc = redis_next(r, in(100 * MS), &reply);
    kill(pid, SIGCONT);
    assert_int_equal(rc, -1);
    assert_false(redis_is_connected(r));
    assert_non_null(strstr(redis_why(r), "no answer in time"));
    assert_int_equal(redis_connect(r, in(10 * S)), 0);
    assert_int_not_equal(redis_connection(r), first);
    redis_free(r);
}

static void nobody_there_is_asked_again_later(void **state)
{
    (void)state;
    struct redis_url url;
    char why[REDIS_WHY];
    assert_int_equal(redis_url_read(&url, "unix:/nonexistent/r.sock", why), 0);
    struct redis *r = redis_new(&url);
    assert_int_equal(redis_connect(r, in(S)), -1);
    assert_non_null(strstr(redis_why(r), "No such file"));
    redis_free(r);
}

/* Answers PING, reads nothing more, and talks twice as long as any reply may be. */
static void talk(int listener)
{
    static char many[1 << 20];
    int fd = accept(listener, NULL, NULL);
    ssize_t n = read(fd, many, sizeof many);
    memset(many, 'a', sizeof many);
    if (n > 0 && send(fd, "+PONG\r\n", 7, MSG_NOSIGNAL) == 7)
        for (int i = 0; i < 128 && n > 0; i++)
            n = send(fd, many, sizeof many, MSG_NOSIGNAL);
    close(fd);
}

static void server_that_only_talks_is_left(void **state)
{
    (void)state;
    char dir[] = "/tmp/bide-redis-XXXXXX", text[64], why[REDIS_WHY];
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    struct redis_url url;
    assert_non_null(mkdtemp(dir));
    snprintf(at.sun_path, sizeof at.sun_path, "%s/s", dir);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 1), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        talk(listener);
        _exit(0);
    }
    snprintf(text, sizeof text, "unix:%s", at.sun_path);
    assert_int_equal(redis_url_read(&url, text, why), 0);
    struct redis *r = redis_new(&url);
    char *big = calloc(1, 8 << 20);
    assert_int_equal(redis_connect(r, in(30 * S)), 0);
    redis_command(r, 2);
    redis_arg(r, "ECHO");
    redis_arg_bytes(r, big, 8 << 20);
    assert_int_equal(redis_send(r, in(30 * S)), -1);
    assert_non_null(strstr(redis_why(r), "more than was asked for"));
    redis_free(r);
    free(big);
    close(listener);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    unlink(at.sun_path);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connected_by_socket_and_port),
        cmocka_unit_test(pipeline_of_many_is_answered_in_order),
        cmocka_unit_test(script_that_is_gone_is_loaded_again),
        cmocka_unit_test(wrong_password_is_named),
        cmocka_unit_test(longest_wait_between_two_tries_is_kept),
        cmocka_unit_test(stopped_server_costs_the_deadline_and_the_connection),
        cmocka_unit_test(nobody_there_is_asked_again_later),
        cmocka_unit_test(server_that_only_talks_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
