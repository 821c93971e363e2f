/* Requests for another protocol. */
#include "net/stream/switch.h"

#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/sha1.h"
#include "net/http1/scan.h"

/* RFC 6455, 1.3 and 4.1: a key is 24 letters. */
static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
enum { GUID = sizeof guid - 1, KEY_MOST = 64 };

_Static_assert(SWITCH_ACCEPT == BIDE__BASE64_SIZE(BIDE__SHA1_SIZE),
               "a digest in base64");

static bool is_named(const struct http1_field *f, const char *text,
                     const char *name)
{
    return f->name_len == strlen(name) &&
           strncasecmp(text + f->line, name, f->name_len) == 0;
}

const struct http1_field *switch_key(const struct http1_head *h,
                                     const char *text)
{
    for (unsigned i = 0; i < h->n_fields; i++) {
        const struct http1_field *f = &h->fields[i];
        if (is_named(f, text, "sec-websocket-key") ||
            is_named(f, text, "sec-websocket-accept"))
            return f;
    }
    return NULL;
}

static void answer_key(char accept[SWITCH_ACCEPT + 1], const char *key,
                       size_t len)
{
    uint8_t digest[BIDE__SHA1_SIZE];
    char both[KEY_MOST + GUID];
    if (len > KEY_MOST)
        return;
    memcpy(both, key, len);
    memcpy(both + len, guid, GUID);
    bide__sha1(both, len + GUID, digest);
    accept[bide__base64(accept, digest, sizeof digest)] = '\0';
}

bool switch_read(struct stream_switch *ret, const struct http1_head *h,
                 const char *text)
{
    const struct http1_field *f = http1_find(h, HTTP1_ID_UPGRADE);
    const struct http1_field *key = switch_key(h, text);
    size_t len = f->value_len;
    if (len == 0 || len > HTTP2_PROTOCOL ||
        http1__skip(text + f->value, 0, len, HTTP1_C_TOKEN) != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = text[f->value + i];
        ret->protocol[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    ret->protocol[len] = ret->accept[0] = '\0';
    if (key)
        answer_key(ret->accept, text + key->value, key->value_len);
    return true;
}
