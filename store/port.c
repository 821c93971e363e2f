/* Ports: where an event loop submits and reaps.
 *
 * The descriptor is an epoll instance with two others in it: an eventfd, which
 * the store's thread writes once for many results, and a timer for the oldest
 * operation. All have the same timeout, so the timer is set once for all that
 * were submitted since, not for each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "store/job.h"

static bool watch(const bide_store_port *port, int fd)
{
    struct epoll_event event = { .events = EPOLLIN };
    return fd >= 0 && epoll_ctl(port->fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void close_all(bide_store_port *port)
{
    const int fds[] = { port->timer_fd, port->event_fd, port->fd };
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(port);
}

int bide_store_port_new(bide_store_port **ret, bide_store *store)
{
    if (!ret || !store)
        return BIDE_EINVAL;
    bide_store_port *port = calloc(1, sizeof *port);
    if (!port)
        return BIDE_ENOMEM;
    port->store = store;
    bide__list_init(&port->pending);
    port->done_end = &port->done;
    port->fd = epoll_create1(EPOLL_CLOEXEC);
    port->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    port->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (port->fd < 0 || !watch(port, port->event_fd) ||
        !watch(port, port->timer_fd)) {
        close_all(port);
        return BIDE_ENOMEM;
    }
    *ret = port;
    return 0;
}

int bide_store_port_fd(const bide_store_port *port)
{
    return port->fd;
}

static struct bide__store_job *oldest(const bide_store_port *port)
{
    return bide__list_empty(&port->pending)
               ? NULL
               : bide__container_of(port->pending.next, struct bide__store_job,
                                    pending);
}

/* Sets the timer, or stops it (0). Either way it is no longer readable. */
static void arm(bide_store_port *port, int64_t at_ns)
{
    struct itimerspec at = {
        .it_value = { .tv_sec = (time_t)(at_ns / BIDE_SECOND),
                      .tv_nsec = (long)(at_ns % BIDE_SECOND) },
    };
    timerfd_settime(port->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
    port->armed_ns = at_ns;
}

int bide_store_submit(bide_store_port *port, bide_store_op *op)
{
    struct bide__store_job *job;
    if (!port || !op)
        return BIDE_EINVAL;
    int rc = bide__store_job_new(&job, op);
    bide_store_op_done(op);
    op->result = BIDE_STORE_DOWN;
    if (rc < 0)
        return rc;
    bide_store *store = port->store;
    job->theirs = op;
    job->port = port;
    pthread_mutex_lock(&store->lock);
    op->_job = job;
    bide__list_append(&port->pending, &job->pending);
    bide__store_enqueue(store, job, bide_now_ns());
    if (port->armed_ns == 0 && !bide__list_empty(&port->pending))
        arm(port, oldest(port)->deadline_ns);
    pthread_mutex_unlock(&store->lock);
    return 0;
}

/* Those whose time is over. */
static void expire(bide_store_port *port, int64_t now_ns)
{
    struct bide__store_job *job;
    while ((job = oldest(port)) != NULL && job->deadline_ns <= now_ns)
        bide__store_late(port->store, job, now_ns);
}

/* Nothing is to be reaped: the descriptor is not readable until something is. */
static void quiet(bide_store_port *port, int64_t now_ns)
{
    eventfd_t n;
    if (port->signalled) {
        port->signalled = false;
        eventfd_read(port->event_fd, &n);
    }
    if (port->armed_ns != 0 && port->armed_ns <= now_ns)
        arm(port, oldest(port) ? oldest(port)->deadline_ns : 0);
}

bide_store_op *bide_store_reap(bide_store_port *port)
{
    if (!port)
        return NULL;
    pthread_mutex_lock(&port->store->lock);
    if (!port->done) {
        int64_t now_ns = bide_now_ns();
        expire(port, now_ns);
        if (!port->done)
            quiet(port, now_ns);
    }
    bide_store_op *op = port->done;
    if (op) {
        port->done = op->_next;
        if (!port->done)
            port->done_end = &port->done;
        op->_next = NULL;
    }
    pthread_mutex_unlock(&port->store->lock);
    return op;
}

/* ===== forgetting ===== */

/* Takes it out of what is to be reaped, if it is there. */
static bool unlink_done(bide_store_port *port, const bide_store_op *op)
{
    bide_store_op **at = &port->done;
    while (*at && *at != op)
        at = &(*at)->_next;
    if (!*at)
        return false;
    *at = op->_next;
    if (!*at)
        port->done_end = at;
    return true;
}

/* A claim that was granted, and that nobody will hear of. */
static void release_late(bide_store_port *port, bide_store_op *op)
{
    struct bide__store_job *job;
    op->verb = BIDE_STORE_RELEASE;
    if (bide__store_job_new(&job, op) == 0)
        bide__store_owe(port->store, job, bide_now_ns());
    else
        port->store->stats.dropped++;
}

void bide_store_forget(bide_store_port *port, bide_store_op *op)
{
    if (!port || !op)
        return;
    pthread_mutex_lock(&port->store->lock);
    if (op->_job)
        bide__store_give_up(port->store, op->_job, bide_now_ns());
    else if (unlink_done(port, op) && op->verb == BIDE_STORE_CLAIM &&
             op->result == BIDE_STORE_FIRST)
        release_late(port, op);
    pthread_mutex_unlock(&port->store->lock);
    bide_store_op_done(op);
}

void bide_store_port_free(bide_store_port *port)
{
    if (!port)
        return;
    for (;;) {
        struct bide__store_job *job;
        pthread_mutex_lock(&port->store->lock);
        job = oldest(port);
        bide_store_op *op = job ? job->theirs : port->done;
        pthread_mutex_unlock(&port->store->lock);
        if (!op)
            break;
        bide_store_forget(port, op);
    }
    close_all(port);
}
