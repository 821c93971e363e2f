/* The answer first: what failed before, and what would have failed. */
#include "replay/answer.h"

#include <string.h>

#include "base/json.h"
#include "base/people.h"
#include "replay/log.h"
#include "replay/traffic.h"

typedef unsigned long long count; /* for %llu */

const char *replay_share(uint64_t part, uint64_t all, char buffer[24])
{
    double percent = all ? 100.0 * (double)part / (double)all : 0;

    if (part && percent < 0.005)
        snprintf(buffer, 24, "<0.01%%");
    else
        snprintf(buffer, 24, "%.*f%%", part ? 2 : 0, percent);
    return buffer;
}

/* ===== one policy ===== */

static uint64_t refused(const struct traffic *t)
{
    uint64_t n = 0;

    for (int i = 0; i < BIDE_N_REASONS; i++)
        n += t->refused[i];
    return n;
}

void replay_print_answer(FILE *out, const struct traffic *t, int width)
{
    const bide_stats *s = &t->stats;
    double extra = traffic_extra(s->attempts, s->calls);
    char before[24], after[24], line[400];
    size_t n = (size_t)snprintf(
        line, sizeof line,
        "Failed before: %llu of %llu calls (%s). After: %llu (%s), with %.1f%% "
        "%s attempts.",
        (count)t->failed, (count)s->calls,
        replay_share(t->failed, s->calls, before), (count)t->lost,
        replay_share(t->lost, s->calls, after),
        extra < 0 ? -100 * extra : 100 * extra, extra < 0 ? "fewer" : "more");

    if (t->newly && n < sizeof line)
        snprintf(line + n, sizeof line - n,
                 " Of those %llu, %llu had not failed in the log: the policy "
                 "refused them, or its timeout was too short.",
                 (count)t->lost, (count)t->newly);
    bide__print_wrapped(out, line, 0, 0, width);
}

/* ===== several ===== */

const struct traffic *replay_best(const struct traffic *t, size_t n)
{
    const struct traffic *best = t;

    for (size_t i = 1; i < n; i++)
        if (t[i].lost < best->lost ||
            (t[i].lost == best->lost &&
             t[i].stats.attempts < best->stats.attempts))
            best = &t[i];
    return best;
}

static void json_row(FILE *out, const struct traffic *t,
                     const struct replay_log *log)
{
    const bide_stats *s = &t->stats;
    struct bide__json j;

    bide__json_init(&j, out, false);
    bide__json_object(&j, NULL);
    bide__json_text(&j, "policy", t->name);
    bide__json_count(&j, "calls", s->calls);
    bide__json_count(&j, "failed_in_log", t->failed);
    bide__json_count(&j, "failed_after", t->lost);
    bide__json_count(&j, "rescued", t->rescued);
    bide__json_count(&j, "newly_failed", t->newly);
    bide__json_count(&j, "refused", refused(t));
    bide__json_count(&j, "attempts", s->attempts);
    bide__json_number(&j, "extra_load", traffic_extra(s->attempts, s->calls));
    bide__json_number(&j, "breaker_open_ms",
                      (double)traffic_open_time(t) / 1e6);
    bide__json_flag(&j, "latency_known", log->has_latency);
    bide__json_end(&j);
    bide__json_done(&j);
}

static void text_row(FILE *out, const struct traffic *t, int name)
{
    const bide_stats *s = &t->stats;
    char share[24], open[32];

    fprintf(out, "%-*s %8llu %7s %8llu %7llu %8llu %9llu %+6.1f%% %8s\n", name,
            t->name, (count)t->lost, replay_share(t->lost, s->calls, share),
            (count)t->rescued, (count)t->newly, (count)refused(t),
            (count)s->attempts, 100 * traffic_extra(s->attempts, s->calls),
            bide__brief_duration(traffic_open_time(t), open, sizeof open));
}

void replay_print_compared(FILE *out, bool json, int width,
                           const struct traffic *t, size_t n,
                           const struct replay_log *log)
{
    const struct traffic *best = replay_best(t, n);
    char share[24], line[400];
    int name = (int)strlen("(the log)");

    for (size_t i = 0; i < n; i++) {
        if (json)
            json_row(out, &t[i], log);
        if ((int)strlen(t[i].name) > name)
            name = (int)strlen(t[i].name);
    }
    if (json)
        return;
    snprintf(
        line, sizeof line,
        "Failed before: %llu of %llu calls (%s). After: %llu under %s, the "
        "fewest of %zu policies, with %+.1f%% attempts.",
        (count)t->failed, (count)t->stats.calls,
        replay_share(t->failed, t->stats.calls, share), (count)best->lost,
        best->name, n,
        100 * traffic_extra(best->stats.attempts, best->stats.calls));
    bide__print_wrapped(out, line, 0, 0, width);
    fprintf(out, "\n%-*s %8s %7s %8s %7s %8s %9s %7s %8s\n", name, "POLICY",
            "FAILED", "", "RESCUED", "NEWLY", "REFUSED", "ATTEMPTS", "EXTRA",
            "OPEN");
    fprintf(out, "%-*s %8llu %7s\n", name, "(the log)", (count)t->failed,
            share);
    for (size_t i = 0; i < n; i++)
        text_row(out, &t[i], name);
    fputs(
        "\nFAILED: calls that fail; RESCUED: of those that failed in the log, "
        "now fine;\nNEWLY: failed, though fine in the log; REFUSED: before "
        "the first attempt;\nOPEN: how long the breaker was.\n\n",
        out);
    if (!log->has_latency)
        fputs("The log has no latency: attempts are taken to last no time.\n",
              out);
    bide__print_wrapped(out, "Assumed:", 0, 0, width);
    bide__print_wrapped(out, traffic_assumes, 0, 0, width);
}
