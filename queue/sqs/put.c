/* Putting: a message as plain as any other producer's, where there is nothing that
 * SQS could not say. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "queue/make_id.h"
#include "queue/sqs/base64.h"
#include "queue/sqs/deliver.h"
#include "queue/sqs/put.h"
#include "queue/sqs/send.h"

enum { MOST_NATIVE = 9 };

/* What a put becomes. Threads: owned. */
struct parcel {
    struct bide__out body, native, packed;
    struct sq_state state;
};

/* SQS takes the characters of XML 1.0, and no empty texts. */
static bool is_text(const char *bytes, size_t len)
{
    uint32_t point;

    for (size_t i = 0, n; i < len; i += n) {
        n = bide__utf8_next(bytes + i, len - i, &point);
        if (n == 0 || point == 0xfffe || point == 0xffff ||
            (point < ' ' && point != '\t' && point != '\n' && point != '\r'))
            return false;
    }
    return len > 0;
}

static void write_body(struct parcel *p, const struct broker_put *item)
{
    struct bide__json j;

    p->state.base64 = !is_text(item->body, item->len);
    if (!p->state.base64) {
        bide__json_into(&j, &p->body);
        bide__json_text_n(&j, NULL, item->body, item->len);
        return;
    }
    bide__out_char(&p->body, '"');
    sq_base64_write(&p->body, item->body, item->len);
    if (item->len == 0)
        bide__out_char(&p->body, '='); /* of nothing, which SQS does not take */
    bide__out_char(&p->body, '"');
}

static bool is_native(const struct queue_attribute *a)
{
    size_t len = strlen(a->name);

    return is_text(a->value, strlen(a->value)) && *a->name != '.' &&
           a->name[len - 1] != '.' && !strstr(a->name, "..") &&
           strncasecmp(a->name, "aws.", 4) != 0 &&
           strncasecmp(a->name, "amazon.", 7) != 0 &&
           strncmp(a->name, "bide", 4) != 0 && len <= 256;
}

static void write_attributes(struct parcel *p, const struct broker_put *item)
{
    struct bide__json native, packed;
    size_t n = 0, n_packed = 0;

    bide__json_into(&native, &p->native);
    bide__json_into(&packed, &p->packed);
    bide__json_object(&native, NULL);
    bide__json_object(&packed, NULL);
    for (size_t i = 0; i < item->n_attributes; i++) {
        const struct queue_attribute *a = &item->attributes[i];
        if (n == MOST_NATIVE || !is_native(a)) {
            bide__json_text(&packed, a->name, a->value);
            n_packed++;
            continue;
        }
        bide__json_object(&native, a->name);
        bide__json_text(&native, "DataType", "String");
        bide__json_text(&native, "StringValue", a->value);
        bide__json_end(&native);
        n++;
    }
    bide__json_end(&native);
    bide__json_end(&packed);
    p->state.native = (struct sq_value){ p->native.data, p->native.len };
    if (n_packed)
        p->state.packed = (struct sq_value){ p->packed.data, p->packed.len };
}

static void set_labels(struct parcel *p, const struct broker_put *item,
                       struct sq_letter *l)
{
    char id[QUEUE_ID_MAX + 1];

    if (item->id)
        snprintf(id, sizeof id, "%s", item->id);
    else
        queue_make_id(id);
    (void)sq_label(l->once, id);
    if (!item->key || !*item->key)
        sq_single(l->group, id);
    else if (sq_label(l->group, item->key))
        snprintf(p->state.key, sizeof p->state.key, "%s", item->key);
}

static void pack(struct parcel *p, const struct broker_put *item, bool fifo,
                 struct sq_letter *l)
{
    int64_t delay_s = (item->delay_ns + SQ_S - 1) / SQ_S;

    *p = (struct parcel){ .state = { .id = "" } };
    snprintf(p->state.id, sizeof p->state.id, "%s", item->id ? item->id : "");
    p->state.wait_ms = delay_s * 1000;
    write_body(p, item);
    write_attributes(p, item);
    *l = (struct sq_letter){
        .body = { p->body.data, p->body.len },
        .state = &p->state,
        .delay_s = delay_s < SQ_DELAY_MOST_S ? delay_s : SQ_DELAY_MOST_S
    };
    if (fifo)
        set_labels(p, item, l);
    l->plain = !item->id && !p->state.base64 && !p->state.wait_ms &&
               !*p->state.key && p->state.packed.len == 0;
}

static int check_one(struct sqs_broker *q, const struct broker_put *item)
{
    size_t most = q->b.traits.max_body, len = item->len;

    if (item->key && *item->key && !q->fifo)
        return broker_fail(&q->b, BROKER_REFUSED,
                           "sqs: `%s` keeps no order by key: use a FIFO queue, "
                           "`%s.fifo`",
                           q->b.queue, q->b.queue);
    if (item->priority)
        return broker_fail(&q->b, BROKER_REFUSED,
                           "sqs: there are no priorities: use a queue for each");
    if (len > most)
        return broker_fail(&q->b, BROKER_REFUSED,
                           "the message has %zu bytes: at most %zu fit, of the "
                           "queue's MaximumMessageSize of %zu",
                           len, most, q->max_size);
    if ((len + 2) / 3 * 4 > most && !is_text(item->body, len))
        return broker_fail(&q->b, BROKER_REFUSED,
                           "the message has %zu bytes that are not text: at "
                           "most %zu fit, as base64, of the queue's "
                           "MaximumMessageSize of %zu",
                           len, most / 4 * 3, q->max_size);
    return 0;
}

/* Within one call the same id is one message; SQS itself knows only on a FIFO
 * queue, for 5 minutes. */
static bool is_repeated(const struct broker_put *items, size_t i)
{
    for (size_t j = 0; j < i && items[i].id; j++)
        if (items[j].id && strcmp(items[j].id, items[i].id) == 0)
            return true;
    return false;
}

static int put_some(struct sqs_broker *q, struct broker_put *items, size_t n)
{
    struct parcel parcels[SQ_BATCH];
    struct sq_letter letters[SQ_BATCH];
    int status;

    for (size_t i = 0; i < n; i++) {
        pack(&parcels[i], &items[i], q->fifo, &letters[i]);
        letters[i].accepted = items[i].duplicate;
        if (parcels[i].body.failed || parcels[i].native.failed ||
            parcels[i].packed.failed)
            q->request.failed = true;
    }
    status = sq_send(q, SQ_MAIN, letters, n, 0);
    for (size_t i = 0; i < n; i++) {
        snprintf(items[i].made_id, sizeof items[i].made_id, "%s",
                 items[i].id ? items[i].id : letters[i].message_id);
        if (status == 0)
            sq_will_be_due(q, items[i].delay_ns);
        bide__out_done(&parcels[i].body);
        bide__out_done(&parcels[i].native);
        bide__out_done(&parcels[i].packed);
    }
    return status;
}

int sq_put(struct broker *b, struct broker_put *items, size_t n)
{
    struct sqs_broker *q = (struct sqs_broker *)b;
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i++) {
        status = check_one(q, &items[i]);
        items[i].duplicate = is_repeated(items, i);
    }
    q->counts_ns = 0;
    for (size_t i = 0; i < n && status == 0; i += SQ_BATCH)
        status = put_some(q, items + i, n - i < SQ_BATCH ? n - i : SQ_BATCH);
    return status;
}
