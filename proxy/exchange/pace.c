/* Keeping up a rate, on average. */
#include "proxy/exchange/pace.h"

/* The time that n bytes are worth. A larger amount at once restores the whole
 * grace anyway. */
static int64_t worth_ns(uint64_t n, uint32_t rate)
{
    const int64_t most = INT64_MAX / BIDE_SECOND;
    return (n < (uint64_t)most ? (int64_t)n : most) * BIDE_SECOND / rate;
}

void pace_add(struct pace *p, uint64_t n, int64_t now_ns, uint32_t rate,
              int64_t grace_ns)
{
    if (pace_runs(p)) {
        p->left_ns -= now_ns - p->from_ns;
        p->from_ns = now_ns;
    }
    if (n == 0)
        return;
    int64_t worth = rate == 0 ? grace_ns : worth_ns(n, rate);
    bool all = rate == 0 || p->left_ns > grace_ns - worth;
    p->left_ns = all ? grace_ns : p->left_ns + worth;
}
