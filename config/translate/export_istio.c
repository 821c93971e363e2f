/* export_istio.c: a policy as a VirtualService and a DestinationRule, in YAML.
 *
 * `retries.attempts` counts retries, not attempts, and must be 0 if there are
 * none: without it Istio retries twice. `retries.backoff` (Istio 1.26) is the
 * first wait; the longest is always ten times that. `retryBudget` requires
 * 1.27. Everything else works with 1.8 or earlier. */
#include "config/translate/export_istio.h"

#include "config/policy/retry_set.h"
#include "config/policy/write_policy.h"
#include "config/translate/mesh.h"
#include "config/translate/translate_value.h"

static const char not_read[] =
    "it does not read what servers say about retrying";

/* ===== VirtualService ===== */

/* A status that bide retries by default is not a loss of this policy. */
static bool retried_by_default(unsigned status)
{
    bide_outcome out =
        bide_classify(NULL, &(bide_response){ .status = (int)status });
    return out.cls == BIDE_TRANSIENT || out.cls == BIDE_THROTTLED;
}

static const char *retry_on(const struct bide__mesh *m,
                            struct bide__translation *t)
{
    struct bide__retry_set unknown = { { 0 }, 0, 0 };
    const char *list = m->conditions;
    bool lost = false, usual = false;

    for (unsigned s = 100; list && s <= 999; s++) {
        if (!bide__status_in(&m->retried, s) ||
            (m->any_5xx && s >= 500 && s <= 599))
            continue;
        if (bide__status_registered(s)) {
            list = bide__arena_printf(t->arena, "%s%s%u", list,
                                      *list ? "," : "", s);
        } else if (retried_by_default(s)) {
            usual = true;
        } else {
            bide__status_add(&unknown, s, s);
            lost = true;
        }
    }
    if (usual)
        bide__caveat(t, "Istio takes only registered statuses; 520 to 529 and "
                        "599, which bide retries by default, are left out");
    if (lost)
        bide__lost_other(t, "retry_on.status",
                         bide__status_text(t->arena, &unknown),
                         "only registered statuses are taken for one", NULL);
    t->no_memory = t->no_memory || !list;
    return list ? list : "";
}

/* Istio does not allow timeouts or waits of less than a millisecond. */
void bide__istio_duration(struct bide__translation *t, FILE *out,
                          const char *option, const char *key, int64_t ns)
{
    char buffer[BIDE__DURATION_SIZE];

    bide__kept(t, option);
    if (ns < BIDE_MILLISECOND) {
        ns = BIDE_MILLISECOND;
        bide__approximated(t, option, "a duration is 1ms or more", "1ms");
    }
    fprintf(out, "%s: %s\n", key, bide__go_duration(ns, buffer));
}

static void backoff(struct bide__translation *t, FILE *out)
{
    const bide_backoff *b = &t->conf->backoff;
    int64_t base_ns =
        b->base_ns < BIDE_MILLISECOND ? BIDE_MILLISECOND : b->base_ns;
    char buffer[BIDE__DURATION_SIZE];

    bide__mesh_shape(t);
    bide__istio_duration(t, out, "backoff.base", "      backoff", b->base_ns);
    bide__kept(t, "backoff.cap");
    if (base_ns > INT64_MAX / 10 || b->cap_ns != 10 * base_ns)
        bide__approximated(
            t, "backoff.cap", "the longest wait is ten times backoff", "%s",
            base_ns > INT64_MAX / 10
                ? "10 * base"
                : bide_format_duration(10 * base_ns, buffer, sizeof buffer));
}

static void tell_hints(struct bide__translation *t)
{
    static const char *const keys[] = { "retry_after.mode", "retry_after.max",
                                        "retry_after.jitter",
                                        "retry_after.throttled_without_hint",
                                        "retry_after.then",
                                        NULL };

    for (size_t i = 0; keys[i]; i++)
        bide__lost(t, keys[i], not_read);
    bide__quietly(t, keys + 1);
}

static void no_retries(struct bide__translation *t, FILE *out)
{
    static const char *const hedge[] = {
        "hedge.max",         "hedge.after",      "hedge.quantile",
        "hedge.min_samples", "hedge.extra_load", "hedge.window",
        NULL
    };
    const bide_policy_conf *c = t->conf;

    fprintf(out, "      attempts: 0\n");
    if (c->attempts > 1)
        bide__lost(t, "attempts", "it has no condition for what is retried");
    for (int i = 0; c->hedge.max > 0 && hedge[i]; i++)
        bide__lost(t, hedge[i], "it does not hedge");
    bide__quietly(t, hedge);
    if (bide__tries_again(c) && c->attempt_timeout_ns != BIDE_FOREVER)
        bide__lost(t, "attempt_timeout", "only what is retried has one");
}

static bool retries(const struct bide__mesh *m, struct bide__translation *t,
                    FILE *out)
{
    const bide_policy_conf *c = t->conf;
    const char *list = c->attempts > 1 ? retry_on(m, t) : "";

    bide__kept(t, "attempts");
    bide__kept(t, "attempt_timeout");
    fprintf(out, "    retries:\n");
    if (!*list) {
        no_retries(t, out);
        return false;
    }
    fprintf(out, "      attempts: %lu\n", (unsigned long)c->attempts - 1);
    if (c->attempt_timeout_ns != BIDE_FOREVER)
        bide__istio_duration(t, out, "attempt_timeout", "      perTryTimeout",
                             c->attempt_timeout_ns);
    fprintf(out, "      retryOn: %s\n", list);
    backoff(t, out);
    tell_hints(t);
    return true;
}

void bide__kubernetes_name(const char *name, FILE *out)
{
    char kept[64];
    size_t n = 0;

    for (; *name && n + 1 < sizeof kept; name++) {
        char c = *name;

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            kept[n++] = c;
        else if (n > 0 && kept[n - 1] != '-')
            kept[n++] = '-';
    }
    while (n > 0 && kept[n - 1] == '-')
        n--;
    fprintf(out, "%.*s", n > 0 ? (int)n : 6, n > 0 ? kept : "policy");
}

void bide__istio_head(const char *kind, const struct bide__export_names *names,
                      FILE *out)
{
    fprintf(out,
            "apiVersion: networking.istio.io/v1\nkind: %s\n"
            "metadata:\n  name: ",
            kind);
    bide__kubernetes_name(names->host, out);
    fprintf(out, "\nspec:\n");
}

static bool virtual_service(const struct bide__mesh *m,
                            struct bide__translation *t,
                            const struct bide__export_names *names, FILE *out)
{
    int64_t timeout_ns = bide__call_timeout(t);

    bide__istio_head("VirtualService", names, out);
    fprintf(out, "  hosts:\n  - ");
    bide__write_yaml_text(out, names->host);
    fprintf(out, "\n  http:\n  - route:\n    - destination:\n        host: ");
    bide__write_yaml_text(out, names->host);
    fprintf(out, "\n");
    if (timeout_ns != BIDE_FOREVER)
        bide__istio_duration(
            t, out,
            timeout_ns == t->conf->deadline_ns ? "deadline" : "attempt_timeout",
            "    timeout", timeout_ns);
    return retries(m, t, out);
}

void bide__export_istio(struct bide__translation *t,
                        const struct bide__export_names *names, FILE *out)
{
    struct bide__mesh m;

    bide__mesh_plan(&m, t);
    if (!virtual_service(&m, t, names, out))
        bide__mesh_no_budget(&m, t);
    else
        bide__caveat(t,
                     "Istio repeats any request, a POST too; bide only those "
                     "that are idempotent, or carry a key");
    bide__istio_rule(&m, t, names, out);
}
