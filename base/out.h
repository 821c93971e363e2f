/* A growing buffer of bytes, for text that is built as a whole and then sent:
 * metrics, spans, states, log lines.
 *
 *     struct bide__out out = { 0 };
 *     bide__out_text(&out, "attempts ");
 *     bide__out_u64(&out, n);
 *     if (out.failed)
 *         ...                      // no memory: what it holds is not whole
 *     bide__out_done(&out);
 *
 * All zero is an empty buffer. Appending reports no error: once memory runs
 * out, `failed` is set and stays set, and the rest is discarded.
 * bide__out_clear() keeps the memory, so that a buffer that is used every
 * second is not allocated every second. Numbers are written without stdio, with
 * a decimal point whatever the locale. */
#ifndef BIDE_BASE_OUT_H
#define BIDE_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Threads: owned. */
struct bide__out {
    char *data;
    size_t len;
    size_t size;
    bool failed;
};

/* Makes room for `len` more bytes. False: out of memory; `failed` is set. */
bool bide__out_grow(struct bide__out *out, size_t len);

/* Room for `len` more bytes, for a caller that writes them itself and then adds
 * to out->len; NULL: out of memory. */
static inline char *bide__out_room(struct bide__out *out, size_t len)
{
    if (out->failed ||
        (out->size - out->len < len && !bide__out_grow(out, len)))
        return NULL;
    return out->data + out->len;
}

static inline void bide__out_bytes(struct bide__out *out, const void *bytes,
                                   size_t len)
{
    char *to = len ? bide__out_room(out, len) : NULL;
    if (!to)
        return;
    memcpy(to, bytes, len);
    out->len += len;
}

static inline void bide__out_char(struct bide__out *out, char c)
{
    bide__out_bytes(out, &c, 1);
}

void bide__out_text(struct bide__out *out, const char *text);
void bide__out_u64(struct bide__out *out, uint64_t n);
void bide__out_i64(struct bide__out *out, int64_t n);

/* A number in the fewest digits that read back exactly; NaN, +Inf, -Inf as
 * Prometheus spells them (JSON cannot express those: its writer checks first).
 */
void bide__out_double(struct bide__out *out, double n);

/* Nanoseconds as seconds, exactly: 1500000000 is 1.5. */
void bide__out_seconds(struct bide__out *out, uint64_t ns);

void bide__out_clear(struct bide__out *out);
void bide__out_done(struct bide__out *out);

#endif
