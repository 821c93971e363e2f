/* net/tls_openssl.h: what the files of the TLS module share.
 *
 *   tls_openssl.c    bytes, sessions, settings for connecting to servers
 *   tls_server.c     settings for accepting clients, certificates by name
 *   tls_client.c     the details of a client's certificate, as text
 *
 * Here is what the first of them defines; tls_server.h has the others'. */
#ifndef BIDE_NET_TLS_OPENSSL_H
#define BIDE_NET_TLS_OPENSSL_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

/* The settings that both sides share; NULL: no memory. */
SSL_CTX *bide__tls_settings(const SSL_METHOD *method);

/* Reads a certificate and its key. False, and why in err. */
bool bide__tls_use(SSL_CTX *ctx, const char *certificate, const char *key,
                   char *err, size_t size);

/* "WHAT FILE: " and OpenSSL's message. */
void bide__tls_explain(char *err, size_t size, const char *what,
                       const char *file);

/* For ALPN: "h2" and "http/1.1", each after its length, in the order of
 * preference. */
extern const unsigned char bide__tls_protocols[];
enum { BIDE__TLS_H2 = 3, BIDE__TLS_HTTP1 = 9 }; /* bytes of each */

#endif
