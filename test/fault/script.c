/* Reading scripts: the grammar is told in server.c. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static uint64_t hash(const char *text, uint64_t seed)
{
    uint64_t h = mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    for (; *text; text++)
        h = mix(h ^ (unsigned char)*text) + 1;
    return h;
}

/* ===== options ===== */

static enum place place_of(const char *value)
{
    return strcmp(value, "head") == 0 ? IN_HEAD : IN_BODY;
}

static void end_it(struct step *s, enum ending ending, enum place where)
{
    s->ending = ending;
    s->where = where;
}

static void add_field(struct step *s, const char *name, int name_len,
                      const char *value)
{
    size_t len = strlen(s->head);
    snprintf(s->head + len, sizeof s->head - len, "%.*s: %s\r\n", name_len,
             name, value);
}

static void add_header(struct step *s, const char *field)
{
    const char *colon = strchr(field, ':');
    if (colon)
        add_field(s, field, (int)(colon - field),
                  colon + 1 + strspn(colon + 1, " "));
}

static void set_body(struct step *s, const char *text)
{
    snprintf(s->text, sizeof s->text, "%s", text);
    s->body = s->text;
    s->body_len = strlen(s->text);
}

static void set_size(struct step *s, const char *value)
{
    s->body = NULL;
    s->body_len = (size_t)strtoull(value, NULL, 10);
}

static void take_option(struct step *s, const char *name, const char *value)
{
    if (strcmp(name, "h") == 0)
        add_header(s, value);
    else if (strcmp(name, "body") == 0)
        set_body(s, value);
    else if (strcmp(name, "n") == 0)
        set_size(s, value);
    else if (strcmp(name, "wait") == 0)
        s->wait_ms = atol(value);
    else if (strcmp(name, "pause") == 0)
        s->pause_ms = atol(value);
    else if (strcmp(name, "trickle") == 0)
        s->trickle_ms = atol(value);
    else if (strcmp(name, "lie") == 0)
        s->lie = atol(value);
    else if (strcmp(name, "stall") == 0)
        end_it(s, END_STALL, place_of(value));
    else if (strcmp(name, "cut") == 0)
        end_it(s, END_CLOSE, place_of(value));
    else if (strcmp(name, "rst") == 0)
        end_it(s, END_RESET, place_of(value));
    else if (strcmp(name, "last") == 0)
        end_it(s, END_CLOSE, AT_END);
    else if (strcmp(name, "chunked") == 0)
        s->chunked = true;
    else if (strcmp(name, "early") == 0)
        s->early = true;
    else if (strcmp(name, "to") == 0)
        add_field(s, "Location", 8, value);
}

/* ===== steps ===== */

static bool take_what(struct step *s, const char *what)
{
    char text[32];
    s->status = 200;
    if (isdigit((unsigned char)what[0])) {
        s->status = atoi(what);
        snprintf(text, sizeof text, "status %d\n", s->status);
        set_body(s, text);
        return s->status >= 100 && s->status <= 999;
    }
    if (strcmp(what, "close") == 0)
        end_it(s, END_CLOSE, AT_START);
    else if (strcmp(what, "reset") == 0)
        end_it(s, END_RESET, AT_START);
    else if (strcmp(what, "stall") == 0)
        end_it(s, END_STALL, AT_START);
    else
        return false;
    return true;
}

/* Fails or works by chance: always the same for the same seed, id and nth. */
static void draw(struct step *s, const char *options, const char *id,
                 unsigned nth)
{
    static const char *const failures[] = { "500", "503", "502", "close",
                                            "reset", "200" };
    char value[32];
    unsigned p = query_value(options, "p", value, sizeof value)
                     ? (unsigned)atoi(value) : 30;
    uint64_t seed = query_value(options, "seed", value, sizeof value)
                        ? strtoull(value, NULL, 10) : 1;
    uint64_t h = hash(id, seed * 1000003 + nth);
    bool fails = h % 100 < p;
    const char *what = failures[(h >> 32) % 6];
    take_what(s, fails ? what : "200");
    if (fails && s->status == 200 && s->ending == END_KEEP)
        end_it(s, END_CLOSE, IN_BODY);
}

static bool take_step(struct step *s, char *text, const char *id, unsigned nth)
{
    char *options = text + strcspn(text, ";");
    char value[VALUE_MAX];
    if (*options)
        *options++ = '\0';
    for (char *c = options; *c; c++)
        *c = *c == ';' ? '&' : *c; /* they read like a query */
    if (strcmp(text, "rand") == 0)
        draw(s, options, id, nth);
    else if (!take_what(s, text))
        return false;
    for (char *o = strtok(options, "&"); o; o = strtok(NULL, "&")) {
        char *equals = strchr(o, '=');
        if (equals)
            *equals++ = '\0';
        url_decode(equals ? equals : "", equals ? strlen(equals) : 0, value,
                   sizeof value);
        take_option(s, o, value);
    }
    return true;
}

bool script_step(const char *path, const char *id, unsigned nth,
                 struct step *ret)
{
    char text[8192];
    if (strncmp(path, "/s/", 3) != 0)
        return false;
    const char *at = path + 3;
    for (unsigned i = 1; i < nth && strchr(at, ','); i++)
        at = strchr(at, ',') + 1;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(at, ","), at);
    memset(ret, 0, sizeof *ret);
    return take_step(ret, text, id, nth);
}
