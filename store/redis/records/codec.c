/* Records as bytes. */
#include "store/redis/records/codec.h"

#include <string.h>

enum { FORMAT = 1, HEAD = 126 };

static void put16(struct bide__out *out, size_t n)
{
    bide__out_char(out, (char)(n >> 8));
    bide__out_char(out, (char)n);
}

void redis_put64(struct bide__out *out, uint64_t n)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        bide__out_char(out, (char)(n >> shift));
}

static size_t get16(const char *b)
{
    return (size_t)(unsigned char)b[0] << 8 | (unsigned char)b[1];
}

static uint32_t get32(const char *b)
{
    return (uint32_t)get16(b) << 16 | (uint32_t)get16(b + 2);
}

uint64_t redis_get64(const char *b)
{
    return (uint64_t)get32(b) << 32 | get32(b + 4);
}

void redis_record_write(struct bide__out *out, const struct bide__slot *slot)
{
    const bide_store_op *op = slot->op;
    const struct bide__store_record *now = &slot->now;
    const char *texts[] = { op->scope, op->owner, op->key, slot->room };

    redis_put64(out, slot->new_version);
    bide__out_char(out, FORMAT);
    bide__out_char(out, (char)now->state);
    for (int i = 0; i < 4; i++)
        put16(out, strlen(texts[i]));
    redis_put64(out, now->token);
    redis_put64(out, (uint64_t)now->created_ns);
    redis_put64(out, (uint64_t)now->lease_until_ns);
    redis_put64(out, (uint64_t)now->expires_ns);
    redis_put64(out, now->bytes);
    put16(out, (uint32_t)now->status >> 16);
    put16(out, (uint32_t)now->status & 0xffff);
    bide__out_bytes(out, now->fingerprint, 32);
    bide__out_bytes(out, now->binding, 32);
    for (int i = 0; i < 4; i++)
        bide__out_bytes(out, texts[i], strlen(texts[i]) + 1);
    bide__out_bytes(out, now->data, now->len);
}

int redis_record_read(struct redis_record *ret, const char *value, size_t len)
{
    const char *texts[4];
    size_t at = HEAD;

    if (len < HEAD || value[8] != FORMAT)
        return -1;
    for (int i = 0; i < 4; i++) {
        size_t n = get16(value + 10 + 2 * i);
        if (n >= len - at || value[at + n] != '\0')
            return -1;
        texts[i] = value + at;
        at += n + 1;
    }
    *ret = (struct redis_record){
        .version = redis_get64(value),
        .scope = texts[0],
        .owner = texts[1],
        .key = texts[2],
        .room = texts[3],
        .record = {
            .state = (enum bide__store_state)value[9],
            .token = redis_get64(value + 18),
            .created_ns = (int64_t)redis_get64(value + REDIS_CREATED_AT),
            .lease_until_ns = (int64_t)redis_get64(value + 34),
            .expires_ns = (int64_t)redis_get64(value + 42),
            .bytes = redis_get64(value + 50),
            .status = (int32_t)get32(value + 58),
            .data = value + at,
            .len = len - at,
        },
    };
    memcpy(ret->record.fingerprint, value + 62, 32);
    memcpy(ret->record.binding, value + 94, 32);
    return 0;
}

void redis_note_write(struct bide__out *out, const uint8_t id[32],
                      uint64_t bytes, const char *room)
{
    bide__out_bytes(out, id, 32);
    redis_put64(out, bytes);
    bide__out_text(out, room);
}
