/* Batches: ten entries at most, and no more bytes than SQS takes at once. */
#include "queue/sqs/send.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/sha256.h"

enum { MOST_NATIVE = 9 }; /* attributes beside ours */

/* 64 digits and a zero byte. */
static void hash(char *to, const char *text)
{
    struct bide__sha256 sum;
    uint8_t digest[BIDE__SHA256_SIZE];

    bide__sha256_init(&sum);
    bide__sha256_add(&sum, text, strlen(text));
    bide__sha256_end(&sum, digest);
    *bide__hex_write(to, digest, sizeof digest) = '\0';
}

bool sq_label(char to[SQ_LABEL + 1], const char *text)
{
    size_t len = strlen(text);
    bool plain = len > 0 && len <= SQ_LABEL && strncmp(text, "bide.", 5) != 0;

    for (size_t i = 0; i < len && plain; i++)
        plain = text[i] > ' ' && text[i] < 127;
    if (plain) {
        memcpy(to, text, len + 1);
        return false;
    }
    memcpy(to, "bide.key.", 9);
    hash(to + 9, text);
    return true;
}

void sq_single(char to[SQ_LABEL + 1], const char *id)
{
    memcpy(to, "bide.one.", 9);
    hash(to + 9, id);
}

/* ===== one message ===== */

static size_t put_native(struct bide__json *j, struct sq_value native,
                         bool write)
{
    struct sq_value name, v;
    size_t n = 0;

    for (size_t at = 0; sq_next_member(native, &at, &name, &v);) {
        if (sq_is(name, "bide"))
            continue;
        n++;
        char *key = write ? sq_text(name, NULL) : NULL;
        char *text = key ? sq_raw_copy(v) : NULL;
        if (text)
            bide__json_raw(j, key, text);
        free(key);
        free(text);
    }
    return n;
}

/* Our attribute, as large as there is room for; none at all, rather than a
 * message that SQS refuses. */
static void put_state(struct sqs_broker *q, struct bide__json *j,
                      const struct sq_letter *l, size_t room)
{
    struct bide__out text = { 0 };

    for (int part = SQ_STATE_ALL; part <= SQ_STATE_SHORT; part++) {
        bide__out_clear(&text);
        sq_state_write(l->state, &text, (enum sq_state_part)part);
        if (text.len <= room)
            break;
    }
    if (text.len <= room && !text.failed) {
        bide__json_object(j, "bide");
        bide__json_text(j, "DataType", "String");
        bide__json_text_n(j, "StringValue", text.data, text.len);
        bide__json_end(j);
    }
    q->request.failed = q->request.failed || text.failed;
    bide__out_done(&text);
}

static void put_attributes(struct sqs_broker *q, struct bide__json *j,
                           const struct sq_letter *l)
{
    struct sq_state *s = l->state;
    size_t used = l->body.len + s->native.len + 64;
    size_t room = used < q->max_size ? q->max_size - used : 0;

    if (put_native(j, s->native, false) > MOST_NATIVE)
        s->native_inside = true;
    bide__json_object(j, "MessageAttributes");
    if (!s->native_inside)
        put_native(j, s->native, true);
    if (!l->plain)
        put_state(q, j, l, room);
    bide__json_end(j);
}

static void put_raw(struct bide__json *j, const char *name, struct sq_value v)
{
    char *text = sq_raw_copy(v);

    bide__json_raw(j, name, text ? text : "null");
    free(text);
}

static void put_letter(struct sqs_broker *q, struct bide__json *j,
                       const struct sq_letter *l, size_t number)
{
    char id[24];

    snprintf(id, sizeof id, "%zu", number);
    bide__json_object(j, NULL);
    bide__json_text(j, "Id", id);
    put_raw(j, "MessageBody", l->body);
    put_attributes(q, j, l);
    if (l->trace.len) {
        bide__json_object(j, "MessageSystemAttributes");
        bide__json_object(j, "AWSTraceHeader");
        bide__json_text(j, "DataType", "String");
        put_raw(j, "StringValue", l->trace);
        bide__json_end(j);
        bide__json_end(j);
    }
    if (q->fifo) {
        bide__json_text(j, "MessageGroupId", l->group);
        bide__json_text(j, "MessageDeduplicationId", l->once);
    } else {
        bide__json_integer(j, "DelaySeconds", l->delay_s);
    }
    bide__json_end(j);
}

/* ===== answers ===== */

static size_t number_of(struct sq_value entry, size_t n)
{
    int64_t id = sq_number(sq_member(entry, "Id"), -1);

    return id >= 0 && (size_t)id < n ? (size_t)id : n;
}

