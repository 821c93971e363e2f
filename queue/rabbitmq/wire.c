/* Methods out, frames in. */
#include "queue/rabbitmq/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/hold_clock.h"
#include "queue/rabbitmq/copy.h"

#define S INT64_C(1000000000)

/* Shorter than the 10 s in which a worker must be back. */
#define PATIENCE_NS (5 * S)

int wire_fail(struct wire *w, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(w->why, sizeof w->why, format, args);
    va_end(args);
    w->status = status;
    return status;
}

static int out_of_memory(struct wire *w)
{
    wire_drop(w);
    return wire_fail(w, BROKER_NO_MEMORY, "out of memory");
}

/* The connection has failed, and is gone. */
static int broken(struct wire *w, int code)
{
    wire_drop(w);
    return wire_fail(w, BROKER_DOWN, "%s", amqp_error_string2(code));
}

void wire_in_free(struct wire_in *in)
{
    queue_message_free(in->message);
    free(in->tail);
    in->message = NULL;
    in->tail = NULL;
}

void wire_clear(struct wire *w, size_t i)
{
    for (size_t j = i; j < w->n_in; j++)
        wire_in_free(&w->in[j]);
    w->n_in = i < w->n_in ? i : w->n_in;
}

void wire_pick(struct wire *w, int channel, struct wire_in *to, size_t *n)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->n_in; i++)
        if (w->in[i].channel == channel)
            to[(*n)++] = w->in[i];
        else
            w->in[kept++] = w->in[i];
    w->n_in = kept;
}

void wire_begin(struct wire *w)
{
    w->asked = w->answered = 0;
    w->begun_ns = hold_clock_ns();
    w->n_queues = 0;
    w->refused = 0;
    w->returned = w->nacked = false;
    if (w->c && !w->arriving)
        amqp_maybe_release_buffers(w->c);
}

/* ===== what the server says ===== */

/* "... Timeout value used: 1800000 ms. This timeout value can be configured, ..." */
static void learn_timeout(struct wire *w)
{
    static const char before[] = "Timeout value used: ";
    const char *text = strstr(w->why, before);

    if (text)
        w->ack_timeout_ms = strtoll(text + sizeof before - 1, NULL, 10);
}

/* It has closed a channel: LOOK and SLOT may be, the others must not. */
static int channel_closed(struct wire *w, int channel, const amqp_channel_close_t *m)
{
    amqp_channel_close_ok_t ok = { 0 };
    int code = m->reply_code;

    snprintf(w->why, sizeof w->why, "%.*s", (int)m->reply_text.len,
             (const char *)m->reply_text.bytes);
    learn_timeout(w);
    if (amqp_send_method(w->c, (amqp_channel_t)channel, AMQP_CHANNEL_CLOSE_OK_METHOD,
                         &ok) != AMQP_STATUS_OK)
        return broken(w, AMQP_STATUS_SOCKET_ERROR);
    w->open[channel] = false;
    if (channel == WIRE_LOOK || channel == WIRE_SLOT) {
        w->refused = code;
        w->answered = w->asked;
        return 0;
    }
    int status = code == WIRE_REFUSED || code == AMQP_CONTENT_TOO_LARGE ||
                         (code == WIRE_DIFFERS && w->declaring) ||
                         (code == WIRE_DIFFERS && channel == WIRE_PUT)
                     ? BROKER_REFUSED
                     : BROKER_DOWN;
    char why[sizeof w->why];
    memcpy(why, w->why, sizeof why);
    wire_drop(w);
    return wire_fail(w, status, "%s", why);
}

static int connection_closed(struct wire *w, const amqp_connection_close_t *m)
{
    int code = m->reply_code;
    char text[256];

    snprintf(text, sizeof text, "%.*s", (int)m->reply_text.len,
             (const char *)m->reply_text.bytes);
    wire_drop(w);
    return wire_fail(w, code == WIRE_REFUSED || code == AMQP_NOT_ALLOWED
                            ? BROKER_REFUSED
                            : BROKER_DOWN,
                     "%s", text);
}

/* Of messages base + 1 to base + n_marks, which are published and not all confirmed. */
static void confirm(struct wire *w, uint64_t tag, bool multiple, bool nack)
{
    uint64_t first = multiple ? w->base + 1 : tag;

    w->nacked |= nack;
    for (uint64_t t = first; t <= tag && t > w->base; t++)
        if (t - w->base <= w->n_marks && !w->marks[t - w->base - 1]) {
            w->marks[t - w->base - 1] = 1;
            w->unconfirmed--;
        }
    if (w->unconfirmed == 0) {
        w->base += w->n_marks;
        w->n_marks = 0;
    }
}

