/* A message from the script's answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/foreign.h"
#include "queue/redis/put.h"
#include "queue/redis/session.h"

/* In the order of describe() in queue.lua. */
enum {
    HANDLE,
    TOKEN,
    ID,
    KEY,
    PRIORITY,
    BODY,
    QUEUED,
    DUE,
    ATTEMPT,
    DELIVERIES,
    DEATHS,
    SUSPECT,
    GENERATION,
    ERRORS,
    ATTRIBUTES,
    N_PARTS
};

static char *text_of(const struct redis_reply *r)
{
    char *text = malloc(r->len + 1);

    if (!text)
        return NULL;
    memcpy(text, r->text, r->len);
    text[r->len] = '\0';
    return text;
}

/* Values of a foreign producer may hold zero bytes, which no environment can:
 * they end there. False: no memory. */
static bool add_attribute(struct queue_attribute *list, size_t *n,
                          const struct redis_reply *name,
                          const struct redis_reply *value)
{
    if (*n == QUEUE_ATTRIBUTES_MAX ||
        name->len + value->len > QUEUE_ATTRIBUTE_MAX)
        return true; /* too large for a handler's environment */
    char *to = text_of(name), *text = text_of(value);
    if (!to || !text) {
        free(to);
        free(text);
        return false;
    }
    foreign_name(to, name->len + 1, name->text, name->len);
    list[(*n)++] = (struct queue_attribute){ to, text };
    return true;
}

static void free_attributes(struct queue_attribute *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free((char *)list[i].name);
        free((char *)list[i].value);
    }
}

/* ===== jobs ===== */

static void read_counts(const struct redis_reply *r, struct queue_message *m)
{
    m->priority = foreign_priority(rq_int(r, PRIORITY));
    m->token = (uint64_t)rq_int(r, TOKEN);
    m->queued_ms = rq_int(r, QUEUED) / 1000;
    m->due_ms = rq_int(r, DUE) / 1000;
    m->attempt = (uint32_t)rq_int(r, ATTEMPT);
    m->deliveries = (uint32_t)rq_int(r, DELIVERIES);
    m->deaths = (uint32_t)rq_int(r, DEATHS);
    m->suspect = rq_int(r, SUSPECT) != 0;
    m->generation = (uint32_t)rq_int(r, GENERATION);
}

static struct queue_message *read_job(const struct redis_reply *r)
{
    struct queue_attribute attributes[QUEUE_ATTRIBUTES_MAX];
    char id[QUEUE_ID_MAX + 1], key[QUEUE_ID_MAX + 1];
    const struct redis_reply *part = r->items, *list = &part[ATTRIBUTES];
    size_t n = 0;

    for (size_t i = 0; i + 1 < list->n; i += 2)
        if (!add_attribute(attributes, &n, &list->items[i], &list->items[i + 1]))
            break;
    char *handle = text_of(&part[HANDLE]), *errors = text_of(&part[ERRORS]);
    foreign_id(id, part[ID].text, part[ID].len);
    foreign_id(key, part[KEY].text, part[KEY].len);
    struct queue_message *m =
        handle && errors ? queue_message_new(&(struct queue_text){
                               .id = id,
                               .key = key,
                               .handle = handle,
                               .errors = errors,
                               .body = part[BODY].text,
                               .body_len = part[BODY].len,
                               .attributes = attributes,
                               .n_attributes = n })
                         : NULL;
    if (m)
        read_counts(r, m);
    free(handle);
    free(errors);
    free_attributes(attributes, n);
    return m;
}

/* ===== entries ===== */

static bool is(const struct redis_reply *r, const char *word)
{
    return r->len == strlen(word) && memcmp(r->text, word, r->len) == 0;
}

/* What the fields of an entry say, as read_fields() in queue.lua has it; those with a
 * key, a due time or a priority come as jobs. */
static struct queue_message *read_entry(const struct redis_reply *r)
{
    struct queue_attribute attributes[QUEUE_ATTRIBUTES_MAX];
    const struct redis_reply *entry = &r->items[0], *fields = &r->items[1];
    const struct redis_reply *id = entry, *body = NULL;
    char text[QUEUE_ID_MAX + 1], handle[RQ_HANDLE];
    int priority = foreign_priority(rq_int(r, 2));
    bool unique = false;
    size_t n = 0;

    for (size_t i = 0; i + 1 < fields->n; i += 2) {
        const struct redis_reply *name = &fields->items[i], *value = name + 1;
        struct redis_reply bare = *name;
        if (is(name, "body") || fields->n == 2) {
            body = value;
        } else if (is(name, "id")) {
            id = value->len ? value : entry;
        } else if (is(name, "unique")) {
            unique = true;
        } else {
            if (bare.len && bare.text[0] == '@')
                bare.text++, bare.len--;
            if (!add_attribute(attributes, &n, &bare, value))
                break;
        }
    }
    foreign_id(text, id->text, id->len);
    snprintf(handle, sizeof handle, "%c%d/%.*s", unique ? 'S' : 's', priority,
             (int)entry->len, entry->text);
    struct queue_message *m = queue_message_new(
        &(struct queue_text){ .id = text,
                              .handle = handle,
                              .body = body ? body->text : "",
                              .body_len = body ? body->len : 0,
                              .attributes = attributes,
                              .n_attributes = n });
    free_attributes(attributes, n);
    if (!m)
        return NULL;
    m->priority = priority;
    m->deliveries = 1;
    m->queued_ms = m->due_ms = strtoll(handle + strcspn(handle, "/") + 1, NULL, 10);
    return m;
}

struct queue_message *rq_message(const struct redis_reply *r, uint64_t token)
{
    if (r->type != REDIS_ARRAY || r->n < 3)
        return NULL;
    if (r->items[1].type != REDIS_ARRAY)
        return r->n < N_PARTS ? NULL : read_job(r);
    struct queue_message *m = read_entry(r);
    if (m)
        m->token = token;
    return m;
}
