/* bide proxy: the sidecar. A program of its own, which `bide proxy` becomes
 * (become.c). Here: arguments, and reading the file; proxy_run.c is the
 * service. */
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "proxy_cmd.h"

static const struct flag flag_list[] = {
    { "config", 'c', "FILE", "the policy file, with a section `proxy:`" },
    { "check", 0, NULL,
      "read the file and say what is wrong with it; no more" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide proxy -c FILE",
    "Runs an HTTP/1.1 reverse proxy that applies a policy to each route: "
    "retries "
    "with backoff, hints, budgets, breakers and hedges, for any client.",
    flag_list,
    "Signals: SIGHUP reads the file again (a mistake in it is told, and the "
    "old "
    "one stays), SIGUSR1 opens the access log again, SIGTERM and SIGINT end it "
    "when what is being served is done, and at once the second time.\n\n"
    "Exit codes: 0 ended as told, 1 it could not start or go on, 2 a mistake "
    "in "
    "the arguments or in the file.",
};

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct proxy_args *args = ctx;

    if (strcmp(name, "config") == 0)
        args->file = argument;
    else if (strcmp(name, "check") == 0)
        args->check = true;
    return NULL;
}

bide_config *proxy_read(const char *file, const struct bide__proxy_conf **ret)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    bide_config *config = NULL;
    int rc = bide_config_read(&config, file, notes);

    bide_diagnostics_print(notes, stderr, use_colours(stderr));
    bide_diagnostics_free(notes);
    if (rc < 0)
        return NULL;
    *ret = bide__config_proxy(config);
    if (*ret)
        return config;
    complain("proxy", "%s: there is no section `proxy:`", file);
    bide_config_free(config);
    return NULL;
}

static int run(int argc, char **argv)
{
    struct proxy_args args = { 0 };
    const struct bide__proxy_conf *conf = NULL;
    int rc = flags_parse(&flags, argc, argv, take, &args, NULL);

    if (rc >= 0)
        return rc;
    if (!args.file)
        return complain("proxy", "which file? (-c FILE)");
    bide_config *config = proxy_read(args.file, &conf);
    if (!config)
        return EXIT_USAGE;
    if (!args.check)
        return proxy_run(&args, config, conf);
    bide_config_free(config);
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    static char name[] = "proxy";

    hold_standard_files();
    setlocale(LC_CTYPE, "");
    if (argc < 1)
        return EXIT_USAGE;
    argv[0] = name;
    return run(argc, argv);
}
