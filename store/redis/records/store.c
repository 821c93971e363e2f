/* The kind `redis`: opening, and seeing that the server is fit. */
#include "store/redis/records/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/utf8.h"
#include "bide/run.h"
#include "store/redis/records/batch.h"
#include "store/redis/records/look.h"

/* ===== errors ===== */

int redis_store_failed(const struct redis_store *self, char *why,
                       size_t why_size)
{
    if (why)
        snprintf(why, why_size, "redis: %s", self->why);
    return BIDE_ESTATE;
}

/* What no waiting mends. */
static bool is_refusal(const char *why)
{
    static const char *const words[] = { "WRONGPASS", "NOAUTH", "NOPERM",
                                         "invalid password",
                                         "DB index is out of range",
                                         "this is no Redis" };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(why, words[i]))
            return true;
    }
    return false;
}

int redis_store_broken(struct redis_store *self)
{
    snprintf(self->why, sizeof self->why, "%s", redis_why(self->redis));
    self->refused = is_refusal(self->why);
    return BIDE_ESTATE;
}

/* Replies that are still to come are nobody's: the connection is closed. */
int redis_store_refuse(struct redis_store *self, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(self->why, sizeof self->why, format, args);
    va_end(args);
    bide__make_safe(self->why);
    redis_close(self->redis);
    self->refused = true;
    return BIDE_ESTATE;
}

int redis_store_error(struct redis_store *self, const struct redis_reply *reply)
{
    redis_store_refuse(self, "%.*s",
                       (int)(reply->len < 300 ? reply->len : 300),
                       reply->text ? reply->text : "an answer that is none");
    self->refused = is_refusal(self->why);
    return BIDE_ESTATE;
}

int redis_store_next(struct redis_store *self, struct redis_reply *ret)
{
    if (redis_next(self->redis, self->until_ns, ret) < 0)
        return redis_store_broken(self);
    return ret->type == REDIS_ERROR ? redis_store_error(self, ret) : 0;
}

/* ===== what a server must be set to ===== */

static const struct {
    const char *name, *value, *otherwise;
} settings[] = {
    { "appendonly", "yes", "nothing is written to the disk" },
    { "appendfsync", "always", "what was acknowledged may be lost" },
    { "no-appendfsync-on-rewrite", "no",
      "what was acknowledged during a rewrite may be lost" },
    { "maxmemory-policy", "noeviction", "records may be evicted" },
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

static bool says(const struct redis_reply *reply, const char *text)
{
    return reply->len == strlen(text) &&
           memcmp(reply->text, text, reply->len) == 0;
}

static int check_setting(struct redis_store *self, int i,
                         const struct redis_reply *all)
{
    for (size_t k = 0; k + 1 < all->n; k += 2) {
        if (!says(&all->items[k], settings[i].name))
            continue;
        const struct redis_reply *found = &all->items[k + 1];
        if (says(found, settings[i].value))
            return 0;
        return redis_store_refuse(
            self, "the server has %s %.*s: %s; set %s %s, or durability: "
                  "relaxed",
            settings[i].name, (int)found->len, found->text,
            settings[i].otherwise, settings[i].name, settings[i].value);
    }
    return redis_store_refuse(self, "the server does not tell its %s; let the "
                                    "user run CONFIG GET, or set durability: "
                                    "relaxed",
                              settings[i].name);
}

static int check_settings(struct redis_store *self)
{
    struct redis_reply reply;

    if (self->relaxed || self->existing) /* looking is harmless */
        return 0;
    redis_command(self->redis, 2 + SETTINGS);
    redis_arg(self->redis, "CONFIG");
    redis_arg(self->redis, "GET");
    for (int i = 0; i < SETTINGS; i++)
        redis_arg(self->redis, settings[i].name);
    if (redis_next(self->redis, self->until_ns, &reply) < 0)
        return redis_store_broken(self);
    if (reply.type != REDIS_ARRAY)
        return redis_store_refuse(
            self, "CONFIG GET: %.*s; let the user run it (ACL SETUSER ... "
                  "+config|get), or set durability: relaxed",
            (int)(reply.len < 200 ? reply.len : 200),
            reply.text ? reply.text : "");
    for (int i = 0; i < SETTINGS; i++) {
        if (check_setting(self, i, &reply) < 0)
            return BIDE_ESTATE;
    }
    return 0;
}

/* ===== whose records they are ===== */

static int draw_id(char id[REDIS_STORE_ID + 1])
{
    unsigned char drawn[REDIS_STORE_ID / 2];

    if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn)
        return -1;
    for (size_t i = 0; i < sizeof drawn; i++)
        snprintf(id + 2 * i, 3, "%02x", drawn[i]);
    return 0;
}

