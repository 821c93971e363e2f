/* One attempt: everything that happens while a command runs.
 *
 *     running --- its time is up ---> ending (TERM, then KILL to its group)
 *        |                               |
 *        +------- the command ends ------+--> over, once its output has ended
 *                                             and, after a timeout, its group
 *
 * A process that the command left behind may keep the output open. It gets as
 * long as a command that was asked to end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/common/parent_env.h"
#include "cmd/run/child.h"
#include "cmd/run/cmd.h"

enum { LOOK_NS = 10 * 1000 * 1000 };

struct attempt {
    struct run *run;
    struct child child;
    struct ending end;
    int64_t now;
    int64_t timeout_at; /* or FOREVER */
    int64_t kill_at;    /* or FOREVER */
    int64_t leave_at;   /* when to stop waiting for what is left behind */
    bool gone;          /* the command has ended */
    int status;
    int interrupts;
    int seen; /* the signal that came from the terminal; 0: none */
};

static int64_t later(int64_t now, int64_t by)
{
    return by > BIDE_FOREVER - now ? BIDE_FOREVER : now + by;
}

/* ===== signals ===== */

/* A signal from the terminal has already reached a command that is in our
 * group, and one of which its witness tells has reached it too. */
static void pass_signal(struct attempt *a, int number)
{
    pid_t sender = a->run->signals.sender;
    bool again = number == SIGINT && a->interrupts++ > 0;
    bool witnessed = a->child.witness && sender == a->child.witness;
    bool has_it = witnessed || (!a->child.own_group && sender == 0);

    if (again || !has_it) {
        child_signal(&a->child, again ? SIGKILL : number);
        child_signal(&a->child, SIGCONT); /* a stopped one would not get it */
    }
    if (witnessed)
        a->seen = number;
    else if (number != SIGUSR1 && number != SIGUSR2)
        a->end.stopped_by = number;
}

/* The timeout does not run while everything is stopped. */
static void stand_still(struct attempt *a, bool job)
{
    struct run *r = a->run;
    int64_t since = bide_now_ns();

    if (a->child.has_terminal)
        terminal_give(&r->signals, r->signals.group);
    stop_ourselves(job);
    if (a->child.has_terminal && terminal_is_ours(&r->signals))
        terminal_give(&r->signals, a->child.pid);
    child_signal(&a->child, SIGCONT);
    a->timeout_at = later(a->timeout_at, bide_now_ns() - since);
    a->kill_at = later(a->kill_at, bide_now_ns() - since);
}

/* The terminal stopped it: because it used the terminal, or by Ctrl-Z. */
static void take_stop(struct attempt *a, int number)
{
    const struct signals *s = &a->run->signals;
    bool asks = number == SIGTTIN || number == SIGTTOU;

    if (asks && terminal_is_ours(s)) {
        child_witness(&a->child);
        terminal_give(s, a->child.pid);
        a->child.has_terminal = true;
        child_signal(&a->child, SIGCONT);
    } else if (asks || a->child.has_terminal) {
        stand_still(a, true);
    }
}

/* Reaps everything that has ended, not just the command: we adopt its orphans
 * (child.c). */
static void reap(struct attempt *a)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid == a->child.witness) {
            a->child.witness = 0;
            if (child_seen(status))
                a->seen = child_seen(status);
        }
        if (pid != a->child.pid)
            continue;
        if (WIFSTOPPED(status)) {
            take_stop(a, WSTOPSIG(status));
            continue;
        }
        a->gone = true;
        a->status = status;
        a->leave_at = later(bide_now_ns(), a->run->args->kill_after_ns);
    }
}

static void take_signals(struct attempt *a)
{
    int number;

    while ((number = signals_next(&a->run->signals)) != 0) {
        switch (number) {
        case SIGCHLD:
            break; /* reap() looks at all that has changed */
        case SIGTSTP:
            child_signal(&a->child, SIGTSTP);
            stand_still(a, false);
            break;
        case SIGCONT:
            child_signal(&a->child, SIGCONT);
            break;
        default:
            pass_signal(a, number);
        }
    }
    reap(a);
}

