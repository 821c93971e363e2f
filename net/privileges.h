/* net/privileges.h: from root to a user who can do little.
 *
 *     if (privileges_drop("bide", NULL, err, sizeof err) < 0)
 *         die(err);
 *
 * For good: neither user, group nor supplementary groups of before can be had
 * again, by any thread. What needs them (ports below 1024) comes before. */
#ifndef BIDE_NET_PRIVILEGES_H
#define BIDE_NET_PRIVILEGES_H

#include <stddef.h>

/* Becomes a user, by name or number, and a group; NULL: the user's own, with its
 * supplementary groups. Who is that user already stays it. -1, and why. */
int privileges_drop(const char *user, const char *group, char *err,
                    size_t err_size);

#endif
