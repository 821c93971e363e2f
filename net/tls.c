/* Loads the TLS module when it is needed: when settings are created, by the
 * thread that reads the configuration. */
#include "net/tls.h"

#include <stdio.h>

#include "base/module.h"
#include "net/tls_module.h"

static const struct net_tls_module *module;

static bool load(char *err, size_t size)
{
    if (module)
        return true;
    char why[4400];
    const struct net_tls_module *found =
        bide__module("bide-tls.so", "net_tls_module", why, sizeof why);
    if (!found) {
        snprintf(err, size, "no TLS: %s", why);
        return false;
    }
    if (found->version != NET_TLS_MODULE) {
        snprintf(err, size, "bide-tls.so is of another version of bide");
        return false;
    }
    module = found;
    return true;
}

void *net_tls_server_new(const struct net_tls_server *conf, char *err,
                         size_t err_size)
{
    if (!load(err, err_size))
        return NULL;
    return module->server_new(conf, err, err_size);
}

void *net_tls_client_new(const char *ca, const char *certificate,
                         const char *key, bool verify, char *err,
                         size_t err_size)
{
    if (!load(err, err_size))
        return NULL;
    return module->client_new(ca, certificate, key, verify, err, err_size);
}

void net_tls_free(void *settings)
{
    if (settings)
        module->free(settings);
}

int net_tls_accept(struct net_conn *conn, void *settings)
{
    return module->accept(conn, settings);
}

int net_tls_connect(struct net_conn *conn, void *settings, const char *name,
                    enum net_tls_offer offer)
{
    return module->connect(conn, settings, name, offer);
}

bool net_tls_is_http2(struct net_conn *conn)
{
    return conn->session && module->is_http2(conn);
}

const char *net_tls_client_certificate(struct net_conn *conn)
{
    return conn->session ? module->client_certificate(conn) : NULL;
}
