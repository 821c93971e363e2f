/* Priorities of requests by a header field.
 *
 * RFC 9218 has urgencies from 0 (highest) to 7 (lowest), and 3 by default:
 * `Priority: u=5, i`. The words high, normal and low are understood too, for
 * custom fields. Any client may ask for less than normal; for more, a client
 * must be trusted, or all would. */
#include <string.h>
#include <strings.h>

#include "config/proxy/conf.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/request.h"
#include "proxy/exchange/route.h"
#include "proxy/front/client.h"

enum { URGENCY_NORMAL = 3, URGENCY_HIGH = 1, URGENCY_LOW = 5 };

/* A field that Connection names is hop-by-hop, and decides nothing. */
static const struct http1_field *find(const struct exchange *ex)
{
    const char *name = ex->route->conf->priority.header;
    size_t len = strlen(name);
    for (unsigned i = 0; i < ex->req.n_fields; i++) {
        const struct http1_field *f = &ex->fields[i];
        if (f->name_len == len && !f->hop &&
            strncasecmp(exchange_bytes(ex) + f->line, name, len) == 0)
            return f;
    }
    return NULL;
}

static bool is_word(const char *at, size_t len, const char *word)
{
    return len == strlen(word) && strncasecmp(at, word, len) == 0;
}

/* One member of the list; unknown members are ignored (RFC 9218, 4). */
static int read_member(const char *at, size_t len, int urgency)
{
    if (len == 3 && memcmp(at, "u=", 2) == 0 && at[2] >= '0' && at[2] <= '7')
        return at[2] - '0';
    if (is_word(at, len, "high"))
        return URGENCY_HIGH;
    if (is_word(at, len, "low"))
        return URGENCY_LOW;
    return urgency;
}

static int read_urgency(const char *at, size_t len)
{
    int urgency = URGENCY_NORMAL;
    const char *end = at + len;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        while (at < stop && (*at == ' ' || *at == '\t'))
            at++;
        const char *last = stop;
        while (last > at && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        urgency = read_member(at, (size_t)(last - at), urgency);
        at = stop + 1;
    }
    return urgency;
}

int8_t priority_of(const struct exchange *ex)
{
    const struct http1_field *f = find(ex);
    int urgency = URGENCY_NORMAL;
    if (f)
        urgency = read_urgency(exchange_bytes(ex) + f->value, f->value_len);
    if (urgency < URGENCY_NORMAL && !ex->client->trusted)
        urgency = URGENCY_NORMAL;
    return (int8_t)(URGENCY_NORMAL - urgency);
}
