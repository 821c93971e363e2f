/* The model to run: a scenario, found by its name, possibly with other policies
 * or fewer variants. */
#include "sim/study/subject.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/doc/read_file.h"
#include "sim/model/model_copy.h"
#include "sim/scenario/builtin.h"
#include "sim/scenario/scenario.h"

/* ===== names ===== */

bool sim_subject_known(const char *name)
{
    return sim_builtin_find(name) || strchr(name, '/') || strchr(name, '.') ||
           strcmp(name, "-") == 0 || access(name, F_OK) == 0;
}

static bool holds_policy(const char *path)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    char *text = NULL;
    size_t len = 0;
    bool policy = bide__read_file(path, &text, &len, notes) == 0 &&
                  !sim_scenario_is(text, len);

    bide_diagnostics_free(notes);
    free(text);
    return policy;
}

bool sim_subject_is_policy(const char *name)
{
    if (strncmp(name, "preset:", 7) == 0)
        return true;
    if (sim_builtin_find(name) || strcmp(name, "-") == 0)
        return false;
    if (access(name, F_OK) != 0)
        return strchr(name, ':') != NULL; /* FILE:NAME */
    return holds_policy(name);
}

/* ===== models ===== */

int sim_subject_read(struct sim_subject *ret, const char *name,
                     bide_diagnostics *notes)
{
    const struct sim_builtin *b = sim_builtin_find(name);
    struct sim_model *read;
    int rc = b ? sim_scenario_parse(&read, b->name, b->text, b->len, notes)
               : sim_scenario_read(&read, name, notes);

    if (rc < 0)
        return rc;
    *ret = (struct sim_subject){ name, read, sim_copy_new(read) };
    return 0;
}

void sim_subject_done(struct sim_subject *s)
{
    sim_copy_free(s->draft);
    sim_model_free(s->read);
}

void sim_subject_compare(struct sim_subject *s,
                         const struct sim_subject_policy *policies, uint32_t n)
{
    struct sim_model *d = s->draft;

    sim_copy_no_variants(d);
    for (uint32_t i = 0; i < n; i++)
        sim_copy_variant(
            d, policies[i].name,
            sim_copy_policy(d, policies[i].name, policies[i].conf));
}

/* ===== variants ===== */

static bool is_variant(const struct sim_model *m, const char *name)
{
    for (uint32_t v = 0; v < m->n_variants; v++)
        if (strcmp(m->variants[v].name, name) == 0)
            return true;
    return false;
}

static bool is_among(const char *name, const char *const *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

const char *sim_subject_pick(struct sim_subject *s, const char *const *names,
                             uint32_t n)
{
    struct sim_model *d = s->draft;

    for (uint32_t i = 0; i < n; i++)
        if (!is_variant(d, names[i]))
            return names[i];
    for (uint32_t v = d->n_variants; n > 0 && v-- > 0;)
        if (!is_among(d->variants[v].name, names, n))
            sim_copy_drop(d, v);
    return NULL;
}

const char *sim_subject_bad_policy(const struct sim_subject *s, int *ret_error)
{
    for (uint32_t i = 0; i < s->draft->n_policies; i++) {
        int rc = bide_policy_check(&s->draft->policies[i].conf);
        if (rc < 0) {
            *ret_error = rc;
            return s->draft->policies[i].name;
        }
    }
    return NULL;
}
