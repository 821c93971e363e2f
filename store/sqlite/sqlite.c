/* A batch of operations as one transaction. */
#include "store/sqlite/sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/open.h"
#include "store/sqlite/walk.h"

/* A record as it was found. */
struct row {
    int64_t id, room;
    struct bide__store_record record; /* data is SQLite's, until the reset */
};

static void bind_text(sqlite3_stmt *statement, int i, const char *text)
{
    sqlite3_bind_text(statement, i, text, -1, SQLITE_STATIC);
}

/* A digest; one of another length is nobody's. */
static void get_digest(sqlite3_stmt *statement, int i, uint8_t to[32])
{
    const void *blob = sqlite3_column_blob(statement, i);
    memset(to, 0, 32);
    if (blob && sqlite3_column_bytes(statement, i) == 32)
        memcpy(to, blob, 32);
}

/* SQLITE_ROW: found; SQLITE_DONE: not there. The statement is reset by the
 * caller, when the data is no longer needed. */
static int find(struct bide__sqlite *s, const bide_store_op *op,
                struct row *ret)
{
    sqlite3_stmt *statement = s->statements[DO_FIND];
    struct bide__store_record *record = &ret->record;
    bind_text(statement, 1, op->key);
    bind_text(statement, 2, op->scope);
    bind_text(statement, 3, op->owner);
    int rc = sqlite3_step(statement);
    if (rc != SQLITE_ROW)
        return rc;
    ret->id = sqlite3_column_int64(statement, 0);
    record->state = (enum bide__store_state)sqlite3_column_int(statement, 1);
    record->token = (uint64_t)sqlite3_column_int64(statement, 2);
    record->created_ns = sqlite3_column_int64(statement, 3);
    record->lease_until_ns = sqlite3_column_int64(statement, 4);
    record->expires_ns = sqlite3_column_int64(statement, 5);
    get_digest(statement, 6, record->fingerprint);
    get_digest(statement, 7, record->binding);
    ret->room = sqlite3_column_int64(statement, 8);
    record->bytes = (uint64_t)sqlite3_column_int64(statement, 9);
    record->status = sqlite3_column_int(statement, 10);
    record->data = sqlite3_column_blob(statement, 11);
    record->len = (size_t)sqlite3_column_bytes(statement, 11);
    return rc;
}

