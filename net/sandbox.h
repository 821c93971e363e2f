/* net/sandbox.h: which system calls a serving process may make.
 *
 *     if (sandbox_enter() < 0)
 *         fprintf(stderr, "no sandbox: %s\n", strerror(errno));
 *
 * A process that a request has compromised should not be able to start a
 * program, inspect another process, mount, load code into the kernel, or change
 * its user. sandbox_enter() installs a seccomp filter that enforces this, for
 * all threads, present and future. It cannot be removed.
 *
 * Three verdicts, in this order:
 *   - EPERM for what no serving process ever needs (`never` in sandbox.c);
 *   - yes for what it needs, some of it only with certain arguments: sockets of
 *     the families that it uses, threads but no processes, signals to itself;
 *   - ENOSYS for everything else, because libraries can cope with a call that
 *     the kernel does not have, while being killed for it would turn an update
 *     of the C library into an outage.
 * The kernel's audit log names each refusal.
 *
 * Not in builds with sanitizers, which need to start processes and to inspect
 * them: see sandbox_built(). */
#ifndef BIDE_NET_SANDBOX_H
#define BIDE_NET_SANDBOX_H

#include <stdbool.h>

/* Whether this build has one, on this machine. */
bool sandbox_built(void);

/* 0; -1 and errno, and then nothing has changed except that programs started
 * from here cannot gain privileges. If there is no sandbox: 0. */
int sandbox_enter(void);

#endif
