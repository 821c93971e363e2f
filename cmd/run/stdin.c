/* The same standard input for each attempt.
 *
 * A file is rewound. Anything else is read only as fast as the command reads
 * it, and what was read is kept, to be given again; so a command that runs for
 * days at the end of a pipe works as it would without us. A terminal stays one.
 */
#include "cmd/run/stdin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

void feed_init(struct feed *f, enum run_stdin how, uint32_t attempts)
{
    struct stat st;
    bool known = fstat(STDIN_FILENO, &st) == 0;

    *f = (struct feed){ .how = how, .to = -1, .to_child = -1 };
    if (how == STDIN_AUTO)
        f->how = !known || S_ISCHR(st.st_mode) || attempts == 1 ? STDIN_INHERIT
                                                                : STDIN_REPLAY;
    if (f->how != STDIN_REPLAY)
        return;
    f->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    f->is_file = known && S_ISREG(st.st_mode) && f->start >= 0;
}

static int begin_pipe(struct feed *f)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    f->to_child = ends[0];
    f->to = ends[1];
    f->sent = 0;
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
    if (f->is_file)
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

/* First what is kept, then what is new. */
int feed_poll(struct feed *f, struct pollfd *p)
{
    if (f->to >= 0 && f->sent == f->spool.len && f->ended)
        close_end(&f->to);
    if (f->to < 0)
        return 0;
    if (f->sent < f->spool.len)
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
    if (n > 0)
        f->sent += n;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_end(&f->to); /* the command reads no more */
}

/* What cannot be kept is passed on all the same. The command will not be run
 * again then: see loop.c. */
static void read_more(struct feed *f)
{
    char data[65536];
    ssize_t n = read(STDIN_FILENO, data, sizeof data);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        f->ended = true;
        return;
    }
    if (!f->lost && spool_add(&f->spool, data, (size_t)n))
        return;
    f->lost = true;
    spool_clear(&f->spool);
    f->sent = 0;
    if (!spool_add(&f->spool, data, (size_t)n))
        f->ended = true;
}

void feed_ready(struct feed *f, const struct pollfd *p)
{
    if (!p->revents || f->to < 0)
        return;
    if (p->fd == f->to)
        send_kept(f);
    else
        read_more(f);
}

void feed_end(struct feed *f)
{
    close_end(&f->to_child);
    close_end(&f->to);
}

void feed_done(struct feed *f)
{
    feed_end(f);
    spool_done(&f->spool);
}
