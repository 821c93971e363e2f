/* proxy/resolver.h: a thread that asks for the addresses of endpoints with
 * names, again and again, so that no worker ever waits for a name server.
 *
 *     struct resolver *r = resolver_new(proxy);      // NULL: no memory
 *     resolver_wake(r);                              // after a reload
 *     resolver_free(r);                              // ends the thread
 *
 * An endpoint whose name cannot be resolved keeps the addresses it had. One
 * that never had any fails its attempts with `dns`, and is asked for every
 * second.
 *
 * Threads: shared. */
#ifndef BIDE_PROXY_RESOLVER_H
#define BIDE_PROXY_RESOLVER_H

struct proxy;
struct resolver;

struct resolver *resolver_new(struct proxy *p);
void resolver_wake(struct resolver *r);
void resolver_free(struct resolver *r); /* NULL is fine */

#endif
