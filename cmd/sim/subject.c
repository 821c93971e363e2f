/* Which models are run: operands and the flags of policies, put together. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/doc/tree.h"
#include "sim/scenario/builtin.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/setting.h"
#include "cmd/sim/cmd.h"

/* ===== scenarios ===== */

static bool is_path(const char *name)
{
    return strchr(name, '/') || strchr(name, '.') || strcmp(name, "-") == 0 ||
           access(name, F_OK) == 0;
}

/* A name of a scenario that comes with bide goes before a file called so. */
static int read_scenario(struct sim_ask *ask, const char *name)
{
    const struct sim_builtin *b = sim_builtin_find(name);
    struct sim_subject *s = &ask->subjects[ask->n_subjects];
    bide_diagnostics *notes;
    const char *what;
    int rc;

    if (!b && !is_path(name))
        return sim_no_such_scenario("", name);
    if (ask->n_subjects == MOST_SUBJECTS)
        return complain("sim", "found more scenarios, expected at most %d",
                        MOST_SUBJECTS);
    notes = bide_diagnostics_new();
    rc = b ? sim_scenario_parse(&s->read, b->name, b->text, b->len, notes)
           : sim_scenario_read(&s->read, name, notes);
    if (rc == BIDE_ENOMEM)
        complain("sim", "out of memory");
    else if (rc < 0 || !ask->quiet)
        bide_diagnostics_print(notes, stderr, use_colours(stderr));
    bide_diagnostics_free(notes);
    if (rc < 0)
        return EXIT_USAGE;
    s->name = name;
    s->draft = sim_copy_new(s->read);
    ask->n_subjects++;
    what = unprintable_part(s->read);
    return what ? complain("sim",
                           "%s: found a control character in %s, expected "
                           "text that can be printed",
                           name, what)
                : -1;
}

/* ===== policies ===== */

/* Another policy beside those there are, with the flags over it. */
static int read_policy(struct sim_ask *ask, const char *name)
{
    struct policy_choice *c = &ask->compared[ask->n_compared];
    static const char preset[] = "preset:";

    if (ask->n_compared == MOST_NAMED)
        return complain("sim", "found more policies, expected at most %d",
                        MOST_NAMED);
    *c = ask->policy;
    c->file = strncmp(name, preset, sizeof preset - 1) == 0 ? NULL : name;
    c->preset = c->file ? NULL : name + sizeof preset - 1;
    ask->n_compared++;
    return policy_settle(c);
}

static const char *policy_label(const struct policy_choice *c)
{
    return c->file ? c->file : c->preset;
}

/* The policies of --policy or --compare in place of the scenario's variants. */
static void put_policies(struct sim_ask *ask, struct sim_model *d)
{
    sim_copy_no_variants(d);
    for (uint32_t i = 0; i < ask->n_compared; i++) {
        const struct policy_choice *c = &ask->compared[i];
        sim_copy_variant(d, policy_label(c),
                         sim_copy_policy(d, policy_label(c), &c->conf));
    }
}

/* Flags without a policy change those of the scenario. */
static int put_flags(const struct sim_ask *ask, struct sim_model *d)
{
    const char *expected;

    for (int i = 0; i < ask->policy.n_overrides; i++)
        sim_setting(d, ask->policy.overrides[i][1], ask->policy.overrides[i][2],
                    &expected);
    for (uint32_t i = 0; i < d->n_policies; i++) {
        int rc = bide_policy_check(&d->policies[i].conf);
        if (rc < 0)
            return complain("sim", "policy `%s` with the flags over it: %s",
                            d->policies[i].name, bide_strerror(rc));
    }
    return -1;
}

/* ===== operands ===== */

static bool is_policy(const char *name)
{
    bide_diagnostics *notes;
    char *text = NULL;
    size_t len = 0;
    bool policy;

    if (strncmp(name, "preset:", 7) == 0)
        return true;
    if (sim_builtin_find(name) || strcmp(name, "-") == 0)
        return false;
    if (strchr(name, ':') && access(name, F_OK) != 0)
        return true; /* FILE:NAME */
    if (access(name, F_OK) != 0)
        return false;
    notes = bide_diagnostics_new();
    policy = bide__read_file(name, &text, &len, notes) == 0 &&
             !sim_scenario_is(text, len);
    bide_diagnostics_free(notes);
    free(text);
    return policy;
}

