/* bench_brokers URL [MESSAGES [ROUNDS [SERVER]]]: the worker on a broker, beside a bare
 * loop that does as little as a queue can with the same client library, the same
 * batches and the same durability: take 100, forget 100; on SQS, where a request takes
 * ten, ten. On Kafka, a commit says that 100 are done and 100 begin, as the worker's
 * does; and the clock begins with the first message, since whoever joins a group waits.
 *
 * The three take turns, ROUNDS times, so that a disk or a neighbour that has a bad
 * minute slows down all of them; what is printed are medians. SERVER is the process id
 * of the server: its CPU time is told as well, with that of its children.
 *
 * Then: the time from put to the handler, and what an idle worker costs. */
#include <curl/curl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/out.h"
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

#ifdef BENCH_RDKAFKA
#include <librdkafka/rdkafka.h>
#endif

enum { BATCH = 100 };

static _Noreturn void die(const char *why)
{
    fprintf(stderr, "bench_brokers: %s\n", why);
    exit(1);
}

/* ===== what is measured ===== */

static int server; /* its process id; 0: none is known */

struct cost {
    double us, own_us, server_us; /* for a message: time, and CPU of both sides */
};

static double own_cpu_us(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Of a process, its children, and those of them that have ended. */
static double cpu_us_of(int pid)
{
    char path[64], line[512] = "";
    unsigned long t[4] = { 0 };
    double sum = 0;
    int child;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    const char *end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (end && sscanf(end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu "
                               "%lu", &t[0], &t[1], &t[2], &t[3]) == 4)
        sum = (double)(t[0] + t[1] + t[2] + t[3]) * 1e6 / (double)sysconf(_SC_CLK_TCK);
    fclose(f);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    f = fopen(path, "r");
    while (f && fscanf(f, "%d", &child) == 1)
        sum += cpu_us_of(child);
    if (f)
        fclose(f);
    return sum;
}

static struct cost begin_cost(void)
{
    return (struct cost){ (double)bide_now_ns() / 1e3, own_cpu_us(),
                          server ? cpu_us_of(server) : 0 };
}

static struct cost end_cost(struct cost begin, int n)
{
    struct cost now = begin_cost();

    return (struct cost){ (now.us - begin.us) / n, (now.own_us - begin.own_us) / n,
                          (now.server_us - begin.server_us) / n };
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

static void drop_redis(struct redis *r)
{
    static const char *const words[] = { "DEL", "bare" };

    command(r, 2, words);
    answer(r);
}

static struct cost bare_redis(const char *text, int n)
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
    drop_redis(r);
    fill_redis(r, n);
    struct cost begin = begin_cost();
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
    struct cost result = end_cost(begin, n);
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

static struct cost bare_postgresql(const char *url, int n)
{
    PGconn *c = PQconnectdb(url);
    PQclear(query(c, "SET client_min_messages = warning"));
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
    struct cost begin = begin_cost();
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
    struct cost result = end_cost(begin, n);
    PQfinish(c);
    return result;
}
#endif

/* ===== SQLite, bare ===== */

static void run_sqlite(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q;

    if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
    return q;
}

static void with_number(sqlite3_stmt *q, int64_t n)
{
    sqlite3_bind_int64(q, 1, n);
    if (sqlite3_step(q) != SQLITE_DONE)
        die("no step");
    sqlite3_reset(q);
}

static sqlite3 *open_sqlite(const char *url, int n)
{
    char path[256], sql[256];
    sqlite3 *db;

    snprintf(path, sizeof path, "%s-bare", strchr(url, ':') + 1);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        die(path);
    run_sqlite(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                   "DROP TABLE IF EXISTS bare; CREATE TABLE bare (n INTEGER PRIMARY KEY,"
                   " state INTEGER NOT NULL DEFAULT 0, body BLOB);"
                   "CREATE INDEX ready ON bare (n) WHERE state = 0");
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT %d) "
             "INSERT INTO bare (body) SELECT zeroblob(100) FROM c",
             n);
    run_sqlite(db, sql);
    return db;
}

