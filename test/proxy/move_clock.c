/* A clock that a test moves, to be loaded before libc: CLOCK_MONOTONIC stands still at
 * the nanosecond that the file BIDE_TEST_CLOCK names has in its first eight bytes
 * (test/tools/clock.py); with a time in the next eight, it goes on from there as of that
 * time. Whoever waits for events looks at it again soon. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SOON_MS = 5 };

static const _Atomic int64_t *now_ns; /* and since when it goes on; 0: it stands */

__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv("BIDE_TEST_CLOCK");
    int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *at = mmap(NULL, 2 * sizeof *now_ns, PROT_READ, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED)
        now_ns = at;
    close(fd);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    if (id != CLOCK_MONOTONIC || !now_ns)
        return (int)syscall(SYS_clock_gettime, id, t);
    int64_t ns = atomic_load(now_ns), since = atomic_load(&now_ns[1]);
    if (since && syscall(SYS_clock_gettime, id, t) == 0)
        ns += t->tv_sec * INT64_C(1000000000) + t->tv_nsec - since;
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
    if (now_ns && (timeout < 0 || timeout > SOON_MS))
        timeout = SOON_MS;
    return epoll_pwait(fd, events, max, timeout, NULL);
}
