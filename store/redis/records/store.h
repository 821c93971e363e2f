/* store/redis/records/store.h: records in Redis. What its files share.
 *
 *   bide:{store}:r:ID     a record (codec.h), which Redis removes when it expires
 *   bide:{store}:notes    sorted set: a note of each record, by the time (ms) at
 *                         which it expires
 *   bide:{store}:rooms    hash: bytes that each caller's records take
 *   bide:{store}:about    hash: version, bytes and records in all, and `id`,
 *                         drawn when the store was made
 *
 * All of them are in one slot of a cluster. A batch (store/batch.h) is two round
 * trips; what is written is one script, and so one write to the append-only
 * file and one fsync for all who write at the same moment.
 *
 * A Redis that comes back empty, or is another one, has another `id`: its
 * records are gone, and keys that were used would be taken for new ones. Unless
 * durability is relaxed, the store is then down until bide is started again. */
#ifndef BIDE_STORE_REDIS_RECORDS_STORE_H
#define BIDE_STORE_REDIS_RECORDS_STORE_H

#include "base/out.h"
#include "store/batch.h"
#include "store/kind.h"
#include "store/redis/records/scripts.h"
#include "store/redis/redis.h"

#define REDIS_STORE_NAME "bide:{store}:"

enum { REDIS_STORE_WHY = 512, REDIS_STORE_ID = 32 };

/* Threads: owned. */
struct redis_store {
    struct redis *redis;
    struct redis_store_scripts scripts;
    struct bide__batch batch;
    struct bide__out values; /* what the slots of the batch point into */
    struct bide__out out;    /* a value, or a note, for a moment */
    uint64_t ready;          /* the connection that was made ready */
    int64_t patience_ns, until_ns;
    bool relaxed, existing;
    bool refused;            /* the server answers, and cannot be used */
    char id[REDIS_STORE_ID + 1]; /* of the records; "": not known yet */
    char why[REDIS_STORE_WHY];
};

/* Connects if need be, and sees that the server is fit to be used. 0, or
 * negative and self->why. */
int redis_store_ready(struct redis_store *self);

/* The next reply. 0, or negative: no reply, or an error; self->why. */
int redis_store_next(struct redis_store *self, struct redis_reply *ret);

/* Notes redis_why(), what a reply says, or a text. Always negative. */
int redis_store_broken(struct redis_store *self);
int redis_store_error(struct redis_store *self,
                      const struct redis_reply *reply);
int redis_store_refuse(struct redis_store *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Copies self->why. Always negative. */
int redis_store_failed(const struct redis_store *self, char *why,
                       size_t why_size);

#endif