static struct cost bare_sqlite(const char *url, int n)
{
    sqlite3 *db = open_sqlite(url, n);
    sqlite3_stmt *read = prepare(db, "SELECT n, body FROM bare WHERE state = 0 ORDER BY n "
                                     "LIMIT 100");
    sqlite3_stmt *take = prepare(db, "UPDATE bare SET state = 1 WHERE n = ?");
    sqlite3_stmt *done = prepare(db, "DELETE FROM bare WHERE n = ?");
    int64_t held[BATCH];
    int got = 0;
    struct cost begin = begin_cost();

    do {
        run_sqlite(db, "BEGIN IMMEDIATE");
        for (int i = 0; i < got; i++)
            with_number(done, held[i]);
        for (got = 0; sqlite3_step(read) == SQLITE_ROW; got++)
            held[got] = sqlite3_column_int64(read, 0);
        sqlite3_reset(read);
        for (int i = 0; i < got; i++)
            with_number(take, held[i]);
        run_sqlite(db, "COMMIT");
    } while (got > 0);
    struct cost result = end_cost(begin, n);
    sqlite3_finalize(read);
    sqlite3_finalize(take);
    sqlite3_finalize(done);
    sqlite3_close(db);
    return result;
}

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
static struct cost bare_rabbitmq(const char *url, int n, bool durable)
{
    amqp_connection_state_t c = dial(url);

