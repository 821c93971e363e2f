/* What a handler sees of a message of SQS's. */
#include "queue/sqs/row.h"

#include <stdlib.h>
#include <string.h>

#include "queue/foreign.h"
#include "queue/sqs/base64.h"
#include "queue/sqs/send.h"

static void add(struct queue_attribute *to, size_t *n, struct sq_value name,
                struct sq_value value)
{
    char *label = sq_text(name, NULL), *text = sq_text(value, NULL);

    if (!label || !text || *n == QUEUE_ATTRIBUTES_MAX ||
        strlen(label) + strlen(text) > QUEUE_ATTRIBUTE_MAX) {
        free(label); /* too large for a handler's environment */
        free(text);
        return;
    }
    foreign_name(label, strlen(label) + 1, label, strlen(label));
    to[(*n)++] = (struct queue_attribute){ label, text };
}

/* Numbers are texts to SQS, too; a binary value is passed on as base64. */
static size_t read_attributes(const struct sq_state *s,
                              struct queue_attribute *to)
{
    struct sq_value name, v;
    size_t n = 0;

    for (size_t at = 0; sq_next_member(s->native, &at, &name, &v);) {
        if (sq_is(name, "bide") || sq_is(name, "bide.id"))
            continue;
        struct sq_value text = sq_member(v, "StringValue");
        add(to, &n, name, text.len ? text : sq_member(v, "BinaryValue"));
    }
    for (size_t at = 0; sq_next_member(s->packed, &at, &name, &v);)
        add(to, &n, name, v);
    return n;
}

static char *read_body(struct sq_value v, bool base64, size_t *ret_len)
{
    char *text = sq_text(sq_member(v, "Body"), ret_len);

    if (!text || !base64)
        return text;
    char *bytes = (char *)sq_base64_read(text, *ret_len, ret_len);
    if (!bytes)
        return text;
    free(text);
    return bytes;
}

static void read_key(struct sq_value system, const struct sq_state *s,
                     char key[QUEUE_ID_MAX + 1])
{
    char group[SQ_LABEL + 1];

    memcpy(key, s->key, sizeof s->key);
    sq_copy(sq_member(system, "MessageGroupId"), group, sizeof group);
    if (!*key && strncmp(group, SQ_SINGLE, sizeof SQ_SINGLE - 1) != 0)
        foreign_id(key, group, strlen(group));
}

struct queue_message *sq_row(struct sq_value v, const struct sq_state *s)
{
    struct queue_attribute attributes[QUEUE_ATTRIBUTES_MAX];
    struct sq_value system = sq_member(v, "Attributes");
    char key[QUEUE_ID_MAX + 1], handle[QUEUE_HANDLE_MAX];
    size_t len = 0, n = read_attributes(s, attributes);
    char *body = read_body(v, s->base64, &len);
    struct queue_message *m = NULL;

    read_key(system, s, key);
    sq_copy(sq_member(v, "ReceiptHandle"), handle, sizeof handle);
    if (body)
        m = queue_message_new(&(struct queue_text){ .id = s->id,
                                                    .key = key,
                                                    .handle = handle,
                                                    .errors = s->errors,
                                                    .body = body,
                                                    .body_len = len,
                                                    .attributes = attributes,
                                                    .n_attributes = n });
    if (m) {
        int64_t sent = sq_number(sq_member(system, "SentTimestamp"), 0);
        m->attempt = s->attempt;
        m->deliveries = s->delivered;
        m->deaths = s->deaths;
        m->suspect = s->suspect;
        m->generation = s->generation;
        m->queued_ms = s->queued_ms ? s->queued_ms : sent;
        m->due_ms = sent + s->wait_ms;
    }
    free(body);
    for (size_t i = 0; i < n; i++) {
        free((char *)attributes[i].name);
        free((char *)attributes[i].value);
    }
    return m;
}
