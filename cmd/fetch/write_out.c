/* --write-out: a text of the user's own at the end of each transfer, with curl's
 * variables, and two of bide's: %{attempts} and %{reason}. */
#include "cmd/fetch/write_out.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "cmd/common/output.h"
#include "cmd/fetch/args.h"
#include "cmd/fetch/fetch.h"
#include "cmd/fetch/transfer.h"

enum kind { TEXT, NUMBER, CODE, SIZE, TIME, OURS };

/* In the order of their names, as %{json} prints them. */
static const struct variable {
    const char *name;
    enum kind kind;
    CURLINFO info; /* unless it is ours */
} variables[] = {
    { "attempts", OURS, 0 },
    { "content_type", TEXT, CURLINFO_CONTENT_TYPE },
    { "errormsg", OURS, 0 },
    { "exitcode", OURS, 0 },
    { "filename_effective", OURS, 0 },
    { "http_code", CODE, CURLINFO_RESPONSE_CODE },
    { "http_connect", CODE, CURLINFO_HTTP_CONNECTCODE },
    { "http_version", OURS, 0 },
    { "local_ip", TEXT, CURLINFO_LOCAL_IP },
    { "local_port", NUMBER, CURLINFO_LOCAL_PORT },
    { "method", TEXT, CURLINFO_EFFECTIVE_METHOD },
    { "num_connects", NUMBER, CURLINFO_NUM_CONNECTS },
    { "num_headers", OURS, 0 },
    { "num_redirects", NUMBER, CURLINFO_REDIRECT_COUNT },
    { "proxy_ssl_verify_result", NUMBER, CURLINFO_PROXY_SSL_VERIFYRESULT },
    { "reason", OURS, 0 },
    { "redirect_url", TEXT, CURLINFO_REDIRECT_URL },
    { "referer", TEXT, CURLINFO_REFERER },
    { "remote_ip", TEXT, CURLINFO_PRIMARY_IP },
    { "remote_port", NUMBER, CURLINFO_PRIMARY_PORT },
    { "response_code", CODE, CURLINFO_RESPONSE_CODE },
    { "scheme", TEXT, CURLINFO_SCHEME },
    { "size_download", SIZE, CURLINFO_SIZE_DOWNLOAD_T },
    { "size_header", NUMBER, CURLINFO_HEADER_SIZE },
    { "size_request", NUMBER, CURLINFO_REQUEST_SIZE },
    { "size_upload", SIZE, CURLINFO_SIZE_UPLOAD_T },
    { "speed_download", SIZE, CURLINFO_SPEED_DOWNLOAD_T },
    { "speed_upload", SIZE, CURLINFO_SPEED_UPLOAD_T },
    { "ssl_verify_result", NUMBER, CURLINFO_SSL_VERIFYRESULT },
    { "time_appconnect", TIME, CURLINFO_APPCONNECT_TIME_T },
    { "time_connect", TIME, CURLINFO_CONNECT_TIME_T },
    { "time_namelookup", TIME, CURLINFO_NAMELOOKUP_TIME_T },
    { "time_pretransfer", TIME, CURLINFO_PRETRANSFER_TIME_T },
    { "time_redirect", TIME, CURLINFO_REDIRECT_TIME_T },
    { "time_starttransfer", TIME, CURLINFO_STARTTRANSFER_TIME_T },
    { "time_total", TIME, CURLINFO_TOTAL_TIME_T },
    { "url", OURS, 0 },
    { "url_effective", TEXT, CURLINFO_EFFECTIVE_URL },
    { "urlnum", OURS, 0 },
};

/* A value as text, and whether JSON has it as a number. */
struct value {
    const char *text; /* or NULL */
    bool number;
    char buffer[48];
};

/* ===== values ===== */

static const char *version_of(CURL *easy)
{
    long version = 0;

    curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
    switch (version) {
    case CURL_HTTP_VERSION_1_0:
        return "1.0";
    case CURL_HTTP_VERSION_1_1:
        return "1.1";
    case CURL_HTTP_VERSION_2_0:
        return "2";
    case CURL_HTTP_VERSION_3:
        return "3";
    default:
        return "0";
    }
}

/* Of the last response: the lines of its header with a colon. */
static int count_headers(const struct bide__out *head)
{
    const char *at = head->data, *end = at ? at + head->len : NULL;
    int n = 0;

    while (at && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline ? newline : end) - at);
        if (len > 5 && memcmp(at, "HTTP/", 5) == 0)
            n = 0;
        else
            n += memchr(at, ':', len) != NULL;
        at += len + (newline != NULL);
    }
    return n;
}

static const char *integer(struct value *v, long long n)
{
    snprintf(v->buffer, sizeof v->buffer, "%lld", n);
    v->number = true;
    return v->buffer;
}

static void own_value(const struct fetch_transfer *t, const char *name,
                      struct value *v)
{
    const bide_curl_result *r = &t->result;

    if (strcmp(name, "attempts") == 0)
        v->text = integer(v, r->attempts);
    else if (strcmp(name, "errormsg") == 0)
        v->text = r->code == CURLE_OK ? NULL
                  : t->error[0]       ? t->error
                                      : curl_easy_strerror(r->code);
    else if (strcmp(name, "exitcode") == 0)
        v->text = integer(v, t->exit);
    else if (strcmp(name, "filename_effective") == 0)
        v->text = t->saved_as ? t->saved_as : t->output;
    else if (strcmp(name, "http_version") == 0)
        v->text = version_of(t->easy);
    else if (strcmp(name, "num_headers") == 0)
        v->text = integer(v, count_headers(&t->head));
    else if (strcmp(name, "reason") == 0)
        v->text = bide_reason_name(r->reason);
    else if (strcmp(name, "url") == 0)
        v->text = t->url;
    else
        v->text = integer(v, (long long)t->index);
}

