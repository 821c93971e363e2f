/* What the files of a sink share: sink.c has rings and thread, sink_write.c
 * writes lines to a target. */
#ifndef BIDE_OBSERVE_EVENT_SINK_PARTS_H
#define BIDE_OBSERVE_EVENT_SINK_PARTS_H

#include <pthread.h>

#include "observe/event/sink.h"

enum sink_kind {
    SINK_FILE,   /* takes what is written, or has no room */
    SINK_STREAM, /* pipe, terminal, socket: may have to be waited for */
    SINK_SYSLOG  /* a datagram for each line */
};

/* Threads: owned. */
struct bide__target {
    int fd;
    enum sink_kind kind;
    bool torn;        /* it ends in a part of a line */
    const char *path; /* of syslog's socket; part of `where`, which ... */
    char *where;      /* ... is its own */
};

/* Threads: shared, as marked. */
struct bide__sink {
    struct bide__target *target; /* the thread's own, as is ... */
    int64_t until_ms; /* ... this: it is not waited for longer; 0: not set */
    pthread_t thread;
    int wake_fd;
    atomic_bool called;   /* somebody has written to wake_fd */
    atomic_bool stopping; /* the thread is to end */
    _Atomic uint64_t dropped;
    _Atomic(struct bide__target *) next; /* to be used from now on; or NULL */
    _Atomic uint32_t generation; /* of `next`: how many there were */
    size_t n;
    struct bide__lines lines[];
};

/* Writes whole lines. How many of them were lost. */
uint64_t sink_write(struct bide__sink *s, const char *text, size_t len);

/* Waits until the target takes more. False: it is not waited for any longer,
 * because there is another one, or because the program ends. */
bool sink_wait(struct bide__sink *s);

#endif
