/* queue/sqlite/clock.h: the queue's clock.
 *
 *     int64_t now_ms = clock_now_ms(s);
 *
 * Unix time as it was when the machine started, plus the time that has passed
 * since: all processes of one boot share the offset, which is in the database. So
 * a step of the wall clock moves no wait. At the next boot the offset is taken
 * anew from the wall clock, and never goes back behind the last time written. */
#ifndef BIDE_QUEUE_SQLITE_CLOCK_H
#define BIDE_QUEUE_SQLITE_CLOCK_H

#include <stdint.h>

struct sqlite_broker;

/* Reads or sets the offset, in the transaction that is open. 0 or a status. */
int clock_open(struct sqlite_broker *s);
int64_t clock_now_ms(const struct sqlite_broker *s);

/* The offset of a boot that begins with these clocks, `last_ms` having been the
 * last time of the one before. */
int64_t clock_offset(int64_t wall_ns, int64_t boot_ns, int64_t last_ms);

/* What passes on this machine, asleep or not: for leases. A test's clock, if
 * there is one. */
int64_t clock_steady_ns(const struct sqlite_broker *s);

/* Remembers the time, for the next boot. */
int clock_note(struct sqlite_broker *s);

#endif
