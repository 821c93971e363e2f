/* The URL of a Redis, taken apart. */
#include "store/redis/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/hex.h"

enum { PORT = 6379, MAX_DB = 65535, MAX_UNIX_PATH = 107 };

static int refuse(char why[REDIS_WHY], const char *text)
{
    snprintf(why, REDIS_WHY, "%s", text);
    return -1;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool redis_url_is(const char *text)
{
    return begins(text, "redis://") || begins(text, "rediss://") ||
           begins(text, "redis+unix://") || begins(text, "unix:/");
}

static bool read_db(struct redis_url *url, const char *text)
{
    int db = 0;

    if (text[0] == '\0')
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || db > MAX_DB)
            return false;
        db = db * 10 + (*text - '0');
    }
    url->db = db;
    return db <= MAX_DB;
}

/* "user:password@" before the last @ of the authority; returns what follows. */
static const char *read_login(struct redis_url *url, const char *text,
                              char why[REDIS_WHY])
{
    size_t authority = strcspn(text, "/?");
    const char *at = NULL, *colon;

    for (size_t i = 0; i < authority; i++)
        if (text[i] == '@')
            at = text + i;
    if (!at)
        return text;
    colon = memchr(text, ':', (size_t)(at - text));
    const char *end = colon ? colon : at;
    if (!bide__percent_decode(url->user, sizeof url->user, text,
                              (size_t)(end - text)) ||
        (colon && !bide__percent_decode(url->password, sizeof url->password, colon + 1,
                                        (size_t)(at - colon - 1)))) {
        refuse(why, "user or password is too long, or % is not followed by "
                    "two hexadecimal digits");
        return NULL;
    }
    return at + 1;
}

static int read_unix(struct redis_url *url, const char *text,
                     char why[REDIS_WHY])
{
    size_t len = strcspn(text, "?");

    if (text[0] != '/' || len < 2)
        return refuse(why, "expected the absolute path of a Unix socket, as in "
                           "redis+unix:///run/redis/redis.sock");
    if (len > MAX_UNIX_PATH)
        return refuse(why, "the path of a Unix socket has at most 107 bytes");
    if (text[len] && (!begins(text + len, "?db=") ||
                      !read_db(url, text + len + 4)))
        return refuse(why, "after the path, expected ?db=N, N from 0 to 65535");
    url->is_unix = true;
    memcpy(url->host, text, len);
    snprintf(url->text, sizeof url->text, "unix:%s", url->host);
    if (url->db)
        snprintf(url->text + strlen(url->text),
                 sizeof url->text - strlen(url->text), "?db=%d", url->db);
    return 0;
}

static int read_tcp(struct redis_url *url, const char *text,
                    char why[REDIS_WHY])
{
    size_t len = strcspn(text, "/");
    struct bide__authority at;

    url->port = PORT;
    if (!bide__authority(text, len, &at) || at.host_len == 0 ||
        at.host_len >= sizeof url->host)
        return refuse(why, "expected redis://HOST:PORT, as in "
                           "redis://127.0.0.1:6379");
    memcpy(url->host, at.host, at.host_len);
    if (at.brackets ? !bide__is_ipv6(url->host)
                    : !bide__is_host(url->host, at.host_len))
        return refuse(why, "what stands for the host is neither a name nor an "
                           "address");
    if (at.colon && (!bide__port(at.port, at.port_len, &url->port) ||
                     url->port == 0))
        return refuse(why, "expected a port from 1 to 65535 after the host");
    if (text[len] && text[len + 1] && !read_db(url, text + len + 1))
        return refuse(why, "after the host, expected /N, the number of a "
                           "database from 0 to 65535");
    snprintf(url->text, sizeof url->text, at.brackets ? "redis://[%s]:%u"
                                                      : "redis://%s:%u",
             url->host, url->port);
    if (url->db)
        snprintf(url->text + strlen(url->text),
                 sizeof url->text - strlen(url->text), "/%d", url->db);
    return 0;
}

int redis_url_read(struct redis_url *ret, const char *text,
                   char why[REDIS_WHY])
{
    struct redis_url url = { .port = 0 };
    const char *rest;
    int rc;

    if (begins(text, "rediss://"))
        return refuse(why, "Redis over TLS is not supported: expected redis:// "
                           "or redis+unix:///PATH; a tunnel on this machine "
                           "(stunnel) can speak TLS");
    if (begins(text, "unix:/"))
        rc = read_unix(&url, text + 5, why);
    else if (begins(text, "redis+unix://") || begins(text, "redis://")) {
        bool tcp = begins(text, "redis://");
        rest = read_login(&url, strstr(text, "://") + 3, why);
        rc = !rest ? -1 : tcp ? read_tcp(&url, rest, why)
                              : read_unix(&url, rest, why);
    } else
        return refuse(why, "expected redis://HOST:PORT or "
                           "redis+unix:///PATH");
    if (rc == 0)
        *ret = url;
    return rc;
}
