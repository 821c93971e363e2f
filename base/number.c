/* number.c: the shortest text that reads back as the same number. */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *bide__number_digits(double x, char to[BIDE__NUMBER])
{
    for (int precision = 6; precision <= 17; precision++) {
        snprintf(to, BIDE__NUMBER, "%.*g", precision, x);
        if (strtod(to, NULL) == x)
            break;
    }
    for (char *c = to; *c; c++)
        if (!strchr("0123456789+-e", *c))
            *c = '.'; /* the locale's decimal comma */
    return to;
}

const char *bide__number(double x, char to[BIDE__NUMBER])
{
    if (x != floor(x) || fabs(x) >= 9007199254740992.0)
        return bide__number_digits(x, to);
    snprintf(to, BIDE__NUMBER, "%lld", (long long)x);
    return to;
}
