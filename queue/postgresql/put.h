/* queue/postgresql/put.h: messages as rows, in and out. */
#ifndef BIDE_QUEUE_POSTGRESQL_PUT_H
#define BIDE_QUEUE_POSTGRESQL_PUT_H

#include <libpq-fe.h>
#include <stddef.h>
#include <stdint.h>

struct broker;
struct broker_put;
struct queue_message;

/* The broker's put(). */
int pgq_put(struct broker *b, struct broker_put *items, size_t n);

/* A message of a row whose first columns are PGQ_COLUMNS. What a foreign
 * producer wrote is brought into form. NULL: no memory. */
struct queue_message *pgq_message(const PGresult *r, int row);

/* A timestamptz, in ms of Unix time. */
int64_t pgq_ms(const PGresult *r, int row, int column);

/* Of a row m; `more`: deliveries that its column does not count yet. Times are as
 * the server keeps them: to make numbers of them takes it longer than the rest. */
#define PGQ_COLUMNS(more, token)                                               \
    "m.number, m.id, m.key, m.priority, m.body, CASE WHEN m.attributes = '{}' " \
    "OR jsonb_typeof(m.attributes) <> 'object' THEN '' ELSE (SELECT "          \
    "jsonb_object_agg(key, coalesce(value, '')) FROM "                         \
    "jsonb_each_text(m.attributes))::text END, "                               \
    "m.due, m.queued, m.lane, m.attempt, m.deliveries + " more                 \
    ", m.deaths, m.generation, " token ", m.errors, now()"

enum {
    PGQ_NUMBER,
    PGQ_ID,
    PGQ_KEY,
    PGQ_PRIORITY,
    PGQ_BODY,
    PGQ_ATTRIBUTES,
    PGQ_DUE,
    PGQ_QUEUED,
    PGQ_LANE,
    PGQ_ATTEMPT,
    PGQ_DELIVERIES,
    PGQ_DEATHS,
    PGQ_GENERATION,
    PGQ_TOKEN,
    PGQ_ERRORS,
    PGQ_NOW,
    PGQ_MORE /* the first column behind them */
};

#endif
