/* Reads `worker:`: the queue, its handler, and how it is worked off. */
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "config/field/read.h"
#include "config/field/rows.h"
#include "config/field/schema.h"
#include "config/policy/policy_file.h"
#include "config/proxy/address.h"
#include "config/proxy/read.h"
#include "config/worker/conf.h"

/* ===== texts ===== */

static bool begins(const char *text, const char *with)
{
    size_t n = strlen(with);
    return strncasecmp(text, with, n) == 0 && text[n] != '\0';
}

static bool fits_queue(const struct bide__node *text)
{
    size_t n = strspn(text->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789-_.");
    return n >= 1 && n <= 80 && !text->text[n] && text->text[0] != '.' &&
           text->text[0] != '-';
}

/* Which of them exist is the broker's to know: they are modules. */
static bool fits_broker(const struct bide__node *text)
{
    size_t n = strspn(text->text, "abcdefghijklmnopqrstuvwxyz0123456789+");
    return n >= 2 && text->text[n] == ':' && text->text[n + 1] != '\0';
}

static bool fits_to(const struct bide__node *text)
{
    return begins(text->text, "http://") || begins(text->text, "https://");
}

/* ===== commands ===== */

/* An argument may be empty, or a number. */
static bool is_argument(const struct bide__node *node)
{
    return node->kind == BIDE__SCALAR &&
           (!bide__node_empty(node) || node->quoted) &&
           !memchr(node->text, '\0', node->len);
}

static BIDE__READER(read_command)
{
    struct bide__worker_settings *w = to;
    size_t n = node->kind == BIDE__MAP ? 0 : bide__member_count(node);
    const char **words = bide__load_alloc(load, (n + 1) * sizeof *words);

    if (!words)
        return;
    if (n == 0 || (node->kind == BIDE__SCALAR && !bide__is_text(node))) {
        bide__wrong_field(load, f, key, node, NULL, NULL);
        return;
    }
    if (node->kind == BIDE__SCALAR && strpbrk(node->text, " \t\n")) {
        bide__wrong_field(load, f, key, node,
                          "a list, the program and its arguments", NULL);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct bide__node *word = bide__member(node, i);

        if (!is_argument(word) || (i == 0 && word->len == 0)) {
            bide__wrong_field(load, f, key, word, NULL, NULL);
            return;
        }
        words[i] = word->text;
    }
    words[n] = NULL;
    w->command = words;
}

static void put_argument(struct bide__json *j, const char *key)
{
    bide__json_object(j, key);
    bide__json_list(j, "type");
    bide__json_text(j, NULL, "string");
    bide__json_text(j, NULL, "number");
    bide__json_text(j, NULL, "boolean");
    bide__json_end(j);
    bide__json_end(j);
}

static void command_schema(struct bide__json *j, const struct bide__field *f)
{
    (void)f;
    bide__json_list(j, "anyOf");
    bide__schema_pattern(j, NULL, "^[^ \\t\\n]+$");
    bide__json_object(j, NULL);
    bide__json_text(j, "type", "array");
    bide__json_integer(j, "minItems", 1);
    put_argument(j, "items");
    bide__json_end(j);
    bide__json_end(j);
}

/* ===== exit codes ===== */

static BIDE__READER(read_codes)
{
    struct bide__codes *codes = (void *)((char *)to + f->offset);

    if (bide__node_empty(node) || node->kind == BIDE__MAP ||
        bide__member_count(node) == 0) {
        bide__wrong_field(load, f, key, node, NULL, NULL);
        return;
    }
    for (size_t i = 0; i < bide__member_count(node); i++) {
        const struct bide__node *item = bide__member(node, i);

        if (!bide__is_text(item) || !bide__codes_read(codes, item->text, 1)) {
            bide__wrong_field(load, f, key, item, NULL, NULL);
            return;
        }
    }
}

static void put_code(struct bide__json *j, const char *key)
{
    bide__json_object(j, key);
    bide__json_list(j, "anyOf");
    bide__schema_bounds(j, "integer", 1, 255, false);
    bide__schema_pattern(j, NULL,
                         "^([0-9]+|[A-Z0-9]+|timeout)(-[0-9]+)?"
                         "(,([0-9]+|[A-Z0-9]+|timeout)(-[0-9]+)?)*$");
    bide__json_end(j);
    bide__json_end(j);
}

static void codes_schema(struct bide__json *j, const struct bide__field *f)
{
    (void)f;
    bide__json_list(j, "anyOf");
    put_code(j, NULL);
    bide__json_object(j, NULL);
    bide__json_text(j, "type", "array");
    bide__json_integer(j, "minItems", 1);
    put_code(j, "items");
    bide__json_end(j);
    bide__json_end(j);
}

/* ===== rows ===== */

#define S struct bide__worker_settings
static const char *const logs[] = { "changes", "attempts", "off", NULL };
static const char *const formats[] = { "text", "json", NULL };
#define CODES                                                                  \
    TAKES_AS(BIDE__OTHER, "an exit code from 1 to 255, a range, the name of "  \
                          "a signal, timeout, or a list of them"),             \
        .type_name = "list", .read = read_codes,                               \
        .size = sizeof(struct bide__codes), .schema = codes_schema

static const struct bide__field worker_fields[] = {
    { "queue", AT(queue),
      TAKES_TEXT("letters, digits, `-`, `_` and `.`, at most 80"),
      .fits = fits_queue, .pattern = "^[A-Za-z0-9_][A-Za-z0-9._-]{0,79}$",
      .fixed = true, .fallback = "default", .help = "The name of the queue." },
    { "broker", AT(broker),
      TAKES_TEXT("the URL of a broker, such as sqlite:FILE, redis://HOST or "
                 "postgresql://HOST/DATABASE"),
      .fits = fits_broker, .pattern = "^[a-z0-9+]{2,}:.+$", .fixed = true,
      .fallback = "SQLite, `queue.db` in the state folder",
      .hint = "write a local file, as in `sqlite:/var/lib/bide/queue.db`",
      .help = "Where the queue is kept." },
    { "create", AT(create), TAKES_FLAG, .fixed = true,
      .help = "A worker makes a queue that is missing, although a similar name "
              "exists." },
    { "policy", AT(policy), TAKES_AS(BIDE__NAME, "the name of a policy"),
      .read = bide__read_policy, .fixed = true,
      .fallback = "the preset `queue`",
      .help = "What failed attempts lead to. Each delivery of a message is a "
              "call of its own, and its waits are in the queue." },
    { "command", AT(command),
      TAKES_AS(BIDE__OTHER, "a program, or a list of it and its arguments"),
      .type_name = "list", .read = read_command, .schema = command_schema,
      .size = sizeof(const char *const *), .fixed = true,
      .hint = "write a list, as in `command: [./handle, --fast]`",
      .help = "Handles a message: the body is on its standard input." },
    { "to", AT(to), TAKES_TEXT("a URL, http:// or https://"), .fits = fits_to,
      .pattern = "^[Hh][Tt][Tt][Pp][Ss]?://.+$", .fixed = true,
      .hint = "as in `http://127.0.0.1:8080/jobs`",
      .help = "Each message is POSTed there, instead of running a command." },
    { "at_once", AT(at_once), TAKES_COUNT_OR(1, 1000, "auto", 0),
      .fixed = true,
      .help = "Handlers at the same time; auto is twice the cores for "
              "commands, 16 for a URL." },
    { "retry_on", AT(retry_on), CODES, .fixed = true,
      .fallback = "all but 0, 65 and `stop_on`",
      .hint = "write `retry_on: [1, 75, 100-110]`",
      .help = "Of a command: only these exit codes are worth another "
              "attempt." },
    { "stop_on", AT(stop_on), CODES, .fixed = true,
      .hint = "write `stop_on: [2, 66]`",
      .help = "Of a command: these exit codes are permanent, beside 65." },
    { "drain", AT(drain_ns), TAKES_DURATION, .fixed = true,
      .help = "How long what is running may take when the worker is told to "
              "end; then it is stopped, and given back." },
    { "kill_after", AT(kill_after_ns), TAKES_DURATION, .fixed = true,
      .help = "How long a command may take to end once it was told to." },
    { "lease", AT(lease_ns), TAKES_DURATION_FROM(3, s, 1, h), .fixed = true,
      .help = "How long a worker that has gone silent keeps its messages. One "
              "that lives renews it, so handlers may take longer." },
    { "until_empty", AT(until_empty), TAKES_FLAG, .fixed = true,
      .help = "Ends when nothing is left: 0, or 1 if a message died." },
    { "admin", AT(admin), TAKES_TEXT("an address and a port"),
      .item = bide__read_address, .size = sizeof(struct bide__proxy_address),
      .pattern = "^(.+:[0-9]+|unix:/.+)$", .fixed = true,
      .hint = "write `127.0.0.1:9902`",
      .help = "Where the admin endpoint is: metrics, health, the dashboard." },
    { "telemetry", AT(telemetry), TAKES_MAP(bide__worker_telemetry_table),
      .fixed = true, .help = "What is sent to a collector." },
    { "log", AT(log), TAKES_CHOICE(logs, "changes, attempts or off"),
      .fixed = true,
      .help = "What is reported on standard error: pauses, deaths and the "
              "like; each attempt as well; nothing." },
    { "log_format", AT(log_json), TAKES_EITHER(formats, "text or json"),
      .fixed = true, .help = "How it is written; JSON has a line for each." },
    LAST
};
#undef S

/* ===== what the keys are to each other ===== */

static void no_hedging(struct bide__load *load, const struct bide__node *map,
                       const char *name)
{
    const struct bide__policy_entry *entry =
        bide__config_entry(load->config, name);

    if (entry && entry->conf.hedge.max > 0)
        bide__mistake(load, bide__map_get(map, "policy", NULL),
                      "contradiction", "name a policy without `hedge`",
                      "a worker does not hedge: a message is with one handler "
                      "at a time");
}

static void check(struct bide__load *load, const struct bide__node *where,
                  const struct bide__node *map, void *to)
{
    const struct bide__worker_settings *w = to;
    struct bide__node *command, *url;

    (void)where;
    if (bide__map_get(map, "command", &command) &&
        bide__map_get(map, "to", &url)) {
        bide__mistake(load, command, "contradiction", "take out one of the two",
                      "`command` and `to` both say who handles messages");
        bide__diag(load->notes, load->tree, url, BIDE_NOTE, "contradiction",
                   NULL, "`to` is here");
    }
    if (w->policy)
        no_hedging(load, map, w->policy);
}

static const struct bide__worker_settings defaults = BIDE__WORKER_SETTINGS_INIT;

const struct bide__table bide__worker_table = {
    worker_fields, .size = sizeof(struct bide__worker_settings),
    .init = &defaults, .check = check
};

void bide__load_worker(struct bide__load *load, const struct bide__node *key,
                       const struct bide__node *node)
{
    struct bide__worker_settings *to = bide__load_alloc(load, sizeof *to);

    if (!to)
        return;
    *to = defaults;
    load->config->worker = to;
    if (bide__expect_map(load, key, node, NULL))
        bide__read_fields(load, &bide__worker_table, key, node, to);
}

const struct bide__worker_settings *
bide__config_worker(const bide_config *config)
{
    return config ? config->worker : NULL;
}
