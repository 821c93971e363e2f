/* TLS is not built in. (To be replaced.) */
#include "tls.h"

#include <stdio.h>

void *net_tls_server_new(const char *certificate, const char *key,
                         const char *client_ca, bool client_required, char *err,
                         size_t err_size)
{
    (void)certificate, (void)key, (void)client_ca, (void)client_required;
    snprintf(err, err_size, "this program was built without TLS");
    return NULL;
}

void *net_tls_client_new(const char *ca, const char *certificate,
                         const char *key, bool verify, char *err,
                         size_t err_size)
{
    (void)ca, (void)certificate, (void)key, (void)verify;
    snprintf(err, err_size, "this program was built without TLS");
    return NULL;
}

void net_tls_free(void *settings) { (void)settings; }

int net_tls_accept(struct net_conn *conn, void *settings)
{
    (void)conn, (void)settings;
    return -1;
}

int net_tls_connect(struct net_conn *conn, void *settings, const char *name)
{
    (void)conn, (void)settings, (void)name;
    return -1;
}