    for (int i = 0; i < n; i += BATCH)
        put_amqp(c, "bare", BATCH);
    amqp_basic_qos(c, 1, 0, BATCH, 0);
    struct cost begin = begin_cost();
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
    struct cost result = end_cost(begin, n);
    amqp_connection_close(c, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(c);
    return result;
}
#endif

/* ===== Kafka, bare ===== */

#ifdef BENCH_RDKAFKA
/* A consumer has the settings of the URL, which are those of one. */
static rd_kafka_t *new_kafka(const char *url, rd_kafka_type_t type)
{
    char servers[128], name[64], value[64], why[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    const char *at = type == RD_KAFKA_CONSUMER ? strchr(url, '?') : NULL;

    if (sscanf(url, "kafka://%127[^?]", servers) != 1 ||
        rd_kafka_conf_set(conf, "bootstrap.servers", servers, why, sizeof why) != 0)
        die("no servers");
    for (int len; at && sscanf(at, "%*1[?&]%63[^=]=%63[^&]%n", name, value, &len) == 2;
         at += len)
        if (rd_kafka_conf_set(conf, name, value, why, sizeof why) != 0)
            die(why);
    if (type == RD_KAFKA_CONSUMER &&
        (rd_kafka_conf_set(conf, "group.id", "bare", why, sizeof why) != 0 ||
         rd_kafka_conf_set(conf, "enable.auto.commit", "false", why, sizeof why) != 0 ||
         rd_kafka_conf_set(conf, "auto.offset.reset", "earliest", why, sizeof why) != 0))
        die(why);
    rd_kafka_t *rk = rd_kafka_new(type, conf, why, sizeof why);
    if (!rk)
        die(why);
    return rk;
}

static void fill_kafka(const char *url, int n)
{
    static char body[100];
    rd_kafka_t *rk = new_kafka(url, RD_KAFKA_PRODUCER);

    for (int i = 0; i < n;) {
        rd_kafka_resp_err_t err = __extension__ rd_kafka_producev(
            rk, RD_KAFKA_V_TOPIC("bare"), RD_KAFKA_V_VALUE(body, sizeof body),
            RD_KAFKA_V_END);
        if (err && err != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            die(rd_kafka_err2str(err));
        i += !err;
        rd_kafka_poll(rk, err ? 100 : 0);
    }
    if (rd_kafka_flush(rk, 60000) != 0)
        die("not written");
    rd_kafka_destroy(rk);
}

/* As many as are there, up to `most`; one at least. */
static int consume(rd_kafka_queue_t *queue, rd_kafka_message_t **to, int most)
{
    ssize_t got = 0;

    for (int i = 0; got == 0 && i < 60; i++)
        got = rd_kafka_consume_batch_queue(queue, 1000, to, (size_t)most);
    if (got <= 0 || to[0]->err)
        die(got > 0 ? rd_kafka_message_errstr(to[0]) : "no message");
    return (int)got;
}

/* All before `offset` are done, and so many more have begun: confirmed. */
static void commit_kafka(rd_kafka_t *rk, int64_t offset, int begun)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *at = rd_kafka_topic_partition_list_add(list, "bare", 0);
    char text[16];

    at->offset = offset;
    at->metadata_size = (size_t)snprintf(text, sizeof text, "%d", begun);
    at->metadata = strdup(text);
    if (rd_kafka_commit(rk, list, 0) != 0)
        die("not committed");
    rd_kafka_topic_partition_list_destroy(list);
}

static struct cost bare_kafka(const char *url, int n)
{
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_message_t *batch[BATCH];
    struct cost begin = { 0 };
    int64_t next = 0;

    fill_kafka(url, n);
    rd_kafka_t *rk = new_kafka(url, RD_KAFKA_CONSUMER);
    rd_kafka_poll_set_consumer(rk);
    rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(rk);
    rd_kafka_topic_partition_list_add(topics, "bare", RD_KAFKA_PARTITION_UA);
    rd_kafka_subscribe(rk, topics);
    for (int done = 0; done < n; done += BATCH) {
        int got = consume(queue, batch, BATCH);
        if (done == 0)
            begin = begin_cost();
        while (got < BATCH)
            got += consume(queue, batch + got, BATCH - got);
        next = batch[BATCH - 1]->offset + 1;
        commit_kafka(rk, batch[0]->offset, BATCH);
        for (int i = 0; i < BATCH; i++)
            rd_kafka_message_destroy(batch[i]);
    }
    commit_kafka(rk, next, 0);
    struct cost result = end_cost(begin, n);
    rd_kafka_topic_partition_list_destroy(topics);
    rd_kafka_queue_destroy(queue);
    rd_kafka_consumer_close(rk);
    rd_kafka_destroy(rk);
    return result;
}
#endif

/* ===== SQS, bare ===== */

enum { SQS_BATCH = 10 };

static size_t keep(char *data, size_t size, size_t n, void *to)
{
    bide__out_bytes(to, data, size * n);
    return size * n;
}

/* Keys are in the environment; signed as the broker's requests are. */
static void ask_sqs(CURL *easy, const char *action, const struct bide__out *body,
                    struct bide__out *reply)
{
    struct curl_slist *fields = NULL;
    char target[80];
    long status = 0;

    snprintf(target, sizeof target, "X-Amz-Target: AmazonSQS.%s", action);
    fields = curl_slist_append(fields, "Content-Type: application/x-amz-json-1.0");
    fields = curl_slist_append(fields, target);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, "aws:amz:us-east-1:sqs");
    curl_easy_setopt(easy, CURLOPT_USERNAME, getenv("AWS_ACCESS_KEY_ID"));
    curl_easy_setopt(easy, CURLOPT_PASSWORD, getenv("AWS_SECRET_ACCESS_KEY"));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)body->len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body->data);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, reply);
    bide__out_clear(reply);
    if (curl_easy_perform(easy) != CURLE_OK ||
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK ||
        status != 200 || reply->failed)
        die(action);
    curl_slist_free_all(fields);
}

static char sqs_queue[300]; /* its URL, as a member of a request */

/* Begins a request about it. */
static void about_sqs(struct bide__out *body, const char *more)
{
    bide__out_clear(body);
    bide__out_char(body, '{');
    bide__out_text(body, sqs_queue);
    bide__out_text(body, more);
}

static void make_sqs(CURL *easy, struct bide__out *body, struct bide__out *reply)
{
    bide__out_text(body, "{\"QueueName\":\"bare\"}");
    ask_sqs(easy, "CreateQueue", body, reply);
    bide__out_char(reply, '\0');
    const char *at = strstr(reply->data, "\"QueueUrl\"");
    if (!at || !strchr(at, '}'))
        die("no URL of the queue");
    snprintf(sqs_queue, sizeof sqs_queue, "%.*s,", (int)(strchr(at, '}') - at), at);
}

