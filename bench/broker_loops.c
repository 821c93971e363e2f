/* bench_brokers URL [MESSAGES]: the worker on PostgreSQL or Redis, beside a bare loop
 * that does as little as a queue can with the same client library, the same batches
 * and the same durability: take 100, forget 100. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "queue/broker.h"
#include "queue/callback.h"
#include "queue/worker.h"
#include "store/redis/redis.h"
#ifdef BENCH_LIBPQ
#include <libpq-fe.h>
#endif

#ifdef BENCH_RABBITMQ
#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#endif
#endif

enum { BATCH = 100 };

static void die(const char *why)
{
    fprintf(stderr, "bench_brokers: %s\n", why);
    exit(1);
}

static double rate(int n, int64_t begin)
{
    return n / ((double)(bide_now_ns() - begin) / 1e9);
}

/* ===== Redis, bare ===== */

static const char forget[] = "redis.call('XACK', KEYS[1], 'g', unpack(ARGV)) return "
                             "redis.call('XDEL', KEYS[1], unpack(ARGV))";

static struct redis_reply answer(struct redis *r)
{
    struct redis_reply reply;

    if (redis_next(r, bide_now_ns() + INT64_C(30000000000), &reply) != 0 ||
        reply.type == REDIS_ERROR)
        die(redis_why(r));
    return reply;
}

static void command(struct redis *r, unsigned n, const char *const *words)
{
    redis_command(r, n);
    for (unsigned i = 0; i < n; i++)
        redis_arg(r, words[i]);
}

static void fill_redis(struct redis *r, int n)
{
    static const char *const words[] = {
        "XADD", "bare", "*", "body",
        "0123456789012345678901234567890123456789012345678901234567890123456789"
        "012345678901234567890123456789"
    };
    static const char *const group[] = { "XGROUP", "CREATE", "bare",
                                         "g",      "0",      "MKSTREAM" };

    for (int i = 0; i < n; i += BATCH) {
        for (int j = 0; j < BATCH; j++)
            command(r, 5, words);
        while (redis_pending(r) > 0)
            answer(r);
    }
    command(r, 6, group);
    answer(r);
}

static double bare_redis(const char *text, int n)
{
    static const char *const read[] = { "XREADGROUP", "GROUP",   "g",    "c", "COUNT",
                                        "100",        "STREAMS", "bare", ">" };
    struct redis_url url;
    char why[REDIS_WHY];
    static char ids[BATCH][40];

    if (redis_url_read(&url, text, why) != 0)
        die(why);
    struct redis *r = redis_new(&url);
    if (!r || redis_connect(r, bide_now_ns() + INT64_C(5000000000)) != 0)
        die("no connection");
    fill_redis(r, n);
    int64_t begin = bide_now_ns();
    for (;;) {
        command(r, 9, read);
        struct redis_reply reply = answer(r);
        if (reply.type != REDIS_ARRAY || reply.n == 0)
            break;
        const struct redis_reply *list = &reply.items[0].items[1];
        size_t got = list->n;
        for (size_t i = 0; i < got; i++)
            snprintf(ids[i], sizeof ids[i], "%.*s", (int)list->items[i].items[0].len,
                     list->items[i].items[0].text);
        redis_command(r, (unsigned)(4 + got));
        redis_arg(r, "EVAL");
        redis_arg(r, forget);
        redis_arg(r, "1");
        redis_arg(r, "bare");
        for (size_t i = 0; i < got; i++)
            redis_arg(r, ids[i]);
        answer(r);
    }
    double result = rate(n, begin);
    redis_free(r);
    return result;
}

/* ===== PostgreSQL, bare ===== */

#ifdef BENCH_LIBPQ
static PGresult *query(PGconn *c, const char *sql)
{
    PGresult *r = PQexec(c, sql);
    ExecStatusType s = PQresultStatus(r);

    if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK)
        die(PQerrorMessage(c));
    return r;
}

static const char take_sql[] =
    "WITH p AS (SELECT n FROM bare WHERE state = 0 ORDER BY n LIMIT 100 FOR UPDATE "
    "SKIP LOCKED) UPDATE bare b SET state = 1 FROM p WHERE b.n = p.n RETURNING b.n, "
    "b.body";

