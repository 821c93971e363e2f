/* The sections of the programs, read by tables.
 *
 * A section is a map whose keys a table knows. A row says what a key takes,
 * where in a struct it goes and what it means; reading, `bide check`, the
 * reference page and the schema are all made from the rows. To add a key, add a
 * row. */
#ifndef BIDE_CONFIG_FIELD_SECTION_H
#define BIDE_CONFIG_FIELD_SECTION_H

#include "config/policy/load.h"

enum bide__section_kind {
    BIDE__VALUE, /* a duration, count, ratio, flag or choice, as options have */
    BIDE__SIZE,  /* bytes: uint32_t, or uint64_t where it has a `special` */
    BIDE__TEXT,  /* const char * */
    BIDE__TEXTS, /* a text or a list of them; has `read` */
    BIDE__FIELDS,  /* a map with a table of its own */
    BIDE__LIST_OF, /* a list of such maps */
    BIDE__MAP_OF   /* names, and such maps */
};

struct bide__section_table;

/* One key. Threads: immutable. */
struct bide__section_field {
    bide_option o; /* type and bounds count for BIDE__VALUE and BIDE__SIZE */
    enum bide__section_kind kind;
    bool required;
    const char *fallback; /* as the reference has it, where the table's `init`
                             does not say it: "one per core"; or NULL */
    const char *hint;     /* what to write instead, or NULL */
    const char *pattern;  /* of a text, for the schema; or NULL */
    bool (*fits)(const struct bide__node *text); /* a text; NULL: any does */

    /* Instead of storing the value at o.offset; `to` is the struct. */
    void (*read)(struct bide__load *load, const struct bide__section_field *f,
                 const struct bide__node *key, const struct bide__node *node,
                 void *to);

    /* Of a map, a list of maps, or named maps; of the latter two, o.offset is
     * of the pointer to the first, and n_offset of their number. */
    const struct bide__section_table *table;
    size_t n_offset, most;
};

/* The keys of one map. Threads: immutable. */
struct bide__section_table {
    const struct bide__section_field *fields; /* the last has no key */
    size_t size;        /* of the struct that they fill ... */
    const void *init;   /* ... and its defaults; not of BIDE__FIELDS */
    size_t name_offset; /* BIDE__MAP_OF: where its name goes */

    /* What the keys must be to each other, when all are read; or NULL. `where`
     * is what to point at if one is missing. */
    void (*check)(struct bide__load *load, const struct bide__node *where,
                  const struct bide__node *map, void *to);
};

/* Reads a map into a struct that holds its defaults. */
void bide__read_fields(struct bide__load *load,
                       const struct bide__section_table *table,
                       const struct bide__node *where,
                       const struct bide__node *map, void *to);

/* "`key`: expected ..., found ..."; of f->o.expects if expected is NULL. */
void bide__wrong_field(struct bide__load *load,
                       const struct bide__section_field *f,
                       const struct bide__node *key,
                       const struct bide__node *node, const char *expected,
                       const char *help);

/* Whether a node is a text that is not empty and holds no NUL. */
bool bide__is_text(const struct bide__node *node);

/* Whether a list or map holds something, and not too much; else a mistake. */
bool bide__right_number(struct bide__load *load,
                        const struct bide__section_field *f,
                        const struct bide__node *key,
                        const struct bide__node *node);

/* The members of a list; anything else is its only member. */
size_t bide__member_count(const struct bide__node *node);
const struct bide__node *bide__member(const struct bide__node *node, size_t i);

/* "64KiB", "65536", or "none"; BIDE_EPARSE. And back. */
int bide__parse_size(const char *text, size_t len, uint64_t *ret);
const char *bide__format_size(uint64_t bytes, char *buffer, size_t size);

/* The value of a row as a file would have it; NULL if there is none to show. */
const char *bide__field_text(const struct bide__section_field *f,
                             const void *from, char *buffer, size_t size);

/* The table of `proxy`. */
extern const struct bide__section_table bide__proxy_table;

#endif
