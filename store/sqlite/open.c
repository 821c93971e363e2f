/* Opening a database: settings, schema, statements. Takes as long with ten million
 * records as with none: nothing is read but the schema and one row. */
#include "store/sqlite/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "store/sqlite/file.h"
#include "store/sqlite/sqlite.h"

/* "bide", in the header of the file, where file(1) looks as well. */
#define APPLICATION "1651074149"
#define VERSION "1"

static const char schema[] =
    "CREATE TABLE record ("
    " id INTEGER PRIMARY KEY,"
    " key TEXT NOT NULL, scope TEXT NOT NULL, owner TEXT NOT NULL,"
    " state INTEGER NOT NULL, token INTEGER NOT NULL,"
    " created INTEGER NOT NULL, lease INTEGER NOT NULL,"
    " expires INTEGER NOT NULL,"
    " fingerprint BLOB NOT NULL, binding BLOB NOT NULL,"
    " room INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " status INTEGER NOT NULL, data BLOB);"
    "CREATE UNIQUE INDEX record_name ON record (key, scope, owner);"
    "CREATE INDEX record_expires ON record (expires);"
    "CREATE TABLE room ("
    " id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " bytes INTEGER NOT NULL, records INTEGER NOT NULL);"
    "CREATE TABLE store ("
    " id INTEGER PRIMARY KEY CHECK (id = 1), clock INTEGER NOT NULL,"
    " records INTEGER NOT NULL, bytes INTEGER NOT NULL);"
    "INSERT INTO store VALUES (1, 0, 0, 0);"
    "PRAGMA application_id = " APPLICATION ";"
    "PRAGMA user_version = " VERSION ";";

#define RECORD                                                                 \
    "id, state, token, created, lease, expires, fingerprint, binding, room,"   \
    " bytes, status, data"

static const char *const texts[DO_STATEMENTS] = {
    [DO_BEGIN] = "BEGIN IMMEDIATE",
    [DO_COMMIT] = "COMMIT",
    [DO_ROLLBACK] = "ROLLBACK",
    [DO_FIND] = "SELECT " RECORD " FROM record"
                    " WHERE key = ?1 AND scope = ?2 AND owner = ?3",
    [DO_INSERT] =
        "INSERT INTO record (key, scope, owner, state, token, created, lease,"
        " expires, fingerprint, binding, room, bytes, status, data)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    [DO_UPDATE] = "UPDATE record SET state = ?2, token = ?3, lease = ?4,"
                      " expires = ?5, bytes = ?6, status = ?7, data = ?8"
                      " WHERE id = ?1",
    [DO_DELETE] = "DELETE FROM record WHERE id = ?1",
    [DO_USED] = "SELECT bytes FROM room WHERE name = ?1",
    [DO_USED_ID] = "SELECT bytes FROM room WHERE id = ?1",
    [DO_TAKE] = "INSERT INTO room (name, bytes, records) VALUES (?1, ?2, 1)"
                    " ON CONFLICT (name) DO UPDATE SET bytes = bytes + ?2,"
                    " records = records + 1 RETURNING id",
    [DO_GIVE] = "UPDATE room SET bytes = bytes + ?2, records = records - ?3"
                    " WHERE id = ?1",
    [DO_FORGET] = "DELETE FROM room WHERE id = ?1 AND records <= 0",
    [DO_LOAD] = "SELECT clock, records, bytes FROM store WHERE id = 1",
    [DO_SAVE] = "UPDATE store SET clock = ?1, records = ?2, bytes = ?3"
                    " WHERE id = 1",
    [DO_EXPIRED] = "SELECT id, room, bytes FROM record WHERE expires <= ?1"
                       " LIMIT ?2",
    [DO_OLDEST] = "SELECT created FROM record ORDER BY id LIMIT 1",
};

/* Waits for another process's lock, a moment at a time: they are held for a
 * commit. SQLite's own handler waits up to 100 ms at a time. */
static int on_busy(void *ctx, int tries)
{
    struct bide__sqlite *s = ctx;
    int64_t now = bide_now_ns();
    bide_rng rng = bide_rng_seed(&s->seeded, s->seeded.counter);
    (void)tries;
    if (now >= s->busy_until_ns)
        return 0;
    bide_sleep_until(now + bide_rng_between(&rng, BIDE_MILLISECOND / 5,
                                            BIDE_MILLISECOND),
                     NULL);
    return 1;
}

