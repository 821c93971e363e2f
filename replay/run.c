/* Runs a script through the driver: events in order, outcomes from the plans
 * that calls began with. */
#include <stdlib.h>
#include <string.h>

#include "replay/print.h"
#include "replay/replay.h"
#include "replay/script.h"
#include "replay/summary.h"

/* A result that was given before its attempt began. */
struct ahead {
    struct ahead *next;
    uint32_t attempt;
    const struct replay_outcome *outcome;
};

/* The state of a begin of the script. */
struct begun {
    const struct replay_begin *begin;
    struct replay_call *call; /* NULL: not begun, over, or several */
    struct ahead *ahead, **ahead_end;
};

/* A begin with a count, in progress. */
struct burst {
    struct burst *next;
    const struct replay_begin *begin;
    uint32_t number; /* of the begin */
    uint32_t done;
    int64_t next_ns;
};

struct run {
    struct replay replay;
    struct replay_printer *printer;
    struct begun *begun;
    struct burst *bursts;
    const char *unused_name; /* whose result no attempt waits for */
};

/* ===== names: a call's `user` is its begin and its number in a burst ===== */

static uint64_t user_of(uint32_t begin, uint32_t of_burst)
{
    return (uint64_t)begin << 32 | of_burst;
}

static struct begun *begun_of(const struct run *run,
                              const struct replay_call *call)
{
    return &run->begun[call->user >> 32];
}

static void tell(void *ctx, const struct replay_row *row)
{
    struct run *run = ctx;
    const struct begun *b = row->call ? begun_of(run, row->call) : NULL;
    char name[256] = "";
    if (row->cause == REPLAY_UNUSED)
        snprintf(name, sizeof name, "%s", run->unused_name);
    if (b && b->begin->count > 1)
        snprintf(name, sizeof name, "%s.%lu", b->begin->name,
                 (unsigned long)(row->call->user & UINT32_MAX));
    replay_print_row(run->printer, &run->replay, row,
                     *name ? name
                     : b   ? b->begin->name
                           : NULL);
    if (row->decided && row->decision.action == BIDE_DONE)
        begun_of(run, row->call)->call = NULL;
}

static bool outcome(void *ctx, const struct replay_call *call, uint32_t attempt,
                    struct replay_outcome *ret)
{
    struct run *run = ctx;
    struct begun *b = begun_of(run, call);
    const struct replay_begin *begin = b->begin;

    for (struct ahead **at = &b->ahead, *a; (a = *at); at = &a->next) {
        if (a->attempt == attempt) {
            *ret = *a->outcome;
            *at = a->next;
            if (b->ahead_end == &a->next)
                b->ahead_end = at;
            free(a);
            return true;
        }
    }
    if (begin->n_results == 0)
        return false;
    size_t i = attempt - call->first_attempt;
    *ret = begin->results[i < begin->n_results ? i : begin->n_results - 1];
    return true;
}

/* ===== events ===== */

static int begin_one(struct run *run, const struct replay_begin *begin,
                     uint32_t number, uint32_t of_burst)
{
    struct replay *r = &run->replay;
    struct replay_call *call = NULL;
    struct begun *b = &run->begun[number];
    b->begin = begin;
    int rc = replay_begin(r, &begin->op, begin->method,
                          user_of(number, of_burst), &call);
    if (rc == 0 && begin->count == 1 && call->serial != 0)
        b->call = call; /* else it is already over */
    return rc;
}

static int add_burst(struct run *run, const struct replay_event *e)
{
    struct burst *burst = malloc(sizeof *burst);
    if (!burst)
        return BIDE_ENOMEM;
    *burst = (struct burst){ NULL, e->of.begin, e->call, 0, e->at_ns };
    struct burst **end = &run->bursts;
    while (*end)
        end = &(*end)->next;
    *end = burst;
    return 0;
}

/* A result with a latency may come before its attempt. */
static int keep_ahead(struct run *run, const struct replay_event *e)
{
    struct ahead *a = malloc(sizeof *a);
    if (!a)
        return BIDE_ENOMEM;
    struct begun *b = &run->begun[e->call];
    uint32_t attempt =
        e->attempt ? e->attempt : bide_call_attempts(&b->call->call) + 1;
    *a = (struct ahead){ NULL, attempt, e->of.outcome };
    *(b->ahead ? b->ahead_end : &b->ahead) = a;
    b->ahead_end = &a->next;
    return 0;
}

static bool runs(const struct replay_call *call, uint32_t attempt)
{
    for (unsigned i = 0; i < call->n_running; i++)
        if (attempt == 0 || call->running[i].attempt == attempt)
            return true;
    return false;
}

