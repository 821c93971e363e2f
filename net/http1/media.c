/* What a message is. */
#include "net/http1/media.h"

#include <strings.h>

bool http1_is_grpc(const struct http1_head *head, const char *text)
{
    static const char type[] = "application/grpc";
    const size_t len = sizeof type - 1;
    if (!http1_has(head, HTTP1_ID_CONTENT_TYPE))
        return false;
    const struct http1_field *f = http1_find(head, HTTP1_ID_CONTENT_TYPE);
    const char *value = text + f->value;
    return f->value_len >= len && strncasecmp(value, type, len) == 0 &&
           (f->value_len == len || value[len] == '+' || value[len] == ';');
}
