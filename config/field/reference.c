/* reference.c: writes the table of options as a policy file and as a page.
 *
 * bide__write_reference() wrote docs/policy-reference.md; a test writes it
 * again and compares, so the page always agrees with the code. */
#include "config/field/reference.h"

#include <string.h>

#include "config/doc/diag_json.h"
#include "config/field/option_value.h"
#include "config/fleet/conf.h"
#include "config/lint/rules.h"
#include "config/policy/pages.h"
#include "config/proxy/read.h"
#include "config/store/conf.h"
#include "config/worker/conf.h"

static const bide_policy_conf init = BIDE_POLICY_CONF_INIT;

/* The length of the group in a key such as "backoff.base", or 0. */
static size_t group_length(const char *key)
{
    const char *dot = strchr(key, '.');

    return dot ? (size_t)(dot - key) : 0;
}

static bool same_group(const char *a, const char *b)
{
    size_t n = group_length(a);

    return n == group_length(b) && strncmp(a, b, n) == 0;
}

/* ===== a policy with every default ===== */

/* A sentence as comment lines of at most 78 columns. */
static void put_comment(FILE *out, const char *indent, const char *text)
{
    size_t width = 78 - strlen(indent) - 2;

    while (*text) {
        size_t n = strlen(text);

        if (n > width)
            for (n = width; n > 0 && text[n] != ' ';)
                n--;
        fprintf(out, "%s# %.*s\n", indent, (int)n, text);
        text += n;
        text += *text == ' ';
    }
}

static void put_default(FILE *out, const bide_option *o)
{
    const char *indent = group_length(o->key) ? "      " : "    ";
    size_t skip = group_length(o->key) ? group_length(o->key) + 1 : 0;
    char buffer[BIDE__VALUE_TEXT];

    put_comment(out, indent, o->help);
    fprintf(out, "%s# Takes %s.\n", indent, o->expects);
    fprintf(out, "%s%s: %s\n", indent, o->key + skip,
            bide__option_text(&init, o, buffer, sizeof buffer));
}

void bide__write_defaults(FILE *out)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    fputs("# Every option of a policy at its default, as `bide check --defaults`\n"
          "# prints it. Keep the lines that you want to change.\n"
          "version: 1\n"
          "policies:\n"
          "  default:\n", out);
    for (size_t i = 0; i < n; i++) {
        size_t group = group_length(options[i].key);

        if (i > 0)
            fputc('\n', out);
        if (group && (i == 0 || !same_group(options[i - 1].key, options[i].key)))
            fprintf(out, "    %.*s:\n", (int)group, options[i].key);
        put_default(out, &options[i]);
    }
    fputs("\n"
          "    # Exactly these are retried; without it, what can be helped by\n"
          "    # a retry. A list that is left out leaves its part as it was.\n"
          "    # retry_on:\n"
          "    #   status: [408, 425, 429, 500, 502, 503, 504]\n"
          "    #   errors: [dns, connect, reset, timeout, local]\n"
          "    #   grpc: [UNAVAILABLE, RESOURCE_EXHAUSTED]\n"
          "\n"
          "    # Asked before retry_on, in this order; all that a rule names\n"
          "    # must be true.\n"
          "    # rules:\n"
          "    #   - { status: 409, header: X-Reason, value: lock*,\n"
          "    #       class: transient, not_processed: true }\n"
          "    # problems:\n"
          "    #   https://example.com/problems/busy: throttled\n"
          "\n"
          "    # What is known of the service, for `bide check`.\n"
          "    # service: { capacity: 500/s, load: 300/s, p99: 800ms,\n"
          "    #            clients: 40, depth: 1 }\n", out);
}

/* ===== the page ===== */

