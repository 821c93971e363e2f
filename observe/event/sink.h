/* observe/event/sink.h: how log lines leave the program. Those who log never wait:
 * each has a ring of bytes of its own, and one thread, which may wait, writes
 * what is in the rings to the target. Where a ring is full, or the target does
 * not take a line, the line is dropped and counted.
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
 * A line is written whole or not at all. What a full disk took of a line is
 * taken back; where others have appended meanwhile, the next line begins on a
 * line of its own. Pipes get portions of whole lines that they take at once.
 *
 * No descriptor that was inherited is made non-blocking: it is shared with
 * whoever started the program. */
#ifndef BIDE_OBSERVE_EVENT_SINK_H
#define BIDE_OBSERVE_EVENT_SINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bide__sink;

/* The ring of one thread. Positions only grow. The byte at a position lies at
 * `position - base`, modulo the size; `base` is moved up to the position
 * whenever all has been read, so that a ring which is never full touches little
 * memory. Threads: shared, by one producer and the sink's thread. */
struct bide__lines {
    _Alignas(64) _Atomic uint64_t written; /* by the producer: handed over, */
    _Atomic uint32_t turned;               /* for this target of the sink's; */
    uint64_t filled;                       /* and with what is not, */
    uint64_t seen_read;                    /* `read`, as last looked at */
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

/* Makes a sink for n threads, with rings of `size` bytes (a power of 2), and
 * starts its thread. Owns the target from then on. NULL: no memory, descriptor
 * or thread; the target is then still the caller's. */
struct bide__sink *bide__sink_new(struct bide__target *to, size_t n,
                                  size_t size);

/* Goes over to another target, and owns it: another file, or the same one after
 * it was moved away. It does so when all who log have called bide__lines_flush()
 * again: what they wrote before goes to the old one, as far as that takes it at
 * once. Not from two threads. */
void bide__sink_use(struct bide__sink *s, struct bide__target *to);

/* Writes what is left, and ends. Nobody waits for long for a target that takes
 * nothing: what it did not take is lost. NULL is fine. */
void bide__sink_free(struct bide__sink *s);

/* Lines that were dropped. From any thread. */
uint64_t bide__sink_dropped(const struct bide__sink *s);

struct bide__lines *bide__sink_lines(struct bide__sink *s, size_t i);

/* ===== for those who log ===== */

/* Room for a line of at most so many bytes; NULL, and counted, if there is
 * none. */
char *bide__lines_room(struct bide__lines *l, size_t most);

/* Adds the line that was written there, of `len` bytes with its LF. */
void bide__lines_add(struct bide__lines *l, size_t len);

/* Hands over what there is. */
void bide__lines_flush(struct bide__lines *l);

#endif
