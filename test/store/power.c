/* The VFS: passes on, and remembers what was synced. */
#include "power.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512, IMAGES = 16 };

/* A write, or (data NULL) a truncation, since the last sync. */
struct change {
    struct change *next;
    sqlite3_int64 at;
    int len;
    unsigned char *data;
};

/* A file as the disk is sure to have it. */
struct image {
    char *path;
    unsigned char *data;
    sqlite3_int64 len, room;
    struct change *first, **last;
};

struct file {
    sqlite3_file base;
    struct image *image; /* NULL: nobody's concern */
    sqlite3_file *real;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image images[IMAGES];
static int n_images;
static bool is_honest = true;
static unsigned long syncs;
static sqlite3_vfs *below;

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

/* ===== images ===== */

static struct image *image_of(const char *path)
{
    for (int i = 0; i < n_images; i++) {
        if (strcmp(images[i].path, path) == 0)
            return &images[i];
    }
    if (n_images == IMAGES)
        abort();
    struct image *image = &images[n_images++];
    *image = (struct image){ .path = must(strdup(path)) };
    image->last = &image->first;
    return image;
}

static void put(struct image *to, sqlite3_int64 at, const unsigned char *data,
                int len)
{
    if (at + len > to->room) {
        to->room = 2 * (at + len);
        to->data = must(realloc(to->data, (size_t)to->room));
    }
    if (at > to->len)
        memset(to->data + to->len, 0, (size_t)(at - to->len));
    memcpy(to->data + at, data, (size_t)len);
    if (at + len > to->len)
        to->len = at + len;
}

static void apply(struct image *to, const struct change *c)
{
    if (c->data)
        put(to, c->at, c->data, c->len);
    else if (c->at < to->len)
        to->len = c->at;
}

static void remember(struct image *image, sqlite3_int64 at, const void *data,
                     int len)
{
    struct change *c = must(calloc(1, sizeof *c));

    c->at = at;
    c->len = len;
    if (data) {
        c->data = must(malloc((size_t)len));
        memcpy(c->data, data, (size_t)len);
    }
    *image->last = c;
    image->last = &c->next;
}

static void settle(struct image *image)
{
    while (image->first) {
        struct change *c = image->first;
        image->first = c->next;
        apply(image, c);
        free(c->data);
        free(c);
    }
    image->last = &image->first;
}

/* ===== what a power failure leaves ===== */

static void apply_some(struct image *to, const struct change *c,
                       unsigned *seed)
{
    if (!c->data) {
        if (rand_r(seed) % 2)
            apply(to, c);
        return;
    }
    for (int done = 0; done < c->len;) {
        int part = SECTOR - (int)((c->at + done) % SECTOR);
        if (part > c->len - done)
            part = c->len - done;
        if (rand_r(seed) % 2)
            put(to, c->at + done, c->data + done, part);
        done += part;
    }
}

static void write_image(const struct image *image, const char *path,
                        unsigned *seed)
{
    struct image after = { .len = image->len, .room = image->len };
    int kind = rand_r(seed) % 3; /* nothing more, all of it, some of it */

    after.data = must(malloc((size_t)image->len + 1));
    memcpy(after.data, image->data ? image->data : (unsigned char *)"",
           (size_t)image->len);
    for (const struct change *c = image->first; c && kind > 0; c = c->next) {
        if (kind == 1)
            apply(&after, c);
        else
            apply_some(&after, c, seed);
    }
    FILE *f = must(fopen(path, "wb"));
    if (fwrite(after.data, 1, (size_t)after.len, f) != (size_t)after.len ||
        fclose(f) != 0)
        abort();
    free(after.data);
}

void power_cut(const char *from, const char *to, unsigned *seed)
{
    char path[512];
    size_t n = strlen(from);

    pthread_mutex_lock(&lock);
    for (int i = 0; i < n_images; i++) {
        if (strncmp(images[i].path, from, n) != 0)
            continue;
        snprintf(path, sizeof path, "%s%s", to, images[i].path + n);
        write_image(&images[i], path, seed);
    }
    pthread_mutex_unlock(&lock);
}

unsigned long power_syncs(void)
{
    pthread_mutex_lock(&lock);
    unsigned long n = syncs;
    pthread_mutex_unlock(&lock);
    return n;
}

/* ===== files ===== */

#define REAL(f) (((struct file *)(f))->real)
#define PASS(f, method, ...) REAL(f)->pMethods->method(REAL(f), __VA_ARGS__)
#define PASS_ALONE(f, method) REAL(f)->pMethods->method(REAL(f))

static int file_close(sqlite3_file *f)
{
    return PASS_ALONE(f, xClose);
}

static int file_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    return PASS(f, xRead, to, n, at);
}

