/* The arguments of `bide fetch`. Each function returns what it expected if the
 * argument is invalid; the last part checks them together. */
#include "cmd/fetch/args.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/common/policy_choice.h"
#include "cmd/fetch/values.h"
#include "config/field/rows.h"

/* ===== values ===== */

static bool set_method(const struct bide__field *f, void *to, const char *text,
                       size_t len)
{
    (void)f;
    ((struct fetch_args *)to)->method = text;
    return len > 0 && len <= 31 &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                        "0123456789!#$%&'*+-.^_`|~") == len;
}

static bool add_output(const struct bide__field *f, void *to, const char *text,
                       size_t len)
{
    struct fetch_args *a = to;
    const char **more =
        realloc(a->outputs, (a->n_outputs + 1) * sizeof *a->outputs);

    (void)f;
    if (more)
        a->outputs = more;
    if (len == 0 || !more)
        return false;
    a->outputs[a->n_outputs++] = text;
    return true;
}

static bool set_login(const struct bide__field *f, void *to, const char *text,
                      size_t len)
{
    (void)len;
    *(const char **)(void *)((char *)to + f->offset) = text;
    return strchr(text, ':') != NULL;
}

static bool set_seconds(const struct bide__field *f, void *to, const char *text,
                        size_t len)
{
    int64_t *ns = (void *)((char *)to + f->offset);

    (void)len;
    *ns = BIDE_FOREVER;
    return strcmp(text, "none") == 0 ||
           (fetch_read_seconds(text, ns) && *ns > 0);
}

/* Empty means something here: no name, no proxy. */
static bool set_any(const struct bide__field *f, void *to, const char *text,
                    size_t len)
{
    (void)len;
    *(const char **)(void *)((char *)to + f->offset) = text;
    return true;
}

static bool set_ip(const struct bide__field *f, void *to, const char *text,
                   size_t len)
{
    (void)text;
    (void)len;
    ((struct fetch_args *)to)->ip =
        f->key[3] == '4' ? CURL_IPRESOLVE_V4 : CURL_IPRESOLVE_V6;
    return true;
}

/* The last of them counts, as in curl. */
static bool set_http_version(const struct bide__field *f, void *to,
                             const char *text, size_t len)
{
    (void)text;
    (void)len;
    ((struct fetch_args *)to)->http_version =
        strcmp(f->key, "http1.1") == 0 ? CURL_HTTP_VERSION_1_1
        : strcmp(f->key, "http2") == 0 ? CURL_HTTP_VERSION_2_0
                                       : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
    return true;
}

bool fetch_add_url(struct fetch_args *a, char *url)
{
    char **more = realloc(a->urls, (a->n_urls + 1) * sizeof *more);

    if (!more)
        return false;
    a->urls = more;
    a->urls[a->n_urls++] = url;
    return true;
}

static const char *take_key(struct fetch_args *a, const char *text)
{
    static char field[300];

    if (strcmp(text, "auto") == 0) {
        a->make_key = true;
        return NULL;
    }
    for (const char *c = text; *c; c++)
        if (!isgraph((unsigned char)*c))
            return "auto, or a key without blanks";
    if (!*text || strlen(text) > 255)
        return "auto, or a key of up to 255 characters";
    snprintf(field, sizeof field, "Idempotency-Key: %s", text);
    return fetch_list_add(&a->headers, field);
}

/* "p95", "p99.9" or a duration. */
static bool read_hedge(const char *text, bide_hedge_conf *hedge)
{
    char *end;
    double percent;

    hedge->max = 1;
    if (text[0] != 'p') {
        hedge->extra_load = hedge->max; /* the user asked for it */
        return bide_parse_duration(text, strlen(text), &hedge->after_ns) == 0;
    }
    percent = strtod(text + 1, &end);
    hedge->after_ns = BIDE_FOREVER;
    hedge->quantile = percent / 100;
    hedge->min_samples = 10; /* there will never be a hundred */
    return isdigit((unsigned char)text[1]) && !*end && percent >= 50 &&
           percent <= 99.9;
}

static bool set_hedge(const struct bide__field *f, void *to, const char *text,
                      size_t len)
{
    bide_policy_conf scratch = BIDE_POLICY_CONF_INIT;

    (void)f;
    (void)len;
    ((struct fetch_args *)to)->hedge = text;
    return read_hedge(text, &scratch.hedge);
}

/* ===== the table ===== */

#define TAKES_TIMEOUT                                                          \
    TAKES_OVER_OR(DURATION, 0, MAX_NS, "none", BIDE_FOREVER,                   \
                  "a duration with its unit, such as 250ms or 2s")