static void get_value(const struct fetch_transfer *t, const struct variable *x,
                      struct value *v)
{
    curl_off_t large = 0;
    char *text = NULL;
    long n = 0;

    *v = (struct value){ .number = x->kind != TEXT && x->kind != OURS };
    switch (x->kind) {
    case TEXT:
        curl_easy_getinfo(t->easy, x->info, &text);
        v->text = text;
        break;
    case NUMBER:
    case CODE:
        curl_easy_getinfo(t->easy, x->info, &n);
        snprintf(v->buffer, sizeof v->buffer, x->kind == CODE ? "%03ld" : "%ld",
                 n);
        v->text = v->buffer;
        break;
    case SIZE:
    case TIME:
        curl_easy_getinfo(t->easy, x->info, &large);
        if (x->kind == SIZE)
            snprintf(v->buffer, sizeof v->buffer, "%lld", (long long)large);
        else
            snprintf(v->buffer, sizeof v->buffer, "%lld.%06lld",
                     (long long)(large / 1000000),
                     (long long)(large % 1000000));
        v->text = v->buffer;
        break;
    case OURS:
        own_value(t, x->name, v);
    }
}

/* ===== printing ===== */

/* A code has its zeros for people; JSON has none in front. */
static const char *json_number(const char *text)
{
    while (text[0] == '0' && text[1] && text[1] != '.')
        text++;
    return text;
}

/* False: there is no memory for it, or it cannot be written. */
static bool print_json(const struct fetch_transfer *t, FILE *out)
{
    struct bide__out line = { 0 };
    struct bide__json j;

    bide__json_into(&j, &line);
    bide__json_object(&j, NULL);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        struct value v;
        get_value(t, &variables[i], &v);
        if (v.text && v.number)
            bide__json_raw(&j, variables[i].name, json_number(v.text));
        else
            bide__json_text(&j, variables[i].name, v.text);
    }
    bide__json_text(&j, "curl_version", curl_version());
    bide__json_end(&j);
    bool whole = !line.failed && fwrite(line.data, 1, line.len, out) == line.len;
    bide__out_done(&line);
    return whole;
}

/* %header{Name}, of the last response. */
static void print_header(const struct fetch_transfer *t, const char *name,
                         size_t len, FILE *out)
{
    const char *at = t->head.data, *end = at ? at + t->head.len : NULL;
    const char *found = NULL;
    size_t found_len = 0;

    while (at && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((newline ? newline : end) - at);
        if (n > 5 && memcmp(at, "HTTP/", 5) == 0)
            found = NULL;
        if (!found && n > len && at[len] == ':' &&
            strncasecmp(at, name, len) == 0) {
            found = at + len + 1;
            found_len = n - len - 1;
        }
        at += n + (newline != NULL);
    }
    while (found_len > 0 && isspace((unsigned char)*found)) {
        found++;
        found_len--;
    }
    while (found_len > 0 && isspace((unsigned char)found[found_len - 1]))
        found_len--;
    fwrite(found ? found : "", 1, found ? found_len : 0, out);
}

/* %{name}. False: nothing more is printed, as %{onerror} wants it. */
static bool print_variable(const struct fetch_transfer *t, const char *name,
                           size_t len, FILE **out, bool *ret_whole)
{
    struct value v;

    if (len == 7 && memcmp(name, "onerror", len) == 0)
        return t->exit != EXIT_OK;
    if (len == 6 && memcmp(name, "stdout", len) == 0)
        *out = stdout;
    else if (len == 6 && memcmp(name, "stderr", len) == 0)
        *out = stderr;
    else if (len == 4 && memcmp(name, "json", len) == 0)
        *ret_whole &= print_json(t, *out);
    else {
        for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
            if (strlen(variables[i].name) == len &&
                memcmp(variables[i].name, name, len) == 0) {
                get_value(t, &variables[i], &v);
                fputs(v.text ? v.text : "", *out);
                return true;
            }
        complain("fetch", "--write-out: there is no variable `%.*s`", (int)len,
                 name);
    }
    return true;
}

/* What stands at *at; false: the end. */
static bool print_next(const struct fetch_transfer *t, const char **at,
                       FILE **out, bool *ret_whole)
{
    const char *c = *at, *brace;
    static const char escapes[] = "nrt", meanings[] = "\n\r\t";
    const char *escape = *c == '\\' && c[1] ? strchr(escapes, c[1]) : NULL;

    *at = c + 1;
    if (escape) {
        putc(meanings[escape - escapes], *out);
        *at = c + 2;
    } else if (*c == '%' && c[1] == '%') {
        putc('%', *out);
        *at = c + 2;
    } else if (*c == '%' && c[1] == '{' && (brace = strchr(c, '}')) != NULL) {
        *at = brace + 1;
        return print_variable(t, c + 2, (size_t)(brace - c - 2), out,
                              ret_whole);
    } else if (strncmp(c, "%header{", 8) == 0 &&
               (brace = strchr(c, '}')) != NULL) {
        *at = brace + 1;
        print_header(t, c + 8, (size_t)(brace - c - 8), *out);
    } else {
        putc(*c, *out);
    }
    return true;
}

bool fetch_write_out(const struct fetch_transfer *t)
{
    const char *at = t->all->args->write_out;
    FILE *out = stdout;
    bool whole = true;

    if (!at || !t->easy)
        return true;
    while (*at && print_next(t, &at, &out, &whole))
        ;
    fflush(out);
    return whole;
}
