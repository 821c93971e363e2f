/* A whole log: read line by line through one bounded buffer, kept as 16 bytes a
 * line, and sorted by time.
 *
 * Logs have a resolution of a second, and a busy second has a thousand lines.
 * All of them at its first instant would be a burst that never was, so they are
 * spread evenly over the second, in the order of the log. */
#include "replay/log.h"

#include <stdlib.h>
#include <string.h>

#include "bide/bide.h"
#include "bide/policy.h"
#include "replay/format.h"
#include "replay/source.h"

_Static_assert(sizeof(struct replay_line) == 16, "a million lines in 16 MB");

/* ===== lines ===== */

static bool add_line(struct replay_log *log, const struct replay_line *line)
{
    if (log->n == log->capacity) {
        size_t capacity = log->capacity ? 2 * log->capacity : 4096;
        void *lines = realloc(log->lines, capacity * sizeof log->lines[0]);
        if (!lines)
            return false;
        log->lines = lines;
        log->capacity = capacity;
    }
    if (log->n && line->at_ns < log->lines[log->n - 1].at_ns)
        log->disordered = true;
    log->lines[log->n++] = *line;
    return true;
}

static void note_bad(struct replay_log *log, uint64_t number, const char *text,
                     size_t len, const char *why)
{
    uint64_t i = log->n_bad++;
    if (i >= REPLAY_BAD_SHOWN)
        return;
    log->bad[i].number = number;
    log->bad[i].why = why;
    size_t most = sizeof log->bad[i].text - 1;
    for (size_t k = 0; k < most && k < len; k++) {
        bool plain = text[k] >= ' ' && text[k] <= '~';
        log->bad[i].text[k] = plain ? text[k] : '?';
    }
}

static bool take_line(struct replay_log *log, const struct replay_format *f,
                      uint64_t number, const char *text, size_t len)
{
    struct replay_line line;
    const char *why;
    bool has_latency;

    if (len && text[len - 1] == '\r')
        len--;
    if (len == 0)
        return true;
    log->n_read++;
    if (replay_format_line(f, text, len, &line, &has_latency, &why) < 0) {
        note_bad(log, number, text, len, why);
        return true;
    }
    log->has_latency = log->has_latency || has_latency;
    return add_line(log, &line);
}

/* ===== order ===== */

static void merge(const struct replay_line *from, struct replay_line *to,
                  size_t lo, size_t mid, size_t hi)
{
    size_t a = lo, b = mid;
    for (size_t i = lo; i < hi; i++) {
        bool left = a < mid && (b >= hi || from[a].at_ns <= from[b].at_ns);
        to[i] = left ? from[a++] : from[b++];
    }
}

/* By merging, so that lines of the same time keep their order. */
static bool sort(struct replay_log *log)
{
    struct replay_line *from = log->lines, *to, *spare;
    if (!log->disordered)
        return true;
    to = spare = malloc(log->n * sizeof to[0]);
    if (!spare)
        return false;
    for (size_t run = 1; run < log->n; run *= 2) {
        for (size_t lo = 0; lo < log->n; lo += 2 * run) {
            size_t mid = lo + run < log->n ? lo + run : log->n;
            size_t hi = mid + run < log->n ? mid + run : log->n;
            merge(from, to, lo, mid, hi);
        }
        struct replay_line *swap = from;
        from = to;
        to = swap;
    }
    if (from == spare)
        memcpy(log->lines, spare, log->n * sizeof spare[0]);
    free(spare);
    return true;
}

static void spread(struct replay_log *log)
{
    for (size_t i = 0, end; i < log->n; i = end) {
        int64_t second = log->lines[i].at_ns;
        end = i + 1;
        if (!log->lines[i].whole_second)
            continue;
        while (end < log->n && log->lines[end].at_ns == second &&
               log->lines[end].whole_second)
            end++;
        for (size_t k = i; k < end; k++)
            log->lines[k].at_ns +=
                (int64_t)((double)BIDE_SECOND * (double)(k - i) /
                          (double)(end - i));
    }
}

/* Lines that were written at the end of a request: back to its beginning. Lines
 * with fractions of the same second may be before others now, too. */
static void to_beginnings(struct replay_log *log)
{
    for (size_t i = 0; i < log->n; i++)
        if (log->lines[i].at_end)
            log->lines[i].at_ns -= (int64_t)log->lines[i].latency_us * 1000;
    log->disordered = false;
    for (size_t i = 1; i < log->n && !log->disordered; i++)
        log->disordered = log->lines[i].at_ns < log->lines[i - 1].at_ns;
}

/* ===== reading ===== */

/* A line that does not fit the buffer is read to its end, and counts as bad. */
static bool read_lines(struct replay_log *log, const struct replay_format *f,
                       struct replay_source *in, char *buffer)
{
    size_t have = 0, got;
    uint64_t number = 0;
    bool too_long = false, fine = true;

    while (fine && (got = replay_source_read(in, buffer + have,
                                             REPLAY_LINE_MAX - have)) > 0) {
        char *at = buffer, *end = buffer + have + got, *stop;
        while (fine && (stop = memchr(at, '\n', (size_t)(end - at)))) {
            number++;
            if (!too_long)
                fine = take_line(log, f, number, at, (size_t)(stop - at));
            too_long = false;
            at = stop + 1;
        }
        have = (size_t)(end - at);
        if (have == REPLAY_LINE_MAX || too_long) {
            if (!too_long) {
                log->n_read++;
                note_bad(log, number + 1, at, have, "longer than 65536 bytes");
            }
            too_long = true;
            have = 0;
        }
        memmove(buffer, at, have);
    }
    if (have && !too_long && fine)
        fine = take_line(log, f, number + 1, buffer, have);
    return fine;
}

int replay_log_read(struct replay_log *log, const struct replay_format *format,
                    struct replay_source *in)
{
    char *buffer = malloc(REPLAY_LINE_MAX);
    *log = (struct replay_log){ 0 };
    bool fine = buffer && read_lines(log, format, in, buffer) && sort(log);
    if (fine) {
        spread(log);
        to_beginnings(log);
        fine = sort(log);
    }
    free(buffer);
    if (fine)
        return 0;
    replay_log_done(log);
    return BIDE_ENOMEM;
}

void replay_log_done(struct replay_log *log)
{
    free(log->lines);
    *log = (struct replay_log){ 0 };
}
