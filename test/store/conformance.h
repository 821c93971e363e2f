/* The rows that every kind of store is held to.
 *
 *     static int64_t clock_ns;
 *     ...
 *     struct conformance c = { .store = store, .tick_ns = BIDE_SECOND,
 *                              .wait = move_virtual_clock };
 *     conformance_run(&c);
 *
 * Times are in ticks: with a virtual clock a tick is a second; with a server's own
 * clock it is what the machine can be trusted with, and `wait` sleeps. Each row set
 * uses keys of its own, so they can run on one store, in any order. */
#ifndef BIDE_TEST_STORE_CONFORMANCE_H
#define BIDE_TEST_STORE_CONFORMANCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bide/policy.h"
#include "bide/store.h"

struct conformance {
    bide_store *store;
    int64_t tick_ns;
    void (*wait)(struct conformance *c, int64_t ns);
    void *ctx;
    bool virtual_clock; /* a long wait takes no time */
    bool no_room; /* the store is too large to fill: leave those rows out */
};

/* One row: wait, do, expect. Tokens are kept by `as`, a number of the caller. */
struct conformance_row {
    int wait;            /* ticks, before */
    bide_store_verb verb;
    const char *key;
    int as;              /* 0 .. 3: whose token */
    bide_store_result want;
    int lease, keep;     /* ticks; 0: 10, 100 */
    const char *scope, *owner; /* NULL: "/pay", "" */
    const char *data;    /* COMPLETE: sent; DONE: expected */
    int status;          /* the same; 0: 201 */
    int print, bind;     /* first byte of fingerprint, binding */
    bool take_over, too_large;
};

/* clang-format off */
#define CLAIM BIDE_STORE_CLAIM
#define RENEW BIDE_STORE_RENEW
#define COMPLETE BIDE_STORE_COMPLETE
#define RELEASE BIDE_STORE_RELEASE
#define LOOK_UP BIDE_STORE_LOOK_UP
#define WANT(result) .want = BIDE_STORE_##result

