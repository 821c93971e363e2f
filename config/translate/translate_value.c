/* translate_value.c: durations and percentages as other systems write them. */
#include "config/translate/translate_value.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "config/field/value.h"

/* Three, six or nine decimal places, or none: protobuf's canonical form. */
const char *bide__proto_duration(int64_t ns, char buffer[BIDE__DURATION_SIZE])
{
    long long s = (long long)(ns / BIDE_SECOND), rest = ns % BIDE_SECOND;
    const size_t size = BIDE__DURATION_SIZE;

    if (rest == 0)
        snprintf(buffer, size, "%llds", s);
    else if (rest % 1000000 == 0)
        snprintf(buffer, size, "%lld.%03llds", s, rest / 1000000);
    else if (rest % 1000 == 0)
        snprintf(buffer, size, "%lld.%06llds", s, rest / 1000);
    else
        snprintf(buffer, size, "%lld.%09llds", s, rest);
    return buffer;
}

void bide__put_proto_duration(struct bide__json *j, const char *key, int64_t ns)
{
    char buffer[BIDE__DURATION_SIZE];

    bide__json_text(j, key, bide__proto_duration(ns, buffer));
}

/* In a form that both Go and protobuf read, since there are versions of Istio
 * of both kinds, except that milliseconds are written as "ms". */
const char *bide__go_duration(int64_t ns, char buffer[BIDE__DURATION_SIZE])
{
    if (ns >= BIDE_SECOND || ns % BIDE_MILLISECOND != 0)
        return bide__proto_duration(ns, buffer);
    snprintf(buffer, BIDE__DURATION_SIZE, "%lldms",
             (long long)(ns / BIDE_MILLISECOND));
    return buffer;
}

/* Whether it is digits, optionally a point and at most nine digits, and `s`. */
static bool is_seconds(const char *text, size_t len)
{
    size_t dot = len;

    if (len < 2 || text[len - 1] != 's')
        return false;
    for (size_t i = 0; i + 1 < len; i++) {
        if (text[i] == '.' && dot == len)
            dot = i;
        else if (text[i] < '0' || text[i] > '9')
            return false;
    }
    return dot == len || len - dot <= 11;
}

/* The documents of gRPC also have ".1s". */
int bide__parse_proto_duration(const char *text, size_t len, int64_t *ret_ns)
{
    char longer[16] = "0";

    if (!is_seconds(text, len))
        return BIDE_EPARSE;
    if (text[0] != '.')
        return bide_parse_duration(text, len, ret_ns);
    memcpy(longer + 1, text, len); /* at most 11 */
    return bide_parse_duration(longer, len + 1, ret_ns);
}

/* Rounds to twelve places, so that 11.8 stays 11.8 and reads back as 0.118. */
double bide__percent(double ratio)
{
    return round(ratio * 1e12) / 1e10;
}

double bide__from_percent(double percent)
{
    return round(percent * 1e10) / 1e12;
}
