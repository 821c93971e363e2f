/* Reads rows from JSON. The input is not trusted: text is made safe for a
 * terminal, and missing values are not shown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cmd/top/queue.h"
#include "cmd/top/shared.h"
#include "cmd/top/state.h"

/* ===== members ===== */

const struct bide__node *top_get(const struct bide__node *map, const char *key)
{
    return map && map->kind == BIDE__MAP ? bide__map_get(map, key, NULL) : NULL;
}

size_t top_items(const struct bide__node *list)
{
    return list && list->kind == BIDE__LIST ? list->n : 0;
}

/* A number; `none` if it is missing, null, or impossibly large. */
double top_number(const struct bide__node *map, const char *key, double none)
{
    const struct bide__node *n = top_get(map, key);
    if (!n || n->kind != BIDE__SCALAR || n->quoted || bide__node_is(n, "null"))
        return none;
    double x = strtod(n->text, NULL);
    return fabs(x) < 9e12 ? x : none;
}

static bool flag(const struct bide__node *map, const char *key)
{
    const struct bide__node *n = top_get(map, key);
    return n && bide__node_is(n, "true");
}

/* Copies text without characters that could control the terminal. */
void top_text(const struct bide__node *map, const char *key, char *to,
              size_t size)
{
    const struct bide__node *n = top_get(map, key);
    size_t at = 0;

    for (size_t i = 0; n && n->kind == BIDE__SCALAR && i < n->len;) {
        uint32_t point;
        size_t len = bide__utf8_next(n->text + i, n->len - i, &point);
        bool bad = len == 0 || bide__char_unsafe(point);
        if (at + (bad ? 1 : len) >= size)
            break;
        if (bad)
            to[at++] = '?';
        else
            memcpy(to + at, n->text + i, len);
        at += bad ? 0 : len;
        i += len ? len : 1;
    }
    to[at] = '\0';
}

static double sum_of(const struct bide__node *map)
{
    double sum = 0;
    for (size_t i = 0; map && map->kind == BIDE__MAP && i < map->n; i++)
        sum += top_number(map, map->keys[i]->text, 0);
    return sum;
}

/* ===== rows ===== */

static void read_second(struct top_dep *d, const struct bide__node *s)
{
    double seconds = top_number(s, "seconds", 0);
    double first = top_number(s, "first", 0), late = top_number(s, "late", 0);
    const struct bide__node *refused = top_get(s, "refused");
    /* The server refused for good, or the caller went away: these are not
     * failures. */
    double aside = top_number(refused, "permanent", 0) +
                   top_number(refused, "cancelled", 0);
    double failed = sum_of(refused) - aside;
    double judged = first + late + failed, calls = judged + aside;

    d->has_second = s && s->kind == BIDE__MAP && seconds > 0;
    if (!d->has_second)
        return;
    d->at_ms = top_number(s, "at_ms", 0);
    d->calls = calls / seconds;
    d->failed = failed / seconds;
    d->first = judged > 0 ? first / judged : (double)NAN;
    d->end = judged > 0 ? (first + late) / judged : (double)NAN;
    d->amplification =
        calls > 0 ? top_number(s, "attempts", 0) / calls : (double)NAN;
    d->retries = (top_number(s, "backoff", 0) + top_number(s, "hint", 0) +
                  top_number(s, "immediate", 0)) /
                 seconds;
    d->hedges = top_number(s, "hedges", 0) / seconds;
    d->p99_ms = top_number(s, "p99_call_ms", -1);
}

static enum top_mood mood_of(const struct bide__node *node)
{
    static const char *const names[] = { "idle", "good", "warn", "bad" };
    char mood[8];

    top_text(node, "mood", mood, sizeof mood);
    for (int i = TOP_BAD; i > TOP_IDLE; i--)
        if (strcmp(mood, names[i]) == 0)
            return (enum top_mood)i;
    return TOP_IDLE;
}

static void read_endpoints(struct top_dep *d, const struct bide__node *node)
{
    const struct bide__node *list = top_get(node, "endpoints");
    char state[16];

    d->up = (unsigned)top_number(node, "endpoints_up", 0);
    d->endpoints = (unsigned)top_number(node, "endpoints_all", 0);
    for (size_t i = 0; i < top_items(list); i++) {
        top_text(list->items[i], "state", state, sizeof state);
        d->up += strcmp(state, "up") == 0 || strcmp(state, "warming") == 0;
        d->endpoints++;
    }
}

