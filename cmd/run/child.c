/* Starting a command, and reaching all of its process group. */
#include "cmd/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/run/args.h"
#include "cmd/run/signals.h"

/* What the child reads. */
struct start {
    const struct signals *signals;
    char **command;
    const int *files;
    bool own_group;
    bool foreground;
    int go[2]; /* a pipe; in the foreground it waits for a byte */
    pid_t parent;
    volatile int *err; /* what it writes, if it cannot become the command */
};

/* If we are killed, the command gets a signal. Its grandchildren do not: the
 * kernel does not offer that. */
static void become_command(const struct start *s)
{
    if (s->own_group)
        setpgid(0, 0);
    if (s->foreground) {
        char byte;
        terminal_give(s->signals, getpid());
        close(s->go[1]);
        (void)!read(s->go[0], &byte, 1);
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != s->parent)
        _exit(EXIT_BIDE_FAILED);
    for (int i = 0; i < 3; i++)
        if (s->files[i] >= 0)
            dup2(s->files[i], i); /* without O_CLOEXEC there */
    sigprocmask(SIG_SETMASK, &s->signals->original, NULL);
    execvp(s->command[0], s->command);
    *s->err = errno;
    _exit(EXIT_NOT_FOUND);
}

/* Adopts orphans, so that we see their end: a group is empty only when the last
 * of it has been waited for, and not every init does that. */
void child_adopt_orphans(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* A word that a child can write to, after vfork or fork. */
static volatile int *common_word(bool after_fork)
{
    static volatile int ours, *common;

    if (!after_fork)
        return &ours;
    if (!common) {
        void *page = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        common = page == MAP_FAILED ? NULL : page;
    }
    return common;
}

/* All signals are blocked but those that it waits for: what else the group gets
 * is not for it. TERM, which releases it, comes last. Whoever we run for is told
 * at once: a second Ctrl-C kills a command that the first did not end. */
static void witness(pid_t group, pid_t parent)
{
    sigset_t all, ends;
    int number = 0, seen = 0;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setpgid(0, group) < 0 || getppid() != parent)
        _exit(0);
    close_range(0, ~0u, 0); /* others wait for the ends of these */
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGQUIT);
    sigaddset(&ends, SIGHUP);
    sigaddset(&ends, SIGTERM);
    while (sigwait(&ends, &number) == 0 && number != SIGTERM) {
        seen = number;
        kill(parent, number);
    }
    _exit(seen);
}

void child_witness(struct child *c)
{
    pid_t us = getpid(), pid = c->witness ? -1 : fork();

    if (pid == 0)
        witness(c->pid, us);
    if (pid > 0) {
        setpgid(pid, c->pid);
        c->witness = pid;
    }
}

/* It continues only once the witness is there to see what the terminal
 * sends. */
static void adopt(struct child *c, const struct start *s, pid_t pid)
{
    if (s->own_group)
        setpgid(pid, pid); /* whoever is first */
    *c = (struct child){ .pid = pid,
                         .own_group = s->own_group,
                         .has_terminal = s->foreground,
                         .err = s->err };
    if (s->foreground) {
        child_witness(c);
        (void)!write(s->go[1], "", 1);
    }
}

/* vfork costs the same for a large process as for a small one, but suspends us
 * until the child executes the command. On a terminal Ctrl-Z may stop it just
 * before that, and no one would be left to tell the shell. */
int child_start(struct child *c, const struct signals *signals, char **command,
                const int files[3], bool own_group)
{
    bool foreground =
        own_group && !signals->in_pipeline && terminal_is_ours(signals);
    struct start s = {
        .signals = signals,
        .command = command,
        .files = files,
        .own_group = own_group,
        .foreground = foreground,
        .parent = getpid(),
        .err = common_word(foreground),
    };
    pid_t pid;
    int err;

    if (!s.err)
        return ENOMEM;
    if (foreground && pipe2(s.go, O_CLOEXEC) < 0)
        return errno;
    *s.err = 0;
    pid = foreground ? fork() : vfork();
    if (pid == 0)
        become_command(&s);
    err = errno;
    if (pid > 0)
        adopt(c, &s, pid);
    if (foreground) {
        close(s.go[0]);
        close(s.go[1]);
    }
    return pid < 0 ? err : 0;
}

int child_seen(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

int child_testimony(struct child *c)
{
    int status = 0;

    if (!c->witness)
        return 0;
    kill(c->witness, SIGTERM);
    while (waitpid(c->witness, &status, 0) < 0 && errno == EINTR)
        ;
    c->witness = 0;
    return child_seen(status);
}

void child_signal(const struct child *c, int number)
{
    if (c->pid > 0)
        kill(c->own_group ? -c->pid : c->pid, number);
}