static const struct conformance_row conformance_rows[] = {
    /* The life of a record. */
    { 0, LOOK_UP,  "life", 0, WANT(ABSENT) },
    { 0, CLAIM,    "life", 0, WANT(FIRST) },
    { 0, CLAIM,    "life", 1, WANT(IN_PROGRESS) },
    { 0, LOOK_UP,  "life", 1, WANT(IN_PROGRESS) },
    { 0, COMPLETE, "life", 0, WANT(OK), .data = "{\"charge\":1}" },
    { 0, CLAIM,    "life", 1, WANT(DONE), .data = "{\"charge\":1}" },
    { 0, LOOK_UP,  "life", 1, WANT(DONE), .data = "{\"charge\":1}" },
    { 0, CLAIM,    "life", 1, WANT(DONE), .data = "{\"charge\":1}", .take_over = true },
    /* An answer of no bytes is an answer; so is status 500. */
    { 0, CLAIM,    "empty", 0, WANT(FIRST) },
    { 0, COMPLETE, "empty", 0, WANT(OK), .data = "", .status = 500 },
    { 0, CLAIM,    "empty", 1, WANT(DONE), .data = "", .status = 500 },
    /* Too large: no second effect, no copy. */
    { 0, CLAIM,    "big", 0, WANT(FIRST) },
    { 0, COMPLETE, "big", 0, WANT(OK), .data = "x", .too_large = true },
    { 0, CLAIM,    "big", 1, WANT(TOO_LARGE) },
    { 0, LOOK_UP,  "big", 1, WANT(TOO_LARGE) },
    /* Released: the next is a first, with another token. */
    { 0, CLAIM,    "back", 0, WANT(FIRST) },
    { 0, RELEASE,  "back", 0, WANT(OK) },
    { 0, LOOK_UP,  "back", 0, WANT(ABSENT) },
    { 0, CLAIM,    "back", 1, WANT(FIRST) },
    { 0, RELEASE,  "back", 0, WANT(LOST) },
    { 0, COMPLETE, "back", 0, WANT(LOST), .data = "late" },
    { 0, RENEW,    "back", 0, WANT(LOST) },
    { 0, CLAIM,    "back", 2, WANT(IN_PROGRESS) },
    { 0, COMPLETE, "back", 1, WANT(OK), .data = "mine" },
    { 0, RELEASE,  "back", 1, WANT(LOST) },
    { 0, RENEW,    "back", 1, WANT(LOST) },
    /* Completing twice is one completion. */
    { 0, COMPLETE, "back", 1, WANT(OK), .data = "other" },
    { 0, CLAIM,    "back", 2, WANT(DONE), .data = "mine" },
    /* Of what is not there. */
    { 0, RENEW,    "none", 0, WANT(LOST) },
    { 0, COMPLETE, "none", 0, WANT(LOST), .data = "x" },
    { 0, RELEASE,  "none", 0, WANT(OK) },
    /* Another request, or another caller: wins over whatever else is known. */
    { 0, CLAIM,    "other", 0, WANT(FIRST), .print = 1, .bind = 1 },
    { 0, CLAIM,    "other", 1, WANT(MISMATCH), .print = 2, .bind = 1 },
    { 0, CLAIM,    "other", 1, WANT(MISMATCH), .print = 1, .bind = 2 },
    { 0, CLAIM,    "other", 1, WANT(IN_PROGRESS), .print = 1, .bind = 1 },
    { 0, COMPLETE, "other", 0, WANT(OK), .data = "x" },
    { 0, CLAIM,    "other", 1, WANT(MISMATCH), .print = 2, .bind = 1 },
    { 0, CLAIM,    "other", 1, WANT(DONE), .print = 1, .bind = 1, .data = "x" },
    /* Scope, owner and key together name a record; case counts. */
    { 0, CLAIM,    "name", 0, WANT(FIRST) },
    { 0, CLAIM,    "Name", 0, WANT(FIRST) },
    { 0, CLAIM,    "name ", 0, WANT(FIRST) },
    { 0, CLAIM,    "name", 0, WANT(FIRST), .scope = "/refund" },
    { 0, CLAIM,    "name", 0, WANT(FIRST), .owner = "alice" },
    { 0, CLAIM,    "name", 0, WANT(FIRST), .owner = "bob" },
    { 0, CLAIM,    "name", 0, WANT(IN_PROGRESS), .owner = "bob" },
    { 0, CLAIM,    "c", 0, WANT(FIRST), .scope = "a", .owner = "b" },
    { 0, CLAIM,    "bc", 0, WANT(FIRST), .scope = "a", .owner = "" },
    { 0, CLAIM,    "c", 0, WANT(FIRST), .scope = "ab", .owner = "" },
    /* Texts that mean something elsewhere. */
    { 0, CLAIM,    "'; DROP TABLE record; --", 0, WANT(FIRST) },
    { 0, CLAIM,    "'; DROP TABLE record; --", 1, WANT(IN_PROGRESS) },
    { 0, CLAIM,    "{a}:*?[b]%_\\\"", 0, WANT(FIRST) },
    { 0, CLAIM,    "{a}:*?[b]%_\\\"", 1, WANT(IN_PROGRESS) },
    { 0, CLAIM,    "%", 0, WANT(FIRST) },
    { 0, CLAIM,    "a\r\nSET x 1\r\n", 0, WANT(FIRST) },
    { 0, CLAIM,    "a\r\nSET x 1\r\n", 1, WANT(IN_PROGRESS) },
    { 0, CLAIM,    "\x01\x7f", 0, WANT(FIRST) },
    { 0, CLAIM,    "\x01\x7f", 1, WANT(IN_PROGRESS) },
    /* The lease ends: unknown, and stays so; its owner may still complete. */
    { 0, CLAIM,    "lost", 0, WANT(FIRST), .lease = 3 },
    { 1, CLAIM,    "lost", 1, WANT(IN_PROGRESS) },
    { 3, CLAIM,    "lost", 1, WANT(UNKNOWN) },
    { 0, LOOK_UP,  "lost", 1, WANT(UNKNOWN) },
    { 0, CLAIM,    "lost", 1, WANT(MISMATCH), .print = 9 },
    { 0, COMPLETE, "lost", 0, WANT(OK), .data = "late" },
    { 0, CLAIM,    "lost", 1, WANT(DONE), .data = "late" },
    /* Renewed, it lasts longer. */
    { 0, CLAIM,    "long", 0, WANT(FIRST), .lease = 4 },
    { 2, RENEW,    "long", 0, WANT(OK), .lease = 8 },
    { 4, CLAIM,    "long", 1, WANT(IN_PROGRESS), .take_over = true },
    { 6, CLAIM,    "long", 1, WANT(FIRST), .take_over = true },
    /* Taken over: the late owner changes nothing. */
    { 0, COMPLETE, "long", 0, WANT(LOST), .data = "late" },
    { 0, RELEASE,  "long", 0, WANT(LOST) },
    { 0, RENEW,    "long", 0, WANT(LOST) },
    { 0, COMPLETE, "long", 1, WANT(OK), .data = "second" },
    { 0, CLAIM,    "long", 2, WANT(DONE), .data = "second" },
    /* A lease that has ended and was renewed before anybody asked. */
    { 0, CLAIM,    "late", 0, WANT(FIRST), .lease = 2 },
    { 3, RENEW,    "late", 0, WANT(OK), .lease = 20 },
    { 0, CLAIM,    "late", 1, WANT(IN_PROGRESS) },
    /* Kept so long and no longer: absent at once. */
    { 0, CLAIM,    "short", 0, WANT(FIRST) },
    { 0, COMPLETE, "short", 0, WANT(OK), .data = "x", .keep = 4 },
    { 1, CLAIM,    "short", 1, WANT(DONE), .data = "x" },
    { 4, LOOK_UP,  "short", 1, WANT(ABSENT) },
    { 0, COMPLETE, "short", 0, WANT(LOST), .data = "y" },
    { 0, CLAIM,    "short", 1, WANT(FIRST), .print = 7 },
    { 0, COMPLETE, "short", 1, WANT(OK), .data = "z" },
    { 0, CLAIM,    "short", 2, WANT(DONE), .print = 7, .data = "z" },
    /* A claim outlives its lease, not its keep. */
    { 0, CLAIM,    "gone", 0, WANT(FIRST), .lease = 1, .keep = 4 },
    { 2, CLAIM,    "gone", 1, WANT(UNKNOWN) },
    { 3, CLAIM,    "gone", 1, WANT(FIRST) },
};
/* clang-format on */

