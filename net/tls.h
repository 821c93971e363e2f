/* net/tls.h: TLS on a connection, either side, through OpenSSL 3.
 *
 *     struct net_tls_pair pair = { "cert.pem", "key.pem" };
 *     struct net_tls_server conf = { .pairs = &pair, .n_pairs = 1 };
 *     void *settings = net_tls_server_new(&conf, err, size);
 *     net_tls_accept(conn, settings);           // then: handshake
 *     while ((rc = conn->layer->handshake(conn, &why)) == NET_AGAIN)
 *         wait_for(conn);
 *
 * After the handshake net_read() and net_writev() go through it, and
 * net_tls_is_http2() says which protocol ALPN has chosen.
 * Threads: settings are immutable. */
#ifndef BIDE_NET_TLS_H
#define BIDE_NET_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "net/conn.h"

/* Files, PEM. Threads: immutable. */
struct net_tls_pair {
    const char *certificate; /* and chain */
    const char *key;
};

/* Threads: immutable. */
struct net_tls_server {
    const struct net_tls_pair *pairs; /* SNI selects one, ... */
    size_t n_pairs;                   /* ... if there are several */
    const char *client_ca; /* requests certificates of these; NULL: none */
    bool client_required;  /* refuses clients without one */
    bool http2;            /* accepts it, and prefers it */
};

/* What a client offers by ALPN. */
enum net_tls_offer { NET_TLS_HTTP1, NET_TLS_EITHER, NET_TLS_HTTP2 };

/* Settings towards clients; NULL, and why in err. */
void *net_tls_server_new(const struct net_tls_server *conf, char *err,
                         size_t err_size);

/* Settings towards servers; ca NULL: those of the system. */
void *net_tls_client_new(const char *ca, const char *certificate,
                         const char *key, bool verify, char *err,
                         size_t err_size);
void net_tls_free(void *settings); /* either; NULL is fine */

/* Starts a session on a connection. -1: no memory. `name` is the name that the
 * server's certificate must match, and SNI if it is not an address. */
int net_tls_accept(struct net_conn *conn, void *settings);
int net_tls_connect(struct net_conn *conn, void *settings, const char *name,
                    enum net_tls_offer offer);

/* Whether the two sides have agreed on HTTP/2; false without TLS, too. */
bool net_tls_is_http2(struct net_conn *conn);

/* The details of the client's certificate, as a value of
 * X-Forwarded-Client-Cert; NULL: there is none. Lives as long as the
 * session. */
const char *net_tls_client_certificate(struct net_conn *conn);

#endif
