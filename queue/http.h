/* queue/http.h: an HTTP endpoint as the handler of messages, through libbide-curl.
 *
 *     struct queue_http http;
 *     int rc = queue_http_init(&http, "http://127.0.0.1:8080/jobs", &policy);
 *     worker_conf.handler = &http.handler;
 *     ...
 *     queue_http_done(&http);
 *
 * Each delivery is a POST of the body, with Idempotency-Key (queue/key.h), the same
 * on each delivery; X-Bide-Attempt, so that a bide below does not retry too;
 * X-Bide-Queue and X-Bide-Message-Id; and the attributes as X-Bide-Attr-NAME, except
 * for content-type, which is the Content-Type. The answer is classified as everywhere
 * in bide: hints, problem documents and rules of the policy included. */
#ifndef BIDE_QUEUE_HTTP_H
#define BIDE_QUEUE_HTTP_H

#include "bide/dep.h"
#include "queue/handler.h"

struct queue_http {
    struct queue_handler handler; /* first */
    const char *url;
    bide_dep *once;  /* makes one attempt: the worker's engine decides */
};

extern const struct queue_handler_kind queue_http_kind;

/* `policy` is the worker's: its rules classify. 0, or a BIDE_E... */
int queue_http_init(struct queue_http *h, const char *url,
                    const bide_policy_conf *policy);
void queue_http_done(struct queue_http *h);

#endif
