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
#include <time.h>
#include <unistd.h>

#include "run/futex.h"

static long futex(uint32_t *word, int op, uint32_t value,
                  const struct timespec *until)
{
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, until, NULL,
                   FUTEX_BITSET_MATCH_ANY);
}

bool bide__futex_wait(uint32_t *word, uint32_t value, int64_t until_ns)
{
    struct timespec until = { (time_t)(until_ns / BIDE_SECOND),
                              (long)(until_ns % BIDE_SECOND) };
    const struct timespec *limit = until_ns == BIDE_FOREVER ? NULL : &until;
    return futex(word, FUTEX_WAIT_BITSET, value, limit) == 0 ||
           errno != ETIMEDOUT;
}

void bide__futex_wake_all(uint32_t *word)
{
    int saved = errno; /* a signal handler must not change it */
    futex(word, FUTEX_WAKE, INT_MAX, NULL);
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
