/* Dead letters. Kafka deletes nothing by name: one that was redriven is followed by
 * a record that says so, `bide-gone: OFFSET`, and then counts no more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/kafka/copies.h"
#include "queue/kafka/dead.h"
#include "queue/kafka/deliver.h"
#include "queue/kafka/fetch.h"
#include "queue/kafka/look.h"
#include "queue/kafka/record.h"
#include "queue/kafka/topics.h"
#include "queue/make_id.h"

enum { REASONS = 32, REASON = 32 };

struct letter {
    int64_t offset;
    int32_t partition;
    uint8_t reason;
    char id[QUEUE_MADE_ID + 1]; /* its beginning */
};

/* What was read so far. Threads: owned. */
struct kf_grave {
    struct letter *letters;
    size_t n, size;
    int64_t *next;            /* of each partition */
    char reasons[REASONS][REASON];
    uint64_t counts[REASONS];
};

static uint8_t reason_of(struct kf_grave *g, const rd_kafka_message_t *r)
{
    size_t len;
    const char *text = kf_header(r, "bide-reason", &len);
    char reason[REASON];
    uint8_t i = 0;

    snprintf(reason, sizeof reason, "%.*s", (int)(text ? len : 0),
             text ? text : "");
    while (i < REASONS - 1 && g->reasons[i][0] && strcmp(g->reasons[i], reason) != 0)
        i++;
    if (!g->reasons[i][0])
        memcpy(g->reasons[i], reason, sizeof reason);
    return i;
}

static void forget(struct kf_grave *g, int32_t partition, int64_t offset)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->letters[i].partition == partition && g->letters[i].offset == offset) {
            g->counts[g->letters[i].reason]--;
            memmove(&g->letters[i], &g->letters[i + 1],
                    (g->n - i - 1) * sizeof g->letters[0]);
            g->n--;
            return;
        }
}

static bool read_letter(void *arg, int partition, const rd_kafka_message_t *r)
{
    struct kf_grave *g = arg;
    struct kf_facts f;
    char id[QUEUE_ID_MAX + 1];

    kf_facts(&f, r, 0);
    if (f.gone >= 0) {
        forget(g, r->partition, f.gone);
        g->next[partition] = r->offset + 1;
        return true;
    }
    if (g->n == g->size) {
        size_t size = g->size ? 2 * g->size : 64;
        struct letter *more = realloc(g->letters, size * sizeof *more);
        if (!more)
            return false;
        g->letters = more;
        g->size = size;
    }
    kf_id(id, r);
    struct letter *l = &g->letters[g->n++];
    *l = (struct letter){ .offset = r->offset, .partition = r->partition,
                          .reason = reason_of(g, r) };
    snprintf(l->id, sizeof l->id, "%.*s", QUEUE_MADE_ID, id);
    g->counts[l->reason]++;
    g->next[partition] = r->offset + 1;
    return true;
}

static int grave_new(struct kafka_broker *q)
{
    struct kf_grave *g = calloc(1, sizeof *g);

    if (g)
        g->next = calloc((size_t)q->partitions, sizeof *g->next);
    if (!g || !g->next) {
        free(g);
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    }
    q->grave = g;
    return 0;
}

int kf_grave_update(struct kafka_broker *q)
{
    rd_kafka_topic_partition_list_t *from;
    int status = kf_reader(q);

    if (status == 0 && !q->grave)
        status = grave_new(q);
    if (status != 0)
        return status;
    rd_kafka_topic_partition_list_t *all = kf_all(q, KF_TOPICS, KF_TOPICS);
    status = kf_edges(q, q->reader, all, RD_KAFKA_OFFSET_BEGINNING, &from);
    rd_kafka_topic_partition_list_destroy(all);
    if (status != 0)
        return status;
    for (int i = 0; i < from->cnt; i++)
        if (from->elems[i].offset < q->grave->next[i])
            from->elems[i].offset = q->grave->next[i];
    status = kf_scan(q, from, read_letter, q->grave);
    rd_kafka_topic_partition_list_destroy(from);
    return status;
}

void kf_grave_free(struct kafka_broker *q)
{
    if (!q->grave)
        return;
    free(q->grave->letters);
    free(q->grave->next);
    free(q->grave);
}

