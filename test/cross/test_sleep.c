/* Waiting on a machine of 32 bits, also where time has 64: it sleeps, it does not
 * spin. A system call that reads the time wrongly returns at once, or never. */
#include <stdio.h>

#include "bide/run.h"
#include "run/futex.h"

int main(void)
{
    uint32_t word = 0;
    int64_t until = bide_now_ns() + 20 * BIDE_MILLISECOND;
    int spurious = 0;
    while (bide__futex_wait(&word, 0, until) && spurious < 100)
        spurious++; /* a signal may wake it now and then, nothing else */
    if (spurious == 100 || bide_now_ns() < until) {
        printf("woken %d times, %lld ns too early\n", spurious,
               (long long)(until - bide_now_ns()));
        return 1;
    }
    if (bide__futex_wait(&word, 1, BIDE_FOREVER) != true)
        return 1; /* another value: not a timeout */
    return bide_sleep_until(bide_now_ns() + BIDE_MILLISECOND, NULL) ? 0 : 1;
}
