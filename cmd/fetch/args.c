/* The arguments of `bide fetch`: each says what it expected, if it was not
 * that; and what they come to together. */
#include "cmd/fetch/args.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ===== values ===== */

static const char *take_method(struct fetch_args *a, const char *text)
{
    size_t len = strlen(text);

    a->method = text;
    if (len == 0 || len > 31 ||
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                     "0123456789!#$%&'*+-.^_`|~") != len)
        return "a method, such as GET or POST";
    return NULL;
}

static const char *add_header(struct fetch_args *a, const char *text)
{
    struct curl_slist *longer = curl_slist_append(a->headers, text);

    if (!longer)
        return "something that fits into memory";
    a->headers = longer;
    return NULL;
}

static const char *take_header(struct fetch_args *a, const char *text)
{
    size_t name = strcspn(text, ":;");

    if (name == 0 || !text[name] || strpbrk(text, "\r\n"))
        return "a header field, 'Name: value'";
    return add_header(a, text);
}

static const char *take_data(struct fetch_args *a, const char *text)
{
    return fetch_data_add(&a->data, text, false);
}

static const char *take_binary(struct fetch_args *a, const char *text)
{
    return fetch_data_add(&a->data, text, true);
}

static const char *take_upload(struct fetch_args *a, const char *text)
{
    a->upload = text;
    return *text ? NULL : "the name of a file, or -";
}

static const char *take_output(struct fetch_args *a, const char *text)
{
    const char **more =
        realloc(a->outputs, (a->n_outputs + 1) * sizeof *a->outputs);

    if (!*text || !more)
        return "the name of a file, or -";
    a->outputs = more;
    a->outputs[a->n_outputs++] = text;
    return NULL;
}

static const char *take_cacert(struct fetch_args *a, const char *text)
{
    a->cacert = text;
    return *text ? NULL : "the name of a file";
}

/* What others can see of it in the list of processes is overwritten. */
static const char *take_user(struct fetch_args *a, const char *text)
{
    if (!strchr(text, ':'))
        return "NAME:PASSWORD";
    free(a->user);
    a->user = strdup(text);
    memset((char *)(uintptr_t)text, 'x', strlen(text));
    return a->user ? NULL : "something that fits into memory";
}

static const char *take_parallel(struct fetch_args *a, const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    a->parallel = (size_t)n;
    return isdigit((unsigned char)*text) && !*end && n >= 1 && n <= 1000
               ? NULL
               : "a number from 1 to 1000";
}

static const char *take_duration(int64_t *ns, const char *text)
{
    if (strcmp(text, "none") == 0)
        *ns = BIDE_FOREVER;
    else if (bide_parse_duration(text, strlen(text), ns) < 0 || *ns <= 0)
        return "a duration with its unit, such as 250ms or 2s, or none";
    return NULL;
}

static const char *take_connect_timeout(struct fetch_args *a, const char *text)
{
    return take_duration(&a->connect_timeout_ns, text);
}

static const char *take_stall_timeout(struct fetch_args *a, const char *text)
{
    return take_duration(&a->stall_timeout_ns, text);
}

static const char *take_json(struct fetch_args *a, const char *text)
{
    a->json = text;
    return *text ? NULL : "the name of a file, the number of a descriptor or -";
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
    return add_header(a, field);
}

/* "p95", "p99.9" or a duration. */
static bool read_hedge(const char *text, bide_hedge_conf *hedge)
{
    char *end;
    double percent;

    hedge->max = 1;
    if (text[0] != 'p') {
        hedge->extra_load = 1; /* it is what was asked for */
        return bide_parse_duration(text, strlen(text), &hedge->after_ns) == 0;
    }
    percent = strtod(text + 1, &end);
    hedge->after_ns = BIDE_FOREVER;
    hedge->quantile = percent / 100;
    hedge->min_samples = 10; /* there will never be a hundred */
    return isdigit((unsigned char)text[1]) && !*end && percent >= 50 &&
           percent <= 99.9;
}

static const char *take_hedge(struct fetch_args *a, const char *text)
{
    bide_policy_conf scratch = BIDE_POLICY_CONF_INIT;

    a->hedge = text;
    return read_hedge(text, &scratch.hedge)
               ? NULL
               : "a duration, such as 50ms, or a percentile from p50 to p99.9";
}

/* ===== the table ===== */

static const struct {
    const char *name;
    const char *(*take)(struct fetch_args *a, const char *text);
} takers[] = {
    { "request", take_method },
    { "header", take_header },
    { "data", take_data },
    { "data-binary", take_binary },
    { "upload-file", take_upload },
    { "output", take_output },
    { "cacert", take_cacert },
    { "user", take_user },
    { "parallel-max", take_parallel },
    { "connect-timeout", take_connect_timeout },
    { "stall-timeout", take_stall_timeout },
    { "hedge", take_hedge },
    { "idempotency-key", take_key },
    { "json", take_json },
};

static bool *switch_of(struct fetch_args *a, const char *name)
{
    const struct {
        const char *name;
        bool *on;
    } switches[] = {
        { "remote-name", &a->remote_name }, { "head", &a->head },
        { "location", &a->follow },         { "insecure", &a->insecure },
        { "silent", &a->silent },           { "show-error", &a->show_error },
        { "verbose", &a->verbose },         { "fail", &a->fail },
        { "explain", &a->explain },
    };

    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
        if (strcmp(switches[i].name, name) == 0)
            return switches[i].on;
    return NULL;
}

const char *fetch_take(void *args, const char *name, const char *argument)
{
    struct fetch_args *a = args;
    const char *expected = NULL;
    bool *on = switch_of(a, name);

    if (on) {
        *on = true;
        return NULL;
    }
    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++)
        if (strcmp(name, takers[i].name) == 0)
            return takers[i].take(a, argument);
    return policy_flag(&a->policy, name, argument, &expected) < 0 ? expected
                                                                  : NULL;
}

void fetch_args_done(struct fetch_args *a)
{
    curl_slist_free_all(a->headers);
    free(a->data.at);
    free(a->outputs);
    free(a->user);
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
        if (strcmp(p->overrides[i][0], "attempts") == 0)
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
    if ((a->data.given != 0) + (a->upload != NULL) + a->head > 1)
        return complain("fetch", "--data, --upload-file and --head: expected "
                                 "one of them");
    if (a->n_outputs > a->n_urls)
        return complain("fetch", "more --output than URLs: found %zu and %zu",
                        a->n_outputs, a->n_urls);
    rc = policy_settle(&a->policy);
    return rc >= 0 ? rc : settle_hedge(a);
}
