/* Reading the key of a request, and who sent it. */
#include "proxy/once/key.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/sha256.h"

/* ===== the key ===== */

/* An sf-string: printable ASCII in quotes, of which `"` and `\` are escaped. */
static bool read_quoted(const char *text, size_t len, char key[ONCE_KEY + 1])
{
    size_t n = 0;
    for (size_t i = 1; i < len; i++) {
        char c = text[i];
        if (c == '"' && i + 1 == len) {
            key[n] = '\0';
            return n > 0;
        }
        if (c == '\\' && ++i < len && (text[i] == '"' || text[i] == '\\'))
            c = text[i];
        else if (c == '"' || c == '\\' || c < ' ' || c > '~')
            return false;
        if (n == ONCE_KEY)
            return false;
        key[n++] = c;
    }
    return false; /* no closing quote */
}

/* What no other reading is possible of: no blanks, no list, no parameters. */
static bool read_bare(const char *text, size_t len, char key[ONCE_KEY + 1])
{
    if (len == 0 || len > ONCE_KEY)
        return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~' || strchr("\",;\\", text[i]))
            return false;
    memcpy(key, text, len);
    key[len] = '\0';
    return true;
}

bool once_key_value(const char *text, size_t len, char key[ONCE_KEY + 1])
{
    return len > 0 && text[0] == '"' ? read_quoted(text, len, key)
                                     : read_bare(text, len, key);
}

enum once_key once_key_read(const struct http1_head *req, const char *bytes,
                            char key[ONCE_KEY + 1])
{
    const struct http1_field *found = NULL;
    if (!http1_has(req, HTTP1_ID_IDEMPOTENCY_KEY))
        return ONCE_KEY_MISSING;
    for (unsigned i = 0; i < req->n_fields; i++) {
        const struct http1_field *f = &req->fields[i];
        if (f->id != HTTP1_ID_IDEMPOTENCY_KEY)
            continue;
        if (found || f->hop)
            return ONCE_KEY_INVALID;
        found = f;
    }
    return found && once_key_value(bytes + found->value, found->value_len, key)
               ? ONCE_KEY_THERE
               : ONCE_KEY_INVALID;
}

/* ===== the caller ===== */

bool once_caller_read(const struct http1_head *req, const char *bytes,
                      const char *field, char caller[ONCE_KEY + 1])
{
    size_t len = strlen(field);
    bool found = false;
    caller[0] = '\0';
    for (unsigned i = 0; i < req->n_fields; i++) {
        const struct http1_field *f = &req->fields[i];
        if (f->name_len != len || strncasecmp(bytes + f->line, field, len) != 0)
            continue;
        if (found || f->hop || f->value_len > ONCE_KEY ||
            memchr(bytes + f->value, '\0', f->value_len))
            return false;
        memcpy(caller, bytes + f->value, f->value_len);
        caller[f->value_len] = '\0';
        found = true;
    }
    return true;
}

bool once_host_read(const struct http1_head *req, const char *bytes,
                    char caller[ONCE_KEY + 1])
{
    if (req->host_len > ONCE_KEY)
        return false;
    for (unsigned i = 0; i < req->host_len; i++)
        caller[i] = (char)tolower((unsigned char)bytes[req->host + i]);
    caller[req->host_len] = '\0';
    return true;
}

/* Each value with its length, so that two fields are not one. */
static void add_fields(struct bide__sha256 *sum, const struct http1_head *req,
                       const char *bytes, enum http1_id id)
{
    bide__sha256_add(sum, &(uint8_t){ (uint8_t)id }, 1);
    for (unsigned i = 0; i < req->n_fields; i++) {
        const struct http1_field *f = &req->fields[i];
        if (f->id != id)
            continue;
        const uint8_t len[] = { (uint8_t)(f->value_len >> 8),
                                (uint8_t)f->value_len };
        bide__sha256_add(sum, len, sizeof len);
        bide__sha256_add(sum, bytes + f->value, f->value_len);
    }
}

/* The names, without the digest in front of them: a client whose certificate was
 * renewed is the same. */
static void add_names(struct bide__sha256 *sum, const char *certificate)
{
    const char *names = strchr(certificate, ';');
    if (!names)
        names = certificate;
    bide__sha256_add(sum, names, strlen(names));
}

void once_binding(const struct http1_head *req, const char *bytes,
                  const char *certificate, uint8_t digest[32])
{
    bool known = http1_has(req, HTTP1_ID_AUTHORIZATION);
    bool cookie = http1_has(req, HTTP1_ID_COOKIE);
    struct bide__sha256 sum;
    memset(digest, 0, 32);
    if (!known && !cookie && !certificate)
        return;
    bide__sha256_init(&sum);
    if (known || cookie)
        add_fields(&sum, req, bytes,
                   known ? HTTP1_ID_AUTHORIZATION : HTTP1_ID_COOKIE);
    else
        add_names(&sum, certificate);
    bide__sha256_end(&sum, digest);
}