static inline void conformance_step(struct conformance *c,
                                    const struct conformance_row *row,
                                    uint64_t tokens[4])
{
    bide_store_op op = BIDE_STORE_OP_INIT;
    if (row->wait > 0)
        c->wait(c, row->wait * c->tick_ns);
    op.verb = row->verb;
    op.key = row->key;
    op.scope = row->scope ? row->scope : "/pay";
    op.owner = row->owner ? row->owner : "";
    op.room = "10.0.0.7";
    op.token = tokens[row->as];
    op.lease_ns = (row->lease ? row->lease : 10) * c->tick_ns;
    op.keep_ns = (row->keep ? row->keep : 100) * c->tick_ns;
    op.take_over = row->take_over;
    op.too_large = row->too_large;
    op.fingerprint[0] = (uint8_t)row->print;
    op.binding[31] = (uint8_t)row->bind;
    op.status = row->status ? row->status : 201;
    op.data = row->data;
    op.len = row->data ? strlen(row->data) : 0;
    int rc = bide_store_do(c->store, &op);
    if (rc != 0 || op.result != row->want)
        fail_msg("row %d, key %s: %d, %s instead of %s",
                 (int)(row - conformance_rows), row->key, rc,
                 bide_store_result_name(op.result),
                 bide_store_result_name(row->want));
    if (op.result == BIDE_STORE_FIRST)
        tokens[row->as] = op.token;
    if (op.result == BIDE_STORE_IN_PROGRESS)
        assert_true(op.left_ns > 0 && op.left_ns <= 20 * c->tick_ns);
    if (op.result == BIDE_STORE_DONE) {
        assert_int_equal(op.status, row->status ? row->status : 201);
        assert_int_equal(op.len, strlen(row->data));
        assert_memory_equal(op.data, row->data, op.len);
    }
    bide_store_op_done(&op);
}

