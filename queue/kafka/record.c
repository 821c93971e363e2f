/* Headers, read and written. */
#include "queue/kafka/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/foreign.h"

/* ===== reading ===== */

const char *kf_header(const rd_kafka_message_t *record, const char *name,
                      size_t *ret_len)
{
    rd_kafka_headers_t *headers;
    const void *value = NULL;

    *ret_len = 0;
    if (rd_kafka_message_headers(record, &headers) != 0 ||
        rd_kafka_header_get_last(headers, name, &value, ret_len) != 0)
        return NULL;
    return value;
}

/* What is a number, behind "bide-", and what it is if it is not said. */
enum number {
    ATTEMPT, DELIVERIES, DEATHS, GENERATION, SUSPECT, PRIORITY, QUEUED, DELAY, PLACE,
    GONE, N_NUMBERS
};

static const struct {
    const char *name;
    int64_t otherwise;
} known[N_NUMBERS] = {
    [ATTEMPT] = { "attempt", 0 },       [DELIVERIES] = { "deliveries", 0 },
    [DEATHS] = { "deaths", 0 },         [GENERATION] = { "generation", 0 },
    [SUSPECT] = { "suspect", 0 },       [PRIORITY] = { "priority", 0 },
    [QUEUED] = { "queued", 0 },         [DELAY] = { "delay", 0 },
    [PLACE] = { "place", -1 },          [GONE] = { "gone", -1 },
};

static int64_t number(const char *text, size_t len, int64_t otherwise)
{
    char copy[24], *end;

    if (!text || len == 0 || len >= sizeof copy)
        return otherwise;
    memcpy(copy, text, len);
    copy[len] = '\0';
    long long n = strtoll(copy, &end, 10);
    return *end ? otherwise : n;
}

/* In one pass: most records have none of them. The last of a name counts. */
static void read_numbers(const rd_kafka_message_t *record, int64_t to[N_NUMBERS])
{
    rd_kafka_headers_t *headers;
    const char *name;
    const void *value;
    size_t len;

    for (int j = 0; j < N_NUMBERS; j++)
        to[j] = known[j].otherwise;
    if (rd_kafka_message_headers(record, &headers) != 0)
        return;
    for (size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &len) == 0; i++) {
        if (strncmp(name, "bide-", 5) != 0)
            continue;
        for (int j = 0; j < N_NUMBERS; j++)
            if (strcmp(name + 5, known[j].name) == 0)
                to[j] = number(value, len, known[j].otherwise);
    }
}

