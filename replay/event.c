/* One event of a script. docs/replay.md is the reference of the format. */
#include "replay/event.h"

#include "config/field/field.h"
#include "config/field/text.h"
#include "replay/reader.h"
#include "replay/script.h"
#include "replay/start.h"

static struct bide__node *get(const struct bide__node *map, const char *key)
{
    return bide__map_get(map, key, NULL);
}

/* ===== begin ===== */

static bool read_results(struct replay_reader *r, const struct bide__node *list,
                         struct replay_begin *ret)
{
    static const char *const known[] = { REPLAY_OUTCOME_KEYS, NULL };
    if (!list)
        return true;
    if (list->kind != BIDE__LIST || list->n == 0)
        return replay_mistake(r, list, "bad-value", NULL,
                              "found %.200s, expected a list of results",
                              bide__node_found(r->tree, list));
    struct replay_outcome *all =
        bide__arena_alloc(r->script->arena, list->n * sizeof all[0]);
    bool fine = all != NULL;
    r->no_memory = r->no_memory || !all;
    for (size_t i = 0; fine && i < list->n; i++) {
        const struct bide__node *map = list->items[i];
        if (map->kind != BIDE__MAP)
            return replay_mistake(r, map, "bad-value", NULL,
                                  "found %.200s, expected a result such as "
                                  "{\"status\": 503}",
                                  bide__node_found(r->tree, map));
        fine = replay_only_keys(r, map, known) &&
               replay_read_outcome(r, map, &all[i]);
        if (all[i].latency_ns < 0)
            all[i].latency_ns = 0;
    }
    ret->results = all;
    ret->n_results = list->n;
    return fine;
}

/* Without a method it is a GET; `idempotent` overrides it. */
static bool read_op(struct replay_reader *r, const struct bide__node *map,
                    struct replay_begin *b)
{
    const char *key = NULL;
    bool fine = replay_read_text(r, get(map, "method"), &b->method);
    b->op.idempotent = bide_method_idempotent(b->method);
    fine =
        replay_read_flag(r, get(map, "idempotent"), &b->op.idempotent) && fine;
    fine = replay_read_text(r, get(map, "idempotency_key"), &key) && fine;
    fine =
        replay_read_flag(r, get(map, "one_shot_body"), &b->op.one_shot_body) &&
        fine;
    fine = replay_read_duration(r, get(map, "deadline"), &b->op.deadline_ns) &&
           fine;
    fine = replay_read_count(r, get(map, "upstream_attempt"), 0, UINT32_MAX,
                             &b->op.upstream_attempt) &&
           fine;
    fine = replay_read_count(r, get(map, "attempts_made"), 0, 1000000000,
                             &b->op.attempts_made) &&
           fine;
    b->op.has_key = key != NULL;
    if (fine && get(map, "deadline") && b->op.deadline_ns == 0)
        b->op.deadline_ns = 1; /* 0 would be no deadline at all */
    return fine;
}

static bool read_name(struct replay_reader *r, const struct bide__node *map,
                      struct replay_begin *b)
{
    const struct bide__node *node = get(map, "call");
    if (!node) {
        b->name = bide__arena_printf(r->script->arena, "line%u", r->line);
        r->no_memory = r->no_memory || !b->name;
        return b->name != NULL;
    }
    if (!replay_read_text(r, node, &b->name))
        return false;
    if (node->len == 0 || node->len > 200)
        return replay_mistake(r, node, "bad-value", NULL,
                              "expected a name of 1 to 200 bytes");
    const struct replay_name *old = replay_name_find(r, b->name);
    if (old)
        return replay_mistake(r, node, "duplicate-call", NULL,
                              "call `%.200s` began in line %u already", b->name,
                              old->line);
    return true;
}

