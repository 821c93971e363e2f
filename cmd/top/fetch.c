/* One request, one answer, over a socket. Only addresses: looking names up in a
 * program that is linked statically takes more than it gives. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "cmd/top/top.h"

enum { MOST = 32 << 20, PATIENCE_S = 3 };

/* ===== the place ===== */

static bool read_port(const char *text, uint16_t *ret)
{
    size_t len = strspn(text, "0123456789");
    long n = strtol(text, NULL, 10);

    if (len == 0 || len > 5 || text[len] || n < 1 || n > 65535)
        return false;
    *ret = htons((uint16_t)n);
    return true;
}

static bool set_address(struct top_place *p, const char *host, uint16_t port)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = port };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = port };

    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        memcpy(&p->address, &v4, p->address_len = sizeof v4);
        return true;
    }
    if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1) {
        memcpy(&p->address, &v6, p->address_len = sizeof v6);
        return true;
    }
    return false;
}

static bool read_unix(struct top_place *place, const char *path)
{
    struct sockaddr_un un = { .sun_family = AF_UNIX };

    if (!*path || strlen(path) >= sizeof un.sun_path)
        return false;
    strcpy(un.sun_path, path);
    memcpy(&place->address, &un, place->address_len = sizeof un);
    snprintf(place->text, sizeof place->text, "unix:%s", path);
    strcpy(place->host, "localhost");
    return true;
}

/* A name and a port: what stands behind them is added. */
static bool read_url(struct top_place *place, const char *url)
{
    size_t len = strlen(url);

    while (len > 8 && url[len - 1] == '/')
        len--;
    if (len <= 8 || len >= sizeof place->text ||
        strcspn(url + 8, "/?#@ \t\r\n") < len - 8)
        return false;
    memcpy(place->text, url, len);
    place->text[len] = '\0';
    return true;
}

bool top_place_read(struct top_place *place, const char *text)
{
    char host[64] = "127.0.0.1";
    uint16_t port;

    if (strncmp(text, "unix:", 5) == 0)
        return read_unix(place, text + 5);
    if (strncmp(text, "https://", 8) == 0)
        return read_url(place, text);
    if (strncmp(text, "http://", 7) == 0)
        text += 7;
    size_t len = strcspn(text, "/");
    if (len >= sizeof place->text ||
        strspn(text + len, "/") != strlen(text + len))
        return false;
    memcpy(place->text, text, len);
    place->text[len] = '\0';

    const char *colon = strrchr(place->text, ':');
    if (colon) {
        bool bracketed = place->text[0] == '[' && colon[-1] == ']';
        size_t n = (size_t)(colon - place->text) - 2 * bracketed;
        if (n == 0 || n >= sizeof host)
            return false;
        memcpy(host, place->text + bracketed, n);
        host[n] = '\0';
    }
    if (strcmp(host, "localhost") == 0)
        strcpy(host, "127.0.0.1");
    if (!read_port(colon ? colon + 1 : place->text, &port) ||
        !set_address(place, host, port))
        return false;
    if (!colon)
        snprintf(place->text, sizeof place->text, "%s:%u", host, ntohs(port));
    strcpy(place->host, place->text);
    return true;
}

/* ===== the request ===== */

static int dial(const struct top_place *p)
{
    struct timeval patience = { .tv_sec = PATIENCE_S };
    int fd = socket(p->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&p->address, p->address_len) == 0)
        return fd;
    int err = errno;
    close(fd);
    errno = err == EINPROGRESS ? ETIMEDOUT : err;
    return -1;
}

char *top_read_all(int fd, size_t *ret_len)
{
    size_t len = 0, size = 1 << 16;
    char *data = malloc(size);

    while (data && size <= MOST) {
        ssize_t n = read(fd, data + len, size - len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        if (n == 0) {
            data[len] = '\0';
            *ret_len = len;
            return data;
        }
        len += (size_t)n;
        if (size - len < 4096) {
            char *more = realloc(data, size *= 2);
            if (!more)
                break;
            data = more;
        }
    }
    free(data);
    if (errno == EAGAIN)
        errno = ETIMEDOUT;
    return NULL;
}

static char *ask(int fd, const struct top_place *p, const char *path,
                 size_t *ret_len)
{
    char request[512];
    int n = snprintf(request, sizeof request,
                     "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n"
                     "User-Agent: bide-top/%s\r\n\r\n",
                     path, p->host, bide_version());

    if (send(fd, request, (size_t)n, MSG_NOSIGNAL) != n)
        return NULL;
    return top_read_all(fd, ret_len);
}

char *top_fetch(const struct top_place *place, const char *path,
                size_t *ret_len, char *why, size_t size)
{
    size_t len = 0;

    if (!place->host[0])
        return top_fetch_secure(place, path, ret_len, why, size);
    int fd = dial(place);
    char *answer = fd < 0 ? NULL : ask(fd, place, path, &len);
    int err = errno;

    if (fd >= 0)
        close(fd);
    if (!answer) {
        snprintf(why, size, "%s: %s", place->text, strerror(err));
        return NULL;
    }
    char *body = strstr(answer, "\r\n\r\n");
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0 || !body) {
        snprintf(why, size, "%s answers, but not as bide's admin endpoint does",
                 place->text);
        free(answer);
        return NULL;
    }
    body += 4;
    *ret_len = len - (size_t)(body - answer);
    memmove(answer, body, *ret_len + 1);
    return answer;
}
