/* A clock that moves when everybody waits. */
#include "virtual.h"

#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"

enum { SLEEPERS = 256 };

struct seat {
    struct queue_worker *worker;
    pthread_t thread;
    bool waits;         /* in ppoll(), with these: */
    struct pollfd *fds;
    nfds_t n;
    int64_t until_ns;
    int spins;          /* waits in a row that ended before they began */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int64_t now_ns = INT64_C(1790000000) * BIDE_SECOND;
static struct seat seats[VIRTUAL_WORKERS];
static size_t n_seats;
static int64_t sleepers[SLEEPERS]; /* when each wakes; 0: free */
static size_t n_sleepers;
static int64_t planned_ns = BIDE_FOREVER;
static void (*planned)(void *arg);
static void *planned_arg;

int64_t virtual_now(void)
{
    pthread_mutex_lock(&lock);
    int64_t now = now_ns;
    pthread_mutex_unlock(&lock);
    return now;
}

int64_t virtual_clock(void *arg)
{
    (void)arg;
    return virtual_now();
}

void virtual_at(int64_t at_ns, void (*fn)(void *arg), void *arg)
{
    pthread_mutex_lock(&lock);
    planned_ns = at_ns;
    planned = fn;
    planned_arg = arg;
    pthread_mutex_unlock(&lock);
}

/* ===== when time may move ===== */

/* With the lock. A handler that was started and does not sleep is on its way, to
 * its sleep or to its worker. */
static bool all_wait(void)
{
    size_t running = 0;

    for (size_t i = 0; i < n_seats; i++) {
        struct seat *s = &seats[i];
        if (!s->worker)
            continue;
        running += queue_worker_stats(s->worker)->running;
        if (!s->waits || poll(s->fds, s->n, 0) > 0)
            return false;
    }
    return running == n_sleepers;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void move(void)
{
    int64_t next = planned_ns;

    for (size_t i = 0; i < n_seats; i++)
        if (seats[i].worker)
            next = earlier(next, seats[i].until_ns);
    for (size_t i = 0; i < SLEEPERS; i++)
        if (sleepers[i])
            next = earlier(next, sleepers[i]);
    if (next > now_ns)
        now_ns = next;
    /* Those whose time has come are awake from now on. */
    for (size_t i = 0; i < SLEEPERS; i++)
        if (sleepers[i] && sleepers[i] <= now_ns) {
            sleepers[i] = 0;
            n_sleepers--;
        }
    for (size_t i = 0; i < n_seats; i++)
        seats[i].waits = seats[i].waits && seats[i].until_ns > now_ns;
    pthread_cond_broadcast(&moved);
}

/* Runs what was planned, once. */
static void do_planned(void)
{
    void (*fn)(void *arg) = NULL;

    pthread_mutex_lock(&lock);
    if (now_ns >= planned_ns) {
        fn = planned;
        planned_ns = BIDE_FOREVER;
    }
    pthread_mutex_unlock(&lock);
    if (fn)
        fn(planned_arg);
}

void virtual_sleep(const struct queue_job *job, int64_t ns)
{
    size_t i = 0;

    if (ns <= 0)
        return;
    pthread_mutex_lock(&lock);
    while (sleepers[i])
        assert(++i < SLEEPERS);
    int64_t until = sleepers[i] = now_ns + ns;
    n_sleepers++;
    while (now_ns < until && !atomic_load(&job->stop)) {
        struct timespec real;
        clock_gettime(CLOCK_REALTIME, &real); /* nobody signals a stop */
        real.tv_nsec += 20000000;
        real.tv_sec += real.tv_nsec / 1000000000;
        real.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&moved, &lock, &real);
    }
    if (now_ns < until) { /* stopped */
        sleepers[i] = 0;
        n_sleepers--;
    }
    pthread_mutex_unlock(&lock);
}

/* ===== what is replaced ===== */

int64_t __wrap_bide_now_ns(void);
int __real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit,
                 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit,
                 const sigset_t *mask);

int64_t __wrap_bide_now_ns(void)
{
    return virtual_now();
}

static struct seat *own_seat(void)
{
    for (size_t i = 0; i < n_seats; i++)
        if (pthread_equal(seats[i].thread, pthread_self()))
            return &seats[i];
    abort();
}

static void sit(struct seat *s, struct pollfd *fds, nfds_t n, int64_t until)
{
    s->fds = fds;
    s->n = n;
    s->until_ns = until;
    s->waits = fds != NULL;
}

/* A worker that waits for what is over takes a core, and here it would never end. */
static void must_not_spin(struct seat *s, int64_t until)
{
    s->spins = until > virtual_now() ? 0 : s->spins + 1;
    if (s->spins > 1000000) {
        fprintf(stderr, "a worker spins: it never waits\n");
        abort();
    }
}

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit,
                 const sigset_t *mask)
{
    static const struct timespec none = { 0, 0 }, soon = { 0, 1000000 };
    int64_t until = virtual_now() + limit->tv_sec * BIDE_SECOND + limit->tv_nsec;
    struct seat *s = own_seat();
    const struct timespec *wait = &none;
    struct pollfd copy[8];
    int ready;

    assert(n <= 8);
    must_not_spin(s, until);
    while ((ready = __real_ppoll(fds, n, wait, mask)) == 0) {
        wait = &none;
        do_planned();
        pthread_mutex_lock(&lock);
        memcpy(copy, fds, n * sizeof *fds);
        sit(s, copy, n, until);
        bool over = now_ns >= until;
        if (!over && all_wait())
            move();
        else
            wait = &soon;
        over = now_ns >= until;
        pthread_mutex_unlock(&lock);
        if (over)
            break;
    }
    pthread_mutex_lock(&lock);
    sit(s, NULL, 0, BIDE_FOREVER);
    pthread_mutex_unlock(&lock);
    return ready;
}

/* ===== running ===== */

static void *run(void *arg)
{
    struct seat *s = arg;

    pthread_mutex_lock(&lock); /* until all have seats */
    s->thread = pthread_self();
    pthread_mutex_unlock(&lock);
    queue_worker_run(s->worker);
    pthread_mutex_lock(&lock);
    s->worker = NULL;
    pthread_mutex_unlock(&lock);
    return NULL;
}

void virtual_run(struct queue_worker *const *workers, size_t n)
{
    pthread_t threads[VIRTUAL_WORKERS];

    assert(n <= VIRTUAL_WORKERS);
    pthread_mutex_lock(&lock);
    n_seats = n;
    for (size_t i = 0; i < n; i++) {
        seats[i] = (struct seat){ .worker = workers[i],
                                  .until_ns = BIDE_FOREVER };
        pthread_create(&threads[i], NULL, run, &seats[i]);
        seats[i].thread = threads[i];
    }
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    n_seats = 0;
}
