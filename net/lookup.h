/* net/lookup.h: resolves names in threads that nothing waits for.
 *
 *     struct net_lookups *l = net_lookups_new();
 *     net_lookup(l, "pay.internal");                 // a thread of its own
 *     struct net_answer *a = net_lookups_next(l, until_ns);
 *     if (a && a->found)
 *         use(a->host, a->found);
 *     net_answer_free(a);
 *     net_lookups_free(l);         // what is under way ends by itself, later
 *
 * Each lookup is getaddrinfo() in a detached thread, not a resolver of our own
 * such as c-ares: so a name means what it means to every other program on the
 * machine (/etc/hosts, nsswitch.conf, mDNS, containers, search domains), and
 * there is nothing more to load. The price is that a lookup cannot be
 * cancelled. So nothing ever waits for one: a thread owns what it needs, the
 * mailbox is reference-counted, and an answer that arrives after
 * net_lookups_free() is discarded by its thread. When the process exits, the
 * threads end with it. The caller must limit how many run at once.
 *
 * Threads: one asks, frees and takes answers; any may wake. */
#ifndef BIDE_NET_LOOKUP_H
#define BIDE_NET_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "net/resolve.h"

struct net_lookups;

/* The result of a lookup. Threads: owned. */
struct net_answer {
    struct net_answer *next;     /* of the mailbox */
    struct net_lookups *to;      /* the same */
    struct net_addresses *found; /* with port 0; NULL: none, and ... */
    const char *why;             /* ... the reason, a constant */
    char host[];
};

/* NULL: no memory. */
struct net_lookups *net_lookups_new(void);
void net_lookups_free(struct net_lookups *l); /* NULL is fine */

/* Starts a lookup. False: no thread could be started. */
bool net_lookup(struct net_lookups *l, const char *host);

/* How many are running. */
unsigned net_lookups_running(struct net_lookups *l);

/* Waits for the next answer, which the caller then owns. NULL at `until_ns`, or
 * after net_lookups_wake(). */
struct net_answer *net_lookups_next(struct net_lookups *l, int64_t until_ns);
void net_lookups_wake(struct net_lookups *l);
void net_answer_free(struct net_answer *a); /* NULL is fine */

#endif