static void fill_sqs(CURL *easy, int n, struct bide__out *body,
                     struct bide__out *reply)
{
    char entry[200];

    for (int i = 0; i < n; i += SQS_BATCH) {
        about_sqs(body, "\"Entries\":[");
        for (int j = 0; j < SQS_BATCH; j++) {
            snprintf(entry, sizeof entry, "%s{\"Id\":\"%d\",\"MessageBody\":\"%0100d\"}",
                     j ? "," : "", j, j);
            bide__out_text(body, entry);
        }
        bide__out_text(body, "]}");
        ask_sqs(easy, "SendMessageBatch", body, reply);
    }
}

/* From what was received to what deletes it; how many. */
static int forget_sqs(const struct bide__out *reply, struct bide__out *body)
{
    static const char name[] = "\"ReceiptHandle\":\"";
    char entry[40];
    int n = 0;

    about_sqs(body, "\"Entries\":[");
    for (const char *at = reply->data; (at = strstr(at, name)) != NULL; n++) {
        at += sizeof name - 1;
        snprintf(entry, sizeof entry, "%s{\"Id\":\"%d\",\"ReceiptHandle\":\"",
                 n ? "," : "", n);
        bide__out_text(body, entry);
        bide__out_bytes(body, at, (size_t)(strchr(at, '"') - at));
        bide__out_text(body, "\"}");
    }
    bide__out_text(body, "]}");
    return n;
}

static struct cost bare_sqs(const char *url, int n)
{
    struct bide__out body = { 0 }, reply = { 0 }, receive = { 0 };
    CURL *easy = curl_easy_init();
    int done = 0, got;

    curl_easy_setopt(easy, CURLOPT_URL, strchr(url, '+') + 1);
    make_sqs(easy, &body, &reply);
    fill_sqs(easy, n, &body, &reply);
    /* what a worker has to know of a message, too */
    about_sqs(&receive, "\"MaxNumberOfMessages\":10,"
                        "\"MessageSystemAttributeNames\":[\"All\"],"
                        "\"MessageAttributeNames\":[\"All\"]}");
    struct cost begin = begin_cost();
    do {
        ask_sqs(easy, "ReceiveMessage", &receive, &reply);
        bide__out_char(&reply, '\0');
        if ((got = forget_sqs(&reply, &body)) > 0)
            ask_sqs(easy, "DeleteMessageBatch", &body, &reply);
        done += got;
    } while (done < n);
    struct cost result = end_cost(begin, n);
    curl_easy_cleanup(easy);
    bide__out_done(&body);
    bide__out_done(&reply);
    bide__out_done(&receive);
    return result;
}

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

static struct broker *open_queue(const char *url, const char *name, bool consume)
{
    struct broker_conf conf = BROKER_CONF_INIT;
    char error[BROKER_ERROR];
    struct broker *b;

    conf.url = url;
    conf.queue = name;
    conf.consume = consume;
    if (broker_open(&b, &conf, error) != 0)
        die(error);
    return b;
}

/* Who takes has to join first. */
static bool joins(const char *url)
{
    return strncmp(url, "kafka:", 6) == 0;
}

/* The broker's verbs, without a worker: what their promises cost. */
static struct cost broker_alone(const char *url, int n)
{
    struct broker *b = open_queue(url, "alone", true);
    struct queue_message *m[BATCH];
    struct broker_end ends[BATCH];
    struct broker_take want = { .most = BATCH, .retries = BATCH };
    size_t held = 0, done = 0;

    fill(b, n);
    struct cost begin = begin_cost();
    do {
        for (size_t i = 0; i < held; i++)
            ends[i] = (struct broker_end){ .message = m[i], .how = BROKER_DONE };
        if ((b->kind->begin && b->kind->begin(b) != 0) ||
            (held && b->kind->settle(b, ends, held) != 0))
            die(b->error);
        for (size_t i = 0; i < held; i++)
            queue_message_free(m[i]);
        done += held;
        if (b->kind->take(b, &want, m) != 0 ||
            (b->kind->commit && b->kind->commit(b) != 0))
            die(b->error);
        held = want.n; /* 0 as well where the first take only asks for them (Kafka) */
        if (held && done == 0 && joins(url))
            begin = begin_cost();
    } while (done < (size_t)n);
    struct cost result = end_cost(begin, n);
    broker_close(b);
    return result;
}

