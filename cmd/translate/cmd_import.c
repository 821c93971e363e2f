/* bide import: writes a policy file from the configuration of Istio, Envoy or
 * gRPC. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cmd/common/flags.h"
#include "cmd/common/output.h"
#include "cmd/translate/command.h"
#include "cmd/translate/translate_cmd.h"
#include "config/doc/diag.h"
#include "config/doc/diag_json.h"
#include "config/doc/read_file.h"
#include "config/translate/import.h"
#include "config/translate/import_proxy.h"

static const struct flag flag_list[] = {
    { "from", 'f', "SYSTEM", "istio, envoy or grpc" },
    { "strict", 0, NULL, "exit with 1 if anything was left out" },
    { "losses", 0, "FILE", "write what does not translate to a file, as JSON" },
    { NULL, 0, NULL, NULL },
};

static const struct flags flags = {
    "bide import --from SYSTEM [options] FILE",
    "Reads Istio's VirtualServices and DestinationRules, the routes and "
    "clusters of Envoy, or a gRPC service config, and writes a policy file "
    "that does the same, with a `proxy:` section where the source has "
    "servers. What has no place in it is named on stderr, with file, line and "
    "column. FILE may be `-`.",
    flag_list,
    "Exit codes: 0 translated, 1 something was left out and --strict was "
    "given, 2 an error in the arguments or in the document.\n\n"
    "Examples:\n"
    "  bide import --from grpc service_config.json > bide.yaml\n"
    "  kubectl get vs,dr -o yaml | bide import --from istio -\n"
    "  bide import --from envoy envoy.yaml > bide.yaml",
};

static const struct source {
    const char *flag;
    bide__importer *read;
} sources[] = {
    { "istio", bide__import_istio },
    { "envoy", bide__import_envoy },
    { "grpc", bide__import_grpc },
};

enum { N_SOURCES = sizeof sources / sizeof sources[0] };

struct import_ {
    const struct source *source;
    const char *losses; /* or NULL */
    bool strict;
};

static const char *take(void *ctx, const char *name, const char *argument)
{
    struct import_ *i = ctx;

    if (strcmp(name, "strict") == 0)
        i->strict = true;
    if (strcmp(name, "losses") == 0)
        i->losses = argument;
    if (strcmp(name, "from") != 0)
        return NULL;
    for (int s = 0; s < N_SOURCES; s++)
        if (strcmp(argument, sources[s].flag) == 0) {
            i->source = &sources[s];
            return NULL;
        }
    return "istio, envoy or grpc";
}

static int check_flags(const struct import_ *i, int argc, char **argv,
                       int first)
{
    if (!i->source)
        return complain("import", "--from: expected istio, envoy or grpc");
    if (first == argc)
        return complain("import", "expected a file, or - for standard input");
    if (first + 1 < argc)
        return complain("import", "%s: expected one file", argv[first + 1]);
    return -1;
}

/* ===== the work ===== */

/* Writes nothing unless the whole document is valid: half a policy is worse
 * than none. */
static int read_document(const struct import_ *i, const char *path,
                         bide_diagnostics *notes)
{
    struct bide__import im;
    char *text;
    size_t len;
    int rc = bide__import_init(&im, notes);

    if (rc == 0)
        rc = bide__read_file(path, &text, &len, notes);
    if (rc == 0) {
        rc = i->source->read(&im, path, text, len);
        free(text);
    }
    if (rc == 0)
        bide__import_write(stdout, &im);
    bide__import_done(&im);
    return rc;
}

static int report(const struct import_ *i, const bide_diagnostics *notes)
{
    struct bide__json j;
    FILE *file;

    bide_diagnostics_print(notes, stderr, use_colours(stderr));
    if (!i->losses)
        return -1;
    file = losses_open("import", i->losses);
    if (!file)
        return EXIT_USAGE;
    bide__json_init(&j, file, true);
    bide__diag_json(notes, &j);
    bide__json_done(&j);
    return losses_close("import", i->losses, file);
}

static int translate(const struct import_ *i, const char *path)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    int rc, code;

    if (!notes)
        return complain("import", "out of memory");
    rc = read_document(i, path, notes);
    bide__diag_sort(notes);
    code = report(i, notes);
    if (rc == BIDE_ENOMEM)
        code = complain("import", "out of memory");
    else if (rc < 0)
        code = EXIT_USAGE;
    else if (code < 0)
        code = i->strict && bide_diagnostics_count(notes, BIDE_WARNING) > 0
                   ? EXIT_FINDINGS
                   : EXIT_OK;
    bide_diagnostics_free(notes);
    return code;
}

int cmd_import(int argc, char **argv)
{
    struct import_ i = { .strict = false };
    int first = argc;
    int rc = flags_parse(&flags, argc, argv, take, &i, &first);

    if (rc < 0)
        rc = check_flags(&i, argc, argv, first);
    return rc < 0 ? translate(&i, argv[first]) : rc;
}
