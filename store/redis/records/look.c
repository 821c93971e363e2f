/* What is there: count, list, sweep, purge. */
#include "store/redis/records/look.h"

#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "store/redis/records/batch.h"
#include "store/redis/records/codec.h"

/* Notes that are read at a time. */
enum { PAGE = 200 };

static int begin(struct redis_store *self, char *why, size_t why_size)
{
    self->until_ns = bide_now_ns() + self->patience_ns;
    return redis_store_ready(self) < 0 ? redis_store_failed(self, why, why_size)
                                       : 0;
}

/* ===== sweeping ===== */

static int sweep_once(struct redis_store *self, int most)
{
    struct redis_reply reply;

    if (redis_store_ready(self) < 0)
        return BIDE_ESTATE;
    redis_script_begin(self->redis, &self->scripts.sweep, 3, 1);
    redis_arg(self->redis, REDIS_STORE_NAME "about");
    redis_arg(self->redis, REDIS_STORE_NAME "rooms");
    redis_arg(self->redis, REDIS_STORE_NAME "notes");
    redis_arg_int(self->redis, most);
    return redis_store_next(self, &reply) < 0 ? BIDE_ESTATE
                                              : (int)reply.integer;
}

/* Once more on a new connection, as a batch: scripts that the server was told to
 * forget, or a connection that it closed, do not mean that the store is down. */
int redis_store_sweep(void *arg, int most, char *why, size_t why_size)
{
    struct redis_store *self = arg;
    int n;

    self->until_ns = bide_now_ns() + self->patience_ns;
    n = sweep_once(self, most);
    if (n < 0 && !self->refused && bide_now_ns() < self->until_ns)
        n = sweep_once(self, most);
    return n < 0 ? redis_store_failed(self, why, why_size) : n;
}

/* ===== time ===== */

static int read_time(struct redis_store *self, int64_t *ret_ns)
{
    struct redis_reply reply;
    int64_t s = 0, us = 0;

    redis_command(self->redis, 1);
    redis_arg(self->redis, "TIME");
    if (redis_store_next(self, &reply) < 0)
        return BIDE_ESTATE;
    if (reply.n == 2) {
        redis_reply_int(&reply.items[0], &s);
        redis_reply_int(&reply.items[1], &us);
    }
    *ret_ns = s * 1000000000 + us * 1000;
    return 0;
}

/* ===== counting ===== */

/* The age of the record that will expire first: with one `keep` for all, the
 * oldest. Redis has no list of records by age. */
static int read_oldest(struct redis_store *self, int64_t *ret_ns)
{
    struct redis_reply reply;
    char key[REDIS_STORE_KEY];
    int64_t now_ns;

    *ret_ns = 0;
    if (read_time(self, &now_ns) < 0)
        return BIDE_ESTATE;
    redis_command(self->redis, 4);
    redis_arg(self->redis, "ZRANGE");
    redis_arg(self->redis, REDIS_STORE_NAME "notes");
    redis_arg(self->redis, "0");
    redis_arg(self->redis, "0");
    if (redis_store_next(self, &reply) < 0)
        return BIDE_ESTATE;
    if (reply.n != 1 || reply.items[0].len < REDIS_NOTE_HEAD)
        return 0;
    redis_store_key(key, (const uint8_t *)reply.items[0].text);
    redis_command(self->redis, 4);
    redis_arg(self->redis, "GETRANGE");
    redis_arg(self->redis, key);
    redis_arg_int(self->redis, REDIS_CREATED_AT);
    redis_arg_int(self->redis, REDIS_CREATED_AT + 7);
    if (redis_store_next(self, &reply) < 0)
        return BIDE_ESTATE;
    if (reply.len == 8)
        *ret_ns = now_ns - (int64_t)redis_get64(reply.text);
    return 0;
}

int redis_store_count(void *arg, struct bide__store_count *ret, char *why,
                      size_t why_size)
{
    struct redis_store *self = arg;
    struct redis_reply reply;
    int64_t records = 0, bytes = 0;

    if (begin(self, why, why_size) < 0)
        return BIDE_ESTATE;
    redis_command(self->redis, 4);
    redis_arg(self->redis, "HMGET");
    redis_arg(self->redis, REDIS_STORE_NAME "about");
    redis_arg(self->redis, "records");
    redis_arg(self->redis, "bytes");
    if (redis_store_next(self, &reply) < 0)
        return redis_store_failed(self, why, why_size);
    if (reply.n == 2) {
        redis_reply_int(&reply.items[0], &records);
        redis_reply_int(&reply.items[1], &bytes);
    }
    ret->records = (uint64_t)records;
    ret->bytes = (uint64_t)bytes;
    return read_oldest(self, &ret->oldest_ns) < 0
               ? redis_store_failed(self, why, why_size)
               : 0;
}

/* ===== walking ===== */

/* A page of ids. Threads: owned. */
struct page {
    uint8_t ids[PAGE][32];
    size_t n;
};

/* From note `at` on, those that expire last first; or, for purging, those that
 * expire first. */