static const char introduction[] =
    "# Policy files: the reference\n"
    "\n"
    "This page is written by `bide check --reference` from the tables that the\n"
    "program itself reads, and a test compares the two.\n"
    "\n"
    "A policy file is YAML, or JSON if its name ends in `.json`:\n"
    "\n"
    "```yaml\n"
    "version: 1                 # required\n"
    "policies:                  # required: named policies\n"
    "  default:\n"
    "    attempts: 3\n"
    "    deadline: 10s\n"
    "    attempt_timeout: 2s\n"
    "  payments:\n"
    "    extends: default       # all of it, and over it what follows\n"
    "    idempotency: { key: generate }\n"
    "  orders:\n"
    "    preset: aws-standard   # start from what a known system does\n"
    "```\n"
    "\n"
    "## Values\n"
    "\n"
    "| type | written | |\n"
    "|---|---|---|\n"
    "| duration | `250ms`, `1.5s`, `1h30m`, `0` | units ns, us, ms, s, m, h, d, "
    "from large to small; only 0 needs none |\n"
    "| ratio | `10%`, `0.1` | |\n"
    "| rate | `1/s`, `30/m`, `0.5/s` | units s, m, h, d, ms; only 0 needs none "
    "|\n"
    "| count | `4` | a whole number |\n"
    "| number | `1.5` | |\n"
    "| flag | `true`, `false` | |\n"
    "| choice | `full` | one of the words given |\n"
    "| list | `[1s, 5s, 30s]`, `5s` | durations; one stands without brackets |\n"
    "\n"
    "Counts, numbers and flags stand without quotes.\n";

static const char others[] =
    "## What a policy builds on\n"
    "\n"
    "| key | takes | |\n"
    "|---|---|---|\n"
    "| `extends` | the name of a policy in the same file | everything of it, and "
    "over it what this policy says |\n"
    "| `preset` | the name of a preset | the same with a built-in policy; not "
    "together with `extends` |\n"
    "\n"
    "## What is retried\n"
    "\n"
    "Without any of these, the engine's own table decides.\n"
    "\n"
    "| key | takes | |\n"
    "|---|---|---|\n"
    "| `retry_on.status` | a list of statuses and ranges: `[408, 429, 500-504]` "
    "| exactly these statuses are retried, 429 as throttled |\n"
    "| `retry_on.errors` | a list of `dns`, `no_host`, `connect`, `reset`, "
    "`timeout`, `tls`, `url`, `malformed`, `local`, `other` | exactly these "
    "failures are retried |\n"
    "| `retry_on.grpc` | a list of gRPC codes: `[UNAVAILABLE]` | exactly these "
    "codes are retried, RESOURCE_EXHAUSTED as throttled; to list a code is to say "
    "that a call may be repeated after it, though every gRPC call is a POST |\n"
    "| `rules` | a list of rules | asked first, in order; the first that matches "
    "decides |\n"
    "| `problems` | a map of type URIs to classes | short for rules on "
    "`problem_type` |\n"
    "\n"
    "A list of `retry_on` that is not there leaves its part as it was. Each of "
    "these is\ninherited by itself, and a policy that has one replaces its "
    "parent's.\n"
    "\n"
    "A rule is a map of conditions, all of which must be true, and what they "
    "make of it:\n"
    "\n"
    "| key | takes | |\n"
    "|---|---|---|\n"
    "| `status` | a status, a range, or a list of them | |\n"
    "| `errors` | an error, or a list | as in `retry_on` |\n"
    "| `grpc` | a gRPC code, or a list | |\n"
    "| `method` | text | the method of the request, exactly |\n"
    "| `header` | text | a header field of this name |\n"
    "| `value` | text | ... with this value; `*` at its end stands for any rest "
    "|\n"
    "| `problem_type` | text | the type URI of problem details (RFC 9457) |\n"
    "| `class` | `success`, `transient`, `throttled`, `overloaded`, `permanent` "
    "or `ignored` | required |\n"
    "| `not_processed` | a flag | such an answer proves that nothing was done, "
    "so that any request may be sent again |\n"
    "\n"
    "## What is known of the service\n"
    "\n"
    "For `bide check`; the engine does not look at it. Flags of the same names "
    "go before it.\n"
    "\n"
    "| key | takes | |\n"
    "|---|---|---|\n"
    "| `service.capacity` | a rate | what the service can serve |\n"
    "| `service.load` | a rate | what it has to serve, without retries |\n"
    "| `service.p99` | a duration | the latency that 99 of 100 healthy answers "
    "stay under |\n"
    "| `service.clients` | a count | processes that each run this policy |\n"
    "| `service.depth` | a count | layers, one above the other, that each retry "
    "|\n"
    "\n"
    "## Sections of the programs\n"
    "\n"
    "`store`, `fleet`, `proxy` and `worker` stand beside `policies`, and one file "
    "may have all of\nthem. Any other key at the top is an error.\n"
    "\n"
    "A size is a number of bytes: `65536`, `64KiB`, `1MiB`. Texts are one text "
    "or a list of them.\nWhether files can be read (certificates, keys) is found "
    "out at the start, not by\n`bide check`.\n";

