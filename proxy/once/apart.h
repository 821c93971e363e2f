/* proxy/once/apart.h: an exchange whose attempt goes on without its client.
 *
 * What was sent cannot be taken back: the attempt is seen to its end, so that a
 * repeat gets its answer. Threads: owned. */
#ifndef BIDE_PROXY_ONCE_APART_H
#define BIDE_PROXY_ONCE_APART_H

#include <stdbool.h>

struct exchange;

/* Its client leaves. True: the exchange goes on, with nobody. */
bool once_goes_on(struct exchange *ex);

/* Another answer is to be sent to its client. Returns the exchange to send it
 * with: a new one if this one goes on, with nobody. */
struct exchange *once_aside(struct exchange *ex);

/* Its client has waited long enough: true if that has been dealt with. */
bool once_late(struct exchange *ex);

#endif