/* ===== time ===== */

static void watch_time(struct attempt *a)
{
    if (!a->gone && a->now >= a->timeout_at) {
        a->timeout_at = BIDE_FOREVER;
        a->kill_at = later(a->now, a->run->args->kill_after_ns);
        a->end.how = ENDED_TIMEOUT;
        child_signal(&a->child, a->run->args->end_signal);
        child_signal(&a->child, SIGCONT);
    }
    if (a->now >= a->kill_at) {
        a->kill_at = BIDE_FOREVER;
        child_signal(&a->child, SIGKILL);
    }
}

/* After a timeout its whole group must be gone, not just the command. */
static bool group_left(const struct attempt *a)
{
    return a->end.how == ENDED_TIMEOUT && a->child.own_group &&
           kill(-a->child.pid, 0) == 0;
}

static bool over(const struct attempt *a)
{
    if (!a->gone)
        return false;
    if (group_left(a) && a->kill_at != BIDE_FOREVER)
        return false;
    return !output_open(&a->run->output) || a->now >= a->leave_at;
}

static int64_t wake_at(const struct attempt *a)
{
    int64_t at = a->gone ? a->leave_at : a->timeout_at;

    if (a->kill_at < at)
        at = a->kill_at;
    if (a->gone && group_left(a) && a->now + LOOK_NS < at)
        at = a->now + LOOK_NS; /* a parent elsewhere may reap some of it */
    return at;
}

/* ===== moving ===== */

static void wait_for_something(struct attempt *a)
{
    struct run *r = a->run;
    struct pollfd p[4] = { { r->signals.fd, POLLIN, 0 } };
    int n_in = feed_poll(&r->feed, &p[1]);
    int n_out = output_poll(&r->output, &p[1 + n_in]);
    int64_t wait = wake_at(a) - a->now;
    struct timespec limit = { 0, 0 };

    if (wait > 0)
        limit = (struct timespec){ (time_t)(wait / BIDE_SECOND),
                                   (long)(wait % BIDE_SECOND) };
    if (ppoll(p, (nfds_t)(1 + n_in + n_out),
              wake_at(a) == BIDE_FOREVER ? NULL : &limit, NULL) > 0) {
        if (n_in)
            feed_ready(&r->feed, &p[1]);
        output_ready(&r->output, &p[1 + n_in], n_out);
        if (p[0].revents)
            take_signals(a);
    }
    a->now = bide_now_ns();
}

static int code_of_errno(int err)
{
    switch (err) {
    case ENOENT:
    case ENOTDIR:
        return EXIT_NOT_FOUND;
    case EACCES:
    case ENOEXEC:
    case EISDIR:
    case ELIBBAD:
    case E2BIG:
    case ENAMETOOLONG:
    case ELOOP:
    case EPERM:
        return EXIT_NOT_EXECUTABLE;
    default:
        return EXIT_BIDE_FAILED; /* out of processes, memory, files */
    }
}

static struct ending not_started(int err)
{
    return (struct ending){ .how = ENDED_NOT_STARTED,
                            .err = err,
                            .code = code_of_errno(err) };
}

/* If it ended by itself at the very moment of the timeout, it did not time
 * out. */
static void read_status(struct attempt *a)
{
    struct ending *e = &a->end;

    if (*a->child.err) {
        *e = not_started(*a->child.err);
        return;
    }
    if (WIFSIGNALED(a->status)) {
        e->signal = WTERMSIG(a->status);
        e->code = EXIT_SIGNAL + e->signal;
    } else {
        e->code = WEXITSTATUS(a->status);
    }
    if (e->how == ENDED_TIMEOUT && e->code == 0)
        e->how = ENDED_EXIT;
    else if (e->how == ENDED_TIMEOUT)
        e->code = EXIT_TIMED_OUT;
    else
        e->how = e->signal ? ENDED_SIGNAL : ENDED_EXIT;
}

/* The signal from the terminal that stopped the command. Without a witness, by
 * its exit code. */
