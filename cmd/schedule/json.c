/* The waits as JSON. Milliseconds are computed from whole nanoseconds, so that
 * no digit is lost. */
#include "base/json.h"
#include "cmd/schedule/schedule.h"
#include "cmd/schedule/waits.h"

static void put_ms(struct bide__json *j, int64_t ns)
{
    long long whole = ns / BIDE_MILLISECOND;
    int places = 6, rest = (int)(ns % BIDE_MILLISECOND);
    char text[40];

    if (rest == 0) {
        bide__json_integer(j, NULL, whole);
        return;
    }
    for (; rest % 10 == 0; rest /= 10)
        places--;
    snprintf(text, sizeof text, "%lld.%0*d", whole, places, rest);
    bide__json_raw(j, NULL, text);
}

static void put_list(const struct schedule *s, struct bide__json *j,
                     const char *key, int64_t (*of)(const struct wait *wait))
{
    struct waits w;

    bide__json_row(j, key);
    waits_begin(&w, &s->policy.conf.backoff);
    for (uint32_t i = 0; i < s->retries; i++) {
        put_ms(j, of(&w.now));
        waits_next(&w);
    }
    bide__json_end(j);
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

static void put_draws(const struct schedule *s, struct bide__json *j)
{
    bide_rng_seeded state;
    bide_rng rng = bide_rng_seed(&state, s->policy.seed);

    bide__json_list(j, "draws_ms");
    for (uint32_t d = 0; d < s->draws; d++) {
        int64_t wait = 0;
        bide__json_row(j, NULL);
        for (uint32_t n = 0; n < s->retries; n++) {
            wait = bide_backoff_wait(&s->policy.conf.backoff, n, wait, &rng);
            put_ms(j, wait);
        }
        bide__json_end(j);
    }
    bide__json_end(j);
}

void schedule_json(const struct schedule *s)
{
    struct bide__json j;

    bide__json_init(&j, stdout, true);
    bide__json_object(&j, NULL);
    bide__json_count(&j, "attempts", s->policy.conf.attempts);
    bide__json_text(&j, "jitter",
                    bide_jitter_name(s->policy.conf.backoff.jitter));
    bide__json_count(&j, "seed", s->policy.seed);
    put_list(s, &j, "waits_ms", value_of);
    put_list(s, &j, "waits_min_ms", min_of);
    put_list(s, &j, "waits_max_ms", max_of);
    if (s->draws)
        put_draws(s, &j);
    bide__json_end(&j);
    bide__json_done(&j);
}
