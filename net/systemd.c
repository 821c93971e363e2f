/* Socket activation and notification, as sd_listen_fds(3) and sd_notify(3)
 * describe them. */
#include "net/systemd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/line.h"

enum { FIRST_FD = 3, MOST_FDS = 64 };

static long number_in(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    if (!text || !*text)
        return -1;
    errno = 0;
    long n = strtol(text, &end, 10);
    return *end || errno ? -1 : n;
}

int systemd_listen_fds(int *ret_first)
{
    long n = number_in("LISTEN_FDS");
    bool mine = number_in("LISTEN_PID") == (long)getpid();
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDNAMES");
    if (!mine || n <= 0 || n > MOST_FDS)
        return 0;
    for (int fd = FIRST_FD; fd < FIRST_FD + n; fd++) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    *ret_first = FIRST_FD;
    return (int)n;
}

static int relay = -1;

void systemd_relay(int line)
{
    relay = line;
}

int systemd_notify(const char *state)
{
    if (relay >= 0)
        return line_send(relay, "notify", state, -1);
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t len = path ? strlen(path) : 0;

    if (len == 0)
        return 0;
    if (len >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@')) {
        errno = EINVAL;
        return -1;
    }
    memcpy(to.sun_path, path, len);
    if (path[0] == '@')
        to.sun_path[0] = '\0'; /* the abstract name space */
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    ssize_t n =
        sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT,
               (struct sockaddr *)&to,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
    close(fd);
    return n < 0 ? -1 : 0;
}

int64_t systemd_watchdog_ns(void)
{
    enum { MICROSECOND = 1000 };
    long usec = number_in("WATCHDOG_USEC"), pid = number_in("WATCHDOG_PID");
    bool mine = !getenv("WATCHDOG_PID") || pid == (long)getpid();

    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    return mine && usec > 0 && usec < INT64_MAX / MICROSECOND
               ? (int64_t)usec * MICROSECOND
               : 0;
}
