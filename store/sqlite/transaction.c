/* Transactions, and what errors mean. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bide/run.h"
#include "store/sqlite/sqlite.h"

int bide__sqlite_failed(struct bide__sqlite *s, char *why, size_t why_size)
{
    int code = sqlite3_extended_errcode(s->db);
    const char *file = s->file;
    switch (code & 0xff) {
    case SQLITE_FULL:
        snprintf(why, why_size, "%s: the disk is full", file);
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        snprintf(why, why_size, "%s is locked by another process", file);
        break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        snprintf(why, why_size,
                 "%s is damaged, or is no database: nothing was changed. Stop "
                 "whoever uses it, keep a copy, and try `sqlite3 FILE "
                 ".recover`; or move it away: a new one knows no keys",
                 file);
        break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        snprintf(why, why_size, "%s cannot be written%s", file,
                 code == SQLITE_READONLY_DBMOVED
                     ? ": it was moved or removed"
                     : "");
        break;
    case SQLITE_NOMEM:
        snprintf(why, why_size, "out of memory");
        return BIDE_ENOMEM;
    default:
        if (sqlite3_system_errno(s->db) != 0 &&
            sqlite3_system_errno(s->db) != EAGAIN)
            snprintf(why, why_size, "%s: %s (%s)", file, sqlite3_errstr(code),
                     strerror(sqlite3_system_errno(s->db)));
        else
            snprintf(why, why_size, "%s: %s", file, sqlite3_errstr(code));
    }
    return BIDE_ESTATE;
}

int bide__sqlite_do(struct bide__sqlite *s, enum bide__sqlite_statement which)
{
    sqlite3_stmt *statement = s->statements[which];
    int rc = sqlite3_step(statement);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* Whether the name still leads to our file: another process would make a new
 * one, and both would win the same claims. */
static bool moved(struct bide__sqlite *s)
{
    int is = 0;
    return sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &is) ==
               SQLITE_OK &&
           is;
}

static int load(struct bide__sqlite *s)
{
    sqlite3_stmt *statement = s->statements[DO_LOAD];
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        s->last_ns = sqlite3_column_int64(statement, 0);
        s->records = sqlite3_column_int64(statement, 1);
        s->bytes = sqlite3_column_int64(statement, 2);
        s->now_ns = bide__store_clock_now(&s->clock, s->last_ns);
        s->changed = false;
    }
    sqlite3_reset(statement);
    return rc == SQLITE_ROW ? SQLITE_OK : rc == SQLITE_DONE ? SQLITE_CORRUPT : rc;
}

static void roll_back(struct bide__sqlite *s)
{
    if (!sqlite3_get_autocommit(s->db))
        bide__sqlite_do(s, DO_ROLLBACK);
}

int bide__sqlite_begin(struct bide__sqlite *s, char *why, size_t why_size)
{
    s->busy_until_ns = bide_now_ns() + s->timeout_ns;
    if (moved(s)) {
        snprintf(why, why_size,
                 "%s was moved or removed: put it back, or start again",
                 s->file);
        return BIDE_ESTATE;
    }
    if (bide__wal_moved(&s->wal, s->file)) {
        snprintf(why, why_size,
                 "%s-wal, or -shm, was moved or removed: put it back, or start "
                 "again",
                 s->file);
        return BIDE_ESTATE;
    }
    int rc = bide__sqlite_do(s, DO_BEGIN);
    if (rc == SQLITE_OK)
        rc = load(s);
    if (rc == SQLITE_OK)
        return 0;
    rc = bide__sqlite_failed(s, why, why_size);
    roll_back(s);
    return rc;
}

static int save(struct bide__sqlite *s)
{
    sqlite3_stmt *statement = s->statements[DO_SAVE];
    sqlite3_bind_int64(statement, 1, s->now_ns);
    sqlite3_bind_int64(statement, 2, s->records);
    sqlite3_bind_int64(statement, 3, s->bytes);
    return bide__sqlite_do(s, DO_SAVE);
}

int bide__sqlite_end(struct bide__sqlite *s, int rc, char *why, size_t why_size)
{
    if (rc == 0) {
        int code = s->changed ? save(s) : SQLITE_OK;
        if (code == SQLITE_OK)
            code = bide__sqlite_do(s, DO_COMMIT);
        if (code == SQLITE_OK)
            return 0;
        rc = bide__sqlite_failed(s, why, why_size);
    }
    roll_back(s);
    return rc;
}

int bide__sqlite_drop(struct bide__sqlite *s, int64_t id, int64_t room,
                      int64_t bytes)
{
    s->records--;
    s->bytes -= bytes;
    s->changed = true;
    sqlite3_bind_int64(s->statements[DO_DELETE], 1, id);
    int rc = bide__sqlite_do(s, DO_DELETE);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int64(s->statements[DO_GIVE], 1, room);
    sqlite3_bind_int64(s->statements[DO_GIVE], 2, -bytes);
    sqlite3_bind_int64(s->statements[DO_GIVE], 3, 1);
    rc = bide__sqlite_do(s, DO_GIVE);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int64(s->statements[DO_FORGET], 1, room);
    return bide__sqlite_do(s, DO_FORGET);
}
