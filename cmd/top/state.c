/* Reads rows from JSON. The input is not trusted: text is made safe for a
 * terminal, and missing values are not shown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cmd/top/top.h"
#include "config/doc/tree.h"

/* ===== members ===== */

static const struct bide__node *get(const struct bide__node *map,
                                    const char *key)
{
    return map && map->kind == BIDE__MAP ? bide__map_get(map, key, NULL) : NULL;
}

/* A number; `none` if it is missing, null, or impossibly large. */
static double number(const struct bide__node *map, const char *key, double none)
{
    const struct bide__node *n = get(map, key);
    if (!n || n->kind != BIDE__SCALAR || n->quoted || bide__node_is(n, "null"))
        return none;
    double x = strtod(n->text, NULL);
    return fabs(x) < 9e12 ? x : none;
}

static bool flag(const struct bide__node *map, const char *key)
{
    const struct bide__node *n = get(map, key);
    return n && bide__node_is(n, "true");
}

/* Copies text without characters that could control the terminal. */
static void text(const struct bide__node *map, const char *key, char *to,
                 size_t size)
{
    const struct bide__node *n = get(map, key);
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
        sum += number(map, map->keys[i]->text, 0);
    return sum;
}

/* ===== rows ===== */

static void read_second(struct top_dep *d, const struct bide__node *s)
{
    double seconds = number(s, "seconds", 0);
    double first = number(s, "first", 0), late = number(s, "late", 0);
    const struct bide__node *refused = get(s, "refused");
    /* The server refused for good, or the caller went away: these are not
     * failures. */
    double aside =
        number(refused, "permanent", 0) + number(refused, "cancelled", 0);
    double failed = sum_of(refused) - aside;
    double judged = first + late + failed, calls = judged + aside;

    d->has_second = s && s->kind == BIDE__MAP && seconds > 0;
    if (!d->has_second)
        return;
    d->calls = calls / seconds;
    d->failed = failed / seconds;
    d->first = judged > 0 ? first / judged : (double)NAN;
    d->end = judged > 0 ? (first + late) / judged : (double)NAN;
    d->amplification =
        calls > 0 ? number(s, "attempts", 0) / calls : (double)NAN;
    d->retries = (number(s, "backoff", 0) + number(s, "hint", 0) +
                  number(s, "immediate", 0)) /
                 seconds;
    d->hedges = number(s, "hedges", 0) / seconds;
    d->p99_ms = number(s, "p99_call_ms", -1);
}

static void read_dep(struct top_dep *d, const struct bide__node *node)
{
    const struct bide__node *breaker = get(node, "breaker");
    char mode[16];

    text(node, "name", d->name, sizeof d->name);
    text(breaker, "state", d->breaker, sizeof d->breaker);
    text(breaker, "mode", mode, sizeof mode);
    d->forced = strncmp(mode, "forced", 6) == 0;
    if (!flag(breaker, "on"))
        strcpy(d->breaker, "off");
    d->open_for_ms = number(breaker, "open_for_ms", 0);
    d->budget = number(get(node, "budget"), "left", (double)INFINITY);
    read_second(d, get(node, "second"));
}

/* "503", "connect", "not sent". */
static void outcome_of(const struct bide__node *n, char *to, size_t size)
{
    if (number(n, "attempt", 0) == 0)
        snprintf(to, size, "not sent");
    else if (get(n, "fault"))
        text(n, "fault", to, size);
    else
        snprintf(to, size, "%.0f", number(n, "status", 0));
}

static void read_decision(struct top_decision *d, const struct bide__node *n)
{
    char dep[TOP_NAME], operation[TOP_NAME], why[TOP_NAME], outcome[24];
    char action[8], what[40];
    double times = number(n, "times", 1), wait = number(n, "wait_ms", 0);

    text(n, "dep", dep, sizeof dep);
    text(n, "operation", operation, sizeof operation);
    text(n, "text", why, sizeof why);
    text(n, "action", action, sizeof action);
    outcome_of(n, outcome, sizeof outcome);
    d->at_ms = number(n, "at_ms", 0);
    d->gives_up = strcmp(action, "done") == 0;
    if (times > 1)
        snprintf(operation, sizeof operation, "%.0f calls in a row", times);
    if (d->gives_up)
        snprintf(what, sizeof what, "gives up: ");
    else if (strcmp(action, "wait") == 0 && wait > 0)
        snprintf(what, sizeof what, "again in %.0f ms: ", wait);
    else
        what[0] = '\0';
    snprintf(d->text, sizeof d->text, "%s  %s  %s  %s%s", dep, operation,
             outcome, what, why);
}

static void read_lists(struct top_state *s, const struct bide__node *root)
{
    const struct bide__node *deps = get(root, "deps");
    const struct bide__node *decisions = get(root, "decisions");

    for (size_t i = 0; deps && deps->kind == BIDE__LIST && i < deps->n; i++)
        if (s->n_deps < TOP_DEPS)
            read_dep(&s->deps[s->n_deps++], deps->items[i]);
        else
            s->more_deps++;
    for (size_t i = 0; decisions && decisions->kind == BIDE__LIST &&
                       i < decisions->n && s->n_decisions < TOP_DECISIONS;
         i++)
        read_decision(&s->decisions[s->n_decisions++], decisions->items[i]);
}

bool top_state_read(struct top_state *state, const char *json, size_t len,
                    char *why, size_t size)
{
    struct bide__tree *tree = NULL;

    memset(state, 0, sizeof *state);
    if (bide__tree_json(&tree, "state", json, len, NULL) != 0 ||
        !get(tree->root, "deps")) {
        snprintf(why, size, "what came is not a state of bide");
        bide__tree_free(tree);
        return false;
    }
    text(tree->root, "program", state->program, sizeof state->program);
    text(tree->root, "version", state->version, sizeof state->version);
    state->uptime_s = fmin(number(tree->root, "uptime_s", 0), 1e9);
    state->now_ms = number(tree->root, "now_ms", 0);
    state->ready = flag(tree->root, "ready");
    state->draining = flag(tree->root, "draining");
    read_lists(state, tree->root);
    bide__tree_free(tree);
    return true;
}
