/* queue/sqs/credentials.h: whose name requests are signed in.
 *
 *     struct sq_credentials c = { 0 };
 *     char why[300];
 *     if (sq_credentials_load(&c, why, sizeof why) != 0)
 *         puts(why);
 *     ...
 *     if (sq_credentials_stale(&c))
 *         sq_credentials_load(&c, why, sizeof why);
 *
 * In the order of AWS's own programs: the environment (AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN), the profile's files, the endpoint of
 * a container (ECS, EKS Pod Identity), the metadata of an EC2 instance
 * (IMDSv2). */
#ifndef BIDE_QUEUE_SQS_CREDENTIALS_H
#define BIDE_QUEUE_SQS_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SQ_KEY_MAX = 256, SQ_TOKEN_MAX = 4096 };

/* Threads: owned. */
struct sq_credentials {
    char id[SQ_KEY_MAX];
    char secret[SQ_KEY_MAX];
    char token[SQ_TOKEN_MAX]; /* "": none */
    int64_t expires_s;        /* Unix time; 0: does not */
};

/* 0, or -1 with the reason in `why`: there are none. */
int sq_credentials_load(struct sq_credentials *c, char *why, size_t size);

/* They end within 5 minutes. */
bool sq_credentials_stale(const struct sq_credentials *c);

#endif
