/* queue/rabbitmq/wire.h: a connection, on which much is asked before anything is read.
 *
 *     wire_ask_queue(w, WIRE_WORK, "default");       // how many are ready there
 *     wire_ask_get(w, WIRE_WORK, "default");         // one of them
 *     int status = wire_wait(w);                     // both answers: one round trip
 *     // w->queues[0].messages; w->in[0], if there was one
 *
 * Methods are sent at once, and wait() reads until every one of them is answered and
 * every message that was published is confirmed. What the server sends by itself
 * (deliveries) is put into w->in as well.
 *
 * WIRE_LOOK and WIRE_SLOT are for questions that the server may refuse, which closes
 * the channel: then w->refused has the code, and the rest of what was asked there is
 * void. A refusal on another channel ends the connection. */
#ifndef BIDE_QUEUE_RABBITMQ_WIRE_H
#define BIDE_QUEUE_RABBITMQ_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/ssl_socket.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#endif

#include "queue/broker.h"
#include "queue/rabbitmq/url.h"

enum { WIRE_WORK = 1, WIRE_PUT, WIRE_LOOK, WIRE_SLOT, WIRE_BELL,
       WIRE_TRACK, /* and those behind it: one for each track (track.h) */
       WIRE_CHANNELS = WIRE_TRACK + 8 };

enum { WIRE_NOT_FOUND = 404, WIRE_REFUSED = 403, WIRE_LOCKED = 405,
       WIRE_DIFFERS = 406 };

/* A message that has arrived. */
struct wire_in {
    struct queue_message *message;
    uint64_t tag;
    uint16_t channel;
    bool redelivered;
    bool named;          /* its producer gave it an id */
    bool hello;          /* no message: news of a worker (slot.h), or a tick
                            (place.c) */
    uint64_t token;      /* of a copy that goes to whoever holds it; 0 */
    uint64_t seq, wait;  /* of a message with a key (track.h) */
    int kind;            /* enum copy_kind */
    int consumer;        /* the number in its tag; -1: it was asked for */
    char reason[32], cls[32];
    int64_t died_ms;
    char *tail;
    size_t tail_len;
};

/* Threads: owned. */
struct wire {
    amqp_connection_state_t c;  /* NULL: none */
    uint64_t number;            /* of the connection, from 1 */
    unsigned asked, answered;
    int64_t begun_ns, heard_ns; /* hold_clock.h: wire_begin(), and of the last wait that
                                   was answered: the server had us then */
    uint64_t base;              /* all messages up to this one are confirmed; */
    uint8_t *marks;             /* of those behind it, which */
    size_t n_marks, room_marks, unconfirmed;
    bool returned, nacked;      /* since wire_begin() */
    int refused;                /* the code with which LOOK or SLOT was closed */
    bool open[WIRE_CHANNELS];
    bool declaring;             /* what differs now stays so */
    bool blocked;               /* the server is short of memory or disk */
    int64_t ack_timeout_ms;     /* its consumer_timeout, once it has told us; 0 */
    struct {
        uint32_t messages, consumers;
    } queues[96];
    size_t n_queues;
    struct wire_in *in;
    size_t n_in, room_in;
    /* the message that is arriving */
    struct wire_in part;
    amqp_basic_properties_t *props;
    char *body;
    size_t body_len, body_at;
    bool is_get, is_return, arriving;
    int status;                 /* of the last failure, and what it was: */
    char why[300];
};

/* Connects, and opens the channels. 0, or a status with w->why. */
int wire_connect(struct wire *w, const struct rmq_url *url, int heartbeat_s);
void wire_drop(struct wire *w);   /* at once; the server takes back what we held */
void wire_leave(struct wire *w);  /* in order: what was sent has arrived */

/* Forgets the answers to earlier questions. Messages in w->in stay. */
void wire_begin(struct wire *w);

/* Sends a method; `answers`: it will be answered. */
int wire_send(struct wire *w, int channel, amqp_method_number_t id, void *method,
              bool answers);
int wire_ask_queue(struct wire *w, int channel, const char *queue);
int wire_ask_get(struct wire *w, int channel, const char *queue);
int wire_ack(struct wire *w, int channel, uint64_t tag);
/* Back to where it was in its queue. Tag 0: all that this channel holds. */
int wire_requeue(struct wire *w, int channel, uint64_t tag);

/* Opens a channel, again if it was open: what it held goes back. */
int wire_reopen(struct wire *w, int channel);
int wire_close(struct wire *w, int channel);

/* Publishes, persistent and mandatory; wire_wait() waits until it is confirmed. */
int wire_publish(struct wire *w, const char *exchange, const char *key,
                 amqp_basic_properties_t *props, const void *body, size_t len);

/* Until all is answered and confirmed: 0, or a status: w->refused is none. */
int wire_wait(struct wire *w);
/* Reads what is there. */
int wire_pump(struct wire *w);

int wire_fail(struct wire *w, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void wire_in_free(struct wire_in *in);
/* Frees the messages in w->in from the i-th on. */
void wire_clear(struct wire *w, size_t i);

/* Moves the messages that came on a channel to the end of `to`, which has room. */
void wire_pick(struct wire *w, int channel, struct wire_in *to, size_t *n);

static inline amqp_bytes_t wire_bytes(const char *text)
{
    return amqp_cstring_bytes(text);
}

#endif
