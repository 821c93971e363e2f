/* The policies of each variant: what differs from the defaults, and, marked,
 * what differs from the first variant. */
#include "sim/report/policies.h"

#include <string.h>

#include "config/field/option_value.h"
#include "sim/report/models.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/text.h"

static const struct sim_model_variant *variant_of(const struct page *p,
                                                  uint32_t v)
{
    const struct sim_model *m = page_model_of(p->s, v);
    const struct sim_result *r = p->s->variants[v].first;
    uint32_t i = r ? r->variant : v;

    return i < m->n_variants ? &m->variants[i] : NULL;
}

static const struct sim_model_policy *fleet_policy(const struct page *p,
                                                   uint32_t v, uint32_t fleet)
{
    const struct sim_model *m = page_model_of(p->s, v);
    const struct sim_model_variant *own = variant_of(p, v);
    uint32_t i = SIM_NONE;

    if (fleet >= m->n_fleets)
        return NULL;
    if (own && own->fleet_policy)
        i = own->fleet_policy[fleet];
    if (i == SIM_NONE)
        i = m->fleets[fleet].policy;
    return i < m->n_policies ? &m->policies[i] : NULL;
}

static const struct sim_model_policy *
edge_policy(const struct page *p, uint32_t v, uint32_t service, uint32_t edge)
{
    const struct sim_model *m = page_model_of(p->s, v);
    const struct sim_model_variant *own = variant_of(p, v);
    uint32_t i = SIM_NONE;

    if (service >= m->n_services || edge >= m->services[service].n_edges)
        return NULL;
    if (own && own->edge_policy && own->edge_policy[service])
        i = own->edge_policy[service][edge];
    if (i == SIM_NONE)
        i = m->services[service].edges[edge].policy;
    return i < m->n_policies ? &m->policies[i] : NULL;
}

/* ===== the text ===== */

/* What a fleet says about repeating its calls; NULL: that they may be. */
static const char *repeat_words(const struct page *p, uint32_t v,
                                uint32_t fleet)
{
    const struct sim_model *m = page_model_of(p->s, v);
    const struct sim_model_variant *own = variant_of(p, v);
    uint32_t repeat = SIM_NONE;

    if (own && own->fleet_repeat)
        repeat = own->fleet_repeat[fleet];
    if (repeat == SIM_NONE)
        repeat = m->fleets[fleet].repeat;
    return repeat == SIM_KEYED            ? "with an idempotency key"
           : repeat == SIM_NOT_IDEMPOTENT ? "not idempotent"
                                          : NULL;
}

static void option(struct page *p, const bide_option *o, bool indented,
                   const bide_policy_conf *conf, const bide_policy_conf *first)
{
    const char *dot = strchr(o->key, '.');
    bool other = first && !bide__option_same(conf, first, o);
    char text[BIDE__VALUE_TEXT];

    fprintf(p->out, "%s%s", indented ? "  " : "", other ? "<mark>" : "");
    fprintf(p->out, "%s: ", dot ? dot + 1 : o->key);
    page_text(p->out, bide__option_text(conf, o, text, sizeof text));
    fprintf(p->out, "%s\n", other ? "</mark>" : "");
}

/* Options at their defaults are left out, unless the first variant differs. */
static bool options(struct page *p, const bide_policy_conf *conf,
                    const bide_policy_conf *first)
{
    static const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;
    size_t n, open = 0;
    const bide_option *list = bide_policy_options(&n);
    const char *group = "";
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        const char *key = list[i].key, *dot = strchr(key, '.');
        size_t len = dot ? (size_t)(dot - key) : 0;

        if (bide__option_same(conf, &defaults, &list[i]) &&
            (!first || bide__option_same(conf, first, &list[i])))
            continue;
        any = true;
        if (dot && (len != open || strncmp(key, group, len) != 0))
            fprintf(p->out, "%.*s:\n", (int)len, key);
        group = key;
        open = len;
        option(p, &list[i], dot, conf, first);
    }
    return any;
}

static void policy(struct page *p, const char *from, const char *to,
                   const char *how, const struct sim_model_policy *own,
                   const struct sim_model_policy *first)
{
    const bide_policy_conf *other = first && first != own ? &first->conf : NULL;

    if (!own)
        return;
    fputs("<h4>", p->out);
    page_text(p->out, from);
    fputs(" → ", p->out);
    page_text(p->out, to);
    fputs(": <b>", p->out);
    page_text(p->out, own->name);
    fprintf(p->out, "</b>%s%s</h4><pre>", how ? ", " : "", how ? how : "");
    if (!options(p, &own->conf, other) && !own->conf.n_rules)
        fputs("as the defaults are\n", p->out);
    if (own->conf.n_rules)
        fprintf(p->out, "rules: %zu of its own\n", own->conf.n_rules);
    fputs("</pre>\n", p->out);
}

static const char *service_name(const struct sim_model *m, uint32_t i)
{
    return i < m->n_services ? m->services[i].name : "?";
}

static void variant(struct page *p, uint32_t v)
{
    const struct sim_model *m = page_model_of(p->s, v);
    bool later = v > 0;

    fputs("<div class=\"policy\"><h3>", p->out);
    page_text(p->out, p->s->variants[v].name);
    fputs("</h3>\n", p->out);
    for (uint32_t i = 0; i < m->n_fleets; i++)
        policy(p, m->fleets[i].name, service_name(m, m->fleets[i].service),
               repeat_words(p, v, i), fleet_policy(p, v, i),
               later ? fleet_policy(p, 0, i) : NULL);
    for (uint32_t i = 0; i < m->n_services; i++)
        for (uint32_t e = 0; e < m->services[i].n_edges; e++)
            policy(p, m->services[i].name,
                   service_name(m, m->services[i].edges[e].service), NULL,
                   edge_policy(p, v, i, e),
                   later ? edge_policy(p, 0, i, e) : NULL);
    fputs("</div>\n", p->out);
}

void page_policies(struct page *p)
{
    if (p->s->n_variants == 0)
        return;
    page_row_open(p, "Policies",
                  p->s->n_variants > 1
                      ? "What differs from the defaults; marked: what differs "
                        "from the first variant."
                      : "What differs from the defaults.");
    fputs("<div class=\"plots policies\">\n", p->out);
    for (uint32_t v = 0; v < p->s->n_variants; v++)
        variant(p, v);
    fputs("</div>\n", p->out);
    page_row_close(p);
}
