/* A URL, a connection, a request, the head of a response. */
#include "observe/export/post.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/address.h"
#include "net/lookup.h"
#include "net/tls.h"

enum { SLICE_MS = 50, MOST_BODY = 65536 };

/* ===== the URL ===== */

/* Copies; false if it is empty or too long. */
static bool copy(char *to, size_t size, const char *from, size_t len)
{
    if (len == 0 || len >= size)
        return false;
    memcpy(to, from, len);
    to[len] = '\0';
    return true;
}

static bool secure_it(struct http_client *c)
{
    struct bide__post *post = bide__container_of(c, struct bide__post, client);
    return net_tls_connect(&c->conn, post->tls, post->host,
                           NET_TLS_HTTP1) == 0;
}

static const char *read_url(struct bide__post *post, const struct bide__url *u)
{
    struct bide__authority at;
    size_t len = u->rest_len;
    uint16_t port;

    if (!bide__authority(u->authority, u->authority_len, &at) ||
        !copy(post->host, sizeof post->host, at.host, at.host_len))
        return "expected a host of 1 to 255 characters behind `//`";
    if (at.colon &&
        (!bide__port(at.port, at.port_len, &port) || port == 0 ||
         !copy(post->port, sizeof post->port, at.port, at.port_len)))
        return "expected a port from 1 to 65535 behind the colon";
    while (len > 0 && u->rest[len - 1] == '/')
        len--;
    if (len >= sizeof post->prefix)
        return "expected a path of at most 255 characters";
    memcpy(post->prefix, u->rest, len);
    post->prefix[len] = '\0';
    return NULL;
}

const char *bide__post_init(struct bide__post *post, const char *url, void *tls)
{
    struct bide__url u = { 0 };
    bool known = bide__url(url, strlen(url), &u);

    *post = (struct bide__post){ .tls = u.tls ? tls : NULL, .port = "4318" };
    http_client_init(&post->client, post->in, sizeof post->in);
    post->client.fields = post->fields;
    post->client.connected = post->tls ? secure_it : NULL;
    if (!known)
        return "expected a URL that begins with http:// or https://";
    if (u.tls && !tls)
        return "expected http://: there is no TLS here";
    if (strpbrk(url, " \t\r\n?#@"))
        return "expected no blank, query, fragment or password in the URL";
    return read_url(post, &u);
}

void bide__post_done(struct bide__post *post)
{
    http_client_close(&post->client);
    net_lookups_free(post->lookups);
    post->lookups = NULL;
}

/* ===== the name ===== */

/* The answer, or NULL and the fault. A lookup cannot be cancelled: it
 * continues, and the next attempt gets its answer. */
static struct net_answer *await_answer(struct bide__post *post,
                                       int64_t until_ns, bide_cancel *cancel,
                                       bide_fault *ret_fault)
{
    struct net_answer *a = NULL;
    while (!a) {
        int64_t now = bide_now_ns();
        if (cancel && bide_cancelled(cancel))
            *ret_fault = BIDE_FAULT_CANCELLED;
        else if (now >= until_ns)
            *ret_fault = BIDE_FAULT_DNS;
        else
            *ret_fault = BIDE_FAULT_NONE;
        if (*ret_fault != BIDE_FAULT_NONE)
            return NULL;
        a = net_lookups_next(post->lookups, now + SLICE_MS * BIDE_MILLISECOND);
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
static bide_fault find(struct bide__post *post, int64_t until_ns,
                       bide_cancel *cancel, struct net_addresses **ret)
{
    uint16_t port = (uint16_t)strtoul(post->port, NULL, 10);
    bide_fault fault = BIDE_FAULT_LOCAL;
    const char *why;

    if (net_is_address(post->host)) {
        *ret = net_resolve(post->host, port, &why);
        return *ret ? BIDE_FAULT_NONE : BIDE_FAULT_LOCAL;
    }
    struct net_answer *a =
        ask(post) ? await_answer(post, until_ns, cancel, &fault) : NULL;
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

/* ===== sending ===== */

/* Tries one address after the other, until one accepts the request. */
static bide_fault try_all(struct bide__post *post, struct http_request *r,
                          bide_cancel *cancel)
{
    struct net_addresses *list;
    bide_fault fault = find(post, r->until_ns, cancel, &list);

    if (fault != BIDE_FAULT_NONE)
        return fault;
    for (unsigned i = 0; i < list->n; i++) {
        r->to = &list->list[i];
        fault = http_client_run(&post->client, r, cancel);
        if (fault == BIDE_FAULT_NONE || post->client.sent)
            break;
    }
    free(list);
    return fault;
}

static bide_fault send_request(struct bide__post *post,
                               const struct bide__post_request *r,
                               int64_t timeout_ns, bide_cancel *cancel)
{
    char target[512], host[272], headers[128];
    bool v6 = strchr(post->host, ':') != NULL;
    struct http_request q = {
        .method = "POST",
        .target = target,
        .host = host,
        .headers = headers,
        .keep = true,
        .until_ns = net_after(bide_now_ns(), timeout_ns),
        .max_body = MOST_BODY,
    };

    memcpy(q.body, r->body, sizeof q.body);
    snprintf(target, sizeof target, "%s%s", post->prefix, r->path);
    snprintf(host, sizeof host, "%s%s%s:%s", v6 ? "[" : "", post->host,
             v6 ? "]" : "", post->port);
    snprintf(headers, sizeof headers,
             "User-Agent: bide/%s\r\nContent-Type: %s\r\n", bide_version(),
             r->type);
    post->client.sent = false;
    return http_client_is_open(&post->client)
               ? http_client_run(&post->client, &q, cancel)
               : try_all(post, &q, cancel);
}

bide_outcome bide__post_send(struct bide__post *post, const bide_dep *dep,
                             const struct bide__post_request *request,
                             int64_t timeout_ns, bide_cancel *cancel)
{
    struct http_client *c = &post->client;
    bide_header headers[HTTP1_FIELDS];
    bide_response r = { .method = "POST", .wall_s = bide_wall_s() };

    r.fault = send_request(post, request, timeout_ns, cancel);
    r.not_sent = !c->sent;
    if (r.fault == BIDE_FAULT_NONE) {
        r.status = c->head.status;
        r.headers = headers;
        r.n_headers = c->head.n_fields;
    }
    for (size_t i = 0; i < r.n_headers; i++) {
        const struct http1_field *f = &post->fields[i];
        headers[i] = (bide_header){ c->in + f->line, f->name_len,
                                    c->in + f->value, f->value_len };
    }
    return bide_classify(dep, &r);
}
