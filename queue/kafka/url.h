/* queue/kafka/url.h: kafka://[USER:PASSWORD@]HOST[:PORT][,HOST...][?NAME=VALUE&...]
 *
 *     struct kf_url url;
 *     char why[200];
 *     if (kf_url_read(&url, "kafka://a:9092,b:9092?client.id=x", why) != 0)
 *         ...                               // why says what was found
 *     for (size_t i = 0; i < url.n; i++)
 *         printf("%s=%s\n", url.names[i], url.values[i]);
 *     kf_url_done(&url);
 *
 * What follows the question mark are librdkafka's own settings, under their own
 * names, and two of ours: `partitions` and `replication`, of topics that are made.
 * User and password become sasl.username and sasl.password, and without further
 * settings SASL_SSL with PLAIN. */
#ifndef BIDE_QUEUE_KAFKA_URL_H
#define BIDE_QUEUE_KAFKA_URL_H

#include <stddef.h>

enum { KF_SETTINGS = 64, KF_WHY = 240 };

/* Threads: owned. */
struct kf_url {
    char *text;                      /* names and values point into it */
    char servers[1024];
    const char *names[KF_SETTINGS], *values[KF_SETTINGS];
    size_t n;
    int partitions;                  /* of topics that we make */
    int replication;                 /* 0: as many as brokers, 3 at most */
};

int kf_url_read(struct kf_url *ret, const char *url, char why[KF_WHY]);
void kf_url_done(struct kf_url *u);

/* NULL: the URL does not say. */
const char *kf_url_setting(const struct kf_url *u, const char *name);

#endif
