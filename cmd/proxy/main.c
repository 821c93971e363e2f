/* bide proxy: the sidecar. A separate program, which `bide proxy` executes
 * (exec.c). Here: arguments, and reading the file; run.c is the service. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/common/files.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/proxy/cmd.h"
#include "cmd/proxy/supervise.h"
#include "config/doc/read_file.h"

static const struct flag flag_list[] = {
    { "config", 'c', "FILE", "the policy file, with a section `proxy`" },
    { "check", 0, NULL, "report errors in the file, and exit" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide proxy -c FILE",
    "Runs a reverse proxy for HTTP/1.1, HTTP/2 and gRPC that applies a policy "
    "to each route: retries with backoff, the server's hints, budgets, "
    "breakers and hedges, for any client.",
    flag_list,
    "Signals: SIGHUP reloads the file (if there is an error in it, the error "
    "is logged and the old configuration stays), SIGUSR1 reopens the access "
    "log, SIGUSR2 upgrades to the program that is on disk now without "
    "dropping a connection, SIGTERM and SIGINT finish the requests in flight "
    "and exit; a second one exits at once.\n\n"
    "Exit codes: 0 stopped by a signal, 1 it could not start or continue, 2 "
    "an error in the arguments or in the file.",
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

static int in_memory(const char *text, size_t len)
{
    int fd = memfd_create("bide-config", MFD_CLOEXEC);
    if (fd >= 0 && write_whole(fd, text, len) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Warnings were printed when the text was first read. */
static bide_config *understand(const char *file, const char *text, size_t len,
                               bool quiet, const struct bide__proxy_conf **ret)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    bide_config *config = NULL;
    int rc = bide_config_parse(&config, file, text, len, notes);

    if (rc < 0 || !quiet)
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

bide_config *proxy_read(const char *file, const struct bide__proxy_conf **ret,
                        int *ret_text)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    bide_config *config = NULL;
    char *text = NULL;
    size_t len = 0;
    int rc = bide__read_file(file, &text, &len, notes);

    bide_diagnostics_print(notes, stderr, use_colours(stderr));
    bide_diagnostics_free(notes);
    if (rc == 0)
        config = understand(file, text, len, false, ret);
    *ret_text = config ? in_memory(text, len) : -1;
    free(text);
    return config;
}

bide_config *proxy_read_again(const char *file, int text,
                              const struct bide__proxy_conf **ret)
{
    struct stat st;
    size_t len = fstat(text, &st) == 0 ? (size_t)st.st_size : 0;
    char *all =
        len ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, text, 0) : MAP_FAILED;
    bide_config *config = NULL;

    if (all == MAP_FAILED)
        return NULL;
    config = understand(file, all, len, true, ret);
    munmap(all, len);
    return config;
}

/* The configuration, and the role of this process: under a supervisor, as one,
 * or alone. */
static int serve(struct proxy_args *args, char **argv, struct station *station,
                 bool supervised)
{
    const struct bide__proxy_conf *conf = NULL;
    bide_config *config;
    int code;

    args->text = -1;
    if (supervised && station->config >= 0) {
        args->text = station->config;
        station->config = -1;
        if (station_become(station) < 0) {
            close(args->text);
            station_done(station);
            return EXIT_FAILURE;
        }
        config = proxy_read_again(args->file, args->text, &conf);
    } else {
        config = proxy_read(args->file, &conf, &args->text);
    }
    if (!config) {
        station_done(station);
        return EXIT_USAGE;
    }
    if (args->check) {
        close(args->text);
        bide_config_free(config);
        return EXIT_OK;
    }
    if (!supervised && !conf->supervise)
        station_alone(station);
    else if (!supervised &&
             supervise(argv, config, args->text, station, &code) == 0)
        return code;
    return proxy_run(args, station, config, conf);
}

static int run(int argc, char **argv)
{
    struct proxy_args args = { 0 };
    struct station station;
    int inherited = station_inherited(&station);
    int rc = flags_parse(&flags, argc, argv, take, &args, NULL);

    if (rc >= 0)
        return rc;
    if (!args.file)
        return complain("proxy",
                        "expected -c FILE, a policy file with a section "
                        "`proxy`\n  see `bide proxy --help`");
    if (inherited >= 0)
        return serve(&args, argv, &station, inherited > 0);
    fprintf(stderr, "bide proxy: the supervisor is of another version; restart "
                    "it\n");
    return EXIT_FAILURE;
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
