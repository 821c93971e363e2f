/* Runs last night's traffic through a policy.
 *
 * A log records the results of first attempts, and nothing about retries that
 * were never made. Three assumptions are made, and printed in the output:
 *
 *   - a line is a call whose first attempt began at that time;
 *   - a retry gets the result of the next line after its start, skipping responses
 *     that concern one request and not the server (404, for example);
 *   - what the policy adds or avoids does not affect other calls. */
#include "replay/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "replay/format.h"
#include "replay/log.h"
#include "replay/print.h"
#include "replay/replay.h"

struct run {
    struct traffic traffic;
    const struct replay_line *lines;
    size_t n;
    uint32_t *telling; /* for each line, the next that concerns the server */
    size_t at;         /* the first line that is not before now */
    int64_t origin_ns; /* the time of the first line */
    bide_class class_of[REPLAY_MET];
};

static int64_t time_of(const struct run *run, size_t i)
{
    return run->lines[i].at_ns - run->origin_ns;
}

/* ===== what attempts meet ===== */

/* nginx writes 499 when the client went away: that is not a response. */
static struct replay_outcome outcome_of(const struct replay_line *line)
{
    struct replay_outcome o = { .latency_ns =
                                    (int64_t)line->latency_us * 1000 };
    if (line->met >= REPLAY_FAULT) {
        o.fault = (bide_fault)(line->met - REPLAY_FAULT);
    } else if (line->met >= REPLAY_GRPC) {
        o.is_grpc = true;
        o.grpc = line->met - REPLAY_GRPC;
    } else if (line->met == 499) {
        o.fault = BIDE_FAULT_CANCELLED;
    } else {
        o.status = line->met;
    }
    return o;
}

static bool outcome(void *ctx, const struct replay_call *call, uint32_t attempt,
                    struct replay_outcome *ret)
{
    struct run *run = ctx;
    size_t i = (size_t)call->user;
    int64_t now = run->traffic.replay.now_ns;
    if (attempt > 1) {
        while (run->at < run->n && time_of(run, run->at) < now)
            run->at++;
        uint32_t next = run->at < run->n ? run->telling[run->at] : UINT32_MAX;
        if (next == UINT32_MAX)
            next = run->telling[run->n]; /* the last one */
        if (next != UINT32_MAX)
            i = next;
    }
    *ret = outcome_of(&run->lines[i]);
    return true;
}

static void classify_all(struct run *run)
{
    for (int met = 0; met < REPLAY_MET; met++) {
        struct replay_line line = { .met = (uint16_t)met };
        struct replay_outcome o = outcome_of(&line);
        bide_response response = { .status = o.status,
                                   .fault = o.fault,
                                   .is_grpc = o.is_grpc,
                                   .grpc_status = o.grpc };
        if (o.grpc < BIDE_N_GRPC && (int)o.fault < BIDE_N_FAULTS)
            run->class_of[met] =
                bide_classify(run->traffic.replay.dep, &response).cls;
    }
}

/* telling[n] is the last such line. UINT32_MAX: there is none. */
static bool find_telling(struct run *run)
{
    uint32_t next = UINT32_MAX, last = UINT32_MAX;
    run->telling = malloc((run->n + 1) * sizeof run->telling[0]);
    if (!run->telling)
        return false;
    for (size_t i = run->n; i-- > 0;) {
        bide_class cls = run->class_of[run->lines[i].met];
        if (cls != BIDE_PERMANENT && cls != BIDE_IGNORED) {
            next = (uint32_t)i;
            if (last == UINT32_MAX)
                last = next;
        }
        run->telling[i] = next;
    }
    run->telling[run->n] = last;
    return true;
}

/* ===== reporting ===== */

static bool failed_in_log(const struct run *run, size_t i)
{
    bide_class cls = run->class_of[run->lines[i].met];
    return cls == BIDE_TRANSIENT || cls == BIDE_THROTTLED ||
           cls == BIDE_OVERLOADED; /* a 404 is a response */
}

/* Whether the call failed under the policy. A 404 is a response, and a client
 * that went away goes away again. */
static bool lost(const struct run *run, size_t i, bide_reason reason)
{
    if (reason == BIDE_BECAUSE_SUCCESS ||
        run->class_of[run->lines[i].met] == BIDE_IGNORED)
        return false;
    return failed_in_log(run, i) || reason != BIDE_BECAUSE_PERMANENT;
}

