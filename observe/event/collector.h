/* The collector: one thread that drains the rings of the workers, and takes a
 * sample of every dependency each second. It feeds logs, spans and the
 * dashboard's lists, so that none of them costs a request anything.
 *
 *     struct bide__collector_conf conf = { .source = &source, .log = &log };
 *     struct bide__collector *c = bide__collector_new(&conf);
 *     struct bide__ring *ring = bide__collector_ring(c);   // one for a worker
 *     bide__collector_start(c);
 *     ...
 *     bide__collector_free(c);           // when no worker has a ring any more
 *
 * Its data is read under its lock: bide__collector_look(). */
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
    struct bide__log *log;           /* or NULL; then owned by the collector */
    struct bide__exporter *exporter; /* or NULL; must outlive it */
    size_t ring_size;                /* events; 0: 1024 */
};

/* NULL: no memory. */
struct bide__collector *
bide__collector_new(const struct bide__collector_conf *conf);

/* A ring for one more thread; before the start. NULL: no memory, or there are
 * 256 already. */
struct bide__ring *bide__collector_ring(struct bide__collector *c);

/* 0, or -1 if the thread could not be started. */
int bide__collector_start(struct bide__collector *c);

/* Drains the rings a last time, and ends the thread. The rings stay, but events
 * written to them now are lost. NULL is fine. */
void bide__collector_stop(struct bide__collector *c);

/* Stops it, and frees it with its rings, once no thread uses one. NULL is
 * fine. */
void bide__collector_free(struct bide__collector *c);

/* Events that were dropped because the collector was not fast enough. */
uint64_t bide__collector_dropped(struct bide__collector *c);

/* Calls `look` with the collected data, which does not change meanwhile. */
void bide__collector_look(struct bide__collector *c,
                          void (*look)(void *ctx,
                                       const struct bide__history *history,
                                       const struct bide__journal *journal),
                          void *ctx);

#endif