/* Of the n that a worker works off. */
static struct work {
    struct cost begin, result;
    bool begun, joins;
    int n, left;
} work;

static void on_start(void *ctx, struct queue_job *job)
{
    (void)ctx, (void)job;
    if (work.joins && !work.begun)
        work.begin = begin_cost();
    work.begun = true;
}

/* An end is told when it is durable. That the queue is empty is found out behind the
 * last, and no message's cost. */
static void on_event(void *ctx, const struct queue_event *e)
{
    (void)ctx;
    if (e->kind == QUEUE_ENDED && --work.left == 0)
        work.result = end_cost(work.begin, work.n);
}

static struct queue_worker_conf of_worker; /* of the last one that was made */

static struct queue_worker *new_worker(const char *url, const char *name,
                                       const struct queue_handler *handler,
                                       uint32_t at_once, uint32_t ahead,
                                       bool until_empty)
{
    static bide_rng_seeded seeded;
    static bide_rng rng;
    struct queue_worker_conf w = QUEUE_WORKER_CONF_INIT;
    bide_policy_conf policy;

    rng = bide_rng_seed(&seeded, 1);
    w.broker = open_queue(url, name, true);
    if (bide_policy_preset(&policy, "queue") < 0 ||
        bide_dep_new(&w.dep, "bench", &policy) < 0)
        die("no dependency");
    w.handler = handler;
    w.at_once = at_once;
    w.ahead = ahead;
    w.deep = true;
    if (w.broker->traits.prefetch_counts) { /* as the library has it */
        w.at_once = 2 * SQS_BATCH;
        w.ahead = 0;
        w.deep = false;
    }
    w.until_empty = until_empty;
    w.on_start = on_start;
    w.on_event = on_event;
    w.rng = &rng;
    of_worker = w;
    struct queue_worker *worker = queue_worker_new(&w);
    if (!worker)
        die("no worker");
    return worker;
}

static void end_worker(struct queue_worker *worker)
{
    queue_worker_free(worker);
    bide_dep_free(of_worker.dep);
    broker_close(of_worker.broker);
}

static struct cost with_worker(const char *url, int n)
{
    struct queue_callback c = { { &queue_callback_kind }, nothing, NULL };
    static int round;
    char name[24] = "bench";

    /* the long poll of a worker that has left may take some of the next one's: they are
     * hidden for 20 s then */
    if (strncmp(url, "sqs+", 4) == 0)
        snprintf(name, sizeof name, "bench-%d", ++round);
    struct queue_worker *worker =
        new_worker(url, name, &c.handler, 16, BATCH - 16, true);

    fill(of_worker.broker, n);
    work = (struct work){ .begin = begin_cost(), .joins = joins(url), .n = n, .left = n };
    queue_worker_run(worker);
    if (work.left != 0)
        die("not all have ended once");
    end_worker(worker);
    return work.result;
}

/* ===== latency, and idleness ===== */

enum { PUTS = 200, IDLE_S = 5 };

struct heard {
    _Atomic int n;
    double ms[PUTS];
};

static bide_outcome hear(void *ctx, const struct queue_job *job)
{
    struct heard *h = ctx;
    int64_t sent;

    memcpy(&sent, job->message->body, sizeof sent);
    h->ms[h->n] = (double)(bide_now_ns() - sent) / 1e6;
    h->n++;
    return (bide_outcome){ .cls = BIDE_SUCCESS };
}

