/* test_sink.c: whoever logs never waits, every line is whole, and each that is
 * missing is counted. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/event/sink.h"

enum { RING = 1 << 16, LINE = 64 };

static char directory[] = "/tmp/bide-sink-XXXXXX";
static char text[1 << 22];

static const char *path_of(const char *name)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static struct bide__sink *sink_to(const char *where, size_t n)
{
    char why[256] = "";
    struct bide__target *to = bide__target_new(where, why, sizeof why);
    if (!to)
        fail_msg("%s", why);
    struct bide__sink *sink = bide__sink_new(to, n, RING);
    assert_non_null(sink);
    return sink;
}

/* "7 1234 xxx...\n", always as long. */
static void put_line(struct bide__lines *l, int who, int number)
{
    char *to = bide__lines_room(l, LINE);
    if (!to)
        return;
    int n = snprintf(to, LINE, "%d %d ", who, number);
    memset(to + n, 'x', (size_t)(LINE - n));
    to[LINE - 1] = '\n';
    bide__lines_add(l, LINE);
}

static void put_lines(struct bide__lines *l, int who, int n)
{
    for (int i = 0; i < n; i++)
        put_line(l, who, i);
    bide__lines_flush(l);
}

/* Whether all of it is such lines; how many. */
static int whole_lines(const char *at, size_t len)
{
    int n = 0;
    for (; len > 0; n++, at += LINE, len -= LINE) {
        assert_true(len >= LINE && at[LINE - 1] == '\n' && at[LINE - 2] == 'x');
        assert_null(memchr(at, '\n', LINE - 1));
    }
    return n;
}

static size_t read_file(const char *path)
{
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    return len;
}

static void settle(struct bide__sink *sink)
{
    struct bide__lines *l = bide__sink_lines(sink, 0);
    while (atomic_load(&l->read) != atomic_load(&l->written))
        sched_yield();
}

/* ===== files ===== */

static void sink_file_gets_every_line(void **state)
{
    const char *path = path_of("file");
    struct bide__sink *sink = sink_to(path, 1);

    (void)state;
    for (int round = 0; round < 100; round++) { /* through the ring's end */
        put_lines(bide__sink_lines(sink, 0), 1, 77);
        settle(sink);
    }
    assert_int_equal(bide__sink_dropped(sink), 0);
    bide__sink_free(sink);
    assert_int_equal(whole_lines(text, read_file(path)), 7700);
}

/* A limit on files stands for a disk: part of what is written fits. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void sink_full_disk_leaves_no_torn_line(void **state)
{
    const char *path = path_of("full");
    struct bide__sink *sink = sink_to(path, 1);

    (void)state;
    limit_files(10 * LINE + LINE / 2);
    for (int i = 0; i < 3; i++) {
        put_lines(bide__sink_lines(sink, 0), 1, 25);
        settle(sink);
    }
    assert_int_equal(bide__sink_dropped(sink), 65);
    assert_int_equal(whole_lines(text, read_file(path)), 10);
    limit_files(RLIM_INFINITY);
    put_lines(bide__sink_lines(sink, 0), 1, 5);
    bide__sink_free(sink);
    assert_int_equal(whole_lines(text, read_file(path)), 15);
}

static void sink_that_takes_nothing_is_counted(void **state)
{
    struct bide__sink *sink = sink_to("/dev/full", 1);

    (void)state;
    put_lines(bide__sink_lines(sink, 0), 1, 25);
    settle(sink);
    assert_int_equal(bide__sink_dropped(sink), 25);
    bide__sink_free(sink);
}

static void sink_goes_over_to_another_target(void **state)
{
    char old[128], why[256];
    struct stat st;
    struct bide__sink *sink = sink_to(path_of("moved"), 1);

    (void)state;
    put_lines(bide__sink_lines(sink, 0), 1, 3);
    settle(sink);
    snprintf(old, sizeof old, "%s", path_of("moved.1"));
    assert_int_equal(rename(path_of("moved"), old), 0);
    bide__sink_use(sink, bide__target_new(path_of("moved"), why, sizeof why));
    while (atomic_load(&bide__sink_lines(sink, 0)->read) == 0 ||
           stat(path_of("moved"), &st) != 0 || st.st_size == 0) {
        put_lines(bide__sink_lines(sink, 0), 2, 1);
        settle(sink);
    }
    bide__sink_free(sink);
    assert_true(whole_lines(text, read_file(old)) >= 3);
    assert_true(whole_lines(text, read_file(path_of("moved"))) >= 1);
    assert_true(text[0] == '2');
}

static void sink_says_what_cannot_be_opened(void **state)
{
    static const char *const rows[] = { "/nonexistent/x", "syslog:/nonexistent",
                                        "/tmp" };
    char why[256];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_null(bide__target_new(rows[i], why, sizeof why));
        assert_non_null(strstr(why, rows[i]));
    }
}

/* ===== pipes ===== */

