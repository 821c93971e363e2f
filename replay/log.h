/* Access logs: calls read from the lines of a web server, in its format. */
#ifndef BIDE_REPLAY_LOG_H
#define BIDE_REPLAY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/format.h"

struct replay_source;

/* Threads: owned. */
struct replay_log {
    struct replay_line *lines;
    size_t n, capacity;
    uint64_t n_read; /* all lines, except blank ones */
    uint64_t n_bad;  /* of those, unparsable; the first of them: */
    struct {
        uint64_t number;
        const char *why;
        char text[61];
    } bad[REPLAY_BAD_SHOWN];
    bool has_latency; /* of one line at least */
    bool disordered;  /* it was not sorted by time */
};

/* One line of a JSON log (log_json.c). */
int replay_log_json(const char *text, size_t len, struct replay_line *ret,
                    bool *ret_has_latency, const char **ret_why);

/* Reads a whole log, and sorts it by time. BIDE_ENOMEM. */
int replay_log_read(struct replay_log *log, const struct replay_format *format,
                    struct replay_source *in);
void replay_log_done(struct replay_log *log);

#endif
