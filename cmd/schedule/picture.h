/* The waits of a policy, drawn. */
#ifndef BIDE_CMD_SCHEDULE_PICTURE_H
#define BIDE_CMD_SCHEDULE_PICTURE_H

struct schedule;
struct wait;

/* So many waits at the most are shown in a table, and drawn. */
enum { SCHEDULE_ROWS = 12 };

/* Draws when each attempt begins, if attempts took no time: how likely, over
 * time, and nothing outside of what is possible. `n` waits are shown. */
void picture_print(const struct schedule *s, const struct wait *waits, int n,
                   int width);

#endif
