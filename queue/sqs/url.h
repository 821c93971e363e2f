/* queue/sqs/url.h: where SQS is, from the broker's URL and the environment.
 *
 *     struct sq_url url;
 *     char why[200];
 *     if (sq_url_read(&url, "sqs://eu-central-1", why, sizeof why) == 0)
 *         puts(url.endpoint);      // https://sqs.eu-central-1.amazonaws.com
 *
 *   sqs:                          the region of AWS_REGION, or of the profile
 *   sqs://REGION                  this region
 *   sqs://REGION/ACCOUNT          the queues of another account
 *   sqs+http://HOST:PORT          another endpoint; sqs+https://... likewise. Its
 *   sqs+http://HOST:PORT/ACCOUNT  region is AWS_REGION's, or us-east-1
 *
 * Without an endpoint in the URL, AWS_ENDPOINT_URL_SQS or AWS_ENDPOINT_URL is
 * used, as by AWS's own programs. */
#ifndef BIDE_QUEUE_SQS_URL_H
#define BIDE_QUEUE_SQS_URL_H

#include <stddef.h>

/* Threads: immutable. */
struct sq_url {
    char endpoint[300]; /* without a slash at its end */
    char region[64];
    char account[16]; /* "": our own */
};

/* 0, or -1 with the reason in `why`. */
int sq_url_read(struct sq_url *ret, const char *url, char *why, size_t size);

#endif
