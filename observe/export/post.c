/* A URL, a connection, a request, the head of an answer. */
#include "observe/export/post.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/lookup.h"
#include "net/tls.h"
#include "observe/export/post_answer.h"

/* ===== the URL ===== */

/* Copies what lies between; false if it is empty or too long. */
static bool copy(char *to, size_t size, const char *from, const char *end)
{
    size_t len = (size_t)(end - from);
    if (len == 0 || len >= size)
        return false;
    memcpy(to, from, len);
    to[len] = '\0';
    return true;
}

static bool is_port(const char *text)
{
    size_t len = strspn(text, "0123456789");
    long n = strtol(text, NULL, 10);
    return len > 0 && text[len] == '\0' && n > 0 && n < 65536;
}

const char *bide__post_init(struct bide__post *post, const char *url, void *tls)
{
    bool secure = strncmp(url, "https://", 8) == 0;
    const char *at = url + (secure ? 8 : 7);

    *post = (struct bide__post){ .net.io.fd = -1,
                                 .tls = secure ? tls : NULL,
                                 .port = "4318" };
    if (!secure && strncmp(url, "http://", 7) != 0)
        return "expected a URL that begins with http:// or https://";
    if (secure && !tls)
        return "expected http://: there is no TLS here";
    if (strpbrk(url, " \t\r\n?#@"))
        return "expected no blank, query, fragment or password in the URL";
    const char *path = at + strcspn(at, "/");
    const char *colon = path;
    while (colon > at && *colon != ':' && *colon != ']')
        colon--;
    const char *host_end = *colon == ':' ? colon : path;
    bool bracketed = *at == '[' && host_end > at && host_end[-1] == ']';

    if (!copy(post->host, sizeof post->host, at + bracketed,
              host_end - bracketed))
        return "expected a host of 1 to 255 characters behind `//`";
    if (host_end != path &&
        (!copy(post->port, sizeof post->port, host_end + 1, path) ||
         !is_port(post->port)))
        return "expected a port from 1 to 65535 behind the colon";
    size_t len = strlen(path);
    while (len > 0 && path[len - 1] == '/')
        len--;
    if (len >= sizeof post->prefix)
        return "expected a path of at most 255 characters";
    memcpy(post->prefix, path, len);
    post->prefix[len] = '\0';
    return NULL;
}

static void hang_up(struct bide__post *post)
{
    net_conn_close(&post->net);
}

void bide__post_done(struct bide__post *post)
{
    hang_up(post);
    net_lookups_free(post->lookups);
    post->lookups = NULL;
}

/* ===== waiting ===== */

enum { SLICE_MS = 50 };

/* Waits until the socket is ready, in slices, so that somebody who cancels does
 * not wait for a collector that is silent. */
bide_fault bide__post_wait(int fd, short events,
                           const struct bide__post_limit *l)
{
    for (;;) {
        struct pollfd p = { .fd = fd, .events = events };
        int64_t left = l->until_ns - bide_now_ns();
        if (l->cancel && bide_cancelled(l->cancel))
            return BIDE_FAULT_CANCELLED;
        if (left <= 0)
            return BIDE_FAULT_TIMEOUT;
        int ms = left > SLICE_MS * BIDE_MILLISECOND
                     ? SLICE_MS
                     : (int)(left / BIDE_MILLISECOND) + 1;
        if (poll(&p, 1, ms) > 0)
            return BIDE_FAULT_NONE;
    }
}

/* ===== the name ===== */

/* The answer, or NULL and the fault. A lookup cannot be called off: it goes on,
 * and the next attempt takes its answer. */
static struct net_answer *await_answer(struct bide__post *post,
                                       const struct bide__post_limit *l,
                                       bide_fault *ret_fault)
{
    struct net_answer *a = NULL;
    while (!a) {
        int64_t now = bide_now_ns();
        if (l->cancel && bide_cancelled(l->cancel))
            *ret_fault = BIDE_FAULT_CANCELLED;
        else if (now >= l->until_ns)
            *ret_fault = BIDE_FAULT_DNS;
        else
            *ret_fault = BIDE_FAULT_NONE;
        if (*ret_fault != BIDE_FAULT_NONE)
            return NULL;
        a = net_lookups_next(post->lookups,
                             now + SLICE_MS * BIDE_MILLISECOND);
    }
    post->asking = false;
    return a;
}

static bool ask(struct bide__post *post)
{
    if (!post->lookups)
        post->lookups = net_lookups_new();
    if (!post->asking)
        post->asking = post->lookups && net_lookup(post->lookups, post->host);
    return post->asking;
}

/* Its addresses, to be freed. */
static bide_fault find(struct bide__post *post,
                       const struct bide__post_limit *l,
                       struct net_addresses **ret)
{
    uint16_t port = (uint16_t)strtoul(post->port, NULL, 10);
    bide_fault fault = BIDE_FAULT_LOCAL;
    const char *why;

    if (net_is_address(post->host)) {
        *ret = net_resolve(post->host, port, &why);
        return *ret ? BIDE_FAULT_NONE : BIDE_FAULT_LOCAL;
    }
    struct net_answer *a = ask(post) ? await_answer(post, l, &fault) : NULL;
    if (!a)
        return fault;
    if (!a->found)
        fault = strcmp(a->why, gai_strerror(EAI_NONAME)) == 0
                    ? BIDE_FAULT_NO_HOST
                    : BIDE_FAULT_DNS;
    else if (!(*ret = net_addresses_at(a->found, port)))
        fault = BIDE_FAULT_LOCAL;
    net_answer_free(a);
    return fault;
}

