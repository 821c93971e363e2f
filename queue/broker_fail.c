/* What went wrong, in one line; in each module as well. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "queue/broker.h"

void broker_clean(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        bool control = *c < ' ' || *c == 127;
        if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) /* U+0080 to U+009F */
            c[0] = c[1] = '?';
        else if (control)
            *c = '?';
    }
}

int broker_fail(struct broker *b, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(b->error, sizeof b->error, format, args);
    va_end(args);
    for (size_t n = strlen(b->error); n > 0 && strchr(". \n", b->error[n - 1]);)
        b->error[--n] = '\0'; /* a server's own full stop */
    broker_clean(b->error);
    return status;
}
