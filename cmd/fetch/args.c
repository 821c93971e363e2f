/* The arguments of `bide fetch`. Each function returns what it expected if the
 * argument is invalid; the last part checks them together. */
#include "cmd/fetch/args.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/common/policy_choice.h"
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

/* Overwrites the argument, which others can see in the list of processes. */
static const char *take_user(struct fetch_args *a, const char *text)
{
    if (!strchr(text, ':'))
        return "NAME:PASSWORD";
    free(a->user);
    a->user = strdup(text);
    memset((char *)(uintptr_t)text, 'x', strlen(text));
    return a->user ? NULL : "something that fits into memory";
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
    { "connect-timeout", AT(connect_timeout_ns), TAKES_TIMEOUT },
    { "stall-timeout", AT(stall_timeout_ns), TAKES_TIMEOUT },
    { "hedge", AT(hedge),
      TAKES_TEXT("a duration, such as 50ms, or a percentile from p50 to p99.9"),
      .set = set_hedge },
    { "json", AT(json),
      TAKES_TEXT("the name of a file, the number of a descriptor or -") },
    { "tell", AT(tell), TAKES_CHOICE(told, "private, all or nobody") },
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

const char *fetch_take(void *args, const char *name, const char *argument)
{
    struct fetch_args *a = args;
    const char *expected = NULL;
    int taken;

    if (strcmp(name, "header") == 0)
        return take_header(a, argument);
    if (strcmp(name, "data") == 0 || strcmp(name, "data-binary") == 0)
        return fetch_data_add(&a->data, argument, name[4] != '\0');
    if (strcmp(name, "user") == 0)
        return take_user(a, argument);
    if (strcmp(name, "idempotency-key") == 0)
        return take_key(a, argument);
    taken = field_flag(&table, a, name, argument, &expected);
    if (taken == 0)
        taken = policy_flag(&a->policy, name, argument, &expected);
    return taken < 0 ? expected : NULL;
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
    if ((a->data.given != 0) + (a->upload != NULL) + a->head > 1)
        return complain("fetch", "--data, --upload-file and --head: expected "
                                 "one of them");
    if (a->n_outputs > a->n_urls)
        return complain("fetch", "more --output than URLs: found %zu and %zu",
                        a->n_outputs, a->n_urls);
    rc = policy_settle(&a->policy);
    return rc >= 0 ? rc : settle_hedge(a);
}