static void *run_worker(void *w)
{
    queue_worker_run(w);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* From a put on another connection to the handler, one at a time; then what the two of
 * them cost when nothing happens. */
static void latency(const char *url)
{
    static struct heard heard;
    struct broker *producer = open_queue(url, "latency", false);
    struct queue_callback c = { { &queue_callback_kind }, hear, &heard };
    struct queue_worker *w = new_worker(url, "latency", &c.handler, 4, 4, false);
    pthread_t thread;

    pthread_create(&thread, NULL, run_worker, w);
    for (int i = 0; i < PUTS; i++) {
        int64_t now = bide_now_ns();
        struct broker_put p = { .body = &now, .len = sizeof now };
        if (producer->kind->put(producer, &p, 1) != 0)
            die(producer->error);
        while (heard.n == i)
            usleep(100);
        usleep(2000);
    }
    qsort(heard.ms, PUTS, sizeof heard.ms[0], by_size);
    printf("put to handler             median %.2f ms, p99 %.2f ms (%d messages)\n",
           heard.ms[PUTS / 2], heard.ms[PUTS * 99 / 100], PUTS);
    struct cost begin = begin_cost();
    sleep(IDLE_S);
    struct cost idle = end_cost(begin, IDLE_S * 10000);
    printf("idle                       %.3f %% of a core, its server %.3f %% (%d s)\n",
           idle.own_us, idle.server_us, IDLE_S);
    queue_worker_stop(w);
    pthread_join(thread, NULL);
    end_worker(w);
    broker_close(producer);
}

/* ===== rounds ===== */

enum { SIDES = 3, MOST_ROUNDS = 99 };

static struct cost bare(const char *url, int n)
{
    if (redis_url_is(url))
        return bare_redis(url, n);
    if (strncmp(url, "sqs+", 4) == 0)
        return bare_sqs(url, n);
    if (strncmp(url, "sqlite:", 7) == 0)
        return bare_sqlite(url, n);
#ifdef BENCH_RDKAFKA
    if (strncmp(url, "kafka:", 6) == 0)
        return bare_kafka(url, n);
#endif
#ifdef BENCH_RABBITMQ
    if (strncmp(url, "amqp:", 5) == 0)
        return bare_rabbitmq(url, n, true);
#endif
#ifdef BENCH_LIBPQ
    return bare_postgresql(url, n);
#endif
    die("no such client");
}

static const struct {
    const char *name;
    struct cost (*run)(const char *url, int n);
} sides[SIDES] = {
    { "bare loop, batches of 100", bare },
    { "the broker's verbs", broker_alone },
    { "worker, C function", with_worker },
};

/* Of one member of the costs. */
static double median(const struct cost *costs, int rounds, size_t member)
{
    double list[MOST_ROUNDS];

    for (int i = 0; i < rounds; i++)
        memcpy(&list[i], (const char *)&costs[i] + member, sizeof list[i]);
    qsort(list, (size_t)rounds, sizeof list[0], by_size);
    return rounds % 2 ? list[rounds / 2]
                      : (list[rounds / 2 - 1] + list[rounds / 2]) / 2;
}

int main(int argc, char **argv)
{
    static struct cost costs[SIDES][MOST_ROUNDS];
    int n = argc > 2 ? atoi(argv[2]) / BATCH * BATCH : 20000;
    int rounds = argc > 3 ? atoi(argv[3]) : 5;

    server = argc > 4 ? atoi(argv[4]) : 0;
    if (argc < 2 || n < BATCH || rounds < 1 || rounds > MOST_ROUNDS)
        die("usage: bench_brokers URL [MESSAGES [ROUNDS [SERVER]]]");
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < SIDES; i++)
            costs[i][round] = sides[i].run(argv[1], n);
    printf("%-26s %10s %14s %10s %10s   (median of %d)\n", "", "messages/s",
           "of bare (worst)", "own us", "server us", rounds);
    for (int i = 0; i < SIDES; i++) {
        double us = median(costs[i], rounds, offsetof(struct cost, us)), worst = 1e9;
        for (int round = 0; round < rounds; round++) {
            double share = costs[0][round].us / costs[i][round].us;
            worst = share < worst ? share : worst;
        }
        printf("%-26s %10.0f %6.0f %% (%3.0f %%) %10.1f %10.1f\n", sides[i].name, 1e6 / us,
               median(costs[0], rounds, offsetof(struct cost, us)) / us * 100, worst * 100,
               median(costs[i], rounds, offsetof(struct cost, own_us)),
               median(costs[i], rounds, offsetof(struct cost, server_us)));
    }
    latency(argv[1]);
    return 0;
}
