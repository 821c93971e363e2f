/* net/systemd.h: the few messages that a service and systemd exchange, without
 * a library.
 *
 *     int n = systemd_listen_fds(&first);     // sockets that were passed
 *     systemd_notify("READY=1\nSTATUS=serving");
 *
 * Without systemd they do nothing, and they never wait for one that does not
 * listen. */
#ifndef BIDE_NET_SYSTEMD_H
#define BIDE_NET_SYSTEMD_H

#include <stdint.h>

/* How many listening sockets this process was given ($LISTEN_FDS), from
 * *ret_first on; 0 if none, or if they are for another process. They are made
 * non-blocking, and the variables are unset: children do not inherit them. */
int systemd_listen_fds(int *ret_first);

/* From now on notifications go to another process through a line (line.h,
 * "notify"): one that systemd listens to. */
void systemd_relay(int line);

/* Notifies $NOTIFY_SOCKET. 0; -1 and errno, which may be ignored. */
int systemd_notify(const char *state);

/* How often systemd expects `WATCHDOG=1` from this process ($WATCHDOG_USEC), in
 * nanoseconds; 0: never. The variables are unset. */
int64_t systemd_watchdog_ns(void);

#endif
