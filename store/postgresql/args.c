/* Arguments in the binary format. */
#include "store/postgresql/args.h"

#include <assert.h>
#include <libpq-fe.h>

static void put32(struct pg_args *args, uint32_t n)
{
    unsigned char b[4] = { (unsigned char)(n >> 24), (unsigned char)(n >> 16),
                           (unsigned char)(n >> 8), (unsigned char)n };
    bide__out_bytes(&args->out, b, sizeof b);
}

static void put64(struct pg_args *args, uint64_t n)
{
    put32(args, (uint32_t)(n >> 32));
    put32(args, (uint32_t)n);
}

static void begin(struct pg_args *args, unsigned type)
{
    assert(args->n < PG_ARGS);
    args->types[args->n] = type;
    args->at[args->n] = args->out.len;
}

void pg_arg_end(struct pg_args *args)
{
    args->len[args->n] = args->out.len - args->at[args->n];
    args->n++;
}

void pg_arg_bytes(struct pg_args *args, const void *bytes, size_t len)
{
    begin(args, PG_BYTEA);
    bide__out_bytes(&args->out, bytes, len);
    pg_arg_end(args);
}

void pg_arg_text(struct pg_args *args, const char *text)
{
    begin(args, PG_TEXT);
    bide__out_text(&args->out, text);
    pg_arg_end(args);
}

void pg_arg_bool(struct pg_args *args, bool on)
{
    begin(args, PG_BOOL);
    bide__out_char(&args->out, on);
    pg_arg_end(args);
}

void pg_arg_i64(struct pg_args *args, int64_t n)
{
    begin(args, PG_INT8);
    put64(args, (uint64_t)n);
    pg_arg_end(args);
}

void pg_arg_i32(struct pg_args *args, int32_t n)
{
    begin(args, PG_INT4);
    put32(args, (uint32_t)n);
    pg_arg_end(args);
}

/* The types of arrays have numbers of their own. */
static unsigned array_of(enum pg_type type)
{
    switch (type) {
    case PG_BOOL:
        return 1000;
    case PG_BYTEA:
        return 1001;
    case PG_INT4:
        return 1007;
    case PG_TEXT:
        return 1009;
    case PG_INT8:
        break;
    }
    return 1016;
}

void pg_array_begin(struct pg_args *args, enum pg_type type, size_t n)
{
    begin(args, array_of(type));
    put32(args, n > 0); /* dimensions */
    put32(args, 0);     /* none is NULL */
    put32(args, type);
    if (n > 0) {
        put32(args, (uint32_t)n);
        put32(args, 1); /* the first index */
    }
}

void pg_element_bytes(struct pg_args *args, const void *bytes, size_t len)
{
    put32(args, (uint32_t)len);
    bide__out_bytes(&args->out, bytes, len);
}

void pg_element_i64(struct pg_args *args, int64_t n)
{
    put32(args, 8);
    put64(args, (uint64_t)n);
}

void pg_element_i32(struct pg_args *args, int32_t n)
{
    put32(args, 4);
    put32(args, (uint32_t)n);
}

void pg_element_bool(struct pg_args *args, bool on)
{
    put32(args, 1);
    bide__out_char(&args->out, on);
}

void pg_args_clear(struct pg_args *args)
{
    args->n = 0;
    bide__out_clear(&args->out);
}

void pg_args_done(struct pg_args *args)
{
    bide__out_done(&args->out);
}

int64_t pg_int(const PGresult *r, int row, int column)
{
    const unsigned char *b =
        (const unsigned char *)PQgetvalue(r, row, column);
    int len = PQgetlength(r, row, column);
    uint64_t n = len > 0 && b[0] & 0x80 ? UINT64_MAX : 0; /* the sign */

    if (len == 1)
        return b[0]; /* a bool */
    for (int i = 0; i < len; i++)
        n = n << 8 | b[i];
    return (int64_t)n;
}
