/* One HTTP POST after another to the same server, over a keep-alive connection:
 * all that an exporter needs of HTTP. HTTP/1.1 with or without TLS, blocking,
 * on a thread of its own; bide_run() makes the retries around it.
 *
 *     struct bide__post post;
 *     const char *mistake = bide__post_init(&post, "http://127.0.0.1:4318",
 *                                           NULL);
 *     struct bide__post_request r = { "/v1/traces", type, { { data, len } } };
 *     bide_outcome out = bide__post_send(&post, dep, &r, timeout_ns, &cancel);
 */
#ifndef BIDE_OBSERVE_EXPORT_POST_H
#define BIDE_OBSERVE_EXPORT_POST_H

#include "net/http/client.h"

struct net_lookups;

enum { BIDE__POST_HEAD = 8192 }; /* bytes of a response's */

/* Threads: owned. */
struct bide__post {
    char host[256];
    char port[8];
    char prefix[256]; /* of the path, without a trailing slash */
    void *tls;        /* settings, not owned; NULL: http:// */
    struct http_client client;
    struct http1_field fields[HTTP1_FIELDS];
    char in[BIDE__POST_HEAD + HTTP_CLIENT_ROOM];
    struct net_lookups *lookups; /* NULL: none was needed yet */
    bool asking; /* one is running, perhaps since an earlier attempt */
};

struct bide__post_request {
    const char *path; /* follows the prefix */
    const char *type; /* Content-Type */
    struct iovec body[HTTP_CLIENT_BODY]; /* sent in this order */
};

/* Reads a URL. NULL, or what was expected instead. Connects nothing yet. `tls`
 * is for https:// (net/tls.h), must outlive it, and may be NULL otherwise. */
const char *bide__post_init(struct bide__post *post, const char *url,
                            void *tls);
void bide__post_done(struct bide__post *post);

/* Makes one attempt, and classifies it by the dependency's policy. */
bide_outcome bide__post_send(struct bide__post *post, const bide_dep *dep,
                             const struct bide__post_request *request,
                             int64_t timeout_ns, bide_cancel *cancel);

#endif
