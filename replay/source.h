/* What a replay reads: a file or standard input, whose beginning can be looked
 * at before it is decided how to read it.
 *
 *     struct replay_source in;
 *     size_t len;
 *     if (replay_source_open(&in, "access.log") < 0)
 *         die();
 *     const char *head = replay_source_head(&in, &len);   // up to 64 KiB of it
 *     const char *format = replay_sniff(head, len);       // "combined"
 *     ...                                    // replay_source_read() has it all
 *     replay_source_close(&in);
 */
#ifndef BIDE_REPLAY_SOURCE_H
#define BIDE_REPLAY_SOURCE_H

#include <stddef.h>
#include <stdio.h>

/* Threads: owned. */
struct replay_source {
    FILE *in;
    char *head; /* what was looked at, and is not read yet; or NULL */
    size_t len, at;
    int error; /* errno of what went wrong; 0: nothing */
};

/* "-" is standard input. -1: it cannot be opened, and errno says why. */
int replay_source_open(struct replay_source *s, const char *path);

/* A stream that somebody else closes. */
void replay_source_of(struct replay_source *s, FILE *in);
void replay_source_close(struct replay_source *s);

/* The beginning, which stays to be read. NULL: no memory. */
const char *replay_source_head(struct replay_source *s, size_t *ret_len);

/* Like fread(), bytes; 0: the end, or s->error. */
size_t replay_source_read(struct replay_source *s, char *buffer, size_t size);

/* All that is left, ending in a NUL that *ret_len does not count; to be freed.
 * NULL: no memory, s->error, or more than 64 MiB (EFBIG). */
char *replay_source_text(struct replay_source *s, size_t *ret_len);

/* What the beginning of a file looks like: "script", the name of a format of
 * logs, or NULL if it is neither. */
const char *replay_sniff(const char *text, size_t len);

#endif