static const char *const told[] = { "all", "private", "nobody", NULL };

#define S struct fetch_args
static const struct bide__field fields[] = {
    { "request", AT(method), TAKES_TEXT("a method, such as GET or POST"),
      .set = set_method },
    { "upload-file", AT(upload), TAKES_TEXT("the name of a file, or -") },
    { "output", AT(outputs), TAKES_AS(BIDE__OTHER, "the name of a file, or -"),
      .set = add_output },
    { "cacert", AT(cacert), TAKES_FILE },
    { "parallel-max", AT(parallel),
      TAKES(COUNT, 1, 1000, "a number from 1 to 1000") },
    { "connect-timeout", AT(connect_timeout_ns),
      TAKES_AS(BIDE__OTHER, "seconds, or a duration such as 250ms"),
      .set = set_seconds },
    { "stall-timeout", AT(stall_timeout_ns), TAKES_TIMEOUT },
    { "hedge", AT(hedge),
      TAKES_TEXT("a duration, such as 50ms, or a percentile from p50 to p99.9"),
      .set = set_hedge },
    { "json", AT(json), TAKES_FLAG },
    { "log-file", AT(log_file),
      TAKES_TEXT("the name of a file, the number of a descriptor or -") },
    { "tell", AT(tell), TAKES_CHOICE(told, "private, all or nobody") },
    { "user", AT(user), TAKES_AS(BIDE__OTHER, "NAME:PASSWORD"),
      .set = set_login },
    { "proxy-user", AT(proxy_user), TAKES_AS(BIDE__OTHER, "NAME:PASSWORD"),
      .set = set_login },
    { "user-agent", AT(agent), TAKES_AS(BIDE__OTHER, "a name"),
      .set = set_any },
    { "proxy", AT(proxy), TAKES_AS(BIDE__OTHER, "a proxy"), .set = set_any },
    { "noproxy", AT(no_proxy), TAKES_AS(BIDE__OTHER, "names of hosts"),
      .set = set_any },
    { "cookie-jar", AT(cookie_jar), TAKES_FILE },
    { "output-dir", AT(output_dir), TAKES_TEXT("the name of a directory") },
    { "dump-header", AT(dump_header), TAKES_TEXT("the name of a file, or -") },
    { "unix-socket", AT(unix_socket), TAKES_TEXT("the path of a socket") },
    { "key", AT(key), TAKES_FILE },
    { "ipv4", AT(ip), TAKES_AS(BIDE__OTHER, "nothing"), .set = set_ip },
    { "ipv6", AT(ip), TAKES_AS(BIDE__OTHER, "nothing"), .set = set_ip },
    { "http1.1", AT(http_version), TAKES_AS(BIDE__OTHER, "nothing"),
      .set = set_http_version },
    { "http2", AT(http_version), TAKES_AS(BIDE__OTHER, "nothing"),
      .set = set_http_version },
    { "http2-prior-knowledge", AT(http_version),
      TAKES_AS(BIDE__OTHER, "nothing"), .set = set_http_version },
    { "get", AT(get), TAKES_FLAG },
    { "compressed", AT(compressed), TAKES_FLAG },
    { "remote-header-name", AT(header_name), TAKES_FLAG },
    { "create-dirs", AT(create_dirs), TAKES_FLAG },
    { "remote-time", AT(remote_time), TAKES_FLAG },
    { "include", AT(include), TAKES_FLAG },
    { "netrc", AT(netrc), TAKES_FLAG },
    { "remote-name", AT(remote_name), TAKES_FLAG },
    { "head", AT(head), TAKES_FLAG },
    { "location", AT(follow), TAKES_FLAG },
    { "insecure", AT(insecure), TAKES_FLAG },
    { "silent", AT(silent), TAKES_FLAG },
    { "show-error", AT(show_error), TAKES_FLAG },
    { "verbose", AT(verbose), TAKES_FLAG },
    { "fail", AT(fail), TAKES_FLAG },
    { "explain", AT(explain), TAKES_FLAG },
    LAST
};
#undef S
static const struct bide__table table = { .fields = fields };

/* Those that are not in the table. */
static const struct {
    const char *name;
    const char *(*take)(struct fetch_args *a, const char *text);
} special[] = {
    { "header", fetch_take_headers },
    { "cookie", fetch_take_cookie },
    { "cert", fetch_take_cert },
    { "range", fetch_take_range },
    { "write-out", fetch_take_write_out },
    { "limit-rate", fetch_take_rate },
    { "continue-at", fetch_take_continue },
    { "config", fetch_take_config },
    { "idempotency-key", take_key },
};

