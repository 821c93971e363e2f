/* Running a command for a message: on a thread of the pool, from start to end.
 *
 *   running --- stop, or its time is up ---> ending (TERM, then KILL to its group)
 *      |                                         |
 *      +----------- the command ends ------------+--> over, once its output has ended,
 *                                                     or LEAVE_NS later; the rest of
 *                                                     its group is killed
 */
#include "queue/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bide/run.h"
#include "queue/command_env.h"
#include "queue/command_start.h"
#include "queue/guard.h"
#include "queue/hold.h"

#define LEAVE_NS (1 * BIDE_SECOND) /* for what is left behind and still writes */

static const char CUT[] = "\n[bide worker: further output is not shown]\n";
enum { PIECE = 65536 };

/* What a thread keeps: how another one wakes it. */
struct slot {
    int wake;
    char buffer[PIECE + sizeof CUT];
};

struct running {
    const struct queue_command *c;
    struct queue_job *job;
    struct slot *slot;
    struct command_child child;
    bool gone, timed_out, stopped;
    int status;
    int64_t timeout_at, kill_at, leave_at;
    int64_t held_ns;    /* as the guard knows it */
    size_t passed[2];
    int to;             /* 1 or 2, where this goes: */
    const char *unsent; /* output that was read; no more is, before it is sent */
    size_t n_unsent;
};

static void *slot_new(const struct queue_handler *h)
{
    struct slot *s = malloc(sizeof *s);

    (void)h;
    if (!s)
        return NULL;
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake >= 0)
        return s;
    free(s);
    return NULL;
}

static void slot_free(void *slot)
{
    close(((struct slot *)slot)->wake);
    free(slot);
}

static void wake(void *slot)
{
    const uint64_t one = 1;

    (void)!write(((struct slot *)slot)->wake, &one, sizeof one);
}

static int64_t later(int64_t now, int64_t by)
{
    return by > BIDE_FOREVER - now ? BIDE_FOREVER : now + by;
}

/* ===== output ===== */

/* Sends a piece to our own output, if that takes it at once: a thread that waits there
 * could neither stop its command nor end. False: not now. */
static bool send_some(struct running *r)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all write to these two */
    struct pollfd p = { r->to, POLLOUT, 0 };
    ssize_t n = 0;

    pthread_mutex_lock(&lock);
    bool ready = poll(&p, 1, 0) > 0;
    if (ready)
        n = write(r->to, r->unsent, r->n_unsent < PIPE_BUF ? r->n_unsent : PIPE_BUF);
    pthread_mutex_unlock(&lock);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        n = (ssize_t)r->n_unsent; /* nobody reads it */
    if (n > 0) {
        r->unsent += n;
        r->n_unsent -= (size_t)n;
    }
    return ready && n > 0;
}

static void send_all(struct running *r)
{
    while (r->n_unsent > 0 && send_some(r))
        continue;
}

/* `data` is the slot's buffer. */
static void pass_on(struct running *r, int which, char *data, size_t len)
{
    size_t left = r->c->pass_max - r->passed[which];

    if (left == 0)
        return;
    r->to = 1 + which;
    r->unsent = data;
    r->n_unsent = len < left ? len : left;
    r->passed[which] += r->n_unsent;
    if (r->passed[which] == r->c->pass_max) {
        memcpy(data + r->n_unsent, CUT, sizeof CUT - 1);
        r->n_unsent += sizeof CUT - 1;
    }
    send_all(r);
}