static int stopped_by(struct attempt *a)
{
    int code = a->end.code - EXIT_SIGNAL;
    int seen = child_testimony(&a->child);

    if (a->end.how == ENDED_TIMEOUT)
        return 0;
    if (!seen)
        seen = a->seen;
    if (a->end.stopped_by)
        seen = 0; /* it was we who sent it */
    return !seen && (code == SIGINT || code == SIGQUIT || code == SIGHUP)
               ? code
               : seen;
}

/* Ctrl-C went to the command alone, because it had the terminal, and so did the
 * hangup: the processes beside us must get it too, and we stop. If the command
 * did not die of it, neither do we. */
static void take_terminal_back(struct attempt *a)
{
    const struct signals *s = &a->run->signals;
    int number;

    if (!a->child.has_terminal)
        return;
    number = stopped_by(a);
    terminal_give(s, s->group);
    if (number == 0)
        return;
    a->end.stopped_by = number;
    kill(0, number);
    if (a->end.code != EXIT_SIGNAL + number)
        signals_forget(number);
}

/* ===== beginning ===== */

static void set_number(const char *name, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)value);
    setenv(name, text, 1);
}

static void set_environment(const struct run *r, uint32_t attempt)
{
    int64_t deadline = bide_call_deadline(&r->call);
    char text[32];
    bide_claim claim = bide_call_claim(&r->call, &r->op, attempt, r->now);

    uint32_t attempts = bide_dep_policy(r->dep)->attempts;

    tell_layer_below(&claim);
    set_number("BIDE_ATTEMPT", attempt);
    if (run_is_unlimited(attempts))
        setenv("BIDE_ATTEMPTS", "unlimited", 1);
    else
        set_number("BIDE_ATTEMPTS", attempts);
    unsetenv("BIDE_DEADLINE_MS");
    if (deadline != BIDE_FOREVER) /* 0 would look like none */
        set_number("BIDE_DEADLINE_MS",
                   (deadline - r->now) / BIDE_MILLISECOND + 1);
    unsetenv("BIDE_REASON");
    if (r->ended)
        setenv("BIDE_REASON", run_ending_text(&r->last, text, sizeof text), 1);
}

static int start(struct attempt *a, uint32_t number)
{
    struct run *r = a->run;
    int err = feed_begin(&r->feed);

    if (!err)
        err =
            output_begin(&r->output, number, bide_dep_policy(r->dep)->attempts);
    if (!err) {
        const int files[3] = { r->feed.to_child, r->output.stream[0].from_child,
                               r->output.stream[1].from_child };
        set_environment(r, number);
        err = child_start(&a->child, &r->signals, r->args->command, files,
                          !r->args->foreground);
    }
    feed_started(&r->feed);
    output_started(&r->output);
    return err;
}

/* From its start, which gave `err`, to its end. */
static void run_to_end(struct attempt *a, int err)
{
    if (err) {
        a->end = not_started(err);
        return;
    }
    while (!over(a)) {
        watch_time(a);
        wait_for_something(a);
    }
    read_status(a);
    take_terminal_back(a);
}

static struct attempt attempt_of(struct run *r, int64_t timeout_ns)
{
    return (struct attempt){ .run = r,
                             .now = r->now,
                             .timeout_at = later(r->now, timeout_ns),
                             .kill_at = BIDE_FOREVER,
                             .leave_at = BIDE_FOREVER };
}

struct ending run_attempt(struct run *r, const bide_decision *d)
{
    struct attempt a = attempt_of(r, d->timeout_ns);

    run_to_end(&a, start(&a, d->attempt));
    feed_end(&r->feed);
    output_end(&r->output, &a.end);
    a.end.took_ns = bide_now_ns() - r->now;
    return a.end;
}

struct ending run_beside(struct run *r, char **command, const int files[3],
                         int64_t timeout_ns)
{
    struct attempt a = attempt_of(r, timeout_ns);

    run_to_end(&a, child_start(&a.child, &r->signals, command, files,
                               !r->args->foreground));
    return a.end;
}
