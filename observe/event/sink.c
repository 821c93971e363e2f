/* Rings of bytes, and the thread that drains them. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "observe/event/sink_parts.h"

enum {
    HAND_OVER = 32768, /* bytes that are worth waking the thread for */
    GRACE_MS = 300,    /* at the end, for a target that is blocked */
    JOIN_S = 1         /* and for a thread that is stuck in it */
};

/* ===== producers ===== */

static void wake(struct bide__sink *s)
{
    uint64_t one = 1;
    if (!atomic_exchange(&s->called, true))
        while (write(s->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
            ;
}

/* Where the next byte goes; at the front, if everything has been read. */
static size_t offset(struct bide__lines *l)
{
    size_t at = (size_t)(l->filled - l->base) & (l->size - 1);
    if (at < HAND_OVER)
        return at;
    l->seen_read = atomic_load_explicit(&l->read, memory_order_acquire);
    if (l->seen_read != l->filled)
        return at;
    l->base = l->filled;
    return 0;
}

static bool has_room(struct bide__lines *l, uint64_t len)
{
    if (l->filled + len - l->seen_read <= l->size)
        return true;
    l->seen_read = atomic_load_explicit(&l->read, memory_order_acquire);
    return l->filled + len - l->seen_read <= l->size;
}

/* A line is contiguous: if it might not fit before the end of the ring, the
 * rest of that is filled with zeros, and it begins at the front. */
char *bide__lines_room(struct bide__lines *l, size_t most)
{
    size_t at = offset(l), rest = l->size - at;
    size_t skip = rest < most ? rest : 0;

    if (most > l->size || !has_room(l, skip + most)) {
        atomic_fetch_add_explicit(&l->sink->dropped, 1, memory_order_relaxed);
        return NULL;
    }
    if (skip == 0)
        return l->bytes + at;
    memset(l->bytes + at, 0, skip);
    l->filled += skip;
    return l->bytes;
}

void bide__lines_add(struct bide__lines *l, size_t len)
{
    l->filled += len;
    if (l->filled -
            atomic_load_explicit(&l->written, memory_order_relaxed) >=
        HAND_OVER)
        bide__lines_flush(l);
}

void bide__lines_flush(struct bide__lines *l)
{
    uint32_t generation = atomic_load(&l->sink->generation);
    if (atomic_load_explicit(&l->written, memory_order_relaxed) == l->filled &&
        atomic_load_explicit(&l->turned, memory_order_relaxed) == generation)
        return;
    atomic_store_explicit(&l->written, l->filled, memory_order_release);
    atomic_store_explicit(&l->turned, generation, memory_order_release);
    wake(l->sink);
}

/* ===== the thread ===== */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void take_call(struct bide__sink *s)
{
    uint64_t count;
    if (read(s->wake_fd, &count, sizeof count) > 0)
        atomic_exchange(&s->called, false); /* and sees what they wrote */
}

bool sink_wait(struct bide__sink *s)
{
    struct pollfd p[] = { { .fd = s->target->fd, .events = POLLOUT },
                          { .fd = s->wake_fd, .events = POLLIN } };

    for (;;) {
        bool ends = atomic_load(&s->stopping) || atomic_load(&s->next);
        if (ends && s->until_ms == 0)
            s->until_ms = now_ms() + GRACE_MS;
        int64_t left = s->until_ms - now_ms();
        int n = poll(p, 2, !ends ? -1 : left > 0 ? (int)left : 0);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0 && p[0].revents)
            return true;
        if (n == 0 && ends)
            return false;
        if (n > 0 && p[1].revents)
            take_call(s);
    }
}

/* One piece of a ring. False: there is none. */
static bool empty(struct bide__sink *s, struct bide__lines *l)
{
    uint64_t at = atomic_load_explicit(&l->read, memory_order_relaxed);
    uint64_t n = atomic_load_explicit(&l->written, memory_order_acquire) - at;

    if (n == 0)
        return false;
    size_t from = (size_t)(at - l->base) & (l->size - 1);
    size_t len = n < l->size - from ? (size_t)n : l->size - from, used = len;
    while (used > 0 && l->bytes[from + used - 1] == '\0')
        used--; /* the padding */
    uint64_t lost = sink_write(s, l->bytes + from, used);
    if (lost)
        atomic_fetch_add_explicit(&s->dropped, lost, memory_order_relaxed);
    atomic_store_explicit(&l->read, at + len, memory_order_release);
    return true;
}

static bool empty_all(struct bide__sink *s)
{
    bool any = false;
    for (size_t i = 0; i < s->n; i++)
        any |= empty(s, &s->lines[i]);
    return any;
}

/* Whether there is another target, and everything meant for the old one has
 * been flushed. */
static bool may_turn(struct bide__sink *s)
{
    uint32_t generation = atomic_load(&s->generation);
    for (size_t i = 0; i < s->n; i++)
        if (atomic_load_explicit(&s->lines[i].turned, memory_order_acquire) !=
            generation)
            return false;
    return atomic_load(&s->next) != NULL;
}

/* A ring has at most two pieces. */
static void turn(struct bide__sink *s)
{
    empty_all(s);
    bide__target_free(s->target);
    s->target = atomic_exchange(&s->next, NULL);
    s->until_ms = 0;
}

/* Leaves all signals to other threads; exceeding the file size limit is an
 * error of write(), not fatal (SIGXFSZ). */
static void *work(void *arg)
{
    struct bide__sink *s = arg;
    struct pollfd p = { .fd = s->wake_fd, .events = POLLIN };
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_setname_np(pthread_self(), "bide-log");
    for (;;) {
        bool ends = atomic_load(&s->stopping), turns = may_turn(s);
        bool any = empty_all(s);
        if (turns)
            turn(s);
        if (ends && !any)
            return NULL;
        if (!any && !ends && poll(&p, 1, -1) > 0)
            take_call(s);
    }
}

/* ===== life ===== */

static bool lines_init(struct bide__lines *l, struct bide__sink *s, size_t size)
{
    l->sink = s;
    l->size = size;
    l->bytes = malloc(size); /* pages that no line reaches stay untouched */
    return l->bytes != NULL;
}

static void release(struct bide__sink *s)
{
    bide__target_free(atomic_exchange(&s->next, NULL));
    bide__target_free(s->target);
    if (s->wake_fd >= 0)
        close(s->wake_fd);
    for (size_t i = 0; i < s->n; i++)
        free(s->lines[i].bytes);
    free(s);
}

struct bide__sink *bide__sink_new(struct bide__target *to, size_t n,
                                  size_t size)
{
    size_t bytes = sizeof(struct bide__sink) + n * sizeof(struct bide__lines);
    struct bide__sink *s = aligned_alloc(64, (bytes + 63) / 64 * 64);
    bool fine = true;

    if (!s)
        return NULL;
    memset(s, 0, bytes);
    s->n = n;
    s->target = to;
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (size_t i = 0; i < n; i++)
        fine &= lines_init(&s->lines[i], s, size);
    if (fine && s->wake_fd >= 0 &&
        pthread_create(&s->thread, NULL, work, s) == 0)
        return s;
    s->target = NULL;
    release(s);
    return NULL;
}

void bide__sink_use(struct bide__sink *s, struct bide__target *to)
{
    bide__target_free(atomic_exchange(&s->next, to));
    atomic_fetch_add(&s->generation, 1);
    wake(s);
}

/* A thread that is stuck in write() is abandoned, with all that it uses. */
void bide__sink_free(struct bide__sink *s)
{
    struct timespec until;

    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        bide__lines_flush(&s->lines[i]);
    atomic_store(&s->stopping, true);
    atomic_store(&s->called, false);
    wake(s);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += JOIN_S;
    if (pthread_timedjoin_np(s->thread, NULL, &until) == 0)
        release(s);
    else
        pthread_detach(s->thread);
}

uint64_t bide__sink_dropped(const struct bide__sink *s)
{
    return atomic_load_explicit(&s->dropped, memory_order_relaxed);
}

struct bide__lines *bide__sink_lines(struct bide__sink *s, size_t i)
{
    return &s->lines[i];
}
