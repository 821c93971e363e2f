/* The same standard input for each attempt, and no more of it taken than the
 * command takes: what a loop or a shell around us wants to read next is still
 * there.
 *
 * A file is rewound. A terminal stays one. Of a pipe or a socket the command
 * gets a copy of what is next, a page at most, in a pipe of its own that holds
 * a single page. That pipe can be written to again only when it is empty: then
 * the command has read the page, and we take it from our standard input, and
 * keep it for the attempts to come. When an attempt ends, we take as much as it
 * has read. */
#include "cmd/run/stdin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The smallest pipe there is, on any machine, holds at least this. */
enum { PAGE = 4096 };

/* A connection, not a listener and not datagrams. */
static bool is_stream(void)
{
    int type = 0, listens = 0;
    socklen_t size = sizeof type;

    return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
           getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &listens,
                      &size) == 0 &&
           type == SOCK_STREAM && !listens;
}

static enum feed_source source_of(const struct stat *st)
{
    if (S_ISREG(st->st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)
        return FEED_FILE;
    if (S_ISFIFO(st->st_mode))
        return FEED_PIPE;
    return S_ISSOCK(st->st_mode) && is_stream() ? FEED_SOCKET : FEED_OTHER;
}

void feed_init(struct feed *f, enum run_stdin how, uint32_t attempts)
{
    struct stat st;
    bool known = fstat(STDIN_FILENO, &st) == 0;

    *f = (struct feed){ .how = how, .to = -1, .to_child = -1 };
    f->source = known ? source_of(&st) : FEED_OTHER;
    if (how == STDIN_AUTO)
        f->how = f->source == FEED_OTHER || attempts == 1 ? STDIN_INHERIT
                                                          : STDIN_REPLAY;
    if (f->source == FEED_FILE)
        f->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
}

static bool shows(const struct feed *f)
{
    return f->source == FEED_PIPE || f->source == FEED_SOCKET;
}

static int begin_pipe(struct feed *f)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    if (shows(f) && fcntl(ends[1], F_SETPIPE_SZ, PAGE) < 0)
        f->source = FEED_OTHER;
    f->to_child = ends[0];
    f->to = ends[1];
    f->sent = f->shown = 0;
    f->filled = false;
    return 0;
}

int feed_begin(struct feed *f)
{
    if (f->how == STDIN_NULL) {
        f->to_child = open("/dev/null", O_RDONLY | O_CLOEXEC);
        return f->to_child < 0 ? errno : 0;
    }
    if (f->how == STDIN_INHERIT)
        return 0;
    if (f->source == FEED_FILE)
        return lseek(STDIN_FILENO, f->start, SEEK_SET) < 0 ? errno : 0;
    return begin_pipe(f);
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void feed_started(struct feed *f)
{
    close_end(&f->to_child);
}

/* ===== keeping ===== */

/* What cannot be kept has still reached the command, which will not be run
 * again then: see loop.c. */
static void keep(struct feed *f, const char *data, size_t len)
{
    if (!f->lost && spool_add(&f->spool, data, len))
        return;
    if (!f->lost)
        f->lost = errno ? errno : ENOSPC;
    spool_clear(&f->spool);
    f->sent = 0;
}

static int64_t waiting_in(int fd)
{
    int n = 0;

    return ioctl(fd, FIONREAD, &n) == 0 ? n : 0;
}

/* Takes what the command has read of what it was shown. Whoever else reads the
 * same pipe at the same time may have been faster: then there is less to take,
 * and waiting for more would be wrong. */
static void take(struct feed *f)
{
    int64_t want = f->shown - waiting_in(f->to);
    char data[65536];

    f->shown -= want;
    if (f->source == FEED_PIPE && want > waiting_in(STDIN_FILENO))
        want = waiting_in(STDIN_FILENO);
    while (want > 0) {
        size_t len = want < (int64_t)sizeof data ? (size_t)want : sizeof data;
        ssize_t n = read(STDIN_FILENO, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        errno = 0;
        keep(f, data, (size_t)n);
        f->sent = f->spool.len;
        want -= n;
    }
}

static void stop(struct feed *f)
{
    if (f->to >= 0 && f->shown > 0)
        take(f);
    f->shown = 0;
    close_end(&f->to);
}

/* ===== moving ===== */

/* First what is kept, then what is new; and nothing while the command has not
 * read what it got last. */
int feed_poll(struct feed *f, struct pollfd *p)
{
    bool kept = f->sent < f->spool.len;

    if (f->to >= 0 && !kept && f->ended && f->shown == 0)
        close_end(&f->to);
    if (f->to < 0)
        return 0;
    if (kept || f->filled)
        *p = (struct pollfd){ f->to, POLLOUT, 0 };
    else
        *p = (struct pollfd){ STDIN_FILENO, POLLIN, 0 };
    return 1;
}

static void send_kept(struct feed *f)
{
    char data[65536];
    ssize_t n = spool_read(&f->spool, f->sent, data, sizeof data);

    if (n > 0)
        n = write(f->to, data, (size_t)n);
    if (n > 0) {
        f->sent += n;
        f->filled = shows(f);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        stop(f); /* the command reads no more */
    }
}

/* A copy for the command; standard input keeps it. */
static ssize_t copy_next(const struct feed *f)
{
    char data[PAGE];
    ssize_t n;

    if (f->source == FEED_PIPE)
        return tee(STDIN_FILENO, f->to, PAGE, SPLICE_F_NONBLOCK);
    n = recv(STDIN_FILENO, data, sizeof data, MSG_PEEK | MSG_DONTWAIT);
    return n > 0 ? write(f->to, data, (size_t)n) : n;
}

static void show_next(struct feed *f)
{
    ssize_t n = copy_next(f);

    if (n > 0) {
        f->shown = n;
        f->filled = true;
    } else if (n < 0 && errno == EPIPE) {
        stop(f);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        f->ended = true;
    }
}

static void read_ahead(struct feed *f)
{
    char data[65536];
    ssize_t n = read(STDIN_FILENO, data, sizeof data);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        f->ended = true;
        return;
    }
    errno = 0;
    keep(f, data, (size_t)n);
    if (f->lost && !spool_add(&f->spool, data, (size_t)n))
        f->ended = true;
}

/* The command has read all that it got, or reads no more. */
static void drained(struct feed *f, bool gone)
{
    f->filled = false;
    if (gone)
        stop(f);
    else if (f->shown > 0)
        take(f);
}

void feed_ready(struct feed *f, const struct pollfd *p)
{
    if (!p->revents || f->to < 0)
        return;
    if (p->fd == f->to && f->filled)
        drained(f, p->revents & POLLERR);
    else if (p->fd == f->to)
        send_kept(f);
    else if (shows(f))
        show_next(f);
    else
        read_ahead(f);
}

void feed_end(struct feed *f)
{
    close_end(&f->to_child);
    stop(f);
}

void feed_done(struct feed *f)
{
    feed_end(f);
    spool_done(&f->spool);
}

int64_t feed_replayed(const struct feed *f)
{
    if (f->how != STDIN_REPLAY || f->lost)
        return 0;
    if (f->source == FEED_FILE) {
        off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
        return at > f->start ? at - f->start : 0;
    }
    return f->spool.len;
}
