/* What people are told: a live line while it waits, on a terminal; a line for
 * each wait with --verbose; and why it gave up, unless --quiet. */
#include "cmd/run/progress.h"

#include <string.h>
#include <unistd.h>

#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/run/cmd.h"

/* A wait shorter than this is over before it can be read. */
enum { SHORT_NS = 200 * 1000 * 1000, TICK_NS = 100 * 1000 * 1000 };

static uint32_t attempts_of(const struct run *r)
{
    return bide_dep_policy(r->dep)->attempts;
}

/* As a shell says it. */
void print_not_started(const struct run *r)
{
    if (!r->quiet)
        complain("run", "%s: %s", r->args->command[0], strerror(r->last.err));
}

/* "attempt 2 of 4: exit 7" */
static void say_last(const struct run *r, char *text, size_t size)
{
    char ending[32], of[24];

    run_of_attempts(attempts_of(r), of, sizeof of);
    if (!r->ended)
        snprintf(text, size, "attempt 1%s", of);
    else
        snprintf(text, size, "attempt %u%s: %s", r->attempt, of,
                 run_ending_text(&r->last, ending, sizeof ending));
}

/* ===== waiting ===== */

static const char *what_for(bide_reason reason)
{
    switch (reason) {
    case BIDE_BECAUSE_QUEUED:
        return "waiting for a place, at most";
    case BIDE_BECAUSE_PACED:
        return "next at the rate that is allowed in";
    default:
        return "next in";
    }
}

/* What the next attempt reads of what the last one has taken. */
static void say_input(const struct run *r, char *text, size_t size)
{
    int64_t n = r->ended ? feed_replayed(&r->feed) : 0;

    text[0] = '\0';
    if (n > 0)
        snprintf(text, size, ", with the same %lld byte%s of standard input",
                 (long long)n, n == 1 ? "" : "s");
}

void print_wait(struct run *r, const bide_decision *d)
{
    char last[64], wait[32], input[80];

    if (!r->args->verbose || r->quiet)
        return;
    say_last(r, last, sizeof last);
    say_input(r, input, sizeof input);
    complain("run", "%s, %s %s%s", last, what_for(d->reason),
             bide__brief_duration(d->at_ns - r->now, wait, sizeof wait), input);
}

/* "3.2s", "1m05s" */
static void say_left(int64_t left, char *text, size_t size)
{
    int64_t tenths = (left + TICK_NS - 1) / TICK_NS, s = tenths / 10;

    if (s >= 60)
        snprintf(text, size, "%lldm%02llds", (long long)(s / 60),
                 (long long)(s % 60));
    else
        snprintf(text, size, "%lld.%llds", (long long)s,
                 (long long)(tenths % 10));
}

/* Where there is no room for all of it, what changes is worth most. */
static void show(struct run *r, const bide_decision *d, int64_t left)
{
    struct paint p = paint_for(stderr);
    char last[64], in[32], line[160], of[16] = "";
    int width = terminal_width(stderr) - 1; /* the last column may wrap */

    say_last(r, last, sizeof last);
    say_left(left, in, sizeof in);
    if (snprintf(line, sizeof line, "bide: %s, %s %s", last,
                 what_for(d->reason), in) > width) {
        if (!run_is_unlimited(attempts_of(r)))
            snprintf(of, sizeof of, "/%u", attempts_of(r));
        snprintf(line, sizeof line, "%u%s %s", r->attempt, of, in);
    }
    fprintf(stderr, "\r%s%.*s%s\033[K", p.dim, width, line, p.plain);
    fflush(stderr);
    r->line_shown = true;
}

int64_t print_countdown(struct run *r, const bide_decision *d)
{
    int64_t left = d->at_ns - r->now;

    if (!r->terminal || left <= 0 || (!r->line_shown && left < SHORT_NS) ||
        !terminal_is_ours(&r->signals))
        return d->at_ns;
    show(r, d, left);
    return d->at_ns - (left - 1) / TICK_NS * TICK_NS;
}

void print_clear(struct run *r)
{
    if (!r->line_shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    r->line_shown = false;
}

/* ===== giving up ===== */

/* Why, in the words of somebody who runs a command. */
static void say_why(const struct run *r, bide_reason reason, char *text,
                    size_t size)
{
    char ending[32];
    const char *last = run_ending_text(&r->last, ending, sizeof ending);

    switch (reason) {
    case BIDE_BECAUSE_PERMANENT:
        snprintf(text, size, "%s is not worth another attempt", last);
        break;
    case BIDE_BECAUSE_NOT_IDEMPOTENT:
        snprintf(text, size, "%s, and --at-most-once: it is not run again",
                 last);
        break;
    case BIDE_BECAUSE_NOT_REPLAYABLE:
        snprintf(text, size, "%s, and its standard input could not be kept: %s",
                 last, strerror(r->feed.lost));
        break;
    case BIDE_BECAUSE_UPSTREAM_RETRIES:
        snprintf(text, size, "%s, and the `bide run` above retries", last);
        break;
    default:
        if (r->ended)
            snprintf(text, size, "%s, and %s", last, bide_reason_text(reason));
        else
            snprintf(text, size, "%s", bide_reason_text(reason));
    }
}

static void say_how_long(const struct run *r, char *text, size_t size)
{
    char took[32];

    snprintf(text, size, "%u attempt%s in %s", r->attempt,
             r->attempt == 1 ? "" : "s",
             bide__brief_duration(r->now - r->began_ns, took, sizeof took));
}

void print_end(struct run *r, const bide_decision *d)
{
    char why[200], how_long[64], until[32];

    if (r->quiet || d->reason == BIDE_BECAUSE_CANCELLED)
        return;
    if (d->reason == BIDE_BECAUSE_SUCCESS) {
        say_how_long(r, how_long, sizeof how_long);
        if (r->args->verbose)
            complain("run", "%s after %s",
                     r->args->until == UNTIL_SUCCESS ? "succeeded" : "ended",
                     how_long);
        return;
    }
    if (r->ended && r->last.how == ENDED_NOT_STARTED && r->attempt == 1)
        return; /* that has been told, and is all there is to say */
    say_why(r, d->reason, why, sizeof why);
    say_how_long(r, how_long, sizeof how_long);
    if (r->ended)
        complain("run", "gave up after %s: %s", how_long, why);
    else if (d->at_ns != BIDE_FOREVER && d->at_ns > r->now)
        complain("run", "not run: %s, for another %s", why,
                 bide__brief_duration(d->at_ns - r->now, until, sizeof until));
    else
        complain("run", "not run: %s", why);
}