static const char *take_form(struct fetch_args *a, const char *text, char kind)
{
    char *marked = NULL;
    const char *expected;

    if (!strchr(text, '='))
        return "NAME=CONTENT";
    if (asprintf(&marked, "%c%s", kind, text) < 0)
        return "something that fits into memory";
    expected = fetch_list_add(&a->forms, marked);
    free(marked);
    return expected;
}

/* Values that lists are made of. `expected` is untouched if it is not one. */
static bool take_listed(struct fetch_args *a, const char *name,
                        const char *text, const char **expected)
{
    if (strncmp(name, "data", 4) == 0)
        *expected = fetch_data_add(&a->data, text, name + 4);
    else if (strncmp(name, "form", 4) == 0)
        *expected = take_form(a, text, name[4] ? 's' : 'F');
    else if (strcmp(name, "resolve") == 0)
        *expected = fetch_list_add(&a->resolve, text);
    else if (strcmp(name, "url") == 0)
        *expected = fetch_add_url(a, (char *)(uintptr_t)text)
                        ? NULL
                        : "something that fits into memory";
    else
        return false;
    return true;
}

const char *fetch_take(void *args, const char *name, const char *argument)
{
    struct fetch_args *a = args;
    const char *expected = NULL;
    int taken;

    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (strcmp(name, special[i].name) == 0)
            return special[i].take(a, argument);
    if (strncmp(name, "retry", 5) == 0 || strcmp(name, "max-time") == 0)
        return fetch_take_retry(a, name, argument);
    if (take_listed(a, name, argument, &expected))
        return expected;
    taken = field_flag(&table, a, name, argument, &expected);
    if (taken == 0)
        taken = policy_flag(&a->policy, name, argument, &expected);
    return taken < 0 ? expected : NULL;
}

void fetch_args_done(struct fetch_args *a)
{
    curl_slist_free_all(a->headers);
    curl_slist_free_all(a->forms);
    curl_slist_free_all(a->cookie_files);
    curl_slist_free_all(a->resolve);
    free(a->data.at);
    free(a->outputs);
    free(a->cookies);
    free(a->range);
    free(a->write_out);
    free(a->cert);
    free(a->cert_password);
    free(a->urls);
    for (size_t i = 0; i < a->n_texts; i++)
        free(a->texts[i]);
    free(a->texts);
    policy_done(&a->policy);
}

/* ===== together ===== */

static int settle_hedge(struct fetch_args *a)
{
    struct policy_choice *p = &a->policy;

    if (a->make_key)
        p->conf.idempotency_key = BIDE_KEY_GENERATE;
    if (!a->hedge)
        return -1;
    for (int i = 0; i < p->n_overrides; i++)
        if (strcmp(p->overrides[i][1], "attempts") == 0)
            return complain("fetch", "--hedge and --attempts: expected one of "
                                     "them, as a hedge stands in for retries");
    p->conf.attempts = 1;
    read_hedge(a->hedge, &p->conf.hedge);
    int rc = bide_policy_check(&p->conf);
    return rc < 0 ? complain("fetch", "%s", bide_strerror(rc)) : -1;
}

int fetch_settle(struct fetch_args *a)
{
    int rc;

    if (a->n_urls == 0) {
        complain("fetch", "expected a URL");
        fprintf(stderr, "  see `bide fetch --help`\n");
        return EXIT_USAGE;
    }
    if ((a->data.given && !a->get) + (a->upload != NULL) + a->head +
            (a->forms != NULL) >
        1)
        return complain("fetch", "--data, --form, --upload-file and --head: "
                                 "expected one of them");
    if (a->get && (a->upload || a->forms))
        return complain("fetch", "--get: expected --data with it, and nothing "
                                 "else to send");
    if (a->header_name && (a->include || a->continue_at != CONTINUE_NOT))
        return complain("fetch", "--remote-header-name: expected neither "
                                 "--include nor --continue-at with it");
    if (a->continue_at != CONTINUE_NOT && (a->range || a->include))
        return complain("fetch", "--continue-at: expected neither --range nor "
                                 "--include with it");
    if (a->n_outputs > a->n_urls)
        return complain("fetch", "more --output than URLs: found %zu and %zu",
                        a->n_outputs, a->n_urls);
    if (a->dump_header && strcmp(a->dump_header, "-") == 0 &&
        a->n_outputs == 0 && !a->remote_name) {
        a->include = true; /* on standard output it comes before the body */
        a->dump_header = NULL;
    }
    rc = policy_settle(&a->policy);
    return rc >= 0 ? rc : settle_hedge(a);
}
