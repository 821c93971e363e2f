/* The one thread that looks: it empties the rings of those that work, and each
 * second takes a sample of every dependency. Logs, spans and the dashboard's
 * lists are fed from here, so that none of them costs a request anything.
 *
 *     struct bide__collector_conf conf = { .source = &source, .log = &log };
 *     struct bide__collector *c = bide__collector_new(&conf);
 *     struct bide__ring *ring = bide__collector_ring(c);   // one for a worker
 *     bide__collector_start(c);
 *     ...
 *     bide__collector_free(c);           // when no worker has a ring any more
 *
 * What it has gathered is looked at under its lock: bide__collector_look(). */
#ifndef BIDE_OBSERVE_EVENT_COLLECTOR_H
#define BIDE_OBSERVE_EVENT_COLLECTOR_H

#include "observe/export/exporter.h"
#include "observe/event/history.h"
#include "observe/event/journal.h"
#include "observe/event/log.h"
#include "observe/event/ring.h"
#include "observe/event/source.h"

/* Threads: shared. */
struct bide__collector;

struct bide__collector_conf {
    const struct bide__source *source; /* what is sampled; must outlive it */
    struct bide__log *log;           /* or NULL; the collector's from now on */
    struct bide__exporter *exporter; /* or NULL; must outlive it */
    size_t ring_size;                /* events; 0: 1024 */
};

/* NULL: no memory. */
struct bide__collector *
bide__collector_new(const struct bide__collector_conf *conf);

/* A ring for one more thread; before the start. NULL: no memory, or there are
 * 256 already. */
struct bide__ring *bide__collector_ring(struct bide__collector *c);

/* 0, or -1 if there is no thread to be had. */
int bide__collector_start(struct bide__collector *c);

/* Takes what is left, and ends the thread. The rings stay, and what is told
 * into them now is told to nobody. NULL is fine. */
void bide__collector_stop(struct bide__collector *c);

/* Stops it, and frees it with its rings, when nobody has one any more. NULL is
 * fine. */
void bide__collector_free(struct bide__collector *c);

/* Events that were dropped, for want of a collector that is quick enough. */
uint64_t bide__collector_dropped(struct bide__collector *c);

/* Calls `look` with what was gathered, which stays as it is for so long. */
void bide__collector_look(struct bide__collector *c,
                          void (*look)(void *ctx,
                                       const struct bide__history *history,
                                       const struct bide__journal *journal),
                          void *ctx);

#endif
