/* Scripts: what begins, and what attempts meet, line by line. */
#ifndef BIDE_REPLAY_SCRIPT_H
#define BIDE_REPLAY_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "bide/config.h"
#include "replay/driver.h"

enum replay_event_kind {
    REPLAY_EVENT_BEGIN,
    REPLAY_EVENT_RESULT,
    REPLAY_EVENT_CANCEL,
    REPLAY_EVENT_FORCE,
    REPLAY_EVENT_TICK,
    REPLAY_EVENT_START
};

struct replay_begin {
    const char *name;
    const char *method;
    bide_op op; /* its deadline as a duration */
    const struct replay_outcome *results;
    size_t n_results; /* 0: results come as events, or never */
    uint32_t count;   /* as many calls, ... */
    int64_t every_ns; /* ... this far apart */
};

struct replay_event {
    int64_t at_ns;
    enum replay_event_kind kind;
    uint32_t call;    /* the number of a begin */
    uint32_t attempt; /* RESULT; 0: not said */
    union {
        const struct replay_begin *begin;
        const struct replay_outcome *outcome;
        bide_breaker_mode mode;
        const struct replay_start *start;
    } of;
};

/* Threads: immutable once read. */
struct replay_script {
    struct bide__arena *arena;
    struct replay_event *events;
    size_t n_events, capacity;
    uint32_t n_begins; /* lines that begin calls */
    uint64_t n_calls;  /* all that those begin */
    uint32_t n_bursts; /* lines with a count */
    int64_t wall_s;    /* of time 0; 0: unknown */
};

enum { REPLAY_MAX_CALLS = 1000000, REPLAY_MAX_BURSTS = 1000 };

/* Reads a script. BIDE_EPARSE: the errors are in `notes`; BIDE_ENOMEM. */
int replay_script_read(struct replay_script *script, const char *name,
                       const char *text, size_t len, bide_diagnostics *notes);
void replay_script_done(struct replay_script *script);

#endif