static void expect_content(struct wire *w, int channel, uint64_t tag, bool redelivered,
                           int consumer)
{
    w->part = (struct wire_in){ .channel = (uint16_t)channel,
                                .tag = tag,
                                .redelivered = redelivered,
                                .consumer = consumer };
    w->is_get = consumer < 0;
    w->is_return = false;
    w->arriving = true;
}

static int consumer_of(amqp_bytes_t tag)
{
    char text[24];

    snprintf(text, sizeof text, "%.*s", (int)(tag.len < 23 ? tag.len : 23),
             (const char *)tag.bytes);
    return atoi(text);
}

static void note_queue(struct wire *w, const amqp_queue_declare_ok_t *m)
{
    if (w->n_queues < sizeof w->queues / sizeof w->queues[0]) {
        w->queues[w->n_queues].messages = m->message_count;
        w->queues[w->n_queues].consumers = m->consumer_count;
    }
    w->n_queues++;
    w->answered++;
}

/* Methods that say something by themselves; the others are answers. */
static int heard_method(struct wire *w, int channel, const amqp_method_t *method)
{
    void *d = method->decoded;

    switch (method->id) {
    case AMQP_BASIC_GET_OK_METHOD: {
        const amqp_basic_get_ok_t *m = d;
        expect_content(w, channel, m->delivery_tag, m->redelivered, -1);
        return 0;
    }
    case AMQP_BASIC_DELIVER_METHOD: {
        const amqp_basic_deliver_t *m = d;
        expect_content(w, channel, m->delivery_tag, m->redelivered,
                       consumer_of(m->consumer_tag));
        return 0;
    }
    case AMQP_BASIC_RETURN_METHOD:
        w->returned = w->is_return = w->arriving = true;
        return 0;
    case AMQP_BASIC_ACK_METHOD:
        confirm(w, ((amqp_basic_ack_t *)d)->delivery_tag,
                ((amqp_basic_ack_t *)d)->multiple, false);
        return 0;
    case AMQP_BASIC_NACK_METHOD:
        confirm(w, ((amqp_basic_nack_t *)d)->delivery_tag,
                ((amqp_basic_nack_t *)d)->multiple, true);
        return 0;
    case AMQP_QUEUE_DECLARE_OK_METHOD:
        note_queue(w, d);
        return 0;
    case AMQP_CHANNEL_CLOSE_METHOD:
        return channel_closed(w, channel, d);
    case AMQP_CONNECTION_CLOSE_METHOD:
        return connection_closed(w, d);
    case AMQP_CONNECTION_BLOCKED_METHOD:
        w->blocked = true;
        return 0;
    case AMQP_CONNECTION_UNBLOCKED_METHOD:
        w->blocked = false;
        return 0;
    case AMQP_BASIC_CANCEL_METHOD: /* somebody has deleted the queue */
        wire_drop(w);
        return wire_fail(w, BROKER_DOWN, "a queue was deleted under its consumer");
    default:
        w->answered++;
        return 0;
    }
}

/* ===== messages that arrive ===== */

static int arrived(struct wire *w)
{
    w->arriving = false;
    if (w->is_return)
        return 0;
    if (w->n_in == w->room_in) {
        size_t room = w->room_in ? 2 * w->room_in : 128;
        struct wire_in *more = realloc(w->in, room * sizeof *more);
        if (!more)
            return out_of_memory(w);
        w->in = more;
        w->room_in = room;
    }
    if (copy_read(&w->part, w->props, w->body, w->body_len) != 0)
        return out_of_memory(w);
    w->in[w->n_in++] = w->part;
    w->answered += w->is_get;
    return 0;
}

static int heard_header(struct wire *w, const amqp_frame_t *f)
{
    w->props = f->payload.properties.decoded;
    w->body_len = (size_t)f->payload.properties.body_size;
    w->body_at = 0;
    free(w->body);
    w->body = malloc(w->body_len + 1);
    if (!w->body)
        return out_of_memory(w);
    return w->body_len == 0 ? arrived(w) : 0;
}

static int heard_body(struct wire *w, amqp_bytes_t part)
{
    if (part.len > w->body_len - w->body_at) {
        wire_drop(w);
        return wire_fail(w, BROKER_DOWN, "a body that is longer than its header says");
    }
    memcpy(w->body + w->body_at, part.bytes, part.len);
    w->body_at += part.len;
    return w->body_at == w->body_len ? arrived(w) : 0;
}

