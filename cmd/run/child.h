/* bide run: starting a command, and ending its whole process group. */
#ifndef BIDE_CMD_RUN_CHILD_H
#define BIDE_CMD_RUN_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct signals;

struct child {
    pid_t pid;           /* and its group; 0: none */
    pid_t witness;       /* in that group; 0: none */
    bool has_terminal;
    volatile int *err;   /* why it could not be executed, once it has ended; 0 */
};

void child_adopt_orphans(void); /* once, before the first */

/* Starts a command with these as its standard files; -1: ours. 0 or errno. If it
 * cannot be executed, that is seen when it has ended. */
int child_start(struct child *c, const struct signals *s, char **command,
                const int files[3]);
void child_signal(const struct child *c, int signal); /* to its group */

/* What a terminal sends, it sends to the group that has it, and that is not
 * ours. So one process more is put into that group: it does nothing but end
 * when INT, QUIT or HUP comes, with that number as its exit code. */
void child_witness(struct child *c);

/* Lets the witness go; the signal that it has seen, or 0. Or that of one that
 * has ended already, by its status. */
int child_testimony(struct child *c);
int child_seen(int status);

#endif
