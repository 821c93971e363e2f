/* What the examples of queue/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* queue/blame.h */
struct { uint32_t deaths; bool suspect; } *m;
size_t n_running;

/* queue/broker.h */
void die(const char *why);

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

/* queue/rabbitmq/session.h */
extern struct rmq *q;

/* queue/rabbitmq/slot.h */
extern struct rmq *q;

/* queue/rabbitmq/url.h */
extern const char *text;

/* queue/rabbitmq/wire.h */
extern struct wire *w;

/* queue/redis/session.h */
extern struct redis_broker *q;
extern const char *id;

/* queue/sqlite/clock.h */
struct sqlite_broker *s;

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

/* queue/pace.h */
uint32_t running;
int64_t now_ns, started_ns;
bide_rng rng;

/* queue/pool.h */
struct queue_handler *handler;
struct bide__list jobs, ended;

/* queue/verdict.h */
bide_call call;
bide_outcome outcome;
bool probe;
int64_t now_ns;

/* queue/worker.h */
struct broker *broker;
bide_dep *dep;
#include "queue/command.h"
struct queue_command command;
