/* queue/sqs/trial.h: what becomes of the first messages that were brought back.
 *
 *     sq_trial_mark(q, &s);                            // whoever brings it back
 *     ...
 *     sq_trial_tell(q, h->trial, m->id, true);         // the worker that ran it
 *     ...
 *     int status = sq_trials_each(q, filter, fn, arg); // and what it said
 *
 * SQS shows nothing of what waits, so `bide worker redrive` could not see whether
 * its first ten succeed. Their copies name the process that brought them back; the
 * worker that ends one, or sees it fail, sends a line about it to NAME-redrive,
 * before it deletes or copies the message. Where that process is gone, the lines
 * are deleted by the next, after an hour. */
#ifndef BIDE_QUEUE_SQS_TRIAL_H
#define BIDE_QUEUE_SQS_TRIAL_H

#include "queue/sqs/session.h"
#include "queue/sqs/state.h"

enum { SQ_TRIALS = 10 }; /* as many as `redrive` waits for */

/* If it is one of the first: the copy shall say what becomes of it. */
int sq_trial_mark(struct sqs_broker *q, struct sq_state *s);

/* `trial` "": nobody wants to know. */
int sq_trial_tell(struct sqs_broker *q, const char *trial, const char *id,
                  bool good);

/* Whether we brought this one back and a worker said that it is done. */
bool sq_trial_is_good(const struct sqs_broker *q, const char *id);

/* Calls fn with those that are not done: failed ones have an attempt behind them. */
int sq_trials_each(struct sqs_broker *q, const struct broker_filter *filter,
                   broker_each *fn, void *arg);

#endif
