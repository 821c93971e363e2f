/* From taken to running, and from ended to settled: where the engine is asked. */
#include <stdio.h>
#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "queue/hold_clock.h"
#include "queue/worker_parts.h"

static struct queue_job *first(struct bide__list *list)
{
    struct queue_job *job =
        bide__container_of(list->next, struct queue_job, line);

    bide__list_remove(&job->line);
    return job;
}

/* ===== ends ===== */

/* Its message is settled in the next turn. */
static void end_job(struct queue_worker *w, struct queue_job *job,
                    const struct queue_verdict *v)
{
    struct broker_end *e = &w->ends[w->n_ends];

    *e = (struct broker_end){
        .message = job->message,
        .how = v->how,
        .counts = v->counts,
        .ran = job->running && job->out.cls != BIDE_IGNORED,
        .delay_ns = v->delay_ns,
        .error = job->running && v->how != BROKER_DONE &&
                         job->out.cls != BIDE_IGNORED
                     ? job->text
                     : NULL,
    };
    if (v->how == BROKER_DEAD) {
        e->reason = bide_reason_name(v->reason);
        e->cls = bide_class_name(job->out.cls);
        e->tail = job->tail;
        e->tail_len = job->tail_len;
    }
    if (w->n_ends == 0)
        w->ended_ns = bide_now_ns();
    w->settling_verdicts[w->n_ends] = *v;
    w->settling[w->n_ends++] = job;
}

static void pause_for(struct queue_worker *w, const struct queue_verdict *v,
                      const char *text, int64_t started, int64_t now)
{
    if (v->how != BROKER_DEAD) /* whose reason is its own */
        atomic_store(&w->stats.why, (int)v->reason);
    if (queue_pace_down(&w->pace, started, v->not_before_ns, w->conf.rng,
                        now)) {
        atomic_store(&w->stats.paused_ns, now);
        worker_give_back(w); /* while we wait, the broker holds them */
        worker_tell(w, &(struct queue_event){ .kind = QUEUE_CONSUMPTION_PAUSED,
                                              .verdict = v,
                                              .text = text });
    }
    atomic_store(&w->stats.state, (int)w->pace.state);
}

/* A pause that the messages themselves may be the reason of does not last for ever. */
static void doubt(struct queue_worker *w, const struct queue_job *job,
                  const struct queue_verdict *v, int64_t now)
{
    bool count = v->answered && job->probe == QUEUE_COUNTED_PROBE;

    queue_pace_errs(&w->pace, v->answered, now);
    if (count && !w->errors_count)
        worker_tell(w, &(struct queue_event){ .kind = QUEUE_ERRORS_COUNT });
    w->errors_count = count;
}

/* ===== starting ===== */

/* It failed before, and its class is not known any more: one that waits has failed
 * in a way that may pass. */
static void bury(struct queue_worker *w, struct queue_job *job,
                 const struct queue_verdict *v)
{
    job->out.cls = BIDE_TRANSIENT;
    snprintf(job->text, sizeof job->text, "not run again");
    end_job(w, job, v);
}

/* The engine did not let it through. */
static void refuse(struct queue_worker *w, struct queue_job *job,
                   const bide_decision *d, int64_t now)
{
    struct queue_verdict v = queue_verdict_refused(d, now);

    bide_call_end(&job->call, now);
    if (v.down)
        pause_for(w, &v, bide_reason_text(v.reason), now, now);
    end_job(w, job, &v);
}

/* Somebody else may have it soon: it waited, or we were frozen, since it was taken. */
static bool is_late(const struct queue_worker *w, const struct queue_job *job)
{
    int64_t until = job->message->hold_ns;

    return until && hold_clock_ns() >= until - w->conf.beat_ns / 2;
}

static bool begin(struct queue_worker *w, struct queue_job *job, int64_t now)
{
    const bide_policy_conf *policy = bide_dep_policy(w->conf.dep);
    const int64_t most = w->conf.broker->traits.max_run_ns;
    static const struct queue_verdict back = { .how = BROKER_AGAIN };
    struct queue_verdict spent;

    job->op = (bide_op){ .attempts_made = job->message->attempt,
                         .idempotent = true };
    job->queue = w->conf.broker->queue;
    job->out = (bide_outcome){ .cls = BIDE_IGNORED };
    job->text[0] = 0;
    job->tail_len = 0;
    job->running = false;
    job->attempt = job->message->attempt;
    job->attempts = policy->attempts;
    job->begin_ns = job->end_ns = now;
    job->run_ns = 0;
    atomic_store(&job->stop, QUEUE_GO_ON);
    if (is_late(w, job)) {
        end_job(w, job, &back);
        return false;
    }
    if (queue_verdict_spent(job->message->attempt, policy->attempts, &spent)) {
        bury(w, job, &spent);
        return false;
    }
    bide_call_begin(&job->call, w->conf.dep, &job->op, now);
    bide_decision d = bide_call_next(&job->call, now);
    if (d.action != BIDE_TRY) {
        refuse(w, job, &d, now);
        return false;
    }
    job->running = true;
    queue_hold_set(w->hold, job, job->message->hold_ns);
    job->attempt = job->message->attempt + 1;
    job->timeout_ns = d.timeout_ns;
    if (most && most < job->timeout_ns)
        job->timeout_ns = most;
    job->engine_attempt = d.attempt;
    job->probe = queue_pace_probe(&w->pace, now);
    job->trace.sampled = false;
    job->traceparent[0] = 0;
    if (w->conf.on_start)
        w->conf.on_start(w->conf.ctx, job);
    return true;
}