static bool read_begin(struct replay_reader *r, const struct bide__node *map,
                       struct replay_event *ret)
{
    /* clang-format off */
    static const char *const known[] = {
        "t", "event", "call", "method", "idempotent", "idempotency_key",
        "one_shot_body", "deadline", "upstream_attempt", "attempts_made",
        "results", "count", "every", NULL
    };
    /* clang-format on */
    struct replay_begin *b = bide__arena_alloc(r->script->arena, sizeof *b);
    if (!b) {
        r->no_memory = true;
        return false;
    }
    *b = (struct replay_begin){ .method = "GET", .count = 1 };
    bool fine = replay_only_keys(r, map, known);
    fine = read_op(r, map, b) && fine;
    fine = read_results(r, get(map, "results"), b) && fine;
    fine = replay_read_count(r, get(map, "count"), 1, REPLAY_MAX_CALLS,
                             &b->count) &&
           fine;
    fine = replay_read_duration(r, get(map, "every"), &b->every_ns) && fine;
    fine = read_name(r, map, b) && fine;
    if (!b->name)
        return false;
    r->script->n_calls += b->count;
    r->script->n_bursts += b->count > 1;
    if (fine && r->script->n_bursts > REPLAY_MAX_BURSTS)
        return replay_mistake(r, get(map, "count"), "too-many-calls", NULL,
                              "more than %d lines with `count` in one script",
                              REPLAY_MAX_BURSTS);
    if (fine && r->script->n_calls > REPLAY_MAX_CALLS)
        return replay_mistake(r, get(map, "count"), "too-many-calls", NULL,
                              "more than %d calls in one script",
                              REPLAY_MAX_CALLS);
    /* Registered even if something is wrong with it: one error should not make
     * every line about this call another one. */
    ret->call = r->script->n_begins++;
    replay_name_add(r, b->name, ret->call, b->count > 1);
    ret->kind = REPLAY_EVENT_BEGIN;
    ret->of.begin = b;
    return fine;
}

/* ===== the others ===== */

static bool find_call(struct replay_reader *r, const struct bide__node *map,
                      uint32_t *ret)
{
    const struct bide__node *node = get(map, "call");
    const char *name = "";
    if (!node)
        return replay_mistake(r, map, "missing-key", NULL, "`call` is missing");
    if (!replay_read_text(r, node, &name))
        return false;
    const struct replay_name *found = replay_name_find(r, name);
    if (!found)
        return replay_mistake(r, node, "unknown-call", NULL,
                              "no call `%.200s` has begun", name);
    if (found->burst)
        return replay_mistake(r, node, "unknown-call",
                              "a begin with `count` takes its outcomes from "
                              "`results`",
                              "`%.200s` in line %u is more than one call", name,
                              found->line);
    *ret = found->begin;
    return true;
}

static bool read_result(struct replay_reader *r, const struct bide__node *map,
                        struct replay_event *ret)
{
    static const char *const known[] = {
        "t", "event", "call", "attempt", REPLAY_OUTCOME_KEYS, NULL
    };
    struct replay_outcome *o = bide__arena_alloc(r->script->arena, sizeof *o);
    if (!o) {
        r->no_memory = true;
        return false;
    }
    bool fine = replay_only_keys(r, map, known);
    fine = find_call(r, map, &ret->call) && fine;
    fine = replay_read_count(r, get(map, "attempt"), 1, UINT32_MAX,
                             &ret->attempt) &&
           fine;
    fine = replay_read_outcome(r, map, o) && fine;
    ret->kind = REPLAY_EVENT_RESULT;
    ret->of.outcome = o;
    return fine;
}

static bool read_cancel(struct replay_reader *r, const struct bide__node *map,
                        struct replay_event *ret)
{
    static const char *const known[] = { "t", "event", "call", NULL };
    bool fine = replay_only_keys(r, map, known);
    ret->kind = REPLAY_EVENT_CANCEL;
    return find_call(r, map, &ret->call) && fine;
}

static bool read_force(struct replay_reader *r, const struct bide__node *map,
                       struct replay_event *ret)
{
    static const char *const known[] = { "t", "event", "mode", NULL };
    static const char *const modes[] = {
#define X(name, key) key,
        BIDE_BREAKER_MODES(X)
#undef X
            NULL
    };
    int mode = BIDE_BREAKER_NORMAL;
    bool fine = replay_only_keys(r, map, known);
    if (!get(map, "mode"))
        return replay_mistake(r, map, "missing-key", NULL, "`mode` is missing");
    fine = replay_read_choice(r, get(map, "mode"), modes,
                              "normal, forced_open, forced_closed or dry_run",
                              &mode) &&
           fine;
    ret->kind = REPLAY_EVENT_FORCE;
    ret->of.mode = (bide_breaker_mode)mode;
    return fine;
}

