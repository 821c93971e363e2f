/* The engine's answers, and what the driver does by them. */
#ifndef BIDE_REPLAY_ASK_H
#define BIDE_REPLAY_ASK_H

#include "replay/driver.h"

/* at + by, or FOREVER. */
static inline int64_t replay_later(int64_t at_ns, int64_t by_ns)
{
    return at_ns > BIDE_FOREVER - by_ns ? BIDE_FOREVER : at_ns + by_ns;
}

void replay_tell(struct replay *r, struct replay_row *row);

/* A call that has not begun; NULL: no memory. */
struct replay_call *replay_make_call(struct replay *r);

/* The attempt of that number if it runs, 0: the oldest that does; or NULL. */
struct replay_attempt *replay_find_running(struct replay_call *c,
                                           uint32_t attempt);

/* Sets when and how the attempt ends. outcome NULL: unknown. */
void replay_expect(struct replay *r, struct replay_call *c,
                   struct replay_attempt *a,
                   const struct replay_outcome *outcome);

/* Asks until the answer is to wait, or that the call is over. */
void replay_ask(struct replay *r, struct replay_call *c, struct replay_row row);

/* The same, and then serves the queue for what it may have released. */
int replay_ask_and_serve(struct replay *r, struct replay_call *c,
                         const struct replay_row *row);

#endif
