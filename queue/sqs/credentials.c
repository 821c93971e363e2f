/* Credentials, from the first place that has some: each is asked in turn. */
#include "queue/sqs/credentials.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/date.h"
#include "base/out.h"
#include "queue/sqs/json.h"
#include "queue/sqs/profile.h"

enum { MOST_ANSWER = 64 << 10 };

static const char *set(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static bool from_environment(struct sq_credentials *c)
{
    const char *id = set("AWS_ACCESS_KEY_ID");
    const char *secret = set("AWS_SECRET_ACCESS_KEY");
    const char *token = set("AWS_SESSION_TOKEN");

    if (!id || !secret)
        return false;
    snprintf(c->id, sizeof c->id, "%s", id);
    snprintf(c->secret, sizeof c->secret, "%s", secret);
    snprintf(c->token, sizeof c->token, "%s", token ? token : "");
    return true;
}

static bool from_profile(struct sq_credentials *c)
{
    if (!sq_profile_value("aws_access_key_id", c->id, sizeof c->id) ||
        !sq_profile_value("aws_secret_access_key", c->secret, sizeof c->secret))
        return false;
    sq_profile_value("aws_session_token", c->token, sizeof c->token);
    return true;
}

/* ===== from an endpoint nearby ===== */

static size_t keep(char *data, size_t size, size_t n, void *out)
{
    struct bide__out *to = out;

    if (to->len + size * n > MOST_ANSWER)
        return 0;
    bide__out_bytes(to, data, size * n);
    return to->failed ? 0 : size * n;
}

/* A request that is answered with 200 at once, or not at all. */
static bool ask(const char *method, const char *url, const char *header,
                struct bide__out *answer)
{
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = header ? curl_slist_append(NULL, header) : NULL;
    long status = 0;

    bide__out_clear(answer);
    if (easy && (headers || !header)) {
        curl_easy_setopt(easy, CURLOPT_URL, url);
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 1000L);
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 3000L);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer);
        if (curl_easy_perform(easy) == CURLE_OK)
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    bide__out_char(answer, '\0');
    return status == 200 && !answer->failed;
}

static bool read_answer(struct sq_credentials *c, const struct bide__out *out)
{
    struct sq_value v = { out->data, out->len - 1 };
    struct bide__instant until;
    char text[64];

    sq_copy(sq_member(v, "AccessKeyId"), c->id, sizeof c->id);
    sq_copy(sq_member(v, "SecretAccessKey"), c->secret, sizeof c->secret);
    sq_copy(sq_member(v, "Token"), c->token, sizeof c->token);
    sq_copy(sq_member(v, "Expiration"), text, sizeof text);
    c->expires_s = bide__date_rfc3339(text, strlen(text), &until)
                       ? until.ns / INT64_C(1000000000)
                       : 0;
    return *c->id && *c->secret;
}

static bool read_token_file(const char *path, char *to, size_t size)
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(to, 1, size - 1, f) : 0;

    if (f)
        fclose(f);
    to[n] = '\0';
    to[strcspn(to, "\r\n")] = '\0';
    return n > 0;
}

static bool from_container(struct sq_credentials *c, struct bide__out *answer)
{
    const char *part = set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const char *full = set("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    const char *token = set("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    const char *file = set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    char url[1024], header[SQ_TOKEN_MAX + 32], held[SQ_TOKEN_MAX];

    if (!part && !full)
        return false;
    if (part)
        snprintf(url, sizeof url, "http://169.254.170.2%s", part);
    else
        snprintf(url, sizeof url, "%s", full);
    if (file && read_token_file(file, held, sizeof held))
        token = held;
    if (token)
        snprintf(header, sizeof header, "Authorization: %s", token);
    return ask("GET", url, token ? header : NULL, answer) &&
           read_answer(c, answer);
}

static bool from_instance(struct sq_credentials *c, struct bide__out *answer)
{
    const char *disabled = set("AWS_EC2_METADATA_DISABLED");
    const char *base = set("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    char url[1400], header[1200];

    if (disabled && strcasecmp(disabled, "true") == 0)
        return false;
    if (!base)
        base = "http://169.254.169.254";
    snprintf(url, sizeof url, "%.300s/latest/api/token", base);
    if (!ask("PUT", url, "X-aws-ec2-metadata-token-ttl-seconds: 21600", answer))
        return false;
    snprintf(header, sizeof header, "X-aws-ec2-metadata-token: %.1000s",
             answer->data);
    snprintf(url, sizeof url,
             "%.300s/latest/meta-data/iam/security-credentials/", base);
    if (!ask("GET", url, header, answer))
        return false;
    size_t role = strcspn(answer->data, "\r\n");
    size_t len = strlen(url);
    snprintf(url + len, sizeof url - len, "%.*s",
             (int)(role < 500 ? role : 500), answer->data);
    return ask("GET", url, header, answer) && read_answer(c, answer);
}

int sq_credentials_load(struct sq_credentials *c, char *why, size_t size)
{
    struct sq_credentials found = { .expires_s = 0 };
    struct bide__out answer = { 0 };
    bool good = from_environment(&found) || from_profile(&found) ||
                from_container(&found, &answer) ||
                from_instance(&found, &answer);

    bide__out_done(&answer);
    if (good) {
        *c = found;
        return 0;
    }
    snprintf(why, size,
             "no credentials for SQS: set AWS_ACCESS_KEY_ID and "
             "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; there are none in "
             "~/.aws/credentials, of a container or of an instance either");
    return -1;
}

bool sq_credentials_stale(const struct sq_credentials *c)
{
    return c->expires_s && c->expires_s - (int64_t)time(NULL) < 300;
}
