/* The broker's table, from open to close. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "queue/sqs/check.h"
#include "queue/sqs/deliver.h"
#include "queue/sqs/hands.h"
#include "queue/sqs/letters.h"
#include "queue/sqs/look.h"
#include "queue/sqs/poll.h"
#include "queue/sqs/put.h"
#include "queue/sqs/redrive.h"
#include "queue/sqs/session.h"
#include "queue/sqs/workers.h"

static void free_broker(struct sqs_broker *q)
{
    sq_poll_free(q->poll);
    sq_hands_done(q);
    sq_letters_done(q);
    free(q->trials);
    curl_easy_cleanup(q->easy);
    bide_dep_free(q->dep);
    for (int i = 0; i < SQ_PLACES; i++)
        free(q->urls[i]);
    bide__out_done(&q->request);
    bide__out_done(&q->answer);
    free(q);
    curl_global_cleanup();
}

/* ===== names ===== */

static const char *const behind[SQ_PLACES] = { "", "-suspects", "-dead",
                                               "-redrive" };

static bool set_names(struct sqs_broker *q, const char *name)
{
    size_t len = strlen(name), n;

    q->fifo = len > 5 && strcmp(name + len - 5, ".fifo") == 0;
    n = q->fifo ? len - 5 : len;
    if (len + strlen(behind[SQ_SUSPECTS]) > QUEUE_NAME_MAX ||
        memchr(name, '.', n))
        return false;
    for (int i = 0; i < SQ_PLACES; i++)
        snprintf(q->names[i], sizeof q->names[i], "%.*s%s%s", (int)n, name,
                 behind[i], q->fifo ? ".fifo" : "");
    return true;
}

/* ===== opening ===== */

/* Throttling is SQS's to tell by a header; the wait for what nobody accepts is
 * the worker's. */
static int make_policy(struct sqs_broker *q)
{
    static const bide_rule rules[] = {
        { .status_min = 400, .status_max = 499, .header = "x-amzn-query-error",
          .header_value = "RequestThrottled*", .cls = BIDE_THROTTLED,
          .not_processed = true },
        { .status_min = 400, .status_max = 499, .header = "x-amzn-query-error",
          .header_value = "Throttling*", .cls = BIDE_THROTTLED,
          .not_processed = true },
    };
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    conf.attempts = 3;
    conf.attempt_timeout_ns = 5 * BIDE_SECOND;
    conf.budget.kind = BIDE_BUDGET_OFF;
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.unreachable.wait_ns = BIDE_SECOND;
    conf.rules = rules;
    conf.n_rules = sizeof rules / sizeof rules[0];
    if (bide_dep_new(&q->dep, "sqs", &conf) != 0)
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    return 0;
}

static int find_all(struct sqs_broker *q)
{
    int status = sq_find_queue(q, SQ_MAIN);
    bool missing = status == BROKER_REFUSED &&
                   (strstr(q->type, "DoesNotExist") ||
                    strstr(q->type, "NonExistent"));

    if (missing && q->create)
        status = sq_make_queue(q, SQ_MAIN);
    if (status != 0 || !q->consume)
        return status;
    status = sq_find_queue(q, SQ_DEAD);
    if (status == BROKER_REFUSED)
        status = sq_make_queue(q, SQ_DEAD);
    if (status == 0 && sq_find_queue(q, SQ_SUSPECTS) == 0)
        q->suspects = true; /* some may wait */
    return status;
}

static int read_limits(struct sqs_broker *q)
{
    struct sq_value a;
    int status = sq_attributes(q, SQ_MAIN, &a);

    if (status != 0)
        return status;
    int64_t size = sq_number(sq_member(a, "MaximumMessageSize"), 262144);
    q->max_size = size > 0 ? (size_t)size : 262144;
    q->retention_ms =
        sq_number(sq_member(a, "MessageRetentionPeriod"), 0) * 1000;
    q->b.traits.max_body = q->max_size > 2 * SQ_RESERVE
                               ? q->max_size - SQ_RESERVE
                               : q->max_size / 2;
    return 0;
}

