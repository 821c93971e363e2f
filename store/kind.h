/* store/kind.h: a kind of store (memory, sqlite, ...) as one constant table, which
 * the front (front.h) calls on its own thread, one call at a time.
 *
 *     const struct bide__store_kind *kind = bide__store_kind_of("memory", NULL);
 *     void *self;
 *     int rc = kind->open(&self, &setup, why, sizeof why);
 *     if (rc == 0)
 *         rc = kind->run(self, ops, n, why, sizeof why);   // one durable commit
 *     ...
 *     kind->close(self);
 *
 * What becomes of a record is decided by rule.h, not by the kinds: they find the
 * record, ask, and write. `why` is a sentence for people; it holds neither keys
 * nor data. */
#ifndef BIDE_STORE_KIND_H
#define BIDE_STORE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/store.h"
#include "store/rule.h"

/* What a store is opened with. */
struct bide__store_setup {
    const char *url;      /* all of it */
    const char *rest;     /* what follows "sqlite:"; the URL where the kind's name
                             is the scheme of a URL */
    int64_t timeout_ns;   /* an operation is given up after this */
    uint64_t limit_bytes;
    bool relaxed;
    bool existing;        /* do not create what is not there, and fail where nobody
                             answers (`bide store ls`) */
    int64_t (*now_ns)(void *ctx); /* since 1970; NULL: the kind's own clock. Only
                                     where the clock is not a server's (tests) */
    void *now_ctx;
};

/* A record as `list` shows it; valid during the call. */
struct bide__store_row {
    const char *scope, *owner, *key, *room;
    struct bide__store_record record; /* data only if it was asked for */
    int64_t now_ns;                   /* the store's time */
};

/* Which records, for `list` and `purge`. */
struct bide__store_query {
    const char *scope;    /* NULL: all */
    const char *key;      /* NULL: all */
    bool with_data;
    int64_t older_ns;     /* only what was claimed at least so long ago; 0 */
    uint64_t most;        /* rows, the newest first; 0: all */
};

/* Returns false to stop. */
typedef bool (*bide__store_row_fn)(void *ctx, const struct bide__store_row *row);

struct bide__store_count {
    uint64_t records, bytes;
    int64_t oldest_ns;    /* age */
};

struct bide__store_kind {
    const char *name;
    bool durable;         /* survives the process: `bide check` says so if not */

    /* 0, or an error of bide_store_open(). May block for timeout_ns. A server
     * that does not answer is no error. */
    int (*open)(void **ret, const struct bide__store_setup *setup, char *why,
                size_t why_size);

    /* Does the operations in order, sets each one's result (and token, status,
     * data...), and commits once. A CLAIM comes with the token that it will
     * have. Answers go into op->_answer (malloc), op->data and op->len. n may be
     * 0: is it there? 0: everything is durable and may be reported. Negative: it
     * is not known whether any of it was done (BIDE_ESTATE, BIDE_ENOMEM). */
    int (*run)(void *self, bide_store_op *const ops[], size_t n, char *why,
               size_t why_size);

    /* Removes at most `most` expired records; returns how many, or negative. */
    int (*sweep)(void *self, int most, char *why, size_t why_size);

    /* What is there, in constant time. */
    int (*count)(void *self, struct bide__store_count *ret, char *why,
                 size_t why_size);

    /* Shows the records that a query names; expired ones are absent. */
    int (*list)(void *self, const struct bide__store_query *query,
                bide__store_row_fn fn, void *ctx, char *why, size_t why_size);

    /* Removes them: those that are done or whose lease has ended; what is in
     * progress stays. At most query->most, and perhaps fewer: call again until
     * none is removed. Adds how many to *removed. */
    int (*purge)(void *self, const struct bide__store_query *query,
                 uint64_t *removed, char *why, size_t why_size);

    /* Called from another thread: a call that hangs may return early. NULL. */
    void (*interrupt)(void *self);

    void (*close)(void *self);
};

/* For a URL of no kind. */
#define BIDE__STORE_KINDS_EXPECTED                                             \
    "expected memory, sqlite:PATH, redis://HOST:PORT or postgresql://..."

/* Finds the kind that a URL names, and where the rest of it begins (if not
 * NULL). NULL: none. */
const struct bide__store_kind *bide__store_kind_of(const char *url,
                                                   const char **ret_rest);

extern const struct bide__store_kind bide__store_memory;
extern const struct bide__store_kind bide__store_postgresql_kind;
extern const struct bide__store_kind bide__store_redis;
extern const struct bide__store_kind bide__store_sqlite;

#endif