static void read_dep(struct top_dep *d, const struct bide__node *node)
{
    const struct bide__node *breaker = top_get(node, "breaker");
    char mode[16];

    memset(d, 0, sizeof *d);
    top_text(node, "name", d->name, sizeof d->name);
    d->mood = mood_of(node);
    top_text(node, "why", d->why, sizeof d->why);
    top_text(breaker, "state", d->breaker, sizeof d->breaker);
    top_text(breaker, "mode", mode, sizeof mode);
    d->forced = strncmp(mode, "forced", 6) == 0;
    if (!flag(breaker, "on"))
        strcpy(d->breaker, "off");
    d->open_for_ms = top_number(breaker, "open_for_ms", 0);
    d->budget = top_number(top_get(node, "budget"), "left", (double)INFINITY);
    read_endpoints(d, node);
    read_second(d, top_get(node, "second"));
}

/* ===== decisions ===== */

/* "503", "503 UNAVAILABLE", "connect", "not sent". */
static void outcome_of(const struct bide__node *n, char *to, size_t size)
{
    char grpc[24];

    top_text(n, "grpc_status", grpc, sizeof grpc);
    if (top_number(n, "attempt", 0) == 0)
        snprintf(to, size, "not sent");
    else if (top_get(n, "fault"))
        top_text(n, "fault", to, size);
    else if (top_number(n, "status", 0) > 0)
        snprintf(to, size, "%.0f%s%s", top_number(n, "status", 0),
                 *grpc ? " " : "", grpc);
    else /* a command has no status */
        top_text(n, "class", to, size);
}

void top_decision_read(struct top_decision *d, const struct bide__node *n)
{
    char operation[TOP_NAME], why[TOP_NAME], outcome[48];
    char action[8], what[48] = "", which[32] = "";
    double times = top_number(n, "times", 1);
    double wait = top_number(n, "wait_ms", 0);
    double attempt = top_number(n, "attempt", 0);

    top_text(n, "dep", d->dep, sizeof d->dep);
    top_text(n, "operation", operation, sizeof operation);
    top_text(n, "text", why, sizeof why);
    top_text(n, "action", action, sizeof action);
    outcome_of(n, outcome, sizeof outcome);
    d->at_ms = top_number(n, "at_ms", 0);
    d->gives_up = strcmp(action, "done") == 0;
    if (times > 1)
        snprintf(operation, sizeof operation, "%.0f calls in a row", times);
    if (attempt > 0)
        snprintf(which, sizeof which, "%.0f/%.0f  ", attempt,
                 top_number(n, "attempts", 0));
    if (d->gives_up)
        snprintf(what, sizeof what, attempt > 0 ? "gives up: " : "refused: ");
    else if (strcmp(action, "wait") == 0 && wait > 0)
        snprintf(what, sizeof what, "again in %.0f ms: ", wait);
    snprintf(d->text, sizeof d->text, "%s  %s%s  %s%s", operation, which,
             outcome, what, why);
}

/* ===== all of it ===== */

static bool read_deps(struct top_state *s, const struct bide__node *deps,
                      const char *full)
{
    size_t n = top_items(deps);

    s->deps = calloc(n + 1, sizeof *s->deps);
    for (size_t i = 0; s->deps && i < n; i++) {
        struct top_dep *d = &s->deps[s->n_deps++];
        read_dep(d, deps->items[i]);
        if (full && strcmp(d->name, full) == 0 &&
            top_get(deps->items[i], "calls"))
            s->full = deps->items[i];
    }
    return s->deps != NULL;
}

bool top_state_read(struct top_state *state, const char *json, size_t len,
                    const char *dep, char *why, size_t size)
{
    struct top_state s = { .tree = NULL };
    const struct bide__node *decisions;

    if (bide__tree_json(&s.tree, "state", json, len, NULL) != 0 ||
        !top_get(s.tree->root, "deps") ||
        !read_deps(&s, top_get(s.tree->root, "deps"), dep)) {
        snprintf(why, size, "what came is not a state of bide");
        top_state_done(&s);
        return false;
    }
    top_text(s.tree->root, "program", s.program, sizeof s.program);
    top_text(s.tree->root, "version", s.version, sizeof s.version);
    s.uptime_s = fmin(top_number(s.tree->root, "uptime_s", 0), 1e9);
    s.now_ms = top_number(s.tree->root, "now_ms", 0);
    s.ready = flag(s.tree->root, "ready");
    s.draining = flag(s.tree->root, "draining");
    top_queue_read(&s, top_get(s.tree->root, "values"), state);
    top_shared_read(&s, top_get(s.tree->root, "values"),
                    top_get(s.tree->root, "deps"));
    decisions = top_get(s.tree->root, "decisions");
    for (size_t i = 0; i < top_items(decisions) && i < TOP_DECISIONS; i++)
        top_decision_read(&s.decisions[s.n_decisions++], decisions->items[i]);
    top_state_done(state);
    *state = s;
    return true;
}

void top_state_done(struct top_state *s)
{
    free(s->deps);
    bide__tree_free(s->tree);
    memset(s, 0, sizeof *s);
}
