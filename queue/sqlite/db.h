/* queue/sqlite/db.h: a queue in a SQLite file: the connection, its statements, its
 * clock.
 *
 *     struct sqlite_broker *s = (struct sqlite_broker *)b;
 *     sqlite3_stmt *q = db_statement(s, SQL_FORGET_WORKER);
 *     if (!q)
 *         return db_failed(s);
 *     sqlite3_bind_int64(q, 1, s->worker);
 *     return db_run(s, q);                          // steps it to its end
 *
 * Files beside the database, all with mode 0600:
 *
 *   NAME.db-workers  worker n holds a lock on byte n: the kernel lets go of it when
 *                    the process is gone, however it ended
 *   NAME.db-bell     is touched after each put, so that workers, which watch it,
 *                    need not poll
 *
 * Messages of all queues are rows of one table, in one of four states; one that runs
 * is a ready one that a worker has in its row (held.h):
 *
 *            put           take            settle: done -> gone
 *   HELD <---+---> READY ------> RUNNING --+
 *     |  the key's   ^                 |   settle: dead -> DEAD -- redrive --> READY
 *     '- turn -------'--- again -------'
 *
 * Every write is in a transaction that takes the write lock at its beginning, with
 * synchronous=FULL: what a verb has answered survives a loss of power. */
#ifndef BIDE_QUEUE_SQLITE_DB_H
#define BIDE_QUEUE_SQLITE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/wal.h"
#include "queue/broker.h"
#include "queue/sqlite/statements.h"

/* What runs is READY, and in the row of its worker. */
enum row_state { ROW_READY, ROW_HELD = 2, ROW_DEAD };

enum { SEEN_WORKERS = 256 };

/* Another worker, as rescue() saw it last. */
struct seen_worker {
    int64_t n;
    int64_t beat;
    int64_t since_ns; /* the monotonic clock, when this beat was first seen */
};

struct seqs;

/* Threads: owned. */
struct sqlite_broker {
    struct broker b; /* first */
    sqlite3 *db;
    sqlite3_stmt *statements[N_SQL];
    char *path;
    struct bide__wal wal;
    int64_t queue;      /* its row */
    bool grouped;       /* between begin() and commit() */
    int64_t now_ms;     /* of the transaction that is open */
    int64_t offset_ns;  /* the queue's clock minus that of the machine since its
                           start */
    int64_t worker;     /* our row; 0: none yet */
    bool new_worker;    /* by the transaction that is open */
    int locks;          /* NAME.db-workers; -1 */
    int bell;           /* NAME.db-bell, to be touched; -1 */
    int ear;            /* inotify on it; -1 */
    bool ring;          /* the open transaction has put something */
    uint32_t max_deaths;
    int64_t lease_ns, ageing_ns;
    int64_t (*clock_ns)(void *arg); /* a test's clock; NULL */
    void *clock_arg;
    const struct seqs *runs; /* what bide_runs() means, while it lists */
    struct seen_worker seen[SEEN_WORKERS];
    int n_seen;
};

/* A statement, reset; NULL: see db_failed(). */
sqlite3_stmt *db_statement(struct sqlite_broker *s, enum sql which);

/* Steps it to its end: 0, or a status. Rows are ignored. */
int db_run(struct sqlite_broker *s, sqlite3_stmt *q);

/* The status of the last failure, and b->error; of SQLite's code `rc`. */
int db_failed(struct sqlite_broker *s);

/* A transaction that writes, unless one is open: 0, or a status. db_leave()
 * commits, or with a `status` that is not 0 undoes it, and returns the status of
 * the whole. Sets s->now_ms. */
int db_enter(struct sqlite_broker *s);
int db_leave(struct sqlite_broker *s, int status);

/* The broker's begin() and commit(). */
int db_begin(struct broker *b);
int db_commit(struct broker *b);

/* Binds text; NULL and "" are NULL. */
void db_bind_text(sqlite3_stmt *q, int at, const char *text);

#endif