/* The first entry that SQS did not take. */
static int failed_entry(struct sqs_broker *q, struct sq_value entry)
{
    char code[80], message[200];

    sq_copy(sq_member(entry, "Code"), code, sizeof code);
    sq_copy(sq_member(entry, "Message"), message, sizeof message);
    return broker_fail(&q->b,
                       sq_number(sq_member(entry, "SenderFault"), 0)
                           ? BROKER_REFUSED
                           : BROKER_DOWN,
                       "sqs: %s: %s", code, message);
}

static int send_some(struct sqs_broker *q, enum sq_where where,
                     struct sq_letter *list, size_t n, size_t *ret_n,
                     int64_t deadline_ns)
{
    struct bide__json *j = sq_begin(q, where);
    struct sq_value answer, e;
    size_t taken = 0, i = 0;

    bide__json_list(j, "Entries");
    for (; i < n && taken < SQ_BATCH; i++) {
        if (list[i].accepted)
            continue;
        if (taken > 0 && q->request.len + list[i].body.len > SQ_BATCH_BYTES)
            break;
        put_letter(q, j, &list[i], i);
        taken++;
    }
    bide__json_end(j);
    *ret_n = i;
    if (taken == 0)
        return 0;
    int status = sq_ask(q, "SendMessageBatch", q->fifo ? SQ_REPEAT : SQ_ONCE,
                        deadline_ns, &answer);
    if (status != 0)
        return status;
    for (size_t at = 0; sq_next(sq_member(answer, "Successful"), &at, &e);) {
        size_t k = number_of(e, n);
        if (k == n)
            continue;
        list[k].accepted = true;
        sq_copy(sq_member(e, "MessageId"), list[k].message_id,
                sizeof list[k].message_id);
    }
    size_t at = 0;
    if (sq_next(sq_member(answer, "Failed"), &at, &e))
        return failed_entry(q, e);
    return 0;
}

int sq_send(struct sqs_broker *q, enum sq_where where, struct sq_letter *list,
            size_t n, int64_t deadline_ns)
{
    int status = 0;

    for (size_t i = 0, some; i < n && status == 0; i += some)
        status = send_some(q, where, list + i, n - i, &some, deadline_ns);
    return status;
}

/* ===== deliveries ===== */

static bool is_gone(struct sq_value entry)
{
    char code[80];

    sq_copy(sq_member(entry, "Code"), code, sizeof code);
    return strstr(code, "ReceiptHandleIsInvalid") ||
           strstr(code, "MessageNotInflight") ||
           strstr(code, "InvalidParameterValue") ||
           strstr(code, "InvalidIdFormat");
}

static int change_some(struct sqs_broker *q, enum sq_where where,
                       const char *action, struct sq_entry *list, size_t n,
                       int64_t deadline_ns)
{
    struct bide__json *j = sq_begin(q, where);
    struct sq_value answer, e;
    int status = 0;

    bide__json_list(j, "Entries");
    for (size_t i = 0; i < n; i++) {
        char id[24];
        snprintf(id, sizeof id, "%zu", i);
        bide__json_object(j, NULL);
        bide__json_text(j, "Id", id);
        put_raw(j, "ReceiptHandle", list[i].handle);
        if (*action == 'C')
            bide__json_integer(j, "VisibilityTimeout", list[i].hide_s);
        bide__json_end(j);
    }
    bide__json_end(j);
    status = sq_ask(q, action, SQ_REPEAT, deadline_ns, &answer);
    if (status != 0)
        return status;
    for (size_t at = 0; sq_next(sq_member(answer, "Successful"), &at, &e);)
        if (number_of(e, n) < n)
            list[number_of(e, n)].done = true;
    for (size_t at = 0; sq_next(sq_member(answer, "Failed"), &at, &e);) {
        size_t k = number_of(e, n);
        if (k < n && is_gone(e))
            list[k].gone = true;
        else
            status = failed_entry(q, e);
    }
    return status;
}

static int change(struct sqs_broker *q, enum sq_where where, const char *action,
                  struct sq_entry *list, size_t n, int64_t deadline_ns)
{
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i += SQ_BATCH)
        status = change_some(q, where, action, list + i,
                             n - i < SQ_BATCH ? n - i : SQ_BATCH, deadline_ns);
    return status;
}

int sq_delete(struct sqs_broker *q, enum sq_where where, struct sq_entry *list,
              size_t n, int64_t deadline_ns)
{
    return change(q, where, "DeleteMessageBatch", list, n, deadline_ns);
}

int sq_hide(struct sqs_broker *q, enum sq_where where, struct sq_entry *list,
            size_t n, int64_t deadline_ns)
{
    return change(q, where, "ChangeMessageVisibilityBatch", list, n,
                  deadline_ns);
}