static bool read_tick(struct replay_reader *r, const struct bide__node *map,
                      struct replay_event *ret)
{
    static const char *const known[] = { "t", "event", NULL };
    ret->kind = REPLAY_EVENT_TICK;
    return replay_only_keys(r, map, known);
}

/* One member of a state. */
static bool read_start_key(struct replay_reader *r, const struct bide__node *key,
                           const struct bide__node *value,
                           struct replay_start *to)
{
    size_t base;
    const struct bide__field *f =
        bide__field_find(&replay_start_table, key->text, &base);
    if (value->kind == BIDE__SCALAR &&
        bide__field_set(f, to, value->text, value->len) == BIDE__SET_OK)
        return true;
    return replay_mistake(r, value, "bad-value", NULL,
                          "`%s`: expected %s; found %.200s", f->key, f->expects,
                          bide__node_found(r->tree, value));
}

static bool read_start(struct replay_reader *r, const struct bide__node *map,
                       struct replay_event *ret)
{
    enum { MOST = 32 };
    const char *known[MOST] = { "t", "event" };
    size_t n = 2;
    struct replay_start *s = bide__arena_alloc(r->script->arena, sizeof *s);
    if (!s) {
        r->no_memory = true;
        return false;
    }
    *s = (struct replay_start)REPLAY_START_INIT;
    for (const struct bide__field *f = replay_start_table.fields;
         f->key && n + 1 < MOST; f++)
        known[n++] = f->key;
    known[n] = NULL;
    if (!replay_only_keys(r, map, known))
        return false;
    if (r->script->n_begins)
        return replay_mistake(r, map, "bad-value", NULL,
                              "a state to start from stands before the first "
                              "`begin`");
    ret->kind = REPLAY_EVENT_START;
    ret->of.start = s;
    bool fine = true;
    for (size_t i = 0; i < map->n; i++)
        if (!bide__node_is(map->keys[i], "t") &&
            !bide__node_is(map->keys[i], "event"))
            fine = read_start_key(r, map->keys[i], map->items[i], s) && fine;
    return fine;
}

static bool read_at(struct replay_reader *r, const struct bide__node *map,
                    struct replay_event *ret)
{
    const struct bide__node *node = get(map, "t");
    int64_t last = r->last_ns;
    char before[32], now[32];
    if (!node)
        return replay_mistake(r, map, "missing-key", NULL, "`t` is missing");
    if (!replay_read_time(r, node, &ret->at_ns))
        return false;
    if (ret->at_ns >= last) {
        r->last_ns = ret->at_ns;
        return true;
    }
    return replay_mistake(
        r, node, "time-runs-back", "events stand in the order of their times",
        "%s is before the event above, at %s",
        ret->at_ns < 0 ? "this"
                       : bide_format_duration(ret->at_ns, now, sizeof now),
        bide_format_duration(last, before, sizeof before));
}

bool replay_read_event(struct replay_reader *r, const struct bide__node *map,
                       struct replay_event *ret)
{
    static const char *const kinds[] = { "begin", "result", "cancel",
                                         "force_breaker", "tick", "start",
                                         NULL };
    static bool (*const read[])(
        struct replay_reader *, const struct bide__node *,
        struct replay_event *) = { read_begin, read_result, read_cancel,
                                   read_force, read_tick, read_start };
    int kind = -1;
    if (!map || map->kind != BIDE__MAP)
        return replay_mistake(r, map, "bad-value", NULL,
                              "expected an event, such as {\"t\": 0, "
                              "\"event\": \"begin\", \"call\": \"a\"}");
    bool fine = read_at(r, map, ret);
    if (!get(map, "event"))
        return replay_mistake(r, map, "missing-key", NULL,
                              "`event` is missing");
    if (!replay_read_choice(r, get(map, "event"), kinds,
                            "begin, result, cancel, force_breaker, tick or "
                            "start",
                            &kind))
        return false;
    return read[kind](r, map, ret) && fine;
}
