/* What the worker says: a line for each attempt with --verbose, and in any case what
 * somebody should know: pauses, dead messages, a broker that is away. */
#include "cmd/worker/log.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "bide/run.h"
#include "cmd/common/output.h"
#include "cmd/worker/words.h"

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* ===== JSON ===== */

static const char *const names[] = {
    [QUEUE_ENDED] = "attempt",
    [QUEUE_LOST] = "lost",
    [QUEUE_CONSUMPTION_PAUSED] = "paused",
    [QUEUE_CONSUMPTION_RESUMED] = "resumed",
    [QUEUE_RESCUED] = "rescued",
    [QUEUE_CRASHED] = "crashed",
    [QUEUE_BROKER_AWAY] = "broker_away",
    [QUEUE_BROKER_BACK] = "broker_back",
    [QUEUE_DRAINING] = "draining",
    [QUEUE_ERRORS_COUNT] = "errors_count",
};

static void write_job(struct bide__json *j, const struct queue_event *e)
{
    static const char *const hows[] = { "done", "again", "dead" };
    const struct queue_verdict *v = e->verdict;

    bide__json_text(j, "id", e->job->message->id);
    bide__json_integer(j, "attempt", e->job->attempt);
    bide__json_integer(j, "attempts", e->job->attempts);
    if (!v)
        return;
    bide__json_text(j, "result", hows[v->how]);
    bide__json_text(j, "outcome", e->job->text);
    bide__json_flag(j, "counted", v->counts);
    bide__json_integer(j, "took_ms",
                   (e->job->end_ns - e->job->begin_ns) / BIDE_MILLISECOND);
    if (v->how == BROKER_AGAIN)
        bide__json_integer(j, "again_ms", v->delay_ns / BIDE_MILLISECOND);
    if (v->how == BROKER_DEAD)
        bide__json_text(j, "reason", bide_reason_name(v->reason));
}

static void write_json(const struct worker_log *log,
                       const struct queue_event *e)
{
    struct bide__json j;

    bide__json_init(&j, stderr, false);
    bide__json_object(&j, NULL);
    bide__json_integer(&j, "time_ms", bide_wall_ms());
    bide__json_text(&j, "event", names[e->kind]);
    bide__json_text(&j, "queue", log->queue);
    if (e->job)
        write_job(&j, e);
    if (e->text)
        bide__json_text(&j, "why", e->text);
    if (e->n)
        bide__json_integer(&j, "messages", (int64_t)e->n);
    bide__json_end(&j);
    bide__json_done(&j);
    fflush(stderr);
}

/* ===== text ===== */

static void say_ended(const struct queue_event *e)
{
    char id[WORDS_ID], time[WORDS_TIME];
    const struct queue_job *job = e->job;
    const struct queue_verdict *v = e->verdict;

    fprintf(stderr, "%s attempt %u of %u: ", words_id(job->message->id, id),
            job->attempt, job->attempts);
    if (v->how == BROKER_DONE)
        fprintf(stderr, "done in %s\n",
                words_time(job->end_ns - job->begin_ns, time));
    else if (v->how == BROKER_DEAD)
        fprintf(stderr, "%s, dead: %s\n", job->text,
                bide_reason_name(v->reason));
    else if (v->delay_ns == 0)
        fprintf(stderr, "%s, given back\n", job->text);
    else
        fprintf(stderr, "%s, again in %s%s\n", job->text,
                words_time(v->delay_ns, time),
                v->counts ? "" : "; does not count");
}

/* curl says that it could not connect, and not where to. What the breaker says may be
 * about the messages: queue_pace_probe(). */
static void say_paused(const struct worker_log *log, const struct queue_event *e)
{
    bool doubt = e->verdict->reason == BIDE_BECAUSE_BREAKER_OPEN;
    char to[512] = "";

    if (log->to)
        public_url(to, sizeof to, log->to);
    fprintf(stderr,
            "bide worker: paused: %s%s%s%s%s. Nothing counts as an attempt until "
            "the handler is back%s\n",
            e->text, e->verdict->answered ? "; the breaker is open" : "",
            *to ? " (" : "", to, *to ? ")" : "",
            doubt ? ", or 3 h are over" : "");
}

static void say(const struct worker_log *log, const struct queue_event *e)
{
    char id[WORDS_ID];

    switch (e->kind) {
    case QUEUE_ENDED:
        if (log->verbose || e->verdict->how == BROKER_DEAD)
            say_ended(e);
        break;
    case QUEUE_LOST:
        fprintf(stderr,
                "%s: lost to another worker while this one was away; nothing "
                "was changed\n",
                words_id(e->job->message->id, id));
        break;
    case QUEUE_CONSUMPTION_PAUSED:
        say_paused(log, e);
        break;
    case QUEUE_ERRORS_COUNT:
        fprintf(stderr, "bide worker: still paused: for 3 h the handler has "
                        "answered with nothing but errors. From now on they "
                        "count as attempts\n");
        break;
    case QUEUE_CONSUMPTION_RESUMED:
        fprintf(stderr, "bide worker: the handler is back\n");
        break;
    case QUEUE_RESCUED:
        fprintf(stderr, "bide worker: rescued %zu message%s of a worker that "
                        "is gone\n",
                e->n, plural(e->n));
        break;
    case QUEUE_CRASHED:
        fprintf(stderr, "bide worker: %zu message%s dead: crashed\n", e->n,
                plural(e->n));
        break;
    case QUEUE_BROKER_AWAY:
        fprintf(stderr, "bide worker: %s. Trying again\n", e->text);
        break;
    case QUEUE_BROKER_BACK:
        fprintf(stderr, "bide worker: the broker is back\n");
        break;
    case QUEUE_DRAINING:
        if (e->n)
            fprintf(stderr,
                    "bide worker: draining: %zu still running; again to stop "
                    "at once\n",
                    e->n);
        break;
    }
}

void worker_log_event(void *ctx, const struct queue_event *e)
{
    const struct worker_log *log = ctx;

    if (log->quiet)
        return;
    if (log->json)
        write_json(log, e);
    else
        say(log, e);
}

void worker_log_start(const struct worker_log *log,
                      const struct broker_counts *c, unsigned at_once)
{
    if (log->quiet || log->json)
        return;
    fprintf(stderr, "bide worker: %s: %llu waiting", log->queue,
            (unsigned long long)(c->waiting + c->held));
    if (c->later)
        fprintf(stderr, ", %llu later", (unsigned long long)c->later);
    if (c->dead)
        fprintf(stderr, ", %llu dead", (unsigned long long)c->dead);
    fprintf(stderr, ", %u at once; Ctrl-C drains\n", at_once);
}
