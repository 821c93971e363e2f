/* proxy/back/resolver.h: a thread that keeps the addresses of endpoints with
 * names up to date, so that neither a worker nor startup, reload or shutdown of
 * the proxy ever waits for a name server.
 *
 *     struct resolver *r = resolver_new(proxy);      // NULL: no memory
 *     resolver_wake(r);                              // after a reload
 *     resolver_free(r);                              // ends the thread
 *
 * Each name is resolved separately (net/lookup.h), all of them in parallel,
 * every `resolve`. A lookup that fails is retried sooner, with backoff; the
 * endpoint keeps its addresses. Attempts to an endpoint whose first lookup is
 * running wait for it; after that has failed they fail with `dns`.
 *
 * Threads: shared. */
#ifndef BIDE_PROXY_BACK_RESOLVER_H
#define BIDE_PROXY_BACK_RESOLVER_H

struct proxy;
struct resolver;

struct resolver *resolver_new(struct proxy *p);
void resolver_wake(struct resolver *r);
void resolver_free(struct resolver *r); /* NULL is fine */

#endif
