/* Sets up libcurl for a request. */
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
    r->possible =
        strcmp(fetch_method(a), "GET") == 0 && (!a->data.given || a->get) &&
        !a->include && !a->compressed && !a->range && a->continue_at < 0 &&
        !a->hedge && a->policy.conf.hedge.max == 0 &&
        !has_field(a->headers, "Range") && !has_field(a->headers, "If-Range");
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
    if (a->get)
        curl_easy_setopt(easy, CURLOPT_HTTPGET, a->head ? 0L : 1L);
    else if (a->data.given) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)a->data.len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                         a->data.at ? a->data.at : "");
    }
    if (t->form)
        curl_easy_setopt(easy, CURLOPT_MIMEPOST, t->form);
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

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* As the curl tool does it: its own variable first, then OpenSSL's. */
static void set_trust_by_environment(CURL *easy)
{
    const char *bundle = variable("CURL_CA_BUNDLE");
    const char *dir = variable("SSL_CERT_DIR");
    const char *file = variable("SSL_CERT_FILE");

    if (bundle || file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, bundle ? bundle : file);
    if (!bundle && dir)
        curl_easy_setopt(easy, CURLOPT_CAPATH, dir);
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
    else if (!a->insecure)
        set_trust_by_environment(t->easy);
    curl_easy_setopt(t->easy, CURLOPT_SSLCERT, a->cert);
    curl_easy_setopt(t->easy, CURLOPT_KEYPASSWD, a->cert_password);
    curl_easy_setopt(t->easy, CURLOPT_SSLKEY, a->key);
}

static void set_logins(struct fetch_transfer *t)
{
    const struct fetch_args *a = t->all->args;

    if (a->user)
        curl_easy_setopt(t->easy, CURLOPT_USERPWD, a->user);
    if (a->netrc)
        curl_easy_setopt(t->easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    if (a->cookies)
        curl_easy_setopt(t->easy, CURLOPT_COOKIE, a->cookies);
    if (t->all->cookies)
        curl_easy_setopt(t->easy, CURLOPT_SHARE, t->all->cookies);
    for (const struct curl_slist *f = a->cookie_files; f; f = f->next)
        curl_easy_setopt(t->easy, CURLOPT_COOKIEFILE, f->data);
    if (a->cookie_jar) {
        curl_easy_setopt(t->easy, CURLOPT_COOKIEFILE, "");
        curl_easy_setopt(t->easy, CURLOPT_COOKIEJAR, a->cookie_jar);
    }
}

static void set_connection(struct fetch_transfer *t)
{
    const struct fetch_args *a = t->all->args;

    if (a->http_version)
        curl_easy_setopt(t->easy, CURLOPT_HTTP_VERSION, a->http_version);
    if (a->proxy)
        curl_easy_setopt(t->easy, CURLOPT_PROXY, a->proxy);
    if (a->proxy_user)
        curl_easy_setopt(t->easy, CURLOPT_PROXYUSERPWD, a->proxy_user);
    if (a->no_proxy)
        curl_easy_setopt(t->easy, CURLOPT_NOPROXY, a->no_proxy);
    if (a->unix_socket)
        curl_easy_setopt(t->easy, CURLOPT_UNIX_SOCKET_PATH, a->unix_socket);
    if (a->resolve)
        curl_easy_setopt(t->easy, CURLOPT_RESOLVE, a->resolve);
    curl_easy_setopt(t->easy, CURLOPT_IPRESOLVE, a->ip);
    if (a->limit_rate > 0) {
        curl_off_t rate = (curl_off_t)a->limit_rate;
        curl_easy_setopt(t->easy, CURLOPT_MAX_RECV_SPEED_LARGE, rate);
        curl_easy_setopt(t->easy, CURLOPT_MAX_SEND_SPEED_LARGE, rate);
    }
}

static void set_response(struct fetch_transfer *t)
{
    const struct fetch_args *a = t->all->args;

    if (a->compressed)
        curl_easy_setopt(t->easy, CURLOPT_ACCEPT_ENCODING, "");
    if (a->range)
        curl_easy_setopt(t->easy, CURLOPT_RANGE, a->range);
    if (a->remote_time)
        curl_easy_setopt(t->easy, CURLOPT_FILETIME, 1L);
    if (a->continue_at > 0) {
        snprintf(t->resume.range, sizeof t->resume.range, "%lld-",
                 (long long)a->continue_at);
        curl_easy_setopt(t->easy, CURLOPT_RANGE, t->resume.range);
    }
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
    if (!t->easy || !make_header(t) ||
        (a->forms && !(t->form = fetch_form(a, t->easy))))
        return false;
    snprintf(agent, sizeof agent, "bide/%s", bide_version());
    curl_easy_setopt(t->easy, CURLOPT_URL, t->url);
    curl_easy_setopt(t->easy, CURLOPT_USERAGENT,
                     !a->agent   ? agent
                     : *a->agent ? a->agent
                                 : NULL);
    curl_easy_setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->error);
    curl_easy_setopt(t->easy, CURLOPT_DEBUGFUNCTION, on_debug);
    curl_easy_setopt(t->easy, CURLOPT_DEBUGDATA, t);
    curl_easy_setopt(t->easy, CURLOPT_VERBOSE, a->verbose ? 1L : 0L);
    curl_easy_setopt(t->easy, CURLOPT_FOLLOWLOCATION, a->follow ? 1L : 0L);
    curl_easy_setopt(t->easy, CURLOPT_MAXREDIRS, 50L);
    set_protocols(t->easy);
    set_trust(t);
    set_logins(t);
    set_connection(t);
    set_response(t);
    set_timeouts(t);
    set_method(t);
    return true;
}