/* What the caller's records take. */
static int used(struct bide__sqlite *s, const bide_store_op *op,
                const struct row *row, uint64_t *ret)
{
    bool by_name = op->verb == BIDE_STORE_CLAIM || !row;
    sqlite3_stmt *statement =
        s->statements[by_name ? DO_USED : DO_USED_ID];
    if (by_name)
        bind_text(statement, 1, op->room);
    else
        sqlite3_bind_int64(statement, 1, row->room);
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *ret = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int take_room(struct bide__sqlite *s, const bide_store_op *op,
                     uint64_t bytes, int64_t *ret_id)
{
    sqlite3_stmt *statement = s->statements[DO_TAKE];
    bind_text(statement, 1, op->room);
    sqlite3_bind_int64(statement, 2, (int64_t)bytes);
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *ret_id = sqlite3_column_int64(statement, 0);
    int end = sqlite3_reset(statement);
    return rc == SQLITE_ROW ? end : rc;
}

static int insert(struct bide__sqlite *s, const bide_store_op *op,
                  const struct bide__store_record *record)
{
    sqlite3_stmt *statement = s->statements[DO_INSERT];
    int64_t room = 0;
    int rc = take_room(s, op, record->bytes, &room);
    if (rc != SQLITE_OK)
        return rc;
    bind_text(statement, 1, op->key);
    bind_text(statement, 2, op->scope);
    bind_text(statement, 3, op->owner);
    sqlite3_bind_int(statement, 4, (int)record->state);
    sqlite3_bind_int64(statement, 5, (int64_t)record->token);
    sqlite3_bind_int64(statement, 6, record->created_ns);
    sqlite3_bind_int64(statement, 7, record->lease_until_ns);
    sqlite3_bind_int64(statement, 8, record->expires_ns);
    sqlite3_bind_blob(statement, 9, record->fingerprint, 32, SQLITE_STATIC);
    sqlite3_bind_blob(statement, 10, record->binding, 32, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 11, room);
    sqlite3_bind_int64(statement, 12, (int64_t)record->bytes);
    sqlite3_bind_int(statement, 13, record->status);
    sqlite3_bind_null(statement, 14);
    s->records++;
    s->bytes += (int64_t)record->bytes;
    s->changed = true;
    return bide__sqlite_do(s, DO_INSERT);
}

static int update(struct bide__sqlite *s, const struct row *row,
                  const struct bide__store_record *record)
{
    sqlite3_stmt *statement = s->statements[DO_UPDATE];
    int64_t more = (int64_t)(record->bytes - row->record.bytes);
    sqlite3_bind_int64(statement, 1, row->id);
    sqlite3_bind_int(statement, 2, (int)record->state);
    sqlite3_bind_int64(statement, 3, (int64_t)record->token);
    sqlite3_bind_int64(statement, 4, record->lease_until_ns);
    sqlite3_bind_int64(statement, 5, record->expires_ns);
    sqlite3_bind_int64(statement, 6, (int64_t)record->bytes);
    sqlite3_bind_int(statement, 7, record->status);
    if (record->len > 0)
        sqlite3_bind_blob64(statement, 8, record->data, record->len,
                            SQLITE_STATIC);
    s->bytes += more;
    s->changed = true;
    int rc = bide__sqlite_do(s, DO_UPDATE);
    if (rc != SQLITE_OK || more == 0)
        return rc;
    sqlite3_bind_int64(s->statements[DO_GIVE], 1, row->room);
    sqlite3_bind_int64(s->statements[DO_GIVE], 2, more);
    sqlite3_bind_int64(s->statements[DO_GIVE], 3, 0);
    return bide__sqlite_do(s, DO_GIVE);
}

/* The answer becomes the operation's own, before SQLite reuses its memory. */
static int keep_answer(bide_store_op *op)
{
    if (op->result != BIDE_STORE_DONE)
        return SQLITE_OK;
    op->_answer = malloc(op->len ? op->len : 1);
    if (!op->_answer)
        return SQLITE_NOMEM;
    if (op->len > 0)
        memcpy(op->_answer, op->data, op->len);
    op->data = op->_answer;
    return SQLITE_OK;
}

static int run_one(struct bide__sqlite *s, bide_store_op *op)
{
    struct row row;
    struct bide__store_record next;
    struct bide__store_space space = { s->limit, (uint64_t)s->bytes, 0 };
    int rc = find(s, op, &row);
    bool there = rc == SQLITE_ROW;
    if (there || rc == SQLITE_DONE)
        rc = used(s, op, there ? &row : NULL, &space.used);
    enum bide__store_change change = BIDE__STORE_LEAVE;
    if (rc == SQLITE_OK) {
        change = bide__store_rule(op, there ? &row.record : NULL, &next, space,
                                  s->now_ns);
        rc = change == BIDE__STORE_LEAVE ? keep_answer(op) : SQLITE_OK;
    }
    sqlite3_reset(s->statements[DO_FIND]);
    if (rc != SQLITE_OK)
        return rc;
    switch (change) {
    case BIDE__STORE_INSERT:
        if (there) /* it has expired */
            rc = bide__sqlite_drop(s, row.id, row.room,
                                   (int64_t)row.record.bytes);
        return rc == SQLITE_OK ? insert(s, op, &next) : rc;
    case BIDE__STORE_UPDATE:
        return update(s, &row, &next);
    case BIDE__STORE_REMOVE:
        return bide__sqlite_drop(s, row.id, row.room,
                                 (int64_t)row.record.bytes);
    case BIDE__STORE_LEAVE:
        break;
    }
    return rc;
}

static int sqlite_run(void *self, bide_store_op *const ops[], size_t n,
                      char *why, size_t why_size)
{
    struct bide__sqlite *s = self;
    int rc = bide__sqlite_begin(s, why, why_size);
    if (rc < 0) {
        s->suspect = true;
        return rc;
    }
    s->changed = s->suspect;
    for (size_t i = 0; i < n && rc == 0; i++) {
        int code = run_one(s, ops[i]);
        if (code == SQLITE_NOMEM) {
            snprintf(why, why_size, "out of memory");
            rc = BIDE_ENOMEM;
        } else if (code != SQLITE_OK) {
            rc = bide__sqlite_failed(s, why, why_size);
        }
    }
    rc = bide__sqlite_end(s, rc, why, why_size);
    s->suspect = rc < 0;
    return rc;
}

static void sqlite_interrupt(void *self)
{
    struct bide__sqlite *s = self;
    sqlite3_interrupt(s->db);
}

const struct bide__store_kind bide__store_sqlite = {
    .name = "sqlite",
    .durable = true,
    .open = bide__sqlite_open,
    .run = sqlite_run,
    .sweep = bide__sqlite_sweep,
    .count = bide__sqlite_count,
    .list = bide__sqlite_list,
    .purge = bide__sqlite_purge,
    .interrupt = sqlite_interrupt,
    .close = bide__sqlite_close,
};
