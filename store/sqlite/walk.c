/* Many records at a time: sweeping, counting, listing, purging. Writers hold the
 * lock for a few hundred records, never for all. */
#include "store/sqlite/walk.h"

#include <stdio.h>
#include <string.h>

#include "bide/run.h"
#include "store/sqlite/sqlite.h"

enum { MOST_AT_ONCE = 500 };

struct found {
    int64_t id, room, bytes;
};

/* ===== removing ===== */

/* Steps through id, room, bytes; SQLite's code. */
static int collect(sqlite3_stmt *statement, struct found *to, int most, int *ret)
{
    int rc = SQLITE_OK;
    *ret = 0;
    while (*ret < most && (rc = sqlite3_step(statement)) == SQLITE_ROW)
        to[(*ret)++] = (struct found){ sqlite3_column_int64(statement, 0),
                                       sqlite3_column_int64(statement, 1),
                                       sqlite3_column_int64(statement, 2) };
    sqlite3_reset(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Removes what a statement finds, in one transaction. */
static int remove_found(struct bide__sqlite *s, sqlite3_stmt *statement,
                        int most, int *ret_n, char *why, size_t why_size)
{
    struct found found[MOST_AT_ONCE];
    int rc = collect(statement, found, most, ret_n);
    for (int i = 0; i < *ret_n && rc == SQLITE_OK; i++)
        rc = bide__sqlite_drop(s, found[i].id, found[i].room, found[i].bytes);
    return rc == SQLITE_OK ? 0 : bide__sqlite_failed(s, why, why_size);
}

/* Whether there is anything to sweep: without the write lock. */
static int any_expired(struct bide__sqlite *s, int64_t now_ns)
{
    sqlite3_stmt *statement = s->statements[DO_EXPIRED];
    sqlite3_bind_int64(statement, 1, now_ns);
    sqlite3_bind_int(statement, 2, 1);
    int rc = sqlite3_step(statement);
    sqlite3_reset(statement);
    return rc;
}

int bide__sqlite_sweep(void *self, int most, char *why, size_t why_size)
{
    struct bide__sqlite *s = self;
    sqlite3_stmt *statement = s->statements[DO_EXPIRED];
    int n = 0;
    s->busy_until_ns = bide_now_ns() + s->timeout_ns;
    int code = any_expired(s, bide__store_clock_now(&s->clock, s->last_ns));
    if (code == SQLITE_DONE)
        return 0;
    if (code != SQLITE_ROW)
        return bide__sqlite_failed(s, why, why_size);
    int rc = bide__sqlite_begin(s, why, why_size);
    if (rc < 0)
        return rc;
    if (most > MOST_AT_ONCE)
        most = MOST_AT_ONCE;
    sqlite3_bind_int64(statement, 1, s->now_ns);
    sqlite3_bind_int(statement, 2, most);
    rc = remove_found(s, statement, most, &n, why, why_size);
    rc = bide__sqlite_end(s, rc, why, why_size);
    return rc < 0 ? rc : n;
}

/* ===== counting ===== */

static int one_row(sqlite3_stmt *statement, int64_t *to, int n)
{
    int rc = sqlite3_step(statement);
    for (int i = 0; i < n && rc == SQLITE_ROW; i++)
        to[i] = sqlite3_column_int64(statement, i);
    sqlite3_reset(statement);
    return rc;
}

int bide__sqlite_count(void *self, struct bide__store_count *ret, char *why,
                       size_t why_size)
{
    struct bide__sqlite *s = self;
    int64_t sums[3] = { 0 }, created = 0;
    s->busy_until_ns = bide_now_ns() + s->timeout_ns;
    if (one_row(s->statements[DO_LOAD], sums, 3) != SQLITE_ROW)
        return bide__sqlite_failed(s, why, why_size);
    int rc = one_row(s->statements[DO_OLDEST], &created, 1);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return bide__sqlite_failed(s, why, why_size);
    *ret = (struct bide__store_count){ .records = (uint64_t)sums[1],
                                       .bytes = (uint64_t)sums[2] };
    if (rc == SQLITE_ROW)
        ret->oldest_ns = bide__store_clock_now(&s->clock, sums[0]) - created;
    return 0;
}

/* ===== what a query names ===== */

/* `+`: by id, not by the index of what expires, which would sort all of it. */
#define WANTED                                                                 \
    " WHERE +record.expires > ?1 AND record.created <= ?2"                     \
    " AND (?3 IS NULL OR record.scope = ?3)"

/* The index begins with the key, so one of these is a search. */
static const char *const list_all =
    "SELECT scope, owner, key, room.name, state, token, created, lease,"
    " expires, record.bytes, status, iif(?4, data, NULL), length(data)"
    " FROM record JOIN room ON room.id = record.room" WANTED
    " ORDER BY record.id DESC LIMIT ?5";
static const char *const list_key =
    "SELECT scope, owner, key, room.name, state, token, created, lease,"
    " expires, record.bytes, status, iif(?4, data, NULL), length(data)"
    " FROM record JOIN room ON room.id = record.room" WANTED
    " AND record.key = ?6 ORDER BY record.id DESC LIMIT ?5";
static const char *const purge_any =
    "SELECT id, room, bytes FROM record" WANTED
    " AND (state <> 0 OR lease <= ?4) AND (?6 IS NULL OR key = ?6)"
    " ORDER BY id LIMIT ?5";

static int ask(struct bide__sqlite *s, const char *text,
               const struct bide__store_query *query, int64_t now_ns,
               sqlite3_stmt **ret)
{
    int rc = sqlite3_prepare_v2(s->db, text, -1, ret, NULL);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int64(*ret, 1, now_ns);
    sqlite3_bind_int64(*ret, 2, now_ns - query->older_ns);
    if (query->scope)
        sqlite3_bind_text(*ret, 3, query->scope, -1, SQLITE_STATIC);
    sqlite3_bind_int64(*ret, 5,
                       query->most ? (int64_t)query->most : INT64_MAX);
    if (query->key)
        sqlite3_bind_text(*ret, 6, query->key, -1, SQLITE_STATIC);
    return SQLITE_OK;
}

static const char *text_at(sqlite3_stmt *statement, int i)
{
    const unsigned char *text = sqlite3_column_text(statement, i);
    return text ? (const char *)text : "";
}

static struct bide__store_row row_of(sqlite3_stmt *st, int64_t now_ns)
{
    struct bide__store_row row = { text_at(st, 0), text_at(st, 1),
                                   text_at(st, 2), text_at(st, 3),
                                   .now_ns = now_ns };
    row.record.state = (enum bide__store_state)sqlite3_column_int(st, 4);
    row.record.token = (uint64_t)sqlite3_column_int64(st, 5);
    row.record.created_ns = sqlite3_column_int64(st, 6);
    row.record.lease_until_ns = sqlite3_column_int64(st, 7);
    row.record.expires_ns = sqlite3_column_int64(st, 8);
    row.record.bytes = (uint64_t)sqlite3_column_int64(st, 9);
    row.record.status = sqlite3_column_int(st, 10);
    row.record.data = sqlite3_column_blob(st, 11);
    row.record.len = (size_t)sqlite3_column_int64(st, 12);
    return row;
}

static int64_t time_of(struct bide__sqlite *s)
{
    int64_t sums[3] = { 0 };
    one_row(s->statements[DO_LOAD], sums, 3);
    return bide__store_clock_now(&s->clock, sums[0]);
}

int bide__sqlite_list(void *self, const struct bide__store_query *query,
                      bide__store_row_fn fn, void *ctx, char *why,
                      size_t why_size)
{
    struct bide__sqlite *s = self;
    sqlite3_stmt *statement = NULL;
    s->busy_until_ns = bide_now_ns() + s->timeout_ns;
    int64_t now_ns = time_of(s);
    int rc = ask(s, query->key ? list_key : list_all, query, now_ns, &statement);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int(statement, 4, query->with_data);
        while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
            struct bide__store_row row = row_of(statement, now_ns);
            if (!fn(ctx, &row))
                break;
        }
    }
    int failed = rc == SQLITE_DONE || rc == SQLITE_ROW
                     ? 0
                     : bide__sqlite_failed(s, why, why_size);
    sqlite3_finalize(statement);
    return failed;
}

int bide__sqlite_purge(void *self, const struct bide__store_query *query,
                       uint64_t *removed, char *why, size_t why_size)
{
    struct bide__sqlite *s = self;
    sqlite3_stmt *statement = NULL;
    int most = query->most && query->most < MOST_AT_ONCE ? (int)query->most
                                                         : MOST_AT_ONCE;
    int n = 0;
    int rc = bide__sqlite_begin(s, why, why_size);
    if (rc < 0)
        return rc;
    if (ask(s, purge_any, query, s->now_ns, &statement) != SQLITE_OK) {
        rc = bide__sqlite_failed(s, why, why_size);
    } else {
        sqlite3_bind_int64(statement, 4, s->now_ns);
        rc = remove_found(s, statement, most, &n, why, why_size);
    }
    sqlite3_finalize(statement);
    rc = bide__sqlite_end(s, rc, why, why_size);
    if (rc == 0)
        *removed += (uint64_t)n;
    return rc;
}
