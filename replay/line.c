/* One line of an access log, matched against its format.
 *
 * A field extends to the text that follows it; one between double quotes may
 * contain any text with quotes escaped by a backslash. Lines come from anyone
 * who can send a request: what does not match is reported, never guessed. */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <string.h>

#include "bide/bide.h"
#include "replay/format.h"
#include "replay/log.h"
#include "replay/instant.h"

/* Where the field that begins at `at` ends: before the text that follows it. */
static const char *field_end(const struct replay_format *f, size_t i,
                             const char *at, const char *end)
{
    const struct part *next = i + 1 < f->n ? &f->part[i + 1] : NULL;
    const char *text = next ? next->text : f->tail;
    if (*text == '\0' && next) { /* LATENCY_REST, with its own space */
        const char *space = memchr(at, ' ', (size_t)(end - at));
        return space ? space : end;
    }
    if (*text == '\0')
        return end;
    if (f->part[i].field == TIME_CLF_BOX && at < end && *at == '[') {
        const char *close = memchr(at, ']', (size_t)(end - at));
        return close ? close + 1 : NULL;
    }
    if (f->part[i].field == LEAD)
        return memmem(at, (size_t)(end - at), " [", 2);
    for (; at < end && *at != *text; at++)
        if (*at == '\\' && *text == '"' && at + 1 < end)
            at++;
    return at < end ? at : NULL;
}

static int latency(struct replay_line *line, const char *at, size_t len,
                   int64_t unit_ns)
{
    int64_t ns;
    if (replay_decimal(at, len, unit_ns, &ns) < 0)
        return BIDE_EPARSE;
    int64_t us = ns / 1000;
    line->latency_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
    return 0;
}

/* nginx writes seconds with a dot, Apache's %D whole microseconds. */
static int latency_rest(struct replay_line *line, const char *at, size_t len)
{
    bool seconds = memchr(at, '.', len) != NULL;
    line->at_end = seconds; /* nginx logs the end of a request */
    return latency(line, at, len, seconds ? BIDE_SECOND : 1000);
}

/* 10/0/30/69/109, in milliseconds; with `+` the response was still under way.
 * -1: it did not come to that. */
static int latency_last(struct replay_line *line, const char *at, size_t len)
{
    const char *last = memrchr(at, '/', len);
    size_t n;
    if (!last)
        return BIDE_EPARSE;
    last++;
    n = len - (size_t)(last - at);
    if (n == 2 && memcmp(last, "-1", 2) == 0)
        return 0;
    if (n > 0 && *last == '+') {
        last++;
        n--;
    }
    int rc = latency(line, last, n, BIDE_MILLISECOND);
    return rc < 0 ? rc : 1;
}

static bool idempotent(const char *at, size_t len)
{
    char method[8] = "";
    size_t n = 0;
    while (n < len && n < sizeof method - 1 && at[n] != ' ')
        n++;
    memcpy(method, at, n);
    return bide_method_idempotent(method);
}

static void rest_of_haproxy(struct replay_line *line, const char *at,
                            size_t len)
{
    const char *quote = memchr(at, '"', len);
    if (quote)
        line->idempotent =
            idempotent(quote + 1, len - (size_t)(quote + 1 - at));
}

/* HAProxy writes -1 and Envoy 0 if the client went away before there was a
 * response; nginx calls that 499. */
static int status(struct replay_line *line, const char *at, size_t len)
{
    int64_t n;
    if ((len == 1 && *at == '0') || (len == 2 && memcmp(at, "-1", 2) == 0)) {
        line->met = 499;
        return 0;
    }
    if (len != 3 || replay_decimal(at, len, 1, &n) < 0 || n < 100 || n > 999)
        return BIDE_EPARSE;
    line->met = (uint16_t)n;
    return 0;
}

/* In the three ways that nginx has. */
static int time_end(struct replay_line *line, const char *at, size_t len)
{
    bool whole = true;
    int rc = replay_time_clf(at, len, &line->at_ns);
    if (rc < 0)
        rc = replay_time_iso(at, len, &line->at_ns, &whole);
    line->whole_second = whole;
    line->at_end = true;
    if (rc == 0)
        return rc;
    line->whole_second = !memchr(at, '.', len);
    return replay_time_epoch(at, len, &line->at_ns);
}

