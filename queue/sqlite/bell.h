/* queue/sqlite/bell.h: telling the workers that there is something to take.
 *
 * Who puts a message touches a file; workers watch it with inotify. Where that does
 * not work (a file system that does not tell), they poll. */
#ifndef BIDE_QUEUE_SQLITE_BELL_H
#define BIDE_QUEUE_SQLITE_BELL_H

#include <stdint.h>

struct broker;
struct sqlite_broker;

/* Opens the bell, and with `listen` an ear for it. Never fails: without it
 * workers poll. */
void bell_open(struct sqlite_broker *s, int listen);
void bell_ring(struct sqlite_broker *s);
void bell_close(struct sqlite_broker *s);

/* The broker's wait_fd() and woken(). */
int bell_fd(struct broker *b, int64_t *ret_poll_ns);
void bell_heard(struct broker *b);

#endif
