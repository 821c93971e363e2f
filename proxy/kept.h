/* proxy/kept.h: descriptors that outlive the serving process.
 *
 *     int fd = kept_take(kept, "listen 0 127.0.0.1:80");    // from before
 *     if (fd < 0 && (fd = net_listen(&address, flags)) >= 0)
 *         kept_hold(kept, "listen 0 127.0.0.1:80", fd);     // for the next
 *     ...
 *     kept_drop(kept, "listen 0 127.0.0.1:80");             // no more
 *
 * A table of names and descriptors. The supervisor has one with a copy of each
 * listening socket: a connection that waits in its queue survives the process
 * that was to accept it. A serving process begins with a copy of that table,
 * takes from it what its configuration names, and tells the supervisor what is
 * new and what is gone. Without a supervisor the table holds the sockets from
 * systemd, and no one is told.
 *
 * Threads: owned by the one that reads the configuration. */
#ifndef BIDE_PROXY_KEPT_H
#define BIDE_PROXY_KEPT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define KEPT_SETTLED UINT_MAX

/* Threads: owned. */
struct kept_entry {
    char *name;
    int fd;
    unsigned owner; /* the seat of the process that put it here and does not
                       serve yet; KEPT_SETTLED: it stays */
    bool fresh;     /* opened by this process, ahead of its use */
};

/* All zero but for line (-1: nobody to tell) is an empty one. Threads: owned. */
struct kept {
    int line; /* to the supervisor */
    struct kept_entry *list;
    size_t n;
};

/* Puts a descriptor into the table, replacing one of the same name; the table
 * then owns it, even on failure (-1). */
int kept_put(struct kept *k, const char *name, int fd, unsigned owner);

/* What an owner had put here stays: it serves. Its seat may later be
 * another's. */
void kept_settle(struct kept *k, unsigned owner);

/* Closes one, or those of one owner, or all. */
void kept_remove(struct kept *k, const char *name);
void kept_remove_owned(struct kept *k, unsigned owner);
void kept_clear(struct kept *k);

/* The entry of that name, or NULL. */
struct kept_entry *kept_find(const struct kept *k, const char *name);

/* Removes the descriptor and returns it to the caller. -1: there is none. */
int kept_take(struct kept *k, const char *name);

/* Tell the supervisor to keep a copy, or to close its own. */
void kept_hold(const struct kept *k, const char *name, int fd);
void kept_drop(const struct kept *k, const char *name);

/* Closes what was not taken, here and at the supervisor. */
void kept_drop_rest(struct kept *k);

#endif
