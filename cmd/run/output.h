/* bide run: what becomes of the output. */
#ifndef BIDE_CMD_RUN_OUTPUT_H
#define BIDE_CMD_RUN_OUTPUT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/run/spool.h"

struct ending;
struct run_args;

struct stream {
    int to;              /* 1 or 2; -1: it was closed from the beginning */
    int from;            /* our end of the pipe; -1: none, or ended */
    int from_child;      /* the other end; -1: the command writes to `to` */
    bool is_file;        /* `to` never makes a writer wait */
    bool broken;         /* nobody reads `to` any more */
    bool line_begun;     /* under a prefix */
    size_t at, len;      /* of `buffer`: what is still to be written */
    char *tail;          /* for expressions, the last up to 2 * TAIL_SIZE */
    size_t tail_len;
    char buffer[65536];
};

struct output {
    const struct run_args *args;
    bool direct;         /* the command writes to ours: nothing is seen */
    bool watched;        /* there are expressions to match */
    struct stream stream[2];
    struct spool kept;   /* pieces: which stream, how long, the bytes */
    int lost;            /* errno: why not all could be kept; 0 */
    int failed;          /* errno: why it could not be passed on; 0 */
    char prefix[32];
};

int output_init(struct output *o, const struct run_args *args);
int output_begin(struct output *o, uint32_t attempt, uint32_t attempts);
void output_started(struct output *o);
int output_poll(struct output *o, struct pollfd *p); /* adds up to 2 */
void output_ready(struct output *o, const struct pollfd *p, int n);
bool output_open(const struct output *o); /* something may still come */
void output_end(struct output *o, struct ending *e); /* of the attempt */

/* Now it is known what comes next: another attempt, or none. Gives an errno if
 * what was kept could not be written. */
int output_settle(struct output *o, bool last, bool success);
void output_done(struct output *o);

#endif
