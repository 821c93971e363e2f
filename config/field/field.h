/* Tables of fields: which keys a map has, and everything that follows from it.
 *
 *     struct pool { uint32_t idle; int64_t timeout_ns; const char *host; };
 *
 *     #define S struct pool
 *     static const struct bide__field pool_fields[] = {
 *         { "idle", AT(idle), TAKES_COUNT_UP_TO(1000000),
 *           .help = "Connections that are kept open unused." },
 *         { "timeout", AT(timeout_ns), TAKES_DURATION_OVER_0,
 *           .help = "How long an unused connection is kept." },
 *         { "host", AT(host), TAKES_TEXT("the name of a host"),
 *           .fits = is_host, .help = "What it is asked for." },
 *         LAST
 *     };
 *     #undef S
 *     static const struct pool pool_init = { 256, 30 * BIDE_SECOND, NULL };
 *     static const struct bide__table pool_table = {
 *         pool_fields, .size = sizeof(struct pool), .init = &pool_init
 *     };
 *
 * A row says what a key takes (lib/takes.h, config/field/rows.h), where in a
 * struct it goes and what it means. From the rows come reading with diagnostics
 * (read.h), setting by text (text.h), flags of the command line, the reference
 * page, the schema, and whether two structs are the same (same.h). To add a key,
 * add a row. The options of a policy are rows, too: bide__option_field(). */
#ifndef BIDE_CONFIG_FIELD_FIELD_H
#define BIDE_CONFIG_FIELD_FIELD_H

#include "config/policy/load.h"

/* What a key takes. The first are those of bide_option_type: BIDE_OPTION_COUNT
 * and so on. */
enum bide__field_type {
    BIDE__EITHER = BIDE_OPTION_DELAYS + 1, /* bool: the second of two choices */
    BIDE__LARGE,   /* uint64_t, a count */
    BIDE__SIZE,    /* bytes: uint32_t, or uint64_t where it has a `special` */
    BIDE__TEXT,    /* const char *; with `item`, a pointer to one */
    BIDE__TEXTS,   /* a text or a list of them; has `item` */
    BIDE__NAME,    /* the name of something; has `read` */
    BIDE__OTHER,   /* whatever `read` makes of it */
    BIDE__FIELDS,  /* a map with a table of its own */
    BIDE__LIST_OF, /* a list of such maps */
    BIDE__MAP_OF   /* names, and such maps */
};

struct bide__table;
struct bide__json;

/* One key. Threads: immutable. */
struct bide__field {
    const char *key;
    size_t offset; /* in the struct of the table */

    /* What it takes, as in bide_option. */
    int type;        /* bide_option_type, or bide__field_type */
    double min, max; /* in the unit of the field */
    bool above_min;  /* min itself is not allowed */
    const char *special; /* a word for one value outside: "none"; or NULL */
    int64_t special_value;
    const char *const *choices; /* in the order of the enum, then NULL */
    const char *expects;        /* "a duration over 0" */

    const char *help; /* one sentence */
    bool required;
    bool fixed;           /* cannot change while the program runs */
    const char *fallback; /* the default as the reference has it, where `init`
                             does not say it: "the end"; or NULL */
    const char *type_name; /* of BIDE__OTHER, for the reference */
    const char *hint;      /* what to write instead, or NULL */
    const char *pattern;   /* of a text, for the schema; or NULL */
    size_t size; /* of what `read` or `item` fills in, unless it is a text */

    bool (*fits)(const struct bide__node *text); /* a text; NULL: any does */

    /* A text into the `size` bytes of a member, which begins with the text as
     * it was written: NULL, or what to write instead. */
    const char *(*item)(struct bide__load *load, const struct bide__node *text,
                        void *member);

    /* Instead of storing the value at `offset`; `to` is the struct. */
    void (*read)(struct bide__load *load, const struct bide__field *f,
                 const struct bide__node *key, const struct bide__node *node,
                 void *to);

    /* Sets from text what the types above cannot; and describes it. */
    bool (*set)(const struct bide__field *f, void *to, const char *text,
                size_t len);
    void (*schema)(struct bide__json *j, const struct bide__field *f);

    /* Of a map, a list of maps, or named maps; of lists and names, `offset` is
     * of the pointer to the first, and n_offset of their number. */
    const struct bide__table *table;
    size_t n_offset, most;
};

/* The keys of one map. Threads: immutable. */
struct bide__table {
    const struct bide__field *fields; /* the last has no key */
    size_t size;        /* of the struct that they fill ... */
    const void *init;   /* ... and its defaults; not of BIDE__FIELDS */
    size_t name_offset; /* BIDE__MAP_OF: where its name goes */

    /* What the keys must be to each other, when all are read; or NULL. `where`
     * is what to point at if one is missing. */
    void (*check)(struct bide__load *load, const struct bide__node *where,
                  const struct bide__node *map, void *to);
};

#endif
