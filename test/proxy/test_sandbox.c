/* What a process in the sandbox may do and what not. Each row runs in a child of
 * its own, which ends with what the call said. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/sandbox.h"

/* The errno of what `try` does inside; 0 if it could do it. */
static int inside(int (*try)(void))
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(sandbox_enter() < 0 ? 255 : try() == 0 ? 0 : errno);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Builds with sanitizers have none, and valgrind cannot work in one: there, these
 * have nothing to show (and meson takes a TAP test that is skipped for failed). */
static bool missing(void)
{
    return !sandbox_built() || getenv("BIDE_TEST_VALGRIND");
}

/* ===== refused ===== */

static long number;

static int call(void)
{
    return (int)syscall(number, 0, 0, 0, 0, 0, 0);
}

static void sandbox_dangerous_calls_are_refused(void **unused)
{
    static const long calls[] = {
        SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv,
        SYS_process_vm_writev, SYS_mount, SYS_umount2, SYS_pivot_root,
        SYS_chroot, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
        SYS_io_uring_setup, SYS_kexec_load, SYS_init_module, SYS_finit_module,
        SYS_delete_module, SYS_unshare, SYS_setns, SYS_reboot, SYS_keyctl,
        SYS_setuid, SYS_setresuid, SYS_setgroups, SYS_capset,
        SYS_clock_settime, SYS_fchownat,
#ifdef SYS_fork
        SYS_fork, SYS_vfork,
#endif
    };
    (void)unused;
    if (missing())
        return;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        number = calls[i];
        if (inside(call) != EPERM)
            fail_msg("call %ld: %d", number, inside(call));
    }
}

static void sandbox_unknown_calls_do_not_exist(void **unused)
{
    static const long calls[] = { SYS_clone3, SYS_lookup_dcookie, 100000 };
    (void)unused;
    if (missing())
        return;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        number = calls[i];
        assert_int_equal(inside(call), ENOSYS);
    }
}

static int start_shell(void)
{
    return execl("/bin/true", "true", (char *)NULL);
}

static int start_process(void)
{
    return fork() < 0 ? -1 : 0;
}

static int start_namespace(void)
{
    return (int)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
}

static int signal_parent(void)
{
    return kill(getppid(), 0);
}

static int limit_parent(void)
{
    return (int)syscall(SYS_prlimit64, getppid(), 7, NULL, NULL);
}

static int type_into_terminal(void)
{
    return ioctl(0, TIOCSTI, "x");
}

static int raw_socket(void)
{
    return socket(AF_PACKET, SOCK_RAW, 0);
}

/* ===== allowed ===== */

static int read_file(void)
{
    char c;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    return read(fd, &c, 1) == 1 ? close(fd) : -1;
}

static int all_sockets(void)
{
    int fds[2];
    return socket(AF_INET, SOCK_STREAM, 0) < 0 ||
                   socket(AF_INET6, SOCK_STREAM, 0) < 0 ||
                   socket(AF_UNIX, SOCK_DGRAM, 0) < 0 ||
                   socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0
               ? -1
               : 0;
}

static void *nothing(void *arg)
{
    return arg;
}

static int start_thread(void)
{
    pthread_t thread;
    errno = pthread_create(&thread, NULL, nothing, NULL);
    return errno ? -1 : pthread_join(thread, NULL);
}

static int look_up(void)
{
    struct addrinfo *list = NULL;
    if (getaddrinfo("localhost", "80", NULL, &list) != 0)
        return errno = EHOSTUNREACH, -1;
    freeaddrinfo(list);
    return 0;
}

static int signal_itself(void)
{
    signal(SIGUSR1, SIG_IGN);
    return kill(getpid(), SIGUSR1) < 0 ? -1 : raise(SIGUSR1);
}

static int map_memory(void)
{
    void *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    free(malloc(1 << 22));
    return p == MAP_FAILED ? -1 : munmap(p, 1 << 20);
}

static void sandbox_answers(void **unused)
{
    static const struct {
        int (*try)(void);
        int error;
    } rows[] = {
        { start_shell, EPERM },
        { start_process, EPERM },
        { start_namespace, EPERM },
        { signal_parent, EPERM },
        { limit_parent, EPERM },
        { type_into_terminal, EPERM },
        { raw_socket, EAFNOSUPPORT },
        { read_file, 0 },
        { all_sockets, 0 },
        { start_thread, 0 },
        { look_up, 0 },
        { signal_itself, 0 },
        { map_memory, 0 },
    };
    (void)unused;
    if (missing())
        return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int error = inside(rows[i].try);
        if (error != rows[i].error)
            fail_msg("row %zu: %d, expected %d", i, error, rows[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sandbox_dangerous_calls_are_refused),
        cmocka_unit_test(sandbox_unknown_calls_do_not_exist),
        cmocka_unit_test(sandbox_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
