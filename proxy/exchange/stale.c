/* Copies of responses: a table by key, a list by use, and one for each path. */
#include "proxy/exchange/stale.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bide/bide.h"

/* The table has one slot for so many bytes: a chain is short even if all copies
 * are small. */
enum { BYTES_PER_SLOT = 1024, LEAST_SLOTS = 64 };

/* Paths are distinguished by a hash: two that collide share a quota. */
enum { PATHS = 4096, PATH_SHARE = 8, VARIANTS_MAX = 16 };

/* What is kept of a path, in the order in which it came. */
struct path {
    struct stale_copy *newest, *oldest;
    size_t bytes;
};

struct stale {
    pthread_mutex_t lock;
    struct stale_copy **slots; /* NULL: nothing was ever kept */
    size_t n_slots;            /* a power of 2 */
    struct path *paths;        /* PATHS of them, made with the slots */
    struct stale_copy *newest, *oldest;
    size_t n_copies;
    uint64_t seed; /* so that no client can choose keys that collide */
    atomic_size_t bound;
    atomic_size_t kept;  /* bytes of copies, ... */
    atomic_size_t being; /* ... and of those that are being made */
};

/* ===== keys ===== */

static uint64_t hash_of(const struct stale *s, const char *key, size_t len)
{
    uint64_t h = s->seed, word;
    for (size_t at = 0; at < len; at += sizeof word) {
        size_t n = len - at < sizeof word ? len - at : sizeof word;
        word = 0;
        memcpy(&word, key + at, n);
        h = bide_rng_hash(s->seed, h, word, n);
    }
    return h;
}

static struct stale_copy **slot_of(const struct stale *s, uint64_t hash)
{
    return &s->slots[hash & (s->n_slots - 1)];
}

static bool key_is(const struct stale_copy *c, uint64_t hash, const char *key,
                   size_t len)
{
    return c->hash == hash && c->shape.key_len == len &&
           memcmp(stale_key(c), key, len) == 0;
}

/* ===== the list ===== */

static void list_add(struct stale *s, struct stale_copy *c)
{
    c->newer = NULL;
    c->older = s->newest;
    *(s->newest ? &s->newest->newer : &s->oldest) = c;
    s->newest = c;
}

static void list_remove(struct stale *s, struct stale_copy *c)
{
    *(c->newer ? &c->newer->older : &s->newest) = c->older;
    *(c->older ? &c->older->newer : &s->oldest) = c->newer;
}

static struct path *path_of(const struct stale *s, const struct stale_copy *c)
{
    return &s->paths[c->path_hash % PATHS];
}

static void path_add(struct stale *s, struct stale_copy *c)
{
    struct path *p = path_of(s, c);
    c->path_newer = NULL;
    c->path_older = p->newest;
    *(p->newest ? &p->newest->path_newer : &p->oldest) = c;
    p->newest = c;
    p->bytes += c->room;
}

static void path_remove(struct stale *s, struct stale_copy *c)
{
    struct path *p = path_of(s, c);
    *(c->path_newer ? &c->path_newer->path_older : &p->newest) = c->path_older;
    *(c->path_older ? &c->path_older->path_newer : &p->oldest) = c->path_newer;
    p->bytes -= c->room;
}

/* Removes it from table and lists; the caller frees it outside the lock. */
static void take_out(struct stale *s, struct stale_copy *c)
{
    struct stale_copy **at = slot_of(s, c->hash);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    list_remove(s, c);
    path_remove(s, c);
    s->n_copies--;
    c->listed = false;
}

void stale_unref(struct stale_copy *c)
{
    if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    atomic_fetch_sub(&c->owner->kept, c->room);
    free(c);
}

static void throw_out(struct stale *s, struct stale_copy *c)
{
    take_out(s, c);
    stale_unref(c);
}

/* Evicts the least recently used until no more than `most` is kept; a copy that
 * is still being sent counts until it is done. */
static void shrink(struct stale *s, size_t most)
{
    while (s->oldest && atomic_load(&s->kept) > most)
        throw_out(s, s->oldest);
}

static size_t most_kept(const struct stale *s)
{
    return s->bound - s->bound / 4;
}

/* ===== beginning and end ===== */

struct stale *stale_new(void)
{
    struct stale *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    if (getrandom(&s->seed, sizeof s->seed, GRND_NONBLOCK) < 0)
        s->seed = (uint64_t)(uintptr_t)s;
    return s;
}

