/* proxy/front/per_client.h: connections and rates of each client address, over
 * all workers.
 *
 *     uint32_t place;
 *     if (per_client_enter(t, address, len, most, now, &place) == PER_CLIENT_OVER)
 *         refuse();
 *     int64_t wait_ns = per_client_ask(t, place, PER_CLIENT_REQUESTS, rate, now);
 *     ...
 *     per_client_leave(t, place);               // the connection has ended
 *
 * A table of fixed size: 65536 addresses at a time, 2 MiB that are touched only
 * where they are used. An IPv6 address counts by its /64, which is what one
 * customer has.
 *
 * An address has a place from its first connection on. The place is given to
 * another only when nothing is open and its rates have recovered: when it has
 * the same state as a new place. So no client can evict the counts that limit
 * it, whatever addresses it has. A client that finds no place is not limited
 * (but counted): that takes tens of thousands of busy addresses at once,
 * against which a limit for each would do nothing. The place of an address is
 * hashed with a secret, so that no one can crowd one spot.
 *
 * A connection holds its place, so that a request needs no lookup: it is one
 * compare-and-swap. Only connecting and closing take a lock, of a 64th of the
 * table.
 *
 * Threads: shared. */
#ifndef BIDE_PROXY_FRONT_PER_CLIENT_H
#define BIDE_PROXY_FRONT_PER_CLIENT_H

#include <stdint.h>

struct per_client;

enum { PER_CLIENT_PLACES = 65536 };

enum per_client_result {
    PER_CLIENT_IN,   /* counted; *ret_place is over 0 */
    PER_CLIENT_OVER, /* it has the maximum; not counted */
    PER_CLIENT_FULL  /* there is no place; *ret_place is 0 */
};

enum per_client_rate {
    PER_CLIENT_REQUESTS,
    PER_CLIENT_HANDSHAKES,
    PER_CLIENT_RATES
};

/* NULL: no memory. */
struct per_client *per_client_new(uint64_t secret);
void per_client_free(struct per_client *t); /* NULL is fine */

/* A connection from that address, of 4 or 16 bytes, if it has fewer than
 * `most`; otherwise *ret_place is untouched. */
enum per_client_result per_client_enter(struct per_client *t,
                                        const uint8_t *address, unsigned len,
                                        uint32_t most, int64_t now_ns,
                                        uint32_t *ret_place);

/* It has ended; place 0 is fine. */
void per_client_leave(struct per_client *t, uint32_t place);

/* Takes one of so many a second, with a burst of a second's worth (at least
 * one): 0; or, if there is none, the time until there will be. */
int64_t per_client_ask(struct per_client *t, uint32_t place,
                       enum per_client_rate which, double per_s,
                       int64_t now_ns);

#endif
