/* Chooses the models to run, from operands and policy flags. */
#include "cmd/sim/subject.h"

#include <string.h>

#include "cmd/common/output.h"
#include "cmd/sim/list.h"
#include "sim/scenario/setting.h"

/* ===== scenarios ===== */

static int read_scenario(struct sim_ask *ask, const char *name)
{
    struct sim_subject *s = &ask->subjects[ask->n_subjects];
    bide_diagnostics *notes;
    const char *what;
    int rc;

    if (!sim_subject_known(name))
        return sim_no_such_scenario("", name);
    if (ask->n_subjects == MOST_SUBJECTS)
        return complain("sim", "found more scenarios, expected at most %d",
                        MOST_SUBJECTS);
    notes = bide_diagnostics_new();
    rc = sim_subject_read(s, name, notes);
    if (rc == BIDE_ENOMEM)
        complain("sim", "out of memory");
    else if (rc < 0 || !ask->quiet)
        bide_diagnostics_print(notes, stderr, use_colours(stderr));
    bide_diagnostics_free(notes);
    if (rc < 0)
        return EXIT_USAGE;
    ask->n_subjects++;
    what = unprintable_part(s->read);
    return what ? complain("sim",
                           "%s: found a control character in %s, expected "
                           "text that can be printed",
                           name, what)
                : -1;
}

/* ===== policies ===== */

/* Adds a policy, with the flags applied to it. */
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

/* Replaces the scenario's variants by the policies of --policy or --compare. */
static void put_policies(const struct sim_ask *ask, struct sim_subject *s)
{
    struct sim_subject_policy policies[MOST_NAMED];

    for (uint32_t i = 0; i < ask->n_compared; i++)
        policies[i] =
            (struct sim_subject_policy){ policy_label(&ask->compared[i]),
                                         &ask->compared[i].conf };
    sim_subject_compare(s, policies, ask->n_compared);
}

/* Flags without a policy change those of the scenario. */
static int put_flags(const struct sim_ask *ask, struct sim_subject *s)
{
    const char *expected, *bad;
    int error;

    for (int i = 0; i < ask->policy.n_overrides; i++)
        sim_setting(s->draft, ask->policy.overrides[i][1],
                    ask->policy.overrides[i][2], &expected);
    bad = sim_subject_bad_policy(s, &error);
    return bad ? complain("sim", "policy `%s` with the flags over it: %s", bad,
                          bide_strerror(error))
               : -1;
}

/* ===== operands ===== */

static int read_operands(struct sim_ask *ask, char **operands, int n)
{
    int rc = -1;

    for (int i = 0; i < n && rc < 0; i++) {
        if (ask->compare && sim_subject_is_policy(operands[i]))
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

static int pick_variants(const struct sim_ask *ask, struct sim_subject *s)
{
    const char *missing = sim_subject_pick(s, ask->variants, ask->n_variants);
    const char *known[MOST_NAMED + 1];
    uint32_t n = 0;

    if (!missing)
        return -1;
    for (; n < s->draft->n_variants && n < MOST_NAMED; n++)
        known[n] = s->draft->variants[n].name;
    known[n] = NULL;
    complain("sim", "--variant: there is no variant `%s`", missing);
    suggest(missing, known);
    return EXIT_USAGE;
}

static int change(const struct sim_ask *ask, struct sim_subject *s)
{
    const char *why;
    int rc = -1;

    if (ask->n_compared)
        put_policies(ask, s);
    else
        rc = put_flags(ask, s);
    if (rc < 0)
        rc = pick_variants(ask, s);
    if (ask->duration_ns)
        s->draft->duration_ns = ask->duration_ns;
    why = rc < 0 ? sim_model_check(s->draft) : NULL;
    return why ? complain("sim", "%s: %s", s->name, why) : rc;
}

int subjects_read(struct sim_ask *ask, char **operands, int n,
                  const char *usual)
{
    int rc = policy_sets(&ask->policy);

    if (rc < 0)
        rc = read_operands(ask, operands, n);
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
    for (uint32_t i = 0; i < ask->n_subjects; i++)
        sim_subject_done(&ask->subjects[i]);
    for (uint32_t i = 0; i < ask->n_compared; i++)
        policy_done(&ask->compared[i]);
}
