/* The connection: statements, errors, transactions. */
#include "queue/sqlite/db.h"

#include <string.h>

#include "queue/sqlite/bell.h"
#include "queue/sqlite/clock.h"
#include "queue/sqlite/lock.h"

sqlite3_stmt *db_statement(struct sqlite_broker *s, enum sql which)
{
    sqlite3_stmt **q = &s->statements[which];

    if (*q) {
        sqlite3_reset(*q);
        return *q;
    }
    sqlite3_prepare_v3(s->db, sql_text(which), -1, SQLITE_PREPARE_PERSISTENT, q,
                       NULL);
    return *q;
}

static int status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        return BROKER_FULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return BROKER_CORRUPT;
    case SQLITE_NOMEM:
        return BROKER_NO_MEMORY;
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return BROKER_REFUSED;
    default:
        return BROKER_DOWN; /* busy, locked, an I/O error */
    }
}

int db_failed(struct sqlite_broker *s)
{
    int status = status_of(sqlite3_extended_errcode(s->db));
    const char *text = sqlite3_errmsg(s->db);

    if (status == BROKER_FULL)
        text = "no space left on the disk; what is in the queue stays there";
    else if (status == BROKER_CORRUPT)
        text = "the database is damaged; nothing was changed. `sqlite3 FILE "
               ".recover` reads what can be read";
    return broker_fail(&s->b, status, "%s: %s", s->path, text);
}

int db_run(struct sqlite_broker *s, sqlite3_stmt *q)
{
    int rc;

    while ((rc = sqlite3_step(q)) == SQLITE_ROW)
        ;
    if (rc == SQLITE_DONE) {
        sqlite3_reset(q);
        return 0;
    }
    int status = db_failed(s);
    sqlite3_reset(q);
    return status;
}

static int run_plain(struct sqlite_broker *s, enum sql which)
{
    sqlite3_stmt *q = db_statement(s, which);

    return q ? db_run(s, q) : db_failed(s);
}

/* Whether the name leads to another file by now, or to none: what is put there, nobody
 * would see here. */
static bool was_moved(struct sqlite_broker *s)
{
    int is = 0;

    return sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &is) ==
               SQLITE_OK &&
           is;
}

int db_enter(struct sqlite_broker *s)
{
    if (s->grouped)
        return 0;
    if (was_moved(s))
        return broker_fail(&s->b, BROKER_DOWN,
                           "%s was moved, removed or replaced: put it back, or start "
                           "again",
                           s->path);
    if (bide__wal_moved(&s->wal, s->path))
        return broker_fail(
            &s->b, BROKER_DOWN,
            "%s-wal, or -shm, was moved or removed: put it back, or "
            "start again",
            s->path);
    int status = run_plain(s, SQL_BEGIN);
    if (status == 0)
        s->now_ms = clock_now_ms(s);
    return status;
}

/* A transaction that failed is undone, also by SQLite itself (disk full). */
static void undo(struct sqlite_broker *s)
{
    char kept[BROKER_ERROR];

    memcpy(kept, s->b.error, sizeof kept);
    if (!sqlite3_get_autocommit(s->db))
        run_plain(s, SQL_ROLLBACK);
    memcpy(s->b.error, kept, sizeof kept);
    if (s->new_worker) { /* its number may go to somebody else */
        unlock_byte(s->locks, s->worker);
        s->worker = 0;
    }
}

static int finish(struct sqlite_broker *s, int status)
{
    if (status == 0)
        status = run_plain(s, SQL_COMMIT);
    if (status != 0)
        undo(s);
    else if (s->ring)
        bell_ring(s);
    s->ring = s->new_worker = false;
    return status;
}

int db_leave(struct sqlite_broker *s, int status)
{
    if (!s->grouped)
        return finish(s, status);
    if (status != 0) {
        s->grouped = false;
        undo(s);
        s->ring = s->new_worker = false;
    }
    return status;
}

int db_begin(struct broker *b)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    int status = db_enter(s);

    s->grouped = status == 0;
    return status;
}

int db_commit(struct broker *b)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;

    if (!s->grouped) /* a verb between has failed: it is undone */
        return BROKER_DOWN;
    s->grouped = false;
    return finish(s, 0);
}

void db_bind_text(sqlite3_stmt *q, int at, const char *text)
{
    if (text && *text)
        sqlite3_bind_text(q, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(q, at);
}
