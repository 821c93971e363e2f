/* What the files of the admin endpoint share. */
#ifndef BIDE_OBSERVE_ADMIN_ADMIN_PARTS_H
#define BIDE_OBSERVE_ADMIN_ADMIN_PARTS_H

#include <poll.h>
#include <stdatomic.h>

#include "net/conn.h"
#include "net/http1.h"
#include "observe/admin/admin.h"
#include "base/out.h"

enum {
    ADMIN_CONNECTIONS = 256,
    ADMIN_STREAMS = 32, /* of those: the rest is left to who asks and goes */
    ADMIN_WAITING = 32, /* answers that wait for who reads slowly */
    ADMIN_AT_ONCE = 16, /* connections that are accepted before others are
                           served */
    ADMIN_BACKLOG = 1024, /* that the kernel keeps meanwhile */
    ADMIN_SEND = 65536, /* bytes that the kernel keeps for who reads slowly */
    ADMIN_HEAD = 8192,  /* bytes of a request's head */
    ADMIN_FIELDS = 64,
    ADMIN_BODY = 4096,   /* no action has one; what comes is thrown away */
    ADMIN_TOKEN_MIN = 16 /* characters: shorter ones can be guessed */
};

#define ADMIN_PATIENCE_NS (10 * BIDE_SECOND) /* with a request that is slow */
#define ADMIN_IDLE_NS     (60 * BIDE_SECOND) /* between two */
#define ADMIN_REST_NS     (100 * BIDE_MILLISECOND) /* when accept() fails */
#define ADMIN_MOMENT_NS   (50 * BIDE_MILLISECOND) /* that everybody gets */
#define ADMIN_OVER        INT64_MIN /* `until_ns` of one that has to go */

enum admin_mode {
    ADMIN_READING,  /* a request */
    ADMIN_SKIPPING, /* its body */
    ADMIN_WRITING,  /* the answer */
    ADMIN_STREAMING /* for as long as the client likes */
};

/* One client. Threads: owned. */
struct admin_conn {
    struct net_conn net;
    bool greeting; /* TLS: it is not agreed yet */
    enum admin_mode mode;
    bool keep;        /* another request may follow */
    bool known;       /* it has shown the token */
    int64_t until_ns; /* then it is dropped */
    int64_t moved_ns; /* when it came, or took something, or an answer was done */
    char in[ADMIN_HEAD];
    size_t in_len;
    uint64_t skip; /* bytes of a body that are still to come */
    struct http1_head head;
    struct http1_field fields[ADMIN_FIELDS];
    struct bide__out out;
    size_t sent;
};

struct bide__admin {
    struct bide__admin_conf conf;
    char *token, **hosts; /* copies: the caller's may go */
    void *tls;            /* settings; NULL: none */
    _Atomic(void *) renewed; /* that are to be used from now on; or NULL */
    int listener;
    int port;
    int wake[2]; /* written to when it shall end, or hand over */
    atomic_uint left; /* that wait for an answer, once it has handed over */
    pthread_t thread;
    int64_t start_ns;
    int64_t wall_offset_ns;
    int64_t tick_ns;        /* when streams are fed next */
    int64_t rest_ns;        /* nobody is let in before */
    struct bide__out state; /* the message of this second */
    struct admin_conn *conns[ADMIN_CONNECTIONS];
    size_t n_conns;
};

/* ===== admin_listen.c ===== */

/* A socket that listens; -1, and why. */
int admin_listen(const struct bide__admin_conf *conf, int *ret_port, char *why,
                 size_t size);

/* ===== admin_room.c ===== */

/* Whether one more can be taken in; another may have to go for it. False: all
 * have only just come. */
bool admin_room(struct bide__admin *a, int64_t now);

/* Lets go of an answer that is not read, if there are too many. */
void admin_room_for_answers(struct bide__admin *a);

/* Whether there may be another stream; one that is not read may have to go. */
bool admin_room_for_stream(struct bide__admin *a, int64_t now);

/* ===== admin_conn.c ===== */

/* Reads or writes as far as that goes. False: the connection is over. */
bool admin_conn_step(struct bide__admin *a, struct admin_conn *c, short events,
                     int64_t now);
short admin_conn_wants(const struct admin_conn *c);
void admin_conn_free(struct admin_conn *c);

/* Starts to send what is in c->out. */
void admin_conn_send(struct admin_conn *c, int64_t now);

/* ===== admin_guard.c: who may ask ===== */

/* NULL, or why the request is refused (403). */
const char *admin_guard(const struct bide__admin *a,
                        const struct admin_conn *c);

/* NULL, or why the action is refused; *ret_status is 401 or 403. */
const char *admin_guard_action(const struct bide__admin *a,
                               const struct admin_conn *c, int *ret_status);

/* Whether it came with the token, whatever it asks. */
bool admin_guard_token(const struct bide__admin *a, const struct admin_conn *c);

/* ===== admin_route.c: what is asked ===== */

/* Answers the request in c, into c->out. */
void admin_route(struct bide__admin *a, struct admin_conn *c, int64_t now);

/* ===== admin_answer.c: what is said ===== */

struct admin_answer {
    int status;
    const char *type;    /* Content-Type */
    const char *headers; /* more lines, each with CR LF; or NULL */
    const void *body;
    size_t len;
};

void admin_answer(struct admin_conn *c, const struct admin_answer *answer);
void admin_problem(struct admin_conn *c, int status, const char *detail);
void admin_json(struct admin_conn *c, struct bide__out *body);

/* Writes a message of the stream: this second's state. */
void admin_state(struct bide__admin *a, struct bide__out *out, int64_t now);
void admin_history(struct bide__admin *a, struct bide__out *out, int64_t now);
void admin_stream_begin(struct bide__admin *a, struct admin_conn *c);
void admin_stream_feed(const struct bide__admin *a, struct admin_conn *c,
                       int64_t now);

#endif
