/* What the files of a sink share: sink.c has the rings and the thread,
 * sink_write.c writes lines to a target. */
#ifndef BIDE_OBSERVE_EVENT_SINK_PARTS_H
#define BIDE_OBSERVE_EVENT_SINK_PARTS_H

#include <pthread.h>

#include "observe/event/sink.h"

enum sink_kind {
    SINK_FILE,   /* accepts writes, or is full */
    SINK_STREAM, /* pipe, terminal, socket: may block */
    SINK_SYSLOG  /* a datagram for each line */
};

/* Threads: owned. */
struct bide__target {
    int fd;
    enum sink_kind kind;
    bool torn;        /* it ends in part of a line */
    const char *path; /* of syslog's socket; part of `where`, which ... */
    char *where;      /* ... it owns */
};

/* Threads: shared, as marked. */
struct bide__sink {
    struct bide__target *target; /* the thread's own, as is ... */
    int64_t until_ms; /* ... this: how long to wait for it; 0: not set */
    pthread_t thread;
    int wake_fd;
    atomic_bool called;   /* wake_fd has been written to */
    atomic_bool stopping; /* the thread is to end */
    _Atomic uint64_t dropped;
    _Atomic(struct bide__target *) next; /* to be used from now on; or NULL */
    _Atomic uint32_t generation; /* of `next`: how many there were */
    size_t n;
    struct bide__lines lines[];
};

/* Writes whole lines. Returns how many of them were lost. */
uint64_t sink_write(struct bide__sink *s, const char *text, size_t len);

/* Waits until the target accepts more. False: stop waiting, because there is
 * another target, or because the program ends. */
bool sink_wait(struct bide__sink *s);

#endif
