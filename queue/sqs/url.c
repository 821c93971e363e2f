/* The broker's URL. */
#include "queue/sqs/url.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/sqs/profile.h"

static const char *set(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static bool is_region(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!islower((unsigned char)text[i]) &&
            !isdigit((unsigned char)text[i]) && text[i] != '-')
            return false;
    return len > 0 && len < sizeof((struct sq_url *)0)->region;
}

static void find_region(struct sq_url *u)
{
    const char *region = set("AWS_REGION");

    if (!region)
        region = set("AWS_DEFAULT_REGION");
    if (region)
        snprintf(u->region, sizeof u->region, "%s", region);
    else
        sq_profile_value("region", u->region, sizeof u->region);
}

static int read_account(struct sq_url *u, const char *text, char *why,
                        size_t size)
{
    size_t len = strlen(text);

    if (len > 0 && text[len - 1] == '/')
        len--;
    if (len == 0)
        return 0;
    if (len == 12 && strspn(text, "0123456789") == 12) {
        memcpy(u->account, text, 12);
        return 0;
    }
    snprintf(why, size,
             "`%.60s` in the broker's URL: expected an AWS account of 12 digits; "
             "the queue is named by --queue",
             text);
    return -1;
}

/* sqs+http://HOST:PORT[/ACCOUNT] */
static int read_endpoint(struct sq_url *u, const char *url, char *why,
                         size_t size)
{
    const char *host = strstr(url, "://");
    const char *end = host ? strpbrk(host + 3, "/?#@") : NULL;
    size_t len = end ? (size_t)(end - url) : strlen(url);

    if (!host || !host[3] || len >= sizeof u->endpoint ||
        (end && *end != '/')) {
        snprintf(why, size, "`%.80s`: expected sqs+http://HOST:PORT", url);
        return -1;
    }
    snprintf(u->endpoint, sizeof u->endpoint, "%.*s", (int)len, url);
    find_region(u);
    if (!*u->region)
        snprintf(u->region, sizeof u->region, "us-east-1");
    return end ? read_account(u, end + 1, why, size) : 0;
}

/* sqs:[//REGION[/ACCOUNT]] */
static int read_region(struct sq_url *u, const char *url, char *why,
                       size_t size)
{
    const char *rest = strncmp(url, "//", 2) == 0 ? url + 2 : url;
    size_t len = strcspn(rest, "/");

    if (len > 0 && !is_region(rest, len)) {
        snprintf(why, size,
                 "`%.*s` is not a region: expected sqs://REGION, such as "
                 "sqs://eu-central-1, or sqs+http://HOST:PORT",
                 (int)(len < 60 ? len : 60), rest);
        return -1;
    }
    if (len > 0)
        snprintf(u->region, sizeof u->region, "%.*s", (int)len, rest);
    else
        find_region(u);
    if (!*u->region) {
        snprintf(why, size, "no region: say sqs://REGION, or set AWS_REGION");
        return -1;
    }
    const char *endpoint = set("AWS_ENDPOINT_URL_SQS");
    if (!endpoint)
        endpoint = set("AWS_ENDPOINT_URL");
    if (endpoint)
        snprintf(u->endpoint, sizeof u->endpoint, "%.*s",
                 (int)(strlen(endpoint) -
                       (endpoint[strlen(endpoint) - 1] == '/')),
                 endpoint);
    else
        snprintf(u->endpoint, sizeof u->endpoint,
                 "https://sqs.%.63s.amazonaws.com%s", u->region,
                 strncmp(u->region, "cn-", 3) == 0 ? ".cn" : "");
    return rest[len] == '/' ? read_account(u, rest + len + 1, why, size) : 0;
}

int sq_url_read(struct sq_url *ret, const char *url, char *why, size_t size)
{
    *ret = (struct sq_url){ .endpoint = "" };
    if (strncmp(url, "sqs+", 4) == 0)
        return read_endpoint(ret, url + 4, why, size);
    return read_region(ret, url + 4, why, size);
}
