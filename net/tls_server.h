/* net/tls_server.h: TLS for those who connect to us. */
#ifndef BIDE_NET_TLS_SERVER_H
#define BIDE_NET_TLS_SERVER_H

#include "net/tls.h"

/* As net_tls_server_new() and net_tls_client_certificate(), tls.h. */
void *bide__tls_server_new(const struct net_tls_server *conf, char *err,
                           size_t size);
const char *bide__tls_client_certificate(struct net_conn *conn);

#endif
