/* kafka_server: a cluster for tests, of librdkafka's own making. It prints where it
 * listens, and does what it reads:
 *
 *     queue NAME PARTITIONS   makes the topics of a queue
 *     crash, start            the broker goes away, and comes back with its data
 *     foreign NAME            writes messages as others would
 *
 * Each is answered with "ok". It ends with its input. */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static rd_kafka_mock_cluster_t *cluster;

static void die(const char *why)
{
    fprintf(stderr, "kafka_server: %s\n", why);
    exit(1);
}

static void make_topics(const char *queue, int partitions)
{
    static const char *const suffixes[] = { "",          ".retry.10s",
                                            ".retry.1m", ".retry.10m",
                                            ".retry.1h", ".retry.long",
                                            ".dead" };
    char name[200];

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(name, sizeof name, "%s%s", queue, suffixes[i]);
        rd_kafka_mock_topic_create(cluster, name, partitions, 1);
    }
}

static rd_kafka_t *new_producer(const char *servers)
{
    char why[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    if (servers)
        rd_kafka_conf_set(conf, "bootstrap.servers", servers, why, sizeof why);
    rd_kafka_conf_set(conf, "log_level", "2", why, sizeof why);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (!rk)
        die(why);
    return rk;
}

static void foreign(const char *queue)
{
    char key[300];
    rd_kafka_t *rk = new_producer(rd_kafka_mock_cluster_bootstraps(cluster));

    memset(key, 'k', sizeof key);
    if (__extension__ rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(queue),
                                        RD_KAFKA_V_VALUE("plain", 5),
                                        RD_KAFKA_V_END) ||
        __extension__ rd_kafka_producev(
            rk, RD_KAFKA_V_TOPIC(queue), RD_KAFKA_V_VALUE("full", 4),
            RD_KAFKA_V_KEY("customer", 8),
            RD_KAFKA_V_HEADER("bide-id", "foreign-7", 9),
            RD_KAFKA_V_HEADER("bide-priority", "99", 2),
            RD_KAFKA_V_HEADER("type", "email", 5), RD_KAFKA_V_END) ||
        __extension__ rd_kafka_producev(
            rk, RD_KAFKA_V_TOPIC(queue), RD_KAFKA_V_VALUE("odd", 3),
            RD_KAFKA_V_KEY(key, sizeof key),
            RD_KAFKA_V_HEADER("bide-id", "line\nbreak", 10),
            RD_KAFKA_V_HEADER("an odd name!", "7", 1), RD_KAFKA_V_END) ||
        rd_kafka_flush(rk, 20000))
        die("foreign messages are not written");
    rd_kafka_destroy(rk);
}

int main(void)
{
    char line[300], name[200];
    int partitions;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    rd_kafka_t *rk = new_producer(NULL);
    cluster = rd_kafka_mock_cluster_new(rk, 1);
    if (!cluster)
        die("no cluster");
    printf("%s\n", rd_kafka_mock_cluster_bootstraps(cluster));
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "queue %199s %d", name, &partitions) == 2)
            make_topics(name, partitions);
        else if (sscanf(line, "foreign %199s", name) == 1)
            foreign(name);
        else if (strncmp(line, "crash", 5) == 0)
            rd_kafka_mock_broker_set_down(cluster, 1);
        else if (strncmp(line, "start", 5) == 0)
            rd_kafka_mock_broker_set_up(cluster, 1);
        else
            die(line);
        printf("ok\n");
        fflush(stdout);
    }
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(rk);
    return 0;
}
