/* bide fetch: where a response goes. */
#ifndef BIDE_CMD_FETCH_SINK_H
#define BIDE_CMD_FETCH_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum fetch_sink_kind {
    SINK_FILE,   /* a file of its own, renamed to NAME on success */
    SINK_APPEND, /* NAME itself, which goes on where it ends (-C) */
    SINK_SPOOL,  /* an unnamed file, printed when its turn comes */
    SINK_STREAM, /* written as it arrives, and cannot be undone */
};

struct fetch_sink {
    enum fetch_sink_kind kind;
    int fd;              /* -1: not open */
    char *name, *part;   /* of a file */
    bool replaces;       /* there is a file of that name */
    bool only_new;       /* a file that is there must not be replaced */
    off_t size;          /* so far */
};

/* What is asked for. */
struct fetch_place {
    const char *name; /* NULL: standard output */
    bool spool;       /* which waits for its turn */
    bool append;      /* go on with the file */
    bool create_dirs;
};

/* Opens a sink. False, and errno. */
bool fetch_sink_open(struct fetch_sink *s, const struct fetch_place *place);
bool fetch_sink_write(struct fetch_sink *s, const char *data, size_t len);

/* Gives the file another name, in the same directory; a file that has it is not
 * replaced. False: out of memory. */
bool fetch_sink_rename(struct fetch_sink *s, const char *name);

/* The byte at an offset, or -1. */
int fetch_sink_byte(const struct fetch_sink *s, off_t at);

/* Discards everything; false if that is not possible. */
bool fetch_sink_empty(struct fetch_sink *s);

/* Ends it, keeping the result (the file is renamed, a spool printed) or not; a
 * file gets that time (seconds since 1970; -1: now). False, and errno. */
bool fetch_sink_keep(struct fetch_sink *s, int64_t time_s);
void fetch_sink_drop(struct fetch_sink *s);

#endif
