/* What went wrong, in one line; in each module as well. */
#include <stdarg.h>
#include <stdio.h>

#include "queue/broker.h"

int broker_fail(struct broker *b, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(b->error, sizeof b->error, format, args);
    va_end(args);
    return status;
}
