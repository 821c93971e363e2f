/* queue/guard.h: the commands that run, and a process that ends them if the worker is
 * killed.
 *
 *     queue_guard_start();      // before threads, and before a broker is opened
 *     guard_lock();             // then, for each command:
 *     guard_add(pid);
 *     guard_unlock();
 *     ...
 *     guard_hold(pid, until_ns); // by then it must be gone, whatever we do
 *     ...
 *     guard_remove(pid);
 *     queue_guard_stop();
 *
 * The kernel kills a command when its worker is gone (PR_SET_PDEATHSIG), but not what
 * the command has started: `sh -c 'rsync ...'` would leave rsync at work, while the
 * message runs elsewhere. So the table of commands is in memory shared with a small
 * process in a session of its own, which does nothing but wait for the end of a pipe
 * that only the worker holds, and then kills the process group of each command. It kills
 * one whose message may soon run elsewhere (queue/hold.h) also where the worker is frozen.
 *
 * What a command leaves behind becomes the worker's child when the command has ended,
 * and is waited for: guard_tidy(). Without the guard that is left to the program that
 * the worker is a part of, which may have children of its own.
 *
 * Without it (no memory, no process) all goes on; only the kernel's part is done. */
#ifndef BIDE_QUEUE_GUARD_H
#define BIDE_QUEUE_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* False: there is none. Threads: none may run yet. */
bool queue_guard_start(void);
void queue_guard_stop(void);

void guard_lock(void);
void guard_unlock(void);
void guard_add(pid_t pid);    /* with the lock */
void guard_remove(pid_t pid); /* takes the lock */

/* Until when it may go on (queue/hold_clock.h); 0: as long as the worker lets it. Takes the
 * lock. */
void guard_hold(pid_t pid, int64_t until_ns);

/* Waits for processes that have ended and that nobody else waits for: about once a
 * second. */
void guard_tidy(void);

#endif