/* Those that the pace is about: what was started before a pause began may take
 * hours, and must not keep a probe from being made. */
uint32_t worker_counted(const struct queue_worker *w)
{
    uint32_t n = 0;

    if (w->pace.state == QUEUE_FLOWING)
        return w->n_running;
    for (uint32_t i = 0; i < w->conf.at_once + w->conf.ahead; i++)
        n += w->jobs[i].message && w->jobs[i].running &&
             w->jobs[i].begin_ns >= w->pace.since_ns;
    return n < w->n_running ? n : w->n_running;
}

uint32_t worker_room(struct queue_worker *w, int64_t now)
{
    uint32_t room = queue_pace_room(&w->pace, worker_counted(w), now);
    uint32_t places = w->conf.at_once + (w->conf.deep ? worker_ahead(w) : 0);
    uint32_t free_ones = places > w->n_running ? places - w->n_running : 0;

    if (w->pace.state == QUEUE_FLOWING)
        return free_ones;
    return room < free_ones ? room : free_ones;
}

void worker_start(struct queue_worker *w, int64_t now)
{
    struct bide__list go;
    uint32_t room = worker_room(w, now);

    bide__list_init(&go);
    for (; room > 0 && w->n_taken > 0; room--) {
        struct queue_job *job = first(&w->taken);
        w->n_taken--;
        if (begin(w, job, now)) {
            bide__list_append(&go, &job->line);
            w->n_running++;
            w->moved_ns = now;
        } else if (w->pace.state == QUEUE_PAUSED) {
            break;
        }
    }
    queue_pool_give(w->pool, &go);
    atomic_store(&w->stats.state, (int)w->pace.state);
    atomic_store(&w->stats.running, w->n_running);
}

/* ===== ending ===== */

static void collect(struct queue_worker *w, struct queue_job *job, int64_t now)
{
    queue_hold_set(w->hold, job, 0);
    queue_ahead_note(&w->ahead, job->run_ns);
    w->moved_ns = now;
    bide_call_report(&job->call, job->engine_attempt, &job->out, job->end_ns);
    struct queue_verdict v =
        queue_verdict(&job->call, &job->out, bide_dep_policy(w->conf.dep), job->probe,
                      job->end_ns);

    bide_call_end(&job->call, now);
    if (v.down) {
        pause_for(w, &v, job->text, job->begin_ns, now);
        doubt(w, job, &v, now);
    } else if (job->out.cls != BIDE_IGNORED &&
               queue_pace_good(&w->pace, job->begin_ns, now)) {
        worker_tell(w, &(struct queue_event){ .kind =
                                                  QUEUE_CONSUMPTION_RESUMED });
    }
    /* beat() said so. What is done is told all the same: its broker knows best whether
     * somebody else has it, or has only asked for it */
    if (job->message->lost && v.how != BROKER_DONE) {
        v.how = BROKER_AGAIN;
        v.counts = false;
    }
    end_job(w, job, &v);
}

void worker_collect(struct queue_worker *w, int64_t now)
{
    struct bide__list ended;

    bide__list_init(&ended);
    queue_pool_reap(w->pool, &ended);
    while (!bide__list_empty(&ended)) {
        w->n_running--;
        collect(w, first(&ended), now);
    }
    atomic_store(&w->stats.running, w->n_running);
}

/* Those that wait in the pool's line have begun a call, and no attempt. */
static void recall(struct queue_worker *w, const struct queue_verdict *back)
{
    struct bide__list unbegun;
    int64_t now = bide_now_ns();

    bide__list_init(&unbegun);
    queue_pool_recall(w->pool, &unbegun);
    while (!bide__list_empty(&unbegun)) {
        struct queue_job *job = first(&unbegun);
        bide_call_end(&job->call, now);
        queue_hold_set(w->hold, job, 0);
        job->running = false;
        w->n_running--;
        end_job(w, job, back);
    }
}

void worker_give_back(struct queue_worker *w)
{
    static const struct queue_verdict back = { .how = BROKER_AGAIN };

    if (w->conf.deep)
        recall(w, &back);
    while (!bide__list_empty(&w->taken)) {
        struct queue_job *job = first(&w->taken);
        job->running = false;
        end_job(w, job, &back);
        w->n_taken--;
    }
}

void worker_give_back_stale(struct queue_worker *w, int64_t now)
{
    bool waiting = w->n_taken > 0 ||
                   (w->conf.deep && w->n_running > w->conf.at_once);

    if (!waiting || w->pace.state != QUEUE_FLOWING ||
        now - w->moved_ns < QUEUE_AHEAD_STALE)
        return;
    if (w->ahead.usual_ns < QUEUE_AHEAD_STALE)
        w->ahead.usual_ns = QUEUE_AHEAD_STALE; /* until something has ended */
    worker_give_back(w);
}
