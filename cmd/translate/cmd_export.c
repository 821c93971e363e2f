/* bide export: writes a policy for Istio, Envoy, the Gateway API or gRPC. */
#include <string.h>

#include "base/json.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/common/policy_choice.h"
#include "cmd/translate/command.h"
#include "cmd/translate/translate_cmd.h"
#include "config/translate/translate.h"

static const struct flag flag_list[] = {
    { "to", 't', "SYSTEM", "istio, envoy, gateway or grpc" },
    { "host", 0, "NAME",
      "the host or cluster; the name of the policy if not "
      "given" },
    { "service", 0, "NAME", "gRPC: only for this service, with its package" },
    { "method", 0, "NAME", "gRPC: only for this method of the service" },
    { "strict", 0, NULL,
      "exit with 1 if the policy says anything that is lost "
      "or approximated" },
    { "losses", 0, "FILE", "write what does not translate to a file, as JSON" },
    POLICY_FLAGS,
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide export --to SYSTEM [options] [FILE[:NAME]]",
    "Writes a policy for another system: a VirtualService and a "
    "DestinationRule for Istio, parts of a route and of a cluster for Envoy, "
    "an HTTPRoute and an XBackendTrafficPolicy for Kubernetes' Gateway API, a "
    "service config for gRPC. Whatever the policy says and the other system "
    "cannot is named on stderr, one line each: what, what became of it, and "
    "why.",
    flag_list,
    "Exit codes: 0 translated, 1 translated with losses and --strict was "
    "given, 2 an error in the arguments or in the policy.\n\n"
    "Examples:\n"
    "  bide export --to istio --host reviews bide.yaml\n"
    "  bide export --to grpc --service shop.Cart bide.yaml:payments\n"
    "  bide export --to envoy --preset finagle --strict",
};

static const struct target {
    const char *flag, *name;
    bide__exporter *write;
} targets[] = {
    { "istio", "Istio", bide__export_istio },
    { "envoy", "Envoy", bide__export_envoy },
    { "gateway", "the Gateway API", bide__export_gateway },
    { "grpc", "gRPC", bide__export_grpc },
};

enum { N_TARGETS = sizeof targets / sizeof targets[0] };

struct export_ {
    struct policy_choice policy;
    const struct target *target;
    struct bide__export_names names;
    const char *losses; /* or NULL */
    bool strict, has_host;
};

/* ===== flags ===== */

static const char *take_target(struct export_ *e, const char *text)
{
    for (int i = 0; i < N_TARGETS; i++)
        if (strcmp(text, targets[i].flag) == 0)
            e->target = &targets[i];
    return e->target && strcmp(text, e->target->flag) == 0
               ? NULL
               : "istio, envoy, gateway or grpc";
}

static const char *take_name(struct export_ *e, const char *flag,
                             const char *name)
{
    if (!*name)
        return "a name";
    if (strcmp(flag, "host") == 0)
        e->names.host = name;
    else if (strcmp(flag, "service") == 0)
        e->names.service = name;
    else
        e->names.method = name;
    return NULL;
}

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct export_ *e = ctx;
    const char *expected = NULL;

    if (strcmp(name, "to") == 0)
        return take_target(e, argument);
    if (strcmp(name, "host") == 0 || strcmp(name, "service") == 0 ||
        strcmp(name, "method") == 0)
        return take_name(e, name, argument);
    if (strcmp(name, "strict") == 0)
        e->strict = true;
    else if (strcmp(name, "losses") == 0)
        e->losses = argument;
    else if (policy_flag(&e->policy, name, argument, &expected) < 0)
        return expected;
    return NULL;
}

static int check_flags(struct export_ *e, int argc, char **argv, int first)
{
    if (!e->target)
        return complain("export",
                        "--to: expected istio, envoy, gateway or grpc");
    if (e->names.method && !e->names.service)
        return complain("export", "--method: expected --service as well");
    if (first < argc && e->policy.file)
        return complain("export",
                        "%s: expected one policy, and --policy names "
                        "one already",
                        argv[first]);
    if (first + 1 < argc)
        return complain("export", "%s: expected one file", argv[first + 1]);
    if (first < argc)
        e->policy.file = argv[first];
    return -1;
}

/* ===== names ===== */

/* The name of the chosen policy: the requested one, `default`, or the only
 * one. */
static const char *policy_name(const struct policy_choice *c)
{
    if (c->name)
        return c->name;
    if (!c->config)
        return c->preset ? c->preset : "default";
    return bide_config_policy_name(c->config, 1)
               ? "default"
               : bide_config_policy_name(c->config, 0);
}

static void settle_names(struct export_ *e, struct bide__translation *t)
{
    e->names.policy = policy_name(&e->policy);
    e->has_host = e->names.host != NULL;
    if (!e->has_host)
        e->names.host = e->names.policy;
    if (!e->has_host && e->target->write != bide__export_grpc)
        bide__caveat(t, "without --host, the host has the name of the policy");
}

/* ===== the work ===== */

static int report(const struct export_ *e, const struct bide__translation *t)
{
    struct bide__json j;
    FILE *file;

    bide__translation_print(t, "export", stderr);
    if (!e->losses)
        return -1;
    file = losses_open("export", e->losses);
    if (!file)
        return EXIT_USAGE;
    bide__json_init(&j, file, true);
    bide__translation_json(t, &j);
    bide__json_done(&j);
    return losses_close("export", e->losses, file);
}

static int translate(struct export_ *e)
{
    struct bide__translation t;
    int rc;

    if (bide__translation_init(&t, e->target->name, &e->policy.conf) < 0)
        return complain("export", "out of memory");
    settle_names(e, &t);
    e->target->write(&t, &e->names, stdout);
    if (bide__translation_finish(&t) < 0)
        rc = complain("export", "out of memory");
    else
        rc = report(e, &t);
    if (rc < 0)
        rc = e->strict && bide__translation_lossy(&t) ? EXIT_FINDINGS : EXIT_OK;
    bide__translation_done(&t);
    return rc;
}

int cmd_export(int argc, char **argv)
{
    struct export_ e = { .policy = POLICY_CHOICE_INIT };
    int first = argc, rc;

    e.policy.command = "export";
    rc = flags_parse(&flags, argc, argv, take, &e, &first);
    if (rc < 0)
        rc = check_flags(&e, argc, argv, first);
    if (rc < 0)
        rc = policy_settle(&e.policy);
    if (rc < 0)
        rc = translate(&e);
    policy_done(&e.policy);
    return rc;
}