static int take_id(struct redis_store *self, const struct redis_reply *reply)
{
    const struct redis_reply *id = &reply->items[0];
    const struct redis_reply *version = &reply->items[1];

    if (id->len == 0)
        return redis_store_refuse(self, "there is no store in it");
    if (!says(version, "1"))
        return redis_store_refuse(
            self, "the records are of version %.*s, expected 1: they were made "
                  "by another version of bide",
            (int)(version->len < 40 ? version->len : 40), version->text);
    if (id->len > REDIS_STORE_ID)
        return redis_store_refuse(self, "the hash " REDIS_STORE_NAME
                                        "about is not ours");
    if (self->id[0] && !says(id, self->id) && !self->relaxed)
        return redis_store_refuse(
            self, "the records are gone: another Redis answers, or it has come "
                  "back empty. Keys that were used would be taken for new "
                  "ones; start bide again to accept that");
    memcpy(self->id, id->text, id->len);
    self->id[id->len] = '\0';
    return 0;
}

static int make(struct redis_store *self)
{
    char id[REDIS_STORE_ID + 1];
    struct redis_reply reply;
    /* What was lost is not made anew: take_id() must see it. */
    bool may_make = !self->existing && (!self->id[0] || self->relaxed);

    if (draw_id(id) < 0)
        return redis_store_refuse(self, "no random numbers");
    redis_script_begin(self->redis, &self->scripts.make, 1, 2);
    redis_arg(self->redis, REDIS_STORE_NAME "about");
    redis_arg(self->redis, id);
    redis_arg(self->redis, may_make ? "1" : "0");
    if (redis_store_next(self, &reply) < 0)
        return BIDE_ESTATE;
    if (reply.type != REDIS_ARRAY || reply.n != 2)
        return redis_store_refuse(self, "an answer that is none");
    if (reply.items[0].len == 0 && self->id[0])
        return redis_store_refuse(
            self, "the records are gone: it has come back empty. Keys that "
                  "were used would be taken for new ones; start bide again to "
                  "accept that");
    return take_id(self, &reply);
}

static int load(struct redis_store *self)
{
    struct redis_script *all[] = {
        &self->scripts.look, &self->scripts.insert, &self->scripts.change,
        &self->scripts.sweep, &self->scripts.make
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (redis_script_load(self->redis, all[i], self->until_ns) < 0) {
            redis_store_broken(self);
            redis_close(self->redis);
            return BIDE_ESTATE;
        }
    }
    return 0;
}

int redis_store_ready(struct redis_store *self)
{
    self->refused = false;
    redis_retry_now(self->redis); /* the store's thread has a backoff already */
    if (redis_connect(self->redis, self->until_ns) < 0)
        return redis_store_broken(self);
    if (self->ready == redis_connection(self->redis))
        return 0;
    if (check_settings(self) < 0 || load(self) < 0 || make(self) < 0)
        return BIDE_ESTATE;
    self->ready = redis_connection(self->redis);
    return 0;
}

/* ===== from open to close ===== */

static void redis_store_close(void *arg)
{
    struct redis_store *self = arg;

    if (!self)
        return;
    bide__out_done(&self->values);
    bide__out_done(&self->out);
    bide__batch_done(&self->batch);
    redis_free(self->redis);
    free(self);
}

static int redis_store_open(void **ret, const struct bide__store_setup *setup,
                            char *why, size_t why_size)
{
    struct redis_url url;
    char bad[REDIS_WHY];

    if (redis_url_read(&url, setup->url, bad) < 0) {
        snprintf(why, why_size, "%s", bad);
        return BIDE_EINVAL;
    }
    struct redis_store *self = calloc(1, sizeof *self);
    if (self)
        self->redis = redis_new(&url);
    if (!self || !self->redis) {
        redis_store_close(self);
        return BIDE_ENOMEM;
    }
    self->scripts = redis_store_scripts();
    self->relaxed = setup->relaxed;
    self->existing = setup->existing;
    self->batch.limit_bytes = setup->limit_bytes;
    self->patience_ns = bide__batch_patience(setup->timeout_ns);
    self->until_ns = bide_now_ns() + self->patience_ns;
    if (redis_store_ready(self) < 0 && (self->refused || self->existing)) {
        redis_store_failed(self, why, why_size);
        redis_store_close(self);
        return BIDE_ESTATE;
    }
    *ret = self;
    return 0;
}

const struct bide__store_kind bide__store_redis = {
    .name = "redis",
    .durable = true,
    .open = redis_store_open,
    .run = redis_store_run,
    .sweep = redis_store_sweep,
    .count = redis_store_count,
    .list = redis_store_list,
    .purge = redis_store_purge,
    .close = redis_store_close,
};
