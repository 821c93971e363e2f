/* bide fetch: where an answer goes. */
#ifndef BIDE_CMD_FETCH_SINK_H
#define BIDE_CMD_FETCH_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum fetch_sink_kind {
    SINK_FILE,   /* NAME.part, which becomes NAME if all went well */
    SINK_SPOOL,  /* a nameless file, to be printed when its turn has come */
    SINK_STREAM, /* written as it comes, and not to be taken back */
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

/* The byte at a place, or -1. */
int fetch_sink_byte(const struct fetch_sink *s, off_t at);

/* Drops all of it; false if that cannot be done. */
bool fetch_sink_empty(struct fetch_sink *s);

/* Ends it well (the file gets its name; a spool is printed) or not. False, and
 * errno. */
bool fetch_sink_keep(struct fetch_sink *s);
void fetch_sink_drop(struct fetch_sink *s);

#endif