static int read_operands(struct sim_ask *ask, char **operands, int n)
{
    int rc = -1;

    for (int i = 0; i < n && rc < 0; i++) {
        if (ask->compare && is_policy(operands[i]))
            rc = read_policy(ask, operands[i]);
        else
            rc = read_scenario(ask, operands[i]);
    }
    return rc;
}

static int check_operands(const struct sim_ask *ask)
{
    if (!ask->compare && ask->n_subjects > 1)
        return complain("sim",
                        "found `%s`, expected one scenario; --compare "
                        "runs several",
                        ask->subjects[1].name);
    if (ask->compare && ask->n_subjects > 1 && ask->n_compared > 0)
        return complain("sim",
                        "--compare: found several scenarios and "
                        "policies, expected one scenario with policies, or "
                        "scenarios only");
    if (ask->compare && ask->n_subjects + ask->n_compared < 2)
        return complain("sim", "--compare: found one thing, expected policy "
                               "files or scenarios to hold against each other");
    return -1;
}

/* ===== changes ===== */

static bool is_wanted(const struct sim_ask *ask, const char *variant)
{
    for (uint32_t i = 0; i < ask->n_variants; i++)
        if (strcmp(ask->variants[i], variant) == 0)
            return true;
    return ask->n_variants == 0;
}

static int pick_variants(const struct sim_ask *ask, struct sim_model *d)
{
    const char *known[MOST_NAMED + 1];
    uint32_t n = 0;

    for (uint32_t i = 0; i < ask->n_variants; i++) {
        bool there = false;
        for (n = 0; n < d->n_variants && n < MOST_NAMED; n++) {
            known[n] = d->variants[n].name;
            there = there || strcmp(known[n], ask->variants[i]) == 0;
        }
        known[n] = NULL;
        if (!there) {
            complain("sim", "--variant: there is no variant `%s`",
                     ask->variants[i]);
            suggest(ask->variants[i], known);
            return EXIT_USAGE;
        }
    }
    for (uint32_t v = d->n_variants; v-- > 0;)
        if (!is_wanted(ask, d->variants[v].name))
            sim_copy_drop(d, v);
    return -1;
}

static int change(struct sim_ask *ask, struct sim_subject *s)
{
    struct sim_model *d = s->draft;
    const char *why;
    int rc = -1;

    if (ask->n_compared)
        put_policies(ask, d);
    else
        rc = put_flags(ask, d);
    if (rc < 0)
        rc = pick_variants(ask, d);
    if (ask->duration_ns)
        d->duration_ns = ask->duration_ns;
    why = rc < 0 ? sim_model_check(d) : NULL;
    return why ? complain("sim", "%s: %s", s->name, why) : rc;
}

int subjects_read(struct sim_ask *ask, char **operands, int n,
                  const char *usual)
{
    int rc = read_operands(ask, operands, n);

    if (rc < 0 && ask->n_subjects == 0 && usual)
        rc = read_scenario(ask, usual);
    if (rc < 0 && ask->n_subjects == 0)
        rc = complain("sim", "expected a scenario; see `bide sim --list`");
    if (rc < 0)
        rc = check_operands(ask);
    if (rc < 0 && (ask->policy.file || ask->policy.preset)) {
        if (ask->compare)
            return complain("sim", "--compare and --policy: expected one of "
                                   "them");
        ask->compared[0] = ask->policy;
        ask->n_compared = 1;
        rc = policy_settle(&ask->compared[0]);
    }
    for (uint32_t i = 0; i < ask->n_subjects && rc < 0; i++)
        rc = change(ask, &ask->subjects[i]);
    return rc;
}

void subjects_done(struct sim_ask *ask)
{
    for (uint32_t i = 0; i < ask->n_subjects; i++) {
        sim_copy_free(ask->subjects[i].draft);
        sim_model_free(ask->subjects[i].read);
    }
    for (uint32_t i = 0; i < ask->n_compared; i++)
        policy_done(&ask->compared[i]);
}
