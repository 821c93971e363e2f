/* An HTTP endpoint as the handler of messages. */
#include "queue/http.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/curl.h"
#include "queue/broker.h"
#include "queue/key.h"

/* What a thread keeps: a handle, and with it a connection. */
struct slot {
    CURL *easy;
    struct queue_job *job;
};

int queue_http_init(struct queue_http *h, const char *url,
                    const bide_policy_conf *policy)
{
    bide_policy_conf once = *policy;

    /* The message's own call has these; they must not be applied twice. But time is
     * measured where the attempt is made. */
    once.attempts = 1;
    if (once.deadline_ns < once.attempt_timeout_ns)
        once.attempt_timeout_ns = once.deadline_ns;
    once.deadline_ns = BIDE_FOREVER;
    once.budget.kind = BIDE_BUDGET_OFF;
    once.breaker.kind = BIDE_BREAKER_OFF;
    once.unreachable.wait_ns = 0;
    once.when_refused = BIDE_REFUSED_FAIL;
    once.idempotency_key = BIDE_KEY_NONE;
    *h = (struct queue_http){ .handler = { &queue_http_kind }, .url = url };
    curl_global_init(CURL_GLOBAL_DEFAULT);
    return bide_dep_new(&h->once, "worker.once", &once);
}

void queue_http_done(struct queue_http *h)
{
    bide_dep_free(h->once);
    curl_global_cleanup();
}

static void *slot_new(const struct queue_handler *h)
{
    struct slot *s = calloc(1, sizeof *s);

    (void)h;
    if (s && !(s->easy = curl_easy_init())) {
        free(s);
        return NULL;
    }
    return s;
}

static void slot_free(void *slot)
{
    curl_easy_cleanup(((struct slot *)slot)->easy);
    free(slot);
}

/* ===== the request ===== */

static bool add_line(struct curl_slist **list, const char *line)
{
    struct curl_slist *more = curl_slist_append(*list, line);

    if (more)
        *list = more;
    return more != NULL;
}

/* libcurl takes "Name;" for a field without a value. */
static bool add_field(struct curl_slist **list, const char *name,
                      const char *value)
{
    size_t size = strlen(name) + strlen(value) + 3;
    char *line = malloc(size);
    bool good;

    if (!line)
        return false;
    snprintf(line, size, *value ? "%s: %s" : "%s;", name, value);
    good = add_line(list, line);
    free(line);
    return good;
}

/* A value that would break the head is left out: it cannot be said there. */
static bool fits_header(const char *value)
{
    for (; *value; value++)
        if (((unsigned char)*value < ' ' && *value != '\t') || *value == 127)
            return false;
    return true;
}

static bool add_attribute(struct curl_slist **list,
                          const struct queue_attribute *a, bool *typed)
{
    char name[128];

    if (!fits_header(a->value))
        return true;
    if (strcasecmp(a->name, "content-type") == 0) {
        *typed = true;
        return add_field(list, "Content-Type", a->value);
    }
    snprintf(name, sizeof name, "X-Bide-Attr-%.100s", a->name);
    return add_field(list, name, a->value);
}

static struct curl_slist *fields_of(const struct queue_job *job)
{
    const struct queue_message *m = job->message;
    char key[QUEUE_IDEMPOTENCY_KEY + 2], id[3 * QUEUE_ID_MAX + 4], n[48];
    struct curl_slist *list = NULL;
    bool typed = false, good;

    key[0] = '"';
    queue_idempotency_key(key + 1, job->queue, m);
    memcpy(key + strlen(key), "\"", 2);
    queue_escape(id, sizeof id, m->id);
    snprintf(n, sizeof n, "%u; max=%u", job->attempt, job->attempts);
    good = add_field(&list, "Idempotency-Key", key) &&
           add_field(&list, "X-Bide-Queue", job->queue) &&
           add_field(&list, "X-Bide-Message-Id", id) &&
           add_field(&list, "X-Bide-Attempt", n) &&
           (!job->traceparent[0] ||
            add_field(&list, "traceparent", job->traceparent)) &&
           add_line(&list, "Expect:"); /* none: a body is sent at once */
    for (size_t i = 0; i < m->n_attributes && good; i++)
        good = add_attribute(&list, &m->attributes[i], &typed);
    if (good && !typed)
        good = add_field(&list, "Content-Type", "application/octet-stream");
    if (good)
        return list;
    curl_slist_free_all(list);
    return NULL;
}

