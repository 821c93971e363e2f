/* store/redis/records/codec.h: a record as the value of a key, and what is noted
 * of it in the sorted set of all records.
 *
 *     struct redis_record record;
 *     if (redis_record_read(&record, value, len) < 0)
 *         ...                                     // not one of ours
 *     redis_record_write(&out, slot);             // its value
 *     redis_note_write(&out, id, bytes, room);    // its note
 *
 * A value: the version (8 bytes, which a script compares); one byte each of
 * format and state; the lengths of scope, owner, key and room (2 bytes each);
 * token, created, lease_until, expires, bytes (8 each); status (4); fingerprint
 * and binding (32 each); the four texts, each with a NUL; the answer. Numbers
 * are big-endian.
 *
 * A note: id (32 bytes), bytes (8), room. It outlives the record, which Redis
 * removes by itself when it expires, and says what room is free again. */
#ifndef BIDE_STORE_REDIS_RECORDS_CODEC_H
#define BIDE_STORE_REDIS_RECORDS_CODEC_H

#include "base/out.h"
#include "store/batch.h"

enum {
    REDIS_NOTE_HEAD = 40,
    REDIS_CREATED_AT = 26 /* where a value has it */
};

/* Points into the value. Threads: immutable. */
struct redis_record {
    uint64_t version;
    const char *scope, *owner, *key, *room;
    struct bide__store_record record;
};

/* 0, or -1: not a record. */
int redis_record_read(struct redis_record *ret, const char *value, size_t len);

/* What slot->now is to be. */
void redis_record_write(struct bide__out *out, const struct bide__slot *slot);

void redis_note_write(struct bide__out *out, const uint8_t id[32],
                      uint64_t bytes, const char *room);

void redis_put64(struct bide__out *out, uint64_t n);
uint64_t redis_get64(const char *bytes);

#endif
