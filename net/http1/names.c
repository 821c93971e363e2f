/* net/http1/names.c: known header names, found by a perfect hash.
 *
 * The hash uses the length and three bytes; the table then leaves one
 * candidate, which is compared in full. Letters are folded by setting bit 5,
 * which turns no byte of a token but a letter into one that occurs in a known
 * name. */
#include "net/http1/names.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 32 };

/* Padded, so that the comparison may read whole words. */
static const char names[HTTP1_IDS][LONGEST] = {
#define X(id, name, slot, flags) [HTTP1_ID_##id] = name,
    HTTP1_NAMES(X)
#undef X
};

static const uint8_t name_lens[HTTP1_IDS] = {
#define X(id, name, slot, flags) [HTTP1_ID_##id] = sizeof(name) - 1,
    HTTP1_NAMES(X)
#undef X
};

static const uint8_t id_of_slot[256] = {
#define X(id, name, slot, flags) [slot] = HTTP1_ID_##id,
    HTTP1_NAMES(X)
#undef X
};

const uint8_t http1__flags[HTTP1_IDS] = {
    [HTTP1_ID_X_FORWARDED] = HTTP1_HEAD_ONLY,
#define X(id, name, slot, flags) [HTTP1_ID_##id] = (flags),
    HTTP1_NAMES(X)
#undef X
};

_Static_assert(HTTP1_IDS <= 64, "http1_head.seen has a bit for each name");

static inline unsigned slot_of(const char *name, size_t len)
{
    unsigned first = (uint8_t)name[0] | 0x20u;
    unsigned middle = (uint8_t)name[len / 2] | 0x20u;
    unsigned last = (uint8_t)name[len - 1] | 0x20u;

    return ((unsigned)len + 10 * first + middle + 25 * last) & 0xff;
}

unsigned http1__slot(const char *name, size_t len)
{
    return slot_of(name, len);
}

#define FOLD UINT64_C(0x2020202020202020)

static uint64_t load8(const char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return x;
}

static uint32_t load4(const char *p)
{
    uint32_t x;

    memcpy(&x, p, sizeof x);
    return x;
}

/* The last word overlaps the one before, so that there is no loop over a
 * rest. */
static bool same_name(const char *p, const char *known, size_t len)
{
    if (len >= 8) {
        for (size_t i = 0; i + 8 < len; i += 8)
            if ((load8(p + i) | FOLD) != load8(known + i))
                return false;
        return (load8(p + len - 8) | FOLD) == load8(known + len - 8);
    }
    if (len >= 4)
        return (load4(p) | (uint32_t)FOLD) == load4(known) &&
               (load4(p + len - 4) | (uint32_t)FOLD) == load4(known + len - 4);
    for (size_t i = 0; i < len; i++)
        if ((p[i] | 0x20) != known[i])
            return false;
    return true;
}

static enum http1_id unknown_id(const char *name, size_t len)
{
    static const char prefix[] = "x-forwarded-";
    const size_t prefix_len = sizeof prefix - 1;

    return len >= prefix_len && same_name(name, prefix, prefix_len)
               ? HTTP1_ID_X_FORWARDED
               : HTTP1_ID_OTHER;
}

enum http1_id http1__known_id(const char *name, size_t len)
{
    unsigned id = id_of_slot[slot_of(name, len)];

    if (len != name_lens[id] || !same_name(name, names[id], len))
        return unknown_id(name, len);
    return (enum http1_id)id;
}

enum http1_id http1_name_id(const char *name, size_t len)
{
    if (len == 0)
        return HTTP1_ID_OTHER;
    return memchr(name, '_', len) ? HTTP1_ID_UNDERSCORE
                                  : http1__known_id(name, len);
}

const char *http1_name(enum http1_id id)
{
    return (unsigned)id < HTTP1_IDS ? names[id] : "";
}