/* As a shell's: whoever writes to it waits, if it is full. */
static struct bide__sink *sink_to_pipe(int fd[2], size_t n)
{
    int before = dup(STDERR_FILENO);
    assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
    dup2(fd[1], STDERR_FILENO);
    struct bide__sink *sink = sink_to("stderr", n);
    dup2(before, STDERR_FILENO);
    close(before);
    fcntl(fd[0], F_SETFL, O_NONBLOCK);
    return sink;
}

static size_t read_pipe(int fd, size_t len)
{
    ssize_t n = read(fd, text + len, sizeof text - len);
    return len + (n > 0 ? (size_t)n : 0);
}

static void sink_full_pipe_is_not_waited_for(void **state)
{
    enum { ALL = 5000 };
    int fd[2];
    struct bide__sink *sink = sink_to_pipe(fd, 1);
    size_t len = 0;

    (void)state;
    put_lines(bide__sink_lines(sink, 0), 1, ALL); /* more than both hold */
    assert_true(bide__sink_dropped(sink) > 0);
    assert_int_equal(fcntl(fd[1], F_GETFL) & O_NONBLOCK, 0);
    while (len / LINE + bide__sink_dropped(sink) < ALL)
        len = read_pipe(fd[0], len);
    assert_int_equal((uint64_t)whole_lines(text, len) +
                         bide__sink_dropped(sink),
                     ALL);
    put_lines(bide__sink_lines(sink, 0), 2, 1); /* it goes on */
    while (len == read_pipe(fd[0], len))
        ;
    bide__sink_free(sink);
    close(fd[0]);
    close(fd[1]);
}

static void sink_full_pipe_does_not_hold_up_the_end(void **state)
{
    int fd[2];
    struct bide__sink *sink = sink_to_pipe(fd, 4);

    (void)state;
    for (size_t i = 0; i < 4; i++)
        put_lines(bide__sink_lines(sink, i), (int)i, 2000);
    bide__sink_free(sink);
    close(fd[0]);
    close(fd[1]);
}

static void sink_full_pipe_is_left_for_another_target(void **state)
{
    int fd[2];
    struct bide__sink *sink = sink_to_pipe(fd, 1);
    struct stat st;
    char why[256];

    (void)state;
    put_lines(bide__sink_lines(sink, 0), 1, 5000);
    bide__sink_use(sink, bide__target_new(path_of("instead"), why, sizeof why));
    do
        put_lines(bide__sink_lines(sink, 0), 2, 1);
    while (stat(path_of("instead"), &st) != 0 || st.st_size == 0);
    bide__sink_free(sink);
    assert_true(whole_lines(text, read_file(path_of("instead"))) > 0);
    close(fd[0]);
    close(fd[1]);
}

static void sink_pipe_without_a_reader_is_counted(void **state)
{
    int fd[2];
    struct bide__sink *sink = sink_to_pipe(fd, 1);

    (void)state;
    close(fd[0]);
    put_lines(bide__sink_lines(sink, 0), 1, 10);
    settle(sink);
    assert_int_equal(bide__sink_dropped(sink), 10);
    bide__sink_free(sink);
    close(fd[1]);
}

static void sink_fifo_waits_for_no_reader(void **state)
{
    const char *path = path_of("fifo");

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    struct bide__sink *sink = sink_to(path, 1);
    put_lines(bide__sink_lines(sink, 0), 1, 10);
    settle(sink);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    assert_int_equal(whole_lines(text, read_pipe(fd, 0)), 10);
    close(fd);
    bide__sink_free(sink);
}

/* ===== several at once ===== */

