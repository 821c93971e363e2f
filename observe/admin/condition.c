/* The signs by which a dependency is judged, the worst first. */
#include "observe/admin/condition.h"

#include <stdio.h>
#include <string.h>

#include "base/people.h"

enum { RECENT = 10, FEW = 3 }; /* samples; calls that may be chance */

/* What is known of it. */
struct signs {
    uint64_t succeeded, failed, calls, retries;
    uint64_t up, endpoints;
    bide_breaker_view breaker;
    int64_t budget_left;
    int64_t unreachable_ns;
    bool faults;
    const char *trouble;
};

static void add_sample(struct signs *s, const struct bide__sample *from)
{
    uint64_t aside = from->refused[BIDE_BECAUSE_CANCELLED] +
                     from->refused[BIDE_BECAUSE_PERMANENT];
    uint64_t refused = 0;

    for (unsigned r = BIDE_BECAUSE_CANCELLED; r < BIDE__DONE_REASONS; r++)
        refused += from->refused[r];
    s->succeeded += from->first + from->late;
    s->failed += refused - aside;
    s->calls += from->first + from->late + refused;
    s->retries += from->backoff + from->hint + from->immediate;
}

static struct signs look(const struct bide__view *view,
                         const struct bide__observed_dep *dep)
{
    const struct bide__observed *w = view->observed;
    const struct bide__track *t =
        view->history ? bide__history_find(view->history, dep->name) : NULL;
    size_t n = t ? bide__track_samples(t) : 0;
    struct signs s = { .faults = dep->faults, .trouble = dep->trouble };

    for (size_t age = 0; age < n && age < RECENT; age++)
        add_sample(&s, bide__track_sample(t, age));
    for (size_t i = 0; i < w->n_endpoints; i++)
        if (strcmp(w->endpoints[i].upstream, dep->upstream) == 0) {
            s.endpoints++;
            s.up += bide__endpoint_is_up(&w->endpoints[i]);
        }
    bide_dep_breaker_view(dep->dep, view->now_ns, &s.breaker);
    s.budget_left = bide_dep_budget_left(dep->dep, view->now_ns);
    s.unreachable_ns = bide_dep_unreachable(dep->dep, view->now_ns);
    return s;
}

#define IS(how, ...)                                                           \
    do {                                                                       \
        h.mood = how;                                                          \
        snprintf(h.why, sizeof h.why, __VA_ARGS__);                            \
        return h;                                                              \
    } while (0)

static struct bide__condition judge(const struct signs *s)
{
    struct bide__condition h = { BIDE__MOOD_IDLE, "" };
    uint64_t judged = s->succeeded + s->failed;
    bool open = s->breaker.state == BIDE_BREAKER_OPEN;

    if (s->trouble)
        IS(BIDE__MOOD_BAD, "%s", s->trouble);
    if (s->breaker.mode == BIDE_BREAKER_FORCED_OPEN)
        IS(BIDE__MOOD_BAD, "breaker forced open");
    if (open && s->breaker.mode == BIDE_BREAKER_NORMAL)
        IS(BIDE__MOOD_BAD, "breaker open");
    if (s->unreachable_ns > 0) { /* calls wait, and have not failed yet */
        char time[24];
        bide__brief_duration(s->unreachable_ns, time, sizeof time);
        IS(BIDE__MOOD_BAD, "unreachable for %s", time);
    }
    if (s->endpoints && !s->up)
        IS(BIDE__MOOD_BAD, "no endpoint up");
    if (s->failed >= FEW && s->failed * 20 > judged)
        IS(BIDE__MOOD_BAD, "%.0f%% of calls fail",
           100.0 * (double)s->failed / (double)judged);
    if (s->breaker.state == BIDE_BREAKER_HALF_OPEN)
        IS(BIDE__MOOD_WARN, "breaker probing");
    if (s->failed && s->failed * 1000 > judged)
        IS(BIDE__MOOD_WARN, "some calls fail");
    if (s->faults)
        IS(BIDE__MOOD_WARN, "faults injected");
    if (s->breaker.mode != BIDE_BREAKER_NORMAL)
        IS(BIDE__MOOD_WARN, s->breaker.mode == BIDE_BREAKER_DRY_RUN
                                ? "breaker in dry run"
                                : "breaker forced closed");
    if (s->budget_left < 1 && s->retries)
        IS(BIDE__MOOD_WARN, "retry budget spent");
    if (s->retries >= FEW && s->retries * 10 > s->calls)
        IS(BIDE__MOOD_WARN, "many retries");
    if (s->up < s->endpoints)
        IS(BIDE__MOOD_WARN, "%u of %u endpoints out",
           (unsigned)(s->endpoints - s->up), (unsigned)s->endpoints);
    if (s->calls)
        h.mood = BIDE__MOOD_GOOD;
    return h;
}

struct bide__condition bide__condition_of(const struct bide__view *view,
                                          const struct bide__observed_dep *dep)
{
    struct signs s = look(view, dep);
    return judge(&s);
}

const char *bide__mood_name(enum bide__mood mood)
{
    static const char *const names[] = {
#define X(name, key) key,
        BIDE__MOODS(X)
#undef X
    };
    return names[mood];
}
