/* Bytes that grow. Out of memory ends the server: it is a test's. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

void bytes_add(struct bytes *b, const void *data, size_t len)
{
    if (len > b->cap - b->len) {
        b->cap = (b->len + len) * 2;
        b->at = realloc(b->at, b->cap);
        if (!b->at)
            abort();
    }
    if (len)
        memcpy(b->at + b->len, data, len);
    b->len += len;
}

void bytes_addf(struct bytes *b, const char *format, ...)
{
    char line[STEP_HEAD_MAX + 512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n >= (int)sizeof line)
        abort(); /* its makers know how long a line can get */
    bytes_add(b, line, (size_t)n);
}

void bytes_skip(struct bytes *b, size_t len)
{
    if (len == 0)
        return;
    memmove(b->at, b->at + len, b->len - len);
    b->len -= len;
}

void bytes_free(struct bytes *b)
{
    free(b->at);
    *b = (struct bytes){ 0 };
}
