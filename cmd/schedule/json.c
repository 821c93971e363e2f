/* The waits as JSON. Written here and not through base/json.h: there may be
 * millions of numbers, and milliseconds come exact from whole nanoseconds. */
#include "cmd/schedule/schedule.h"

static void put_ms(int64_t ns)
{
    long long whole = ns / BIDE_MILLISECOND;
    int places = 6, rest = (int)(ns % BIDE_MILLISECOND);

    if (rest == 0) {
        printf("%lld", whole);
        return;
    }
    for (; rest % 10 == 0; rest /= 10)
        places--;
    printf("%lld.%0*d", whole, places, rest);
}

static void put_list(const struct schedule *s, const char *key,
                     int64_t (*of)(const struct wait *wait))
{
    struct waits w;

    printf("  \"%s\": [", key);
    waits_begin(&w, &s->policy.conf.backoff);
    for (uint32_t i = 0; i < s->retries; i++) {
        if (i)
            fputs(", ", stdout);
        put_ms(of(&w.now));
        waits_next(&w);
    }
    fputs("]", stdout);
}

static int64_t value_of(const struct wait *wait)
{
    return wait->value_ns;
}

static int64_t min_of(const struct wait *wait)
{
    return wait->min_ns;
}

static int64_t max_of(const struct wait *wait)
{
    return wait->max_ns;
}

static void put_draws(const struct schedule *s)
{
    bide_rng_seeded state;
    bide_rng rng = bide_rng_seed(&state, s->policy.seed);

    fputs(",\n  \"draws_ms\": [", stdout);
    for (uint32_t d = 0; d < s->draws; d++) {
        int64_t wait = 0;
        fputs(d ? ",\n    [" : "\n    [", stdout);
        for (uint32_t n = 0; n < s->retries; n++) {
            wait = bide_backoff_wait(&s->policy.conf.backoff, n, wait, &rng);
            if (n)
                fputs(", ", stdout);
            put_ms(wait);
        }
        fputs("]", stdout);
    }
    fputs("\n  ]", stdout);
}

void schedule_json(const struct schedule *s)
{
    printf("{\n  \"attempts\": %u,\n  \"jitter\": \"%s\",\n",
           s->policy.conf.attempts,
           bide_jitter_name(s->policy.conf.backoff.jitter));
    printf("  \"seed\": %llu,\n", (unsigned long long)s->policy.seed);
    put_list(s, "waits_ms", value_of);
    fputs(",\n", stdout);
    put_list(s, "waits_min_ms", min_of);
    fputs(",\n", stdout);
    put_list(s, "waits_max_ms", max_of);
    if (s->draws)
        put_draws(s);
    fputs("\n}\n", stdout);
}
