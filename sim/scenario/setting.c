/* Changes a model by name: finds the field or option that a key stands for,
 * and lists all keys. */
#include "sim/scenario/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/field/option_value.h"
#include "config/field/text.h"
#include "sim/model/memory.h"
#include "sim/scenario/load.h"

/* ===== policies ===== */

static enum sim_set set_option(struct sim_model_policy *p, const char *key,
                               const char *text, const char **ret_expected)
{
    const bide_option *o = bide__option_find(key, strlen(key));

    if (!o)
        return SIM_SET_UNKNOWN;
    if (bide__option_set(&p->conf, key, text, strlen(text)) < 0) {
        *ret_expected = o->expects;
        return SIM_SET_WRONG;
    }
    return SIM_SET_OK;
}

static enum sim_set set_all(struct sim_model *d, const char *key,
                            const char *text, const char **ret_expected)
{
    enum sim_set rc = SIM_SET_UNKNOWN;

    for (uint32_t i = 0; i < d->n_policies; i++) {
        if (!sim_copy_of_fleets(d, i))
            continue;
        rc = set_option(&d->policies[i], key, text, ret_expected);
        if (rc != SIM_SET_OK)
            break;
    }
    return rc;
}

static enum sim_set set_load(struct sim_model *d, const char *text,
                             const char **ret_expected)
{
    double factor;
    bool any = false;

    *ret_expected = "a ratio over 0, such as 0.5 or 80%";
    if (bide_parse_ratio(text, strlen(text), &factor) < 0 || factor <= 0)
        return SIM_SET_WRONG;
    for (uint32_t i = 0; i < d->n_fleets; i++) {
        sim_fleet_scale(&d->fleets[i], factor);
        any = any || d->fleets[i].arrival == SIM_OPEN;
    }
    *ret_expected = "clients with a `rate`, of which there are none";
    return any ? SIM_SET_OK : SIM_SET_WRONG;
}

/* ===== what is named ===== */

/* The rest of a key after "NAME.", or NULL. Names may contain dots. */
static const char *behind_name(const char *key, const char *name)
{
    size_t len = strlen(name);

    return strncmp(key, name, len) == 0 && key[len] == '.' ? key + len + 1
                                                           : NULL;
}

static enum sim_set set_policy(struct sim_model *d, const char *key,
                               const char *text, const char **ret_expected)
{
    for (uint32_t i = 0; i < d->n_policies; i++) {
        const char *rest = behind_name(key, d->policies[i].name);
        if (rest && bide__option_find(rest, strlen(rest)))
            return set_option(&d->policies[i], rest, text, ret_expected);
    }
    return SIM_SET_UNKNOWN;
}

/* Sets one field of a part of the model. */
static enum sim_set set_field(const struct bide__field *f, void *into,
                              const char *text, const char **ret_expected)
{
    if (bide__field_set(f, into, text, strlen(text)) == BIDE__SET_OK)
        return SIM_SET_OK;
    *ret_expected =
        f->set ? "a duration, where the scenario has no mixture, histogram or "
                 "percentiles"
               : f->expects;
    return SIM_SET_WRONG;
}

/* The field after "NAME." in a key, if a text can set it; or NULL. Most maps of
 * a scenario share the struct of their part; *ret_base is where theirs is. */
static const struct bide__field *field_behind(const char *key, const char *name,
                                              const struct bide__table *table,
                                              size_t *ret_base)
{
    const char *rest = behind_name(key, name);
    const struct bide__field *f =
        rest ? bide__field_find(table, rest, ret_base) : NULL;

    return f && bide__field_settable(f) ? f : NULL;
}

/* Refuses to set what a fleet of this kind ignores. */
static const char *idle_in(const struct sim_model_fleet *fleet,
                           const char *key, size_t base)
{
    if (base == offsetof(struct sim_model_fleet, queue))
        return fleet->queue.workers ? NULL : "clients with a `queue`";
    if ((strcmp(key, "rate") == 0 || strcmp(key, "steady") == 0) &&
        fleet->arrival != SIM_OPEN)
        return "clients that come at a rate";
    if (strcmp(key, "think") == 0 && fleet->arrival != SIM_CLOSED)
        return "clients that think between calls";
    if (strcmp(key, "every") == 0 && fleet->arrival != SIM_CRON)
        return "clients that call by the clock";
    if (strcmp(key, "repeat") == 0 && fleet->load.n_steps == 0)
        return "clients with a `load`";
    if (strcmp(key, "spread") == 0 && fleet->arrival != SIM_CRON &&
        fleet->arrival != SIM_CLOSED)
        return "clients that call by the clock, or think between calls";
    return NULL;
}

static enum sim_set set_fleet(struct sim_model *d, const char *key,
                              const char *text, const char **ret_expected)
{
    for (uint32_t i = 0; i < d->n_fleets; i++) {
        struct sim_model_fleet *fleet = &d->fleets[i];
        size_t base;
        const struct bide__field *f =
            field_behind(key, fleet->name, &sim_fleet_table, &base);

        if (!f)
            continue;
        const char *idle = idle_in(fleet, f->key, base);
        if (idle) {
            *ret_expected = idle;
            return SIM_SET_WRONG;
        }
        enum sim_set rc =
            set_field(f, (char *)fleet + base, text, ret_expected);
        if (fleet->processes > fleet->clients)
            fleet->processes = fleet->clients;
        return rc;
    }
    return SIM_SET_UNKNOWN;
}

