/* queue/rabbitmq/track_in.h: what has come into the tracks. */
#ifndef BIDE_QUEUE_RABBITMQ_TRACK_IN_H
#define BIDE_QUEUE_RABBITMQ_TRACK_IN_H

#include <stdbool.h>
#include <stdint.h>

struct rmq;
struct track;

/* Takes in what lies in wire.in. 0 or a status. */
int tracks_receive(struct rmq *q);

/* Its worker died with it: `text` is "BESIDE\nLINE", `tag` that of who says so, which is
 * kept. False: nobody needs it. */
bool track_blame(struct track *t, const char *text, uint64_t tag);

#endif