static const char *type_name(bide_option_type type)
{
    static const char *const names[] = { "duration", "count", "ratio", "number",
                                         "rate", "flag", "choice", "list" };

    return names[type];
}

static void put_options(FILE *out)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);
    char buffer[BIDE__VALUE_TEXT];

    fputs("\n## Options\n", out);
    for (size_t i = 0; i < n; i++) {
        const bide_option *o = &options[i];
        size_t group = group_length(o->key);

        if (i == 0 || !same_group(options[i - 1].key, o->key)) {
            if (group)
                fprintf(out, "\n### `%.*s`\n", (int)group, o->key);
            else
                fprintf(out, "\n### %s\n", i == 0 ? "The call" : "Other");
            fputs("\n| key | type | default | takes | |\n|---|---|---|---|---|\n",
                  out);
        }
        fprintf(out, "| `%s` | %s | `%s` | %s | %s |\n", o->key,
                type_name(o->type),
                bide__option_text(&init, o, buffer, sizeof buffer), o->expects,
                o->help);
    }
    fputs("\n`hedge.after: p95` is short for `after: quantile, quantile: "
          "0.95`.\n\n", out);
}

static void put_presets(FILE *out)
{
    fputs("\n## Presets\n\n| name | |\n|---|---|\n", out);
    for (size_t i = 0; bide_policy_preset_name(i); i++)
        fprintf(out, "| `%s` | %s |\n", bide_policy_preset_name(i),
                bide_policy_preset_text(i));
}

static void put_codes(FILE *out)
{
    size_t n;
    const struct bide__diag_code *codes = bide__diag_codes(&n);
    const struct bide__lint_rule *lints;

    fputs("\n## Errors\n\nA file with one of these is refused; `bide check` "
          "exits with 2.\n\n| code | |\n|---|---|\n", out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "| `%s` | %s |\n", codes[i].code, codes[i].text);
    fputs("\n## Warnings\n\nAllowed, and likely to hurt; `bide check` exits "
          "with 1.\n\n| code | name | why |\n|---|---|---|\n", out);
    lints = bide__lint_rules(&n);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "| `%s` | `%s` | %s |\n", lints[i].code, lints[i].name,
                lints[i].why);
}

void bide__write_reference(FILE *out)
{
    fputs(introduction, out);
    put_options(out);
    fputs(others, out);
    fputs("\n## Where records are kept\n\nWhich operations were done, for "
          "`idempotency` of a route: a URL, or these keys.\n", out);
    bide__reference_section(out, "store", &bide__store_table);
    fputs("\n## A fleet\n\nOne budget and one breaker picture for all instances: "
          "see [fleet.md](fleet.md).\n", out);
    bide__reference_section(out, "fleet", &bide__fleet_table);
    bide__reference_section(out, "proxy", &bide__proxy_table);
    fputs("\n## The queue worker\n\nWhat `bide worker -c FILE` does, and where "
          "`bide enqueue -c FILE` puts messages: see\n[worker.md](worker.md). "
          "Flags go before it. A file with this section needs no\n`policies`.\n",
          out);
    bide__reference_section(out, "worker", &bide__worker_table);
    put_presets(out);
    put_codes(out);
}
