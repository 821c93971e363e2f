/* What is there: count, list, sweep, purge. */
#include "store/postgresql/look.h"

#include <libpq-fe.h>
#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "store/postgresql/store.h"

#define TIDY_EVERY (60 * BIDE_SECOND)

/* Of an operator's request, which may have to go through all records. */
#define LOOK_PATIENCE (60 * BIDE_SECOND)

static int begin(struct pg_store *self, int64_t patience_ns, char *why,
                 size_t why_size)
{
    self->until_ns = bide_now_ns() + patience_ns;
    pg_args_clear(&self->args);
    return pg_store_ready(self) < 0 ? pg_store_failed(self, why, why_size) : 0;
}

/* ===== sweeping ===== */

/* The time is asked for once, (SELECT ...), or the index would be of no use: the
 * clock may differ for every row. */

static const char sweep_sql[] =
    "WITH gone AS ("
    " DELETE FROM bide_store_records WHERE id IN ("
    "  SELECT id FROM bide_store_records WHERE expires_ns <= (SELECT " PG_NOW ")"
    "  ORDER BY expires_ns LIMIT $1 FOR UPDATE SKIP LOCKED)"
    " RETURNING room, lane, bytes),"
    "delta AS MATERIALIZED (SELECT room, lane, -bytes AS bytes, -1 AS records"
    " FROM gone)," PG_COUNT "SELECT count(*) FROM gone";

/* Of callers who have no record any more. */
static const char tidy_sql[] =
    "DELETE FROM bide_store_rooms WHERE records = 0 AND bytes = 0";

int pg_store_sweep(void *arg, int most, char *why, size_t why_size)
{
    struct pg_store *self = arg;

    if (begin(self, self->patience_ns, why, why_size) < 0)
        return BIDE_ESTATE;
    pg_arg_i64(&self->args, most);
    PGresult *r = pg_store_ask(self, sweep_sql);
    if (!r)
        return pg_store_failed(self, why, why_size);
    int n = (int)pg_int(r, 0, 0);
    PQclear(r);
    if (bide_now_ns() - self->tidied_ns < TIDY_EVERY)
        return n;
    self->tidied_ns = bide_now_ns();
    pg_args_clear(&self->args);
    r = pg_store_ask(self, tidy_sql);
    PQclear(r);
    return r ? n : pg_store_failed(self, why, why_size);
}

/* ===== counting ===== */

static const char count_sql[] =
    "SELECT coalesce(sum(records), 0)::bigint,"
    " coalesce(sum(bytes), 0)::bigint,"
    " (SELECT min(created_ns) FROM bide_store_records), " PG_NOW
    " FROM bide_store_lanes";

int pg_store_count(void *arg, struct bide__store_count *ret, char *why,
                   size_t why_size)
{
    struct pg_store *self = arg;

    if (begin(self, self->patience_ns, why, why_size) < 0)
        return BIDE_ESTATE;
    PGresult *r = pg_store_ask(self, count_sql);
    if (!r)
        return pg_store_failed(self, why, why_size);
    ret->records = (uint64_t)pg_int(r, 0, 0);
    ret->bytes = (uint64_t)pg_int(r, 0, 1);
    ret->oldest_ns =
        PQgetisnull(r, 0, 2) ? 0 : pg_int(r, 0, 3) - pg_int(r, 0, 2);
    PQclear(r);
    return 0;
}

/* ===== which records ===== */

/* $1 .. $4: scope and key, if they are asked for; $5: their age. */
#define CHOSEN                                                                 \
    "($1::int = 0 OR scope = $2) AND ($3::int = 0 OR key = $4)"                \
    " AND created_ns <= n.now - $5 AND expires_ns > n.now"

/* The server's time, once for the whole statement. */
#define WITH_NOW "WITH n AS MATERIALIZED (SELECT " PG_NOW " AS now)"

static void choose(struct pg_args *args, const struct bide__store_query *query)
{
    const char *texts[] = { query->scope, query->key };

    for (int i = 0; i < 2; i++) {
        pg_arg_i32(args, texts[i] != NULL);
        pg_arg_bytes(args, texts[i] ? texts[i] : "",
                     texts[i] ? strlen(texts[i]) : 0);
    }
    pg_arg_i64(args, query->older_ns);
}

/* ===== listing, page by page ===== */

static const char list_sql[] =
    WITH_NOW " SELECT scope, owner, key, room, state, token, created_ns, lease_until_ns,"
    " expires_ns, status, CASE WHEN $6::int <> 0 THEN answer END,"
    " length(answer), bytes, n.now, id"
    " FROM bide_store_records, n WHERE " CHOSEN
    " AND (created_ns, id) < ($7, $8)"
    " ORDER BY created_ns DESC, id DESC LIMIT $9";

enum {
    SCOPE, OWNER, KEY, ROOM, STATE, TOKEN, CREATED, LEASE_UNTIL, EXPIRES,
    STATUS, ANSWER, LENGTH, BYTES, NOW, ID
};