static void read_output(struct running *r, int which)
{
    int *fd = &r->child.out[which];
    ssize_t n = read(*fd, r->slot->buffer, PIECE);

    if (n > 0) {
        queue_job_tail(r->job, r->slot->buffer, (size_t)n);
        pass_on(r, which, r->slot->buffer, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(*fd);
        *fd = -1;
    }
}

/* ===== time and stopping ===== */

static void end_it(struct running *r, int64_t now)
{
    if (r->kill_at != BIDE_FOREVER)
        return;
    r->kill_at = later(now, r->c->kill_after_ns);
    kill(-r->child.pid, SIGTERM);
    kill(-r->child.pid, SIGCONT);
}

static void watch(struct running *r, int64_t now)
{
    int stop = atomic_load(&r->job->stop);
    int64_t held_ns = atomic_load(&r->job->hold_ns);

    if (held_ns != r->held_ns && !r->gone)
        guard_hold(r->child.pid, r->held_ns = held_ns);
    if (stop != QUEUE_GO_ON && !r->gone) {
        r->stopped = true;
        end_it(r, now);
        if (stop == QUEUE_STOP_NOW)
            r->kill_at = now;
    }
    if (!r->gone && now >= r->timeout_at) {
        r->timed_out = true;
        r->timeout_at = BIDE_FOREVER;
        end_it(r, now);
    }
    if (!r->gone && now >= r->kill_at)
        kill(-r->child.pid, SIGKILL);
}

/* It has ended, and somebody reads its output slowly: he may, unless we are to stop. */
static bool is_read_slowly(const struct running *r)
{
    return r->gone && r->n_unsent > 0 && atomic_load(&r->job->stop) == QUEUE_GO_ON;
}

static int wait_ms(const struct running *r, int64_t now)
{
    int64_t at = is_read_slowly(r) ? BIDE_FOREVER
                 : r->gone         ? r->leave_at
                                   : r->timeout_at;

    if (!r->gone && r->kill_at < at)
        at = r->kill_at > now ? r->kill_at : now + 100 * BIDE_MILLISECOND;
    if (!r->gone && r->held_ns && at > now + BIDE_SECOND)
        at = now + BIDE_SECOND; /* it is put off all the time */
    if (at == BIDE_FOREVER)
        return -1;
    int64_t ms = at > now ? (at - now) / BIDE_MILLISECOND + 1 : 0;
    return ms < 1000000 ? (int)ms : 1000000;
}

static void wait_for_something(struct running *r)
{
    bool full = r->n_unsent > 0;
    struct pollfd p[5] = {
        { full ? -1 : r->child.out[0], POLLIN, 0 },
        { full ? -1 : r->child.out[1], POLLIN, 0 },
        { r->gone ? -1 : r->child.pidfd, POLLIN, 0 },
        { r->slot->wake, POLLIN, 0 },
        { full ? r->to : -1, POLLOUT, 0 },
    };
    uint64_t n;

    if (poll(p, 5, wait_ms(r, bide_now_ns())) <= 0)
        return;
    send_all(r);
    for (int i = 0; i < 2 && r->n_unsent == 0; i++)
        if (p[i].revents)
            read_output(r, i);
    if (p[3].revents)
        (void)!read(r->slot->wake, &n, sizeof n);
    if (p[2].revents && waitpid(r->child.pid, &r->status, WNOHANG) > 0) {
        r->gone = true;
        r->leave_at = later(bide_now_ns(), LEAVE_NS);
    }
}

static bool over(const struct running *r)
{
    bool ended = r->child.out[0] < 0 && r->child.out[1] < 0 && r->n_unsent == 0;

    return r->gone && !is_read_slowly(r) && (ended || bide_now_ns() >= r->leave_at);
}

/* ===== what it came to ===== */

static bide_class class_of(const struct queue_command *c, int code)
{
    if (c->stop_on.has[code])
        return BIDE_PERMANENT;
    if (c->retry_on.has[code])
        return BIDE_TRANSIENT;
    if (c->retry_on.given || code == QUEUE_EXIT_PERMANENT)
        return BIDE_PERMANENT;
    return BIDE_TRANSIENT;
}

static void judge(struct running *r)
{
    struct queue_job *job = r->job;
    int status = r->status;
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;

    job->out = (bide_outcome){ .cls = BIDE_SUCCESS };
    if (good) {
        snprintf(job->text, sizeof job->text, "exit 0");
    } else if (r->stopped || queue_hold_over(job)) { /* by us, or by the guard */
        job->out.cls = BIDE_IGNORED;
        snprintf(job->text, sizeof job->text, "stopped");
    } else if (r->timed_out) {
        job->out = (bide_outcome){ .cls = BIDE_TRANSIENT,
                                   .fault = BIDE_FAULT_TIMEOUT };
        snprintf(job->text, sizeof job->text, "timeout");
    } else if (WIFSIGNALED(status)) {
        job->out.cls = BIDE_TRANSIENT;
        snprintf(job->text, sizeof job->text, "signal %s",
                 sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status))
                                                : "unknown");
    } else {
        job->out.cls = class_of(r->c, WEXITSTATUS(status));
        snprintf(job->text, sizeof job->text, "exit %d", WEXITSTATUS(status));
    }
}

/* Too many attributes for an environment are the message's own fault, and must not
 * pause the others. */
static void not_started(struct queue_job *job, const char *what, int err)
{
    job->out = (bide_outcome){ .cls = err == E2BIG ? BIDE_PERMANENT
                                                   : BIDE_TRANSIENT,
                               .fault = BIDE_FAULT_LOCAL,
                               .not_processed = err != E2BIG };
    snprintf(job->text, sizeof job->text, "cannot start %s: %s", what,
             strerror(err));
}

static void run(const struct queue_handler *h, void *slot,
                struct queue_job *job)
{
    struct running r = { .c = (const struct queue_command *)h,
                         .job = job,
                         .slot = slot,
                         .kill_at = BIDE_FOREVER,
                         .leave_at = BIDE_FOREVER };
    struct bide__out memory = { 0 };
    char **env = queue_command_env(&memory, job);
    int err = ENOMEM;

    if (env)
        err = command_start(&r.child, r.c->argv, env, r.c->mask,
                            job->message->body, job->message->body_len);
    bide__out_done(&memory);
    if (err) {
        not_started(job, r.c->argv[0], err);
        return;
    }
    r.timeout_at = later(bide_now_ns(), job->timeout_ns);
    while (!over(&r)) {
        watch(&r, bide_now_ns());
        wait_for_something(&r);
    }
    command_clean_up(&r.child);
    judge(&r);
}

const struct queue_handler_kind queue_command_kind = {
    .slot_new = slot_new, .slot_free = slot_free, .run = run, .wake = wake,
    .tidy = guard_tidy,
};
