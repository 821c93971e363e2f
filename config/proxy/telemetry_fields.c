/* telemetry_fields.c: the keys that say how the sidecar is watched: who may
 * use its admin endpoint, and what it tells without being asked. */
#include <string.h>

#include "config/proxy/read.h"
#include "config/field/section_rows.h"

/* ===== values ===== */

/* Shorter ones can be guessed; what a header field cannot carry is none. */
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
    const char *at = text->text;
    size_t scheme = strncmp(at, "http://", 7) == 0    ? 7
                    : strncmp(at, "https://", 8) == 0 ? 8
                                                      : 0;

    return scheme && at[scheme] && !strpbrk(at, " \t\r\n?#@");
}

static BIDE__READER(read_decisions)
{
    bide__read_log_name(load, f, key, node,
                        &((struct bide__proxy_telemetry *)to)->log);
}

static BIDE__READER(read_hosts)
{
    struct bide__proxy_admin *admin = to;
    size_t n = bide__member_count(node);
    const char **list;

    if (!bide__right_number(load, f, key, node) ||
        !(list = bide__load_alloc(load, (n + 1) * sizeof *list)))
        return;
    for (size_t i = 0; i < n; i++) {
        const struct bide__node *item = bide__member(node, i);

        if (!bide__is_text(item) || !bide__fits_host(item))
            bide__wrong_field(load, f, key, item, NULL, f->hint);
        else
            list[i] = item->text;
    }
    admin->hosts = list;
    admin->n_hosts = n;
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
static const struct bide__section_field admin_fields[] = {
    { NAMED("token", AT(token), "a text of at least 16 characters",
            "What actions must be sent with, as in `Authorization: Bearer "
            "TOKEN`: force a breaker, drain, reload. Without it there are "
            "none."),
      .kind = BIDE__TEXT, .fits = fits_secret, .pattern = "^[!-~]{16,}$",
      .hint = "make one: `openssl rand -hex 16`" },
    FILE_ROW("certificate", certificate,
             "Certificate and chain, PEM: the endpoint speaks TLS. Read when "
             "the program starts."),
    FILE_ROW("key", key, "Its key, PEM."),
    FLAG("insecure", insecure,
         "Whether the endpoint may be where others than this machine reach "
         "it, without a token and TLS."),
    { NAMED("hosts", AT(hosts), "the name of a host, or a list of them",
            "Names under which it may be asked; addresses and localhost always "
            "may. Others are refused, so that nobody's page in a browser gets "
            "at it."),
      .kind = BIDE__TEXTS, .most = 64, .read = read_hosts,
      .hint = "write names without a port, as in `admin.example.org`" },
    LAST
};
#undef S

#define S struct bide__proxy_telemetry
static const char *const otlp_formats[] = { "protobuf", "json", NULL };
static const struct bide__section_field telemetry_fields[] = {
    { NAMED("otlp", AT(otlp), "a URL that begins with http:// or https://",
            "A collector of OpenTelemetry that spans and metrics are sent to."),
      .kind = BIDE__TEXT, .fits = fits_url, .pattern = "^https?://.+$",
      .hint = "write the address of the agent on this host, as in "
              "`http://127.0.0.1:4318`" },
    FILE_ROW("ca", ca,
             "Authorities that the certificate of an https:// collector may be "
             "from, PEM; without it, those of the system."),
    { .o = { "format", BIDE_OPTION_CHOICE, AT(format), 0, 0, false, NULL, 0,
             otlp_formats, "protobuf or json", "How they are written." },
      .kind = BIDE__VALUE },
    VALUE("sample", RATIO, sample, 0, 1, false, "a ratio from 0 to 1",
          "The share of requests that are traced; those that come with a "
          "traceparent say it themselves."),
    VALUE("metrics", DURATION, metrics_ns, 0, MAX_NS, false, "a duration",
          "How often metrics are sent to the collector; 0 is never."),
    { NAMED("log", AT(log), BIDE__LOG_EXPECTED,
            "Where a line of JSON for each decision after a failure goes."),
      .kind = BIDE__TEXT, .read = read_decisions, .pattern = BIDE__LOG_PATTERN,
      .fallback = "off" },
    VALUE("log_rate", RATE, log_per_s, 0, 1e6, false, "a rate",
          "How many such lines at the most; one line tells how many more "
          "there would have been."),
    LAST
};
#undef S

const struct bide__section_table bide__proxy_admin_table = {
    .fields = admin_fields, .check = bide__check_pair
};
const struct bide__section_table bide__proxy_telemetry_table = {
    .fields = telemetry_fields, .check = check_telemetry
};
