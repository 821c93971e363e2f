/* Sets up libcurl for a request, and takes URLs apart. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/common/parent_env.h"
#include "cmd/fetch/args.h"
#include "cmd/fetch/fetch.h"
#include "cmd/fetch/resume.h"
#include "cmd/fetch/transfer.h"

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

static char *path_of(const char *url)
{
    char *path = NULL;
    CURLU *u = parse(url);

    if (u)
        curl_url_get(u, CURLUPART_PATH, &path, 0);
    curl_url_cleanup(u);
    return path;
}

char *fetch_remote_name(const char *url)
{
    char *path = path_of(url);
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : "";
    bool usable = *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
                  strlen(name) < NAME_MAX - 4; /* ".part" is appended */
    char *copy = usable ? strdup(name) : NULL;

    curl_free(path);
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

    curl_free(at);
    if (!quoted)
        return strdup(url);
    len = strlen(url);
    if (asprintf(&whole, "%s%s%s", url,
                 len > 0 && url[len - 1] == '/' ? "" : "/", quoted) < 0)
        whole = NULL;
    curl_free(quoted);
    return whole;
}

/* ===== the header ===== */

static bool has_field(const struct curl_slist *list, const char *name)
{
    size_t len = strlen(name);

    for (; list; list = list->next)
        if (strncasecmp(list->data, name, len) == 0 &&
            (list->data[len] == ':' || list->data[len] == ';'))
            return true;
    return false;
}

/* Copies -H, and adds an entry for If-Range, which only some attempts send. */
static bool make_header(struct fetch_transfer *t)
{
    const struct fetch_args *a = t->all->args;
    struct fetch_resume *r = &t->resume;
    struct curl_slist *last;

    for (const struct curl_slist *h = a->headers; h; h = h->next) {
        struct curl_slist *longer = curl_slist_append(t->headers, h->data);
        if (!longer)
            return false;
        t->headers = longer;
    }
    r->possible = strcmp(fetch_method(a), "GET") == 0 && !a->data.given &&
                  !a->hedge && a->policy.conf.hedge.max == 0 &&
                  !has_field(a->headers, "Range") &&
                  !has_field(a->headers, "If-Range");
    if (!r->possible)
        return true;
    last = malloc(sizeof *last);
    if (!last)
        return false;
    snprintf(r->field, sizeof r->field, "If-Range:");
    *last = (struct curl_slist){ r->field, NULL };
    r->node = last;
    struct curl_slist **end = &t->headers;
    while (*end)
        end = &(*end)->next;
    *end = last;
    return true;
}

/* ===== the operation ===== */

/* Under a `bide run`, that does the retries, and its deadline applies. */
bide_op fetch_op(struct fetch_transfer *t)
{
    uint32_t most = t->all->args->policy.conf.attempts;
    bide_op op = { .rng = &t->rng };

    heed_layer_above(&op, bide_now_ns());
    if (t->result.attempts > 0) /* the last of which could not be trusted */
        op.attempts_made = t->result.attempts < most ? t->result.attempts
                                                     : most - 1;
    return op;
}

/* Behind a proxy the address that libcurl connects to says nothing about the
 * server. */
bide_curl_tell fetch_tell(const struct fetch_args *a)
{
    static const char *const proxies[] = { "http_proxy", "https_proxy",
                                           "HTTPS_PROXY", "all_proxy",
                                           "ALL_PROXY" };
    for (size_t i = 0; i < sizeof proxies / sizeof proxies[0]; i++) {
        const char *proxy = getenv(proxies[i]);
        if (proxy && *proxy && a->tell == BIDE_CURL_TELL_PRIVATE)
            return BIDE_CURL_TELL_NOBODY;
    }
    return a->tell;
}

/* ===== the handle ===== */

static long ms(int64_t ns)
{
    int64_t n = (ns + BIDE_MILLISECOND - 1) / BIDE_MILLISECOND;
    return ns == BIDE_FOREVER ? 0 : n > INT_MAX ? INT_MAX : (long)n;
}

static void set_method(struct fetch_transfer *t)
{
    const struct fetch_args *a = t->all->args;
    CURL *easy = t->easy;

    if (a->head)
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    if (a->data.given) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)a->data.len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                         a->data.at ? a->data.at : "");
    }
    if (a->upload)
        fetch_upload_options(&t->upload, easy);
    if (a->method)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, a->method);
}

/* A transfer that stalls for this long has failed. libcurl takes whole
 * seconds. */
static void set_timeouts(struct fetch_transfer *t)
{
    const struct fetch_args *a = t->all->args;
    long stall = ms(a->stall_timeout_ns);

    if (a->connect_timeout_ns != BIDE_FOREVER)
        curl_easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT_MS,
                         ms(a->connect_timeout_ns));
    if (stall > 0) {
        curl_easy_setopt(t->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(t->easy, CURLOPT_LOW_SPEED_TIME, (stall + 999) / 1000);
    }
}

/* A redirect must not lead to another protocol or to a file. */
static void set_protocols(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    long both = CURLPROTO_HTTP | CURLPROTO_HTTPS;
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS, both);
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS, both);
#endif
}

static void set_trust(struct fetch_transfer *t)
{
    const struct fetch_args *a = t->all->args;

    if (a->insecure) {
        curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(t->easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (a->cacert)
        curl_easy_setopt(t->easy, CURLOPT_CAINFO, a->cacert);
    if (a->user)
        curl_easy_setopt(t->easy, CURLOPT_USERPWD, a->user);
}

/* -v, as the curl tool prints it: each line marked with its direction. */
static int on_debug(CURL *easy, curl_infotype type, char *data, size_t len,
                    void *transfer)
{
    static const char marks[] = { [CURLINFO_TEXT] = '*',
                                  [CURLINFO_HEADER_IN] = '<',
                                  [CURLINFO_HEADER_OUT] = '>' };
    const struct fetch_transfer *t = transfer;

    (void)easy;
    while (type <= CURLINFO_HEADER_OUT && len > 0) {
        const char *newline = memchr(data, '\n', len);
        size_t n = newline ? (size_t)(newline - data) : len;
        size_t shown = n > 0 && data[n - 1] == '\r' ? n - 1 : n;
        if (t->all->n > 1)
            fprintf(stderr, "[%zu] ", t->index + 1);
        fprintf(stderr, "%c %.*s\n", marks[type], (int)shown, data);
        n += newline != NULL;
        data += n;
        len -= n;
    }
    return 0;
}

bool fetch_request_make(struct fetch_transfer *t)
{
    const struct fetch_args *a = t->all->args;
    char agent[64];

    t->easy = curl_easy_init();
    if (!t->easy || !make_header(t))
        return false;
    snprintf(agent, sizeof agent, "bide/%s", bide_version());
    curl_easy_setopt(t->easy, CURLOPT_URL, t->url);
    curl_easy_setopt(t->easy, CURLOPT_USERAGENT, agent);
    curl_easy_setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->error);
    curl_easy_setopt(t->easy, CURLOPT_DEBUGFUNCTION, on_debug);
    curl_easy_setopt(t->easy, CURLOPT_DEBUGDATA, t);
    curl_easy_setopt(t->easy, CURLOPT_VERBOSE, a->verbose ? 1L : 0L);
    curl_easy_setopt(t->easy, CURLOPT_FOLLOWLOCATION, a->follow ? 1L : 0L);
    curl_easy_setopt(t->easy, CURLOPT_MAXREDIRS, 50L);
    set_protocols(t->easy);
    set_trust(t);
    set_timeouts(t);
    set_method(t);
    return true;
}
