/* Names of files, from URLs, flags and servers; and URLs made of them. */
#include "cmd/fetch/names.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/fetch/args.h"

/* ===== URLs ===== */

/* Parses a URL as libcurl does, with its defaults for missing parts. */
static CURLU *parse(const char *url)
{
    CURLU *u = curl_url();

    if (u && curl_url_set(u, CURLUPART_URL, url, CURLU_GUESS_SCHEME) == 0)
        return u;
    curl_url_cleanup(u);
    return NULL;
}

bool fetch_origin(const char *url, char *buffer, size_t size)
{
    char *scheme = NULL, *host = NULL, *port = NULL;
    CURLU *u = parse(url);
    bool fine = u && curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == 0 &&
                curl_url_get(u, CURLUPART_HOST, &host, 0) == 0 &&
                curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == 0;

    if (fine)
        snprintf(buffer, size, "%s://%.250s:%s", scheme, host, port);
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(u);
    return fine;
}

/* The caller frees it. */
static char *path_of(const char *url)
{
    char *part = NULL, *path;
    CURLU *u = parse(url);

    if (u)
        curl_url_get(u, CURLUPART_PATH, &part, 0);
    path = part ? strdup(part) : NULL;
    curl_free(part);
    curl_url_cleanup(u);
    return path;
}

char *fetch_remote_name(const char *url)
{
    char *path = path_of(url);
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : "";
    bool usable = *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
                  strlen(name) < NAME_MAX;
    char *copy = usable ? strdup(name) : NULL;

    free(path);
    return copy;
}

char *fetch_upload_url(const char *url, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char *at = path_of(url), *whole = NULL;
    size_t len = at ? strlen(at) : 0;
    bool directory = len > 0 && at[len - 1] == '/' && !strchr(url, '?') &&
                     strcmp(path, "-") != 0;
    char *quoted = directory ? curl_easy_escape(NULL, name, 0) : NULL;

    free(at);
    if (!quoted)
        return strdup(url);
    len = strlen(url);
    if (asprintf(&whole, "%s%s%s", url,
                 len > 0 && url[len - 1] == '/' ? "" : "/", quoted) < 0)
        whole = NULL;
    curl_free(quoted);
    return whole;
}

char *fetch_get_url(const char *url, const char *data)
{
    CURLU *u = parse(url);
    char *whole = NULL, *copy = NULL;

    if (u &&
        (!*data ||
         curl_url_set(u, CURLUPART_QUERY, data, CURLU_APPENDQUERY) == 0) &&
        curl_url_get(u, CURLUPART_URL, &whole, 0) == 0)
        copy = strdup(whole);
    curl_free(whole);
    curl_url_cleanup(u);
    return copy;
}

/* ===== files ===== */

char *fetch_output_path(const struct fetch_args *a, const char *name)
{
    char *path = NULL;

    if (!a->output_dir)
        return strdup(name);
    return asprintf(&path, "%s/%s", a->output_dir, name) < 0 ? NULL : path;
}

/* "attachment; filename=\"a b.txt\"". filename*= is not read, as in curl. */
void fetch_disposition_name(const char *value, char *name, size_t size)
{
    const char *at = value, *last;
    char quote;
    size_t len;

    name[0] = '\0';
    while ((at = strcasestr(at, "filename=")) != NULL && at > value &&
           !strchr("; \t", at[-1]))
        at++;
    if (!at)
        return;
    at += strlen("filename=");
    quote = *at == '"' || *at == '\'' ? *at++ : '\0';
    len = quote ? strcspn(at, (char[]){ quote, '\0' }) : strcspn(at, "; \t");
    for (last = at + len; last > at && last[-1] != '/' && last[-1] != '\\';)
        last--;
    len -= (size_t)(last - at);
    if (len == 0 || len >= size || *last == '.')
        return;
    for (size_t i = 0; i < len; i++)
        name[i] = iscntrl((unsigned char)last[i]) ? '_' : last[i];
    name[len] = '\0';
}
