/* net/http2/error.c: names and texts of errors. */
#include "net/http2/error.h"

static const char *const codes[] = {
#define X(name, value) [value] = #name,
    HTTP2_CODES(X)
#undef X
};

static const struct {
    const char *name, *text;
} whys[HTTP2_WHYS_N] = {
#define X(why, name, text) [HTTP2_WHY_##why] = { name, text },
    HTTP2_WHYS(X)
#undef X
};

const char *http2_code_name(uint32_t code)
{
    return code < sizeof codes / sizeof codes[0] ? codes[code] : "unknown";
}

const char *http2_why_name(enum http2_why why)
{
    return whys[(unsigned)why < HTTP2_WHYS_N ? why : 0].name;
}

const char *http2_why_text(enum http2_why why)
{
    return whys[(unsigned)why < HTTP2_WHYS_N ? why : 0].text;
}
