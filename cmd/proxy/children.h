/* cmd/proxy/children.h: the serving processes of a supervisor. */
#ifndef BIDE_CMD_PROXY_CHILDREN_H
#define BIDE_CMD_PROXY_CHILDREN_H

#include "cmd/proxy/supervise.h"

/* Threads: owned. */
struct child {
    pid_t pid; /* 0: this seat is free */
    int line;
    enum { CHILD_STARTING, CHILD_SERVING, CHILD_DRAINING } state;
    int64_t since_ns; /* it is in that state */
    int program;      /* file that it runs; -1: the supervisor's */
    bool from_disk;   /* its configuration; it then reports this: */
    struct identity as;
};

/* Threads: owned. */
struct supervisor {
    struct child children[DEP_SEATS]; /* by seat */
    struct kept kept;
    struct identity as; /* for the configuration that is kept */
    int memory;
    char *program; /* path, for upgrades */
    int running;   /* the program that serves, open; -1: use the path */
    char **argv;
    sigset_t signals;
    int signal_fd;
    bool served;   /* a child has served before */
    bool stopping; /* asked to end */
    int code;      /* to exit with */
    unsigned deaths;   /* in quick succession */
    int64_t start_ns;  /* when to start the next; BIDE_FOREVER: not at all */
};

/* The one that serves, or will if all goes well; the one that an upgrade has
 * started beside it; or NULL. */
struct child *child_serving(struct supervisor *s);
struct child *child_next(struct supervisor *s);
bool child_any(const struct supervisor *s);

/* Starts one by fork alone: 1 in the child, whose station is filled; 0 in the
 * parent; -1 and errno. */
int child_fork(struct supervisor *s, struct station *ret);

/* Starts one from an open program file, which it then owns; with the
 * configuration that is kept, or with that of the file. -1 and errno. */
int child_start(struct supervisor *s, int program, bool kept_config);

/* Asks it to act on such a signal. */
void child_tell(const struct child *c, int signal);
void child_tell_all(const struct supervisor *s, int signal);

/* It has ended: its seat is free. */
void child_forget(struct child *c);

#endif
