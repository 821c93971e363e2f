/* One request to SQS: signed by libcurl, repeated by the engine where that does no
 * harm, and what its failure means. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bide/run.h"
#include "queue/sqs/session.h"

/* Shorter than the 10 s in which a worker must be back. */
#define PATIENCE_NS (7 * SQ_S)

enum { MOST_ANSWER = 16 << 20 };

int64_t sq_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec * SQ_S + t.tv_nsec;
}

int64_t sq_server_ms(const struct sqs_broker *q)
{
    return q->ahead_ms + sq_now() / SQ_MS;
}

struct bide__json *sq_begin(struct sqs_broker *q, enum sq_where where)
{
    bide__out_clear(&q->request);
    bide__json_into(&q->json, &q->request);
    bide__json_object(&q->json, NULL);
    if (where != SQ_PLACES)
        bide__json_text(&q->json, "QueueUrl", q->urls[where]);
    return &q->json;
}

size_t sq_keep(char *data, size_t size, size_t n, void *out)
{
    struct bide__out *to = out;

    if (to->len + size * n > MOST_ANSWER)
        return 0;
    bide__out_bytes(to, data, size * n);
    return to->failed ? 0 : size * n;
}

/* ===== what errors mean ===== */

static const struct {
    const char *word; /* somewhere in the type */
    int status;
    bool key; /* the credentials are at fault */
} meanings[] = {
    { "Throttl", BROKER_DOWN, false }, /* RequestThrottled, KmsThrottled, ... */
    { "OverLimit", BROKER_DOWN, false }, /* too many are hidden at once */
    { "ServiceUnavailable", BROKER_DOWN, false },
    { "InternalFailure", BROKER_DOWN, false },
    { "InternalError", BROKER_DOWN, false },
    { "Expired", BROKER_REFUSED, true },
    { "UnrecognizedClient", BROKER_REFUSED, true },
    { "InvalidClientTokenId", BROKER_REFUSED, true },
    { "InvalidAccessKeyId", BROKER_REFUSED, true },
    { "Signature", BROKER_REFUSED, true },
    { "InvalidSecurity", BROKER_REFUSED, true },
    { "MissingAuthenticationToken", BROKER_REFUSED, true },
    { "AccessDenied", BROKER_REFUSED, false },
};

static int meaning_of(struct sqs_broker *q, long http)
{
    q->refused_key = false;
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strstr(q->type, meanings[i].word)) {
            q->refused_key = meanings[i].key;
            return meanings[i].status;
        }
    return http >= 500 || http == 429 || http == 408 ? BROKER_DOWN
                                                     : BROKER_REFUSED;
}

static int refused(struct sqs_broker *q, struct sq_value answer, long http)
{
    char type[200], message[300], *name = type;

    sq_copy(sq_member(answer, "__type"), type, sizeof type);
    sq_copy(sq_member(answer, "message"), message, sizeof message);
    if (!*message)
        sq_copy(sq_member(answer, "Message"), message, sizeof message);
    if (strchr(type, '#'))
        name = strchr(type, '#') + 1;
    snprintf(q->type, sizeof q->type, "%.95s", name);
    int status = meaning_of(q, http);
    if (!*name)
        return broker_fail(&q->b, status, "sqs: %s answers HTTP %ld",
                           q->url.endpoint, http);
    return broker_fail(&q->b, status, "sqs: %s%s%s", name, *message ? ": " : "",
                       message);
}

static int not_reached(struct sqs_broker *q, CURLcode code)
{
    bool forever = code == CURLE_PEER_FAILED_VERIFICATION ||
                   code == CURLE_SSL_CACERT_BADFILE ||
                   code == CURLE_URL_MALFORMAT ||
                   code == CURLE_UNSUPPORTED_PROTOCOL;

    q->type[0] = '\0';
    q->refused_key = false;
    return broker_fail(&q->b, forever ? BROKER_REFUSED : BROKER_DOWN,
                       "sqs: %s: %s", q->url.endpoint,
                       curl_easy_strerror(code));
}

/* Its clock, to the second: good for what people read. */
static void hear_date(struct sqs_broker *q, CURL *easy)
{
    struct curl_header *date;

    if (curl_easy_header(easy, "Date", 0, CURLH_HEADER, -1, &date) != CURLHE_OK)
        return;
    time_t at = curl_getdate(date->value, NULL);
    int64_t ahead = (int64_t)at * 1000 - sq_now() / SQ_MS;
    /* what is cut off is under a second: the greatest is the nearest */
    if (at > 0 && (ahead > q->ahead_ms || ahead < q->ahead_ms - 2000))
        q->ahead_ms = ahead;
}

