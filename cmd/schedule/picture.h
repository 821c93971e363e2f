/* A chart of the waits of a policy. */
#ifndef BIDE_CMD_SCHEDULE_PICTURE_H
#define BIDE_CMD_SCHEDULE_PICTURE_H

struct schedule;
struct wait;

/* At most this many waits are shown in the table and in the chart. */
enum { SCHEDULE_ROWS = 12 };

/* Draws the distribution of when each attempt begins, as if attempts took no
 * time. `n` waits are shown. */
void picture_print(const struct schedule *s, const struct wait *waits, int n,
                   int width);

#endif
