/* Messages as properties and headers, written. */
#include "queue/rabbitmq/copy.h"

#include <string.h>

enum { OWN_HEADERS = 20 };

struct copy copy_of(const struct queue_message *m)
{
    return (struct copy){ .id = m->id,
                          .key = m->key,
                          .errors = m->errors,
                          .priority = m->priority,
                          .body = m->body,
                          .len = m->body_len,
                          .attributes = m->attributes,
                          .n_attributes = m->n_attributes,
                          .attempt = m->attempt,
                          .deaths = m->deaths,
                          .generation = m->generation,
                          .deliveries = m->deliveries,
                          .suspect = m->suspect,
                          .queued_ms = m->queued_ms,
                          .due_ms = m->due_ms };
}

size_t copy_attributes_size(const struct queue_attribute *list, size_t n)
{
    size_t size = 0;

    for (size_t i = 0; i < n; i++)
        size += strlen(list[i].name) + strlen(list[i].value) + 8;
    return size;
}

/* Threads: owned. */
struct headers {
    amqp_table_entry_t entries[OWN_HEADERS + QUEUE_ATTRIBUTES_MAX];
    int n;
};

static amqp_table_entry_t *add(struct headers *h, const char *name, uint8_t kind)
{
    amqp_table_entry_t *e = &h->entries[h->n++];

    *e = (amqp_table_entry_t){ .key = wire_bytes(name), .value = { .kind = kind } };
    return e;
}

static void add_int(struct headers *h, const char *name, int64_t value)
{
    if (value != 0)
        add(h, name, AMQP_FIELD_KIND_I64)->value.value.i64 = value;
}

static void add_text(struct headers *h, const char *name, const char *value)
{
    if (value && *value)
        add(h, name, AMQP_FIELD_KIND_UTF8)->value.value.bytes = wire_bytes(value);
}

static void add_own(struct headers *h, const struct copy *c, bool room_for_errors)
{
    add_text(h, "bide-key", c->key);
    add_int(h, "bide-priority", c->priority);
    add_int(h, "bide-attempt", c->attempt);
    add_int(h, "bide-deliveries", c->deliveries);
    add_int(h, "bide-deaths", c->deaths);
    add_int(h, "bide-suspect", c->suspect);
    add_int(h, "bide-generation", c->generation);
    add_int(h, "bide-queued", c->queued_ms);
    add_int(h, "bide-due", c->due_ms);
    add_int(h, "bide-token", (int64_t)c->token);
    add_int(h, "bide-seq", (int64_t)c->seq);
    add_int(h, "bide-wait", (int64_t)c->wait);
    add_int(h, "bide-kind", c->kind);
    if (room_for_errors)
        add_text(h, "bide-errors", c->errors);
    if (!c->reason)
        return;
    add_text(h, "bide-reason", c->reason);
    add_text(h, "bide-class", c->cls);
    add_int(h, "bide-died", c->died_ms);
    if (c->tail_len > 0)
        add(h, "bide-output", AMQP_FIELD_KIND_BYTES)->value.value.bytes =
            (amqp_bytes_t){ c->tail_len, (void *)(uintptr_t)c->tail };
}

int copy_publish(struct wire *w, const char *exchange, const char *key,
                 const struct copy *c)
{
    struct headers h = { .n = 0 };
    amqp_basic_properties_t p = { 0 };
    size_t size = copy_attributes_size(c->attributes, c->n_attributes);

    add_own(&h, c, size < COPY_HEADERS_MAX);
    for (size_t i = 0; i < c->n_attributes; i++)
        add(&h, c->attributes[i].name, AMQP_FIELD_KIND_UTF8)->value.value.bytes =
            wire_bytes(c->attributes[i].value);
    p._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_HEADERS_FLAG |
               AMQP_BASIC_PRIORITY_FLAG;
    p.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    p.priority = (uint8_t)(c->priority + QUEUE_PRIORITY_MAX);
    p.headers = (amqp_table_t){ h.n, h.entries };
    if (c->id) {
        p._flags |= AMQP_BASIC_MESSAGE_ID_FLAG;
        p.message_id = wire_bytes(c->id);
    }
    if (c->queued_ms > 0) {
        p._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
        p.timestamp = (uint64_t)(c->queued_ms / 1000);
    }
    return wire_publish(w, exchange, key, &p, c->body, c->len);
}
