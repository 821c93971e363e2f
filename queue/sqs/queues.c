/* The queues themselves: found by name, made if missing, and their attributes. */
#include <stdlib.h>
#include <string.h>

#include "queue/missing.h"
#include "queue/sqs/look.h"
#include "queue/sqs/session.h"

static int keep_url(struct sqs_broker *q, enum sq_where where,
                    struct sq_value answer)
{
    free(q->urls[where]);
    q->urls[where] = sq_text(sq_member(answer, "QueueUrl"), NULL);
    return q->urls[where] ? 0
                          : broker_fail(&q->b, BROKER_CORRUPT,
                                        "sqs: an answer without a QueueUrl");
}

int sq_find_queue(struct sqs_broker *q, enum sq_where where)
{
    struct bide__json *j = sq_begin(q, SQ_PLACES);
    struct sq_value answer;

    bide__json_text(j, "QueueName", q->names[where]);
    if (*q->url.account)
        bide__json_text(j, "QueueOwnerAWSAccountId", q->url.account);
    int status = sq_ask(q, "GetQueueUrl", SQ_REPEAT, 0, &answer);
    if (status == 0)
        return keep_url(q, where, answer);
    if (!strstr(q->type, "DoesNotExist") && !strstr(q->type, "NonExistent"))
        return status;
    if (where != SQ_MAIN)
        return broker_fail(&q->b, BROKER_REFUSED, "sqs: there is no queue `%s`",
                           q->names[where]);
    /* Many accounts may not list queues. That refusal must not hide this one, or
     * the caller would not make the queue. */
    char type[sizeof q->type];
    memcpy(type, q->type, sizeof type);
    status = queue_missing(&q->b, sq_queues, "sqs: there is no queue `%s`",
                           q->names[where]);
    memcpy(q->type, type, sizeof type);
    return status;
}

/* Fourteen days are the most that SQS keeps a message. Its limit of size is the
 * service's, so that a letter fits with all that is noted about it. */
int sq_make_queue(struct sqs_broker *q, enum sq_where where)
{
    struct bide__json *j = sq_begin(q, SQ_PLACES);
    struct sq_value answer;

    bide__json_text(j, "QueueName", q->names[where]);
    bide__json_object(j, "Attributes");
    bide__json_text(j, "MessageRetentionPeriod", "1209600");
    if (q->fifo)
        bide__json_text(j, "FifoQueue", "true");
    bide__json_end(j);
    int status = sq_ask(q, "CreateQueue", SQ_REPEAT, 0, &answer);
    if (status == 0)
        return keep_url(q, where, answer);
    if (strstr(q->type, "NameExists")) /* somebody has made it otherwise */
        return sq_find_queue(q, where);
    return status;
}

int sq_attributes(struct sqs_broker *q, enum sq_where where,
                  struct sq_value *ret)
{
    struct bide__json *j = sq_begin(q, where);
    struct sq_value answer;

    bide__json_list(j, "AttributeNames");
    bide__json_text(j, NULL, "All");
    bide__json_end(j);
    int status = sq_ask(q, "GetQueueAttributes", SQ_REPEAT, 0, &answer);
    if (status == 0)
        *ret = sq_member(answer, "Attributes");
    return status;
}
