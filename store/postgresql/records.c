/* A batch: one statement that reads, one that writes. */
#include "store/postgresql/records.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "bide/run.h"
#include "store/postgresql/store.h"

/* ===== reading ===== */

static const char read_sql[] =
    "SELECT r.version, r.state, r.token, r.created_ns, r.lease_until_ns,"
    " r.expires_ns, r.fingerprint, r.binding, r.status, r.answer, r.bytes,"
    " r.room, r.lane,"
    " (SELECT coalesce(sum(bytes), 0)::bigint FROM bide_store_rooms u"
    "  WHERE u.room = r.room),"
    " (SELECT coalesce(sum(bytes), 0)::bigint FROM bide_store_rooms u"
    "  WHERE u.room = o.room),"
    " t.total, " PG_NOW " "
    "FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS o(id, room, n)"
    " LEFT JOIN bide_store_records r ON r.id = o.id"
    " CROSS JOIN (SELECT coalesce(sum(bytes), 0)::bigint AS total"
    "  FROM bide_store_lanes) t "
    "ORDER BY o.n";

enum {
    VERSION, STATE, TOKEN, CREATED, LEASE_UNTIL, EXPIRES, FINGERPRINT, BINDING,
    STATUS, ANSWER, BYTES, ROOM, LANE, USED, USED_ASKED, TOTAL, NOW
};

static void copy32(uint8_t to[32], const PGresult *r, int row, int column)
{
    size_t n = (size_t)PQgetlength(r, row, column);

    memset(to, 0, 32);
    memcpy(to, PQgetvalue(r, row, column), n < 32 ? n : 32);
}

static void fill(struct bide__slot *slot, const PGresult *r, int row)
{
    slot->asked_used = (uint64_t)pg_int(r, row, USED_ASKED);
    slot->there = !PQgetisnull(r, row, VERSION);
    if (!slot->there)
        return;
    slot->version = (uint64_t)pg_int(r, row, VERSION);
    slot->was_room = PQgetvalue(r, row, ROOM);
    slot->was_used = (uint64_t)pg_int(r, row, USED);
    slot->lane = (int32_t)pg_int(r, row, LANE);
    struct bide__store_record *was = &slot->was;
    was->state = (enum bide__store_state)pg_int(r, row, STATE);
    was->token = (uint64_t)pg_int(r, row, TOKEN);
    was->created_ns = pg_int(r, row, CREATED);
    was->lease_until_ns = pg_int(r, row, LEASE_UNTIL);
    was->expires_ns = pg_int(r, row, EXPIRES);
    copy32(was->fingerprint, r, row, FINGERPRINT);
    copy32(was->binding, r, row, BINDING);
    was->status = (int32_t)pg_int(r, row, STATUS);
    was->data = PQgetvalue(r, row, ANSWER);
    was->len = (size_t)PQgetlength(r, row, ANSWER);
    was->bytes = (uint64_t)pg_int(r, row, BYTES);
}

static int read_slots(void *arg, struct bide__batch *batch,
                      struct bide__slot *const slots[], size_t n)
{
    struct pg_store *self = arg;

    pg_args_clear(&self->args);
    pg_array_begin(&self->args, PG_BYTEA, n);
    for (size_t i = 0; i < n; i++)
        pg_element_bytes(&self->args, slots[i]->id, 32);
    pg_arg_end(&self->args);
    pg_array_begin(&self->args, PG_BYTEA, n);
    for (size_t i = 0; i < n; i++)
        pg_element_bytes(&self->args, slots[i]->op->room,
                         strlen(slots[i]->op->room));
    pg_arg_end(&self->args);
    PQclear(self->read);
    self->read = pg_store_ask(self, read_sql);
    if (!self->read)
        return BIDE_ESTATE;
    for (size_t i = 0; i < n; i++)
        fill(slots[i], self->read, (int)i);
    if (n > 0) {
        batch->total_bytes = (uint64_t)pg_int(self->read, 0, TOTAL);
        batch->now_ns = pg_int(self->read, 0, NOW);
    }
    return 0;
}

/* ===== writing ===== */

/* A server that was stopped finds this statement in its socket when it goes on,
 * long after the client has given up, and perhaps released the claim on another
 * connection. So it does nothing when it comes too late. */
