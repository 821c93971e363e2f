/* The in-memory file in which dependencies are kept. */
#include "proxy/dep_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config/field/option_value.h"
#include "config/proxy/conf.h"
#include "proxy/back/endpoint.h"

#define MAGIC "bide deps\n"
enum { VERSION = 1, ENTRIES = 1024, LOCK_TRIES = 500 };

/* The state of an entry; its user ensures that it only ever returns to FREE. */
enum entry_state {
    ENTRY_FREE,   /* its pages, if it has any, are zero */
    ENTRY_MAKING, /* without users: its creator has died */
    ENTRY_KEPT,
    ENTRY_DEAD /* of another layout, or abandoned: only to be freed */
};

struct entry {
    _Atomic uint32_t state;
    _Atomic uint32_t users; /* bits of seats */
    uint64_t fingerprint;
    uint64_t offset, size; /* in the file; 0: has no pages yet */
    char name[BIDE__PROXY_DEP_NAME + 1];
};

struct header {
    char magic[16];
    uint32_t version, n_entries, entry_size, page;
    uint64_t n_used; /* entries from the first on that were ever used */
    uint64_t end;    /* of the file: the next pages are there */
    struct entry entries[ENTRIES];
};

/* Threads: as the header says. */
struct dep_memory {
    int fd;
    uint32_t mine; /* the bit of our seat */
    bool alone;    /* until the first sweep */
    size_t page;
    struct header *file;
    pthread_mutex_t lock; /* protects what follows */
    unsigned claims[ENTRIES];
};

/* ===== the lock ===== */

/* A process that is stopped while it holds the lock must not stop us. */
static bool lock_file(const struct dep_memory *m)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (fcntl(m->fd, F_SETLK, &whole) == 0)
            return true;
        if (errno != EAGAIN && errno != EACCES)
            return false;
        nanosleep(&(struct timespec){ 0, BIDE_MILLISECOND }, NULL);
    }
    return false;
}

static void unlock_file(const struct dep_memory *m)
{
    struct flock whole = { .l_type = F_UNLCK, .l_whence = SEEK_SET };
    fcntl(m->fd, F_SETLK, &whole);
}

/* ===== the file ===== */

static size_t whole_pages(size_t size, size_t page)
{
    return (size + page - 1) / page * page;
}

int dep_memory_file(void)
{
    return memfd_create("bide-deps", MFD_CLOEXEC);
}

/* A new one is all zero, and gets its header; an old one must have ours. */
static bool fits(const struct dep_memory *m)
{
    struct header *h = m->file;
    struct header want = { .version = VERSION,
                           .n_entries = ENTRIES,
                           .entry_size = sizeof(struct entry),
                           .page = (uint32_t)m->page };
    memcpy(want.magic, MAGIC, sizeof MAGIC);
    if (h->version == 0) {
        h->end = whole_pages(sizeof *h, m->page);
        memcpy(h->magic, want.magic, sizeof h->magic);
        h->n_entries = want.n_entries;
        h->entry_size = want.entry_size;
        h->page = want.page;
        h->version = VERSION; /* last: from now on it is valid */
    }
    return memcmp(h, &want, offsetof(struct header, n_used)) == 0 &&
           h->n_used <= ENTRIES;
}

static bool map_file(struct dep_memory *m)
{
    size_t size = whole_pages(sizeof *m->file, m->page);
    struct stat st;
    if (fstat(m->fd, &st) < 0 ||
        ((size_t)st.st_size < size && ftruncate(m->fd, (off_t)size) < 0))
        return false;
    void *base = mmap(NULL, sizeof *m->file, PROT_READ | PROT_WRITE, MAP_SHARED,
                      m->fd, 0);
    m->file = base == MAP_FAILED ? NULL : base;
    return m->file && fits(m);
}

