/* Holds one worker, to be loaded before libc: while the file that
 * BIDE_TEST_HOLD names is there, the first thread that waits for events stays
 * away, as if it were stuck in a system call. The file beside it that ends in
 * `.held` says that one is held. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

static void hold(const char *file)
{
    char held[4096];
    snprintf(held, sizeof held, "%s.held", file);
    close(open(held, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    while (access(file, F_OK) == 0)
        usleep(10000);
    unlink(held);
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
    static atomic_flag holding = ATOMIC_FLAG_INIT;
    const char *file = getenv("BIDE_TEST_HOLD");

    if (file && access(file, F_OK) == 0 &&
        !atomic_flag_test_and_set(&holding)) {
        hold(file);
        atomic_flag_clear(&holding);
    }
    return epoll_pwait(fd, events, max, timeout, NULL);
}
