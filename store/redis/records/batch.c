/* A batch: one round trip that reads, one that writes. */
#include "store/redis/records/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "bide/run.h"
#include "store/redis/records/codec.h"

/* The end of time, as Redis knows it. */
#define MOST_MS INT64_C(253402300799000)

void redis_store_key(char to[REDIS_STORE_KEY], const uint8_t id[32])
{
    static const char name[] = REDIS_STORE_NAME "r:";

    memcpy(to, name, sizeof name - 1);
    *bide__hex_write(to + sizeof name - 1, id, 32) = '\0';
}

/* ===== reading ===== */

static void ask_about(struct redis_store *self)
{
    redis_command(self->redis, 1);
    redis_arg(self->redis, "TIME");
    redis_command(self->redis, 4);
    redis_arg(self->redis, "HMGET");
    redis_arg(self->redis, REDIS_STORE_NAME "about");
    redis_arg(self->redis, "id");
    redis_arg(self->redis, "bytes");
}

static void ask_for(struct redis_store *self, const struct bide__slot *slot)
{
    char key[REDIS_STORE_KEY];

    redis_store_key(key, slot->id);
    redis_script_begin(self->redis, &self->scripts.look, 3, 1);
    redis_arg(self->redis, REDIS_STORE_NAME "about");
    redis_arg(self->redis, REDIS_STORE_NAME "rooms");
    redis_arg(self->redis, key);
    redis_arg(self->redis, slot->op->room);
}

static bool is_ours(const struct redis_store *self,
                    const struct redis_reply *id)
{
    return id->type == REDIS_STRING && id->len == strlen(self->id) &&
           memcmp(id->text, self->id, id->len) == 0;
}

static int read_about(struct redis_store *self, struct bide__batch *batch)
{
    struct redis_reply reply;
    int64_t s = 0, us = 0, bytes = 0;

    if (redis_store_next(self, &reply) < 0)
        return BIDE_ESTATE;
    if (reply.type != REDIS_ARRAY || reply.n != 2 ||
        !redis_reply_int(&reply.items[0], &s) ||
        !redis_reply_int(&reply.items[1], &us))
        return redis_store_refuse(self, "it does not say what time it is");
    if (redis_store_next(self, &reply) < 0)
        return BIDE_ESTATE;
    if (reply.type != REDIS_ARRAY || reply.n != 2 ||
        !is_ours(self, &reply.items[0])) {
        redis_store_refuse(self, "the records are not there any more");
        self->refused = false; /* what is there now is looked at again */
        return BIDE_ESTATE;
    }
    redis_reply_int(&reply.items[1], &bytes);
    batch->total_bytes = bytes > 0 ? (uint64_t)bytes : 0;
    batch->now_ns = s * 1000000000 + us * 1000;
    return 0;
}

/* Where a slot's value is in self->values, which may still move. */
static int read_one(struct redis_store *self, struct bide__slot *slot,
                    size_t *ret_len)
{
    struct redis_reply reply;
    int64_t used = 0;

    if (redis_store_next(self, &reply) < 0)
        return BIDE_ESTATE;
    if (reply.type != REDIS_ARRAY || reply.n < 1)
        return redis_store_refuse(self, "an answer that is none");
    redis_reply_int(&reply.items[0], &used);
    slot->asked_used = used > 0 ? (uint64_t)used : 0;
    slot->there = reply.n == 3;
    *ret_len = 0;
    if (!slot->there)
        return 0;
    used = 0;
    redis_reply_int(&reply.items[2], &used);
    slot->was_used = used > 0 ? (uint64_t)used : 0;
    *ret_len = reply.items[1].len;
    bide__out_bytes(&self->values, reply.items[1].text, reply.items[1].len);
    return 0;
}

static int understand(struct redis_store *self, struct bide__slot *slot,
                      const char *value, size_t len)
{
    struct redis_record record;

    if (redis_record_read(&record, value, len) < 0)
        return redis_store_refuse(self, "a key " REDIS_STORE_NAME
                                        "r:... does not hold a record");
    slot->version = record.version;
    slot->was = record.record;
    slot->was_room = record.room;
    return 0;
}

static int read_slots(void *arg, struct bide__batch *batch,
                      struct bide__slot *const slots[], size_t n)
{
    struct redis_store *self = arg;
    size_t *lens = calloc(n + 1, sizeof *lens), at = 0;
    int rc;

    if (!lens)
        return BIDE_ENOMEM;
    bide__out_clear(&self->values);
    ask_about(self);
    for (size_t i = 0; i < n; i++)
        ask_for(self, slots[i]);
    rc = read_about(self, batch);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = read_one(self, slots[i], &lens[i]);
    if (rc == 0 && self->values.failed)
        rc = BIDE_ENOMEM;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (slots[i]->there)
            rc = understand(self, slots[i], self->values.data + at, lens[i]);
        at += lens[i];
    }
    free(lens);
    return rc;
}

/* ===== writing ===== */

