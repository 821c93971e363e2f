/* Taking a URL apart. */
#include "queue/kafka/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"

enum { PARTITIONS = 6 };

/* %XX, in place. */
static int decode(char *text, char *why)
{
    size_t len = strlen(text);

    if (bide__percent_decode(text, len + 1, text, len))
        return 0;
    snprintf(why, KF_WHY, "in the URL, %% is not followed by two hexadecimal digits");
    return -1;
}

static int add(struct kf_url *u, const char *name, const char *value, char *why)
{
    if (u->n == KF_SETTINGS) {
        snprintf(why, KF_WHY, "more than %d settings in the URL", KF_SETTINGS);
        return -1;
    }
    u->names[u->n] = name;
    u->values[u->n++] = value;
    return 0;
}

static int read_number(int *ret, const char *name, const char *value, char *why)
{
    char *end;
    long n = strtol(value, &end, 10);

    if (*value && !*end && n >= 1 && n <= 10000) {
        *ret = (int)n;
        return 0;
    }
    snprintf(why, KF_WHY, "%s=%.40s in the URL: expected a number from 1 to 10000",
             name, value);
    return -1;
}

static int read_setting(struct kf_url *u, char *item, char *why)
{
    char *value = strchr(item, '=');

    if (!value || value == item) {
        snprintf(why, KF_WHY, "`%.*s` in the URL: expected NAME=VALUE",
                 (int)strcspn(item, "="), item);
        return -1;
    }
    *value++ = '\0';
    if (decode(item, why) != 0 || decode(value, why) != 0)
        return -1;
    if (strcmp(item, "partitions") == 0)
        return read_number(&u->partitions, item, value, why);
    if (strcmp(item, "replication") == 0)
        return read_number(&u->replication, item, value, why);
    return add(u, item, value, why);
}

/* USER:PASSWORD, which SASL takes. */
static int read_user(struct kf_url *u, char *user, char *why)
{
    char *password = strchr(user, ':');

    if (password)
        *password++ = '\0';
    if (decode(user, why) != 0 || (password && decode(password, why) != 0))
        return -1;
    if (add(u, "sasl.username", user, why) != 0 ||
        (password && add(u, "sasl.password", password, why) != 0))
        return -1;
    if (!kf_url_setting(u, "security.protocol") &&
        add(u, "security.protocol", "SASL_SSL", why) != 0)
        return -1;
    if (!kf_url_setting(u, "sasl.mechanism") &&
        !kf_url_setting(u, "sasl.mechanisms"))
        return add(u, "sasl.mechanisms", "PLAIN", why);
    return 0;
}

static int read_parts(struct kf_url *u, char *hosts, char *why)
{
    char *query = strchr(hosts, '?'), *at, *next;

    if (query) {
        *query++ = '\0';
        for (char *item = query; item && *item; item = next) {
            if ((next = strchr(item, '&')) != NULL)
                *next++ = '\0';
            if (read_setting(u, item, why) != 0)
                return -1;
        }
    }
    if ((at = strrchr(hosts, '@')) != NULL) {
        *at = '\0';
        if (read_user(u, hosts, why) != 0)
            return -1;
        hosts = at + 1;
    }
    hosts[strcspn(hosts, "/")] = '\0';
    if (!*hosts || strlen(hosts) >= sizeof u->servers) {
        snprintf(why, KF_WHY, "no host in the URL: expected kafka://HOST[:PORT]");
        return -1;
    }
    memcpy(u->servers, hosts, strlen(hosts) + 1);
    return 0;
}

int kf_url_read(struct kf_url *ret, const char *url, char why[KF_WHY])
{
    *ret = (struct kf_url){ .partitions = PARTITIONS };
    if (strncmp(url, "kafka://", 8) != 0) {
        snprintf(why, KF_WHY, "expected kafka://HOST[:PORT]");
        return -1;
    }
    ret->text = strdup(url + 8);
    if (!ret->text) {
        snprintf(why, KF_WHY, "out of memory");
        return -1;
    }
    if (read_parts(ret, ret->text, why) == 0)
        return 0;
    kf_url_done(ret);
    return -1;
}

void kf_url_done(struct kf_url *u)
{
    free(u->text);
    u->text = NULL;
}

const char *kf_url_setting(const struct kf_url *u, const char *name)
{
    for (size_t i = 0; i < u->n; i++)
        if (strcmp(u->names[i], name) == 0)
            return u->values[i];
    return NULL;
}
