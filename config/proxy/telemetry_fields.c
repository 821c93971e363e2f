/* telemetry_fields.c: the keys for observing the sidecar: who may use its admin
 * endpoint, and what telemetry it sends. */
#include <string.h>

#include "base/address.h"
#include "config/field/rows.h"
#include "config/proxy/read.h"

/* ===== values ===== */

/* Shorter tokens can be guessed; others must fit in a header field. */
static bool fits_secret(const struct bide__node *text)
{
    enum { SHORTEST = 16 };

    for (size_t i = 0; i < text->len; i++)
        if (text->text[i] <= ' ' || text->text[i] > '~')
            return false;
    return text->len >= SHORTEST;
}

static bool fits_url(const struct bide__node *text)
{
    struct bide__url url;

    return bide__url(text->text, text->len, &url) &&
           !strpbrk(text->text, " \t\r\n?#@");
}

/* A name of the admin endpoint's host. */
static const char *read_host(struct bide__load *load,
                             const struct bide__node *text, void *member)
{
    static const char help[] =
        "write names without a port, as in `admin.example.org`";

    (void)load;
    if (!bide__fits_host(text))
        return help;
    memcpy(member, &text->text, sizeof text->text);
    return NULL;
}

static BIDE__CHECKER(check_telemetry)
{
    const struct bide__proxy_telemetry *t = to;
    struct bide__node *at;
    bool mistaken = !t->otlp && bide__map_get(map, "otlp", NULL);

    (void)where;
    if (bide__map_get(map, "ca", &at) && !mistaken &&
        !(t->otlp && strncmp(t->otlp, "https://", 8) == 0))
        bide__mistake(load, at, "contradiction",
                      "take it out, or write `otlp: https://...`",
                      "`ca` is for a collector at https://, and there is none");
}

/* ===== rows ===== */

#define S struct bide__proxy_admin
static const struct bide__field admin_fields[] = {
    { "token", AT(token), TAKES_TEXT("a text of at least 16 characters"),
      .fits = fits_secret,
      .pattern = "^[!-~]{16,}$",
      .hint = "make one: `openssl rand -hex 16`",
      .help = "What actions must be sent with, as in `Authorization: Bearer "
              "TOKEN`: force a breaker, drain, reload. Without it there are "
              "none." },
    { "certificate", AT(certificate), TAKES_FILE,
      .help = "Certificate and chain, PEM: the endpoint speaks TLS. Read when "
              "the program starts." },
    { "key", AT(key), TAKES_FILE, .help = "Its key, PEM." },
    { "insecure", AT(insecure), TAKES_FLAG,
      .help = "Whether the endpoint may be where others than this machine "
              "reach it, without a token and TLS." },
    { "hosts", AT(hosts),
      TAKES_AS(BIDE__TEXTS, "the name of a host, or a list of them"),
      .most = 64,
      .item = read_host,
      .size = sizeof(const char *),
      .n_offset = offsetof(S, n_hosts),
      .hint = "write names without a port, as in `admin.example.org`",
      .help = "Names under which it may be asked; addresses and localhost "
              "always may. Others are refused, so that nobody's page in a "
              "browser gets at it." },
    LAST
};
#undef S

#define S struct bide__proxy_telemetry
static const char *const otlp_formats[] = { "protobuf", "json", NULL };
/* What every program has that is observed. */
#define COLLECTOR_ROWS(what)                                                   \
    { "otlp", AT(otlp),                                                        \
      TAKES_TEXT("a URL that begins with http:// or https://"),                \
      .fits = fits_url, .pattern = "^https?://.+$",                            \
      .hint = "write the address of the agent on this host, as in "            \
              "`http://127.0.0.1:4318`",                                       \
      .help = "A collector of OpenTelemetry that spans and metrics are sent "  \
              "to." },                                                         \
    { "ca", AT(ca), TAKES_FILE,                                                \
      .help = "Authorities that the certificate of an https:// collector may " \
              "be from, PEM; without it, those of the system." },              \
    { "format", AT(format), TAKES_CHOICE(otlp_formats, "protobuf or json"),    \
      .help = "How they are written." },                                       \
    { "sample", AT(sample), TAKES_RATIO(0, 1),                                 \
      .help = "The share of " what " that are traced; those that come with a " \
              "traceparent say it themselves." },                              \
    { "metrics", AT(metrics_ns), TAKES_DURATION,                               \
      .help = "How often metrics are sent to the collector; 0 is never." }

static const struct bide__field worker_telemetry_fields[] = {
    COLLECTOR_ROWS("messages"),
    LAST
};
static const struct bide__field telemetry_fields[] = {
    COLLECTOR_ROWS("requests"),
    { "log", AT(log), TAKES_TEXT(BIDE__LOG_EXPECTED), .read = bide__read_log,
      .pattern = BIDE__LOG_PATTERN, .fallback = "off",
      .help = "Where a line of JSON for each decision after a failure goes." },
    { "log_rate", AT(log_per_s), TAKES(RATE, 0, 1000000, "a rate"),
      .help = "The most such lines; one line says how many more were "
              "suppressed." },
    LAST
};
#undef S

const struct bide__table bide__proxy_admin_table = {
    .fields = admin_fields, .check = bide__check_pair
};
const struct bide__table bide__proxy_telemetry_table = {
    .fields = telemetry_fields, .check = check_telemetry
};
const struct bide__table bide__worker_telemetry_table = {
    .fields = worker_telemetry_fields, .check = check_telemetry
};
