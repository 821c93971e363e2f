/* The answer to a POST: its status, the header fields that say when to come
 * again, and where it ends. */
#ifndef BIDE_OBSERVE_EXPORT_POST_ANSWER_H
#define BIDE_OBSERVE_EXPORT_POST_ANSWER_H

#include "net/conn.h"
#include "bide/outcome.h"
#include "bide/run.h"

/* How long it may take. */
struct bide__post_limit {
    int64_t until_ns;
    bide_cancel *cancel; /* or NULL */
};

enum { BIDE__POST_FIELDS = 32, BIDE__POST_HEAD = 8192 };

/* Threads: owned. */
struct bide__post_answer {
    int status;
    bool keep; /* the connection can take another request */
    bide_header headers[BIDE__POST_FIELDS]; /* further ones are not kept */
    size_t n_headers;
    char head[BIDE__POST_HEAD];
    size_t len;
};

bide_fault bide__post_wait(int fd, short events,
                           const struct bide__post_limit *l);

/* Reads head and body. The body is thrown away; one that is chunked, or longer
 * than a collector's word of thanks should be, ends the connection instead. */
bide_fault bide__post_read(struct net_conn *conn,
                           const struct bide__post_limit *l,
                           struct bide__post_answer *ret);

#endif
