/* The smallest whole program: something that fails twice, and then works. */
#define _POSIX_C_SOURCE 200809L
#include <bide/bide.h>
#include <stdio.h>
#include <time.h>

static int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * BIDE_SECOND + t.tv_nsec;
}

static void sleep_until(int64_t at_ns)
{
    struct timespec t = { at_ns / BIDE_SECOND, at_ns % BIDE_SECOND };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static bide_outcome try_it(uint32_t attempt)
{
    return (bide_outcome){ .cls = attempt < 3 ? BIDE_TRANSIENT : BIDE_SUCCESS };
}

int main(void)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT; /* see policy.h */
    bide_dep *dep;
    int rc = bide_dep_new(&dep, "example", &conf);
    if (rc < 0) {
        fprintf(stderr, "%s\n", bide_strerror(rc));
        return 1;
    }

    bide_call call;
    bide_decision d;
    bide_call_begin(&call, dep, &(bide_op){ .idempotent = true }, clock_ns());
    while (d = bide_call_next(&call, clock_ns()), d.action != BIDE_DONE) {
        if (d.action == BIDE_WAIT) {
            sleep_until(d.at_ns);
            continue;
        }
        bide_outcome out = try_it(d.attempt);
        bide_call_report(&call, d.attempt, &out, clock_ns());
    }
    printf("%s after %u attempts\n", bide_reason_name(d.reason),
           bide_call_attempts(&call));
    bide_call_end(&call, clock_ns());
    bide_dep_free(dep);
    return d.reason != BIDE_BECAUSE_SUCCESS;
}
