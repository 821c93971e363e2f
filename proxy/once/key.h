/* proxy/once/key.h: the key of a request, and who sent it.
 *
 *     char key[ONCE_KEY + 1];
 *     if (once_key_read(&ex->req, bytes, key) == ONCE_KEY_THERE)
 *         ...                              // `"k1"` and `k1` are both k1
 *
 * draft-ietf-httpapi-idempotency-key-header-07: Idempotency-Key is a
 * structured-field String (RFC 8941, 3.3.3). Most clients of today send the bare
 * value instead, so that is read as well. Whatever could be read in two ways is
 * invalid: a second field, a list, parameters, a field that Connection takes off.
 * Threads: owned. */
#ifndef BIDE_PROXY_ONCE_KEY_H
#define BIDE_PROXY_ONCE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/http1/head.h"

enum { ONCE_KEY = 255 }; /* bytes of a key, or of a caller's name */

enum once_key { ONCE_KEY_THERE, ONCE_KEY_MISSING, ONCE_KEY_INVALID };

/* Reads the key, as a C string. */
enum once_key once_key_read(const struct http1_head *req, const char *bytes,
                            char key[ONCE_KEY + 1]);

/* The value of a key field, quoted or bare; false if it is neither. */
bool once_key_value(const char *text, size_t len, char key[ONCE_KEY + 1]);

/* The caller's name, as the field of that name says it: "" if there is none.
 * False if there are several, or it is too long. */
bool once_caller_read(const struct http1_head *req, const char *bytes,
                      const char *field, char caller[ONCE_KEY + 1]);

/* The same of `Host`, in lower case: that of an absolute target, if it has one, since
 * that is whom the request is for. */
bool once_host_read(const struct http1_head *req, const char *bytes,
                    char caller[ONCE_KEY + 1]);

/* What a record is bound to: a digest of Authorization; without one, of Cookie;
 * without either, of the names in the client's certificate (as
 * net_tls_client_certificate() has it, or NULL). Zeros if there is none of them. */
void once_binding(const struct http1_head *req, const char *bytes,
                  const char *certificate, uint8_t digest[32]);

#endif
