/* The engine is asked, and what it says is done. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/common/fleet.h"
#include "cmd/common/output.h"
#include "cmd/common/parent_env.h"
#include "cmd/run/child.h"
#include "cmd/run/cmd.h"
#include "cmd/run/hook.h"
#include "cmd/run/state.h"
#include "cmd/run/progress.h"

/* ===== setting up ===== */

/* Budget and breaker are about many calls. A command that shares them with
 * nobody is limited by its own attempts alone; a breaker that somebody has
 * forced open still counts. Attempts do not run side by side here. */
static bide_policy_conf conf_for(const struct run_args *args)
{
    bide_policy_conf conf = args->policy.conf;

    if (args->until == UNTIL_FAILURE && !args->policy.file &&
        !policy_flag_given(&args->policy, "attempts"))
        conf.attempts = POLICY_UNLIMITED;
    conf.hedge.max = 0;
    conf.latency.measure = false;
    conf.lanes = 1;
    if (!args->key && !args->fleet.settings.store) {
        conf.budget.kind = BIDE_BUDGET_OFF;
        if (conf.breaker.mode != BIDE_BREAKER_FORCED_OPEN)
            conf.breaker.kind = BIDE_BREAKER_OFF;
        conf.limits.in_flight = BIDE_UNLIMITED;
        conf.limits.adaptive = BIDE_ADAPTIVE_OFF;
        conf.limits.rate = 0;
        conf.limits.adaptive_rate = conf.limits.adaptive_throttle = false;
    }
    return conf;
}

static int make_dep(struct run *r)
{
    const struct run_args *args = r->args;
    bide_policy_conf conf = conf_for(args);
    char problem[512];
    int rc;

    if (args->key) {
        rc = state_open(&r->dep, args->key, &conf, problem, sizeof problem);
        if (rc < 0)
            complain("run", "--key %s: %s", args->key, problem);
    } else {
        rc = bide_dep_new_in(&r->dep, args->command[0], &conf,
                             &(bide_host){ .seed = &args->policy.seed });
        if (rc == BIDE_EINVAL) /* the name is too long */
            rc = bide_dep_new_in(&r->dep, "command", &conf,
                                 &(bide_host){ .seed = &args->policy.seed });
        if (rc < 0)
            complain("run", "%s", bide_strerror(rc));
    }
    return rc < 0 ? EXIT_BIDE_FAILED : -1;
}

/* -1 to go on, else an exit code. */
static int join_fleet(struct run *r)
{
    const struct bide__fleet_settings *settings = &r->args->fleet.settings;
    char err[BIDE_FLEET_WHY];

    if (!settings->store)
        return -1;
    if (!fleet_open(&r->fleet, settings, r->args->verbose ? "bide run" : NULL,
                    err, sizeof err)) {
        complain("run", "--fleet: %s", err);
        return EXIT_BIDE_FAILED;
    }
    bide_fleet_attach(r->fleet, r->dep);
    return -1;
}

/* -1 to go on, else an exit code. */
static int set_up(struct run *r)
{
    int err = 0, rc = -1;

    const char *where = r->args->log_file;

    if (!where && r->args->json)
        where = "2"; /* standard output is the command's */
    r->quiet = r->args->quiet || (r->args->json && !r->args->log_file);
    if (where && (r->log = log_open(where)) < 0) {
        complain("run", "--log-file %s: %s", where, strerror(errno));
        return EXIT_BIDE_FAILED;
    }
    err = output_init(&r->output, r->args);
    if (!err)
        err = signals_init(&r->signals);
    if (err) {
        complain("run", "%s", strerror(err));
        return EXIT_BIDE_FAILED;
    }
    rc = make_dep(r);
    if (rc < 0)
        rc = join_fleet(r);
    if (rc >= 0)
        return rc;
    child_adopt_orphans();
    feed_init(&r->feed, r->args->input, bide_dep_policy(r->dep)->attempts);
    if (r->feed.how == STDIN_REPLAY && isatty(STDIN_FILENO))
        r->signals.in_pipeline = true; /* it is we who read the terminal */
    r->terminal = !r->quiet && use_colours(stderr);
    return -1;
}

static void begin(struct run *r, const bide_rng *rng)
{
    r->op = (bide_op){ .idempotent = !r->args->at_most_once, .rng = rng };
    r->began_ns = r->now = bide_now_ns();
    heed_layer_above(&r->op, r->now);
    bide_call_begin(&r->call, r->dep, &r->op, r->now);
}

/* ===== waiting ===== */

static void take_signals(struct run *r)
{
    int number;

    while ((number = signals_next(&r->signals)) != 0) {
        switch (number) {
        case SIGCHLD: /* somebody whom the last attempt left behind */
            while (waitpid(-1, NULL, WNOHANG) > 0)
                ;
            break;
        case SIGCONT:
        case SIGUSR1:
        case SIGUSR2:
            break; /* there is no command that they could be for */
        case SIGTSTP:
            print_clear(r);
            stop_ourselves(false);
            break;
        default:
            r->interrupted_by = number;
            bide_call_cancel(&r->call);
        }
    }
}

/* Places and tokens are looked for: other processes do not tell when they leave
 * one. */
