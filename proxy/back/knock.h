/* proxy/back/knock.h: endpoints that accept no connections.
 *
 *     knock_begin(worker, endpoint);         // an attempt found nobody there
 *
 * Such an endpoint is out of use at once, however many are: as long as another
 * accepts connections, attempts go there, and nobody waits. It is knocked at in
 * the background. A connection is opened and closed again, soon at first and then
 * at least every quarter of a second; the first that is accepted returns the
 * endpoint to use, slowly, like one that was ejected.
 *
 * An upstream with one endpoint needs none of this. There the engine lets the
 * calls wait, and one of them knocks (lib/gate.h).
 *
 * Threads: owned, by the worker that found out. */
#ifndef BIDE_PROXY_BACK_KNOCK_H
#define BIDE_PROXY_BACK_KNOCK_H

struct endpoint;
struct worker;

/* Takes an endpoint out of use, and knocks until it is back, unless another
 * worker does already. Without memory it stays in use. */
void knock_begin(struct worker *w, struct endpoint *e);

/* Stops knocking at endpoints that the worker's generation does not have; at
 * all. */
void knock_follow(struct worker *w);
void knock_end_all(struct worker *w);

#endif