bool kf_grave_has(const struct kafka_broker *q, int32_t partition, int64_t offset)
{
    for (size_t i = 0; q->grave && i < q->grave->n; i++)
        if (q->grave->letters[i].partition == partition &&
            q->grave->letters[i].offset == offset)
            return true;
    return false;
}

/* The most frequent reasons first. */
void kf_grave_count(const struct kafka_broker *q, struct broker_counts *ret)
{
    const struct kf_grave *g = q->grave;
    bool told[REASONS] = { false };

    ret->dead = g->n;
    for (int i = 0; i < BROKER_REASONS; i++) {
        int most = -1;
        for (int j = 0; j < REASONS; j++)
            if (!told[j] && g->counts[j] > 0 &&
                (most < 0 || g->counts[j] > g->counts[most]))
                most = j;
        if (most < 0)
            return;
        told[most] = true;
        memcpy(ret->dead_by[i].reason, g->reasons[most], REASON);
        ret->dead_by[i].n = g->counts[most];
    }
}

/* ===== redriving ===== */

/* The one letter that is sought. */
struct seek {
    struct kafka_broker *q;
    const char *id;
    bool fresh_key, found;
    int status;
};

/* First the message, then the record that its letter is gone: whoever dies in
 * between has redriven it, and lost nothing. */
static int revive(struct kafka_broker *q, const rd_kafka_message_t *r,
                  bool fresh_key)
{
    struct kf_facts f;
    struct kf_send s, gone = { .topic = KF_TOPICS, .partition = r->partition };
    size_t len;
    const char *at = kf_header(r, KF_BODY_AT, &len);

    if (at)
        return broker_fail(&q->b, BROKER_REFUSED,
                           "kafka: a dead letter that was too large to be copied: "
                           "write it again from topic, partition and offset %.*s",
                           (int)len, at);
    kf_facts(&f, r, kf_now_ms(q));
    f.attempt = f.deliveries = f.deaths = 0;
    f.suspect = false;
    f.delay_ms = 0;
    f.place = -1;
    f.generation += fresh_key;
    int status = kf_copy(&s, r, &f, "") || kf_header_number(&gone, "bide-gone",
                                                             r->offset)
                     ? broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory")
                     : 0;
    s.topic = KF_MAIN;
    s.partition = r->partition; /* where others with its key are: whoever wrote them
                                   may choose by another rule than ours */
    if (status == 0)
        status = kf_send(q, &s, 1);
    if (status == 0 && q->lanes)
        kf_await(q, KF_MAIN, s.partition, s.offset, 0, 0, 0, s.key, s.key_len);
    if (status == 0)
        status = kf_send(q, &gone, 1);
    kf_send_done(&s, 1);
    kf_send_done(&gone, 1);
    return status;
}

static bool revive_if(void *arg, int partition, const rd_kafka_message_t *r)
{
    struct seek *k = arg;
    char id[QUEUE_ID_MAX + 1];

    (void)partition;
    kf_id(id, r);
    if (strcmp(id, k->id) == 0) {
        k->found = true;
        k->status = revive(k->q, r, k->fresh_key);
    }
    return false; /* only the first: that is the one */
}

static int redrive_one(struct kafka_broker *q, const char *id, bool fresh_key,
                       bool *ret_found)
{
    struct seek k = { .q = q, .id = id, .fresh_key = fresh_key };
    int status = 0;

    for (size_t i = 0; i < q->grave->n && !k.found && status == 0; i++) {
        struct letter l = q->grave->letters[i];
        if (strncmp(l.id, id, QUEUE_MADE_ID) != 0)
            continue;
        char name[KF_TOPIC_NAME];
        rd_kafka_topic_partition_list_t *at = rd_kafka_topic_partition_list_new(1);
        kf_topic(q, KF_TOPICS, name);
        rd_kafka_topic_partition_list_add(at, name, l.partition)->offset = l.offset;
        status = kf_scan(q, at, revive_if, &k);
        rd_kafka_topic_partition_list_destroy(at);
    }
    *ret_found = k.found && k.status == 0;
    return status ? status : k.status;
}

int kf_redrive(struct broker *b, const char *const *ids, size_t n, bool fresh_key,
               size_t *ret_n)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    int status = kf_ready(q);

    *ret_n = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        bool found = false;
        status = kf_grave_update(q);
        if (status == 0)
            status = redrive_one(q, ids[i], fresh_key, &found);
        *ret_n += found;
    }
    return status;
}
