/* A message from the script's answer. */
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
 * they end there. */
static size_t read_attributes(const struct redis_reply *r,
                              struct queue_attribute *to, size_t most)
{
    size_t n = 0;

    for (size_t i = 0; i + 1 < r->n && n < most; i += 2) {
        if (r->items[i].len + r->items[i + 1].len > QUEUE_ATTRIBUTE_MAX)
            continue; /* too large for a handler's environment */
        char *name = text_of(&r->items[i]), *value = text_of(&r->items[i + 1]);
        if (!name || !value) {
            free(name);
            free(value);
            break;
        }
        foreign_name(name, r->items[i].len + 1, r->items[i].text,
                     r->items[i].len);
        to[n++] = (struct queue_attribute){ name, value };
    }
    return n;
}

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

struct queue_message *rq_message(const struct redis_reply *r)
{
    struct queue_attribute attributes[QUEUE_ATTRIBUTES_MAX];
    char id[QUEUE_ID_MAX + 1], key[QUEUE_ID_MAX + 1];

    if (r->type != REDIS_ARRAY || r->n < N_PARTS)
        return NULL;
    const struct redis_reply *part = r->items;
    size_t n = read_attributes(&part[ATTRIBUTES], attributes,
                               QUEUE_ATTRIBUTES_MAX);
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
    for (size_t i = 0; i < n; i++) {
        free((char *)attributes[i].name);
        free((char *)attributes[i].value);
    }
    return m;
}
