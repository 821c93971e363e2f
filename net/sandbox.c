/* The seccomp filter, written out as a table and a few argument checks.
 *
 * No libseccomp: a list of numbers and two dozen instructions do not justify a
 * library in a program that has almost none. Calls without an argument check
 * are plain comparisons, which the kernel (since 5.11) turns into a bitmap, so
 * that they cost nothing. */
#include "net/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net/sandbox_calls.h"

#if defined __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#endif

#if defined ARCH && defined BIDE_SANDBOX

enum {
    MOST = 1024,
    X32_BIT = 0x40000000, /* the x32 calls of x86-64 */
    NEW_NAMESPACE = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                    CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
};

/* Threads: owned. */
struct program {
    struct sock_filter code[MOST];
    unsigned short n;
};

/* ===== instructions ===== */

static void emit(struct program *p, uint16_t code, uint8_t yes, uint8_t no,
                 uint32_t k)
{
    if (p->n < MOST)
        p->code[p->n] = (struct sock_filter){ code, yes, no, k };
    p->n++;
}

static void load(struct program *p, size_t offset)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

/* The low half of an argument; those checked here have no other. */
static void load_argument(struct program *p, unsigned i)
{
    load(p, offsetof(struct seccomp_data, args) + i * sizeof(uint64_t));
}

static void answer(struct program *p, uint32_t what)
{
    emit(p, BPF_RET | BPF_K, 0, 0, what);
}

static uint32_t refusal(int error)
{
    return SECCOMP_RET_ERRNO | (uint32_t)error;
}

/* If the loaded value is k, returns this verdict; otherwise continues. */
static void if_is(struct program *p, uint32_t k, uint32_t what)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, k);
    answer(p, what);
}

static void if_has_any(struct program *p, uint32_t bits, uint32_t what)
{
    emit(p, BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
    answer(p, what);
}

/* ===== calls whose arguments are checked ===== */

/* Begins the part for this call alone; end_call() closes it. */
static unsigned begin_call(struct program *p, uint32_t number)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, number);
    return p->n - 1u;
}

static void end_call(struct program *p, unsigned begun, uint32_t otherwise)
{
    answer(p, otherwise);
    if (begun < MOST)
        p->code[begun].jf = (uint8_t)(p->n - begun - 1);
}

static void only_families(struct program *p, uint32_t number)
{
    static const uint32_t families[] = { AF_UNIX, AF_INET, AF_INET6,
                                         AF_NETLINK /* getaddrinfo() asks */ };
    unsigned begun = begin_call(p, number);
    load_argument(p, 0);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if_is(p, families[i], SECCOMP_RET_ALLOW);
    end_call(p, begun, refusal(EAFNOSUPPORT));
}

static void only_threads(struct program *p)
{
    unsigned begun = begin_call(p, __NR_clone);
    load_argument(p, 0);
    if_has_any(p, NEW_NAMESPACE, refusal(EPERM));
    if_has_any(p, CLONE_THREAD, SECCOMP_RET_ALLOW);
    end_call(p, begun, refusal(EPERM));
}

/* A process, by its first argument: only itself. */
static void only_itself(struct program *p, uint32_t number)
{
    unsigned begun = begin_call(p, number);
    load_argument(p, 0);
    if_is(p, (uint32_t)getpid(), SECCOMP_RET_ALLOW);
    if (number == __NR_prlimit64)
        if_is(p, 0, SECCOMP_RET_ALLOW);
    end_call(p, begun, refusal(EPERM));
}

/* Nothing may be injected into a terminal that is shared with a shell. */
static void no_typing(struct program *p)
{
    enum { LINUX_CONSOLE = 0x541c };
    unsigned begun = begin_call(p, __NR_ioctl);
    load_argument(p, 1);
    if_is(p, TIOCSTI, refusal(EPERM));
    if_is(p, LINUX_CONSOLE, refusal(EPERM));
    end_call(p, begun, SECCOMP_RET_ALLOW);
}

/* ===== the whole filter ===== */

static void write_program(struct program *p)
{
    load(p, offsetof(struct seccomp_data, arch));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
    answer(p, SECCOMP_RET_KILL_PROCESS);
    load(p, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    emit(p, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT);
    answer(p, refusal(ENOSYS));
#endif
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        if_is(p, never[i], refusal(EPERM));
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if_is(p, always[i], SECCOMP_RET_ALLOW);
    only_families(p, __NR_socket);
    only_families(p, __NR_socketpair);
    only_threads(p);
    only_itself(p, __NR_kill);
    only_itself(p, __NR_tgkill);
    only_itself(p, __NR_rt_sigqueueinfo);
    only_itself(p, __NR_prlimit64);
    no_typing(p);
    answer(p, refusal(ENOSYS));
}

/* Refusals are logged if the kernel can; and no speculation mitigations, which
 * would slow the process down for code that we do not run. */
static int install(const struct sock_fprog *filter)
{
    static const unsigned long flags[] = {
        SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG |
            SECCOMP_FILTER_FLAG_SPEC_ALLOW,
        SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG,
        SECCOMP_FILTER_FLAG_TSYNC
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags[i], filter) ==
            0)
            return 0;
        else if (errno != EINVAL)
            break;
    return -1;
}

bool sandbox_built(void)
{
    return true;
}

int sandbox_enter(void)
{
    static struct program p;
    p.n = 0;
    write_program(&p);
    if (p.n > MOST) {
        errno = E2BIG;
        return -1;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return install(&(struct sock_fprog){ .len = p.n, .filter = p.code });
}

#else

bool sandbox_built(void)
{
    return false;
}

int sandbox_enter(void)
{
    return 0;
}

#endif
