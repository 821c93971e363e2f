/* Resumes an interrupted download: Range requests the rest, If-Range says of
 * which version. The range starts one byte before what is missing, so that it
 * is never empty, and that byte must be the same. If anything does not match,
 * the whole file is requested again. */
#include "cmd/fetch/resume.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bide/hint.h"
#include "cmd/fetch/names.h"
#include "cmd/fetch/sink.h"

/* ===== the header of a response ===== */

/* Copies a value if it fits. */
static void keep(char *out, size_t size, const char *value, size_t len)
{
    if (len < size) {
        memcpy(out, value, len);
        out[len] = '\0';
    }
}

/* "bytes 100-199/1000" or ".../\*" */
static void take_range(struct fetch_head *h, const char *value)
{
    long long first, last, size;
    int n = sscanf(value, "bytes %lld-%lld/%lld", &first, &last, &size);

    if (n < 2 || first < 0 || last < first)
        return;
    h->range_first = first;
    h->range_size = n == 3 ? size : -1;
}

void fetch_head_line(struct fetch_head *h, const char *line, size_t len)
{
    char text[512];
    const char *colon, *value;

    while (len > 0 && isspace((unsigned char)line[len - 1]))
        len--;
    if (len > 5 && memcmp(line, "HTTP/", 5) == 0) {
        *h = (struct fetch_head){ .length = -1, .range_first = -1,
                                  .range_size = -1 };
        keep(text, sizeof text, line, len < 500 ? len : 500);
        sscanf(text, "%*s %ld", &h->status);
        return;
    }
    if (len >= sizeof text)
        return;
    keep(text, sizeof text, line, len);
    colon = strchr(text, ':');
    if (!colon)
        return;
    value = colon + 1 + strspn(colon + 1, " \t");
    size_t name = (size_t)(colon - text), n = strlen(value);
    if (name == 4 && strncasecmp(text, "ETag", name) == 0)
        keep(h->etag, sizeof h->etag, value, n);
    else if (name == 13 && strncasecmp(text, "Last-Modified", name) == 0)
        keep(h->modified, sizeof h->modified, value, n);
    else if (name == 4 && strncasecmp(text, "Date", name) == 0)
        keep(h->date, sizeof h->date, value, n);
    else if (name == 19 && strncasecmp(text, "Content-Disposition", name) == 0)
        fetch_disposition_name(value, h->filename, sizeof h->filename);
    else if (name == 13 && strncasecmp(text, "Content-Range", name) == 0)
        take_range(h, value);
    else if (name == 14 && strncasecmp(text, "Content-Length", name) == 0)
        h->length = isdigit((unsigned char)*value) ? atoll(value) : -1;
}

/* ===== validators ===== */

/* A date identifies a version only if there can be no second version in the
 * same second: the response must be newer (RFC 9110, 8.8.2.2). */
static bool date_is_strong(const struct fetch_head *h)
{
    int64_t modified, date;

    return bide_http_date(h->modified, strlen(h->modified), 0, &modified) ==
               0 &&
           bide_http_date(h->date, strlen(h->date), 0, &date) == 0 &&
           modified < date;
}

/* The value for If-Range; "" if there is none. */
static const char *validator_of(const struct fetch_head *h)
{
    if (h->etag[0] == '"')
        return h->etag;
    if (h->etag[0] == '\0' && date_is_strong(h))
        return h->modified;
    return "";
}

/* A 206 need not repeat the validator, but must not have another one. */
static bool same_version(const struct fetch_resume *r)
{
    const struct fetch_head *h = &r->head;

    if (!r->validator[0])
        return true; /* it is the first that we hear of */
    if (r->validator[0] == '"')
        return !h->etag[0] || strcmp(h->etag, r->validator) == 0;
    return !h->modified[0] || strcmp(h->modified, r->validator) == 0;
}

/* ===== requests and responses ===== */

void fetch_resume_cancel(struct fetch_resume *r, CURL *easy)
{
    r->asked = false;
    r->validator[0] = '\0';
    snprintf(r->field, sizeof r->field, "If-Range:"); /* empty: not sent */
    curl_easy_setopt(easy, CURLOPT_RANGE, NULL);
}

static void ask_for_rest(struct fetch_resume *r, const struct fetch_sink *s,
                         CURL *easy)
{
    r->asked = true;
    r->from = s->size - 1;
    snprintf(r->range, sizeof r->range, "%lld-", (long long)r->from);
    curl_easy_setopt(easy, CURLOPT_RANGE, r->range);
}

void fetch_resume_continue(struct fetch_resume *r, const struct fetch_sink *s,
                           CURL *easy)
{
    if (!r->possible || s->size == 0)
        return;
    r->size = -1;
    r->continues = true;
    ask_for_rest(r, s, easy);
}

bool fetch_resume_prepare(struct fetch_resume *r, struct fetch_sink *s,
                          CURL *easy)
{
    if (!r->possible || !r->validator[0] || s->size == 0) {
        fetch_resume_cancel(r, easy);
        return fetch_sink_empty(s);
    }
    snprintf(r->field, sizeof r->field, "If-Range: %s", r->validator);
    ask_for_rest(r, s, easy);
    return true;
}

static bool fits(const struct fetch_resume *r, const struct fetch_sink *s,
                 char first)
{
    int known = fetch_sink_byte(s, r->from);

    return r->head.range_first == (long long)r->from && same_version(r) &&
           (r->size < 0 || r->head.range_size < 0 ||
            r->size == r->head.range_size) &&
           (known < 0 || known == (unsigned char)first);
}

int fetch_resume_begin(struct fetch_resume *r, struct fetch_sink *s, char first)
{
    if (r->asked && r->head.status == 206) {
        if (!fits(r, s, first)) {
            r->distrusted = true;
            return -1;
        }
        r->saved = r->from;
        if (!r->validator[0])
            snprintf(r->validator, sizeof r->validator, "%s",
                     validator_of(&r->head));
        r->size = r->size < 0 ? r->head.range_size : r->size;
        return 1;
    }
    /* The whole file: the first time, or because there is another version. */
    if (!fetch_sink_empty(s))
        return -1;
    r->validator[0] = '\0';
    r->size = r->head.length;
    if (r->head.status == 200)
        snprintf(r->validator, sizeof r->validator, "%s",
                 validator_of(&r->head));
    return 0;
}

bool fetch_resume_end(struct fetch_resume *r, struct fetch_sink *s,
                      bool has_body)
{
    bool rest = r->asked && r->head.status == 206;

    if (!has_body && !rest)
        return fetch_sink_empty(s);
    if (rest && (!has_body || (r->size >= 0 && r->size != s->size)))
        r->distrusted = true;
    return !r->distrusted;
}
