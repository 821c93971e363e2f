/* bide run: the same standard input for each attempt. */
#ifndef BIDE_CMD_RUN_STDIN_H
#define BIDE_CMD_RUN_STDIN_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd/run/args.h"
#include "cmd/run/spool.h"

struct feed {
    enum run_stdin how;  /* never AUTO */
    bool is_file;        /* replayed by seeking, from ... */
    off_t start;         /* ... here */
    struct spool spool;  /* otherwise, what was read so far */
    int64_t sent;        /* of it, to this attempt */
    bool ended;          /* there is nothing more to read */
    bool lost;           /* not all of it could be kept */
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

#endif
