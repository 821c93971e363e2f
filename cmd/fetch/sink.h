/* bide fetch: where a response goes. */
#ifndef BIDE_CMD_FETCH_SINK_H
#define BIDE_CMD_FETCH_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum fetch_sink_kind {
    SINK_FILE,   /* NAME.part, renamed to NAME on success */
    SINK_SPOOL,  /* an unnamed file, printed when its turn comes */
    SINK_STREAM, /* written as it arrives, and cannot be undone */
};

struct fetch_sink {
    enum fetch_sink_kind kind;
    int fd;              /* -1: not open */
    char *name, *part;   /* of a file */
    off_t size;          /* so far */
};

/* Opens a sink; `name` NULL is standard output. False, and errno. */
bool fetch_sink_open(struct fetch_sink *s, const char *name, bool spool);
bool fetch_sink_write(struct fetch_sink *s, const char *data, size_t len);

/* The byte at an offset, or -1. */
int fetch_sink_byte(const struct fetch_sink *s, off_t at);

/* Discards everything; false if that is not possible. */
bool fetch_sink_empty(struct fetch_sink *s);

/* Ends it, keeping the result (the file is renamed, a spool printed) or not.
 * False, and errno. */
bool fetch_sink_keep(struct fetch_sink *s);
void fetch_sink_drop(struct fetch_sink *s);

#endif