static void put_note(struct redis_store *self, bool there, const uint8_t id[32],
                     uint64_t bytes, const char *room)
{
    bide__out_clear(&self->out);
    if (there)
        redis_note_write(&self->out, id, bytes, room);
    redis_arg_bytes(self->redis, self->out.data, self->out.len);
}

static void put_slot(struct redis_store *self, const struct bide__slot *slot)
{
    int64_t ms = slot->now.expires_ns / 1000000;

    bide__out_clear(&self->out);
    if (slot->there)
        redis_put64(&self->out, slot->version);
    redis_arg_bytes(self->redis, self->out.data, self->out.len);
    put_note(self, slot->there, slot->id, slot->was.bytes, slot->was_room);
    bide__out_clear(&self->out);
    if (slot->is)
        redis_record_write(&self->out, slot);
    redis_arg_bytes(self->redis, self->out.data, self->out.len);
    redis_arg_int(self->redis, ms < MOST_MS ? ms + 1 : MOST_MS);
    put_note(self, slot->is, slot->id, slot->now.bytes, slot->room);
}

/* A claim, for which there must be memory, or a change of what is there. */
static bool is_insert(const struct bide__slot *slot)
{
    return !slot->there;
}

static size_t send_those(struct redis_store *self, const struct redis_script *s,
                         bool inserts, int64_t late_ns,
                         struct bide__slot *const slots[], size_t n)
{
    char key[REDIS_STORE_KEY];
    size_t those = 0;

    for (size_t i = 0; i < n; i++)
        those += is_insert(slots[i]) == inserts;
    if (those == 0)
        return 0;
    redis_script_begin(self->redis, s, (unsigned)(3 + those),
                       (unsigned)(2 + 5 * those));
    redis_arg(self->redis, REDIS_STORE_NAME "about");
    redis_arg(self->redis, REDIS_STORE_NAME "rooms");
    redis_arg(self->redis, REDIS_STORE_NAME "notes");
    for (size_t i = 0; i < n; i++) {
        if (is_insert(slots[i]) != inserts)
            continue;
        redis_store_key(key, slots[i]->id);
        redis_arg(self->redis, key);
    }
    redis_arg(self->redis, self->id);
    redis_arg_int(self->redis, late_ns / 1000000);
    for (size_t i = 0; i < n; i++) {
        if (is_insert(slots[i]) == inserts)
            put_slot(self, slots[i]);
    }
    return those;
}

static int read_done(struct redis_store *self, bool inserts,
                     struct bide__slot *const slots[], size_t n)
{
    struct redis_reply reply;
    size_t at = 0;
    bool full = false;

    if (redis_next(self->redis, self->until_ns, &reply) < 0)
        return redis_store_broken(self);
    if (inserts && redis_reply_begins(&reply, "OOM"))
        full = true;
    else if (reply.type != REDIS_ARRAY)
        return redis_store_error(self, &reply);
    for (size_t i = 0; i < n; i++) {
        if (is_insert(slots[i]) != inserts)
            continue;
        slots[i]->full = full;
        slots[i]->written =
            !full && at < reply.n && reply.items[at].integer == 1;
        at++;
    }
    return 0;
}

int redis_store_write(void *arg, struct bide__batch *batch,
                      struct bide__slot *const slots[], size_t n)
{
    struct redis_store *self = arg;
    int64_t late_ns = batch->now_ns + self->until_ns - bide_now_ns();
    size_t changes = send_those(self, &self->scripts.change, false, late_ns,
                                slots, n);
    size_t inserts = send_those(self, &self->scripts.insert, true, late_ns,
                                slots, n);
    int rc = 0;

    if (self->out.failed)
        return BIDE_ENOMEM;
    if (changes > 0)
        rc = read_done(self, false, slots, n);
    if (inserts > 0 && rc == 0)
        rc = read_done(self, true, slots, n);
    return rc;
}

/* ===== running ===== */

static const struct bide__batch_io io = { read_slots, redis_store_write };

int redis_store_run(void *arg, bide_store_op *const ops[], size_t n, char *why,
                    size_t why_size)
{
    struct redis_store *self = arg;
    int rc = 0;

    self->until_ns = bide_now_ns() + self->patience_ns;
    /* A connection that was lost while it idled is made anew. Doing a batch
     * twice is doing it once: claims have their tokens already. */
    for (int i = 0; i < 2; i++) {
        bool was_connected = redis_is_connected(self->redis);
        rc = redis_store_ready(self);
        if (rc == 0)
            rc = bide__batch_run(&self->batch, ops, n, &io, self);
        if (rc == 0)
            return 0;
        if (rc == BIDE_ENOMEM || !was_connected || self->refused ||
            bide_now_ns() >= self->until_ns)
            break;
    }
    if (rc == BIDE_ENOMEM) {
        redis_close(self->redis);
        snprintf(self->why, sizeof self->why, "no memory");
    }
    redis_store_failed(self, why, why_size);
    return rc;
}