/* 06/Feb/2009:12:14:14.655, in the zone of the machine, which is not said: UTC
 * will do, as only differences count. */
static int time_haproxy(struct replay_line *line, const char *at, size_t len)
{
    char date[32];
    int64_t ms;
    if (len != 24 || at[20] != '.' ||
        replay_decimal(at + 21, 3, BIDE_MILLISECOND, &ms) < 0)
        return BIDE_EPARSE;
    snprintf(date, sizeof date, "%.20s +0000", at);
    int rc = replay_time_clf(date, strlen(date), &line->at_ns);
    line->at_ns += ms;
    return rc;
}

/* 1 if it was a latency. */
static int take_field(struct replay_line *line, enum field field,
                      const char *at, size_t len)
{
    bool whole = true;
    int rc = 0;
    switch (field) {
    case TIME_CLF_BOX:
        if (len < 2 || at[0] != '[' || at[len - 1] != ']')
            return BIDE_EPARSE;
        at++;
        len -= 2;
        /* fallthrough */
    case TIME_CLF:
        rc = replay_time_clf(at, len, &line->at_ns);
        line->whole_second = true;
        return rc;
    case TIME_ISO:
        rc = replay_time_iso(at, len, &line->at_ns, &whole);
        line->whole_second = whole;
        return rc;
    case TIME_EPOCH:
        line->whole_second = !memchr(at, '.', len);
        return replay_time_epoch(at, len, &line->at_ns);
    case TIME_END:
        return time_end(line, at, len);
    case TIME_HAPROXY:
        return time_haproxy(line, at, len);
    case STATUS:
        return status(line, at, len);
    case REQUEST:
    case METHOD:
        line->idempotent = idempotent(at, len);
        return 0;
    case REQUEST_REST:
        rest_of_haproxy(line, at, len);
        return 0;
    case LATENCY_S:
    case LATENCY_MS:
    case LATENCY_US:
        if (len == 1 && *at == '-')
            return 0;
        rc = latency(line, at, len,
                     field == LATENCY_S    ? BIDE_SECOND
                     : field == LATENCY_MS ? BIDE_MILLISECOND
                                           : 1000);
        return rc < 0 ? rc : 1;
    case LATENCY_LAST:
        return latency_last(line, at, len);
    case LATENCY_REST:
        if (len == 0 || *at != ' ')
            return 0; /* something else: no latency */
        return latency_rest(line, at + 1, len - 1) == 0;
    default:
        return 0;
    }
}

static const char *why_not(enum field field)
{
    if (field >= TIME_CLF && field <= TIME_HAPROXY)
        return "no time where it should be";
    return field == STATUS ? "no status where it should be"
                           : "no latency where it should be";
}

int replay_format_line(const struct replay_format *f, const char *text,
                       size_t len, struct replay_line *ret,
                       bool *ret_has_latency, const char **ret_why)
{
    struct replay_line line = { .idempotent = true };
    const char *at = text, *end = text + len;

    *ret_has_latency = false;
    *ret_why = "not in this format";
    if (f->json)
        return replay_log_json(text, len, ret, ret_has_latency, ret_why);
    for (size_t i = 0; i < f->n; i++) {
        const struct part *p = &f->part[i];
        if ((size_t)(end - at) < p->len || memcmp(at, p->text, p->len) != 0)
            return BIDE_EPARSE;
        at += p->len;
        const char *stop = field_end(f, i, at, end);
        int rc = stop ? take_field(&line, p->field, at, (size_t)(stop - at))
                      : BIDE_EPARSE;
        if (rc < 0) {
            if (stop)
                *ret_why = why_not(p->field);
            return BIDE_EPARSE;
        }
        *ret_has_latency = *ret_has_latency || rc == 1;
        at = stop;
    }
    if ((size_t)(end - at) != f->tail_len || memcmp(at, f->tail, f->tail_len))
        return BIDE_EPARSE;
    *ret = line;
    return 0;
}