/* What is not done when its retention ends, SQS deletes: an hour before that, or half
 * of it, is left for the handler. */
static int64_t max_delay_ns(int64_t retention_ms)
{
    const int64_t hour_ms = 3600 * 1000;

    if (retention_ms <= 0) /* it does not tell */
        return INT64_MAX / 4;
    return (retention_ms > 2 * hour_ms ? retention_ms - hour_ms : retention_ms / 2) *
           SQ_MS;
}

static int begin(struct sqs_broker *q, const struct broker_conf *conf)
{
    char why[300];
    int status;

    if (!set_names(q, conf->queue))
        return broker_fail(&q->b, BROKER_REFUSED,
                           "`%s` is no name for a queue of SQS: letters, digits, "
                           "`-` and `_`, at most 71, and `.fifo` at the end of a "
                           "FIFO queue",
                           conf->queue);
    if (sq_url_read(&q->url, conf->url, why, sizeof why) != 0 ||
        sq_credentials_load(&q->credentials, why, sizeof why) != 0)
        return broker_fail(&q->b, BROKER_REFUSED, "%s", why);
    if ((status = make_policy(q)) != 0)
        return status;
    q->easy = curl_easy_init();
    q->poll = conf->consume ? sq_poll_new() : NULL;
    if (!q->easy || (conf->consume && !q->poll))
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    status = find_all(q);
    return status == 0 ? read_limits(q) : status;
}

static int open_queue(struct broker **ret, const struct broker_conf *conf,
                      char *error)
{
    struct sqs_broker *q = calloc(1, sizeof *q);

    if (!q) {
        snprintf(error, BROKER_ERROR, "out of memory");
        return BROKER_NO_MEMORY;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    snprintf(q->b.queue, sizeof q->b.queue, "%s", conf->queue);
    q->lease_ns = conf->lease_ns < SQ_S ? SQ_S : conf->lease_ns;
    q->max_deaths = conf->max_deaths;
    q->create = conf->create;
    q->consume = conf->consume;
    int status = begin(q, conf);
    if (status != 0) {
        memcpy(error, q->b.error, BROKER_ERROR);
        free_broker(q);
        return status;
    }
    q->b.traits.max_delay_ns = max_delay_ns(q->retention_ms);
    q->b.traits.max_run_ns = SQ_RUN_MOST_S * SQ_S;
    q->b.traits.has_keys = q->fifo;
    q->b.traits.for_keys = "a FIFO queue, NAME.fifo";
    q->b.traits.for_priorities = "a queue for each";
    q->b.traits.prefetch_counts = true;
    q->b.traits.blind = true;
    q->b.traits.forgets_ids = !q->fifo;
    q->b.traits.mixes_retries = true;
    q->b.traits.blames_late = true;
    *ret = &q->b;
    return 0;
}

static void close_queue(struct broker *b)
{
    struct sqs_broker *q = (struct sqs_broker *)b;

    if (q->consume) {
        (void)sq_poll_drive(q);
        (void)sq_give_back(q, false);
    }
    if (q->letters.n > 0)
        (void)sq_letters_show(q);
    free_broker(q);
}

__attribute__((visibility("default")))
const struct broker_kind broker_sqs = {
    .name = "sqs",
    .schemes = { "sqs+http", "sqs+https" },
    .open = open_queue,
    .close = close_queue,
    .put = sq_put,
    .take = sq_take,
    .beat = sq_beat,
    .settle = sq_settle,
    .rescue = sq_rescue,
    .wait_fd = sq_wait_fd,
    .woken = sq_woken,
    .counts = sq_counts,
    .each = sq_each,
    .redrive = sq_redrive,
    .check = sq_check,
    .queues = sq_queues,
};