static double bare_postgresql(const char *url, int n)
{
    PGconn *c = PQconnectdb(url);
    char sql[BATCH * 24 + 64];
    int got = 0;

    PQclear(query(c, "DROP TABLE IF EXISTS bare"));
    PQclear(query(c, "CREATE TABLE bare (n bigserial PRIMARY KEY, body bytea, state "
                     "smallint NOT NULL DEFAULT 0)"));
    PQclear(query(c, "CREATE INDEX ON bare (n) WHERE state = 0"));
    snprintf(sql, sizeof sql,
             "INSERT INTO bare (body) SELECT decode(repeat('78', 100), 'hex') FROM "
             "generate_series(1, %d)",
             n);
    PQclear(query(c, sql));
    PQclear(query(c, "ANALYZE bare"));
    int64_t begin = bide_now_ns();
    strcpy(sql, "SELECT 1");
    do {
        PQclear(query(c, "BEGIN"));
        PQclear(query(c, sql));
        PGresult *r = query(c, take_sql);
        got = PQntuples(r);
        int at = snprintf(sql, sizeof sql, "DELETE FROM bare WHERE n IN (0");
        for (int i = 0; i < got; i++)
            at += snprintf(sql + at, sizeof sql - (size_t)at, ",%s",
                           PQgetvalue(r, i, 0));
        snprintf(sql + at, sizeof sql - (size_t)at, ")");
        PQclear(r);
        PQclear(query(c, "COMMIT"));
    } while (got > 0);
    double result = rate(n, begin);
    PQfinish(c);
    return result;
}
#endif

/* ===== RabbitMQ, bare ===== */

#ifdef BENCH_RABBITMQ
static uint64_t published, confirmed; /* on this connection */

static amqp_connection_state_t dial(const char *text)
{
    char url[256];
    struct amqp_connection_info info;
    amqp_connection_state_t c = amqp_new_connection();
    amqp_socket_t *s = amqp_tcp_socket_new(c);

    snprintf(url, sizeof url, "%s", text);
    if (amqp_parse_url(url, &info) != AMQP_STATUS_OK ||
        amqp_socket_open(s, info.host, info.port) != AMQP_STATUS_OK ||
        amqp_login(c, info.vhost, 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, info.user,
                   info.password)
                .reply_type != AMQP_RESPONSE_NORMAL)
        die("no connection");
    amqp_channel_open(c, 1);
    amqp_channel_open(c, 2);
    amqp_confirm_select(c, 2);
    published = confirmed = 0;
    amqp_queue_declare(c, 1, amqp_cstring_bytes("bare"), 0, 1, 0, 0, amqp_empty_table);
    amqp_queue_declare(c, 1, amqp_cstring_bytes("list"), 0, 1, 0, 0, amqp_empty_table);
    return c;
}

static void put_amqp(amqp_connection_state_t c, const char *queue, int n)
{
    static char body[100];
    amqp_basic_properties_t p = { ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG,
                                  .delivery_mode = 2 };

    for (int i = 0; i < n; i++)
        amqp_basic_publish(c, 2, amqp_empty_bytes, amqp_cstring_bytes(queue), 1, 0, &p,
                           (amqp_bytes_t){ sizeof body, body });
    published += (uint64_t)n;
    for (uint64_t singly = 0; confirmed + singly < published;) {
        amqp_frame_t f;
        if (amqp_simple_wait_frame(c, &f) != AMQP_STATUS_OK)
            die("no confirmation");
        if (f.frame_type != AMQP_FRAME_METHOD ||
            f.payload.method.id != AMQP_BASIC_ACK_METHOD)
            continue;
        const amqp_basic_ack_t *m = f.payload.method.decoded;
        if (m->delivery_tag > confirmed && (m->multiple || n == 1))
            confirmed = m->delivery_tag;
        else if (m->delivery_tag == confirmed + 1)
            confirmed++;
        else
            singly++;
    }
    confirmed = published;
}

/* `durable`: that a batch was begun is on the disk before it is worked on, as the worker
 * has it. */
