/* bide run: the same standard input for each attempt, and no more of it taken
 * than the command takes. */
#ifndef BIDE_CMD_RUN_STDIN_H
#define BIDE_CMD_RUN_STDIN_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd/run/args.h"
#include "cmd/run/spool.h"

/* What standard input is, and so how it is replayed. */
enum feed_source {
    FEED_FILE,   /* rewound; the command reads it itself */
    FEED_PIPE,   /* shown to the command by tee(2), taken once it was read */
    FEED_SOCKET, /* the same, by MSG_PEEK */
    FEED_OTHER,  /* cannot be looked at: read ahead of the command */
};

struct feed {
    enum run_stdin how;  /* never AUTO */
    enum feed_source source;
    off_t start;         /* of a file: where it stood */
    struct spool spool;  /* otherwise, what was taken so far */
    int64_t sent;        /* of it, to this attempt */
    int64_t shown;       /* to this attempt, but not yet taken */
    bool filled;         /* the pipe holds what the command has not read */
    bool ended;          /* there is nothing more to read */
    int lost;            /* errno: why not all of it could be kept; 0 */
    int to;              /* our end of the pipe; -1: none, or done */
    int to_child;        /* the other end; -1: the command has ours */
};

void feed_init(struct feed *f, enum run_stdin how, uint32_t attempts);
int feed_begin(struct feed *f);          /* an attempt; 0 or errno */
void feed_started(struct feed *f);       /* the command has its end */
int feed_poll(struct feed *f, struct pollfd *p); /* how many were added: 0, 1 */
void feed_ready(struct feed *f, const struct pollfd *p);
void feed_end(struct feed *f);           /* of the attempt */
void feed_done(struct feed *f);

/* How much a further attempt would read again; 0 if it is not known. */
int64_t feed_replayed(const struct feed *f);

#endif
