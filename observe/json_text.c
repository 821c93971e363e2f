/* Quoting for JSON. Most strings need no escape: runs are copied whole. */
#include "json_text.h"

#include <string.h>

#include "../config/utf8.h"

static bool plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void escape(struct bide__out *out, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *at = c ? strchr(from, c) : NULL;

    bide__out_char(out, '\\');
    if (at) {
        bide__out_char(out, to[at - from]);
        return;
    }
    bide__out_text(out, "u00");
    bide__out_hex(out, &c, 1);
}

void bide__json_quote_n(struct bide__out *out, const char *text, size_t len)
{
    bide__out_char(out, '"');
    for (size_t i = 0; i < len;) {
        size_t run = i;
        while (run < len && plain((unsigned char)text[run]))
            run++;
        bide__out_bytes(out, text + i, run - i);
        if ((i = run) == len)
            break;
        unsigned char c = (unsigned char)text[i];
        size_t n = bide__utf8_next(text + i, len - i, NULL);
        if (n == 0)
            bide__out_text(out, "\xef\xbf\xbd");
        else if (n == 1)
            escape(out, c);
        else
            bide__out_bytes(out, text + i, n);
        i += n ? n : 1;
    }
    bide__out_char(out, '"');
}

void bide__json_quote(struct bide__out *out, const char *text)
{
    bide__json_quote_n(out, text, strlen(text));
}
