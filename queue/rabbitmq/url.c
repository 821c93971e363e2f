/* The URL of a RabbitMQ, taken apart. */
#include "queue/rabbitmq/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"

enum { PORT = 5672 };

static int refuse(char *why, const char *text)
{
    snprintf(why, BROKER_ERROR, "rabbitmq: %s", text);
    return -1;
}

/* Copies a part and decodes %XX. False: too long, or no two digits, or a NUL. */
static bool decode(char to[RMQ_URL_PART], const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++, n++) {
        int c = (unsigned char)text[i];
        if (c == '%') {
            c = i + 2 < len ? bide__hex_byte(text + i + 1) : -1;
            i += 2;
        }
        if (c <= 0 || n == RMQ_URL_PART - 1)
            return false;
        to[n] = (char)c;
    }
    to[n] = '\0';
    return true;
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
    if (!decode(url->user, *text, (size_t)(user_end - *text)) ||
        (colon && !decode(url->password, colon + 1, (size_t)(at - colon - 1))))
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
    if (end > from && !decode(url->host, from, (size_t)(end - from)))
        return refuse(why, "the host is too long");
    return 0;
}

static int read_options(struct rmq_url *url, const char *text, char *why)
{
    if (strcmp(text, "queue-type=quorum") == 0)
        url->quorum = true;
    else if (*text && strcmp(text, "queue-type=classic") != 0)
        return refuse(why, "after ? expected queue-type=classic or "
                           "queue-type=quorum");
    return 0;
}

int rmq_url_read(struct rmq_url *ret, const char *text, char *why)
{
    *ret = (struct rmq_url){ .user = "guest",
                             .password = "guest",
                             .host = "localhost",
                             .vhost = "/",
                             .port = PORT };
    if (strncmp(text, "amqp://", 7) != 0)
        return refuse(why, "expected amqp://USER:PASSWORD@HOST:PORT/VHOST");
    text += 7;
    if (read_login(ret, &text, why) != 0 || read_host(ret, &text, why) != 0)
        return -1;
    if (*text == '/') {
        size_t len = strcspn(++text, "?");
        if (len > 0 && !decode(ret->vhost, text, len))
            return refuse(why, "the virtual host is too long, or % is not "
                               "followed by two hexadecimal digits");
        text += len;
    }
    return read_options(ret, *text ? text + 1 : "", why);
}
