/* net/sandbox.h: what a process that serves may ask of the kernel.
 *
 *     if (sandbox_enter() < 0)
 *         fprintf(stderr, "no sandbox: %s\n", strerror(errno));
 *
 * A process that has been taken over by a request should not be able to start a
 * program, look into another process, mount, load code into the kernel, or
 * change who it is. sandbox_enter() installs a seccomp filter that says so, for
 * all threads, those that are there and those to come. It cannot be taken off.
 *
 * Three answers, in this order:
 *   - EPERM for what no serving process ever needs (`never` in sandbox.c);
 *   - yes for what it needs, some of it only with certain arguments: sockets of
 *     the families that it uses, threads but no processes, signals to itself;
 *   - ENOSYS for all else, because libraries know what to do without a call
 *     that the kernel does not have, while being killed for it would turn an
 *     update of the C library into an outage.
 * The kernel's audit log names each refusal.
 *
 * Not in builds with sanitizers, which need to start processes and to look into
 * them: sandbox_built() says so. */
#ifndef BIDE_NET_SANDBOX_H
#define BIDE_NET_SANDBOX_H

#include <stdbool.h>

/* Whether this build has one, on this machine. */
bool sandbox_built(void);

/* 0; -1 and errno, and nothing is changed but that no program that is started
 * from here can gain privileges. Where none is built: 0. */
int sandbox_enter(void);

#endif
