/* net/tls_module.h: the interface between the program and the TLS module.
 * OpenSSL takes some megabytes of memory just by being loaded, which a sidecar
 * without TLS need not spend. */
#ifndef BIDE_NET_TLS_MODULE_H
#define BIDE_NET_TLS_MODULE_H

#include "net/tls.h"

/* Changes with the table: both come from one build, and this verifies it. */
enum { NET_TLS_MODULE = 3 };

/* The functions of tls.h. Threads: immutable. */
struct net_tls_module {
    int version;
    void *(*server_new)(const struct net_tls_server *conf, char *err,
                        size_t err_size);
    void *(*client_new)(const char *ca, const char *certificate,
                        const char *key, bool verify, char *err,
                        size_t err_size);
    void (*free)(void *settings);
    int (*accept)(struct net_conn *conn, void *settings);
    int (*connect)(struct net_conn *conn, void *settings, const char *name,
                   enum net_tls_offer offer);
    bool (*is_http2)(struct net_conn *conn);
    const char *(*client_certificate)(struct net_conn *conn);
};

extern const struct net_tls_module net_tls_module;

#endif
