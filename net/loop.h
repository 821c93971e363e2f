/* net/loop.h: one thread's event loop: epoll, a timer wheel, and one reading of
 * the clock each time epoll_wait() returns.
 *
 *     struct net_loop loop;
 *     if (net_loop_init(&loop) < 0)
 *         die(errno);
 *     conn->io.ready = on_ready;
 *     net_loop_add(&loop, &conn->io, fd);       // once; edge-triggered
 *     net_timer_set(&loop, &conn->timer, loop.now_ns + BIDE_SECOND);
 *     while (!stop)
 *         net_loop_step(&loop);
 *     net_loop_done(&loop);
 *
 * A descriptor is registered once, for everything, and edge-triggered: no
 * epoll_ctl() per request. The handler of "ready" must remember it until a call
 * returns EAGAIN (net/conn.h does).
 *
 * An object that is freed while events are dispatched may be referenced by a
 * pending event. net_loop_bury() therefore keeps its memory until the iteration
 * is over.
 *
 * Threads: owned; net_loop_wake() alone may be called by others. */
#ifndef BIDE_NET_LOOP_H
#define BIDE_NET_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

#include "base/list.h"
#include "run/wheel.h"

/* Something with a descriptor. `ready` gets the EPOLL... bits; it is never
 * called once fd is negative. */
struct net_io {
    void (*ready)(struct net_io *io, unsigned events);
    int fd;
    int epoll_fd; /* that watches it */
};

/* Something that happens at a time. Never early, and at most a millisecond late
 * unless the loop is busy. */
struct net_timer {
    struct bide__timer timer; /* first: the wheel hands this out */
    void (*fire)(struct net_timer *timer);
};

/* Something to be done soon, from the loop itself: after the event or timer
 * that is being handled, and at most once for each of those. An object that
 * wants something from another uses a task, so that the other one is never in
 * the middle of something. All zero but `run` is one that is not queued. */
struct net_task {
    struct bide__list queue;
    void (*run)(struct net_task *task);
};

/* Memory to be freed after the iteration: the first bytes of the object. */
struct net_grave {
    struct net_grave *next;
    void (*free)(void *loop_user, struct net_grave *grave);
};

struct net_loop {
    int epoll_fd, wake_fd;
    int64_t now_ns;            /* as of the last return of epoll_wait() */
    int64_t (*clock_ns)(void); /* bide_now_ns(), except in tests */
    struct bide__list tasks;   /* queued, with ... */
    struct bide__list mark;    /* ... the end of this turn among them */
    struct bide__list last;    /* queued for the end of the iteration */
    struct net_grave *graves;
    void *user;                           /* passed to `free` of graves */
    void (*woken)(struct net_loop *loop); /* after net_loop_wake(); or NULL */
    struct net_io waker;
    uint64_t n_waits, n_events;
    struct bide__wheel wheel;
};

/* -1 and errno. */
int net_loop_init(struct net_loop *loop);
void net_loop_done(struct net_loop *loop);

/* Watches fd for all events, edge-triggered; net_loop_add_level only for
 * reading, level-triggered (listeners; `exclusive`: one that others watch too).
 * -1 and errno. */
int net_loop_add(struct net_loop *loop, struct net_io *io, int fd);
int net_loop_add_level(struct net_loop *loop, struct net_io *io, int fd,
                       int exclusive);
void net_loop_remove(struct net_loop *loop, struct net_io *io);

/* Removes it and closes fd, which is -1 then. close() alone removes it only when
 * no other process has a copy: a child between fork() and exec() has one, and
 * its events would come after the memory of io is gone. */
void net_io_close(struct net_io *io);

/* Waits for events, and dispatches all of them. */
void net_loop_step(struct net_loop *loop);

/* The same without waiting: for tests. */
void net_loop_poll(struct net_loop *loop);

/* Makes the loop call `woken` soon. From any thread. */
void net_loop_wake(struct net_loop *loop);

void net_loop_bury(struct net_loop *loop, struct net_grave *grave,
                   void (*free)(void *loop_user, struct net_grave *grave));

/* A time this long after another; BIDE_FOREVER stays FOREVER. */
static inline int64_t net_after(int64_t at_ns, int64_t ns)
{
    return at_ns > INT64_MAX - ns ? INT64_MAX : at_ns + ns;
}

/* Queues a task unless it is queued; removes it if it is. */
void net_task_later(struct net_loop *loop, struct net_task *task);

/* The same for the end of the iteration, when all events and timers have been
 * handled: for what becomes cheaper if many have asked for it. */
void net_task_last(struct net_loop *loop, struct net_task *task);
static inline void net_task_cancel(struct net_task *task)
{
    if (bide__list_has(&task->queue))
        bide__list_remove(&task->queue);
}

static inline void net_timer_set(struct net_loop *loop, struct net_timer *t,
                                 int64_t at_ns)
{
    bide__wheel_set(&loop->wheel, &t->timer, at_ns);
}

static inline void net_timer_cancel(struct net_loop *loop, struct net_timer *t)
{
    if (bide__timer_is_set(&t->timer))
        bide__wheel_cancel(&loop->wheel, &t->timer);
}

#endif
