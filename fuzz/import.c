/* import.c: any bytes as a service config and as a mesh of resources.
 *
 * Metamorphic: what is taken makes valid policies, and the file that is written
 * of them is read back without a mistake, with the same policies in it. */
#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/translate/import.h"
#include "config/translate/import_proxy.h"
#include "config/field/option_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

static void check_policy(const struct bide__named_policy *p,
                         const bide_policy_conf *back)
{
    struct bide__retry_set set;
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    must(back != NULL);
    must(bide_policy_check(&p->conf) == 0);
    for (size_t i = 0; i < n; i++)
        if (options[i].type != BIDE_OPTION_NUMBER &&
            options[i].type != BIDE_OPTION_RATIO)
            must(bide__option_same(&p->conf, back, &options[i]));
    bide__retry_set_of(&set, back, NULL);
    must(memcmp(&set, &p->retried, sizeof set) == 0);
}

static void check_written(const struct bide__import *im)
{
    bide_config *config = NULL;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    must(out != NULL);
    bide__import_write(out, im);
    fclose(out);
    must(bide_config_parse(&config, "written", text, size, NULL) == 0);
    for (size_t i = 0; i < im->n; i++)
        check_policy(&im->policies[i],
                     bide_config_policy(config, im->policies[i].name));
    bide_config_free(config);
    free(text);
}

static void run(bide__importer *read, const uint8_t *data, size_t size)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    struct bide__import im;
    int rc;

    must(bide__import_init(&im, notes) == 0);
    rc = read(&im, "fuzz", data ? (const char *)data : "", size);
    must(rc == 0 || rc == BIDE_EPARSE);
    must((rc == 0) == (bide_diagnostics_count(notes, BIDE_MISTAKE) == 0));
    if (rc == 0)
        check_written(&im);
    bide__import_done(&im);
    bide_diagnostics_free(notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run(bide__import_grpc, data, size);
    run(bide__import_istio, data, size);
    run(bide__import_envoy, data, size);
    return 0;
}