enum { CONFORMANCE_KEEP = 1000 }; /* ticks, of what fills a store */

/* Answers of all bytes and of some size come back as they were. */
static inline void conformance_data(struct conformance *c)
{
    static uint8_t data[200000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7 + i / 256);
    bide_store_op op = BIDE_STORE_OP_INIT;
    op.scope = "/data";
    op.key = "bytes";
    assert_int_equal(bide_store_do(c->store, &op), 0);
    assert_int_equal(op.result, BIDE_STORE_FIRST);
    bide_store_complete(c->store, &op, 200, data, sizeof data);
    assert_int_equal(op.result, BIDE_STORE_OK);
    op.verb = BIDE_STORE_CLAIM;
    assert_int_equal(bide_store_do(c->store, &op), 0);
    assert_int_equal(op.result, BIDE_STORE_DONE);
    assert_int_equal(op.len, sizeof data);
    assert_memory_equal(op.data, data, sizeof data);
    bide_store_op_done(&op);
}

static inline bide_store_result conformance_fill(struct conformance *c,
                                                 const char *room, int i,
                                                 bide_store_op *op,
                                                 const void *data, size_t len)
{
    char key[32];
    snprintf(key, sizeof key, "%d", i);
    *op = (bide_store_op)BIDE_STORE_OP_INIT;
    op->keep_ns = CONFORMANCE_KEEP * c->tick_ns;
    op->scope = room;
    op->key = key;
    op->room = room;
    assert_int_equal(bide_store_do(c->store, op), 0);
    if (op->result == BIDE_STORE_FIRST)
        assert_int_equal(bide_store_complete(c->store, op, 200, data, len), 0);
    op->key = ""; /* ours */
    return op->result;
}

/* A store of 1 MiB: one caller gets at most half of it, and leaves room for the
 * others; nothing that is kept is dropped for it. */
static inline void conformance_room(struct conformance *c)
{
    static const uint8_t data[16000];
    bide_store_op op;
    int kept = 0, second = 0;
    while (conformance_fill(c, "greedy", kept, &op, data, sizeof data) ==
           BIDE_STORE_OK)
        assert_true(++kept < 100);
    assert_in_range(kept, 20, 33);
    assert_int_equal(conformance_fill(c, "other", 0, &op, data, sizeof data),
                     BIDE_STORE_OK);
    while (conformance_fill(c, "second", second, &op, data, sizeof data) ==
           BIDE_STORE_OK)
        second++;
    assert_in_range(second, 8, kept);
    assert_int_equal(conformance_fill(c, "new", 0, &op, data, 1000),
                     BIDE_STORE_OK);
    op.key = "0";
    op.scope = op.room = "greedy";
    op.verb = BIDE_STORE_LOOK_UP;
    assert_int_equal(bide_store_do(c->store, &op), 0);
    assert_int_equal(op.result, BIDE_STORE_DONE);
    bide_store_op_done(&op);
    if (!c->virtual_clock)
        return;
    /* What has expired takes no room, before it is swept as well. */
    c->wait(c, CONFORMANCE_KEEP * c->tick_ns);
    for (int i = 0; i < kept; i++)
        assert_int_equal(conformance_fill(c, "greedy", i, &op, data,
                                          sizeof data),
                         BIDE_STORE_OK);
}

static inline void conformance_run(struct conformance *c)
{
    uint64_t tokens[4] = { 1, 2, 3, 4 };
    for (size_t i = 0;
         i < sizeof conformance_rows / sizeof conformance_rows[0]; i++)
        conformance_step(c, &conformance_rows[i], tokens);
    conformance_data(c);
    if (!c->no_room)
        conformance_room(c);
}

#undef CLAIM
#undef RENEW
#undef COMPLETE
#undef RELEASE
#undef LOOK_UP
#undef WANT
#endif