static uint32_t count(int64_t n)
{
    return n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

void kf_facts(struct kf_facts *ret, const rd_kafka_message_t *record, int64_t now_ms)
{
    rd_kafka_timestamp_type_t type;
    int64_t n[N_NUMBERS];

    read_numbers(record, n);
    *ret = (struct kf_facts){
        .attempt = count(n[ATTEMPT]),
        .deliveries = count(n[DELIVERIES]),
        .deaths = count(n[DEATHS]),
        .generation = count(n[GENERATION]),
        .suspect = n[SUSPECT] > 0,
        .priority = foreign_priority(n[PRIORITY]),
        .queued_ms = n[QUEUED],
        .written_ms = rd_kafka_message_timestamp(record, &type),
        .delay_ms = n[DELAY] < 0 ? 0 : n[DELAY],
        .place = n[PLACE],
        .gone = n[GONE],
    };
    if (!kf_is_time(ret->written_ms))
        ret->written_ms = now_ms;
    if (!kf_is_time(ret->queued_ms))
        ret->queued_ms = 0;
    if (ret->delay_ms > INT64_MAX / 4 / KF_MS)
        ret->delay_ms = INT64_MAX / 4 / KF_MS;
}

void kf_id(char to[QUEUE_ID_MAX + 1], const rd_kafka_message_t *record)
{
    size_t len;
    const char *id = kf_header(record, "bide-id", &len);

    if (id && len > 0)
        foreign_id(to, id, len);
    else
        snprintf(to, QUEUE_ID_MAX + 1, "%.*s-%d-%lld", QUEUE_NAME_MAX,
                 rd_kafka_topic_name(record->rkt), (int)record->partition,
                 (long long)record->offset);
}

static char *text_of(const void *bytes, size_t len)
{
    char *text = malloc(len + 1);

    if (!text)
        return NULL;
    if (len)
        memcpy(text, bytes, len);
    text[len] = '\0';
    return text;
}

static size_t read_attributes(const rd_kafka_message_t *record,
                              struct queue_attribute *to, size_t most)
{
    rd_kafka_headers_t *headers;
    const char *name;
    const void *value;
    size_t n = 0, len;

    if (rd_kafka_message_headers(record, &headers) != 0)
        return 0;
    for (size_t i = 0; n < most && rd_kafka_header_get_all(headers, i, &name, &value,
                                                           &len) == 0;
         i++) {
        size_t name_len = strlen(name);
        if (strncmp(name, "bide-", 5) == 0 ||
            name_len + len > QUEUE_ATTRIBUTE_MAX || name_len == 0)
            continue; /* ours, or too large for a handler's environment */
        char *to_name = text_of(name, name_len), *to_value = text_of(value, len);
        if (!to_name || !to_value) {
            free(to_name);
            free(to_value);
            break;
        }
        foreign_name(to_name, name_len + 1, name, name_len);
        to[n++] = (struct queue_attribute){ to_name, to_value };
    }
    return n;
}

struct queue_message *kf_message(const rd_kafka_message_t *record,
                                 const struct kf_facts *f)
{
    struct queue_attribute attributes[QUEUE_ATTRIBUTES_MAX];
    char id[QUEUE_ID_MAX + 1], key[QUEUE_ID_MAX + 1];
    size_t n = read_attributes(record, attributes, QUEUE_ATTRIBUTES_MAX), len;
    const char *found = kf_header(record, "bide-errors", &len);
    char *errors = found ? text_of(found, len) : NULL;

    kf_id(id, record);
    foreign_id(key, record->key ? record->key : "", record->key ? record->key_len : 0);
    struct queue_message *m =
        found && !errors
            ? NULL
            : queue_message_new(&(struct queue_text){ .id = id,
                                                      .key = key,
                                                      .errors = errors,
                                                      .body = record->payload,
                                                      .body_len = record->len,
                                                      .attributes = attributes,
                                                      .n_attributes = n });
    if (m) {
        m->priority = f->priority;
        m->attempt = f->attempt;
        m->deliveries = f->deliveries;
        m->deaths = f->deaths;
        m->suspect = f->suspect;
        m->generation = f->generation;
        m->queued_ms = f->queued_ms ? f->queued_ms : f->written_ms;
        m->due_ms = f->written_ms + f->delay_ms;
    }
    free(errors);
    for (size_t i = 0; i < n; i++) {
        free((char *)attributes[i].name);
        free((char *)attributes[i].value);
    }
    return m;
}

/* ===== writing ===== */

int kf_header_add(struct kf_send *s, const char *name, const void *value, size_t len)
{
    if (!s->headers && !(s->headers = rd_kafka_headers_new(16)))
        return -1;
    return rd_kafka_header_add(s->headers, name, -1, value ? value : "",
                               (ssize_t)len)
               ? -1
               : 0;
}

int kf_header_number(struct kf_send *s, const char *name, int64_t n)
{
    char text[24];

    return kf_header_add(s, name, text,
                         (size_t)snprintf(text, sizeof text, "%lld",
                                          (long long)n));
}

/* Those of the producer, as they are: also names that we would not allow. */
static int copy_attributes(struct kf_send *s, const rd_kafka_message_t *record)
{
    rd_kafka_headers_t *headers;
    const char *name;
    const void *value;
    size_t len;

    if (rd_kafka_message_headers(record, &headers) != 0)
        return 0;
    for (size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &len) == 0; i++)
        if (strncmp(name, "bide-", 5) != 0 &&
            kf_header_add(s, name, value, len) != 0)
            return -1;
    return 0;
}

int kf_describe(struct kf_send *to, const rd_kafka_message_t *record,
                const struct kf_facts *f, const char *errors)
{
    char id[QUEUE_ID_MAX + 1];
    const struct {
        const char *name;
        int64_t n;
        bool said;
    } numbers[] = {
        { "bide-attempt", f->attempt, f->attempt > 0 },
        { "bide-deliveries", f->deliveries, f->deliveries > 0 },
        { "bide-deaths", f->deaths, f->deaths > 0 },
        { "bide-suspect", 1, f->suspect },
        { "bide-generation", f->generation, f->generation > 0 },
        { "bide-priority", f->priority, f->priority != 0 },
        { "bide-queued", f->queued_ms ? f->queued_ms : f->written_ms, true },
        { "bide-delay", f->delay_ms, f->delay_ms > 0 },
        { "bide-place", f->place, f->place >= 0 },
    };

    kf_id(id, record);
    if (kf_header_add(to, "bide-id", id, strlen(id)) != 0)
        return -1;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].said &&
            kf_header_number(to, numbers[i].name, numbers[i].n) != 0)
            return -1;
    return *errors ? kf_header_add(to, "bide-errors", errors, strlen(errors)) : 0;
}

int kf_copy(struct kf_send *ret, const rd_kafka_message_t *record,
            const struct kf_facts *f, const char *errors)
{
    *ret = (struct kf_send){ .key = record->key,
                             .key_len = record->key_len,
                             .body = record->payload,
                             .len = record->len };
    return copy_attributes(ret, record) ? -1 : kf_describe(ret, record, f, errors);
}
