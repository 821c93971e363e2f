/* Client addresses in a table of buckets. */
#include "proxy/front/per_client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bide/bide.h"

enum { WAYS = 16, BUCKETS = PER_CLIENT_PLACES / WAYS, LOCKS = 64 };

/* 32 bytes. Key and connections are protected by the lock of the bucket. The
 * rates belong to connected clients only: they are changed without it. */
struct place {
    uint64_t key;         /* 0: never used */
    uint32_t connections; /* open */
    /* When all that was asked for would have been due, at the rate: it lies in
     * the future by what was taken ahead (GCRA). */
    _Atomic(int64_t) due_ns[PER_CLIENT_RATES];
};

struct lock {
    _Alignas(64) pthread_mutex_t mutex;
};

struct per_client {
    uint64_t secret;
    struct place *places;
    struct lock locks[LOCKS];
};

struct per_client *per_client_new(uint64_t secret)
{
    struct per_client *t = aligned_alloc(64, sizeof *t);
    struct place *places = calloc(PER_CLIENT_PLACES, sizeof *places);
    if (!t || !places) {
        free(t);
        free(places);
        return NULL;
    }
    t->secret = secret;
    t->places = places;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&t->locks[i].mutex, NULL);
    return t;
}

void per_client_free(struct per_client *t)
{
    if (!t)
        return;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&t->locks[i].mutex);
    free(t->places);
    free(t);
}

/* Each address, or /64, has a key of its own: those of IPv4, and the one that
 * would be 0, lie where no network of IPv6 is (::/8). */
static uint64_t key_of(const uint8_t *address, unsigned len)
{
    uint64_t key = len == 4 ? 1 << 16 : 0;
    for (unsigned i = 0; i < len && i < 8; i++)
        key = key << 8 | address[i];
    return key ? key : 2;
}

static struct place *bucket_of(const struct per_client *t, uint64_t key)
{
    uint64_t hash = bide_rng_hash(t->secret, key, 0, 0);
    return &t->places[hash % BUCKETS * WAYS];
}

static pthread_mutex_t *lock_of(struct per_client *t, const struct place *p)
{
    return &t->locks[(size_t)(p - t->places) / WAYS % LOCKS].mutex;
}

/* ===== coming and going ===== */

/* Whether it has the same state as a new place. */
static bool is_idle(const struct place *p, int64_t now_ns)
{
    if (p->connections != 0)
        return false;
    for (int i = 0; i < PER_CLIENT_RATES; i++)
        if (atomic_load_explicit(&p->due_ns[i], memory_order_relaxed) > now_ns)
            return false;
    return true;
}

/* The place of an address, or one that it can take; NULL: neither. */
static struct place *find(struct place *bucket, uint64_t key, int64_t now_ns)
{
    struct place *spare = NULL;
    for (int i = 0; i < WAYS; i++) {
        if (bucket[i].key == key)
            return &bucket[i];
        if (!spare && (bucket[i].key == 0 || is_idle(&bucket[i], now_ns)))
            spare = &bucket[i];
    }
    if (!spare)
        return NULL;
    spare->key = key;
    for (int i = 0; i < PER_CLIENT_RATES; i++)
        atomic_store_explicit(&spare->due_ns[i], 0, memory_order_relaxed);
    return spare;
}

enum per_client_result per_client_enter(struct per_client *t,
                                        const uint8_t *address, unsigned len,
                                        uint32_t most, int64_t now_ns,
                                        uint32_t *ret_place)
{
    uint64_t key = key_of(address, len);
    struct place *bucket = bucket_of(t, key);
    pthread_mutex_t *lock = lock_of(t, bucket);
    enum per_client_result result = PER_CLIENT_IN;

    pthread_mutex_lock(lock);
    struct place *p = find(bucket, key, now_ns);
    if (!p) {
        result = PER_CLIENT_FULL;
        *ret_place = 0;
    } else if (p->connections >= most) {
        result = PER_CLIENT_OVER;
    } else {
        p->connections++;
        *ret_place = (uint32_t)(p - t->places) + 1;
    }
    pthread_mutex_unlock(lock);
    return result;
}

void per_client_leave(struct per_client *t, uint32_t place)
{
    if (place == 0)
        return;
    struct place *p = &t->places[place - 1];
    pthread_mutex_t *lock = lock_of(t, p);
    pthread_mutex_lock(lock);
    p->connections--;
    pthread_mutex_unlock(lock);
}

/* ===== rates ===== */

int64_t per_client_ask(struct per_client *t, uint32_t place,
                       enum per_client_rate which, double per_s, int64_t now_ns)
{
    _Atomic(int64_t) *due = &t->places[place - 1].due_ns[which];
    double exact = (double)BIDE_SECOND / per_s;
    int64_t each = exact < 1 ? 1 : exact > 1e18 ? (int64_t)1e18 : (int64_t)exact;
    int64_t ahead = each < BIDE_SECOND ? BIDE_SECOND - each : 0;
    int64_t was = atomic_load_explicit(due, memory_order_relaxed), from;
    do {
        from = was > now_ns ? was : now_ns;
        if (from - now_ns > ahead)
            return from - now_ns - ahead;
    } while (!atomic_compare_exchange_weak_explicit(
        due, &was, from + each, memory_order_relaxed, memory_order_relaxed));
    return 0;
}
