/* Where a response goes. A file is written under a name that nobody else uses,
 * and renamed when it is complete: no one ever reads half of it, and an old file
 * stays until then. */
#include "cmd/fetch/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/common/files.h"

/* ===== opening ===== */

/* Makes a file of our own beside NAME: it is not there before, whatever it is,
 * and a link is not followed. */
static int open_part(struct fetch_sink *s)
{
    const char *slash = strrchr(s->name, '/');
    const char *base = slash ? slash + 1 : s->name;
    int fd = -1;

    for (int i = 0; i < 100; i++) {
        uint32_t number;
        if (getrandom(&number, sizeof number, 0) < 0)
            return -1;
        free(s->part);
        if (asprintf(&s->part, "%.*s%.200s.%08x.part", (int)(base - s->name),
                     s->name, base, number) < 0) {
            s->part = NULL;
            errno = ENOMEM;
            return -1;
        }
        fd = open(s->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  0666);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    if (fd < 0) {
        free(s->part); /* it is not ours to remove */
        s->part = NULL;
    }
    return fd;
}

/* As mkdir -p does, with the mode that curl gives them. */
static bool make_dirs(const char *name)
{
    char *path = strdup(name);
    bool fine = path != NULL;

    for (char *c = path ? strchr(path + 1, '/') : NULL; fine && c;
         c = strchr(c + 1, '/')) {
        *c = '\0';
        fine = mkdir(path, 0750) == 0 || errno == EEXIST || errno == EISDIR;
        *c = '/';
    }
    free(path);
    return fine;
}

/* A symbolic link stays, and its target is replaced; the new file keeps the
 * mode of the old one. */
static bool open_file(struct fetch_sink *s, const char *name)
{
    struct stat old;
    char *real;

    s->replaces = stat(name, &old) == 0;
    real = s->replaces ? realpath(name, NULL) : NULL;
    s->name = real ? real : strdup(name);
    if (!s->name) {
        errno = ENOMEM;
        return false;
    }
    s->fd = open_part(s);
    if (s->fd >= 0 && s->replaces)
        (void)!fchmod(s->fd, old.st_mode & 07777);
    return s->fd >= 0;
}

/* A lock keeps two processes from going on with the same file. */
static bool open_append(struct fetch_sink *s, const char *name)
{
    struct stat old;

    s->kind = SINK_APPEND;
    s->name = strdup(name);
    s->replaces = stat(name, &old) == 0;
    s->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (!s->name || s->fd < 0)
        return false;
    if (flock(s->fd, LOCK_EX | LOCK_NB) < 0) {
        close(s->fd);
        s->fd = -1;
        errno = EBUSY;
        return false;
    }
    s->size = lseek(s->fd, 0, SEEK_END);
    return s->size >= 0;
}

/* /dev/null and pipes are not replaced. */
static bool is_special(const char *name)
{
    struct stat st;

    return stat(name, &st) == 0 && !S_ISREG(st.st_mode);
}

bool fetch_sink_open(struct fetch_sink *s, const struct fetch_place *p)
{
    *s = (struct fetch_sink){ .kind = SINK_STREAM, .fd = -1 };
    if (p->name && p->create_dirs && !make_dirs(p->name))
        return false;
    if (p->name && !is_special(p->name)) {
        s->kind = SINK_FILE;
        return p->append ? open_append(s, p->name) : open_file(s, p->name);
    }
    if (!p->name && p->spool) {
        s->kind = SINK_SPOOL;
        s->fd = nameless_file();
    } else if (p->name) {
        s->fd = open(p->name, O_WRONLY | O_CLOEXEC);
    } else {
        s->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    }
    return s->fd >= 0;
}

bool fetch_sink_rename(struct fetch_sink *s, const char *name)
{
    const char *slash = strrchr(s->name, '/');
    char *whole = NULL;

    if (asprintf(&whole, "%.*s%s", slash ? (int)(slash + 1 - s->name) : 0,
                 s->name, name) < 0)
        return false;
    free(s->name);
    s->name = whole;
    s->only_new = true;
    return true;
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

/* Without replacing anything, if that is not wanted. Not every file system can
 * do that in one step. */
static bool give_name(const struct fetch_sink *s)
{
    if (!s->only_new)
        return rename(s->part, s->name) == 0;
    if (renameat2(AT_FDCWD, s->part, AT_FDCWD, s->name, RENAME_NOREPLACE) == 0)
        return true;
    return errno == EINVAL && link(s->part, s->name) == 0 &&
           unlink(s->part) == 0;
}

static void set_time(const struct fetch_sink *s, int64_t time_s)
{
    const struct timespec times[2] = { { (time_t)time_s, 0 },
                                       { (time_t)time_s, 0 } };

    if (time_s >= 0)
        (void)!futimens(s->fd, times);
}

bool fetch_sink_keep(struct fetch_sink *s, int64_t time_s)
{
    bool fine = s->fd >= 0;
    int err;

    if (fine && (s->kind == SINK_FILE || s->kind == SINK_APPEND))
        set_time(s, time_s);
    if (fine && s->kind == SINK_FILE)
        fine = give_name(s);
    else if (fine && s->kind == SINK_SPOOL)
        fine = print_spool(s);
    err = errno;
    if (!fine)
        fetch_sink_drop(s);
    release(s);
    errno = err;
    return fine;
}

/* What was appended to a file stays, to be gone on with. */
void fetch_sink_drop(struct fetch_sink *s)
{
    if (s->fd >= 0 && s->kind == SINK_FILE && s->part)
        unlink(s->part);
    if (s->fd >= 0 && s->kind == SINK_APPEND && s->size == 0 && !s->replaces)
        unlink(s->name);
    release(s);
}