struct producer {
    pthread_t thread;
    struct bide__lines *lines;
    int who;
};

static void *produce(void *arg)
{
    struct producer *p = arg;
    for (int i = 0; i < 200; i++)
        put_lines(p->lines, p->who, 100);
    return NULL;
}

static void sink_lines_of_many_threads_are_whole(void **state)
{
    enum { N = 4, ALL = N * 200 * 100 };
    struct producer p[N];
    const char *path = path_of("many");
    struct bide__sink *sink = sink_to(path, N);

    (void)state;
    for (int i = 0; i < N; i++) {
        p[i].lines = bide__sink_lines(sink, (size_t)i);
        p[i].who = i;
        assert_int_equal(pthread_create(&p[i].thread, NULL, produce, &p[i]), 0);
    }
    for (int i = 0; i < N; i++)
        pthread_join(p[i].thread, NULL);
    uint64_t dropped = bide__sink_dropped(sink);
    bide__sink_free(sink);
    uint64_t n = 0;
    FILE *f = fopen(path, "re");
    size_t len;
    while ((len = fread(text, 1, 1000 * LINE, f)) > 0)
        n += (uint64_t)whole_lines(text, len);
    fclose(f);
    assert_int_equal(n + dropped, ALL);
}

/* ===== syslog ===== */

static int open_syslog(char *where, size_t size)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path_of("log"));
    unlink(at.sun_path);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    snprintf(where, size, "syslog:%s", at.sun_path);
    return fd;
}

static void sink_syslog_gets_a_datagram_for_each_line(void **state)
{
    char where[160], want[64];
    int fd = open_syslog(where, sizeof where);
    struct bide__sink *sink = sink_to(where, 1);

    (void)state;
    put_lines(bide__sink_lines(sink, 0), 1, 3);
    for (int i = 0; i < 3; i++) {
        text[recv(fd, text, sizeof text - 1, 0)] = '\0';
        snprintf(want, sizeof want, " bide[%ld]: 1 %d xxx", (long)getpid(), i);
        assert_memory_equal(text, "<30>", 4);
        assert_memory_equal(text + 4 + sizeof "Nov 16 17:45:53" - 1, want,
                            strlen(want));
        assert_null(strchr(text, '\n'));
    }
    close(fd); /* and it is started again */
    fd = open_syslog(where, sizeof where);
    put_lines(bide__sink_lines(sink, 0), 2, 1);
    text[recv(fd, text, sizeof text - 1, 0)] = '\0';
    assert_non_null(strstr(text, ": 2 0 xxx"));
    assert_int_equal(bide__sink_dropped(sink), 0);
    bide__sink_free(sink);
    close(fd);
}

static void sink_syslog_that_is_not_read_is_not_waited_for(void **state)
{
    enum { ALL = 5000 };
    char where[160];
    int fd = open_syslog(where, sizeof where), n = 0;
    struct bide__sink *sink = sink_to(where, 1);

    (void)state;
    put_lines(bide__sink_lines(sink, 0), 1, ALL);
    assert_true(bide__sink_dropped(sink) > 0);
    while ((uint64_t)n + bide__sink_dropped(sink) < ALL)
        n += recv(fd, text, sizeof text, MSG_DONTWAIT) > 0;
    put_lines(bide__sink_lines(sink, 0), 1, ALL);
    bide__sink_free(sink);
    close(fd);
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sink_file_gets_every_line),
        cmocka_unit_test(sink_full_disk_leaves_no_torn_line),
        cmocka_unit_test(sink_that_takes_nothing_is_counted),
        cmocka_unit_test(sink_goes_over_to_another_target),
        cmocka_unit_test(sink_says_what_cannot_be_opened),
        cmocka_unit_test(sink_full_pipe_is_not_waited_for),
        cmocka_unit_test(sink_full_pipe_does_not_hold_up_the_end),
        cmocka_unit_test(sink_full_pipe_is_left_for_another_target),
        cmocka_unit_test(sink_pipe_without_a_reader_is_counted),
        cmocka_unit_test(sink_fifo_waits_for_no_reader),
        cmocka_unit_test(sink_lines_of_many_threads_are_whole),
        cmocka_unit_test(sink_syslog_gets_a_datagram_for_each_line),
        cmocka_unit_test(sink_syslog_that_is_not_read_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