static int result(struct run *run, const struct replay_event *e)
{
    struct replay_call *call = run->begun[e->call].call;
    bool planned = e->of.outcome->latency_ns >= 0;
    if (call && planned && !runs(call, e->attempt) &&
        (e->attempt == 0 || e->attempt > bide_call_attempts(&call->call)))
        return keep_ahead(run, e);
    run->unused_name = run->begun[e->call].begin->name;
    return replay_result(&run->replay, call, e->attempt, e->of.outcome);
}

static int happen(struct run *run, const struct replay_event *e)
{
    switch (e->kind) {
    case REPLAY_EVENT_BEGIN:
        if (e->of.begin->count > 1)
            return add_burst(run, e);
        return begin_one(run, e->of.begin, e->call, 0);
    case REPLAY_EVENT_RESULT:
        return result(run, e);
    case REPLAY_EVENT_CANCEL:
        return replay_cancel(&run->replay, run->begun[e->call].call);
    case REPLAY_EVENT_FORCE:
        return replay_force(&run->replay, e->of.mode);
    case REPLAY_EVENT_TICK:
        return replay_tick(&run->replay);
    case REPLAY_EVENT_START:
        return replay_start(&run->replay, e->of.start);
    }
    return 0;
}

/* ===== bursts ===== */

static struct burst **earliest(struct run *run)
{
    struct burst **first = &run->bursts;
    for (struct burst **b = first; *b; b = &(*b)->next)
        if ((*b)->next_ns < (*first)->next_ns)
            first = b;
    return first;
}

/* Begins the calls of bursts that are due up to then. */
static int burst_until(struct run *run, int64_t at_ns)
{
    int rc = 0;
    while (rc == 0 && run->bursts) {
        struct burst **at = earliest(run), *b = *at;
        if (b->next_ns > at_ns)
            break;
        rc = replay_advance(&run->replay, b->next_ns);
        if (rc == 0)
            rc = begin_one(run, b->begin, b->number, ++b->done);
        int64_t every = b->begin->every_ns;
        b->next_ns = b->next_ns > BIDE_FOREVER - every ? BIDE_FOREVER
                                                       : b->next_ns + every;
        if (b->done == b->begin->count) {
            *at = b->next;
            free(b);
        }
    }
    return rc;
}

/* ===== the whole filter ===== */

static int run_events(struct run *run, const struct replay_script *s)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < s->n_events; i++) {
        rc = burst_until(run, s->events[i].at_ns);
        if (rc == 0)
            rc = replay_advance(&run->replay, s->events[i].at_ns);
        if (rc == 0)
            rc = happen(run, &s->events[i]);
    }
    if (rc == 0)
        rc = burst_until(run, BIDE_FOREVER);
    return rc == 0 ? replay_finish(&run->replay) : rc;
}

static void set_width(struct replay_printer *p, const struct replay_script *s)
{
    p->name_width = 4;
    for (size_t i = 0; i < s->n_events; i++) {
        const struct replay_event *e = &s->events[i];
        if (e->kind != REPLAY_EVENT_BEGIN)
            continue;
        int width = (int)strlen(e->of.begin->name);
        if (e->of.begin->count > 1)
            width +=
                snprintf(NULL, 0, ".%lu", (unsigned long)e->of.begin->count);
        if (width > p->name_width)
            p->name_width = width < 24 ? width : 24;
    }
}

static void run_done(struct run *run, uint32_t n_begins)
{
    for (uint32_t i = 0; run->begun && i < n_begins; i++) {
        while (run->begun[i].ahead) {
            struct ahead *next = run->begun[i].ahead->next;
            free(run->begun[i].ahead);
            run->begun[i].ahead = next;
        }
    }
    free(run->begun);
    while (run->bursts) {
        struct burst *next = run->bursts->next;
        free(run->bursts);
        run->bursts = next;
    }
    replay_done(&run->replay);
}

int replay_run_script(const struct replay_script *script,
                      const struct replay_settings *settings,
                      struct replay_printer *printer)
{
    static const struct replay_user user = { outcome, tell };
    struct run run = { .printer = printer };
    int rc = replay_init(&run.replay, settings, &user, &run);
    if (rc < 0)
        return rc;
    run.replay.wall_s = script->wall_s;
    run.begun = calloc(script->n_begins + 1, sizeof run.begun[0]);
    rc = run.begun ? 0 : BIDE_ENOMEM;
    set_width(printer, script);
    if (rc == 0 && settings->start)
        rc = replay_start(&run.replay, settings->start);
    if (rc == 0)
        rc = run_events(&run, script);
    printer->wrong_start = run.replay.wrong_start;
    if (rc == 0)
        replay_print_summary(printer, &run.replay);
    run_done(&run, script->n_begins);
    return rc;
}