static void wait_until(struct run *r, const bide_decision *d)
{
    enum { LOOK_NS = 20 * 1000 * 1000 };
    struct pollfd p = { r->signals.fd, POLLIN, 0 };
    int64_t at = d->at_ns;
    int64_t again = print_countdown(r, d);

    if (d->reason == BIDE_BECAUSE_QUEUED && r->now + LOOK_NS < at)
        at = r->now + LOOK_NS;
    if (again < at)
        at = again;
    if (at > r->now) {
        int64_t wait = at - r->now;
        struct timespec limit = { (time_t)(wait / BIDE_SECOND),
                                  (long)(wait % BIDE_SECOND) };
        if (ppoll(&p, 1, &limit, NULL) > 0)
            take_signals(r);
    }
    r->now = bide_now_ns();
}

/* ===== trying ===== */

/* Whoever reads the output may let us wait. No command runs then, so signals do
 * to us what they do to anybody. */
static int settle(struct run *r, bool last, bool success)
{
    sigset_t usual = r->signals.original, ours;
    int err;

    sigaddset(&usual, SIGPIPE); /* one may be pending since feed wrote */
    sigaddset(&usual, SIGXFSZ);
    sigprocmask(SIG_SETMASK, &usual, &ours);
    err = output_settle(&r->output, last, success);
    sigprocmask(SIG_SETMASK, &ours, NULL);
    return err;
}

static void try_once(struct run *r, const bide_decision *d)
{
    if (r->ended)
        settle(r, false, false);
    r->last = run_attempt(r, d);
    r->attempt = d->attempt;
    r->ended = true;
    r->outcome = run_judge(r->args, &r->last);
    if (r->last.how == ENDED_NOT_STARTED)
        print_not_started(r);
    r->now = bide_now_ns();
    if (r->feed.lost) /* what it had to read cannot be given again */
        bide_call_set_op(&r->call,
                         &(bide_op){ .idempotent = !r->args->at_most_once,
                                     .one_shot_body = true });
    bide_call_report(&r->call, d->attempt, &r->outcome, r->now);
}

/* ===== ending ===== */

static int exit_code(const struct run *r, bide_reason reason, int write_err)
{
    if (write_err == EPIPE)
        return EXIT_SIGNAL + SIGPIPE;
    if (write_err) {
        complain("run", "cannot %s the output: %s",
                 r->output.lost ? "keep" : "write", strerror(write_err));
        return EXIT_BIDE_FAILED;
    }
    if (!r->ended)
        return EXIT_REFUSED;
    if (r->last.code == 0 && reason != BIDE_BECAUSE_SUCCESS &&
        r->args->until != UNTIL_FAILURE)
        return EXIT_FINDINGS; /* --retry-if has seen a failure in its output,
                                 or it is not what --until waits for */
    return r->last.code;
}

/* The command may have handled a signal in its own way, and has an exit code of
 * its own then. */
static bool died_of_it(const struct ending *e)
{
    return e->how == ENDED_SIGNAL || e->code == EXIT_SIGNAL + e->stopped_by;
}

static int finish(struct run *r, const bide_decision *d)
{
    int err = 0, by, code;

    bide_call_end(&r->call, r->now);
    take_signals(r); /* the last moment to hear of one here */
    if (r->ended && !r->interrupted_by)
        err = settle(r, true, d->reason == BIDE_BECAUSE_SUCCESS);
    code = exit_code(r, d->reason, err);
    print_end(r, d);
    if (d->reason != BIDE_BECAUSE_CANCELLED && !r->interrupted_by)
        hook_at_end(r, d, code);
    if (r->args->key)
        state_note(r->dep, bide_now_ns());
    bide_fleet_leave(r->fleet);
    bide_dep_free(r->dep);
    feed_done(&r->feed);
    output_done(&r->output);
    by = r->interrupted_by;
    if (d->reason == BIDE_BECAUSE_CANCELLED && !by && died_of_it(&r->last))
        by = r->last.stopped_by;
    if (by)
        die_by(by);
    return code;
}

/* Once for each wait, however often it is looked at. Nobody has to wait for the
 * next attempt to see what was wrong with the last one. */
static void announce_wait(struct run *r, const bide_decision *d)
{
    if (r->waits_until == d->at_ns)
        return;
    r->waits_until = d->at_ns;
    if (r->ended && r->args->output == OUTPUT_PREFIX)
        settle(r, false, false);
    print_wait(r, d);
    log_decision(r, d);
}

int run_loop(struct run_args *args)
{
    static struct run r; /* too large for the stack */
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, args->policy.seed);
    bide_decision d;
    int rc;

    r.args = args;
    r.log = -1;
    rc = set_up(&r);
    if (rc >= 0)
        return rc;
    begin(&r, &rng);
    while ((d = bide_call_next(&r.call, r.now)).action != BIDE_DONE) {
        hook_before_retry(&r);
        if (r.interrupted_by)
            continue; /* the engine says what that means */
        if (d.action == BIDE_WAIT) {
            announce_wait(&r, &d);
            wait_until(&r, &d);
        } else {
            print_clear(&r);
            log_decision(&r, &d);
            try_once(&r, &d);
        }
    }
    print_clear(&r);
    log_decision(&r, &d);
    return finish(&r, &d);
}
