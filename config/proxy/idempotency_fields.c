/* idempotency_fields.c: the keys of a route's `idempotency:`. */
#include "config/proxy/idempotency.h"

#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "config/field/read.h"
#include "config/field/rows.h"
#include "config/field/schema.h"
#include "config/policy/policy_rules.h"
#include "config/proxy/read.h"

const char *const bide__default_methods[2] = { "POST", "PATCH" };

/* ===== values ===== */

static const char *read_method(struct bide__load *load,
                               const struct bide__node *text, void *member)
{
    (void)load;
    if (!bide__fits_method(text))
        return "methods are case-sensitive: write capitals, as in `POST`";
    memcpy(member, &text->text, sizeof text->text);
    return NULL;
}

/* Statuses and ranges of them, in place of the default. */
static BIDE__READER(read_release)
{
    struct bide__proxy_idempotency *conf = to;
    uint16_t from, last;

    memset(conf->release, 0, sizeof conf->release);
    if (bide__node_empty(node)) {
        bide__wrong_field(load, f, key, node, NULL, NULL);
        return;
    }
    for (size_t i = 0; i < bide__member_count(node); i++) {
        const struct bide__node *item = bide__member(node, i);

        if (!bide__read_status(item, &from, &last) || from < 400 ||
            last > 599) {
            bide__wrong_field(load, f, key, item, NULL, NULL);
            return;
        }
        for (unsigned s = from; s <= last; s++)
            conf->release[s / 64] |= BIDE__RELEASE_BIT(s);
    }
}

static void put_status(struct bide__json *j, const char *key)
{
    bide__json_object(j, key);
    bide__json_list(j, "anyOf");
    bide__schema_bounds(j, "integer", 400, 599, false);
    bide__schema_pattern(j, NULL, "^[45][0-9][0-9](-[45][0-9][0-9])?$");
    bide__json_end(j);
    bide__json_end(j);
}

static void release_schema(struct bide__json *j, const struct bide__field *f)
{
    (void)f;
    bide__json_list(j, "anyOf");
    put_status(j, NULL);
    bide__json_object(j, NULL);
    bide__json_text(j, "type", "array");
    put_status(j, "items");
    bide__json_end(j);
    bide__json_end(j);
}

/* ===== rows ===== */

#define S struct bide__proxy_idempotency
static const char *const accepts[] = { "off", "optional", "required", NULL };
static const char *const unknowns[] = { "refuse", "retry", NULL };
static const char *const failures[] = { "refuse", "pass", NULL };

static const struct bide__field idempotency_fields[] = {
    { "accept", AT(accept),
      TAKES_CHOICE(accepts, "off, optional or required"),
      .required = true,
      .hint = "add `accept: required`",
      .help = "Whether requests must carry an `Idempotency-Key`; with "
              "`optional`, those that do are done once, and the others "
              "pass." },
    { "methods", AT(methods),
      TAKES_AS(BIDE__TEXTS, "a method in capital letters, or a list of them"),
      .most = 16, .item = read_method, .size = sizeof(const char *),
      .n_offset = offsetof(S, n_methods),
      .fallback = "POST, PATCH",
      .hint = "write `methods: [POST, PATCH]`",
      .help = "Of these requests; others pass, and a key of theirs is passed "
              "on." },
    { "caller", AT(caller), TAKES_TEXT("the name of a header field"),
      .fits = bide__fits_token,
      .hint = "write the name alone, as in `X-Account`",
      .help = "The field that says who asks, set by what is in front of bide: "
              "the same key of two callers is two operations. Without it, a "
              "key belongs to the `Authorization` (or, without one, the "
              "`Cookie`) that first used it." },
    { "keep", AT(keep_ns), TAKES_DURATION_FROM(1, s, 400, d),
      .help = "How long an answer is kept, and the key is used up." },
    { "lease", AT(lease_ns), TAKES_DURATION_FROM(1, s, 1, h),
      .help = "How long a key stays in progress after the process that "
              "worked on it has died; it is renewed while the process "
              "lives." },
    { "max_body", AT(max_body), TAKES_SIZE_FROM(1, KiB, 16, MiB),
      .help = "The largest body of a request, over it 413; and of an answer "
              "that is kept: a larger one reaches its client, and a repeat "
              "gets 409 `idempotency_too_large`." },
    { "release", AT(release), TAKES_AS(BIDE__OTHER,
          "a status from 400 to 599, a range of them, or a list"),
      .type_name = "list", .read = read_release,
      .size = sizeof(uint64_t[BIDE__RELEASE_WORDS]),
      .schema = release_schema,
      .fallback = "401, 403, 407, 408, 425, 429, 503",
      .hint = "write `release: [429, 503]`",
      .help = "Answers of the origin that mean that nothing was done: they are "
              "not kept, the request may be retried, and the next use of the "
              "key is a first one." },
    { "on_unknown", AT(on_unknown), TAKES_CHOICE(unknowns, "refuse or retry"),
      .help = "What becomes of a key whose outcome was lost: 409 "
              "`idempotency_unknown`; or sent again, for an origin that knows "
              "the key itself. With `retry`, 500, 502 and 504 are released as "
              "well." },
    { "on_store_failure", AT(on_store_failure),
      TAKES_CHOICE(failures, "refuse or pass"),
      .help = "What becomes of a request while the store is down or full: 503 "
              "`idempotency_store`; or it passes, and nothing is kept." },
    LAST
};
#undef S

/* ===== checks ===== */

/* A hedge is a second request while the first may be under way. */
void bide__check_idempotency(struct bide__load *load,
                             const struct bide__node *map,
                             const struct bide__proxy_route *route)
{
    const struct bide__proxy_idempotency *conf = &route->idempotency;
    const struct bide__node *node = bide__map_get(map, "idempotency", NULL);

    if (conf->accept == BIDE__ACCEPT_OFF || !node)
        return;
    if (route->policy->hedge.max != 0 &&
        conf->on_unknown == BIDE__UNKNOWN_REFUSE)
        bide__mistake(load, node, "contradiction",
                      "name a policy without `hedge`; or, if the origin knows "
                      "the key, add `on_unknown: retry`",
                      "the policy `%s` sends hedges, and a request that is done "
                      "once must not be sent twice",
                      route->policy_name);
    if (route->idempotent && conf->on_unknown == BIDE__UNKNOWN_REFUSE)
        bide__mistake(load, bide__map_get(map, "idempotent", NULL),
                      "contradiction",
                      "take one of the two out; or, if the origin knows the "
                      "key, add `on_unknown: retry`",
                      "`idempotent` says that requests may be sent twice, and "
                      "`idempotency` that they may not");
    if (conf->caller && strcasecmp(conf->caller, "idempotency-key") == 0)
        bide__mistake(load, bide__map_get(node, "caller", NULL), "contradiction",
                      "name the field that says who asks, as in `X-Account`",
                      "`caller` is the key itself");
}

/* A record that is gone before its lease ends protects nothing. */
static BIDE__CHECKER(check_times)
{
    const struct bide__proxy_idempotency *conf = to;
    const struct bide__node *keep = bide__map_get(map, "keep", NULL);
    char lease[32];

    if (conf->keep_ns < conf->lease_ns)
        bide__mistake(load, keep ? keep : where, "contradiction",
                      "keep answers for longer than a request may take",
                      "`keep` is shorter than `lease`, which is %s",
                      bide_format_duration(conf->lease_ns, lease,
                                           sizeof lease));
}

const struct bide__table bide__proxy_idempotency_table = {
    .fields = idempotency_fields, .check = check_times
};
