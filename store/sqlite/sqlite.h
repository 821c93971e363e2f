/* store/sqlite/sqlite.h: records in a SQLite file, which several processes may
 * share: what the files of this kind share.
 *
 *   record   one row for each operation; found by (key, scope, owner), swept by
 *            `expires`, listed by `id`, which grows as records are made
 *   room     what each caller's records take
 *   store    one row: what all take, and the latest time that was seen
 *
 * One batch is one transaction that begins with the write lock (BEGIN IMMEDIATE):
 * whoever reads a record then is the only one who writes. WAL and
 * synchronous=FULL: a commit is one fsync of the log, and what another process
 * can see is durable. Without a write there is no fsync. */
#ifndef BIDE_STORE_SQLITE_SQLITE_H
#define BIDE_STORE_SQLITE_SQLITE_H

#include <sqlite3.h>

#include "base/wal.h"
#include "bide/rng.h"
#include "store/clock.h"
#include "store/kind.h"

enum bide__sqlite_statement {
    DO_BEGIN,
    DO_COMMIT,
    DO_ROLLBACK,
    DO_FIND,      /* key, scope, owner -> a record */
    DO_INSERT,
    DO_UPDATE,
    DO_DELETE,
    DO_USED,      /* name -> bytes */
    DO_USED_ID,   /* id -> bytes */
    DO_TAKE,      /* room: more bytes, for a record more -> id */
    DO_GIVE,      /* room: other bytes, records less */
    DO_FORGET,    /* a room without records */
    DO_LOAD,      /* -> clock, records, bytes */
    DO_SAVE,
    DO_EXPIRED,   /* time, most -> id, room, bytes */
    DO_OLDEST,    /* -> created */
    DO_STATEMENTS,
};

/* Threads: owned. */
struct bide__sqlite {
    sqlite3 *db;
    char *file;
    struct bide__wal wal;
    sqlite3_stmt *statements[DO_STATEMENTS];
    struct bide__store_clock clock;
    uint64_t limit;
    int64_t timeout_ns;
    int64_t busy_until_ns;      /* who waits for a lock gives up then */
    bide_rng_seeded seeded;
    /* Of the transaction that is open. */
    int64_t now_ns, last_ns;
    int64_t records, bytes;
    bool changed;
    bool suspect; /* the last batch failed: the next one writes in any case, so
                     that a disk that is still full does not pass for good */
};

/* Says what SQLite's error means for whoever runs this; BIDE_ESTATE. */
int bide__sqlite_failed(struct bide__sqlite *s, char *why, size_t why_size);

/* A transaction with the write lock: loads clock and sums; saves them if
 * anything has changed, and commits. 0, or bide__sqlite_failed(); end() rolls
 * back if `rc` is negative, and returns it. */
int bide__sqlite_begin(struct bide__sqlite *s, char *why, size_t why_size);
int bide__sqlite_end(struct bide__sqlite *s, int rc, char *why,
                     size_t why_size);

/* Runs a statement that returns no row; its parameters are bound. */
int bide__sqlite_do(struct bide__sqlite *s, enum bide__sqlite_statement which);

/* Removes a record, and what it takes of its room. SQLite's code. */
int bide__sqlite_drop(struct bide__sqlite *s, int64_t id, int64_t room,
                      int64_t bytes);

#endif
