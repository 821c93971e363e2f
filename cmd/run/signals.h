/* bide run: signals that come for the command, and the terminal. */
#ifndef BIDE_CMD_RUN_SIGNALS_H
#define BIDE_CMD_RUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct signals {
    int fd;              /* where they arrive */
    sigset_t original;   /* the mask that commands are to have */
    int terminal;        /* of ours; -1: none */
    pid_t group;         /* ours */
    bool in_pipeline;    /* others of it may need the terminal */
    pid_t sender;        /* of the last that signals_next() gave; 0: the
                            terminal, or the kernel otherwise */
};

int signals_init(struct signals *s); /* 0 or errno */

/* The next one that has come; 0: none. */
int signals_next(struct signals *s);

/* Takes back one that was sent to us and has not been looked at. */
void signals_forget(int number);

/* Whether we may give the terminal away. */
bool terminal_is_ours(const struct signals *s);
void terminal_give(const struct signals *s, pid_t group);

/* Stops until somebody lets us go on; all of our job, if it was the command that
 * had Ctrl-Z from the terminal. */
void stop_ourselves(bool job);

/* Ends this process by a signal, as a shell wants to see it. Returns if it is
 * one that does not end us. */
void die_by(int signal);

#endif
