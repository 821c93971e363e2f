/* What has arrived, by id. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

enum { SLOTS = 4096, KEPT = 64 };

struct seen {
    char method[16], key[64], attempt[32], timeout[16], traceparent[64];
    char baggage[TEXT_MAX];
    char range[64], if_range[64];
    unsigned connection;
    size_t body;
    bool complete;
};

struct record {
    struct record *next;
    char id[TEXT_MAX];
    unsigned requests, complete;
    struct seen *seen;
};

static struct record *slots[SLOTS];

static struct record **find(const char *id)
{
    unsigned h = 5381;
    for (const char *c = id; *c; c++)
        h = h * 33 + (unsigned char)*c;
    struct record **at = &slots[h % SLOTS];
    while (*at && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    return at;
}

static struct record *made(const char *id)
{
    struct record **at = find(id);
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (!*at)
            abort();
        snprintf((*at)->id, sizeof (*at)->id, "%s", id);
    }
    return *at;
}

#define KEEP(seen, r, field)                                                   \
    snprintf((seen)->field, sizeof (seen)->field, "%.*s",                      \
             (int)sizeof (seen)->field - 1, (r)->field)

struct record *record_arrived(const struct request *r, unsigned connection,
                              unsigned *ret_nth)
{
    struct record *record = made(r->id);
    *ret_nth = ++record->requests;
    if (*ret_nth > KEPT)
        return record;
    record->seen = realloc(record->seen, *ret_nth * sizeof *record->seen);
    if (!record->seen)
        abort();
    struct seen *s = &record->seen[*ret_nth - 1];
    memset(s, 0, sizeof *s);
    s->connection = connection;
    KEEP(s, r, method);
    KEEP(s, r, key);
    KEEP(s, r, attempt);
    KEEP(s, r, timeout);
    KEEP(s, r, traceparent);
    KEEP(s, r, baggage);
    KEEP(s, r, range);
    KEEP(s, r, if_range);
    return record;
}

void record_complete(struct record *record, unsigned nth, size_t body)
{
    record->complete++;
    if (nth <= KEPT) {
        record->seen[nth - 1].complete = true;
        record->seen[nth - 1].body = body;
    }
}

void records_forget(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        while (slots[i]) {
            struct record *record = slots[i];
            slots[i] = record->next;
            free(record->seen);
            free(record);
        }
    }
}

/* ===== JSON ===== */

static void show_text(struct bytes *out, const char *name, const char *text)
{
    bytes_addf(out, ",\"%s\":\"", name);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            bytes_add(out, "\\", 1);
        if ((unsigned char)*text >= ' ')
            bytes_add(out, text, 1);
    }
    bytes_add(out, "\"", 1);
}

static void show_seen(struct bytes *out, const struct seen *s)
{
    bytes_addf(out, "{\"connection\":%u,\"complete\":%s,\"body\":%zu",
               s->connection, s->complete ? "true" : "false", s->body);
    show_text(out, "method", s->method);
    show_text(out, "key", s->key);
    show_text(out, "attempt", s->attempt);
    show_text(out, "timeout_ms", s->timeout);
    show_text(out, "traceparent", s->traceparent);
    show_text(out, "baggage", s->baggage);
    show_text(out, "range", s->range);
    show_text(out, "if_range", s->if_range);
    bytes_add(out, "}", 1);
}

static void show_all(struct bytes *out)
{
    unsigned ids = 0, requests = 0, complete = 0, most = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        for (struct record *r = slots[i]; r; r = r->next) {
            ids++;
            requests += r->requests;
            complete += r->complete;
            most = r->requests > most ? r->requests : most;
        }
    }
    bytes_addf(out, "{\"ids\":%u,\"requests\":%u,\"complete\":%u,", ids,
               requests, complete);
    bytes_addf(out, "\"most\":%u}\n", most);
}

void records_show(const char *id, struct bytes *out)
{
    struct record none = { .requests = 0 };
    struct record *r = id ? *find(id) : NULL;
    if (!id) {
        show_all(out);
        return;
    }
    if (!r)
        r = &none;
    bytes_addf(out, "{\"requests\":%u,\"complete\":%u,\"seen\":[", r->requests,
               r->complete);
    for (unsigned i = 0; i < r->requests && i < KEPT; i++) {
        bytes_add(out, ",\n", i ? 2 : 0);
        show_seen(out, &r->seen[i]);
    }
    bytes_addf(out, "]}\n");
}

void records_list(struct bytes *out)
{
    const char *comma = "";
    bytes_add(out, "{", 1);
    for (size_t i = 0; i < SLOTS; i++) {
        for (struct record *r = slots[i]; r; r = r->next) {
            bytes_addf(out, "%s\"%s\":[%u,%u]", comma, r->id, r->requests,
                       r->complete);
            comma = ",\n";
        }
    }
    bytes_addf(out, "}\n");
}
