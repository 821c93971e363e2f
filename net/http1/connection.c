/* net/http1/connection.c: the options of Connection, and the fields it names.
 *
 *     Connection: close, x-trace-hop
 *
 * "close", "keep-alive" and "upgrade" are for the parser. Any other option is
 * the name of a hop-by-hop field. It is looked up when all fields are known,
 * because a field may come before the one that names it. */
#include "net/http1/framing.h"
#include "net/http1/scan.h"

/* Iterates over the options of a list; false at its end. */
struct list {
    const char *at, *end;
    const char *option;
    size_t len;
};

static bool next_option(struct list *l)
{
    while (l->at < l->end && (*l->at == ',' || *l->at == ' ' || *l->at == '\t'))
        l->at++;
    l->option = l->at;
    while (l->at < l->end && http1__is(*l->at, HTTP1_C_TOKEN))
        l->at++;
    l->len = (size_t)(l->at - l->option);
    return l->len > 0;
}

/* Blanks, then a comma or the end. */
static bool ends_well(struct list *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t'))
        l->at++;
    return l->at == l->end || *l->at == ',';
}

static struct list list_of(const char *buf, const struct http1_field *f)
{
    return (struct list){ .at = buf + f->value,
                          .end = buf + f->value + f->value_len };
}

/* Whether the option is one of the parser's own; records it if so. */
static bool own_option(struct http1_head *h, const struct list *l)
{
    if (HTTP1_IS_WORD(l->option, l->len, "close"))
        h->close_named = true;
    else if (HTTP1_IS_WORD(l->option, l->len, "keep-alive"))
        h->keep_alive_named = true;
    else if (HTTP1_IS_WORD(l->option, l->len, "upgrade"))
        h->upgrade_named = true;
    else
        return false;
    return true;
}

/* Dropping these would change where the message ends, or whom it is for. */
static bool never_dropped(enum http1_id id)
{
    return id == HTTP1_ID_HOST || id == HTTP1_ID_CONTENT_LENGTH ||
           id == HTTP1_ID_TRANSFER_ENCODING;
}

/* Records a field's name. Each costs a scan of all fields later: a limit keeps
 * that cheap. */
static int nominate(struct http1_head *h, const struct list *l)
{
    h->has_nominated_hop = true;
    if (never_dropped(http1_name_id(l->option, l->len)) ||
        h->nominated == HTTP1_NOMINATED)
        return HTTP1_ECONNECTION;
    h->nominated++;
    return 0;
}

int http1__connection(struct http1_head *h, const char *buf,
                      const struct http1_field *f)
{
    struct list l = list_of(buf, f);

    while (next_option(&l)) {
        if (!ends_well(&l))
            return HTTP1_ECONNECTION;
        if (!own_option(h, &l) && nominate(h, &l) < 0)
            return HTTP1_ECONNECTION;
    }
    return l.at == l.end ? 0 : HTTP1_ECONNECTION;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool same_token(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

static void drop_named(struct http1_head *h, const char *buf,
                       const struct list *l)
{
    enum http1_id id = http1_name_id(l->option, l->len);

    if (!http1_has(h, id))
        return;
    for (unsigned i = 0; i < h->n_fields; i++) {
        struct http1_field *f = &h->fields[i];

        if (f->id == id && f->name_len == l->len &&
            same_token(buf + f->line, l->option, l->len))
            f->hop = 1;
    }
}

void http1__nominated(struct http1_head *h, const char *buf)
{
    for (unsigned i = 0; h->fields && i < h->n_fields; i++) {
        struct list l = list_of(buf, &h->fields[i]);

        if (h->fields[i].id != HTTP1_ID_CONNECTION)
            continue;
        while (next_option(&l))
            if (!own_option(h, &l))
                drop_named(h, buf, &l);
    }
}
