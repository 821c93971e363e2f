/* Signals that come for the command, and the terminal it may use.
 *
 * All that we pass on are blocked, and arrive as bytes: no handler runs, so
 * none can interrupt anything. The command gets the mask that we were given,
 * and what was ignored stays ignored, as nohup(1) wants it.
 *
 * A command has a process group of its own, so that all of it can be ended. On
 * a terminal that group must be in the foreground, or the command could not
 * read a password; then Ctrl-C and Ctrl-Z reach it, not us, and we must do for
 * our own group what the terminal would have done. In a pipeline somebody else
 * may need the terminal, a pager say: there it is given away only when the
 * command asks for it, which is when it is stopped for having touched it. Under
 * a shell that has TTIN ignored, as an interactive one has for $(...), nothing
 * is stopped: there the command gets the terminal at once. */
#include "cmd/run/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* PIPE, TTOU and XFSZ do not arrive: they only must not end or stop us. */
static const int arriving[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGCHLD, SIGTSTP, SIGCONT };

static void fill(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof arriving / sizeof arriving[0]; i++)
        sigaddset(set, arriving[i]);
}

static bool is_ignored(int number)
{
    struct sigaction act;

    return sigaction(number, NULL, &act) == 0 && act.sa_handler == SIG_IGN;
}

static bool is_pipe(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 &&
           (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* A parent may have left SIGCHLD ignored; then there would be nothing to wait
 * for. */
int signals_init(struct signals *s)
{
    sigset_t set;

    signal(SIGCHLD, SIG_DFL);
    fill(&set);
    s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->fd < 0)
        return errno;
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGTTOU);
    sigaddset(&set, SIGXFSZ); /* write() tells of it */
    if (sigprocmask(SIG_BLOCK, &set, &s->original) < 0)
        return errno;
    s->group = getpgrp();
    s->in_pipeline = (is_pipe(STDIN_FILENO) || is_pipe(STDOUT_FILENO)) &&
                     !is_ignored(SIGTTIN);
    s->terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    return 0;
}

int signals_next(struct signals *s)
{
    struct signalfd_siginfo info;

    if (read(s->fd, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    s->sender = info.ssi_code == SI_KERNEL ? 0 : (pid_t)info.ssi_pid;
    return (int)info.ssi_signo;
}

void signals_forget(int number)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    while (sigtimedwait(&set, NULL, &(struct timespec){ 0, 0 }) > 0)
        ;
}

bool terminal_is_ours(const struct signals *s)
{
    return s->terminal >= 0 && tcgetpgrp(s->terminal) == s->group;
}

void terminal_give(const struct signals *s, pid_t group)
{
    if (s->terminal >= 0)
        (void)tcsetpgrp(s->terminal, group);
}

void stop_ourselves(bool job)
{
    if (job)
        kill(0, SIGTSTP); /* the others of a pipeline ... */
    signals_forget(SIGTSTP);
    raise(SIGSTOP); /* ... and we, whatever our mask says */
}

void die_by(int number)
{
    sigset_t set;

    prctl(PR_SET_DUMPABLE, 0); /* it is not our core that is wanted */
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}
