/* net/lookup.h: names looked up by threads that nobody waits for.
 *
 *     struct net_lookups *l = net_lookups_new();
 *     net_lookup(l, "pay.internal");                 // a thread of its own
 *     struct net_answer *a = net_lookups_next(l, until_ns);
 *     if (a && a->found)
 *         use(a->host, a->found);
 *     net_answer_free(a);
 *     net_lookups_free(l);         // what is under way ends by itself, later
 *
 * Each lookup is getaddrinfo() in a detached thread, and not a resolver of our
 * own such as c-ares: so a name means here what it means to every other program
 * on the machine (/etc/hosts, nsswitch.conf, mDNS, containers, search domains),
 * and there is nothing more to load. The price is that a lookup cannot be
 * called off. So nobody ever waits for one: what a thread needs belongs to it,
 * the mailbox is counted, and an answer that comes after net_lookups_free() is
 * thrown away by the thread that brings it. A process that ends takes the
 * threads with it. How many run at once is for the caller to bound.
 *
 * Threads: one asks, frees and takes answers; any may wake. */
#ifndef BIDE_NET_LOOKUP_H
#define BIDE_NET_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "net/resolve.h"

struct net_lookups;

/* What became of a lookup. Threads: owned. */
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

/* Starts to look a name up. False: there is no thread to be had. */
bool net_lookup(struct net_lookups *l, const char *host);

/* How many are under way. */
unsigned net_lookups_running(struct net_lookups *l);

/* Waits for the next answer, which is then the caller's. NULL when the time has
 * come, or somebody called net_lookups_wake(). */
struct net_answer *net_lookups_next(struct net_lookups *l, int64_t until_ns);
void net_lookups_wake(struct net_lookups *l);
void net_answer_free(struct net_answer *a); /* NULL is fine */

#endif