struct dep_memory *dep_memory_open(int fd, unsigned seat, uint32_t others)
{
    struct dep_memory *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->fd = fd;
    m->mine = UINT32_C(1) << seat;
    m->alone = (others & ~m->mine) == 0;
    m->page = (size_t)sysconf(_SC_PAGESIZE);
    pthread_mutex_init(&m->lock, NULL);
    bool fine = lock_file(m);
    bool fitting = fine && map_file(m);
    for (size_t i = 0; fitting && i < m->file->n_used; i++)
        atomic_fetch_and(&m->file->entries[i].users, others & ~m->mine);
    if (fine)
        unlock_file(m);
    if (fitting)
        return m;
    dep_memory_free(m);
    return NULL;
}

void dep_memory_free(struct dep_memory *m)
{
    if (!m)
        return;
    if (m->file)
        munmap(m->file, sizeof *m->file);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* ===== entries, while the file is locked ===== */

/* Zeroes its pages, and frees their memory. False: that failed. */
static bool wipe(const struct dep_memory *m, struct entry *e)
{
    return e->size == 0 ||
           fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     (off_t)e->offset, (off_t)e->size) == 0;
}

static void free_if_unused(const struct dep_memory *m, struct entry *e)
{
    if (atomic_load(&e->state) != ENTRY_FREE && atomic_load(&e->users) == 0 &&
        wipe(m, e))
        atomic_store(&e->state, ENTRY_FREE);
}

static bool is_ours(struct dep_memory *m, size_t i)
{
    pthread_mutex_lock(&m->lock);
    bool ours = m->claims[i] > 0;
    pthread_mutex_unlock(&m->lock);
    return ours;
}

/* An entry that a previous process has left, or ENTRIES. One of our own belongs
 * to an earlier configuration, whose totals are already counted: its state is
 * handed over by the service, and no longer found here. */
static size_t find(struct dep_memory *m, const char *name, uint64_t fingerprint,
                   size_t size)
{
    struct header *h = m->file;
    size_t of_other_policy = ENTRIES;
    for (size_t i = 0; i < h->n_used; i++) {
        struct entry *e = &h->entries[i];
        bool same = e->fingerprint == fingerprint;
        if (atomic_load(&e->state) != ENTRY_KEPT || e->size != size ||
            strncmp(e->name, name, sizeof e->name) != 0)
            continue;
        if (same && !is_ours(m, i))
            return i;
        if (same)
            atomic_store(&e->state, ENTRY_DEAD);
        else if (m->alone && !is_ours(m, i))
            of_other_policy = i;
    }
    return of_other_policy;
}

/* A free entry with as many pages, or a new one at the end. */
static size_t find_free(struct dep_memory *m, size_t size)
{
    struct header *h = m->file;
    for (size_t i = 0; i < h->n_used; i++)
        if (atomic_load(&h->entries[i].state) == ENTRY_FREE &&
            h->entries[i].size == size)
            return i;
    if (h->n_used == ENTRIES || ftruncate(m->fd, (off_t)(h->end + size)) < 0)
        return ENTRIES;
    struct entry *e = &h->entries[h->n_used];
    e->offset = h->end;
    e->size = size;
    h->end += size;
    return h->n_used++;
}

/* Claims an entry, if there is one. */
static size_t claim(struct dep_memory *m, const char *name,
                    const bide_policy_conf *policy)
{
    size_t needed = bide_dep_shared_size(policy);
    uint64_t fingerprint = bide__policy_hash(needed, policy);
    size_t size = whole_pages(needed, m->page);
    size_t i = find(m, name, fingerprint, size);
    if (i == ENTRIES && (i = find_free(m, size)) < ENTRIES) {
        struct entry *e = &m->file->entries[i];
        atomic_store(&e->state, ENTRY_MAKING);
        snprintf(e->name, sizeof e->name, "%s", name);
    }
    if (i < ENTRIES) {
        m->file->entries[i].fingerprint = fingerprint;
        pthread_mutex_lock(&m->lock);
        m->claims[i]++;
        atomic_fetch_or(&m->file->entries[i].users, m->mine);
        pthread_mutex_unlock(&m->lock);
    }
    return i;
}

