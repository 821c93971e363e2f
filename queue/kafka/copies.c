/* Copies for retries and dead letters, and what becomes of those that are too large. */
#include "queue/kafka/copies.h"

#include <stdio.h>
#include <string.h>

#include "queue/kafka/topics.h"

enum { KEY_MOST = 1024, VALUE = 64 };

struct kf_facts kf_slot_facts(const struct kafka_broker *q, const struct kf_slot *s)
{
    struct kf_facts f;

    kf_facts(&f, s->record, kf_now_ms(q));
    f.attempt = s->attempt;
    f.deliveries = s->deliveries;
    f.deaths = s->deaths;
    f.suspect = s->suspect;
    f.place = s->place == INT64_MAX ? -1 : s->place;
    f.delay_ms = 0;
    return f;
}

int kf_copy_for_end(struct kafka_broker *q, struct kf_send *to,
                    const struct broker_end *e, const struct kf_slot *s)
{
    char errors[QUEUE_ERRORS_MAX + 1];
    struct kf_facts f = kf_slot_facts(q, s);
    int64_t delay = e->delay_ns > 0 ? e->delay_ns : 0;
    bool dead = e->how == BROKER_DEAD;

    f.attempt += e->counts;
    f.suspect = f.suspect && !e->ran;
    f.delay_ms = dead ? 0 : (delay + KF_MS - 1) / KF_MS;
    if (e->error)
        queue_errors_add(errors, e->message->errors, kf_now_ms(q),
                         e->message->attempt + 1, e->error);
    if (kf_copy(to, s->record, &f, e->error ? errors : e->message->errors) != 0)
        return -1;
    to->topic = dead ? KF_TOPICS : kf_tier(delay);
    to->partition = s->window->lane->partition;
    if (!dead)
        return 0;
    const char *reason = e->reason ? e->reason : "", *cls = e->cls ? e->cls : "";
    return kf_header_add(to, "bide-reason", reason, strlen(reason)) ||
           kf_header_add(to, "bide-class", cls, strlen(cls)) ||
           (e->tail_len && kf_header_add(to, "bide-output", e->tail, e->tail_len));
}

/* ===== what is too large ===== */

/* What a header of the copy says, or something else. */
static void keep(char to[VALUE], const struct kf_send *s, const char *name,
                 const char *otherwise)
{
    const void *value;
    size_t len;

    if (s->headers && !rd_kafka_header_get_last(s->headers, name, &value, &len))
        snprintf(to, VALUE, "%.*s", (int)len, (const char *)value);
    else
        snprintf(to, VALUE, "%s", otherwise);
}

/* A dead letter with nothing but what must be said; `whole`: and the message. */
static int shorten(struct kafka_broker *q, struct kf_send *to,
                   const struct kf_slot *s, bool whole)
{
    const rd_kafka_message_t *r = s->record;
    struct kf_facts f = kf_slot_facts(q, s);
    const char *topic = rd_kafka_topic_name(r->rkt);
    char reason[VALUE], cls[VALUE], said[KF_TOPIC_NAME + 120], at[KF_TOPIC_NAME + 40];
    char errors[QUEUE_ERRORS_MAX + 1];

    keep(reason, to, "bide-reason", "too_large");
    keep(cls, to, "bide-class", "permanent");
    kf_send_done(to, 1);
    snprintf(at, sizeof at, "%s %d %lld", topic, (int)r->partition,
             (long long)r->offset);
    snprintf(said, sizeof said, "%s%s", whole ? "too large for a retry"
                                              : "too large for a copy: it is at ",
             whole ? "" : at);
    queue_errors_add(errors, "", kf_now_ms(q), f.attempt + 1, said);
    int failed;
    if (whole) {
        failed = kf_copy(to, r, &f, errors);
    } else {
        *to = (struct kf_send){ .key = r->key_len <= KEY_MOST ? r->key : NULL,
                                .key_len = r->key_len <= KEY_MOST ? r->key_len : 0 };
        failed = kf_describe(to, r, &f, errors) ||
                 kf_header_add(to, KF_BODY_AT, at, strlen(at));
    }
    to->topic = KF_TOPICS;
    to->partition = s->window->lane->partition;
    return failed || kf_header_add(to, "bide-reason", reason, strlen(reason)) ||
                   kf_header_add(to, "bide-class", cls, strlen(cls))
               ? broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory")
               : 0;
}

static int send_large(struct kafka_broker *q, struct kf_send *to,
                      const struct kf_slot *s)
{
    int status = 0;

    for (int whole = 1; whole >= 0 && status == 0 && kf_is_large(to); whole--) {
        status = shorten(q, to, s, whole);
        if (status == 0)
            status = kf_send_but_large(q, to, 1);
    }
    return status == 0 && to->err ? kf_fail(q, to->err, "writing a dead letter")
                                  : status;
}

int kf_send_copies(struct kafka_broker *q, struct kf_send *list,
                   struct kf_slot *const *slots, size_t n)
{
    int status = kf_send_but_large(q, list, n);

    for (size_t i = 0; i < n && status == 0; i++)
        if (kf_is_large(&list[i]))
            status = send_large(q, &list[i], slots[i]);
    return status;
}
