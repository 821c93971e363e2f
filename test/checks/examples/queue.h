/* What the examples of queue/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* queue/blame.h */
struct { uint32_t deaths; bool suspect; } *m;
size_t n_running;

/* queue/broker.h */
void die(const char *why);

/* queue/guard.h */
extern pid_t pid;
extern int64_t until_ns;

/* queue/hands.h */
extern struct queue_message *m;

/* queue/postgresql/session.h */
extern struct pg_broker *q;

/* queue/rabbitmq/copy.h */
extern struct queue_message *m;
extern struct wire *w;

/* queue/rabbitmq/hand.h */
extern struct rmq *q;
extern struct queue_message *m;
extern struct wire_in *in;

/* queue/rabbitmq/manage.h */
extern struct rmq *q;
broker_finding *fn;
void *arg;
int status;

/* queue/rabbitmq/proof.h */
extern struct rmq *q;
extern struct track *t;
int status;

/* queue/rabbitmq/session.h */
extern struct rmq *q;

/* queue/rabbitmq/slot.h */
extern struct rmq *q;

/* queue/rabbitmq/track.h */
extern struct rmq *q;
struct queue_message **ret;
size_t n;

/* queue/rabbitmq/url.h */
extern const char *text;

/* queue/rabbitmq/wire.h */
extern struct wire *w;

/* queue/redis/session.h */
extern struct redis_broker *q;
extern const char *id;

/* queue/sqlite/clock.h */
struct sqlite_broker *s;

/* queue/sqlite/held.h */
struct sqlite_broker *s;
int64_t seq;

/* queue/sqlite/db.h */
struct broker *b;

/* queue/callback.h */

/* queue/command.h */
struct { const struct queue_handler *handler; } worker_conf;
char **argv;

/* queue/http.h */
struct { const struct queue_handler *handler; } worker_conf;
bide_policy_conf policy;

/* queue/key.h */
struct queue_message *m;

/* queue/hold.h */
struct queue_pool *pool;
struct queue_job *jobs, *job;
size_t n;
int64_t grace_ns;

/* queue/hold_clock.h */
extern struct queue_message *m;
int64_t asked_ns, lease_ns;

/* queue/pool.h */
struct queue_handler *handler;
struct bide__list jobs, ended;

/* queue/sqs/hands.h */
struct sqs_broker *q;
struct sq_value message;
int64_t sent_ns, hidden_ns;

/* queue/sqs/json.h */
#include <stdlib.h>
const char *text;
size_t len;

/* queue/sqs/letters.h */
struct sqs_broker *q;
size_t came;

/* queue/sqs/lock.h */
struct sqs_broker *q;
struct sq_hand *h;
struct sq_state s;

/* queue/sqs/poll.h */
struct sqs_broker *q;

/* queue/sqs/receive.h */
struct sqs_broker *q;

/* queue/sqs/send.h */
struct sqs_broker *q;

/* queue/sqs/session.h */
struct sqs_broker *q;

/* queue/sqs/trial.h */
#include "queue/sqs/hands.h"
struct sqs_broker *q;
struct sq_hand *h;
struct sq_state s;
struct queue_message *m;
const struct broker_filter *filter;
broker_each *fn;
void *arg;

/* queue/sqs/state.h */
#include "base/out.h"
struct sq_value message;
struct bide__out out;

/* queue/worker.h */
struct broker *broker;
bide_dep *dep;
#include "queue/command.h"
struct queue_command command;

/* queue/api/api.h */
bide_queue *queue;
char *why;
struct broker_put *items;
size_t n;

/* queue/api/deliver.h */
struct queue_job *job;
bide_queue_fn fn;
void *ctx;

/* queue/ahead.h */
int64_t took_ns;

/* queue/plan.h */
void die(const char *why);
bide_policy_conf policy;
uint32_t at_once;
int64_t lease_ns;
struct broker *broker;
broker_finding *found;
void *arg;

/* queue/missing.h */
extern struct broker *b;
int names(struct broker *b, void (*fn)(void *arg, const char *name), void *arg);

/* queue/walk.h */
const struct broker_filter *filter;
broker_each *fn;
void *arg;
struct broker *broker;
bool next_row(void *broker, struct broker_row *row);
