/* What the programs do with files: standard ones that were closed, nameless
 * ones, and writing until all is written. */
#include "cmd/common/files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* One that may not be used as it is meant to be gives EBADF, as one that is
 * closed does. */
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

/* A pipe that somebody else has made non-blocking is waited for. A signal that
 * is handled ends it, or a reader who does not read could not be left. */
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
