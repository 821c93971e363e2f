/* What can be seen of a call. */
#include "bide/error.h"
#include "lib/call.h"
#include "lib/sized.h"
#include "lib/wait/wait.h"

uint32_t bide_call_attempts(const bide_call *call)
{
    return ((const struct bide__call *)call)->attempts;
}

uint32_t bide_call_missed(const bide_call *call)
{
    return ((const struct bide__call *)call)->missed;
}

int64_t bide_call_deadline(const bide_call *call)
{
    return ((const struct bide__call *)call)->deadline_ns;
}

bide_reason bide_call_hedge_refused(const bide_call *call)
{
    const struct bide__call *c = (const struct bide__call *)call;
    bool refused = c->state == BIDE__RUNNING && c->stopped_by &&
                   c->reason != BIDE_BECAUSE_ATTEMPTS;
    return refused ? (bide_reason)c->reason : BIDE_BECAUSE_SUCCESS;
}

int bide_call_verdict_sized(const bide_call *call, bide_verdict *ret,
                            size_t size)
{
    const struct bide__call *c = (const struct bide__call *)call;
    if (!ret)
        return BIDE_EINVAL;
    if (!c->is.judged)
        return BIDE_ESTATE;
    bide_verdict v = { (bide_reason)c->reason,
                       (bide_class)c->cls,
                       c->value_ns,
                       c->wait_ns,
                       c->wait_min_ns,
                       c->wait_max_ns,
                       bide__wait_after(c),
                       c->dep->policy.conf.wait != NULL };
    bide__sized_out(ret, size, &v, sizeof v);
    return 0;
}
