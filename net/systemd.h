/* net/systemd.h: the few words that a service and systemd exchange, without a
 * library.
 *
 *     int n = systemd_listen_fds(&first);     // sockets that were passed
 *     systemd_notify("READY=1\nSTATUS=serving");
 *
 * Where there is no systemd both do nothing. */
#ifndef BIDE_NET_SYSTEMD_H
#define BIDE_NET_SYSTEMD_H

/* How many listening sockets this process was given ($LISTEN_FDS), from
 * *ret_first on; 0 if none, or if they are for another process. They are made
 * non-blocking, and the variables are taken away: children do not inherit them.
 */
int systemd_listen_fds(int *ret_first);

/* Tells $NOTIFY_SOCKET how things are. 0; -1 and errno, which nobody must heed.
 */
int systemd_notify(const char *state);

#endif