static int read_page(struct redis_store *self, struct page *page, uint64_t at,
                     bool last_first)
{
    struct redis_reply reply;

    redis_command(self->redis, 4 + last_first);
    redis_arg(self->redis, "ZRANGE");
    redis_arg(self->redis, REDIS_STORE_NAME "notes");
    redis_arg_int(self->redis, (int64_t)at);
    redis_arg_int(self->redis, (int64_t)at + PAGE - 1);
    if (last_first)
        redis_arg(self->redis, "REV");
    if (redis_store_next(self, &reply) < 0)
        return BIDE_ESTATE;
    page->n = reply.n < PAGE ? reply.n : PAGE;
    for (size_t i = 0; i < page->n; i++) {
        if (reply.items[i].len >= REDIS_NOTE_HEAD)
            memcpy(page->ids[i], reply.items[i].text, 32);
        else
            memset(page->ids[i], 0, 32);
    }
    return 0;
}

static bool is_asked_for(const struct bide__store_query *query,
                         const struct redis_record *r, int64_t now_ns)
{
    return (!query->scope || strcmp(query->scope, r->scope) == 0) &&
           (!query->key || strcmp(query->key, r->key) == 0) &&
           r->record.created_ns <= now_ns - query->older_ns &&
           r->record.expires_ns > now_ns;
}

/* The record of an id, into self->values. False: not there, not asked for, or
 * self->why (*rc). */
static bool fetch(struct redis_store *self, const uint8_t id[32],
                  const struct bide__store_query *query, int64_t now_ns,
                  struct redis_record *ret, int *rc)
{
    char key[REDIS_STORE_KEY];
    struct redis_reply reply;

    redis_store_key(key, id);
    redis_command(self->redis, 2);
    redis_arg(self->redis, "GET");
    redis_arg(self->redis, key);
    *rc = redis_store_next(self, &reply);
    if (*rc < 0 || reply.type != REDIS_STRING)
        return false;
    bide__out_clear(&self->values);
    bide__out_bytes(&self->values, reply.text, reply.len);
    if (self->values.failed) {
        *rc = redis_store_refuse(self, "no memory");
        return false;
    }
    return redis_record_read(ret, self->values.data, self->values.len) == 0 &&
           is_asked_for(query, ret, now_ns);
}

/* ===== listing ===== */

static bool show(const struct redis_record *r,
                 const struct bide__store_query *query, int64_t now_ns,
                 bide__store_row_fn fn, void *ctx)
{
    struct bide__store_row row = { r->scope, r->owner, r->key, r->room,
                                   r->record, now_ns };

    if (!query->with_data)
        row.record.data = NULL;
    return fn(ctx, &row);
}

int redis_store_list(void *arg, const struct bide__store_query *query,
                     bide__store_row_fn fn, void *ctx, char *why,
                     size_t why_size)
{
    struct redis_store *self = arg;
    struct page page = { .n = PAGE };
    uint64_t left = query->most ? query->most : UINT64_MAX;
    int64_t now_ns = 0;
    int rc = begin(self, why, why_size);

    if (rc == 0)
        rc = read_time(self, &now_ns);
    for (uint64_t at = 0; rc == 0 && left > 0 && page.n == PAGE; at += PAGE) {
        self->until_ns = bide_now_ns() + 10 * BIDE_SECOND;
        rc = read_page(self, &page, at, true);
        for (size_t i = 0; i < page.n && rc == 0 && left > 0; i++) {
            struct redis_record record;
            if (!fetch(self, page.ids[i], query, now_ns, &record, &rc))
                continue;
            if (!show(&record, query, now_ns, fn, ctx))
                return 0;
            left--;
        }
    }
    return rc < 0 ? redis_store_failed(self, why, why_size) : 0;
}

/* ===== purging ===== */

/* Removes it, if it is still what it was. */
static int remove_one(struct redis_store *self, const uint8_t id[32],
                      const struct redis_record *record, bool *ret_removed)
{
    struct bide__slot slot = { .there = true,
                               .version = record->version,
                               .was = record->record,
                               .was_room = record->room };
    struct bide__slot *const slots[] = { &slot };
    int rc;

    memcpy(slot.id, id, 32);
    self->batch.now_ns = 0;
    rc = read_time(self, &self->batch.now_ns);
    if (rc == 0)
        rc = redis_store_write(self, &self->batch, slots, 1);
    *ret_removed = rc == 0 && slot.written;
    return rc;
}

int redis_store_purge(void *arg, const struct bide__store_query *query,
                      uint64_t *removed, char *why, size_t why_size)
{
    struct redis_store *self = arg;
    struct page page = { .n = PAGE };
    uint64_t left = query->most ? query->most : UINT64_MAX, at = 0;
    int64_t now_ns = 0;
    int rc = begin(self, why, why_size);

    if (rc == 0)
        rc = read_time(self, &now_ns);
    while (rc == 0 && left > 0 && page.n == PAGE) {
        self->until_ns = bide_now_ns() + 10 * BIDE_SECOND;
        rc = read_page(self, &page, at, false);
        for (size_t i = 0; i < page.n && rc == 0 && left > 0; i++) {
            struct redis_record record;
            bool gone = false;
            if (fetch(self, page.ids[i], query, now_ns, &record, &rc) &&
                bide__store_at_rest(&record.record, now_ns))
                rc = remove_one(self, page.ids[i], &record, &gone);
            *removed += gone;
            left -= gone;
            at += !gone;
        }
    }
    return rc < 0 ? redis_store_failed(self, why, why_size) : 0;
}
