/* queue/sqlite/put.h: messages as rows, in and out. */
#ifndef BIDE_QUEUE_SQLITE_PUT_H
#define BIDE_QUEUE_SQLITE_PUT_H

#include <sqlite3.h>
#include <stddef.h>

struct broker;
struct broker_put;
struct queue_message;

/* The broker's put(). */
int rows_put(struct broker *b, struct broker_put *items, size_t n);

/* A message of the row that a statement is at, whose first columns are COLUMNS of
 * statements.c. NULL: no memory. */
struct queue_message *row_message(sqlite3_stmt *q);

#endif