static int file_write(sqlite3_file *f, const void *data, int n,
                      sqlite3_int64 at)
{
    struct image *image = ((struct file *)f)->image;

    pthread_mutex_lock(&lock);
    if (image)
        remember(image, at, data, n);
    pthread_mutex_unlock(&lock);
    return PASS(f, xWrite, data, n, at);
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 len)
{
    struct image *image = ((struct file *)f)->image;

    pthread_mutex_lock(&lock);
    if (image)
        remember(image, len, NULL, 0);
    pthread_mutex_unlock(&lock);
    return PASS(f, xTruncate, len);
}

/* The real file need not be synced: power does not really fail. */
static int file_sync(sqlite3_file *f, int flags)
{
    struct image *image = ((struct file *)f)->image;

    (void)flags;
    pthread_mutex_lock(&lock);
    syncs++;
    if (image && is_honest)
        settle(image);
    pthread_mutex_unlock(&lock);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *ret)
{
    return PASS(f, xFileSize, ret);
}

static int file_lock(sqlite3_file *f, int level)
{
    return PASS(f, xLock, level);
}

static int file_unlock(sqlite3_file *f, int level)
{
    return PASS(f, xUnlock, level);
}

static int file_reserved(sqlite3_file *f, int *ret)
{
    return PASS(f, xCheckReservedLock, ret);
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
    return PASS(f, xFileControl, op, arg);
}

static int file_sector(sqlite3_file *f)
{
    return PASS_ALONE(f, xSectorSize);
}

static int file_device(sqlite3_file *f)
{
    return PASS_ALONE(f, xDeviceCharacteristics);
}

static int file_shm_map(sqlite3_file *f, int i, int size, int extend,
                        void volatile **ret)
{
    return PASS(f, xShmMap, i, size, extend, ret);
}

static int file_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return PASS(f, xShmLock, at, n, flags);
}

static void file_shm_barrier(sqlite3_file *f)
{
    PASS_ALONE(f, xShmBarrier);
}

static int file_shm_unmap(sqlite3_file *f, int remove)
{
    return PASS(f, xShmUnmap, remove);
}

static const sqlite3_io_methods methods = {
    2,              file_close,    file_read,     file_write,
    file_truncate,  file_sync,     file_size,     file_lock,
    file_unlock,    file_reserved, file_control,  file_sector,
    file_device,    file_shm_map,  file_shm_lock, file_shm_barrier,
    file_shm_unmap, NULL,          NULL,
};

/* ===== the VFS ===== */

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f,
                    int flags, int *ret_flags)
{
    struct file *file = (struct file *)f;
    const int ours = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL |
                     SQLITE_OPEN_MAIN_JOURNAL;

    (void)vfs;
    file->real = (sqlite3_file *)(file + 1);
    int rc = below->xOpen(below, path, file->real, flags, ret_flags);
    pthread_mutex_lock(&lock);
    file->image = path && (flags & ours) ? image_of(path) : NULL;
    pthread_mutex_unlock(&lock);
    file->base.pMethods = file->real->pMethods ? &methods : NULL;
    return rc;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
    (void)vfs;
    pthread_mutex_lock(&lock);
    struct image *image = image_of(path);
    settle(image);
    image->len = 0;
    pthread_mutex_unlock(&lock);
    return below->xDelete(below, path, sync);
}

void power_vfs_honest(bool honest)
{
    is_honest = honest;
}

void power_vfs_install(void)
{
    static sqlite3_vfs vfs;

    below = sqlite3_vfs_find(NULL);
    vfs = *below;
    vfs.zName = "power";
    vfs.szOsFile = (int)sizeof(struct file) + below->szOsFile;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK)
        abort();
}
