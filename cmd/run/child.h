/* bide run: starting a command, and ending its whole process group. */
#ifndef BIDE_CMD_RUN_CHILD_H
#define BIDE_CMD_RUN_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct signals;

struct child {
    pid_t pid;           /* 0: none */
    bool own_group;      /* its number is also that of its group */
    pid_t witness;       /* in that group; 0: none */
    bool has_terminal;
    volatile int *err;   /* why it could not be executed, once it has ended; 0 */
};

void child_adopt_orphans(void); /* once, before the first */

/* Starts a command with these as its standard files; -1: ours. It has a group
 * of its own, or stays in ours. 0 or errno. If it cannot be executed, that is
 * seen when it has ended. */
int child_start(struct child *c, const struct signals *s, char **command,
                const int files[3], bool own_group);
void child_signal(const struct child *c, int signal); /* to its group */

/* A terminal sends signals to its foreground group, which is not ours. So
 * another process is put into that group: it sends us each INT, QUIT and HUP
 * that arrives there, and remembers the last. */
void child_witness(struct child *c);

/* Releases the witness; returns the signal that it has seen last, or 0. Or that
 * of one that has already ended, by its status. */
int child_testimony(struct child *c);
int child_seen(int status);

#endif
