/* Putting messages, and reading rows back into messages. */
#include "queue/sqlite/put.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hex.h"
#include "base/out.h"
#include "queue/sqlite/db.h"

/* An id of 20 digits: four that a person reads, six of the time, in units of 4 ms, and
 * ten more. Those that are put together stand together in the index (statements.c). */
static void make_id(const struct sqlite_broker *s, char to[QUEUE_ID_MAX + 1])
{
    uint8_t bytes[10];

    while (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        ;
    for (int i = 0; i < 3; i++)
        bytes[2 + i] = (uint8_t)((uint64_t)s->now_ms >> (18 - 8 * i));
    *bide__hex_write(to, bytes, sizeof bytes) = 0;
}

static int key_is_busy(struct sqlite_broker *s, const char *key, bool *ret)
{
    sqlite3_stmt *q = db_statement(s, SQL_KEY_IS_BUSY);
    int rc;

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, s->queue);
    sqlite3_bind_text(q, 2, key, -1, SQLITE_STATIC);
    rc = sqlite3_step(q);
    *ret = rc == SQLITE_ROW;
    sqlite3_reset(q);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : db_failed(s);
}

static void pack(struct bide__out *out, const struct broker_put *p)
{
    for (size_t i = 0; i < p->n_attributes; i++) {
        const struct queue_attribute *a = &p->attributes[i];
        bide__out_bytes(out, a->name, strlen(a->name) + 1);
        bide__out_bytes(out, a->value, strlen(a->value) + 1);
    }
}

static int insert(struct sqlite_broker *s, struct broker_put *p, bool held,
                  const struct bide__out *attributes)
{
    sqlite3_stmt *q = db_statement(s, SQL_PUT);
    int64_t delay_ms = (p->delay_ns + 999999) / 1000000;

    if (!q)
        return db_failed(s);
    sqlite3_bind_int64(q, 1, s->queue);
    sqlite3_bind_text(q, 2, p->made_id, -1, SQLITE_STATIC);
    db_bind_text(q, 3, p->key);
    sqlite3_bind_int(q, 4, held ? ROW_HELD : ROW_READY);
    sqlite3_bind_int(q, 5, p->priority);
    sqlite3_bind_int64(q, 6, s->now_ms + (delay_ms > 0 ? delay_ms : 0));
    sqlite3_bind_int64(q, 7, s->now_ms);
    if (attributes->len)
        sqlite3_bind_blob64(q, 8, attributes->data, attributes->len,
                            SQLITE_STATIC);
    else
        sqlite3_bind_null(q, 8);
    if (p->len)
        sqlite3_bind_blob64(q, 9, p->body, p->len, SQLITE_STATIC);
    else
        sqlite3_bind_zeroblob(q, 9, 0);
    int status = db_run(s, q);
    p->duplicate = status == 0 && sqlite3_changes(s->db) == 0;
    return status;
}

static int put_one(struct sqlite_broker *s, struct broker_put *p)
{
    struct bide__out attributes = { 0 };
    bool held = false;
    int status = 0;

    if (p->id)
        memcpy(p->made_id, p->id, strlen(p->id) + 1);
    else
        make_id(s, p->made_id);
    if (p->key && *p->key)
        status = key_is_busy(s, p->key, &held);
    pack(&attributes, p);
    if (attributes.failed)
        status = broker_fail(&s->b, BROKER_NO_MEMORY, "out of memory");
    if (status == 0)
        status = insert(s, p, held, &attributes);
    bide__out_done(&attributes);
    return status;
}

int rows_put(struct broker *b, struct broker_put *items, size_t n)
{
    struct sqlite_broker *s = (struct sqlite_broker *)b;
    int status;

    for (size_t i = 0; i < n; i++)
        if (items[i].len > b->traits.max_body)
            return broker_fail(b, BROKER_REFUSED,
                               "a message of %zu bytes: at most %zu",
                               items[i].len, b->traits.max_body);
    if ((status = db_enter(s)) != 0)
        return status;
    for (size_t i = 0; i < n && status == 0; i++)
        status = put_one(s, &items[i]);
    s->ring = true;
    return db_leave(s, status);
}

/* ===== back ===== */

static size_t unpack(const char *at, size_t len,
                     struct queue_attribute to[QUEUE_ATTRIBUTES_MAX])
{
    const char *end = at + len;
    size_t n = 0;

    while (at < end && n < QUEUE_ATTRIBUTES_MAX) {
        const char *value = memchr(at, 0, (size_t)(end - at));
        const char *next =
            value ? memchr(value + 1, 0, (size_t)(end - value - 1)) : NULL;
        if (!next)
            break;
        to[n++] = (struct queue_attribute){ at, value + 1 };
        at = next + 1;
    }
    return n;
}

struct queue_message *row_message(sqlite3_stmt *q)
{
    struct queue_attribute attributes[QUEUE_ATTRIBUTES_MAX];
    const char *packed = sqlite3_column_blob(q, 12);
    struct queue_text t = {
        .id = (const char *)sqlite3_column_text(q, 1),
        .key = (const char *)sqlite3_column_text(q, 2),
        .errors = (const char *)sqlite3_column_text(q, 11),
        .attributes = attributes,
        .body = sqlite3_column_blob(q, 13),
        .body_len = (size_t)sqlite3_column_bytes(q, 13),
    };

    if (packed)
        t.n_attributes =
            unpack(packed, (size_t)sqlite3_column_bytes(q, 12), attributes);
    struct queue_message *m = queue_message_new(&t);
    if (!m)
        return NULL;
    m->number = (uint64_t)sqlite3_column_int64(q, 0);
    m->priority = sqlite3_column_int(q, 3);
    m->attempt = (uint32_t)sqlite3_column_int64(q, 4);
    m->deliveries = (uint32_t)sqlite3_column_int64(q, 5);
    m->deaths = (uint32_t)sqlite3_column_int64(q, 6);
    m->suspect = sqlite3_column_int(q, 7) != 0;
    m->generation = (uint32_t)sqlite3_column_int64(q, 8);
    m->queued_ms = sqlite3_column_int64(q, 9);
    m->due_ms = sqlite3_column_int64(q, 10);
    return m;
}
