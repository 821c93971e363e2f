/* proxy/once/port.h: the store of a generation, and a worker's way to it.
 *
 *   generation --holds--> once_store (the store, shared by all that use it)
 *                             ^
 *   worker --has--> once_port-' results arrive at its descriptor; one timer
 *                               renews the leases of all keys that are ours
 *
 * A reload that names the same store goes on with it. With another, new requests
 * use that one; a worker's old port stays until its last key is done with. */
#ifndef BIDE_PROXY_ONCE_PORT_H
#define BIDE_PROXY_ONCE_PORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "bide/store.h"
#include "net/loop.h"

struct bide__proxy_conf;
struct bide__store_settings;
struct once;
struct proxy_hooks;
struct worker;

/* Threads: shared. */
struct once_store {
    atomic_uint refs;
    bide_store *store;
    char *url;
    bide_store_conf conf;
};

/* A worker's. Threads: owned. */
struct once_port {
    struct net_io io; /* first: events refer to it */
    struct net_grave grave;
    struct worker *worker;
    struct once_store *store;
    bide_store_port *port;
    struct bide__list ours; /* keys whose leases are to be renewed */
    struct net_timer timer; /* ... when the first of them is due */
    size_t n_keys;          /* that refer to it */
    size_t bytes;           /* of answers that are being held */
    bool retired;           /* new keys go elsewhere */
};

/* Whether a configuration has a route that accepts keys. */
bool once_is_used(const struct bide__proxy_conf *conf);

/* Opens the store that the settings say, or goes on with the one that is open
 * (may be NULL) if it is the same. NULL and why. */
struct once_store *
once_store_open(const struct bide__store_settings *settings,
                const struct proxy_hooks *hooks, struct once_store *open,
                char *err, size_t err_size);
struct once_store *once_store_ref(struct once_store *s); /* NULL is fine */
void once_store_unref(struct once_store *s); /* NULL is fine */

/* Gives a worker a port to the store of its generation, or none. False: no
 * memory or descriptor. */
bool once_follow(struct worker *w);
void once_port_free(struct once_port *p); /* NULL is fine */

/* A key refers to it, or no longer. */
void once_port_use(struct once_port *p);
void once_port_leave(struct once_port *p);

/* Submits `op` or `renewal` of a key; false: it could not be. */
bool once_submit(struct once *o, bide_store_op *op);

/* The key is ours: its lease is renewed from now on; or no longer. */
void once_hold_lease(struct once *o);
void once_drop_lease(struct once *o);

#endif
