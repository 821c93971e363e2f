/* Connecting: login, and the channels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <openssl/ssl.h>

#include "queue/rabbitmq/wire.h"

enum { PATIENCE_S = 5, FRAME_MAX = 131072 };

void wire_drop(struct wire *w)
{
    if (w->c)
        amqp_destroy_connection(w->c);
    w->c = NULL;
    w->status = BROKER_DOWN;
    w->unconfirmed = w->n_marks = 0;
    w->base = 0;
    w->arriving = w->blocked = false;
    memset(w->open, 0, sizeof w->open);
    wire_clear(w, 0);
    free(w->body);
    w->body = NULL;
}

void wire_leave(struct wire *w)
{
    if (w->c)
        amqp_connection_close(w->c, AMQP_REPLY_SUCCESS);
    wire_drop(w);
}

/* What a failed login or a failed call means. */
static int refused(struct wire *w, const amqp_rpc_reply_t *r)
{
    char text[256];
    int code = 0;

    if (r->reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
        r->reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
        const amqp_connection_close_t *m = r->reply.decoded;
        code = m->reply_code;
        snprintf(text, sizeof text, "%.*s", (int)m->reply_text.len,
                 (const char *)m->reply_text.bytes);
    } else {
        snprintf(text, sizeof text, "%s", amqp_error_string2(r->library_error));
    }
    wire_drop(w);
    return wire_fail(w, code == WIRE_REFUSED || code == AMQP_NOT_ALLOWED
                            ? BROKER_REFUSED
                            : BROKER_DOWN,
                     "%s", text);
}

/* We want to be told when the server takes no messages, and when a queue is gone. */
static amqp_rpc_reply_t login(struct wire *w, const struct rmq_url *url, int heartbeat_s)
{
    amqp_table_entry_t can[4] = { 0 }, about[2] = { 0 };
    static const char *const names[] = { "connection.blocked", "consumer_cancel_notify",
                                         "authentication_failure_close",
                                         "publisher_confirms" };

    for (int i = 0; i < 4; i++) {
        can[i].key = wire_bytes(names[i]);
        can[i].value.kind = AMQP_FIELD_KIND_BOOLEAN;
        can[i].value.value.boolean = 1;
    }
    about[0].key = wire_bytes("capabilities");
    about[0].value.kind = AMQP_FIELD_KIND_TABLE;
    about[0].value.value.table = (amqp_table_t){ 4, can };
    about[1].key = wire_bytes("connection_name");
    about[1].value.kind = AMQP_FIELD_KIND_UTF8;
    about[1].value.value.bytes = wire_bytes("bide");
    amqp_table_t properties = { 2, about };
    return amqp_login_with_properties(w->c, url->vhost, 0, FRAME_MAX, heartbeat_s,
                                      &properties, AMQP_SASL_METHOD_PLAIN, url->user,
                                      url->password);
}

static int open_channel(struct wire *w, int channel)
{
    if (!amqp_channel_open(w->c, (amqp_channel_t)channel)) {
        amqp_rpc_reply_t r = amqp_get_rpc_reply(w->c);
        return refused(w, &r);
    }
    w->open[channel] = true;
    return 0;
}

int wire_close(struct wire *w, int channel)
{
    amqp_channel_close_t m = { .reply_code = AMQP_REPLY_SUCCESS };

    if (!w->c || !w->open[channel])
        return w->c ? 0 : w->status;
    int status = wire_send(w, channel, AMQP_CHANNEL_CLOSE_METHOD, &m, true);
    if (status == 0)
        status = wire_wait(w);
    if (status == 0)
        w->open[channel] = false;
    return status;
}

int wire_reopen(struct wire *w, int channel)
{
    int status = wire_close(w, channel);

    return status == 0 ? open_channel(w, channel) : status;
}

static int open_channels(struct wire *w)
{
    amqp_basic_qos_t one = { .prefetch_count = 1 };

    for (int i = WIRE_WORK; i < WIRE_TRACK; i++) {
        int status = open_channel(w, i);
        if (status != 0)
            return status;
    }
    if (!amqp_confirm_select(w->c, WIRE_PUT)) {
        amqp_rpc_reply_t r = amqp_get_rpc_reply(w->c);
        return refused(w, &r);
    }
    wire_begin(w);
    int status = wire_send(w, WIRE_BELL, AMQP_BASIC_QOS_METHOD, &one, true);
    return status != 0 ? status : wire_wait(w);
}

/* Whose certificate is not signed by whom we trust, or is for another host, is refused. */
static amqp_socket_t *tls_socket(struct wire *w, const struct rmq_url *url)
{
    amqp_socket_t *s = amqp_ssl_socket_new(w->c);

    if (!s)
        return NULL;
    amqp_ssl_socket_set_verify_peer(s, 1);
    amqp_ssl_socket_set_verify_hostname(s, 1);
    if (*url->cacert ? amqp_ssl_socket_set_cacert(s, url->cacert) != AMQP_STATUS_OK
                     : SSL_CTX_set_default_verify_paths(amqp_ssl_socket_get_context(s)) !=
                           1) {
        wire_drop(w);
        wire_fail(w, BROKER_REFUSED, "%.200s: cannot be read as certificates",
                  *url->cacert ? url->cacert : "the system's certificates");
        return NULL;
    }
    return s;
}

/* A certificate that is wrong stays so, as long as nobody changes it. */
static bool is_untrusted(int code)
{
    return code == AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED ||
           code == AMQP_STATUS_SSL_PEER_VERIFY_FAILED;
}

int wire_connect(struct wire *w, const struct rmq_url *url, int heartbeat_s)
{
    struct timeval patience = { PATIENCE_S, 0 };

    wire_drop(w);
    w->c = amqp_new_connection();
    w->status = 0;
    amqp_socket_t *socket = !w->c      ? NULL
                            : url->tls ? tls_socket(w, url)
                                       : amqp_tcp_socket_new(w->c);
    if (!socket) {
        if (w->status == BROKER_REFUSED)
            return w->status;
        wire_drop(w);
        return wire_fail(w, BROKER_NO_MEMORY, "out of memory");
    }
    amqp_set_handshake_timeout(w->c, &patience);
    amqp_set_rpc_timeout(w->c, &patience);
    int code = amqp_socket_open_noblock(socket, url->host, url->port, &patience);
    if (code != AMQP_STATUS_OK) {
        wire_drop(w);
        return wire_fail(w, is_untrusted(code) ? BROKER_REFUSED : BROKER_DOWN,
                         "%.200s:%d: %s", url->host, url->port,
                         code == AMQP_STATUS_SOCKET_ERROR ? "cannot connect"
                                                          : amqp_error_string2(code));
    }
    amqp_rpc_reply_t r = login(w, url, heartbeat_s);
    if (r.reply_type != AMQP_RESPONSE_NORMAL)
        return refused(w, &r);
    w->number++;
    return open_channels(w);
}
