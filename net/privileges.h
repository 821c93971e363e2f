/* net/privileges.h: from root to an unprivileged user.
 *
 *     if (privileges_drop("bide", NULL, err, sizeof err) < 0)
 *         die(err);
 *
 * Permanently: no thread can regain the old user, group or supplementary
 * groups. Do whatever needs them (ports below 1024) first. */
#ifndef BIDE_NET_PRIVILEGES_H
#define BIDE_NET_PRIVILEGES_H

#include <stddef.h>

/* Switches to a user, by name or number, and a group; NULL: the user's own,
 * with its supplementary groups. Does nothing if the process already runs as
 * that user. -1, and why. */
int privileges_drop(const char *user, const char *group, char *err,
                    size_t err_size);

#endif