#define LATE PG_NOW " > $1"

/* `o` has the records to be written, in one order for all who write, so that
 * they do not wait for each other in a circle. */
static const char write_sql[] =
    "WITH o AS MATERIALIZED ("
    " SELECT * FROM unnest($2::bytea[], $3::bigint[], $4::bool[],"
    "  $5::bigint[], $6::bytea[], $7::bytea[], $8::bytea[], $9::int[],"
    "  $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],"
    "  $14::bytea[], $15::bytea[], $16::int[], $17::bytea[], $18::bytea[],"
    "  $19::int[], $20::bigint[], $21::bytea[], $22::bigint[])"
    " AS o(id, was_version, is_there, version, scope, owner, key, state, token,"
    "  created_ns, lease_until_ns, expires_ns, fingerprint, binding, status,"
    "  answer, room, lane, bytes, was_room, was_bytes)"
    " WHERE NOT " LATE " ORDER BY id),"
    "i AS ("
    " INSERT INTO bide_store_records (id, version, scope, owner, key, state,"
    "  token, created_ns, lease_until_ns, expires_ns, fingerprint, binding,"
    "  status, answer, room, lane, bytes)"
    " SELECT id, version, scope, owner, key, state, token, created_ns,"
    "  lease_until_ns, expires_ns, fingerprint, binding, status, answer, room,"
    "  lane, bytes FROM o WHERE was_version = 0"
    " ON CONFLICT (id) DO NOTHING RETURNING id, room, lane, bytes),"
    "u AS ("
    " UPDATE bide_store_records r SET version = o.version, state = o.state,"
    "  token = o.token, created_ns = o.created_ns,"
    "  lease_until_ns = o.lease_until_ns, expires_ns = o.expires_ns,"
    "  fingerprint = o.fingerprint, binding = o.binding, status = o.status,"
    "  answer = o.answer, room = o.room, bytes = o.bytes"
    " FROM o WHERE r.id = o.id AND o.was_version <> 0 AND o.is_there"
    "  AND r.version = o.was_version"
    " RETURNING o.id, o.room, o.lane, o.bytes, o.was_room, o.was_bytes),"
    "d AS ("
    " DELETE FROM bide_store_records r USING o WHERE r.id = o.id"
    "  AND o.was_version <> 0 AND NOT o.is_there"
    "  AND r.version = o.was_version"
    " RETURNING o.id, o.lane, o.was_room, o.was_bytes),"
    "delta AS MATERIALIZED ("
    " SELECT room, lane, bytes, 1 AS records FROM i"
    " UNION ALL SELECT room, lane, bytes, 1 FROM u"
    " UNION ALL SELECT was_room, lane, -was_bytes, -1 FROM u"
    " UNION ALL SELECT was_room, lane, -was_bytes, -1 FROM d)," PG_COUNT
    "SELECT id FROM i UNION ALL SELECT id FROM u UNION ALL SELECT id FROM d";

/* A column of the batch: its type, and its value in a slot. */
struct column {
    enum pg_type type;
    void (*put)(struct pg_args *args, const struct bide__slot *slot);
};

#define BYTES(name, data, len)                                                 \
    static void put_##name(struct pg_args *args, const struct bide__slot *s)   \
    {                                                                          \
        pg_element_bytes(args, data, len);                                     \
    }
#define NUMBER(name, n)                                                        \
    static void put_##name(struct pg_args *args, const struct bide__slot *s)   \
    {                                                                          \
        pg_element_i64(args, (int64_t)(n));                                    \
    }
#define SMALL(name, n)                                                         \
    static void put_##name(struct pg_args *args, const struct bide__slot *s)   \
    {                                                                          \
        pg_element_i32(args, (int32_t)(n));                                    \
    }
#define TEXT(name, text) BYTES(name, text, strlen(text))

