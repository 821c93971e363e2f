/* Messages as properties and headers, read, whoever has written them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "queue/foreign.h"
#include "queue/rabbitmq/copy.h"

static int64_t int_of(const amqp_field_value_t *v)
{
    switch (v->kind) {
    case AMQP_FIELD_KIND_BOOLEAN: return v->value.boolean != 0;
    case AMQP_FIELD_KIND_I8: return v->value.i8;
    case AMQP_FIELD_KIND_U8: return v->value.u8;
    case AMQP_FIELD_KIND_I16: return v->value.i16;
    case AMQP_FIELD_KIND_U16: return v->value.u16;
    case AMQP_FIELD_KIND_I32: return v->value.i32;
    case AMQP_FIELD_KIND_U32: return v->value.u32;
    case AMQP_FIELD_KIND_I64: return v->value.i64;
    case AMQP_FIELD_KIND_U64: return (int64_t)v->value.u64;
    case AMQP_FIELD_KIND_TIMESTAMP: return (int64_t)v->value.u64;
    default: return 0;
    }
}

static bool is_text(const amqp_field_value_t *v)
{
    return v->kind == AMQP_FIELD_KIND_UTF8 || v->kind == AMQP_FIELD_KIND_BYTES;
}

static bool is_number(const amqp_field_value_t *v)
{
    return v->kind != AMQP_FIELD_KIND_TABLE && v->kind != AMQP_FIELD_KIND_ARRAY &&
           v->kind != AMQP_FIELD_KIND_VOID && v->kind != AMQP_FIELD_KIND_DECIMAL;
}

static bool is_called(amqp_bytes_t name, const char *text)
{
    return name.len == strlen(text) && memcmp(name.bytes, text, name.len) == 0;
}

static bool begins(amqp_bytes_t name, const char *with)
{
    return name.len >= strlen(with) && memcmp(name.bytes, with, strlen(with)) == 0;
}

static const amqp_field_value_t *find(const amqp_table_t *t, const char *name)
{
    for (int i = 0; i < t->num_entries; i++)
        if (is_called(t->entries[i].key, name))
            return &t->entries[i].value;
    return NULL;
}

static int64_t find_int(const amqp_table_t *t, const char *name)
{
    const amqp_field_value_t *v = find(t, name);

    return v ? int_of(v) : 0;
}

static amqp_bytes_t find_text(const amqp_table_t *t, const char *name)
{
    const amqp_field_value_t *v = find(t, name);

    return v && is_text(v) && v->value.bytes.len > 0 ? v->value.bytes : wire_bytes("");
}

/* ===== attributes ===== */

static char *copy_bytes(amqp_bytes_t b)
{
    char *to = malloc(b.len + 1);

    if (to && b.len > 0)
        memcpy(to, b.bytes, b.len);
    if (to)
        to[b.len] = '\0';
    return to;
}

static char *value_text(const amqp_field_value_t *v)
{
    char number[BIDE__NUMBER];

    if (is_text(v))
        return copy_bytes(v->value.bytes);
    if (v->kind == AMQP_FIELD_KIND_BOOLEAN)
        return strdup(v->value.boolean ? "true" : "false");
    if (v->kind == AMQP_FIELD_KIND_F64 || v->kind == AMQP_FIELD_KIND_F32)
        return strdup(bide__number(v->kind == AMQP_FIELD_KIND_F64 ? v->value.f64
                                                                  : (double)v->value.f32,
                                   number));
    snprintf(number, sizeof number, "%" PRId64, int_of(v));
    return strdup(number);
}

/* Tables and lists have no place in an environment; what the server adds is not the
 * producer's. */
static bool is_attribute(const amqp_table_entry_t *e)
{
    return !begins(e->key, "bide-") && !begins(e->key, "x-death") &&
           !begins(e->key, "x-first-death-") && !begins(e->key, "x-last-death-") &&
           !is_called(e->key, "x-delivery-count") &&
           (is_text(&e->value) || is_number(&e->value));
}