static double bare_rabbitmq(const char *url, int n, bool durable)
{
    amqp_connection_state_t c = dial(url);

    for (int i = 0; i < n; i += BATCH)
        put_amqp(c, "bare", BATCH);
    amqp_basic_qos(c, 1, 0, BATCH, 0);
    int64_t begin = bide_now_ns();
    amqp_basic_consume(c, 1, amqp_cstring_bytes("bare"), amqp_empty_bytes, 0, 0, 0,
                       amqp_empty_table);
    for (int i = 0; i < n; i += BATCH) {
        amqp_envelope_t e;
        uint64_t tag = 0;
        for (int j = 0; j < BATCH; j++) {
            amqp_maybe_release_buffers(c);
            if (amqp_consume_message(c, &e, NULL, 0).reply_type != AMQP_RESPONSE_NORMAL)
                die("no message");
            tag = e.delivery_tag;
            amqp_destroy_envelope(&e);
        }
        if (durable)
            put_amqp(c, "list", 1);
        amqp_basic_ack(c, 1, tag, 1);
    }
    double result = rate(n, begin);
    amqp_connection_close(c, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(c);
    return result;
}
#endif

/* ===== the worker ===== */

static bide_outcome nothing(void *ctx, const struct queue_job *job)
{
    (void)ctx, (void)job;
    return (bide_outcome){ .cls = BIDE_SUCCESS };
}

static void fill(struct broker *b, int n)
{
    static struct broker_put items[BATCH];
    static char body[100];

    for (int i = 0; i < n; i += BATCH) {
        for (int j = 0; j < BATCH; j++)
            items[j] = (struct broker_put){ .body = body, .len = sizeof body };
        if (b->kind->put(b, items, BATCH) != 0)
            die(b->error);
    }
}

static struct broker *open_queue(const char *url, const char *name)
{
    struct broker_conf conf = BROKER_CONF_INIT;
    char error[BROKER_ERROR];
    struct broker *b;

    conf.url = url;
    conf.queue = name;
    conf.consume = true;
    if (broker_open(&b, &conf, error) != 0)
        die(error);
    return b;
}

/* The broker's verbs, without a worker: what their promises cost. */
static double broker_alone(const char *url, int n)
{
    struct broker *b = open_queue(url, "alone");
    struct queue_message *m[BATCH];
    struct broker_end ends[BATCH];
    struct broker_take want = { .most = BATCH, .retries = BATCH };
    size_t held = 0;

    fill(b, n);
    int64_t begin = bide_now_ns();
    do {
        for (size_t i = 0; i < held; i++)
            ends[i] = (struct broker_end){ .message = m[i], .how = BROKER_DONE };
        if ((b->kind->begin && b->kind->begin(b) != 0) ||
            (held && b->kind->settle(b, ends, held) != 0))
            die(b->error);
        for (size_t i = 0; i < held; i++)
            queue_message_free(m[i]);
        if (b->kind->take(b, &want, m) != 0 ||
            (b->kind->commit && b->kind->commit(b) != 0))
            die(b->error);
        held = want.n;
    } while (held > 0);
    double result = rate(n, begin);
    broker_close(b);
    return result;
}

static double with_worker(const char *url, int n)
{
    struct queue_callback c = { { &queue_callback_kind }, nothing, NULL };
    struct queue_worker_conf w = QUEUE_WORKER_CONF_INIT;
    bide_policy_conf policy;
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, 1);

    w.broker = open_queue(url, "bench");
    if (bide_policy_preset(&policy, "queue") < 0 ||
        bide_dep_new(&w.dep, "bench", &policy) < 0)
        die("no dependency");
    fill(w.broker, n);
    w.handler = &c.handler;
    w.at_once = 16;
    w.ahead = 112;
    w.deep = true;
    w.until_empty = true;
    w.rng = &rng;
    struct queue_worker *worker = queue_worker_new(&w);
    if (!worker)
        die("no worker");
    int64_t begin = bide_now_ns();
    queue_worker_run(worker);
    double result = rate(n, begin);
    queue_worker_free(worker);
    bide_dep_free(w.dep);
    broker_close(w.broker);
    return result;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) / BATCH * BATCH : 20000;

    if (argc < 2)
        die("usage: bench_brokers URL [MESSAGES]");
    double bare = 0;
    if (redis_url_is(argv[1]))
        bare = bare_redis(argv[1], n);
#ifdef BENCH_RABBITMQ
    else if (strncmp(argv[1], "amqp:", 5) == 0) {
        printf("consume and acknowledge    %8.0f messages/s\n",
               bare_rabbitmq(argv[1], n, false));
        bare = bare_rabbitmq(argv[1], n, true);
    }
#endif
#ifdef BENCH_LIBPQ
    else
        bare = bare_postgresql(argv[1], n);
#endif
    double alone = broker_alone(argv[1], n), worker = with_worker(argv[1], n);
    printf("bare loop, batches of 100  %8.0f messages/s\n", bare);
    printf("the broker's verbs         %8.0f messages/s, %.0f %% of the bare loop\n",
           alone, bare > 0 ? alone / bare * 100 : 0);
    printf("worker, C function         %8.0f messages/s, %.0f %% of the bare loop\n",
           worker, bare > 0 ? worker / bare * 100 : 0);
    return 0;
}
