/* Whole lines, or none: into files, streams, and syslog's socket. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lib/response/calendar.h"
#include "observe/event/sink_parts.h"

/* ===== opening ===== */

static const char LOG_SOCKET[] = "/dev/log";

static int connect_to(const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof to.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(to.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        fd = -1;
    }
    return fd;
}

/* A FIFO without a reader cannot be opened for writing alone; a later reader
 * finds as much as it holds. */
static int open_path(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK,
                  0640);
    return fd < 0 && errno == ENXIO
               ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
               : fd;
}

static const char *syslog_path(const char *where)
{
    if (strcmp(where, "syslog") == 0)
        return LOG_SOCKET;
    return strncmp(where, "syslog:", 7) == 0 ? where + 7 : NULL;
}

static int open_target(const struct bide__target *t)
{
    if (t->path)
        return connect_to(t->path);
    if (strcmp(t->where, "stdout") == 0)
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (strcmp(t->where, "stderr") == 0)
        return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    return open_path(t->where);
}

static enum sink_kind kind_of(const struct bide__target *t)
{
    struct stat st;
    if (t->path)
        return SINK_SYSLOG;
    return fstat(t->fd, &st) == 0 && S_ISREG(st.st_mode) ? SINK_FILE
                                                         : SINK_STREAM;
}

struct bide__target *bide__target_new(const char *where, char *why, size_t size)
{
    struct bide__target *t = calloc(1, sizeof *t);

    if (!t || !(t->where = strdup(where))) {
        snprintf(why, size, "no memory");
        free(t);
        return NULL;
    }
    t->path = syslog_path(t->where);
    t->fd = open_target(t);
    if (t->fd < 0) {
        snprintf(why, size, "%s: %s", where, strerror(errno));
        bide__target_free(t);
        return NULL;
    }
    t->kind = kind_of(t);
    return t;
}

void bide__target_free(struct bide__target *t)
{
    if (!t)
        return;
    if (t->fd >= 0)
        close(t->fd);
    free(t->where);
    free(t);
}

static uint64_t lines_in(const char *text, size_t len)
{
    uint64_t n = 0;
    const char *end = text + len;
    while ((text = memchr(text, '\n', (size_t)(end - text)))) {
        n++;
        text++;
    }
    return n;
}

/* How much of it is whole lines. */
static size_t whole(const char *text, size_t len)
{
    const char *last = memrchr(text, '\n', len);
    return last ? (size_t)(last - text) + 1 : 0;
}

static ssize_t write_some(int fd, const char *text, size_t len)
{
    ssize_t n;
    do
        n = write(fd, text, len);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Completes a torn line. False: not even that can be written. */
static bool mend(struct bide__target *t)
{
    if (t->torn && write_some(t->fd, "\n", 1) == 1)
        t->torn = false;
    return !t->torn;
}

/* ===== files ===== */

/* Removes the last bytes, if it was us who wrote them. */
static bool undo(int fd, size_t len)
{
    struct stat st;
    off_t at = lseek(fd, 0, SEEK_CUR);

    if (at < (off_t)len || fstat(fd, &st) < 0 || st.st_size != at)
        return false;
    return ftruncate(fd, at - (off_t)len) == 0 &&
           lseek(fd, at - (off_t)len, SEEK_SET) >= 0;
}

/* A full disk may have room for the next lines. */
static uint64_t write_file(struct bide__target *t, const char *text, size_t len)
{
    while (len > 0 && mend(t)) {
        ssize_t n = write_some(t->fd, text, len);
        size_t kept = n > 0 ? whole(text, (size_t)n) : 0;
        if (n > 0 && (size_t)n > kept)
            t->torn = !undo(t->fd, (size_t)n - kept);
        text += kept;
        len -= kept;
        if (kept == 0)
            break;
    }
    return lines_in(text, len);
}

/* ===== streams ===== */

/* As many whole lines as a pipe accepts atomically: one that poll() finds ready
 * has room for PIPE_BUF bytes, and other writers do not get in between. */
static size_t portion(const char *text, size_t len)
{
    size_t most = len < PIPE_BUF ? len : PIPE_BUF;
    size_t lines = whole(text, most);
    return lines ? lines : most;
}

static uint64_t write_stream(struct bide__sink *s, const char *text, size_t len)
{
    struct bide__target *t = s->target;
    bool midline = false;

    while (len > 0 && sink_wait(s) && (midline || mend(t))) {
        ssize_t n = write_some(t->fd, text, portion(text, len));
        if (n < 0 && errno == EAGAIN)
            continue;
        if (n <= 0)
            break;
        text += n;
        len -= (size_t)n;
        midline = text[-1] != '\n';
    }
    t->torn |= midline && len > 0;
    return lines_in(text, len);
}

/* ===== syslog ===== */

enum { PRIORITY = 3 * 8 + 6 }; /* daemon, info */

/* "<30>Nov 16 17:45:53 bide[4711]: ", as syslog(3) writes it. */
static size_t put_head(char *to, size_t size)
{
    time_t now = time(NULL);
    struct tm tm;

    localtime_r(&now, &tm);
    int n =
        snprintf(to, size, "<%d>%s %2d %02d:%02d:%02d bide[%ld]: ", PRIORITY,
                 bide__month_name(tm.tm_mon + 1), tm.tm_mday, tm.tm_hour,
                 tm.tm_min, tm.tm_sec, (long)getpid());
    return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

/* After a restart, syslog has another socket of the same name. */
static bool connect_again(struct bide__target *t)
{
    int fd = connect_to(t->path);
    if (fd < 0)
        return false;
    close(t->fd);
    t->fd = fd;
    return true;
}

static bool send_line(struct bide__sink *s, const char *line, size_t len)
{
    char head[96];
    struct iovec parts[] = { { head, put_head(head, sizeof head) },
                             { (char *)line, len } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
    bool again = false;

    for (;;) {
        if (sendmsg(s->target->fd, &message, MSG_NOSIGNAL) >= 0)
            return true;
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN || errno == ENOBUFS) {
            if (!sink_wait(s))
                return false;
            continue;
        }
        if (again || errno == EMSGSIZE || !connect_again(s->target))
            return false;
        again = true;
    }
}

static uint64_t write_syslog(struct bide__sink *s, const char *text, size_t len)
{
    uint64_t lost = 0;

    while (len > 0) {
        const char *end = memchr(text, '\n', len);
        size_t line = end ? (size_t)(end - text) : len;
        lost += !send_line(s, text, line);
        line += end != NULL;
        text += line;
        len -= line;
    }
    return lost;
}

uint64_t sink_write(struct bide__sink *s, const char *text, size_t len)
{
    struct bide__target *t = s->target;

    if (t->kind == SINK_SYSLOG)
        return write_syslog(s, text, len);
    return t->kind == SINK_FILE ? write_file(t, text, len)
                                : write_stream(s, text, len);
}
