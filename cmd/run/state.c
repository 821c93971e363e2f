/* What invocations with one --key share: budget, breaker and limits, in a small
 * file that each of them maps.
 *
 *     page 0    header: magic, version, size, boot
 *     page 1..  the shared part of the engine's state (bide/dep.h): words that
 *               are changed atomically, and no pointers
 *
 * A file gets its name only when all of it is there, so none is ever seen half
 * made. Whoever uses it holds a shared lock, which the kernel takes back from a
 * process that was killed. Who finds that nobody else holds one takes back what
 * such a process had: a place, a unit of the budget. All times are of the
 * monotonic clock, so a file is good for one boot.
 *
 * A file of another layout, of another boot, or whose content cannot be true is
 * replaced. One that is cut off while it is mapped becomes memory of our own.
 * Files that were not used for a week are removed when a new one is made. */
#include "cmd/run/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bide/error.h"
#include "bide/run.h"
#include "bide/stats.h"

#define MAGIC "bide state\n"
enum { VERSION = 1, MAX_AGE_S = 7 * 24 * 3600, TRIES = 20 };

struct state {
    int dir, fd;
    char name[80];
    const bide_policy_conf *conf;
    const char *key;
    size_t page, size; /* of the shared part */
    void *base;        /* of the mapping */
    size_t mapped;
    char *problem;
    size_t problem_size;
};

static struct state current; /* the mapping outlives the call that made it */

/* Tells what is in the way; always -1. */
static int trouble(struct state *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int trouble(struct state *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(s->problem, s->problem_size, format, args);
    va_end(args);
    return -1;
}

/* ===== the directory ===== */

/* It must be ours alone: in /tmp, somebody else may have been there first. */
static int open_dir(struct state *s)
{
    const char *run = getenv("XDG_RUNTIME_DIR");
    char path[4096];
    struct stat st;

    if (run && *run == '/')
        snprintf(path, sizeof path, "%s/bide", run);
    else
        snprintf(path, sizeof path, "/tmp/bide-%ld", (long)geteuid());
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return trouble(s, "cannot make %s: %s", path, strerror(errno));
    s->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->dir < 0)
        return trouble(s, "cannot open %s: %s", path, strerror(errno));
    if (fstat(s->dir, &st) < 0 || st.st_uid != geteuid() ||
        (st.st_mode & 077) != 0)
        return trouble(s,
                       "%s must be a directory that only its owner, you, "
                       "may enter (mode 0700)",
                       path);
    return 0;
}

static bool is_old(const struct stat *st)
{
    return st->st_mtime < time(NULL) - MAX_AGE_S;
}

/* Only a file that nobody uses, and that has not been replaced meanwhile. */
static void remove_if_old(int dir, const char *name)
{
    struct stat st, now;
    int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
        S_ISREG(st.st_mode) && is_old(&st) &&
        fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        now.st_ino == st.st_ino)
        unlinkat(dir, name, 0);
    close(fd);
}

static void clean_up(const struct state *s)
{
    int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;

    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((e = readdir(d)) != NULL)
        if (strstr(e->d_name, STATE_SUFFIX))
            remove_if_old(s->dir, e->d_name);
    closedir(d);
}

/* ===== the header ===== */

static void fill_header(size_t page, size_t size, struct state_header *h)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    memset(h, 0, sizeof *h);
    memcpy(h->magic, MAGIC, sizeof MAGIC);
    h->version = VERSION;
    h->page = (uint32_t)page;
    h->size = size;
    if (fd >= 0) {
        if (read(fd, h->boot, sizeof h->boot - 1) < 0)
            h->boot[0] = '\0';
        close(fd);
    }
}

static bool header_fits(const struct state *s, const struct stat *st)
{
    struct state_header want, found;

    fill_header(s->page, s->size, &want);
    return (uint64_t)st->st_size == s->page + s->size &&
           pread(s->fd, &found, sizeof found, 0) == (ssize_t)sizeof found &&
           memcmp(&want, &found, sizeof want) == 0;
}

bool state_is_current(const struct state_header *h)
{
    struct state_header want;

    fill_header(h->page, h->size, &want);
    return memcmp(&want, h, sizeof want) == 0;
}

