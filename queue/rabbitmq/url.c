/* The URL of a RabbitMQ, taken apart. */
#include "queue/rabbitmq/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"

enum { PORT = 5672, PORT_TLS = 5671 };

static int refuse(char *why, const char *text)
{
    snprintf(why, BROKER_ERROR, "rabbitmq: %s", text);
    return -1;
}

/* "user:password@"; *text is then what follows. */
static int read_login(struct rmq_url *url, const char **text, char *why)
{
    size_t len = strcspn(*text, "/?");
    const char *at = memrchr(*text, '@', len);

    if (!at)
        return 0;
    const char *colon = memchr(*text, ':', (size_t)(at - *text));
    const char *user_end = colon ? colon : at;
    if (!bide__percent_decode(url->user, RMQ_URL_PART, *text,
                              (size_t)(user_end - *text)) ||
        (colon && !bide__percent_decode(url->password, RMQ_URL_PART, colon + 1,
                                        (size_t)(at - colon - 1))))
        return refuse(why, "user or password is too long, or % is not followed by "
                           "two hexadecimal digits");
    *text = at + 1;
    return 0;
}

static int read_host(struct rmq_url *url, const char **text, char *why)
{
    size_t len = strcspn(*text, "/?");
    const char *from = *text, *end = from + len, *colon = memrchr(from, ':', len);
    bool bracket = *from == '[';

    if (bracket && colon && memchr(colon, ']', (size_t)(end - colon)))
        colon = NULL; /* one of the address */
    if (colon) {
        char *rest;
        long port = strtol(colon + 1, &rest, 10);
        if (rest != end || port < 1 || port > 65535)
            return refuse(why, "the port is not a number from 1 to 65535");
        url->port = (int)port;
    }
    *text = end;
    if (colon)
        end = colon;
    if (bracket && (end[-1] != ']' || end - from < 3))
        return refuse(why, "[ without ] in the host");
    from += bracket;
    end -= bracket;
    if (end > from &&
        !bide__percent_decode(url->host, RMQ_URL_PART, from, (size_t)(end - from)))
        return refuse(why, "the host is too long");
    return 0;
}

static bool is_option(const char *text, size_t len, const char *name)
{
    size_t n = strlen(name);

    return len > n && strncmp(text, name, n) == 0;
}

static int read_option(struct rmq_url *url, const char *text, size_t len, char *why)
{
    char type[RMQ_URL_PART];
    const char *value = memchr(text, '=', len);
    size_t left = value ? len - (size_t)(++value - text) : 0;
    char *to = is_option(text, len, "cacert=")       ? url->cacert
               : is_option(text, len, "management=") ? url->management
               : is_option(text, len, "queue-type=") ? type
                                                     : NULL;

    if (to && !bide__percent_decode(to, RMQ_URL_PART, value, left))
        return refuse(why, "what follows ? is too long, or % is not followed by two "
                           "hexadecimal digits");
    if (to == type)
        url->quorum = strcmp(type, "quorum") == 0;
    if (!to || (to == type && !url->quorum && strcmp(type, "classic") != 0))
        return refuse(why, "after ? expected queue-type=classic, queue-type=quorum, "
                           "cacert=FILE or management=URL");
    if (*url->cacert && !url->tls)
        return refuse(why, "cacert is for amqps://");
    if (*url->management && strncmp(url->management, "http://", 7) != 0 &&
        strncmp(url->management, "https://", 8) != 0)
        return refuse(why, "management: expected http://HOST:PORT or https://HOST:PORT");
    return 0;
}

static int read_options(struct rmq_url *url, const char *text, char *why)
{
    int status = 0;

    while (*text && status == 0) {
        size_t len = strcspn(text, "&");
        status = read_option(url, text, len, why);
        text += len + (text[len] == '&');
    }
    return status;
}

int rmq_url_read(struct rmq_url *ret, const char *text, char *why)
{
    *ret = (struct rmq_url){ .user = "guest",
                             .password = "guest",
                             .host = "localhost",
                             .vhost = "/",
                             .port = PORT };
    ret->tls = strncmp(text, "amqps://", 8) == 0;
    if (!ret->tls && strncmp(text, "amqp://", 7) != 0)
        return refuse(why, "expected amqp://USER:PASSWORD@HOST:PORT/VHOST");
    text += ret->tls ? 8 : 7;
    if (ret->tls)
        ret->port = PORT_TLS;
    if (read_login(ret, &text, why) != 0 || read_host(ret, &text, why) != 0)
        return -1;
    if (*text == '/') {
        size_t len = strcspn(++text, "?");
        if (len > 0 && !bide__percent_decode(ret->vhost, RMQ_URL_PART, text, len))
            return refuse(why, "the virtual host is too long, or % is not "
                               "followed by two hexadecimal digits");
        text += len;
    }
    return read_options(ret, *text ? text + 1 : "", why);
}
