/* The formats of access logs, compiled once.
 *
 * A format is literal text and fields, in the syntax of nginx ($status), of
 * Apache (%>s) or of Envoy (%RESPONSE_CODE%). nginx logs the end of a request,
 * the others its beginning. */
#include "replay/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/bide.h"

static const struct word {
    const char *name;
    enum field field;
} words[] = {
    { "$time_local", TIME_END },
    { "$time_iso8601", TIME_END },
    { "$msec", TIME_END },
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
    { "%START_TIME", TIME_ISO },
    { "%RESPONSE_CODE", STATUS },
    { "%REQ(:METHOD)", METHOD },
    { "%DURATION", LATENCY_MS },
    { "$clf_time", TIME_CLF }, /* from here on: for the formats below */
    { "$haproxy_time", TIME_HAPROXY },
    { "$haproxy_timers", LATENCY_LAST },
    { "$lead", LEAD },
    { "$request_rest", REQUEST_REST },
    { NULL, ANY },
};

/* clang-format off */
#define COMMON                                                                 \
    "$host $ident $user [$clf_time] \"$request\" $status $bytes"
#define REFERER " \"$http_referer\" \"$http_user_agent\""
#define ENVOY                                                                  \
    "[%START_TIME%] \"%REQ(:METHOD)% %REQ(:PATH)% %PROTOCOL%\" "               \
    "%RESPONSE_CODE% %RESPONSE_FLAGS% "
#define ENVOY_REST "%BYTES_RECEIVED% %BYTES_SENT% %DURATION% %REST%"

/* What the servers write unless they are told otherwise. A latency may follow
 * where one is usually added. */
static const struct known {
    const char *name, *format;
    bool latency;
} known[] = {
    { "combined", COMMON REFERER, true },
    { "common", COMMON, true },
    { "istio",
      ENVOY "%RESPONSE_CODE_DETAILS% %TERMINATION% \"%FAILURE%\" " ENVOY_REST,
      false },
    { "envoy", ENVOY ENVOY_REST, false },
    { "haproxy",
      "$lead [$haproxy_time] $frontend $server $haproxy_timers $status "
      "$request_rest",
      false },
};
/* clang-format on */
enum { N_KNOWN = sizeof known / sizeof known[0] };

const char *const replay_format_names[] = { "json",  "combined", "common",
                                            "istio", "envoy",    "haproxy",
                                            NULL };

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

static enum field field_named(const char *name)
{
    const struct word *w = words;
    while (w->name && strcmp(w->name, name) != 0)
        w++;
    return w->field;
}

/* Where the `%` at the end of an operator of Envoy stands (%REQ(:METHOD)%), or
 * NULL: it is a field of Apache. */
static const char *operator_end(const char *at)
{
    size_t n = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (n < 2)
        return NULL;
    if (at[n] == '(')
        n += strcspn(at + n, ")") + 1;
    return strlen(at) > n && at[n] == '%' ? at + n : NULL;
}

/* Reads a field's name; returns its end, or NULL if there is none. */
static const char *read_word(const char *at, enum field *ret)
{
    char name[64];
    size_t n = 0;
    const char *last = *at == '%' ? operator_end(at + 1) : NULL;
    if (last) {
        snprintf(name, sizeof name, "%.*s", (int)(last - at), at);
        *ret = field_named(name);
        return last + 1;
    }
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
    *ret = field_named(name);
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
        time = time || (f->part[i].field >= TIME_CLF &&
                        f->part[i].field <= TIME_HAPROXY);
        status = status || f->part[i].field == STATUS;
    }
    if (!time)
        return "no time in it ($time_local, $time_iso8601, $msec, %t or "
               "%START_TIME%)";
    return status ? NULL : "no status in it ($status, %s or %RESPONSE_CODE%)";
}

struct replay_format *replay_format_new(const char *text, const char **ret_why)
{
    struct replay_format *f = calloc(1, sizeof *f);
    const char *why = f ? NULL : "out of memory";
    const struct known *k = known;

    while (k < known + N_KNOWN && strcmp(text, k->name) != 0)
        k++;
    if (f && strcmp(text, "json") == 0) {
        f->json = true;
    } else if (f) {
        bool named = k < known + N_KNOWN;
        why = compile(f, named ? k->format : text);
        if (!why && named && k->latency)
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