/* An entry without other users is freed; only what a dying process leaves
 * behind is found by the next. */
static void unclaim(struct dep_memory *m, size_t i)
{
    struct entry *e = &m->file->entries[i];
    pthread_mutex_lock(&m->lock);
    if (--m->claims[i] == 0 &&
        (atomic_fetch_and(&e->users, ~m->mine) & ~m->mine) == 0)
        atomic_store(&e->state, ENTRY_DEAD);
    pthread_mutex_unlock(&m->lock);
}

/* ===== blocks ===== */

/* Private memory, directly followed by the pages of the file. */
static void *map_block(void *ctx, size_t size)
{
    struct dep_block *b = ctx;
    const struct entry *e = &b->memory->file->entries[b->entry];
    size_t own = whole_pages(size - b->shared, b->memory->page);
    b->mapped = own + e->size;
    char *base = mmap(NULL, b->mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    if (mmap(base + own, e->size, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, b->memory->fd,
             (off_t)e->offset) == MAP_FAILED) {
        munmap(base, b->mapped);
        return NULL;
    }
    b->base = base;
    return base + own - (size - b->shared);
}

/* dep_memory_release() unmaps it, when the engine no longer needs it. */
static void keep_mapped(void *ctx, void *memory)
{
    (void)ctx;
    (void)memory;
}

static void unmap(struct dep_block *b)
{
    if (b->base)
        munmap(b->base, b->mapped);
    b->base = NULL;
}

/* In the pages of an entry; the file is locked. */
static int make_in_entry(struct dep_block *b, bide_dep **ret, const char *name,
                         const bide_policy_conf *policy, const bide_host *host)
{
    struct dep_memory *m = b->memory;
    bide_host shared = *host;
    b->entry = claim(m, name, policy);
    if (b->entry == ENTRIES)
        return BIDE_ENOMEM;
    struct entry *e = &m->file->entries[b->entry];
    b->shared = bide_dep_shared_size(policy);
    shared.alloc = map_block;
    shared.release = keep_mapped;
    shared.shared = true;
    shared.alone = m->alone;
    int rc = bide_dep_new_in(ret, name, policy, &shared);
    if (rc == 0) {
        atomic_store(&e->state, ENTRY_KEPT);
        return 0;
    }
    unmap(b);
    if (rc == BIDE_ESTATE || atomic_load(&e->state) == ENTRY_MAKING)
        atomic_store(&e->state, ENTRY_DEAD);
    unclaim(m, b->entry);
    return rc;
}

int dep_memory_make(struct dep_memory *m, struct dep_block *block,
                    bide_dep **ret, const char *name,
                    const bide_policy_conf *policy, const bide_host *host)
{
    *block = (struct dep_block){ .memory = m };
    if (m && bide_dep_shared_size(policy) > 0 && lock_file(m)) {
        int rc = make_in_entry(block, ret, name, policy, host);
        if (rc == BIDE_ESTATE) /* of another build; that one is now dead */
            rc = make_in_entry(block, ret, name, policy, host);
        unlock_file(m);
        if (rc == 0)
            return 0;
    }
    block->memory = NULL;
    return bide_dep_new_in(ret, name, policy, host);
}

void dep_memory_release(struct dep_block *block, bide_dep *dep)
{
    bide_dep_free(dep);
    if (!block->memory)
        return;
    unmap(block);
    unclaim(block->memory, block->entry);
}

void dep_memory_sweep(struct dep_memory *m)
{
    if (!m || !lock_file(m))
        return;
    m->alone = false;
    for (size_t i = 0; i < m->file->n_used; i++)
        free_if_unused(m, &m->file->entries[i]);
    unlock_file(m);
}
