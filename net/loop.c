/* The event loop. Order within an iteration: events, timers, what was left for the
 * end, deferred frees. Tasks run after each event, timer, and round of the end. */
#include "net/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/list.h"
#include "bide/backoff.h"
#include "bide/policy.h"
#include "bide/run.h"

enum {
    EVENTS_AT_ONCE = 256,
    LAST_ROUNDS = 4, /* what is left then waits for the next iteration */
};

static void on_wake(struct net_io *io, unsigned events)
{
    struct net_loop *loop = bide__container_of(io, struct net_loop, waker);
    uint64_t count;

    (void)events;
    if (read(io->fd, &count, sizeof count) > 0 && loop->woken)
        loop->woken(loop);
}

int net_loop_init(struct net_loop *loop)
{
    memset(loop, 0, sizeof *loop);
    loop->clock_ns = bide_now_ns;
    bide__list_init(&loop->tasks);
    bide__list_init(&loop->last);
    loop->now_ns = bide_now_ns();
    bide__wheel_init(&loop->wheel, loop->now_ns, BIDE_MILLISECOND);
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epoll_fd < 0)
        return -1;
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    loop->waker.ready = on_wake;
    if (loop->wake_fd >= 0 &&
        net_loop_add_level(loop, &loop->waker, loop->wake_fd, 0) == 0)
        return 0;
    net_loop_done(loop);
    return -1;
}

static void dig(struct net_loop *loop)
{
    while (loop->graves) {
        struct net_grave *grave = loop->graves;
        loop->graves = grave->next;
        grave->free(loop->user, grave);
    }
}

void net_loop_done(struct net_loop *loop)
{
    int saved = errno;
    dig(loop);
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    close(loop->epoll_fd);
    errno = saved;
}

static int watch(struct net_loop *loop, struct net_io *io, int fd,
                 uint32_t events)
{
    struct epoll_event e = { .events = events, .data.ptr = io };
    if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0)
        return -1;
    io->fd = fd;
    io->epoll_fd = loop->epoll_fd;
    return 0;
}

int net_loop_add(struct net_loop *loop, struct net_io *io, int fd)
{
    return watch(loop, io, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

int net_loop_add_level(struct net_loop *loop, struct net_io *io, int fd,
                       int exclusive)
{
    return watch(loop, io, fd, exclusive ? EPOLLIN | EPOLLEXCLUSIVE : EPOLLIN);
}

void net_loop_remove(struct net_loop *loop, struct net_io *io)
{
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, io->fd, NULL);
    io->fd = -1;
}

void net_io_close(struct net_io *io)
{
    epoll_ctl(io->epoll_fd, EPOLL_CTL_DEL, io->fd, NULL);
    close(io->fd);
    io->fd = -1;
}

void net_loop_wake(struct net_loop *loop)
{
    uint64_t one = 1;
    while (write(loop->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

void net_loop_bury(struct net_loop *loop, struct net_grave *grave,
                   void (*free)(void *loop_user, struct net_grave *grave))
{
    grave->free = free;
    grave->next = loop->graves;
    loop->graves = grave;
}

void net_task_later(struct net_loop *loop, struct net_task *task)
{
    if (!bide__list_has(&task->queue))
        bide__list_append(&loop->tasks, &task->queue);
}

void net_task_last(struct net_loop *loop, struct net_task *task)
{
    if (!bide__list_has(&task->queue))
        bide__list_append(&loop->last, &task->queue);
}

/* Runs the tasks of a queue that are there now. What they queue runs next time,
 * after others have had their turn. */
static void run_all(struct net_loop *loop, struct bide__list *queue)
{
    bide__list_append(queue, &loop->mark);
    while (queue->next != &loop->mark) {
        struct net_task *task =
            bide__container_of(queue->next, struct net_task, queue);
        net_task_cancel(task);
        task->run(task);
    }
    bide__list_remove(&loop->mark);
}

static bool has_tasks(const struct net_loop *loop)
{
    return !bide__list_empty(&loop->tasks);
}

static bool has_last(const struct net_loop *loop)
{
    return !bide__list_empty(&loop->last);
}

static void run_tasks(struct net_loop *loop)
{
    if (has_tasks(loop))
        run_all(loop, &loop->tasks);
}

/* Rounded up: a timer that is not due yet must not make the loop spin. */
static int wait_ms(const struct net_loop *loop)
{
    int64_t at = bide__wheel_next(&loop->wheel);
    if (has_tasks(loop) || has_last(loop))
        return 0;
    if (at == BIDE_FOREVER)
        return -1;
    int64_t in = at - loop->now_ns;
    if (in <= 0)
        return 0;
    in = (in + BIDE_MILLISECOND - 1) / BIDE_MILLISECOND;
    return in > 60000 ? 60000 : (int)in;
}

static void turn(struct net_loop *loop, int timeout_ms)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int n = epoll_wait(loop->epoll_fd, events, EVENTS_AT_ONCE, timeout_ms);

    loop->now_ns = loop->clock_ns();
    loop->n_waits++;
    run_tasks(loop);
    for (int i = 0; i < n; i++) {
        struct net_io *io = events[i].data.ptr;
        if (io->fd >= 0)
            io->ready(io, events[i].events);
        run_tasks(loop);
    }
    loop->n_events += n > 0 ? (uint64_t)n : 0;
    for (;;) {
        struct bide__timer *t = bide__wheel_expired(&loop->wheel, loop->now_ns);
        if (!t)
            break;
        struct net_timer *timer = (struct net_timer *)t;
        timer->fire(timer);
        run_tasks(loop);
    }
    for (int i = 0; i < LAST_ROUNDS && has_last(loop); i++) {
        run_all(loop, &loop->last);
        run_tasks(loop);
    }
    dig(loop);
}

void net_loop_step(struct net_loop *loop)
{
    turn(loop, wait_ms(loop));
}
void net_loop_poll(struct net_loop *loop)
{
    turn(loop, 0);
}
