/* TLS through OpenSSL 3: a module that is loaded when a certificate or an
 * https:// endpoint requires it (tls.c). */
#include <arpa/inet.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "net/tls_module.h"
#include "net/tls_openssl.h"
#include "net/tls_server.h"

enum { RECORD = 16384 };

static SSL *ssl_of(const struct net_conn *c)
{
    return c->session;
}

/* ===== bytes ===== */

/* What an unsuccessful call means to its caller. */
static ssize_t outcome(struct net_conn *c, int rc, bool reading)
{
    int why = SSL_get_error(ssl_of(c), rc);
    if (reading)
        c->readable = false;
    else
        c->writable = false;
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return NET_AGAIN;
    if (why == SSL_ERROR_ZERO_RETURN && reading)
        return 0;
    if (why != SSL_ERROR_ZERO_RETURN)
        SSL_set_quiet_shutdown(ssl_of(c), 1); /* the peer cannot receive it */
    errno = ECONNRESET;
    return NET_ERROR;
}

static ssize_t tls_read(struct net_conn *c, void *buf, size_t n)
{
    size_t got = 0;
    ERR_clear_error();
    int rc = SSL_read_ex(ssl_of(c), buf, n, &got);
    return rc == 1 ? (ssize_t)got : outcome(c, rc, true);
}

/* Small pieces share a record: each costs some thirty bytes, and a packet. */
static ssize_t tls_writev(struct net_conn *c, const struct iovec *iov, int n)
{
    char record[RECORD];
    const void *from = iov[0].iov_base;
    size_t len = iov[0].iov_len, put = 0;
    if (n > 1 && len < RECORD) {
        len = 0;
        for (int i = 0; i < n && len < RECORD; i++) {
            size_t part =
                iov[i].iov_len < RECORD - len ? iov[i].iov_len : RECORD - len;
            if (part != 0) /* an empty piece may be nowhere */
                memcpy(record + len, iov[i].iov_base, part);
            len += part;
        }
        from = record;
    }
    ERR_clear_error();
    int rc = SSL_write_ex(ssl_of(c), from, len, &put);
    return rc == 1 ? (ssize_t)put : outcome(c, rc, false);
}

static int tls_handshake(struct net_conn *c, const char **ret_why)
{
    ERR_clear_error();
    int rc = SSL_do_handshake(ssl_of(c));
    if (rc == 1)
        return 1;
    ssize_t what = outcome(c, rc, true);
    long verified = SSL_get_verify_result(ssl_of(c));
    if (what != NET_AGAIN && verified != X509_V_OK)
        *ret_why = X509_verify_cert_error_string(verified);
    return what == NET_AGAIN ? NET_AGAIN : NET_ERROR;
}

static bool tls_pending(struct net_conn *c)
{
    return SSL_has_pending(ssl_of(c)) == 1;
}

static void tls_shutdown(struct net_conn *c)
{
    ERR_clear_error();
    if (SSL_is_init_finished(ssl_of(c)))
        SSL_shutdown(ssl_of(c));
}

static void tls_session_free(struct net_conn *c)
{
    SSL_free(ssl_of(c));
}

static const struct net_layer layer = {
    tls_read,    tls_writev,   tls_handshake,
    tls_pending, tls_shutdown, tls_session_free,
};

/* ===== settings ===== */

void bide__tls_explain(char *err, size_t size, const char *what,
                       const char *file)
{
    unsigned long code = ERR_peek_error(); /* the cause; the last is vague */
    const char *why = ERR_reason_error_string(code);
    if (ERR_SYSTEM_ERROR(code))
        why = strerror(ERR_GET_REASON(code));
    snprintf(err, size, "%s %s: %s", what, file, why ? why : "not usable");
}

SSL_CTX *bide__tls_settings(const SSL_METHOD *method)
{
    ERR_clear_error();
    SSL_CTX *ctx = SSL_CTX_new(method);
    if (!ctx)
        return NULL;
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    return ctx;
}

