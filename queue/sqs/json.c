/* Finding parts of a JSON document, without building a tree. */
#include "queue/sqs/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"

static const char *skip_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* Behind the string whose quote is at p. */
static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\' && p + 1 < end)
            p++;
    return p < end ? p + 1 : end;
}

/* Behind the value at p, whatever it is. */
static const char *skip_value(const char *p, const char *end)
{
    int depth = 0;

    if (p < end && *p == '"')
        return skip_string(p, end);
    while (p < end) {
        if (*p == '"') {
            p = skip_string(p, end);
            continue;
        }
        if (*p == '{' || *p == '[')
            depth++;
        else if ((*p == '}' || *p == ']') && --depth <= 0)
            return depth == 0 ? p + 1 : p;
        else if (depth == 0 && (*p == ',' || *p == ' ' || *p == '\n'))
            return p;
        p++;
    }
    return end;
}

/* The next value of a list or an object whose first byte is `open`. */
static bool next(struct sq_value in, char open, size_t *at,
                 struct sq_value *ret)
{
    if (in.len == 0 || *in.at != open)
        return false;
    const char *end = in.at + in.len;
    const char *p = skip_blank(in.at + (*at ? *at : 1), end);
    if (p < end && *p == ',')
        p = skip_blank(p + 1, end);
    if (p >= end || *p == '}' || *p == ']')
        return false;
    ret->at = p;
    p = skip_value(p, end);
    ret->len = (size_t)(p - ret->at);
    *at = (size_t)(p - in.at);
    return ret->len > 0;
}

bool sq_next(struct sq_value list, size_t *at, struct sq_value *ret)
{
    return next(list, '[', at, ret);
}

bool sq_next_member(struct sq_value object, size_t *at, struct sq_value *name,
                    struct sq_value *ret)
{
    if (!next(object, '{', at, name) || *name->at != '"')
        return false;
    const char *end = object.at + object.len;
    const char *p = skip_blank(object.at + *at, end);
    if (p >= end || *p != ':')
        return false;
    p = skip_blank(p + 1, end);
    ret->at = p;
    p = skip_value(p, end);
    ret->len = (size_t)(p - ret->at);
    *at = (size_t)(p - object.at);
    return ret->len > 0;
}

bool sq_is(struct sq_value v, const char *text)
{
    size_t len = strlen(text);

    return v.len == len + 2 && *v.at == '"' && memcmp(v.at + 1, text, len) == 0;
}

struct sq_value sq_member(struct sq_value object, const char *name)
{
    struct sq_value is, v;

    for (size_t at = 0; sq_next_member(object, &at, &is, &v);)
        if (sq_is(is, name))
            return v;
    return (struct sq_value){ NULL, 0 };
}

char *sq_raw_copy(struct sq_value v)
{
    char *text = malloc(v.len + 1);

    if (!text)
        return NULL;
    if (v.len > 0)
        memcpy(text, v.at, v.len);
    text[v.len] = '\0';
    return text;
}

char *sq_text(struct sq_value v, size_t *ret_len)
{
    size_t len = 0;

    if (v.len == 0 || *v.at != '"')
        return NULL;
    struct bide__json_in in = bide__json_read(v.at, v.len);
    char *text = malloc(bide__json_in_longest(&in) + 1);
    if (!text || !bide__json_in_string(&in, text, &len)) {
        free(text);
        return NULL;
    }
    text[len] = '\0';
    if (ret_len)
        *ret_len = len;
    return text;
}

void sq_copy(struct sq_value v, char *to, size_t size)
{
    char *text = sq_text(v, NULL);

    snprintf(to, size, "%s", text ? text : "");
    free(text);
}

int64_t sq_number(struct sq_value v, int64_t otherwise)
{
    char digits[24];
    size_t quote = v.len > 0 && *v.at == '"';

    if (v.len == 4 && memcmp(v.at, "true", 4) == 0)
        return 1;
    if (v.len <= 2 * quote || v.len - 2 * quote >= sizeof digits)
        return otherwise;
    memcpy(digits, v.at + quote, v.len - 2 * quote);
    digits[v.len - 2 * quote] = '\0';
    char *end;
    long long n = strtoll(digits, &end, 10);
    return end != digits ? n : otherwise;
}
