/* queue/command_start.h: starting a command from a thread, and cleaning up after it. */
#ifndef BIDE_QUEUE_COMMAND_START_H
#define BIDE_QUEUE_COMMAND_START_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

struct command_child {
    pid_t pid;   /* and its process group */
    int pidfd;
    int out[2];  /* what it writes, standard output and error; -1: ended */
};

/* 0, or errno: then nothing is left of it. */
int command_start(struct command_child *c, char **argv, char **env,
                  const sigset_t *mask, const void *body, size_t len);

/* After the command was waited for: kills and reaps its group, closes all. */
void command_clean_up(struct command_child *c);

#endif
