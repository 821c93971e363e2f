/* The blocking runner: one thread, one call, the loop that you should not have
 * to write yourself. */
#include <stddef.h>

#include "bide/error.h"
#include "bide/run.h"
#include "lib/sized.h"
#include "run/futex.h"

/* ===== the queue for a place in flight =====
 *
 * Queueing threads wait for a word to change that the hook of the dependency
 * increments. A few words serve all dependencies: a thread that is woken for
 * another dependency asks again and goes back to sleep. */
enum { BELLS = 64, LOOK_NS = 5 * 1000 * 1000 };

static uint32_t bells[BELLS];

static uint32_t *bell_of(const bide_dep *dep)
{
    return &bells[((uintptr_t)dep >> 6) % BELLS];
}

void bide_run_on_place(void *ctx, const bide_dep *dep)
{
    (void)ctx;
    uint32_t *bell = bell_of(dep);
    __atomic_add_fetch(bell, 1, __ATOMIC_SEQ_CST);
    bide__futex_wake_all(bell);
}

int bide_run_dep_new(bide_dep **ret_dep, const char *name,
                     const bide_policy_conf *conf)
{
    return bide_dep_new_in(ret_dep, name, conf,
                           &(bide_host){ .on_place = bide_run_on_place });
}

/* ===== the loop ===== */

struct run {
    bide_dep *dep;
    const bide_run_opts *opts;
    bide_call call;
    bide_run_result result;
    int64_t now;
    bool tried;      /* result.last is set */
    uint32_t heard;  /* what the bell said before the last decision */
};

static bide_decision decide(struct run *r)
{
    r->heard = __atomic_load_n(bell_of(r->dep), __ATOMIC_SEQ_CST);
    if (bide_cancelled(r->opts->cancel))
        bide_call_cancel(&r->call);
    bide_decision d = bide_call_next(&r->call, r->now);
    if (r->opts->on_decision)
        r->opts->on_decision(r->opts->ctx, &d,
                             r->tried ? &r->result.last : NULL, r->now);
    return d;
}

/* A cancel does not wake it, so it polls every few milliseconds: the queue is
 * for short waits. Without the hook this is also how a free place is
 * noticed. */
static void wait_for_place(struct run *r, int64_t at_ns)
{
    int64_t look = r->now + LOOK_NS;
    bide__futex_wait(bell_of(r->dep), r->heard, look < at_ns ? look : at_ns);
}

static void wait(struct run *r, const bide_decision *d)
{
    int64_t began = r->now;
    if (d->reason == BIDE_BECAUSE_QUEUED)
        wait_for_place(r, d->at_ns);
    else
        bide_sleep_until(d->at_ns, r->opts->cancel);
    r->now = bide_now_ns();
    if (d->reason != BIDE_BECAUSE_QUEUED)
        r->result.waited_ns += d->at_ns - began;
    r->result.slept_ns += r->now - began;
}

static void attempt(struct run *r, const bide_decision *d, bide_run_fn fn,
                    void *arg)
{
    bide_attempt a = {
        .number = d->attempt,
        .timeout_ns = d->timeout_ns,
        .deadline_ns = bide_call_deadline(&r->call),
        .cancel = r->opts->cancel,
    };
    r->result.last = fn(arg, &a);
    r->tried = true;
    r->now = bide_now_ns();
    bide_call_report(&r->call, d->attempt, &r->result.last, r->now);
}

bide_reason bide_run_sized(bide_dep *dep, bide_run_fn fn, void *arg,
                           const bide_run_opts *opts, size_t size)
{
    static const bide_run_opts none = { .cancel = NULL };
    bide_run_opts room;
    if (!dep || !fn)
        return (bide_reason)BIDE_EINVAL;
    opts = opts ? bide__sized_in(opts, size, &room, sizeof room) : &none;
    if (!opts)
        return (bide_reason)BIDE_ESIZE;
    struct run r = { .dep = dep, .opts = opts };
    int64_t began = r.now = bide_now_ns();
    bide_decision d;

    bide_call_begin(&r.call, dep, &r.opts->op, r.now);
    while ((d = decide(&r)).action != BIDE_DONE) {
        if (d.action == BIDE_WAIT)
            wait(&r, &d);
        else
            attempt(&r, &d, fn, arg);
    }
    r.result.reason = d.reason;
    r.result.attempts = bide_call_attempts(&r.call);
    r.result.took_ns = r.now - began;
    bide_call_end(&r.call, r.now);
    if (r.opts->result)
        *r.opts->result = r.result;
    return d.reason;
}
