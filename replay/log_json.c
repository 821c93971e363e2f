/* One line of a JSON log, whatever its keys: each of the values is looked up
 * under the names that known loggers use, bide's own access log among them. */
#include <stdio.h>
#include <string.h>

#include "bide/bide.h"
#include "config/doc/tree.h"
#include "replay/format.h"
#include "replay/log.h"
#include "replay/instant.h"

static const char *const time_keys[] = {
    "time",         "timestamp",  "@timestamp", "ts",         "t",
    "time_iso8601", "time_local", "msec",       "start_time", NULL
};
static const char *const status_keys[] = { "status",      "status_code",
                                           "code",        "response_code",
                                           "http_status", NULL };
static const char *const method_keys[] = { "method", "request_method",
                                           "http_method", "request", NULL };
/* Without a unit in the name: seconds, as in nginx. nginx and bide write a line
 * when the response is complete. */
static const struct unit {
    const char *key;
    int64_t ns;
    bool at_end;
} latency_keys[] = {
    { "latency", BIDE_SECOND, false },
    { "request_time", BIDE_SECOND, true },
    { "took_ms", BIDE_MILLISECOND, true },
    { "duration", BIDE_SECOND, false },
    { "latency_ms", BIDE_MILLISECOND, false },
    { "duration_ms", BIDE_MILLISECOND, false },
    { "latency_us", 1000, false },
    { "duration_us", 1000, false },
    { NULL, 0, false },
};

static const struct bide__node *find(const struct bide__node *map,
                                     const char *const *keys)
{
    const struct bide__node *found = NULL;
    for (; *keys && !found; keys++)
        found = bide__map_get(map, *keys, NULL);
    return found && found->kind == BIDE__SCALAR ? found : NULL;
}

static bool take_time(const struct bide__node *n, struct replay_line *line)
{
    bool whole = true;
    if (replay_time_iso(n->text, n->len, &line->at_ns, &whole) == 0 ||
        replay_time_clf(n->text, n->len, &line->at_ns) == 0) {
        line->whole_second = whole;
        return true;
    }
    line->whole_second = n->len <= 11 && !memchr(n->text, '.', n->len);
    return replay_time_epoch(n->text, n->len, &line->at_ns) == 0;
}

/* Envoy writes 0 if the client went away; nginx calls that 499. */
static bool take_status(const struct bide__node *n, struct replay_line *line)
{
    int64_t status;
    if (bide__node_is(n, "0")) {
        line->met = 499;
        return true;
    }
    if (n->len != 3 || replay_decimal(n->text, n->len, 1, &status) < 0 ||
        status < 100)
        return false;
    line->met = (uint16_t)status;
    return true;
}

static const struct bide__node *scalar(const struct bide__node *map,
                                       const char *key)
{
    const struct bide__node *n = bide__map_get(map, key, NULL);
    return n && n->kind == BIDE__SCALAR ? n : NULL;
}

/* To HTTP every gRPC call is a 200: how it ended is its own status. */
static void take_grpc(const struct bide__node *map, struct replay_line *line)
{
    const struct bide__node *n = scalar(map, "grpc_status");
    int code;
    int64_t number;
    if (!n)
        return;
    if (replay_decimal(n->text, n->len, 1, &number) == 0 && number >= 0 &&
        number < BIDE_N_GRPC)
        line->met = (uint16_t)(REPLAY_GRPC + number);
    else if (bide_grpc_by_name(n->text, &code) == 0)
        line->met = (uint16_t)(REPLAY_GRPC + code);
}

/* bide's own: what the last attempt failed by. Its response was bide's then. */
static void take_fault(const struct bide__node *map, struct replay_line *line)
{
    static const char *const names[] = {
#define X(name, key, cls) key,
        BIDE_FAULTS(X)
#undef X
    };
    const struct bide__node *fault = scalar(map, "fault");
    const struct bide__node *reason = scalar(map, "reason");
    if (!fault || !reason || bide__node_is(reason, "success") ||
        line->met == 499)
        return;
    for (unsigned i = 1; i < BIDE_N_FAULTS; i++)
        if (bide__node_is(fault, names[i]))
            line->met = (uint16_t)(REPLAY_FAULT + i);
}

static int64_t number(const struct bide__node *map, const char *key,
                      int64_t unit)
{
    const struct bide__node *n = bide__map_get(map, key, NULL);
    int64_t value = 0;
    if (n && n->kind == BIDE__SCALAR)
        replay_decimal(n->text, n->len, unit, &value);
    return value;
}

/* bide logs calls, of which some took several attempts and waits: the share of
 * one attempt. */
static int64_t of_one_attempt(const struct bide__node *map, int64_t ns)
{
    int64_t attempts = number(map, "attempts", 1);
    int64_t waited = number(map, "waited_ms", BIDE_MILLISECOND);
    ns -= waited < ns ? waited : 0;
    return attempts > 1 ? ns / attempts : ns;
}

/* A number in the unit of its key, or text with a unit of its own. Envoy's
 * `duration`, beside its `start_time`, is in milliseconds. */
static bool take_latency(const struct bide__node *map, struct replay_line *line)
{
    bool envoy = bide__map_get(map, "start_time", NULL) != NULL;
    int64_t ns;
    for (const struct unit *u = latency_keys; u->key; u++) {
        const struct bide__node *n = bide__map_get(map, u->key, NULL);
        int64_t unit = envoy ? BIDE_MILLISECOND : u->ns;
        if (!n || n->kind != BIDE__SCALAR)
            continue;
        if (replay_decimal(n->text, n->len, unit, &ns) < 0 &&
            bide_parse_duration(n->text, n->len, &ns) < 0)
            continue;
        int64_t us = of_one_attempt(map, ns) / 1000;
        line->latency_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
        line->at_end = u->at_end;
        return true;
    }
    return false;
}

/* `POST /a HTTP/1.1` or `POST`. */
static bool idempotent(const struct bide__node *n)
{
    char method[16];
    snprintf(method, sizeof method, "%.*s", (int)strcspn(n->text, " "),
             n->text);
    return bide_method_idempotent(method);
}

static const char *take(const struct bide__node *map, struct replay_line *line,
                        bool *ret_has_latency)
{
    if (!map || map->kind != BIDE__MAP)
        return "not an object";
    const struct bide__node *time = find(map, time_keys);
    const struct bide__node *status = find(map, status_keys);
    const struct bide__node *method = find(map, method_keys);
    if (!time || !take_time(time, line))
        return "no time that is one";
    if (!status || !take_status(status, line))
        return "no status that is one";
    take_grpc(map, line);
    take_fault(map, line);
    line->idempotent = !method || idempotent(method);
    *ret_has_latency = take_latency(map, line);
    return NULL;
}

int replay_log_json(const char *text, size_t len, struct replay_line *ret,
                    bool *ret_has_latency, const char **ret_why)
{
    struct bide__tree *tree = NULL;
    struct replay_line line = { 0 };
    int rc = bide__tree_json(&tree, "log", text, len, NULL);
    if (rc < 0) {
        *ret_why = rc == BIDE_ENOMEM ? "out of memory" : "not JSON";
        return BIDE_EPARSE;
    }
    *ret_why = take(tree->root, &line, ret_has_latency);
    bide__tree_free(tree);
    if (*ret_why)
        return BIDE_EPARSE;
    *ret = line;
    return 0;
}