static enum sim_set set_service(struct sim_model *d, const char *key,
                                const char *text, const char **ret_expected)
{
    for (uint32_t i = 0; i < d->n_services; i++) {
        struct sim_model_service *s = &d->services[i];
        size_t base;
        const struct bide__field *f =
            field_behind(key, s->name, &sim_service_table, &base);

        if (!f)
            continue;
        if (base == offsetof(struct sim_model_service, balance.ejection))
            s->balance.ejects = true;
        return set_field(f, (char *)s + base, text, ret_expected);
    }
    return SIM_SET_UNKNOWN;
}

/* ===== faults ===== */

static const char *const factor_keys[] = {
    [SIM_SLOW] = "slow",
    [SIM_FAIL] = "error_rate",
    [SIM_CAPACITY] = "capacity",
    [SIM_REFUSE] = NULL,
};

/* Moving a fault keeps its length; each has only the factor of its kind. */
static enum sim_set change_fault(struct sim_fault *fault, const char *key,
                                 const char *text, const char **ret_expected)
{
    size_t base;
    const struct bide__field *f =
        bide__field_find(&sim_fault_table, key, &base);
    int64_t length_ns = fault->to_ns - fault->from_ns;
    const char *factor = factor_keys[fault->kind];

    bool servers = strcmp(key, "servers") == 0 && fault->n_servers > 0;

    if (!f || (f->type != BIDE_OPTION_DURATION && !servers &&
               (!factor || strcmp(factor, key) != 0)))
        return SIM_SET_UNKNOWN;
    enum sim_set rc = set_field(f, fault, text, ret_expected);
    if (rc != SIM_SET_OK)
        return rc;
    if (strcmp(key, "at") == 0)
        fault->to_ns = fault->from_ns + length_ns;
    if (strcmp(key, "for") == 0)
        fault->to_ns += fault->from_ns; /* it was set to the length */
    return SIM_SET_OK;
}

static enum sim_set set_fault(struct sim_model *d, const char *key,
                              const char *text, const char **ret_expected)
{
    char *end;
    unsigned long n = strtoul(key, &end, 10);

    if (*key < '1' || *key > '9' || *end != '.' || n > d->n_faults)
        return SIM_SET_UNKNOWN;
    return change_fault(&d->faults[n - 1], end + 1, text, ret_expected);
}

/* ===== all of them ===== */

enum sim_set sim_setting(struct sim_model *d, const char *key, const char *text,
                         const char **ret_expected)
{
    static const struct {
        const char *section;
        enum sim_set (*set)(struct sim_model *, const char *, const char *,
                            const char **);
    } sections[] = { { "policies", set_policy },
                     { "clients", set_fleet },
                     { "services", set_service },
                     { "faults", set_fault } };

    if (strcmp(key, "load") == 0)
        return set_load(d, text, ret_expected);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        const char *rest = behind_name(key, sections[i].section);
        if (rest)
            return sections[i].set(d, rest, text, ret_expected);
    }
    return set_all(d, key, text, ret_expected);
}

/* ===== their names ===== */

struct keys {
    char **list;
    uint32_t n, room;
};

static void add_key(struct keys *k, const char *a, const char *b, const char *c,
                    const char *d)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + strlen(d) + 4;
    char *key = sim_new(size, 1);

    snprintf(key, size, "%s%s%s%s%s%s%s", a, *b ? "." : "", b, *c ? "." : "", c,
             *d ? "." : "", d);
    k->list = sim_grow(k->list, k->n, &k->room, sizeof *k->list);
    k->list[k->n++] = key;
}

static void add_fields(struct keys *k, const char *section, const char *name,
                       const char *group, const struct bide__table *table)
{
    for (const struct bide__field *f = table->fields; f->key; f++) {
        if (f->type == BIDE__FIELDS)
            add_fields(k, section, name, f->key, f->table);
        else if (bide__field_settable(f) && *group)
            add_key(k, section, name, group, f->key);
        else if (bide__field_settable(f))
            add_key(k, section, name, f->key, "");
    }
}

char **sim_setting_keys(const struct sim_model *m)
{
    struct keys k = { 0 };
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++)
        add_key(&k, options[i].key, "", "", "");
    add_key(&k, "load", "", "", "");
    for (uint32_t i = 0; i < m->n_fleets; i++)
        add_fields(&k, "clients", m->fleets[i].name, "", &sim_fleet_table);
    for (uint32_t i = 0; i < m->n_services; i++)
        add_fields(&k, "services", m->services[i].name, "", &sim_service_table);
    for (uint32_t i = 0; i < m->n_policies; i++)
        for (size_t o = 0; o < n; o++)
            add_key(&k, "policies", m->policies[i].name, options[o].key, "");
    k.list = sim_grow(k.list, k.n, &k.room, sizeof *k.list);
    k.list[k.n] = NULL;
    return k.list;
}

void sim_setting_keys_free(char **keys)
{
    for (char **k = keys; k && *k; k++)
        free(*k);
    free(keys);
}
