/* queue/sqlite/held.h: which messages workers have: their numbers, in the row of each
 * worker.
 *
 *     struct seqs busy = { 0 }, own = { 0 };
 *     bool known;
 *     int status = held_read(s, &busy, &own, &known);   // all of this queue; ours
 *     if (status == 0 && !seqs_has(&busy, seq))
 *         status = seqs_add(&own, seq) ? held_write(s, &own) : -1;
 *     seqs_done(&busy);
 *     seqs_done(&own);
 *
 * A message that runs is not touched for that: taking a hundred of them writes one row
 * and not a hundred, with their entries in each index. A worker has as many as it runs,
 * so its row is short.
 *
 * Our row is gone once somebody has taken us for dead: then we have nothing. */
#ifndef BIDE_QUEUE_SQLITE_HELD_H
#define BIDE_QUEUE_SQLITE_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite_broker;

/* A set of numbers above 0. All zero is empty. Threads: owned. */
struct seqs {
    int64_t *slots; /* 0: free */
    size_t n, size;
};

bool seqs_add(struct seqs *set, int64_t seq); /* false: no memory */
bool seqs_has(const struct seqs *set, int64_t seq);
void seqs_remove(struct seqs *set, int64_t seq);
void seqs_done(struct seqs *set);

/* Adds what workers of this queue have to `busy`, and what we have to `own`; either
 * may be NULL. *ret_known: we have a row. 0 or a status. */
int held_read(struct sqlite_broker *s, struct seqs *busy, struct seqs *own,
              bool *ret_known);

/* Adds what one worker has. 0 or a status. */
int held_of(struct sqlite_broker *s, int64_t worker, struct seqs *set);

/* Writes what we have. 0 or a status. */
int held_write(struct sqlite_broker *s, const struct seqs *own);

#endif