/* ===== the answer ===== */

static size_t keep_tail(char *data, size_t size, size_t n, void *job)
{
    queue_job_tail(job, data, size * n);
    return size * n;
}

static int look_at_stop(void *job, curl_off_t a, curl_off_t b, curl_off_t c,
                        curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return atomic_load(&((struct queue_job *)job)->stop) != QUEUE_GO_ON;
}

/* Nobody has done what the message asks for: it is to be sent elsewhere, and we do not
 * know that we may. `See other` is what a handler says that has done it. */
static bool is_moved(const bide_curl_result *result)
{
    return result->code == CURLE_OK && result->status / 100 == 3 &&
           result->status != 303;
}

static void say_moved(struct queue_job *job, CURL *easy, long status)
{
    char *to = NULL;

    job->out = (bide_outcome){ .cls = BIDE_TRANSIENT,
                               .fault = BIDE_FAULT_LOCAL,
                               .not_processed = true };
    curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &to);
    snprintf(job->text, sizeof job->text,
             to ? "HTTP %ld, redirected to %.150s" : "HTTP %ld", status, to);
    broker_clean(job->text);
}

static void judge(struct queue_job *job, CURL *easy, const bide_curl_result *result)
{
    job->out = result->last;
    if (atomic_load(&job->stop) != QUEUE_GO_ON &&
        job->out.cls != BIDE_SUCCESS) {
        job->out = (bide_outcome){ .cls = BIDE_IGNORED };
        snprintf(job->text, sizeof job->text, "stopped");
    } else if (is_moved(result)) {
        say_moved(job, easy, result->status);
    } else if (result->code == CURLE_OK) {
        snprintf(job->text, sizeof job->text, "HTTP %ld", result->status);
    } else {
        snprintf(job->text, sizeof job->text, "%s",
                 curl_easy_strerror(result->code));
        /* What answers there is no handler of ours: that is nobody's last word. */
        if (job->out.fault == BIDE_FAULT_MALFORMED ||
            job->out.fault == BIDE_FAULT_OTHER)
            job->out.cls = BIDE_TRANSIENT;
    }
}

static void set_options(CURL *easy, const struct queue_http *h,
                        struct queue_job *job)
{
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_URL, h->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, (const char *)job->message->body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     (curl_off_t)job->message->body_len);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, look_at_stop);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, job);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_tail);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, job);
}

static void run(const struct queue_handler *handler, void *slot,
                struct queue_job *job)
{
    const struct queue_http *h = (const struct queue_http *)handler;
    CURL *easy = ((struct slot *)slot)->easy;
    struct curl_slist *fields = fields_of(job);
    bide_curl_result result = { .code = CURLE_OUT_OF_MEMORY };
    bide_curl_opts opts = { .op = { .idempotent = true, .has_key = true },
                            .method = "POST", .result = &result,
                            .tell = BIDE_CURL_TELL_NOBODY };

    if (!fields) {
        job->out = (bide_outcome){ .cls = BIDE_TRANSIENT,
                                   .fault = BIDE_FAULT_LOCAL,
                                   .not_processed = true };
        snprintf(job->text, sizeof job->text, "out of memory");
        return;
    }
    set_options(easy, h, job);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
    bide_curl_perform(h->once, easy, &opts);
    judge(job, easy, &result);
    curl_slist_free_all(fields);
}

const struct queue_handler_kind queue_http_kind = {
    .slot_new = slot_new, .slot_free = slot_free, .run = run,
};
