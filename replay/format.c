/* The formats of access logs, compiled once.
 *
 * A format is literal text and fields, in the syntax of nginx ($status) or of
 * Apache (%>s). */
#include "replay/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/bide.h"

static const struct word {
    const char *name;
    enum field field;
} words[] = {
    { "$time_local", TIME_CLF },
    { "$time_iso8601", TIME_ISO },
    { "$msec", TIME_EPOCH },
    { "$status", STATUS },
    { "$request_time", LATENCY_S },
    { "$request_method", METHOD },
    { "$request", REQUEST },
    { "%t", TIME_CLF_BOX },
    { "%s", STATUS },
    { "%r", REQUEST },
    { "%m", METHOD },
    { "%D", LATENCY_US },
    { "%T", LATENCY_S },
    { NULL, ANY },
};

static const char common[] =
    "$remote_addr $ident $remote_user [$time_local] \"$request\" $status "
    "$body_bytes_sent";
static const char referer[] = " \"$http_referer\" \"$http_user_agent\"";

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

/* Reads a field's name; returns its end, or NULL if there is none. */
static const char *read_word(const char *at, enum field *ret)
{
    char name[64];
    size_t n = 0;
    name[n++] = *at++;
    if (name[0] == '$') {
        bool braces = *at == '{';
        for (at += braces; is_name(*at); at++)
            if (n < sizeof name - 1)
                name[n++] = *at;
        if (n == 1 || (braces && *at++ != '}'))
            return NULL;
    } else {
        while (*at == '>' || *at == '<' || *at == '!' || *at == ',' ||
               (*at >= '0' && *at <= '9'))
            at++;
        bool braces = *at == '{';
        if (braces) {
            at = strchr(at, '}');
            if (!at)
                return NULL;
            at++;
        }
        if (!is_name(*at))
            return NULL;
        name[n++] = braces ? '{' : *at;
        at++;
    }
    name[n] = '\0';
    const struct word *w = words;
    while (w->name && strcmp(w->name, name) != 0)
        w++;
    *ret = w->field;
    return at;
}

static bool add_part(struct replay_format *f, const char *text, size_t len,
                     enum field field)
{
    char *copy = malloc(len + 1);
    if (!copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    f->part[f->n++] = (struct part){ copy, len, field };
    return true;
}

static const char *compile(struct replay_format *f, const char *text)
{
    static const char no_memory[] = "out of memory";
    const char *from = text;
    while (*text) {
        enum field field;
        if (*text != '$' && *text != '%') {
            text++;
            continue;
        }
        const char *end = read_word(text, &field);
        if (!end)
            return "a `$` or `%` without a field's name behind it";
        if (f->n == PARTS_MAX)
            return "more than 64 fields";
        if (f->n != 0 && from == text)
            return "two fields with nothing between them";
        if (!add_part(f, from, (size_t)(text - from), field))
            return no_memory;
        from = text = end;
    }
    f->tail = strdup(from);
    f->tail_len = strlen(from);
    return f->tail ? NULL : no_memory;
}

/* The known formats may have a latency at the end of the line. */
static const char *append_rest(struct replay_format *f)
{
    if (!add_part(f, f->tail, f->tail_len, LATENCY_REST))
        return "out of memory";
    f->tail[0] = '\0';
    f->tail_len = 0;
    return NULL;
}

static const char *missing(const struct replay_format *f)
{
    bool time = f->json, status = f->json;
    for (size_t i = 0; i < f->n; i++) {
        time = time ||
               (f->part[i].field >= TIME_CLF && f->part[i].field <= TIME_EPOCH);
        status = status || f->part[i].field == STATUS;
    }
    if (!time)
        return "no time in it ($time_local, $time_iso8601, $msec or %t)";
    return status ? NULL : "no status in it ($status or %s)";
}

struct replay_format *replay_format_new(const char *text, const char **ret_why)
{
    struct replay_format *f = calloc(1, sizeof *f);
    bool combined = strcmp(text, "combined") == 0;
    bool known = combined || strcmp(text, "common") == 0;
    const char *why = f ? NULL : "out of memory";

    if (f && strcmp(text, "json") == 0) {
        f->json = true;
    } else if (f) {
        char both[sizeof common + sizeof referer];
        snprintf(both, sizeof both, "%s%s", common, combined ? referer : "");
        why = compile(f, known ? both : text);
        if (!why && known)
            why = append_rest(f);
    }
    if (!why)
        why = missing(f);
    if (!why)
        return f;
    replay_format_free(f);
    *ret_why = why;
    return NULL;
}

void replay_format_free(struct replay_format *f)
{
    for (size_t i = 0; f && i < f->n; i++)
        free(f->part[i].text);
    if (f)
        free(f->tail);
    free(f);
}
