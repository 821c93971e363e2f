/* Starting a command, and reaching all of its process group. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_cmd.h"

/* What the child reads. */
struct start {
    const struct signals *signals;
    char **command;
    const int *files;
    bool foreground;
    pid_t parent;
    volatile int *err; /* what it writes, if it cannot become the command */
};

/* If we are killed, the command is told to end. Its grandchildren are not: that
 * is as far as the kernel goes. */
static void become_command(const struct start *s)
{
    setpgid(0, 0);
    if (s->foreground)
        terminal_give(s->signals, getpid());
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

/* Processes that lose their parent become ours, so that we see the end of them:
 * a group is empty only when the last of it has been waited for, and not every
 * init does that. */
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

/* vfork costs the same for a large process as for a small one, but we stand
 * still until the child has become the command. On a terminal Ctrl-Z may stop
 * it just before that, and nobody would be left to tell the shell. */
int child_start(struct child *c, const struct signals *signals, char **command,
                const int files[3])
{
    bool foreground = !signals->in_pipeline && terminal_is_ours(signals);
    struct start s = { signals,    command,  files,
                       foreground, getpid(), common_word(foreground) };
    pid_t pid;

    if (!s.err)
        return ENOMEM;
    *s.err = 0;
    pid = foreground ? fork() : vfork();
    if (pid == 0)
        become_command(&s);
    if (pid < 0)
        return errno;
    setpgid(pid, pid); /* whoever is first */
    *c = (struct child){ .pid = pid, .has_terminal = foreground, .err = s.err };
    return 0;
}

/* All are blocked but those that are waited for: what the group gets besides is
 * not for it. TERM, which is how it is let go, comes last of them. */
static void witness(pid_t group, pid_t parent)
{
    sigset_t all, ends;
    int number = 0;

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
    sigwait(&ends, &number);
    _exit(number);
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

int child_seen(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) != SIGTERM
               ? WEXITSTATUS(status)
               : 0;
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
        kill(-c->pid, number);
}
