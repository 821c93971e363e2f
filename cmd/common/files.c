/* Files: standard ones that were closed, unnamed ones, and complete writes. */
#include "cmd/common/files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A descriptor that is not open for its purpose gives EBADF, like a closed
 * one. */
void hold_standard_files(void)
{
    static const int wrong_way[] = { O_WRONLY, O_RDONLY, O_RDONLY };

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", wrong_way[fd] | O_CLOEXEC);
}

int nameless_file(void)
{
    const char *dir = getenv("TMPDIR");
    char path[4096];
    int fd;

    if (!dir || !*dir)
        dir = "/tmp";
    fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    /* not every file system can do that */
    if (snprintf(path, sizeof path, "%s/bide.XXXXXX", dir) >= (int)sizeof path)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* Waits for a pipe that another process has made non-blocking. A signal that is
 * handled ends it, or a reader that does not read could never be left. */
int write_whole(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EAGAIN)
            n = poll(&(struct pollfd){ fd, POLLOUT, 0 }, 1, -1) < 0 ? -1 : 0;
        if (n < 0)
            return errno;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}
