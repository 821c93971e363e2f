/* bide proxy as two processes: a supervisor that holds the state, and a serving
 * process that does the work.
 *
 *   init ---- supervisor ----+---- serving process      (accepts, asks, answers)
 *             pid that all   |
 *             know           +---- one before it, draining      (upgrade only)
 *
 * Who holds what
 *   supervisor       a copy of each listening socket (kept.h), so that a
 *                    connection which waits in a queue survives the process that
 *                    was to accept it; the memory of breakers and budgets
 *                    (dep_memory.h); the text of the configuration that is
 *                    being served; the program file that is being run. It reads
 *                    no request, no configuration, starts no thread, and keeps
 *                    the rights that it was started with.
 *   serving process  everything else, behind `user` and `sandbox`.
 *
 * Between the two
 *   line (line.h)    serving -> supervisor: "hold NAME" and a descriptor, "drop
 *                    NAME", "notify TEXT" for systemd, which only listens to the
 *                    process it knows. READY=1 among these says that it serves.
 *                    "user NAME", "group NAME", "sandbox" count only from one
 *                    that has read its configuration from disk, before it
 *                    serves: those after it that are started with the text it
 *                    held are bound to the same, and before they read it.
 *   SIGRTMIN         supervisor -> serving, queued, with what to do as its value:
 *                    SIGTERM, SIGHUP, SIGUSR1 as ever; SIGUSR2: another serves
 *                    now, drain. The serving process ignores these signals
 *                    themselves (unless it sends them to itself: the admin
 *                    endpoint does): Ctrl-C and systemd reach both processes,
 *                    and the second time would mean "at once".
 *   SIGRTMIN + 1     the kernel -> serving: the supervisor is dead. Drains.
 *
 * What a signal to the supervisor does
 *   SIGTERM, SIGINT  closes its copies, passes it on to all; ends with the last
 *                    of them. Exit code: that of the serving process.
 *   SIGHUP           passed on; a serving process that died is started with the
 *                    file as it is now.
 *   SIGUSR1          passed on to all.
 *   SIGUSR2          upgrade: starts the program that is on disk now, with the
 *                    file as it is now and all rights; when it serves, the one
 *                    before drains. If it does not come to that, the old one
 *                    goes on.
 *
 * What a death means
 *   serving, before it ever served         the supervisor ends, with its code
 *   serving, code 0                        it was told to end (admin): so do we
 *   serving, anything else                 another is started: at once, later
 *                                          with growing, jittered waits. It has
 *                                          the configuration, the sockets and
 *                                          the memory of the one before
 *   the new one of an upgrade, too early   said; the old one goes on
 *   one that drains                        nothing
 *   supervisor                             the serving processes drain and end
 */
#ifndef BIDE_CMD_PROXY_SUPERVISE_H
#define BIDE_CMD_PROXY_SUPERVISE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "config/proxy/conf.h"
#include "proxy/dep_memory.h"
#include "proxy/kept.h"

/* ===== what a serving process is given ===== */

/* The identity of a serving process. The text of a kept configuration comes
 * from a process that clients may have compromised: the supervisor does not
 * trust it with this. Threads: owned. */
struct identity {
    char *user, *group; /* NULL: the supervisor's */
    bool sandbox;
};

/* Threads: owned. */
struct station {
    struct kept kept;  /* sockets; its line is the one to the supervisor */
    int memory;        /* file of breakers and budgets; -1: none */
    int config;        /* text of the kept configuration; -1: read the file */
    unsigned seat;     /* among those that use the memory */
    uint32_t others;   /* bits of the seats of other living processes */
    pid_t supervisor;  /* 0: there is none */
    bool again;        /* another process served here before */
    struct identity as; /* required, whatever `config` says */
};


/* Without a supervisor: sockets of systemd, if there are any. */
void station_alone(struct station *s);

/* Whether a supervisor has started this program, and what it passed: 1 yes, 0
 * no, -1 one of an unknown version. */
int station_inherited(struct station *s);

/* The very beginning of a serving process, and what must wait until it is the
 * user that it will stay: notices the end of the supervisor. */
void station_enter(struct station *s);
void station_watch_supervisor(const struct station *s);

/* Switches to the required identity, before it reads a kept configuration. -1,
 * after a message. */
int station_become(const struct station *s);

/* Tells the supervisor the identity that this process will take on. */
void station_tell_identity(const struct station *s,
                           const struct bide__proxy_conf *conf);

/* Has the supervisor keep the current configuration. */
void station_keep_config(const struct station *s, int text);

/* Blocks the signals that it waits for; a supervised process uses others. */
void station_signals(sigset_t *set);

/* Waits for a signal that is for this process: SIGTERM, SIGINT, SIGHUP,
 * SIGUSR1; SIGUSR2: another process now serves. 0: there was none, and
 * `patience` may be over. */
int station_wait(const struct station *s, const struct timespec *patience);

void station_done(struct station *s);

/* Takes "user NAME" and the like; false: it is none of these. */
bool identity_read(struct identity *id, const char *text);
void identity_done(struct identity *id);

/* ===== the supervisor ===== */

/* Becomes the supervisor; the serving process that it forks returns from here
 * as if it had been called normally, with *ret_station filled: 1. The
 * supervisor does not need config and text, and frees them; it returns when all
 * is over: 0, and *ret_code is its exit code. */
int supervise(char **argv, bide_config *config, int text,
              struct station *ret_station, int *ret_code);

#endif
