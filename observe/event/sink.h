/* observe/event/sink.h: how log lines leave the program. Producers never wait:
 * each has its own ring of bytes, and one thread, which may block, writes the
 * content of the rings to the target. If a ring is full, or the target does not
 * take a line, the line is dropped and counted.
 *
 *     struct bide__target *to = bide__target_new("stdout", why, sizeof why);
 *     struct bide__sink *sink = to ? bide__sink_new(to, n_workers, 1 << 20)
 *                                  : NULL;
 *     struct bide__lines *mine = bide__sink_lines(sink, 0);   // of one thread
 *     char *line = bide__lines_room(mine, 4096);
 *     if (line)
 *         bide__lines_add(mine, write_line(line));
 *     bide__lines_flush(mine);                    // now and then
 *     ...
 *     bide__sink_free(sink);                      // writes what is left
 *
 * Targets: a path, `stdout`, `stderr`, `syslog` (/dev/log) or `syslog:PATH`.
 *
 * A line is written whole or not at all. If a full disk took part of a line,
 * that part is removed; if others have appended meanwhile, the next line starts
 * on a new line. Pipes get whole lines in portions that they accept atomically.
 *
 * An inherited descriptor is never made non-blocking: it is shared with the
 * process that started the program. */
#ifndef BIDE_OBSERVE_EVENT_SINK_H
#define BIDE_OBSERVE_EVENT_SINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bide__sink;

/* The ring of one thread. Positions only grow. The byte at a position is at
 * `position - base`, modulo the size; `base` is moved up to the position
 * whenever everything has been read, so that a ring which is never full touches
 * little memory. Threads: shared, by one producer and the sink's thread. */
struct bide__lines {
    _Alignas(64) _Atomic uint64_t written; /* by the producer: published, */
    _Atomic uint32_t turned;               /* for this target of the sink; */
    uint64_t filled;                       /* including unpublished, */
    uint64_t seen_read;                    /* `read`, as last seen */
    uint64_t base;
    _Alignas(64) _Atomic uint64_t read; /* by the sink's thread */
    _Alignas(64) size_t size;           /* a power of 2 */
    char *bytes;
    struct bide__sink *sink;
};

/* Where lines go. Threads: owned. */
struct bide__target;

/* Opens a target. NULL, and why. */
struct bide__target *bide__target_new(const char *where, char *why,
                                      size_t size);
void bide__target_free(struct bide__target *t); /* NULL is fine */

/* Creates a sink for n threads, with rings of `size` bytes (a power of 2), and
 * starts its thread. Then owns the target. NULL: no memory, descriptor or
 * thread; the target is then still the caller's. */
struct bide__sink *bide__sink_new(struct bide__target *to, size_t n,
                                  size_t size);

/* Switches to another target, and owns it: another file, or the same one after
 * log rotation. It switches when all producers have called bide__lines_flush()
 * again: earlier lines go to the old target, as far as it accepts them at once.
 * Not from two threads. */
void bide__sink_use(struct bide__sink *s, struct bide__target *to);

/* Writes the rest, and ends. Does not wait long for a target that is blocked:
 * what it did not take is lost. NULL is fine. */
void bide__sink_free(struct bide__sink *s);

/* Lines that were dropped. From any thread. */
uint64_t bide__sink_dropped(const struct bide__sink *s);

struct bide__lines *bide__sink_lines(struct bide__sink *s, size_t i);

/* ===== for producers ===== */

/* Room for a line of at most `most` bytes; NULL, and counted, if there is
 * none. */
char *bide__lines_room(struct bide__lines *l, size_t most);

/* Adds the line that was written there, of `len` bytes including LF. */
void bide__lines_add(struct bide__lines *l, size_t len);

/* Publishes the lines. */
void bide__lines_flush(struct bide__lines *l);

#endif
