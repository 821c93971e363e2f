/* net/systemd.h: the few words that a service and systemd exchange, without a
 * library.
 *
 *     int n = systemd_listen_fds(&first);     // sockets that were passed
 *     systemd_notify("READY=1\nSTATUS=serving");
 *
 * Where there is no systemd they do nothing, and nobody waits for one that does
 * not listen. */
#ifndef BIDE_NET_SYSTEMD_H
#define BIDE_NET_SYSTEMD_H

#include <stdint.h>

/* How many listening sockets this process was given ($LISTEN_FDS), from
 * *ret_first on; 0 if none, or if they are for another process. They are made
 * non-blocking, and the variables are taken away: children do not inherit them.
 */
int systemd_listen_fds(int *ret_first);

/* From now on what is told goes to another process, by a line (line.h, "notify"):
 * one that systemd listens to. */
void systemd_relay(int line);

/* Tells $NOTIFY_SOCKET how things are. 0; -1 and errno, which nobody must heed.
 */
int systemd_notify(const char *state);

/* How often systemd wants to hear `WATCHDOG=1` from this process
 * ($WATCHDOG_USEC), in nanoseconds; 0: it does not. The variables are taken
 * away. */
int64_t systemd_watchdog_ns(void);

#endif
