/* Sleeping to an absolute time, and being woken.
 *
 * A futex: the sleeper waits for the word to change, the canceller changes it
 * and wakes. That is one system call on either side, is safe in a signal
 * handler, needs no setup or teardown, and takes an absolute time on the
 * monotonic clock, so that a sleep that is interrupted does not get longer. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/futex.h"

/* A point in time as the kernel reads it. The C library's own has 64 bits on a
 * 32-bit machine only where a program asks for that, and the system call that
 * takes 64 bits is another one there. */
struct kernel_time {
    int64_t s, ns;
};

#ifdef SYS_futex_time64
enum { FUTEX = SYS_futex_time64 };
#else
enum { FUTEX = SYS_futex };
#endif

static long futex(long call, uint32_t *word, int op, uint32_t value,
                  const void *until)
{
    return syscall(call, word, op | FUTEX_PRIVATE_FLAG, value, until, NULL,
                   FUTEX_BITSET_MATCH_ANY);
}

/* Linux before 5.1 has only the call with 32 bits there. */
static long futex_wait(uint32_t *word, uint32_t value,
                       const struct kernel_time *until)
{
    long rc = futex(FUTEX, word, FUTEX_WAIT_BITSET, value, until);
#if defined(SYS_futex_time64) && defined(SYS_futex)
    if (rc < 0 && errno == ENOSYS) {
        struct {
            int32_t s, ns;
        } old = { until && until->s < INT32_MAX ? (int32_t)until->s : INT32_MAX,
                  until ? (int32_t)until->ns : 0 };
        rc = futex(SYS_futex, word, FUTEX_WAIT_BITSET, value,
                   until ? &old : NULL);
    }
#endif
    return rc;
}

bool bide__futex_wait(uint32_t *word, uint32_t value, int64_t until_ns)
{
    struct kernel_time until = { until_ns / BIDE_SECOND,
                                 until_ns % BIDE_SECOND };
    const struct kernel_time *limit = until_ns == BIDE_FOREVER ? NULL : &until;
    return futex_wait(word, value, limit) == 0 || errno != ETIMEDOUT;
}

void bide__futex_wake_all(uint32_t *word)
{
    int saved = errno; /* a signal handler must not change it */
    if (futex(FUTEX, word, FUTEX_WAKE, INT_MAX, NULL) < 0 && errno == ENOSYS) {
#ifdef SYS_futex
        futex(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL);
#endif
    }
    errno = saved;
}

void bide_cancel_now(bide_cancel *cancel)
{
    if (!cancel)
        return;
    __atomic_store_n(&cancel->_cancelled, 1, __ATOMIC_SEQ_CST);
    bide__futex_wake_all(&cancel->_cancelled);
}

bool bide_cancelled(const bide_cancel *cancel)
{
    return cancel && __atomic_load_n(&cancel->_cancelled, __ATOMIC_ACQUIRE);
}

bool bide_sleep_until(int64_t at_ns, bide_cancel *cancel)
{
    bide_cancel nobody = { 0 };
    if (!cancel)
        cancel = &nobody;
    while (!bide_cancelled(cancel)) {
        if (bide_now_ns() >= at_ns)
            return true;
        bide__futex_wait(&cancel->_cancelled, 0, at_ns);
    }
    return false;
}