static void read_row(struct bide__store_row *row, const PGresult *r, int i)
{
    *row = (struct bide__store_row){
        .scope = PQgetvalue(r, i, SCOPE),
        .owner = PQgetvalue(r, i, OWNER),
        .key = PQgetvalue(r, i, KEY),
        .room = PQgetvalue(r, i, ROOM),
        .now_ns = pg_int(r, i, NOW),
        .record = {
            .state = (enum bide__store_state)pg_int(r, i, STATE),
            .token = (uint64_t)pg_int(r, i, TOKEN),
            .created_ns = pg_int(r, i, CREATED),
            .lease_until_ns = pg_int(r, i, LEASE_UNTIL),
            .expires_ns = pg_int(r, i, EXPIRES),
            .status = (int32_t)pg_int(r, i, STATUS),
            .data = PQgetisnull(r, i, ANSWER) ? NULL
                                              : PQgetvalue(r, i, ANSWER),
            .len = (size_t)pg_int(r, i, LENGTH),
            .bytes = (uint64_t)pg_int(r, i, BYTES),
        },
    };
}

/* Where a page ends, and the next begins. */
struct place {
    int64_t created_ns;
    char id[64];
    size_t len;
};

static PGresult *page(struct pg_store *self,
                      const struct bide__store_query *query,
                      const struct place *at, int64_t most)
{
    pg_args_clear(&self->args);
    choose(&self->args, query);
    pg_arg_i32(&self->args, query->with_data);
    pg_arg_i64(&self->args, at->created_ns);
    pg_arg_bytes(&self->args, at->id, at->len);
    pg_arg_i64(&self->args, most);
    return pg_store_ask(self, list_sql);
}

static bool show(const PGresult *r, struct place *at, bide__store_row_fn fn,
                 void *ctx)
{
    for (int i = 0; i < PQntuples(r); i++) {
        struct bide__store_row row;
        read_row(&row, r, i);
        if (!fn(ctx, &row))
            return false;
        at->created_ns = row.record.created_ns;
        at->len = (size_t)PQgetlength(r, i, ID);
        if (at->len > sizeof at->id)
            at->len = sizeof at->id;
        memcpy(at->id, PQgetvalue(r, i, ID), at->len);
    }
    return true;
}

/* An operator waits longer than a request does. */
static int begin_look(struct pg_store *self, char *why, size_t why_size)
{
    int rc = begin(self, LOOK_PATIENCE, why, why_size);
    if (rc < 0)
        return rc;
    PQclear(pg_script(self->pg, "SET statement_timeout = 60000",
                      self->until_ns));
    return 0;
}

int pg_store_list(void *arg, const struct bide__store_query *query,
                  bide__store_row_fn fn, void *ctx, char *why, size_t why_size)
{
    struct pg_store *self = arg;
    struct place at = { .created_ns = INT64_MAX };
    uint64_t left = query->most ? query->most : UINT64_MAX;
    const uint64_t most = query->with_data ? 16 : 1000;

    if (begin_look(self, why, why_size) < 0)
        return BIDE_ESTATE;
    while (left > 0) {
        uint64_t want = left < most ? left : most;
        self->until_ns = bide_now_ns() + LOOK_PATIENCE;
        PGresult *r = page(self, query, &at, (int64_t)want);
        if (!r)
            return pg_store_failed(self, why, why_size);
        uint64_t got = (uint64_t)PQntuples(r);
        bool more = show(r, &at, fn, ctx) && got == want;
        PQclear(r);
        if (!more)
            break;
        left -= got;
    }
    return 0;
}

/* ===== purging ===== */

static const char purge_sql[] =
    WITH_NOW ", gone AS ("
    " DELETE FROM bide_store_records WHERE id IN ("
    "  SELECT id FROM bide_store_records, n"
    "  WHERE " CHOSEN " AND (state <> 0 OR lease_until_ns <= n.now)"
    "  ORDER BY created_ns LIMIT $6"
    "  FOR UPDATE OF bide_store_records SKIP LOCKED)"
    " RETURNING room, lane, bytes),"
    "delta AS MATERIALIZED (SELECT room, lane, -bytes AS bytes, -1 AS records"
    " FROM gone)," PG_COUNT "SELECT count(*) FROM gone";

int pg_store_purge(void *arg, const struct bide__store_query *query,
                   uint64_t *removed, char *why, size_t why_size)
{
    struct pg_store *self = arg;
    uint64_t left = query->most ? query->most : UINT64_MAX, got = 1;

    if (begin_look(self, why, why_size) < 0)
        return BIDE_ESTATE;
    while (left > 0 && got > 0) {
        self->until_ns = bide_now_ns() + LOOK_PATIENCE;
        pg_args_clear(&self->args);
        choose(&self->args, query);
        pg_arg_i64(&self->args, left < 1000 ? (int64_t)left : 1000);
        PGresult *r = pg_store_ask(self, purge_sql);
        if (!r)
            return pg_store_failed(self, why, why_size);
        got = (uint64_t)pg_int(r, 0, 0);
        PQclear(r);
        *removed += got;
        left -= got;
    }
    return 0;
}
