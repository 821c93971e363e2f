/* The table of commands, and the process that outlives the worker. */
#include "queue/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "queue/hold_clock.h"

enum { MOST = 4096 };

/* The guard reads it while the worker writes: a group is killed in time only if both are
 * what they were. */
struct entry {
    _Atomic pid_t pid; /* also its process group */
    atomic_int_fast64_t until_ns;
};

struct table {
    atomic_int n;
    struct entry entries[MOST];
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
    int n = atomic_load(&table->n);

    if (n == MOST)
        return;
    atomic_store(&table->entries[n].until_ns, 0);
    atomic_store(&table->entries[n].pid, pid);
    atomic_store(&table->n, n + 1);
}

static struct entry *find(pid_t pid)
{
    for (int i = 0; i < table->n; i++)
        if (table->entries[i].pid == pid)
            return &table->entries[i];
    return NULL;
}

void guard_remove(pid_t pid)
{
    pthread_mutex_lock(&lock);
    struct entry *e = find(pid);
    if (e) {
        const struct entry *last = &table->entries[table->n - 1];
        int64_t until = last->until_ns;
        atomic_store(&e->until_ns, 0);
        atomic_store(&e->pid, last->pid);
        atomic_store(&e->until_ns, until);
        atomic_store(&table->n, table->n - 1);
    }
    pthread_mutex_unlock(&lock);
}

/* The guard waits for nothing while nothing is held; a byte wakes it. */
void guard_hold(pid_t pid, int64_t until_ns)
{
    pthread_mutex_lock(&lock);
    struct entry *e = find(pid);
    bool begins = e && until_ns && !e->until_ns;
    if (e)
        atomic_store(&e->until_ns, until_ns);
    if (begins && guard_pipe >= 0)
        (void)!write(guard_pipe, "", 1);
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
            info.si_pid == 0 || find(info.si_pid))
            break;
        waitpid(info.si_pid, NULL, WNOHANG);
    }
    pthread_mutex_unlock(&lock);
}

/* ===== the process ===== */

/* Kills those whose time is over. Returns for how many ms there is nothing to do; -1: until
 * a byte comes. */
static int kill_those_due(void)
{
    const int64_t now = hold_clock_ns(), ms = 1000000;
    int wait = -1;

    for (int i = 0; i < table->n && i < MOST; i++) {
        struct entry *e = &table->entries[i];
        int64_t until = e->until_ns, left = (until - now) / ms + 1;
        pid_t pid = e->pid;
        if (!until)
            continue;
        if (now >= until && pid > 1 && e->until_ns == until)
            kill(-pid, SIGKILL);
        if (now >= until || left > 1000)
            left = 1000; /* nobody can wait for this clock */
        if (wait < 0 || left < wait)
            wait = (int)left;
    }
    return wait;
}

/* False: the worker is gone. */
static bool wait_for_worker(int wait_ms)
{
    struct pollfd p = { 0, POLLIN, 0 };
    char bytes[64];

    return poll(&p, 1, wait_ms) <= 0 || read(0, bytes, sizeof bytes) > 0;
}

/* It must hold nothing of the worker's: not its output, nor the lock that says
 * that it lives. Signals to the worker are not for it. */
static _Noreturn void guard(int end)
{
    sigset_t all;

    setsid();
    prctl(PR_SET_NAME, "bide-guard");
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    dup2(end, 0);
    close_range(1, ~0U, 0);
    (void)!chdir("/");
    while (wait_for_worker(kill_those_due()))
        ;
    for (int i = 0; i < table->n && i < MOST; i++)
        if (table->entries[i].pid > 1)
            kill(-table->entries[i].pid, SIGKILL);
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
    fcntl(guard_pipe, F_SETFL, O_NONBLOCK); /* a byte that finds no room is not needed */
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