static int heard(struct wire *w, const amqp_frame_t *f)
{
    if (f->frame_type == AMQP_FRAME_METHOD)
        return heard_method(w, f->channel, &f->payload.method);
    if (f->frame_type == AMQP_FRAME_HEADER)
        return heard_header(w, f);
    if (f->frame_type == AMQP_FRAME_BODY)
        return heard_body(w, f->payload.body_fragment);
    return 0;
}

/* One frame, if it comes in time: 1; 0: it does not; or a status. */
static int read_one(struct wire *w, int64_t wait_ns)
{
    struct timeval limit = { wait_ns / S, wait_ns % S / 1000 };
    amqp_frame_t frame;

    if (!w->c)
        return w->status;
    int code = amqp_simple_wait_frame_noblock(w->c, &frame, &limit);
    if (code == AMQP_STATUS_TIMEOUT)
        return 0;
    if (code != AMQP_STATUS_OK)
        return broken(w, code);
    int status = heard(w, &frame);
    return status != 0 ? status : 1;
}

int wire_pump(struct wire *w)
{
    int got;

    while ((got = read_one(w, 0)) > 0)
        ;
    return got;
}

/* The patience is for silence: a large batch may take longer. */
int wire_wait(struct wire *w)
{
    while (w->answered < w->asked || w->unconfirmed > 0) {
        int got = read_one(w, PATIENCE_NS);
        if (got < 0)
            return got;
        if (got == 0 && w->blocked && w->unconfirmed > 0) {
            wire_drop(w);
            return wire_fail(w, BROKER_FULL,
                             "the server is short of memory or disk, and takes no "
                             "messages");
        }
        if (got == 0) {
            wire_drop(w);
            return wire_fail(w, BROKER_DOWN, "no answer for %d s",
                             (int)(PATIENCE_NS / S));
        }
    }
    if (w->asked > 0)
        w->heard_ns = w->begun_ns;
    if (w->nacked)
        return wire_fail(w, BROKER_FULL, "the server refused a message: a queue is "
                                         "full, or is not available");
    if (w->returned)
        return wire_fail(w, BROKER_DOWN, "a queue was deleted: nothing was dropped");
    return 0;
}

/* ===== what we say ===== */

int wire_send(struct wire *w, int channel, amqp_method_number_t id, void *method,
              bool answers)
{
    if (!w->c)
        return w->status;
    int code = amqp_send_method(w->c, (amqp_channel_t)channel, id, method);
    if (code != AMQP_STATUS_OK)
        return broken(w, code);
    w->asked += answers;
    return 0;
}

int wire_ask_queue(struct wire *w, int channel, const char *queue)
{
    amqp_queue_declare_t m = { .queue = wire_bytes(queue), .passive = 1 };

    return wire_send(w, channel, AMQP_QUEUE_DECLARE_METHOD, &m, true);
}

int wire_ask_get(struct wire *w, int channel, const char *queue)
{
    amqp_basic_get_t m = { .queue = wire_bytes(queue) };

    return wire_send(w, channel, AMQP_BASIC_GET_METHOD, &m, true);
}

int wire_ack(struct wire *w, int channel, uint64_t tag)
{
    amqp_basic_ack_t m = { .delivery_tag = tag };

    return wire_send(w, channel, AMQP_BASIC_ACK_METHOD, &m, false);
}

int wire_requeue(struct wire *w, int channel, uint64_t tag)
{
    amqp_basic_nack_t m = { .delivery_tag = tag, .multiple = tag == 0, .requeue = 1 };

    return wire_send(w, channel, AMQP_BASIC_NACK_METHOD, &m, false);
}

static int mark_published(struct wire *w)
{
    if (w->n_marks == w->room_marks) {
        size_t room = w->room_marks ? 2 * w->room_marks : 256;
        uint8_t *more = realloc(w->marks, room);
        if (!more)
            return out_of_memory(w);
        w->marks = more;
        w->room_marks = room;
    }
    w->marks[w->n_marks++] = 0;
    w->unconfirmed++;
    return 0;
}

int wire_publish(struct wire *w, const char *exchange, const char *key,
                 amqp_basic_properties_t *props, const void *body, size_t len)
{
    amqp_bytes_t bytes = { .len = len, .bytes = (void *)(uintptr_t)body };

    if (!w->c)
        return w->status;
    if (w->blocked && wire_pump(w) == 0 && w->blocked)
        return wire_fail(w, BROKER_FULL, "the server is short of memory or disk, and "
                                         "takes no messages");
    int code = amqp_basic_publish(w->c, WIRE_PUT, wire_bytes(exchange), wire_bytes(key),
                                  1, 0, props, bytes);
    if (code != AMQP_STATUS_OK)
        return broken(w, code);
    return mark_published(w);
}
