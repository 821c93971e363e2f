/* store/postgresql/store.h: records in PostgreSQL. What its files share.
 *
 *   bide_store_records   a row for each record; what may change is written only
 *                        if its version is still the one that was read
 *   bide_store_rooms     how much each caller's records take, in lanes
 *   bide_store_lanes     how much all of them take
 *
 * A batch is two statements (store/batch.h): one reads, one writes records and
 * counts, and is a transaction of its own. A statement that the server gets to
 * only after its time (it hung, and woke up) does nothing: see LATE in
 * records.c. */
#ifndef BIDE_STORE_POSTGRESQL_STORE_H
#define BIDE_STORE_POSTGRESQL_STORE_H

#include "store/batch.h"
#include "store/kind.h"
#include "store/postgresql/pg.h"

/* Threads: owned. */
struct pg_store {
    struct pg *pg;
    struct pg_args args;
    struct bide__batch batch;
    PGresult *read;        /* what the slots of the batch point into */
    uint64_t ready;        /* the connection that was made ready */
    int64_t patience_ns;   /* an answer that takes longer will not come */
    int64_t until_ns;      /* of the call that is running */
    int64_t tidied_ns;     /* rooms of nobody were removed */
    bool relaxed, existing;
    bool refused;          /* the server answers, and will not have us */
    char why[PG_WHY];
};

/* Connects if need be, and sees that server and schema are fit to be used. 0,
 * or negative and self->why. */
int pg_store_ready(struct pg_store *self);

/* A statement; NULL: it failed, and self->why says how. */
PGresult *pg_store_ask(struct pg_store *self, const char *sql);

/* Copies self->why. Always negative. */
int pg_store_failed(const struct pg_store *self, char *why, size_t why_size);

/* ===== pieces of SQL ===== */

/* The server's time; not now(), which is the transaction's. */
#define PG_NOW                                                                 \
    "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000"

/* Counts what `delta` (room, lane, bytes, records) says: rooms before lanes,
 * each in order, after the records, so that nobody waits in a circle. */
#define PG_COUNT                                                               \
    "rooms AS ("                                                               \
    " INSERT INTO bide_store_rooms AS t (room, lane, bytes, records)"          \
    " SELECT room, lane, sum(bytes), sum(records) FROM delta"                  \
    " GROUP BY room, lane ORDER BY room, lane"                                 \
    " ON CONFLICT (room, lane) DO UPDATE SET"                                  \
    "  bytes = t.bytes + excluded.bytes,"                                      \
    "  records = t.records + excluded.records),"                               \
    "lanes AS ("                                                               \
    " INSERT INTO bide_store_lanes AS t (lane, bytes, records)"                \
    " SELECT lane, sum(bytes), sum(records) FROM delta"                        \
    " GROUP BY lane ORDER BY lane"                                             \
    " ON CONFLICT (lane) DO UPDATE SET"                                        \
    "  bytes = t.bytes + excluded.bytes,"                                      \
    "  records = t.records + excluded.records)"

#endif