static void tell_done(struct run *run, const struct replay_row *row,
                      struct minute *m)
{
    struct traffic *t = &run->traffic;
    bide_reason reason = row->decision.reason;
    bool failed = failed_in_log(run, (size_t)row->call->user);

    if (lost(run, (size_t)row->call->user, reason)) {
        t->lost++;
        t->newly += !failed;
        traffic_step(t, row->call->begin_ns)->lost++;
    }
    if (bide_call_attempts(&row->call->call) == 0) {
        t->refused[reason]++;
        t->refused_good += !failed;
        m->refused++;
    } else if (reason == BIDE_BECAUSE_SUCCESS && failed) {
        t->rescued++;
        m->rescued++;
    } else if (reason != BIDE_BECAUSE_SUCCESS) {
        t->given_up[reason]++;
    }
}

static void tell(void *ctx, const struct replay_row *row)
{
    struct run *run = ctx;
    struct traffic *t = &run->traffic;
    struct minute *m = traffic_minute(t, run->origin_ns + row->now_ns);
    char name[32];
    if (!m)
        return;
    if ((row->cause == REPLAY_BREAKER || row->cause == REPLAY_START) &&
        row->to == BIDE_BREAKER_OPEN)
        traffic_open(t, row->now_ns, row->until_ns);
    if (row->decided && row->cause == REPLAY_BEGIN) {
        m->calls++;
        bool failed = failed_in_log(run, (size_t)row->call->user);
        m->failed += failed;
        t->failed += failed;
        traffic_step(t, row->now_ns)->calls++;
        traffic_step(t, row->now_ns)->failed += failed;
    }
    if (row->decided && row->decision.action == BIDE_TRY) {
        m->attempts++;
        traffic_step(t, row->now_ns)->attempts++;
        t->retried += row->decision.attempt == 2;
    }
    if (row->decided && row->decision.action == BIDE_DONE)
        tell_done(run, row, m);
    if (t->printer->calls && row->decided) {
        snprintf(name, sizeof name, "%llu",
                 (unsigned long long)row->call->user + 1);
        replay_print_row(t->printer, &t->replay, row, name);
    }
}

/* ===== the whole filter ===== */

static int run_lines(struct run *run)
{
    struct replay *r = &run->traffic.replay;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < run->n; i++) {
        bide_op op = { .idempotent = run->lines[i].idempotent };
        struct replay_call *call;
        rc = replay_advance(r, time_of(run, i));
        if (rc == 0)
            rc = replay_begin(r, &op, NULL, i, &call);
        if (rc == 0 && run->traffic.no_memory)
            rc = BIDE_ENOMEM;
    }
    return rc == 0 ? replay_finish(r) : rc;
}

int traffic_run(struct traffic *ret, const struct replay_log *log,
                const struct replay_settings *settings,
                struct replay_printer *printer)
{
    static const struct replay_user user = { outcome, tell };
    struct run *run = calloc(1, sizeof *run);
    *ret = (struct traffic){ .no_memory = !run };
    if (!run)
        return BIDE_ENOMEM;
    struct traffic *t = &run->traffic;
    int rc = replay_init(&t->replay, settings, &user, run);
    if (rc == 0) {
        t->printer = printer;
        run->lines = log->lines;
        run->n = log->n;
        run->origin_ns = log->n ? log->lines[0].at_ns : 0;
        t->origin_ns = run->origin_ns;
        t->replay.wall_s = run->origin_ns / BIDE_SECOND;
        t->replay.decisions_max += 100 * (uint64_t)log->n;
        printer->name_width = 10;
        traffic_divide(t, log->n ? time_of(run, log->n - 1) : 0);
        classify_all(run);
        rc = find_telling(run) ? 0 : BIDE_ENOMEM;
        if (rc == 0 && settings->start)
            rc = replay_start(&t->replay, settings->start);
        if (rc == 0)
            rc = run_lines(run);
        printer->wrong_start = t->replay.wrong_start;
    }
    if (rc == 0)
        bide_dep_stats(t->replay.dep, t->replay.now_ns, &t->stats);
    t->end_ns = t->replay.now_ns;
    replay_done(&t->replay);
    *ret = *t;
    free(run->telling);
    free(run);
    return rc;
}

int replay_run_log(const struct replay_log *log,
                   const struct replay_settings *settings,
                   struct replay_printer *printer)
{
    struct traffic t;
    int rc = traffic_run(&t, log, settings, printer);
    if (rc == 0)
        traffic_print(&t, log);
    traffic_done(&t);
    return rc;
}
