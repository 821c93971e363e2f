/* The last word of a script: what all of it came to. */
#include "replay/summary.h"

#include "base/json.h"
#include "replay/print.h"
#include "replay/replay.h"

void replay_json_ends(struct bide__json *j, const bide_stats *s)
{
    bide__json_integer(j, "calls", (int64_t)s->calls);
    bide__json_integer(j, "attempts", (int64_t)s->attempts);
    bide__json_number(j, "amplification", bide_stats_amplification(s));
    bide__json_integer(j, "retries", (int64_t)s->retries);
    bide__json_integer(j, "hedges", (int64_t)s->hedges);
    bide__json_integer(j, "hedges_won", (int64_t)s->hedges_won);
    bide__json_object(j, "ends");
    for (int i = 0; i < BIDE_N_REASONS; i++)
        if (s->done[i])
            bide__json_integer(j, bide_reason_name((bide_reason)i),
                               (int64_t)s->done[i]);
    bide__json_end(j);
    bide__json_object(j, "breaker_to");
    for (int i = 0; i < 3; i++)
        bide__json_integer(j, bide_breaker_state_name((bide_breaker_state)i),
                           (int64_t)s->breaker_to[i]);
    bide__json_end(j);
}

static void count(FILE *out, uint64_t n, const char *one, const char *many)
{
    fprintf(out, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

void replay_text_ends(FILE *out, const bide_stats *s)
{
    count(out, s->calls, "call", "calls");
    fprintf(out, ", ");
    count(out, s->attempts, "attempt", "attempts");
    fprintf(out, " (%.2f per call): ", bide_stats_amplification(s));
    count(out, s->retries, "retry", "retries");
    if (s->hedges || s->hedges_refused) {
        fprintf(out, ", ");
        count(out, s->hedges, "hedge", "hedges");
        fprintf(out, " (%llu won", (unsigned long long)s->hedges_won);
        if (s->hedges_refused)
            fprintf(out, ", %llu refused",
                    (unsigned long long)s->hedges_refused);
        fprintf(out, ")");
    }
    fprintf(out, "\nended by:");
    bool first = true;
    for (int i = 0; i < BIDE_N_REASONS; i++) {
        if (!s->done[i])
            continue;
        fprintf(out, "%s %s %llu", first ? "" : ",",
                bide_reason_name((bide_reason)i),
                (unsigned long long)s->done[i]);
        first = false;
    }
    fprintf(out, "\nbreaker: opened %llu, half-open %llu, closed %llu times\n",
            (unsigned long long)s->breaker_to[BIDE_BREAKER_OPEN],
            (unsigned long long)s->breaker_to[BIDE_BREAKER_HALF_OPEN],
            (unsigned long long)s->breaker_to[BIDE_BREAKER_CLOSED]);
}

static void print_leftovers(FILE *out, const struct replay *r)
{
    if (r->unused)
        fprintf(out, "%llu of the results found no attempt that was running\n",
                (unsigned long long)r->unused);
    if (r->unfinished)
        fprintf(out, "%llu of the calls had not ended, and were cancelled\n",
                (unsigned long long)r->unfinished);
}

void replay_print_summary(struct replay_printer *p, const struct replay *r)
{
    bide_stats s;
    struct bide__json j;

    bide_dep_stats(r->dep, r->now_ns, &s);
    if (!p->json) {
        if (p->rows)
            fputc('\n', p->out);
        replay_text_ends(p->out, &s);
        print_leftovers(p->out, r);
        return;
    }
    bide__json_init(&j, p->out, false);
    bide__json_object(&j, NULL);
    bide__json_object(&j, "summary");
    replay_json_ends(&j, &s);
    bide__json_integer(&j, "retries_dropped", (int64_t)s.retries_dropped);
    bide__json_integer(&j, "hedges_refused", (int64_t)s.hedges_refused);
    bide__json_integer(&j, "unused_results", (int64_t)r->unused);
    bide__json_integer(&j, "unfinished", (int64_t)r->unfinished);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
}