static int64_t pragma(struct bide__sqlite *s, const char *text)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(s->db, text, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static int64_t tables(struct bide__sqlite *s)
{
    return pragma(s, "SELECT count(*) FROM sqlite_master");
}

static bool say(char *why, size_t size, const char *file, const char *what)
{
    snprintf(why, size, "%s %s", file, what);
    return false;
}

/* A new file, or one of ours. The tables are looked at first: another process may
 * make them now, and gives the file its name in the same transaction. */
static bool ours(struct bide__sqlite *s, char *why, size_t why_size)
{
    char text[64];
    int64_t n = tables(s);
    int64_t application = pragma(s, "PRAGMA application_id");
    int64_t version = pragma(s, "PRAGMA user_version");
    if (application < 0 || version < 0 || n < 0) {
        bide__sqlite_failed(s, why, why_size);
        return false;
    }
    if (n == 0)
        return true;
    snprintf(text, sizeof text, "%lld", (long long)application);
    if (strcmp(text, APPLICATION) != 0)
        return say(why, why_size, s->file,
                   "is a database of another program");
    if (version != atoi(VERSION))
        return say(why, why_size, s->file, "is of another version of bide");
    return true;
}

/* Of several processes that open a new file, one makes the tables. */
static bool make_tables(struct bide__sqlite *s, char *why, size_t why_size)
{
    if (tables(s) > 0)
        return true; /* no lock is needed to read */
    int rc = sqlite3_exec(s->db, texts[DO_BEGIN], NULL, NULL, NULL);
    if (rc == SQLITE_OK && tables(s) == 0)
        rc = sqlite3_exec(s->db, schema, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(s->db, texts[DO_COMMIT], NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        return true;
    bide__sqlite_failed(s, why, why_size);
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, texts[DO_ROLLBACK], NULL, NULL, NULL);
    return false;
}

/* Of several processes that change the mode of a new file at once, SQLite tells all
 * but one that it is busy, without asking the handler: each waits for another. */
static int use_wal(struct bide__sqlite *s)
{
    int rc;
    do
        rc = sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    while ((rc & 0xff) == SQLITE_BUSY && on_busy(s, 0));
    return rc;
}

static bool set_up(struct bide__sqlite *s, bool relaxed, char *why,
                   size_t why_size)
{
    sqlite3_busy_handler(s->db, on_busy, s);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (!ours(s, why, why_size))
        return false;
    int rc = use_wal(s);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(s->db,
                          "PRAGMA temp_store = MEMORY;"
                          "PRAGMA cell_size_check = ON;",
                          NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(s->db,
                          relaxed ? "PRAGMA synchronous = NORMAL"
                                  : "PRAGMA synchronous = FULL",
                          NULL, NULL, NULL);
    if (rc == SQLITE_OK && sqlite3_db_readonly(s->db, "main") == 1)
        return say(why, why_size, s->file, "cannot be written");
    if (rc != SQLITE_OK) {
        bide__sqlite_failed(s, why, why_size);
        return false;
    }
    return make_tables(s, why, why_size);
}

static bool prepare(struct bide__sqlite *s, char *why, size_t why_size)
{
    for (int i = 0; i < DO_STATEMENTS; i++) {
        if (sqlite3_prepare_v3(s->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &s->statements[i], NULL) == SQLITE_OK)
            continue;
        bide__sqlite_failed(s, why, why_size);
        return false;
    }
    return true;
}

/* Better now than at the first request. Who only looks needs no lock, and a lock
 * that another has will be free again. */
static bool can_write(struct bide__sqlite *s, char *why, size_t why_size)
{
    int rc = bide__sqlite_do(s, DO_BEGIN);
    if (rc == SQLITE_OK)
        rc = bide__sqlite_do(s, DO_ROLLBACK);
    if (rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY)
        return true;
    bide__sqlite_failed(s, why, why_size);
    return false;
}

static int open_db(struct bide__sqlite *s, char *why, size_t why_size)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE;
    if (sqlite3_open_v2(s->file, &s->db, flags, NULL) == SQLITE_OK)
        return 0;
    if (!s->db) {
        snprintf(why, why_size, "out of memory");
        return BIDE_ENOMEM;
    }
    return bide__sqlite_failed(s, why, why_size);
}

int bide__sqlite_open(void **ret, const struct bide__store_setup *setup,
                      char *why, size_t why_size)
{
    struct bide__sqlite *s = calloc(1, sizeof *s);
    uint64_t seed = (uint64_t)bide_now_ns();
    if (!s)
        return BIDE_ENOMEM;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) < 0)
        seed ^= (uint64_t)(uintptr_t)s;
    bide_rng_seed(&s->seeded, seed);
    s->limit = setup->limit_bytes;
    s->timeout_ns = setup->timeout_ns;
    s->busy_until_ns = bide_now_ns() + 5 * BIDE_SECOND;
    int rc = bide__sqlite_file(&s->file, setup->rest, setup->existing, why,
                               why_size);
    if (rc == 0)
        rc = open_db(s, why, why_size);
    if (rc == 0 && (!set_up(s, setup->relaxed, why, why_size) ||
                    !prepare(s, why, why_size) ||
                    (!setup->existing && !can_write(s, why, why_size))))
        rc = BIDE_ESTATE;
    if (rc < 0) {
        bide__sqlite_close(s);
        return rc;
    }
    bide__store_clock_init(&s->clock, setup,
                           pragma(s, "SELECT clock FROM store WHERE id = 1"));
    *ret = s;
    return 0;
}

void bide__sqlite_close(void *self)
{
    struct bide__sqlite *s = self;
    for (int i = 0; i < DO_STATEMENTS; i++)
        sqlite3_finalize(s->statements[i]);
    sqlite3_close(s->db);
    free(s->file);
    free(s);
}