/* ===== connecting and sending ===== */

static bide_fault connect_one(struct bide__post *post,
                              const struct net_address *a,
                              const struct bide__post_limit *l)
{
    int err = 0;
    socklen_t len = sizeof err;

    int fd = socket(a->to.any.sa_family,
                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    post->net = (struct net_conn){ .io.fd = fd };
    if (fd < 0)
        return BIDE_FAULT_LOCAL;
    if (connect(fd, &a->to.any, a->len) == 0)
        return BIDE_FAULT_NONE;
    if (errno != EINPROGRESS)
        return BIDE_FAULT_CONNECT;
    bide_fault fault = bide__post_wait(fd, POLLOUT, l);
    if (fault != BIDE_FAULT_NONE)
        return fault;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
    return err ? BIDE_FAULT_CONNECT : BIDE_FAULT_NONE;
}

/* Agrees on TLS. Our words of it are few, and fit into the socket. */
static bide_fault greet(struct bide__post *post,
                        const struct bide__post_limit *l)
{
    const char *why = NULL;

    if (!post->tls)
        return BIDE_FAULT_NONE;
    if (net_tls_connect(&post->net, post->tls, post->host) < 0)
        return BIDE_FAULT_LOCAL;
    for (;;) {
        int rc = post->net.layer->handshake(&post->net, &why);
        if (rc == 1)
            return BIDE_FAULT_NONE;
        if (rc != NET_AGAIN)
            return why ? BIDE_FAULT_TLS : BIDE_FAULT_RESET;
        bide_fault fault = bide__post_wait(post->net.io.fd, POLLIN, l);
        if (fault != BIDE_FAULT_NONE)
            return fault;
    }
}

static bide_fault connect_to(struct bide__post *post,
                             const struct bide__post_limit *l)
{
    struct net_addresses *list;
    bide_fault fault = find(post, l, &list);

    if (fault != BIDE_FAULT_NONE)
        return fault;
    for (unsigned i = 0; i < list->n; i++) {
        hang_up(post);
        fault = connect_one(post, &list->list[i], l);
        if (fault == BIDE_FAULT_NONE)
            fault = greet(post, l);
        if (fault == BIDE_FAULT_NONE)
            break;
    }
    free(list);
    if (fault != BIDE_FAULT_NONE)
        hang_up(post);
    return fault;
}

static bide_fault send_all(struct net_conn *conn, const void *data, size_t len,
                           const struct bide__post_limit *l)
{
    const char *at = data;
    while (len > 0) {
        ssize_t n = net_write(conn, at, len);
        if (n > 0) {
            at += n;
            len -= (size_t)n;
            continue;
        }
        if (n != NET_AGAIN)
            return BIDE_FAULT_RESET;
        bide_fault fault = bide__post_wait(conn->io.fd, POLLOUT, l);
        if (fault != BIDE_FAULT_NONE)
            return fault;
    }
    return BIDE_FAULT_NONE;
}

static bide_fault send_request(struct bide__post *post,
                               const struct bide__post_request *r,
                               const struct bide__post_limit *l)
{
    char head[1024];
    size_t len = r->body[0].len + r->body[1].len + r->body[2].len;
    bool v6 = strchr(post->host, ':') != NULL;
    int n = snprintf(head, sizeof head,
                     "POST %s%s HTTP/1.1\r\nHost: %s%s%s:%s\r\n"
                     "User-Agent: bide/%s\r\nContent-Type: %s\r\n"
                     "Content-Length: %zu\r\n\r\n",
                     post->prefix, r->path, v6 ? "[" : "", post->host,
                     v6 ? "]" : "", post->port, bide_version(), r->type, len);
    bide_fault fault = send_all(&post->net, head, (size_t)n, l);
    for (int i = 0; i < 3 && fault == BIDE_FAULT_NONE; i++)
        fault = send_all(&post->net, r->body[i].data, r->body[i].len, l);
    return fault;
}

/* A kept connection that has something to read, or has ended, is of no use;
 * what TLS has to say of itself is no harm, and must be read to know. */
static bool is_stale(struct net_conn *conn)
{
    conn->readable = conn->session != NULL;
    return net_conn_stale(conn);
}

bide_outcome bide__post_send(struct bide__post *post, const bide_dep *dep,
                             const struct bide__post_request *request,
                             int64_t timeout_ns, bide_cancel *cancel)
{
    int64_t now = bide_now_ns();
    struct bide__post_limit l = { timeout_ns > BIDE_FOREVER - now
                                      ? BIDE_FOREVER
                                      : now + timeout_ns,
                                  cancel };
    struct bide__post_answer answer = { .keep = false };
    bide_response r = { .method = "POST", .wall_s = bide_wall_s() };

    if (post->net.io.fd >= 0 && is_stale(&post->net))
        hang_up(post);
    if (post->net.io.fd < 0)
        r.fault = connect_to(post, &l);
    r.not_sent = r.fault != BIDE_FAULT_NONE;
    if (r.fault == BIDE_FAULT_NONE)
        r.fault = send_request(post, request, &l);
    if (r.fault == BIDE_FAULT_NONE)
        r.fault = bide__post_read(&post->net, &l, &answer);
    r.status = answer.status;
    r.headers = answer.headers;
    r.n_headers = answer.n_headers;
    if (r.fault != BIDE_FAULT_NONE || !answer.keep)
        hang_up(post);
    return bide_classify(dep, &r);
}
