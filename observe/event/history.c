/* Makes a sample each second: the difference between two snapshots of the
 * totals. */
#include "observe/event/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t grown(uint64_t now, uint64_t before)
{
    uint64_t n = now > before ? now - before : 0;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* The quantile of what was added to a histogram since, in ms; -1 if nothing
 * was. */
static float quantile(const bide_histogram *now, const bide_histogram *before,
                      double q)
{
    bide_histogram h = { 0 };
    for (unsigned i = 0; i < BIDE_N_BUCKETS; i++) {
        h.bucket[i] = grown(now->bucket[i], before->bucket[i]);
        h.count += h.bucket[i];
    }
    int64_t ns = bide_histogram_quantile(&h, q);
    return ns < 0 ? -1 : (float)ns / 1e6f;
}

static void compare_times(struct bide__sample *s, const bide_stats *now,
                          const bide_stats *before)
{
    s->p50_call_ms = quantile(&now->call_time, &before->call_time, 0.5);
    s->p99_call_ms = quantile(&now->call_time, &before->call_time, 0.99);
    s->p50_attempt_ms =
        quantile(&now->attempt_time, &before->attempt_time, 0.5);
    s->p99_attempt_ms =
        quantile(&now->attempt_time, &before->attempt_time, 0.99);
}

static void compare(struct bide__sample *s, const bide_stats *now,
                    const bide_stats *before)
{
    const uint64_t *why = now->retries_by_reason;
    const uint64_t *was = before->retries_by_reason;

    s->first = grown(now->first_successes, before->first_successes);
    s->late = grown(now->late_successes, before->late_successes);
    for (unsigned r = BIDE_BECAUSE_CANCELLED; r < BIDE__DONE_REASONS; r++)
        s->refused[r] = grown(now->done[r], before->done[r]);
    s->attempts = grown(now->attempts, before->attempts);
    s->backoff = grown(why[BIDE_BECAUSE_BACKOFF], was[BIDE_BECAUSE_BACKOFF]);
    s->hint = grown(why[BIDE_BECAUSE_HINT], was[BIDE_BECAUSE_HINT]);
    s->immediate =
        grown(why[BIDE_BECAUSE_IMMEDIATE], was[BIDE_BECAUSE_IMMEDIATE]);
    s->hedges = grown(now->hedges, before->hedges);
    s->hedges_won = grown(now->hedges_won, before->hedges_won);
    s->budget =
        now->budget_left == BIDE_FOREVER ? INFINITY : (float)now->budget_left;
    s->breaker = (uint8_t)now->breaker;
    compare_times(s, now, before);
}

/* What happened since a mark, which is then moved to now. */
static void measure(struct bide__sample *s, struct bide__history_mark *since,
                    const bide_stats *stats, int64_t now)
{
    *s = (struct bide__sample){ .at_ns = now,
                                .seconds = (float)(now - since->at_ns) / 1e9f };
    compare(s, stats, &since->stats);
    *since = (struct bide__history_mark){ *stats, now };
}

static void add_sample(struct bide__track *t,
                       const struct bide__observed_dep *d, int64_t now)
{
    bide_stats stats;

    bide__observed_stats(d, now, &stats);
    measure(&t->sample[t->n % BIDE__HISTORY], &t->last, &stats, now);
    t->n++;
    if (t->n % BIDE__HISTORY_STEP == 0) {
        size_t i = t->n / BIDE__HISTORY_STEP - 1;
        measure(&t->coarse[i % BIDE__HISTORY_COARSE_KEPT], &t->coarse_last,
                &stats, now);
    }
}

/* ===== tracks ===== */

static struct bide__track *find(const struct bide__history *h, const char *name)
{
    for (size_t i = 0; i < h->n; i++)
        if (strcmp(h->tracks[i]->name, name) == 0)
            return h->tracks[i];
    return NULL;
}

static struct bide__track *add_track(struct bide__history *h, const char *name)
{
    struct bide__track *t;
    if (h->n == BIDE__HISTORY_DEPS || strlen(name) >= sizeof t->name ||
        !(t = calloc(1, sizeof *t)))
        return NULL;
    strcpy(t->name, name);
    h->tracks[h->n++] = t;
    return t;
}

/* The first look at a new dependency only records its totals. */
static void tick(struct bide__history *h, const struct bide__observed_dep *d,
                 int64_t now)
{
    struct bide__track *t = find(h, d->name);

    if (t) {
        t->seen = true;
        if (now > t->last.at_ns)
            add_sample(t, d, now);
    } else if ((t = add_track(h, d->name))) {
        t->seen = true;
        t->last.at_ns = now;
        bide__observed_stats(d, now, &t->last.stats);
        t->coarse_last = t->last;
    }
}

void bide__history_tick(struct bide__history *h,
                        const struct bide__observed *observed, int64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < observed->n_deps; i++)
        tick(h, &observed->deps[i], now_ns);
    for (size_t i = 0; i < h->n; i++) {
        struct bide__track *t = h->tracks[i];
        if (!t->seen) {
            free(t);
            continue;
        }
        t->seen = false;
        h->tracks[kept++] = t;
    }
    h->n = kept;
}

void bide__history_done(struct bide__history *h)
{
    for (size_t i = 0; i < h->n; i++)
        free(h->tracks[i]);
    h->n = 0;
}

const struct bide__track *bide__history_find(const struct bide__history *h,
                                             const char *name)
{
    return find(h, name);
}

/* The samples of a second that are listed: they begin where a coarse one
 * ends. */
static size_t fine(const struct bide__track *t)
{
    const size_t whole = BIDE__HISTORY - BIDE__HISTORY_STEP;
    return t->n < whole ? t->n : whole + t->n % BIDE__HISTORY_STEP;
}

size_t bide__track_samples(const struct bide__track *t)
{
    size_t coarse = (t->n - fine(t)) / BIDE__HISTORY_STEP;
    return fine(t) +
           (coarse < BIDE__HISTORY_COARSE ? coarse : BIDE__HISTORY_COARSE);
}

const struct bide__sample *bide__track_sample(const struct bide__track *t,
                                              size_t age)
{
    if (age < fine(t))
        return &t->sample[(t->n - 1 - age) % BIDE__HISTORY];
    size_t end = (t->n - fine(t)) / BIDE__HISTORY_STEP; /* of those before */
    return &t->coarse[(end - 1 - (age - fine(t))) % BIDE__HISTORY_COARSE_KEPT];
}
