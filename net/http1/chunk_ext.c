/* net/http1/chunk_ext.c: chunk extensions, which no one uses and everyone must
 * be able to skip.
 *
 *     chunk-ext = *( ";" name [ "=" ( token / quoted-string ) ] )
 *
 * They are checked, because lax readers of them have been a vector for request
 * smuggling, and limited for the whole body, because they cost the sender
 * little and every reader something. Blanks around ";" and "=" are refused, and
 * backslashes in quotes: not every reader knows what they mean. */
#include "net/http1/chunk.h"
#include "net/http1/scan.h"

/* A name, its value or the whole extension has ended at c. */
static int behind(struct http1_body *b, char c)
{
    if (c == ';') {
        b->phase = HTTP1__EXT_NAME;
        b->ext_named = false;
        return 0;
    }
    if (c == '\r') {
        b->phase = HTTP1__SIZE_LF;
        return 0;
    }
    return c == '\n' ? HTTP1_EBARELF : HTTP1_ECHUNKEXT;
}

static int in_name(struct http1_body *b, char c)
{
    if (http1__is(c, HTTP1_C_TOKEN)) {
        b->ext_named = true;
        return 0;
    }
    if (!b->ext_named)
        return HTTP1_ECHUNKEXT;
    if (c != '=')
        return behind(b, c);
    b->phase = HTTP1__EXT_VALUE;
    return 0;
}

static int first_of_value(struct http1_body *b, char c)
{
    if (c == '"')
        b->phase = HTTP1__EXT_QUOTED;
    else if (http1__is(c, HTTP1_C_TOKEN))
        b->phase = HTTP1__EXT_TOKEN;
    else
        return HTTP1_ECHUNKEXT;
    return 0;
}

static int in_quotes(struct http1_body *b, char c)
{
    if (c == '"')
        b->phase = HTTP1__EXT_BEHIND;
    else if (!http1__is(c, HTTP1_C_QUOTED))
        return HTTP1_ECHUNKEXT;
    return 0;
}

int http1__chunk_ext(struct http1_body *b, char c)
{
    if (b->ext_bytes++ == HTTP1_EXT_BYTES)
        return HTTP1_ECHUNKEXT;
    switch (b->phase) {
    case HTTP1__EXT_NAME:
        return in_name(b, c);
    case HTTP1__EXT_VALUE:
        return first_of_value(b, c);
    case HTTP1__EXT_TOKEN:
        return http1__is(c, HTTP1_C_TOKEN) ? 0 : behind(b, c);
    case HTTP1__EXT_QUOTED:
        return in_quotes(b, c);
    default: /* HTTP1__EXT_BEHIND */
        return behind(b, c);
    }
}
