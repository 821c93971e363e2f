/* Starting a command from a thread.
 *
 * vfork costs the same for a large process as for a small one, and stops only the
 * thread that calls it. The child does nothing but system calls. */
#include "queue/command_start.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "queue/command.h"
#include "queue/guard.h"

/* The body as a file: it can be read twice, and never blocks anybody. */
static int body_file(const void *body, size_t len)
{
    int fd = memfd_create("message", MFD_CLOEXEC);
    const char *at = body;

    while (fd >= 0 && len > 0) {
        ssize_t n = write(fd, at, len);
        if (n <= 0) {
            close(fd);
            return -1;
        }
        at += n;
        len -= (size_t)n;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

struct start {
    char **argv, **env;
    const sigset_t *mask;
    int files[3];
    pid_t parent;
    volatile int err;
};

/* If the worker is killed, the message runs elsewhere: what it started must not
 * go on. */
static void become(struct start *s)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != s->parent)
        _exit(127);
    for (int i = 0; i < 3; i++)
        if (dup2(s->files[i], i) < 0)
            _exit(127);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, s->mask, NULL);
    execvpe(s->argv[0], s->argv, s->env);
    s->err = errno;
    _exit(127);
}

static pid_t spawn(struct start *s)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!s->mask)
        s->mask = &before;
    s->parent = getpid();
    guard_lock(); /* a stray reaper must know it before it ends */
    pid_t pid = vfork();
    if (pid == 0)
        become(s);
    if (pid < 0)
        s->err = errno;
    else
        guard_add(pid);
    guard_unlock();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid;
}

static void close_files(int files[3])
{
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0)
            close(files[i]);
}

static int open_files(struct command_child *c, int files[3], const void *body,
                      size_t len)
{
    int pipes[2][2] = { { -1, -1 }, { -1, -1 } };

    files[0] = body_file(body, len);
    for (int i = 0; i < 2 && files[0] >= 0; i++)
        if (pipe2(pipes[i], O_CLOEXEC) < 0)
            break;
    int err = errno;
    for (int i = 0; i < 2; i++) {
        c->out[i] = pipes[i][0];
        files[1 + i] = pipes[i][1];
    }
    return files[0] >= 0 && pipes[1][0] >= 0 ? 0 : err ? err : ENOMEM;
}

int command_start(struct command_child *c, char **argv, char **env,
                  const sigset_t *mask, const void *body, size_t len)
{
    struct start s = { .argv = argv, .env = env, .mask = mask,
                       .files = { -1, -1, -1 } };

    *c = (struct command_child){ .pid = -1, .pidfd = -1, .out = { -1, -1 } };
    int err = open_files(c, s.files, body, len);
    if (!err)
        c->pid = spawn(&s);
    close_files(s.files);
    if (!err)
        err = s.err;
    if (!err) {
        setpgid(c->pid, c->pid); /* whoever is first */
        c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
        if (c->pidfd < 0) {
            err = errno;
            kill(-c->pid, SIGKILL);
        }
    }
    for (int i = 0; i < 2 && !err; i++)
        fcntl(c->out[i], F_SETFL, O_NONBLOCK);
    if (!err)
        return 0;
    if (c->pid > 0)
        waitpid(c->pid, NULL, 0);
    command_clean_up(c);
    return err;
}

void command_clean_up(struct command_child *c)
{
    if (c->pid > 0) {
        kill(-c->pid, SIGKILL);
        while (waitpid(-c->pid, NULL, WNOHANG) > 0)
            ;
        guard_remove(c->pid);
    }
    for (int i = 0; i < 2; i++)
        if (c->out[i] >= 0)
            close(c->out[i]);
    if (c->pidfd >= 0)
        close(c->pidfd);
}

/* ===== before the first message ===== */

static int executable(const char *path)
{
    return access(path, X_OK) == 0 ? 0 : errno;
}

int queue_command_find(const char *name)
{
    const char *path = getenv("PATH");
    char whole[4096];
    int err = ENOENT;

    if (!*name)
        return ENOENT;
    if (strchr(name, '/'))
        return executable(name);
    for (path = path ? path : "/bin:/usr/bin"; *path;) {
        size_t n = strcspn(path, ":");
        int len = snprintf(whole, sizeof whole, "%.*s/%s", (int)n,
                           n ? path : ".", name);
        if (len > 0 && (size_t)len < sizeof whole) {
            int rc = executable(whole);
            if (rc == 0)
                return 0;
            if (rc == EACCES)
                err = EACCES;
        }
        path += n + (path[n] == ':');
    }
    return err;
}
