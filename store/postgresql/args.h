/* store/postgresql/args.h: arguments and results of a statement, in the binary
 * format of PostgreSQL.
 *
 *     struct pg_args args = { 0 };
 *     pg_arg_i64(&args, limit);
 *     pg_array_begin(&args, PG_BYTEA, n_keys);           // bytea[]
 *     for (size_t i = 0; i < n_keys; i++)
 *         pg_element_bytes(&args, keys[i].data, keys[i].len);
 *     pg_arg_end(&args);
 *     ...
 *     pg_args_clear(&args);              // for the next statement
 *     pg_args_done(&args);
 *
 * A whole batch is one statement: each column of the batch is an array, and the
 * server takes them apart with unnest(). Numbers are big-endian. As in
 * base/out.h, running out of memory is noted and told at the end, by
 * pg_run(). */
#ifndef BIDE_STORE_POSTGRESQL_ARGS_H
#define BIDE_STORE_POSTGRESQL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"

/* libpq's, which a header of ours need not include. */
typedef struct pg_result PGresult;

/* Types, by the numbers that they have in every server. */
enum pg_type {
    PG_BOOL = 16,
    PG_BYTEA = 17,
    PG_INT8 = 20,
    PG_INT4 = 23,
    PG_TEXT = 25
};

enum { PG_ARGS = 24 };

/* All zero is none. Threads: owned. */
struct pg_args {
    struct bide__out out;
    unsigned n;
    unsigned types[PG_ARGS]; /* Oid */
    size_t at[PG_ARGS];      /* of `out` */
    size_t len[PG_ARGS];
};

void pg_arg_bytes(struct pg_args *args, const void *bytes, size_t len);
void pg_arg_text(struct pg_args *args, const char *text);
void pg_arg_bool(struct pg_args *args, bool on);
void pg_arg_i64(struct pg_args *args, int64_t n);
void pg_arg_i32(struct pg_args *args, int32_t n);

/* An array of `n` elements of a type, none NULL; exactly n follow, then end. */
void pg_array_begin(struct pg_args *args, enum pg_type type, size_t n);
void pg_element_bytes(struct pg_args *args, const void *bytes, size_t len);
void pg_element_i64(struct pg_args *args, int64_t n);
void pg_element_i32(struct pg_args *args, int32_t n);
void pg_element_bool(struct pg_args *args, bool on);
void pg_arg_end(struct pg_args *args);

void pg_args_clear(struct pg_args *args); /* keeps the memory */
void pg_args_done(struct pg_args *args);

/* ===== results ===== */

/* A column as a number: int2, int4, int8, bool. NULL is 0. */
int64_t pg_int(const PGresult *r, int row, int column);

#endif