/* ===== the mapping ===== */

/* Somebody has cut off the file: there is no page any more where we look. Zeros
 * are a state that was just begun. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    char *at = current.base, *end = at + current.mapped;
    char *addr = info->si_addr;

    (void)context;
    if (addr < at || addr >= end ||
        mmap(end - current.size, current.size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        signal(number, SIG_DFL); /* it happens again, and ends us */
}

static void survive_cutting(void)
{
    struct sigaction act = { .sa_sigaction = on_bus_error,
                             .sa_flags = SA_SIGINFO };

    sigaction(SIGBUS, &act, NULL);
}

/* Memory of our own, and right behind it the file. */
static void *map(void *ctx, size_t size)
{
    struct state *s = ctx;
    size_t own = (size - s->size + s->page - 1) / s->page * s->page;
    char *base;

    s->mapped = own + s->size;
    base = mmap(NULL, s->mapped, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    if (mmap(base + own, s->size, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, s->fd, (off_t)s->page) == MAP_FAILED) {
        munmap(base, s->mapped);
        return NULL;
    }
    s->base = base;
    return base + own - (size - s->size);
}

static void unmap(void *ctx, void *memory)
{
    struct state *s = ctx;

    (void)memory;
    munmap(s->base, s->mapped);
}

static int make_dep(struct state *s, bool alone, bide_dep **ret)
{
    bide_host host = {
        .ctx = s, .alloc = map, .release = unmap, .shared = true, .alone = alone
    };

    return bide_dep_new_in(ret, s->key, s->conf, &host);
}

/* A breaker that is open for longer than any policy lets it was not opened by
 * bide. What else a file may claim is counted anew by whoever is alone with it,
 * or runs out with its window. */
static bool is_plausible(const bide_dep *dep)
{
    const bide_policy_conf *conf = bide_dep_policy(dep);
    int64_t now = bide_now_ns(), longest = conf->breaker.open_max_ns;
    bide_breaker_view view;

    if (conf->breaker.open_ns > longest)
        longest = conf->breaker.open_ns;
    if (conf->retry_after.max_ns > longest)
        longest = conf->retry_after.max_ns;
    return bide_dep_breaker_view(dep, now, &view) < 0 ||
           longest > BIDE_FOREVER / 4 ||
           view.open_until_ns <= now + 2 * longest;
}

/* ===== a new file ===== */

/* Makes one under a name of its own, whole, and locked. */
static int make_file(struct state *s, char *temp, size_t temp_size,
                     bide_dep **ret)
{
    struct state_header h;
    uint64_t number = 0; /* not ours: containers may share the directory */
    int rc;

    clean_up(s);
    if (getrandom(&number, sizeof number, 0) < 0)
        number = (uint64_t)bide_now_ns();
    snprintf(temp, temp_size, ".%.64s.%016llx%s", s->key,
             (unsigned long long)number, STATE_SUFFIX);
    s->fd = openat(s->dir, temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (s->fd < 0)
        return trouble(s, "cannot make a state file: %s", strerror(errno));
    fill_header(s->page, s->size, &h);
    if (flock(s->fd, LOCK_SH | LOCK_NB) < 0 ||
        (errno = posix_fallocate(s->fd, 0, (off_t)(s->page + s->size))) != 0 ||
        pwrite(s->fd, &h, sizeof h, 0) != (ssize_t)sizeof h)
        rc = trouble(s, "cannot write a state file: %s", strerror(errno));
    else if ((rc = make_dep(s, false, ret)) < 0)
        rc = trouble(s, "%s", bide_strerror(rc));
    if (rc < 0) {
        unlinkat(s->dir, temp, 0);
        close(s->fd);
    }
    return rc;
}

/* Gives it its name, unless somebody else was faster: then there is one to
 * open. 1 done, 0 not, -1 trouble. */
static int create(struct state *s, bool replace, bide_dep **ret)
{
    char temp[128];
    int rc;

    if (make_file(s, temp, sizeof temp, ret) < 0)
        return -1;
    if (replace) {
        rc = renameat(s->dir, temp, s->dir, s->name);
    } else {
        rc = linkat(s->dir, temp, s->dir, s->name, 0);
        unlinkat(s->dir, temp, 0);
    }
    if (rc == 0)
        return 1;
    rc = errno;
    bide_dep_free(*ret);
    close(s->fd);
    return rc == EEXIST
               ? 0
               : trouble(s, "cannot name a state file: %s", strerror(rc));
}

/* ===== a file that is there ===== */

/* Waits for whoever is alone with it just now. One that is stopped while it is
 * must not stop us: after a moment we go on without a lock, which only means
 * that the file may be taken for unused. */
static void lock_with_others(const struct state *s)
{
    for (int i = 0; i < 200 && flock(s->fd, LOCK_SH | LOCK_NB) < 0; i++)
        nanosleep(&(struct timespec){ 0, BIDE_MILLISECOND }, NULL);
}

/* True if nobody else uses it: then the lock keeps all others out. */
static bool lock(const struct state *s)
{
    if (flock(s->fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    lock_with_others(s);
    return false;
}

/* 1 done, 0 it was removed meanwhile, -1 trouble. */
static int join(struct state *s, bide_dep **ret)
{
    struct stat st;
    bool alone;
    int rc;

    if (fstat(s->fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        st.st_uid != geteuid() || (st.st_mode & 022) != 0) {
        close(s->fd);
        return trouble(s, "its state file is not a file that only you may "
                          "write to");
    }
    alone = lock(s);
    if (fstat(s->fd, &st) < 0 || st.st_nlink == 0) {
        close(s->fd);
        return 0;
    }
    rc = header_fits(s, &st) ? make_dep(s, alone, ret) : BIDE_ESTATE;
    if (rc == 0 && !is_plausible(*ret)) {
        bide_dep_free(*ret);
        rc = BIDE_ESTATE;
    }
    if (rc == 0) {
        futimens(s->fd, NULL); /* in use */
        if (alone)
            lock_with_others(s);
        return 1;
    }
    close(s->fd);
    if (rc == BIDE_ESTATE)
        return create(s, true, ret);
    return trouble(s, "%s", bide_strerror(rc));
}

static int open_or_create(struct state *s, bide_dep **ret)
{
    for (int i = 0; i < TRIES; i++) {
        int rc;
        s->fd = openat(s->dir, s->name,
                       O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (s->fd >= 0)
            rc = join(s, ret);
        else if (errno == ENOENT)
            rc = create(s, false, ret);
        else
            rc = trouble(s, "cannot open its state file: %s", strerror(errno));
        if (rc != 0)
            return rc;
    }
    return trouble(s, "its state file comes and goes");
}

int state_open(bide_dep **ret_dep, const char *key,
               const bide_policy_conf *conf, char *problem, size_t size)
{
    struct state *s = &current;

    *s = (struct state){
        .conf = conf, .key = key, .problem = problem, .problem_size = size
    };
    s->page = (size_t)sysconf(_SC_PAGESIZE);
    s->size = bide_dep_shared_size(conf);
    snprintf(s->name, sizeof s->name, "%.64s%s", key, STATE_SUFFIX);
    survive_cutting();
    if (open_dir(s) < 0)
        return -1;
    return open_or_create(s, ret_dep) > 0 ? 0 : -1;
}

int state_dir(char *problem, size_t size)
{
    struct state s = { .problem = problem, .problem_size = size };

    return open_dir(&s) < 0 ? -1 : s.dir;
}

/* Of several that end at once the last one wins: it is for people. */
void state_note(const bide_dep *dep, int64_t now)
{
    static bide_stats stats; /* too large for the stack */
    bide_breaker_view view = { 0 };
    struct state_note note = { .written_s = time(NULL) };

    if (bide_dep_stats(dep, now, &stats) < 0)
        return;
    bide_dep_breaker_view(dep, now, &view);
    note.breaker = view.state;
    note.open_until_ns = view.open_until_ns;
    note.budget_left = stats.budget_left;
    note.runs = stats.calls;
    note.failed = stats.failures;
    (void)!pwrite(current.fd, &note, sizeof note, STATE_NOTE_AT);
}
