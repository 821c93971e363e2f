/* What the files of the admin endpoint share. */
#ifndef BIDE_OBSERVE_ADMIN_ADMIN_PARTS_H
#define BIDE_OBSERVE_ADMIN_ADMIN_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/out.h"
#include "net/http/server.h"
#include "observe/admin/admin.h"

enum { ADMIN_TOKEN_MIN = 16 }; /* characters: shorter ones can be guessed */

struct bide__admin {
    struct bide__admin_conf conf;
    char *token, **hosts; /* copies: the caller's may go */
    int64_t start_ns;
    int64_t wall_offset_ns;
    pthread_t thread;

    /* The thread's. */
    struct net_loop loop;
    struct http_server server;
    struct net_timer tick;  /* when streams are fed next */
    struct bide__out state; /* the message of this second */

    /* What others tell it, before they wake it. */
    _Atomic(void *) renewed; /* TLS settings to use from now on; or NULL */
    atomic_bool stop, hand_over;
    atomic_uint left; /* that wait for an answer, once it has handed over */
};

/* ===== admin_answer.c: what is said ===== */

struct admin_answer {
    int status;
    const char *type;    /* Content-Type */
    const char *headers; /* more lines, each with CR LF; or NULL */
    const void *body;
    size_t len;
};

void admin_answer(struct http_conn *c, const struct admin_answer *answer);
void admin_problem(struct http_conn *c, int status, const char *detail);
void admin_json(struct http_conn *c, struct bide__out *body);

/* Writes a message of the stream: this second's state; topic as in view.h. */
void admin_state(struct bide__admin *a, struct bide__out *out, uint64_t topic);
void admin_history(struct bide__admin *a, struct bide__out *out, uint64_t topic,
                   bool brief);

/* Begins a stream; and writes a message into it, if it has taken the last. */
void admin_stream_begin(struct bide__admin *a, struct http_conn *c);
void admin_stream_feed(struct bide__admin *a, struct http_conn *c);

#endif
