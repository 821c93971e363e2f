/* The table of commands, and the process that outlives the worker. */
#include "queue/guard.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 4096 };

struct table {
    int n;
    pid_t pids[MOST]; /* also their process groups */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table own;
static struct table *table = &own;
static int guard_pipe = -1; /* closed by our end, however that comes */
static pid_t guard_pid;

/* ===== the table ===== */

void guard_lock(void)
{
    pthread_mutex_lock(&lock);
}

void guard_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void guard_add(pid_t pid)
{
    if (table->n < MOST)
        table->pids[table->n++] = pid;
}

static bool knows(pid_t pid)
{
    for (int i = 0; i < table->n; i++)
        if (table->pids[i] == pid)
            return true;
    return false;
}

void guard_remove(pid_t pid)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < table->n; i++)
        if (table->pids[i] == pid)
            table->pids[i] = table->pids[--table->n];
    pthread_mutex_unlock(&lock);
}

/* One that a thread waits for hides those behind it for a moment: its thread waits
 * for it soon. */
void guard_tidy(void)
{
    siginfo_t info;

    if (guard_pipe < 0)
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 100; i++) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid == 0 || knows(info.si_pid))
            break;
        waitpid(info.si_pid, NULL, WNOHANG);
    }
    pthread_mutex_unlock(&lock);
}

/* ===== the process ===== */

/* It must hold nothing of the worker's: not its output, nor the lock that says
 * that it lives. Signals to the worker are not for it. */
static _Noreturn void guard(int end)
{
    sigset_t all;
    char byte;

    setsid();
    prctl(PR_SET_NAME, "bide-guard");
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    dup2(end, 0);
    close_range(1, ~0U, 0);
    (void)!chdir("/");
    while (read(0, &byte, 1) > 0)
        ;
    for (int i = 0; i < table->n && i < MOST; i++)
        if (table->pids[i] > 1)
            kill(-table->pids[i], SIGKILL);
    _exit(0);
}

bool queue_guard_start(void)
{
    int ends[2];
    struct table *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED)
        return false;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        munmap(shared, sizeof *shared);
        return false;
    }
    table = shared;
    guard_pid = fork();
    if (guard_pid == 0)
        guard(ends[0]);
    close(ends[0]);
    guard_pipe = ends[1];
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return guard_pid > 0;
}

void queue_guard_stop(void)
{
    if (guard_pipe < 0)
        return;
    close(guard_pipe);
    guard_pipe = -1;
    if (guard_pid > 0)
        waitpid(guard_pid, NULL, 0);
}
