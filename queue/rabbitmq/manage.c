/* Asking the management API, and what policies mean. */
#include "queue/rabbitmq/manage.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "queue/rabbitmq/check.h"
#include "queue/sqs/json.h"

enum { MOST_ANSWER = 64 << 20, FINDINGS = 16, TEXT = 128 };

/* ===== asking ===== */

static size_t keep(char *data, size_t size, size_t n, void *arg)
{
    struct bide__out *to = arg;

    if (to->len + size * n > MOST_ANSWER)
        return 0;
    bide__out_bytes(to, data, size * n);
    return to->failed ? 0 : size * n;
}

/* The management API has the same users as AMQP. */
static void set_up(CURL *easy, const struct rmq *q, const char *url,
                   struct bide__out *answer)
{
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 2000L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 10000L);
    if (!strchr(url, '@')) {
        curl_easy_setopt(easy, CURLOPT_USERNAME, q->url.user);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, q->url.password);
    }
    if (*q->url.cacert)
        curl_easy_setopt(easy, CURLOPT_CAINFO, q->url.cacert);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
}

static int failed(struct rmq *q, CURLcode code, long http)
{
    if (code != CURLE_OK)
        return broker_fail(&q->b, BROKER_DOWN, "rabbitmq: management: %s",
                           curl_easy_strerror(code));
    return broker_fail(&q->b, http == 401 || http == 403 || http == 404 ? BROKER_REFUSED
                                                                       : BROKER_DOWN,
                       "rabbitmq: management answers %ld%s", http,
                       http == 401   ? ": a user needs the tag `management` for it"
                       : http == 404 ? ": is this its address?"
                                     : "");
}

static int ask(struct rmq *q, struct bide__out *answer)
{
    CURL *easy = curl_easy_init();
    char *vhost = easy ? curl_easy_escape(easy, q->url.vhost, 0) : NULL, *url = NULL;
    size_t len = strlen(q->url.management);
    long http = 0;
    CURLcode code = CURLE_OUT_OF_MEMORY;

    len -= len > 0 && q->url.management[len - 1] == '/';
    if (vhost &&
        asprintf(&url, "%.*s/api/queues/%s?columns=name,type,policy,operator_policy,"
                       "effective_policy_definition",
                 (int)len, q->url.management, vhost) > 0) {
        set_up(easy, q, url, answer);
        code = curl_easy_perform(easy);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &http);
    }
    free(url);
    curl_free(vhost);
    curl_easy_cleanup(easy);
    if (code == CURLE_OUT_OF_MEMORY)
        return rmq_no_memory(q);
    return code == CURLE_OK && http == 200 ? 0 : failed(q, code, http);
}

/* ===== what it means ===== */

/* What one policy sets, for how many. */
struct finding {
    const struct check_meaning *means;
    char policy[TEXT], value[TEXT], queue[TEXT];
    size_t n;
};

struct findings {
    struct finding all[FINDINGS];
    size_t n;
};

static bool is_ours(const struct rmq *q, const char *name)
{
    static const char *const words[] = { "dead",  "retry", "suspect", "priority.",
                                         "delay.", "key.",  "worker." };
    size_t len = strlen(q->b.queue);

    if (strncmp(name, q->b.queue, len) != 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && name[len] == '.'; i++)
        if (strncmp(name + len + 1, words[i], strlen(words[i])) == 0)
            return true;
    return name[len] == '\0';
}

/* Does it do harm to this queue? A list of what a worker runs has one message. */
static bool matters(const char *key, const char *queue, struct sq_value about,
                    struct sq_value policy)
{
    if (strncmp(key, "max-length", 10) == 0)
        return !strstr(queue, ".hand") &&
               !sq_is(sq_member(policy, "overflow"), "reject-publish");
    if (strcmp(key, "delivery-limit") == 0)
        return sq_is(sq_member(about, "type"), "quorum") &&
               sq_number(sq_member(policy, key), 0) < 1000000000;
    return true;
}

static void note(struct findings *f, const struct finding *one)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->all[i].means == one->means &&
            strcmp(f->all[i].policy, one->policy) == 0) {
            f->all[i].n++;
            return;
        }
    if (f->n < FINDINGS)
        f->all[f->n++] = *one;
}

static void judge_queue(struct rmq *q, struct sq_value about, struct findings *f)
{
    struct sq_value policy = sq_member(about, "effective_policy_definition"), name, value;
    struct finding one = { .n = 1 };
    char key[TEXT];

    sq_copy(sq_member(about, "name"), one.queue, sizeof one.queue);
    if (!is_ours(q, one.queue))
        return;
    struct sq_value by = sq_member(about, "operator_policy");
    sq_copy(sq_member(about, "policy"), one.policy, sizeof one.policy);
    if (!*one.policy)
        sq_copy(by, one.policy, sizeof one.policy);
    for (size_t at = 0; sq_next_member(policy, &at, &name, &value);) {
        sq_copy(name, key, sizeof key);
        one.means = check_meaning(key);
        snprintf(one.value, sizeof one.value, "%.*s", (int)value.len, value.at);
        if (strcmp(key, "dead-letter-exchange") == 0)
            q->no_ticks |= strcmp(one.queue, q->b.queue) == 0;
        if (one.means && matters(key, one.queue, about, policy))
            note(f, &one);
    }
}

static void tell(const struct findings *f, broker_finding *fn, void *arg)
{
    char text[700], change[300], more[40];

    for (size_t i = 0; i < f->n; i++) {
        const struct finding *one = &f->all[i];
        snprintf(more, sizeof more, " and %zu more", one->n - 1);
        snprintf(text, sizeof text, "the policy `%s` sets %s %s for the queue `%s`%s: %s",
                 one->policy, one->means->name + 2, one->value, one->queue,
                 one->n > 1 ? more : "", one->means->means);
        snprintf(change, sizeof change,
                 "take %s out of the policy `%.100s`, or let its pattern leave out this "
                 "queue",
                 one->means->name + 2, one->policy);
        fn(arg, one->means->severity, text, change);
    }
}

int manage_check(struct rmq *q, broker_finding *fn, void *arg)
{
    struct bide__out answer = { 0 };
    struct findings f = { .n = 0 };
    struct sq_value one;
    int status = ask(q, &answer);

    struct sq_value all = { answer.data, answer.len };
    for (size_t at = 0; status == 0 && sq_next(all, &at, &one);)
        judge_queue(q, one, &f);
    bide__out_done(&answer);
    if (status == 0)
        tell(&f, fn, arg);
    return status;
}
