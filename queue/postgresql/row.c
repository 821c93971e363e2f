/* A row of the table as a message. */
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "queue/foreign.h"
#include "queue/message.h"
#include "queue/postgresql/put.h"
#include "store/postgresql/args.h"

/* NULL: no memory. */
static char *read_string(struct bide__json_in *in)
{
    char *text = malloc(bide__json_in_longest(in) + 1);
    size_t len = 0;

    if (text && bide__json_in_string(in, text, &len))
        text[len] = '\0';
    return text;
}

/* The server has made texts of all values: {"name": "value", ...}. */
static size_t read_attributes(const char *json, size_t len,
                              struct queue_attribute *to, size_t most)
{
    struct bide__json_in in = bide__json_read(json, len);
    size_t n = 0;

    if (!bide__json_in_take(&in, '{') || bide__json_in_peek(&in) != '"')
        return 0;
    do {
        bide__json_in_peek(&in);
        char *name = read_string(&in);
        bide__json_in_take(&in, ':');
        bide__json_in_peek(&in);
        char *value = read_string(&in);
        if (in.expected || !name || !value ||
            strlen(name) + strlen(value) > QUEUE_ATTRIBUTE_MAX) {
            free(name);
            free(value);
            continue; /* too large for a handler's environment */
        }
        foreign_name(name, strlen(name) + 1, name, strlen(name));
        to[n++] = (struct queue_attribute){ name, value };
    } while (n < most && !in.expected && bide__json_in_take(&in, ','));
    return n;
}

static void free_attributes(struct queue_attribute *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free((char *)list[i].name);
        free((char *)list[i].value);
    }
}

/* The server counts microseconds from the year 2000. */
int64_t pgq_ms(const PGresult *r, int row, int column)
{
    const int64_t epoch_ms = INT64_C(946684800000);

    return PQgetisnull(r, row, column) ? 0
                                       : pg_int(r, row, column) / 1000 + epoch_ms;
}

static void read_counts(const PGresult *r, int row, struct queue_message *m)
{
    m->number = (uint64_t)pg_int(r, row, PGQ_NUMBER);
    m->priority = foreign_priority(pg_int(r, row, PGQ_PRIORITY));
    m->due_ms = pgq_ms(r, row, PGQ_DUE);
    m->queued_ms = pgq_ms(r, row, PGQ_QUEUED);
    m->suspect = pg_int(r, row, PGQ_LANE) == 2;
    m->attempt = (uint32_t)pg_int(r, row, PGQ_ATTEMPT);
    m->deliveries = (uint32_t)pg_int(r, row, PGQ_DELIVERIES);
    m->deaths = (uint32_t)pg_int(r, row, PGQ_DEATHS);
    m->generation = (uint32_t)pg_int(r, row, PGQ_GENERATION);
    m->token = (uint64_t)pg_int(r, row, PGQ_TOKEN);
}

struct queue_message *pgq_message(const PGresult *r, int row)
{
    struct queue_attribute attributes[QUEUE_ATTRIBUTES_MAX];
    char id[QUEUE_ID_MAX + 1], key[QUEUE_ID_MAX + 1];
    size_t n = read_attributes(PQgetvalue(r, row, PGQ_ATTRIBUTES),
                               (size_t)PQgetlength(r, row, PGQ_ATTRIBUTES),
                               attributes, QUEUE_ATTRIBUTES_MAX);

    foreign_id(id, PQgetvalue(r, row, PGQ_ID),
               (size_t)PQgetlength(r, row, PGQ_ID));
    foreign_id(key, PQgetvalue(r, row, PGQ_KEY),
               (size_t)PQgetlength(r, row, PGQ_KEY));
    struct queue_message *m = queue_message_new(&(struct queue_text){
        .id = id,
        .key = key,
        .errors = PQgetvalue(r, row, PGQ_ERRORS),
        .body = PQgetvalue(r, row, PGQ_BODY),
        .body_len = (size_t)PQgetlength(r, row, PGQ_BODY),
        .attributes = attributes,
        .n_attributes = n });
    free_attributes(attributes, n);
    if (m)
        read_counts(r, row, m);
    return m;
}
