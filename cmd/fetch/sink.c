/* Where a response goes. A file is written as NAME.part and renamed when it is
 * complete: no one ever reads half of it, and an old file stays until then. */
#include "cmd/fetch/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/common/files.h"

/* ===== opening ===== */

static bool is_at(int fd, const char *path)
{
    struct stat here, there;

    return fstat(fd, &here) == 0 && stat(path, &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* A lock keeps two processes from writing the same file; a file that was
 * renamed or removed between opening and locking belongs to another. */
static int open_part(const char *path)
{
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            close(fd);
            errno = EBUSY;
            return -1;
        }
        if (is_at(fd, path)) {
            if (ftruncate(fd, 0) == 0)
                return fd;
            close(fd);
            return -1;
        }
        close(fd);
    }
}

/* A symbolic link stays, and its target is replaced; the new file keeps the
 * mode of the old one. */
static bool open_file(struct fetch_sink *s, const char *name)
{
    struct stat old;
    bool there = stat(name, &old) == 0;
    char *real = there ? realpath(name, NULL) : NULL;

    s->name = real ? real : strdup(name);
    if (!s->name || asprintf(&s->part, "%s.part", s->name) < 0) {
        s->part = NULL;
        errno = ENOMEM;
        return false;
    }
    s->fd = open_part(s->part);
    if (s->fd >= 0 && there)
        (void)!fchmod(s->fd, old.st_mode & 07777);
    return s->fd >= 0;
}

/* /dev/null and pipes are not replaced. */
static bool is_special(const char *name)
{
    struct stat st;

    return stat(name, &st) == 0 && !S_ISREG(st.st_mode);
}

bool fetch_sink_open(struct fetch_sink *s, const char *name, bool spool)
{
    *s = (struct fetch_sink){ .kind = SINK_STREAM, .fd = -1 };
    if (name && !is_special(name)) {
        s->kind = SINK_FILE;
        return open_file(s, name);
    }
    if (!name && spool) {
        s->kind = SINK_SPOOL;
        s->fd = nameless_file();
    } else if (name) {
        s->fd = open(name, O_WRONLY | O_CLOEXEC);
    } else {
        s->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    }
    return s->fd >= 0;
}

/* ===== writing ===== */

static bool write_all(int fd, const char *data, size_t len)
{
    errno = write_whole(fd, data, len);
    return errno == 0;
}

bool fetch_sink_write(struct fetch_sink *s, const char *data, size_t len)
{
    if (!write_all(s->fd, data, len))
        return false;
    s->size += (off_t)len;
    return true;
}

int fetch_sink_byte(const struct fetch_sink *s, off_t at)
{
    unsigned char byte;

    if (s->kind == SINK_STREAM || pread(s->fd, &byte, 1, at) != 1)
        return -1;
    return byte;
}

bool fetch_sink_empty(struct fetch_sink *s)
{
    if (s->size == 0)
        return true;
    if (s->kind == SINK_STREAM || ftruncate(s->fd, 0) < 0 ||
        lseek(s->fd, 0, SEEK_SET) != 0)
        return false;
    s->size = 0;
    return true;
}

/* ===== the end ===== */

static bool print_spool(struct fetch_sink *s)
{
    char piece[65536];
    off_t at = 0;
    ssize_t n;

    while ((n = pread(s->fd, piece, sizeof piece, at)) > 0) {
        if (!write_all(STDOUT_FILENO, piece, (size_t)n))
            return false;
        at += n;
    }
    return n == 0;
}

static void release(struct fetch_sink *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    free(s->name);
    free(s->part);
    s->name = s->part = NULL;
}

bool fetch_sink_keep(struct fetch_sink *s)
{
    bool fine = s->fd >= 0;
    int err;

    if (fine && s->kind == SINK_FILE)
        fine = rename(s->part, s->name) == 0;
    else if (fine && s->kind == SINK_SPOOL)
        fine = print_spool(s);
    err = errno;
    if (!fine)
        fetch_sink_drop(s);
    release(s);
    errno = err;
    return fine;
}

void fetch_sink_drop(struct fetch_sink *s)
{
    if (s->fd >= 0 && s->kind == SINK_FILE)
        unlink(s->part);
    release(s);
}
