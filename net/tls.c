/* Loads the TLS module when it is needed: when settings are created, by the
 * thread that reads the configuration. */
#include "net/tls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "net/tls_module.h"

static const struct net_tls_module *module;

static void *open_in(const char *directory)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/bide-tls.so", directory);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Beside the program, or where it was installed. */
static void *open_module(void)
{
    char here[4096];
    void *found = NULL;
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    if (n > 0) {
        here[n] = '\0';
        *strrchr(here, '/') = '\0';
        found = open_in(here);
    }
    return found ? found : open_in(NET_MODULE_DIR);
}

static bool load(char *err, size_t size)
{
    if (module)
        return true;
    void *handle = open_module();
    if (!handle) {
        snprintf(err, size, "TLS cannot be loaded: %s", dlerror());
        return false;
    }
    const struct net_tls_module *found = dlsym(handle, "net_tls_module");
    if (!found || found->version != NET_TLS_MODULE) {
        snprintf(err, size, "bide-tls.so is of another version of bide");
        dlclose(handle);
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

int net_tls_connect(struct net_conn *conn, void *settings, const char *name)
{
    return module->connect(conn, settings, name);
}

const char *net_tls_client_certificate(struct net_conn *conn)
{
    return conn->session ? module->client_certificate(conn) : NULL;
}
