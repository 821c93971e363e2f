/* The outcome of an attempt, as written in a script: a status with its headers
 * and body, a transport error, or a gRPC code. */
#include "replay/event.h"
#include "replay/reader.h"

static struct bide__node *get(const struct bide__node *map, const char *key)
{
    return bide__map_get(map, key, NULL);
}

static bool add_header(struct replay_reader *r, const struct bide__node *name,
                       const struct bide__node *value, bide_header *ret)
{
    const char *name_text = "", *value_text = "";
    if (!replay_read_text(r, name, &name_text) ||
        !replay_read_text(r, value, &value_text))
        return false;
    *ret = (bide_header){ name_text, name->len, value_text, value->len };
    return true;
}

static size_t count_headers(const struct bide__node *map)
{
    size_t n = 0;
    for (size_t i = 0; i < map->n; i++)
        n += map->items[i]->kind == BIDE__LIST ? map->items[i]->n : 1;
    return n;
}

/* {"Retry-After": "2"}, a list for a field that occurs more than once. */
static bool read_headers(struct replay_reader *r, const struct bide__node *map,
                         struct replay_outcome *ret)
{
    if (!map)
        return true;
    if (map->kind != BIDE__MAP)
        return replay_mistake(r, map, "bad-value", NULL,
                              "found %.200s, expected a map of header fields",
                              bide__node_found(r->tree, map));
    size_t n = count_headers(map);
    bide_header *headers =
        bide__arena_alloc(r->script->arena, (n + 1) * sizeof headers[0]);
    if (!headers) {
        r->no_memory = true;
        return false;
    }
    n = 0;
    for (size_t i = 0; i < map->n; i++) {
        const struct bide__node *value = map->items[i];
        bool list = value->kind == BIDE__LIST;
        for (size_t k = 0; k < (list ? value->n : 1); k++)
            if (!add_header(r, map->keys[i], list ? value->items[k] : value,
                            &headers[n++]))
                return false;
    }
    ret->headers = headers;
    ret->n_headers = n;
    return true;
}

static bool read_fault(struct replay_reader *r, const struct bide__node *node,
                       struct replay_outcome *ret)
{
    static const char *const names[] = {
#define X(name, key, cls) name == BIDE_FAULT_NONE ? "" : key,
        BIDE_FAULTS(X)
#undef X
            NULL
    };
    int fault = BIDE_FAULT_NONE;
    bool fine = replay_read_choice(r, node, names,
                                   "an error: connect, reset, timeout, dns, "
                                   "tls, ...",
                                   &fault);
    ret->fault = (bide_fault)fault;
    return fine;
}

/* By its name or by its number. */
static bool read_grpc(struct replay_reader *r, const struct bide__node *node,
                      struct replay_outcome *ret)
{
    static const char *const names[] = {
#define X(name, value, key) key,
        BIDE_GRPC_CODES(X)
#undef X
            NULL
    };
    uint32_t number = 0;
    bool fine;
    if (!node)
        return true;
    ret->is_grpc = true;
    if (node->kind == BIDE__SCALAR && !node->quoted) {
        fine = replay_read_count(r, node, 0, BIDE_N_GRPC - 1, &number);
        ret->grpc = (int)number;
    } else {
        fine = replay_read_choice(
            r, node, names, "a gRPC code such as UNAVAILABLE", &ret->grpc);
    }
    return fine;
}

bool replay_read_outcome(struct replay_reader *r, const struct bide__node *map,
                         struct replay_outcome *ret)
{
    struct replay_outcome o = { .latency_ns = -1 };
    const struct bide__node *body = get(map, "body");
    uint32_t status = 0;
    bool sent = true;

    if (!get(map, "status") && !get(map, "error") && !get(map, "grpc"))
        return replay_mistake(r, map, "missing-key", NULL,
                              "a result needs `status`, `error` or `grpc`");
    bool fine = replay_read_count(r, get(map, "status"), 100, 999, &status);
    fine = read_fault(r, get(map, "error"), &o) && fine;
    fine = replay_read_flag(r, get(map, "sent"), &sent) && fine;
    fine = read_grpc(r, get(map, "grpc"), &o) && fine;
    fine = read_headers(r, get(map, "headers"), &o) && fine;
    fine = replay_read_text(r, body, &o.body) && fine;
    fine = replay_read_duration(r, get(map, "latency"), &o.latency_ns) && fine;
    o.status = (int)status;
    o.not_sent = !sent;
    o.body_len = body && o.body ? body->len : 0;
    *ret = o;
    return fine;
}