BYTES(id, s->id, 32)
NUMBER(was_version, s->there ? s->version : 0)
static void put_is_there(struct pg_args *args, const struct bide__slot *s)
{
    pg_element_bool(args, s->is);
}
NUMBER(version, s->new_version)
TEXT(scope, s->op->scope)
TEXT(owner, s->op->owner)
TEXT(key, s->op->key)
SMALL(state, s->now.state)
NUMBER(token, s->now.token)
NUMBER(created, s->now.created_ns)
NUMBER(lease_until, s->now.lease_until_ns)
NUMBER(expires, s->now.expires_ns)
BYTES(fingerprint, s->now.fingerprint, 32)
BYTES(binding, s->now.binding, 32)
SMALL(status, s->now.status)
BYTES(answer, s->now.data, s->is ? s->now.len : 0)
TEXT(room, s->is ? s->room : "")
SMALL(lane, s->lane)
NUMBER(bytes, s->is ? s->now.bytes : 0)
TEXT(was_room, s->there ? s->was_room : "")
NUMBER(was_bytes, s->there ? s->was.bytes : 0)

/* In the order of write_sql, from $2 on. */
static const struct column columns[] = {
    { PG_BYTEA, put_id },          { PG_INT8, put_was_version },
    { PG_BOOL, put_is_there },     { PG_INT8, put_version },
    { PG_BYTEA, put_scope },       { PG_BYTEA, put_owner },
    { PG_BYTEA, put_key },         { PG_INT4, put_state },
    { PG_INT8, put_token },        { PG_INT8, put_created },
    { PG_INT8, put_lease_until },  { PG_INT8, put_expires },
    { PG_BYTEA, put_fingerprint }, { PG_BYTEA, put_binding },
    { PG_INT4, put_status },       { PG_BYTEA, put_answer },
    { PG_BYTEA, put_room },        { PG_INT4, put_lane },
    { PG_INT8, put_bytes },        { PG_BYTEA, put_was_room },
    { PG_INT8, put_was_bytes },
};

static void mark_written(struct bide__slot *const slots[], size_t n,
                         const PGresult *r)
{
    for (int row = 0; row < PQntuples(r); row++) {
        for (size_t i = 0; i < n; i++) {
            if (memcmp(slots[i]->id, PQgetvalue(r, row, 0), 32) == 0)
                slots[i]->written = true;
        }
    }
}

/* Others who write at the same time were in the way: nothing was done. */
static bool is_in_the_way(const char *state)
{
    return strcmp(state, "40P01") == 0 || strcmp(state, "40001") == 0 ||
           strcmp(state, "55P03") == 0;
}

static int write_slots(void *arg, struct bide__batch *batch,
                       struct bide__slot *const slots[], size_t n)
{
    struct pg_store *self = arg;
    int64_t left_ns = self->until_ns - bide_now_ns();

    for (size_t i = 0; i < n; i++) {
        if (!slots[i]->there)
            slots[i]->lane = pg_process(self->pg) % 16;
    }
    pg_args_clear(&self->args);
    pg_arg_i64(&self->args, batch->now_ns + left_ns);
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        pg_array_begin(&self->args, columns[c].type, n);
        for (size_t i = 0; i < n; i++)
            columns[c].put(&self->args, slots[i]);
        pg_arg_end(&self->args);
    }
    PGresult *r = pg_store_ask(self, write_sql);
    if (!r)
        return pg_is_connected(self->pg) && is_in_the_way(pg_state(self->pg))
                   ? 0
                   : BIDE_ESTATE;
    mark_written(slots, n, r);
    PQclear(r);
    return 0;
}

/* ===== running ===== */

static const struct bide__batch_io io = { read_slots, write_slots };

int pg_store_run(void *arg, bide_store_op *const ops[], size_t n, char *why,
                 size_t why_size)
{
    struct pg_store *self = arg;
    int rc = 0;

    self->until_ns = bide_now_ns() + self->patience_ns;
    /* A connection that was lost while it idled is made anew. Doing a batch
     * twice is doing it once: claims have their tokens already. */
    for (int i = 0; i < 2; i++) {
        bool was_connected = pg_is_connected(self->pg);
        rc = pg_store_ready(self);
        if (rc == 0)
            rc = bide__batch_run(&self->batch, ops, n, &io, self);
        if (rc == 0)
            return 0;
        if (rc == BIDE_ENOMEM || !was_connected ||
            pg_is_connected(self->pg) || bide_now_ns() >= self->until_ns)
            break;
    }
    if (rc == BIDE_ENOMEM)
        snprintf(self->why, sizeof self->why, "no memory");
    pg_store_failed(self, why, why_size);
    return rc;
}
