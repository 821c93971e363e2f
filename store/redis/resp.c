/* Commands are written, replies scanned and read, as bytes in memory. */
#include "store/redis/resp.h"

#include <string.h>

/* ===== commands ===== */

static void put_count(struct bide__out *out, char kind, uint64_t n)
{
    bide__out_char(out, kind);
    bide__out_u64(out, n);
    bide__out_bytes(out, "\r\n", 2);
}

void redis_put_command(struct bide__out *out, unsigned n)
{
    put_count(out, '*', n);
}

void redis_put_bytes(struct bide__out *out, const void *bytes, size_t len)
{
    put_count(out, '$', len);
    bide__out_bytes(out, bytes, len);
    bide__out_bytes(out, "\r\n", 2);
}

void redis_put_text(struct bide__out *out, const char *text)
{
    redis_put_bytes(out, text, strlen(text));
}

void redis_put_int(struct bide__out *out, int64_t n)
{
    char text[21], *p = text + sizeof text;
    uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

    do
        *--p = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (n < 0)
        *--p = '-';
    redis_put_bytes(out, p, (size_t)(text + sizeof text - p));
}

/* ===== elements ===== */

/* The first line of an element, and what it announces. */
struct element {
    char kind;
    const char *line; /* what follows the kind, without CR LF */
    size_t line_len;
    size_t size;  /* with CR LF, and for a bulk string with its bytes */
    int64_t count; /* of bytes or of items; -1: nil */
};

static bool read_int(const char *text, size_t len, int64_t *ret)
{
    bool minus = len > 0 && text[0] == '-';
    uint64_t n = 0;

    if (len > 0 && (minus || text[0] == '+'))
        text++, len--;
    if (len == 0 || len > 19)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(text[i] - '0');
    }
    if (n > INT64_MAX)
        return false;
    *ret = minus ? -(int64_t)n : (int64_t)n;
    return true;
}

static bool is_bulk(char kind)
{
    return kind == '$' || kind == '!' || kind == '=';
}

static bool is_aggregate(char kind)
{
    return kind == '*' || kind == '~' || kind == '>' || kind == '%';
}

/* A line ends with CR LF; a status or an error may hold any other byte. */
static int find_line(const char *data, size_t len, struct element *e)
{
    const char *lf = len > 1 ? memchr(data + 1, '\n', len - 1) : NULL;

    if (!lf)
        return len > REDIS_MAX_LINE ? -1 : 0;
    if (lf == data + 1 || lf[-1] != '\r')
        return -1;
    e->kind = data[0];
    e->line = data + 1;
    e->line_len = (size_t)(lf - data) - 2;
    e->size = (size_t)(lf - data) + 1;
    e->count = 0;
    return 1;
}

/* 1: the element is whole, without the items of an aggregate. */
static int next_element(const char *data, size_t len, struct element *e)
{
    int found;

    if (len == 0)
        return 0;
    if (!memchr("+-:$*_,#!=(~>%", data[0], 14))
        return -1;
    found = find_line(data, len, e);
    if (found <= 0 || (!is_bulk(e->kind) && !is_aggregate(e->kind)))
        return found;
    if (!read_int(e->line, e->line_len, &e->count) || e->count < -1 ||
        e->count > REDIS_MAX_REPLY)
        return -1;
    if (is_aggregate(e->kind)) {
        if (e->kind == '%')
            e->count *= 2;
        return 1;
    }
    if (e->count < 0)
        return 1;
    e->line = data + e->size;
    e->line_len = (size_t)e->count;
    e->size += (size_t)e->count + 2;
    if (e->size > len)
        return 0;
    return memcmp(data + e->size - 2, "\r\n", 2) == 0 ? 1 : -1;
}

int redis_scan(struct redis_scan *scan, const char *data, size_t len)
{
    if (len == 0)
        return 0; /* nothing was read yet: `data` may be NULL */
    while (scan->wanted > 0) {
        struct element e;
        int found = next_element(data + scan->at, len - scan->at, &e);
        if (found == 0 && len > REDIS_MAX_REPLY)
            return -1;
        if (found <= 0)
            return found;
        scan->at += e.size;
        scan->wanted--;
        if (is_aggregate(e.kind) && e.count > 0)
            scan->wanted += (size_t)e.count;
        if (scan->at > REDIS_MAX_REPLY || scan->wanted > REDIS_MAX_REPLY)
            return -1;
    }
    return 1;
}

/* ===== replies ===== */

static void read_scalar(const struct element *e, struct redis_reply *ret)
{
    ret->text = e->line;
    ret->len = e->line_len;
    switch (e->kind) {
    case '+':
        ret->type = REDIS_STATUS;
        break;
    case '-':
    case '!':
        ret->type = REDIS_ERROR;
        break;
    case ':':
        ret->type = read_int(e->line, e->line_len, &ret->integer)
                        ? REDIS_INTEGER
                        : REDIS_NIL;
        break;
    case '#':
        ret->type = REDIS_INTEGER;
        ret->integer = e->line_len == 1 && e->line[0] == 't';
        break;
    case '_':
        ret->type = REDIS_NIL;
        break;
    default: /* $ = , ( */
        ret->type = e->count < 0 ? REDIS_NIL : REDIS_STRING;
        break;
    }
    if (e->kind == '=' && ret->type == REDIS_STRING && ret->len >= 4) {
        ret->text += 4; /* "txt:" */
        ret->len -= 4;
    }
}

static int read_at(const char *data, size_t len, size_t *at, int depth,
                   struct bide__arena *arena, struct redis_reply *ret)
{
    struct element e;

    if (next_element(data + *at, len - *at, &e) != 1)
        return -1;
    *ret = (struct redis_reply){ REDIS_NIL, 0, NULL, 0, NULL, 0 };
    *at += e.size;
    if (!is_aggregate(e.kind)) {
        read_scalar(&e, ret);
        return 0;
    }
    if (e.count < 0)
        return 0;
    /* An item takes three bytes or more, so this bounds the memory. */
    if (depth == REDIS_MAX_DEPTH || (uint64_t)e.count > (len - *at) / 3)
        return -1;
    ret->type = REDIS_ARRAY;
    ret->n = (size_t)e.count;
    if (ret->n == 0)
        return 0;
    struct redis_reply *items =
        bide__arena_alloc(arena, ret->n * sizeof *items);
    if (!items)
        return -1;
    ret->items = items;
    for (size_t i = 0; i < ret->n; i++)
        if (read_at(data, len, at, depth + 1, arena, &items[i]) < 0)
            return -1;
    return 0;
}

int redis_read_reply(const char *data, size_t len, struct bide__arena *arena,
                     struct redis_reply *ret)
{
    struct redis_reply reply;
    size_t at = 0;

    if (read_at(data, len, &at, 0, arena, &reply) < 0)
        return -1;
    *ret = reply;
    return 0;
}

bool redis_reply_begins(const struct redis_reply *reply, const char *text)
{
    size_t len = strlen(text);

    return (reply->type == REDIS_STATUS || reply->type == REDIS_ERROR ||
            reply->type == REDIS_STRING) &&
           reply->len >= len && memcmp(reply->text, text, len) == 0;
}

bool redis_reply_int(const struct redis_reply *reply, int64_t *ret)
{
    if (reply->type == REDIS_INTEGER) {
        *ret = reply->integer;
        return true;
    }
    return reply->type == REDIS_STRING &&
           read_int(reply->text, reply->len, ret);
}