bool bide__tls_use(SSL_CTX *ctx, const char *certificate, const char *key,
                   char *err, size_t size)
{
    if (SSL_CTX_use_certificate_chain_file(ctx, certificate) != 1)
        bide__tls_explain(err, size, "certificate", certificate);
    else if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
        bide__tls_explain(err, size, "key", key);
    else if (SSL_CTX_check_private_key(ctx) != 1)
        snprintf(err, size, "key %s is not that of certificate %s", key,
                 certificate);
    else
        return true;
    return false;
}

const unsigned char bide__tls_protocols[] = "\x02h2\x08http/1.1";

static void *client_new(const char *ca, const char *certificate,
                        const char *key, bool verify, char *err, size_t size)
{
    SSL_CTX *ctx = bide__tls_settings(TLS_client_method());
    snprintf(err, size, "no memory");
    if (!ctx)
        return NULL;
    if ((ca ? SSL_CTX_load_verify_file(ctx, ca)
            : SSL_CTX_set_default_verify_paths(ctx)) != 1) {
        bide__tls_explain(err, size, "CA", ca ? ca : "of the system");
        SSL_CTX_free(ctx);
        return NULL;
    }
    if (certificate && !bide__tls_use(ctx, certificate, key, err, size)) {
        SSL_CTX_free(ctx);
        return NULL;
    }
    SSL_CTX_set_verify(ctx, verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
    return ctx;
}

static void settings_free(void *settings)
{
    SSL_CTX_free(settings);
}

/* ===== sessions ===== */

static SSL *session_new(struct net_conn *c, void *settings)
{
    SSL *ssl = SSL_new(settings);
    if (ssl && SSL_set_fd(ssl, c->io.fd) == 1)
        return ssl;
    SSL_free(ssl);
    return NULL;
}

static void session_begin(struct net_conn *c, SSL *ssl)
{
    c->session = ssl;
    c->layer = &layer;
}

static int accept_on(struct net_conn *c, void *settings)
{
    SSL *ssl = session_new(c, settings);
    if (!ssl)
        return -1;
    SSL_set_accept_state(ssl);
    session_begin(c, ssl);
    return 0;
}

/* An address is matched against the addresses of the certificate, and is not
 * sent as SNI. A certificate is identified by its subjectAltName and nothing
 * else (RFC 9110, 4.3.4): its common name does not count. */
static bool set_name(SSL *ssl, const char *name)
{
    unsigned char address[16];
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
                               X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (inet_pton(AF_INET, name, address) == 1 ||
        inet_pton(AF_INET6, name, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    return SSL_set_tlsext_host_name(ssl, name) == 1 &&
           SSL_set1_host(ssl, name) == 1;
}

static bool offer_protocols(SSL *ssl, enum net_tls_offer offer)
{
    const unsigned char *from = bide__tls_protocols;
    unsigned n = BIDE__TLS_H2 + BIDE__TLS_HTTP1;
    if (offer == NET_TLS_HTTP1) {
        from += BIDE__TLS_H2;
        n = BIDE__TLS_HTTP1;
    } else if (offer == NET_TLS_HTTP2) {
        n = BIDE__TLS_H2;
    }
    return SSL_set_alpn_protos(ssl, from, n) == 0;
}

static bool is_http2(struct net_conn *c)
{
    const unsigned char *name;
    unsigned len;
    SSL_get0_alpn_selected(ssl_of(c), &name, &len);
    return len == 2 && memcmp(name, "h2", 2) == 0;
}

static int connect_on(struct net_conn *c, void *settings, const char *name,
                      enum net_tls_offer offer)
{
    SSL *ssl = session_new(c, settings);
    if (!ssl)
        return -1;
    if (!set_name(ssl, name) || !offer_protocols(ssl, offer)) {
        SSL_free(ssl);
        return -1;
    }
    SSL_set_connect_state(ssl);
    session_begin(c, ssl);
    return 0;
}

const struct net_tls_module net_tls_module = {
    NET_TLS_MODULE, bide__tls_server_new,
    client_new,     settings_free,
    accept_on,      connect_on,
    is_http2,       bide__tls_client_certificate,
};