static size_t read_attributes(const amqp_table_t *t, struct queue_attribute *to)
{
    size_t n = 0;

    for (int i = 0; i < t->num_entries && n < QUEUE_ATTRIBUTES_MAX; i++) {
        const amqp_table_entry_t *e = &t->entries[i];
        if (!is_attribute(e))
            continue;
        char *name = copy_bytes(e->key), *value = value_text(&e->value);
        if (!name || !value || strlen(value) + e->key.len > QUEUE_ATTRIBUTE_MAX) {
            free(name);
            free(value);
            continue; /* too large for a handler's environment */
        }
        foreign_name(name, e->key.len + 1, e->key.bytes, e->key.len);
        to[n++] = (struct queue_attribute){ name, value };
    }
    return n;
}

/* ===== counts ===== */

static void read_counts(struct queue_message *m, const amqp_basic_properties_t *p,
                        const amqp_table_t *t)
{
    bool ours = find(t, "bide-queued") != NULL;

    m->priority = foreign_priority(ours || !(p->_flags & AMQP_BASIC_PRIORITY_FLAG)
                                       ? find_int(t, "bide-priority")
                                       : p->priority);
    m->attempt = (uint32_t)find_int(t, "bide-attempt");
    m->deliveries = (uint32_t)find_int(t, "bide-deliveries") + 1;
    m->deaths = (uint32_t)find_int(t, "bide-deaths");
    m->suspect = find_int(t, "bide-suspect") != 0;
    m->generation = (uint32_t)find_int(t, "bide-generation");
    m->queued_ms = find_int(t, "bide-queued");
    if (m->queued_ms <= 0 && (p->_flags & AMQP_BASIC_TIMESTAMP_FLAG))
        m->queued_ms = (int64_t)p->timestamp * 1000;
    m->due_ms = find_int(t, "bide-due");
    if (m->due_ms <= 0)
        m->due_ms = m->queued_ms;
}

static void read_end(struct wire_in *to, const amqp_table_t *t)
{
    amqp_bytes_t reason = find_text(t, "bide-reason");
    amqp_bytes_t cls = find_text(t, "bide-class");
    amqp_bytes_t tail = find_text(t, "bide-output");

    snprintf(to->reason, sizeof to->reason, "%.*s", (int)reason.len,
             (const char *)reason.bytes);
    snprintf(to->cls, sizeof to->cls, "%.*s", (int)cls.len, (const char *)cls.bytes);
    to->died_ms = find_int(t, "bide-died");
    to->tail = tail.len > 0 ? copy_bytes(tail) : NULL;
    to->tail_len = to->tail ? tail.len : 0;
    to->token = (uint64_t)find_int(t, "bide-token");
    to->seq = (uint64_t)find_int(t, "bide-seq");
    to->wait = (uint64_t)find_int(t, "bide-wait");
    to->kind = (int)find_int(t, "bide-kind");
    to->hello = find(t, "bide-hello") != NULL;
}

int copy_read(struct wire_in *to, const amqp_basic_properties_t *p, const void *body,
              size_t len)
{
    static const amqp_table_t none = { 0, NULL };
    const amqp_table_t *t = p->_flags & AMQP_BASIC_HEADERS_FLAG ? &p->headers : &none;
    struct queue_attribute attributes[QUEUE_ATTRIBUTES_MAX];
    char id[QUEUE_ID_MAX + 1] = "", key[QUEUE_ID_MAX + 1];
    amqp_bytes_t given = find_text(t, "bide-key");
    size_t n = read_attributes(t, attributes);
    char *errors = copy_bytes(find_text(t, "bide-errors"));

    if ((p->_flags & AMQP_BASIC_MESSAGE_ID_FLAG) && p->message_id.len > 0)
        foreign_id(id, p->message_id.bytes, p->message_id.len);
    foreign_id(key, given.bytes, given.len);
    to->named = *id != '\0';
    to->message = queue_message_new(&(struct queue_text){ .id = id,
                                                          .key = key,
                                                          .errors = errors,
                                                          .body = body,
                                                          .body_len = len,
                                                          .attributes = attributes,
                                                          .n_attributes = n });
    if (to->message)
        read_counts(to->message, p, t);
    read_end(to, t);
    free(errors);
    for (size_t i = 0; i < n; i++) {
        free((char *)attributes[i].name);
        free((char *)attributes[i].value);
    }
    return to->message ? 0 : -1;
}