int sq_judge(struct sqs_broker *q, CURL *easy, CURLcode code, long status,
             const struct bide__out *answer, struct sq_value *ret)
{
    *ret = (struct sq_value){ answer->data, answer->len };
    if (answer->failed)
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    if (code != CURLE_OK)
        return not_reached(q, code);
    hear_date(q, easy);
    return status == 200 ? 0 : refused(q, *ret, status);
}

/* ===== the request ===== */

static bool add_field(struct curl_slist **list, const char *name,
                      const char *value)
{
    char line[SQ_TOKEN_MAX + 64];
    struct curl_slist *more;

    snprintf(line, sizeof line, "%s: %s", name, value);
    more = curl_slist_append(*list, line);
    if (more)
        *list = more;
    return more != NULL;
}

struct curl_slist *sq_fields(struct sqs_broker *q, const char *action)
{
    struct curl_slist *list = NULL;
    char target[64], why[300];

    if (sq_credentials_stale(&q->credentials))
        (void)sq_credentials_load(&q->credentials, why, sizeof why);
    snprintf(target, sizeof target, "AmazonSQS.%s", action);
    if (add_field(&list, "Content-Type", "application/x-amz-json-1.0") &&
        add_field(&list, "X-Amz-Target", target) &&
        (!*q->credentials.token ||
         add_field(&list, "X-Amz-Security-Token", q->credentials.token)))
        return list;
    curl_slist_free_all(list);
    return NULL;
}

void sq_set_options(struct sqs_broker *q, CURL *easy, struct curl_slist *fields,
                    const struct bide__out *body)
{
    char provider[100], url[310];

    snprintf(provider, sizeof provider, "aws:amz:%s:sqs", q->url.region);
    snprintf(url, sizeof url, "%s/", q->url.endpoint);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, provider);
    curl_easy_setopt(easy, CURLOPT_USERNAME, q->credentials.id);
    curl_easy_setopt(easy, CURLOPT_PASSWORD, q->credentials.secret);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body->data);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 5000L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, sq_keep);
}

/* It is in memory, and libcurl begins at its front. */
static bool keep_body(void *ctx)
{
    (void)ctx;
    return true;
}

static int perform(struct sqs_broker *q, const char *action,
                   enum sq_again again, int64_t deadline_ns,
                   struct sq_value *ret)
{
    struct curl_slist *fields = sq_fields(q, action);
    bide_curl_result result = { .code = CURLE_OPERATION_TIMEDOUT };
    int64_t left = deadline_ns ? deadline_ns - sq_now() : PATIENCE_NS;
    bide_curl_opts opts = {
        .op = { .idempotent = again == SQ_REPEAT,
                .deadline_ns = bide_now_ns() +
                               (left < PATIENCE_NS ? left : PATIENCE_NS) },
        .method = "POST",
        .write = sq_keep,
        .write_ctx = &q->answer,
        .hold_max = MOST_ANSWER,
        .rewind = keep_body,
        .result = &result,
        .tell = BIDE_CURL_TELL_NOBODY
    };

    if (!fields)
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    curl_easy_reset(q->easy);
    sq_set_options(q, q->easy, fields, &q->request);
    bide__out_clear(&q->answer);
    bide_curl_perform(q->dep, q->easy, &opts);
    int status = sq_judge(q, q->easy,
                          result.attempts ? result.code
                                          : CURLE_OPERATION_TIMEDOUT,
                          result.status, &q->answer, ret);
    curl_easy_setopt(q->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(fields);
    return status;
}

int sq_ask(struct sqs_broker *q, const char *action, enum sq_again again,
           int64_t deadline_ns, struct sq_value *ret)
{
    char why[300];

    bide__json_end(&q->json);
    if (q->request.failed)
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    int status = perform(q, action, again, deadline_ns, ret);
    /* Keys that were replaced: what the file or the endpoint says now. */
    if (status == BROKER_REFUSED && q->refused_key &&
        strstr(q->type, "Expired") &&
        sq_credentials_load(&q->credentials, why, sizeof why) == 0)
        status = perform(q, action, again, deadline_ns, ret);
    return status;
}
