/* queue/rabbitmq/url.h: amqps://USER:PASSWORD@HOST:PORT/VHOST?queue-type=quorum&...
 *
 *     struct rmq_url url;
 *     char why[BROKER_ERROR];
 *     if (rmq_url_read(&url, text, why) != 0)
 *         puts(why);
 *
 * What is not there is as RabbitMQ has it: guest, guest, localhost, 5672 (with TLS 5671),
 * "/". Behind the question mark:
 *
 *   queue-type=quorum     what kind of queues to make; classic
 *   cacert=FILE           who may sign the server's certificate; as OpenSSL has it
 *   management=URL        http://HOST:15672, to find policies (check.c); with another
 *                         user and password if it has them */
#ifndef BIDE_QUEUE_RABBITMQ_URL_H
#define BIDE_QUEUE_RABBITMQ_URL_H

#include <stdbool.h>

#include "queue/broker.h"

enum { RMQ_URL_PART = 256 };

struct rmq_url {
    char user[RMQ_URL_PART], password[RMQ_URL_PART];
    char host[RMQ_URL_PART], vhost[RMQ_URL_PART];
    char cacert[RMQ_URL_PART], management[RMQ_URL_PART]; /* "": none */
    int port;
    bool tls, quorum;
};

/* 0, or -1 and one line of BROKER_ERROR bytes, without the password. */
int rmq_url_read(struct rmq_url *ret, const char *text, char *why);

#endif