void stale_free(struct stale *s)
{
    if (!s)
        return;
    shrink(s, 0);
    free(s->slots);
    free(s->paths);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* The table is created once, for the first limit: a larger limit only makes
 * chains longer. */
static bool make_table(struct stale *s)
{
    size_t n = LEAST_SLOTS;
    if (s->slots)
        return true;
    while (n < s->bound / BYTES_PER_SLOT)
        n *= 2;
    if (!s->paths)
        s->paths = calloc(PATHS, sizeof(struct path));
    if (s->paths)
        s->slots = calloc(n, sizeof(struct stale_copy *));
    s->n_slots = n;
    return s->slots != NULL;
}

void stale_resize(struct stale *s, size_t bytes)
{
    pthread_mutex_lock(&s->lock);
    s->bound = bytes;
    if (bytes > 0 && !make_table(s))
        s->bound = 0;
    shrink(s, most_kept(s));
    pthread_mutex_unlock(&s->lock);
}

/* ===== making copies ===== */

static bool charge(struct stale *s, size_t bytes)
{
    size_t most = s->bound / 4;
    if (atomic_fetch_add(&s->being, bytes) + bytes <= most)
        return true;
    atomic_fetch_sub(&s->being, bytes);
    return false;
}

static size_t room_for(const struct stale_shape *shape, size_t body_room)
{
    return sizeof(struct stale_copy) + shape->key_len + shape->vary_len +
           shape->lines_len + body_room;
}

struct stale_copy *stale_copy_new(struct stale *s,
                                  const struct stale_shape *shape,
                                  size_t body_room)
{
    size_t room = room_for(shape, body_room);
    if (!charge(s, room))
        return NULL;
    struct stale_copy *c = malloc(room);
    if (!c) {
        atomic_fetch_sub(&s->being, room);
        return NULL;
    }
    memset(c, 0, sizeof *c);
    c->owner = s;
    c->shape = *shape;
    c->room = room;
    atomic_init(&c->refs, 1);
    return c;
}

void stale_copy_drop(struct stale_copy *c)
{
    if (!c)
        return;
    atomic_fetch_sub(&c->owner->being, c->room);
    free(c);
}

struct stale_copy *stale_copy_grow(struct stale_copy *c, size_t body_room)
{
    size_t room = room_for(&c->shape, body_room), more = room - c->room;
    if (!charge(c->owner, more))
        return NULL;
    struct stale_copy *grown = realloc(c, room);
    if (!grown) {
        atomic_fetch_sub(&c->owner->being, more);
        return NULL;
    }
    grown->room = room;
    return grown;
}

/* ===== keeping them ===== */

/* One with the same key and the same fields, or NULL. */
static struct stale_copy *same_as(const struct stale *s,
                                  const struct stale_copy *c)
{
    struct stale_copy *at = *slot_of(s, c->hash);
    while (at &&
           !(key_is(at, c->hash, stale_key(c), c->shape.key_len) &&
             at->shape.vary_len == c->shape.vary_len &&
             memcmp(stale_vary(at), stale_vary(c), c->shape.vary_len) == 0))
        at = at->next;
    return at;
}

/* Room for one more of this key: the last in the chain came first. */
static void limit_variants(struct stale *s, const struct stale_copy *c)
{
    struct stale_copy *at = *slot_of(s, c->hash), *first = NULL;
    int n = 0;
    for (; at; at = at->next) {
        if (!key_is(at, c->hash, stale_key(c), c->shape.key_len))
            continue;
        first = at;
        n++;
    }
    if (n >= VARIANTS_MAX)
        throw_out(s, first);
}

/* Room for this one in the share of its path; alone, it may be larger. */
static void limit_path(struct stale *s, const struct stale_copy *c)
{
    const struct path *p = path_of(s, c);
    while (p->oldest && p->bytes + c->room > s->bound / PATH_SHARE)
        throw_out(s, p->oldest);
}

static bool put(struct stale *s, struct stale_copy *c)
{
    struct stale_copy *before = same_as(s, c);
    if (before)
        throw_out(s, before);
    limit_variants(s, c);
    limit_path(s, c);
    if (c->room > most_kept(s))
        return false;
    shrink(s, most_kept(s) - c->room);
    if (atomic_load(&s->kept) + c->room > most_kept(s))
        return false; /* all of it is being sent */
    atomic_fetch_add(&s->kept, c->room);
    c->next = *slot_of(s, c->hash);
    *slot_of(s, c->hash) = c;
    list_add(s, c);
    path_add(s, c);
    s->n_copies++;
    return c->listed = true;
}

void stale_put(struct stale_copy *c)
{
    struct stale *s = c->owner;
    size_t room = c->room; /* it may be evicted as soon as it is there */
    const char *query = memchr(stale_key(c), '?', c->shape.key_len);
    c->hash = hash_of(s, stale_key(c), c->shape.key_len);
    c->path_hash =
        query ? hash_of(s, stale_key(c), (size_t)(query - stale_key(c)))
              : c->hash;
    pthread_mutex_lock(&s->lock);
    bool done = s->bound != 0 && put(s, c);
    pthread_mutex_unlock(&s->lock);
    atomic_fetch_sub(&s->being, room);
    if (!done)
        free(c);
}

struct stale_copy *stale_get(struct stale *s, const char *key, size_t len,
                             bool (*fits)(const struct stale_copy *c,
                                          const void *ctx),
                             const void *ctx)
{
    uint64_t hash = hash_of(s, key, len);
    struct stale_copy *c = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->n_copies != 0)
        c = *slot_of(s, hash);
    while (c && !(key_is(c, hash, key, len) && fits(c, ctx)))
        c = c->next;
    if (c) {
        atomic_fetch_add(&c->refs, 1);
        list_remove(s, c);
        list_add(s, c);
    }
    pthread_mutex_unlock(&s->lock);
    return c;
}

void stale_forget(struct stale *s, const char *key, size_t len)
{
    uint64_t hash = hash_of(s, key, len);
    struct stale_copy *c, *next;
    pthread_mutex_lock(&s->lock);
    for (c = s->n_copies ? *slot_of(s, hash) : NULL; c; c = next) {
        next = c->next;
        if (key_is(c, hash, key, len))
            throw_out(s, c);
    }
    pthread_mutex_unlock(&s->lock);
}

void stale_count(struct stale *s, size_t *ret_copies, size_t *ret_bytes)
{
    pthread_mutex_lock(&s->lock);
    *ret_copies = s->n_copies;
    pthread_mutex_unlock(&s->lock);
    *ret_bytes = atomic_load(&s->kept) + atomic_load(&s->being);
}
