/* config.c: any bytes as a policy file, as YAML and as JSON.
 *
 * What is accepted passes the engine's own check, can be linted and printed;
 * what is refused has at least one mistake to show for it, and its places lie
 * in the text. */
#define _GNU_SOURCE /* open_memstream */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "config/doc/diag_json.h"
#include "config/doc/tree.h"
#include "config/field/option_value.h"
#include "config/lint/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

static void check_policies(const bide_config *config)
{
    const char *name;
    char buffer[BIDE__VALUE_TEXT];
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; (name = bide_config_policy_name(config, i)); i++) {
        const bide_policy_conf *conf = bide_config_policy(config, name);

        must(conf && bide_policy_check(conf) == 0);
        for (size_t k = 0; k < n; k++)
            must(*bide__option_text(conf, &options[k], buffer, sizeof buffer));
    }
}

static void check_findings(const bide_diagnostics *notes, size_t size)
{
    const bide_diagnostic *d;

    for (size_t i = 0; (d = bide_diagnostics_at(notes, i)); i++) {
        must(d->code && d->file && d->message && *d->message);
        must(d->line <= size + 1 && d->column <= size + 1);
        must(d->end_line > d->line ||
             (d->end_line == d->line && d->end_column >= d->column));
    }
}

/* All ways to print must cope; JSON must be JSON. SARIF has a long head, and is
 * looked at now and then. */
static void print_all(const bide_diagnostics *notes, bool sarif)
{
    struct bide__tree *tree = NULL;
    struct bide__json j;
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    must(out != NULL);
    bide_diagnostics_print(notes, out, true);
    must(fseek(out, 0, SEEK_SET) == 0);
    bide__json_init(&j, out, false);
    if (sarif)
        bide__diag_sarif(notes, &j);
    else
        bide__diag_json(notes, &j);
    bide__json_done(&j);
    must(fclose(out) == 0);
    must(bide__tree_json(&tree, "sarif", text, strcspn(text, "\n"), NULL) == 0);
    bide__tree_free(tree);
    free(text);
}

static void check(const char *name, const uint8_t *data, size_t size)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    bide_config *config = NULL;
    int rc = bide_config_parse(&config, name, (const char *)data, size, notes);

    must((rc == 0) == (config != NULL));
    must((rc == 0) == (bide_diagnostics_count(notes, BIDE_MISTAKE) == 0));
    must(rc == 0 || rc == BIDE_EPARSE);
    if (config) {
        check_policies(config);
        bide__lint(config, NULL, notes);
    }
    check_findings(notes, size);
    print_all(notes, size % 16 == 0);
    bide_config_free(config);
    bide_diagnostics_free(notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check("f.yaml", data, size);
    check("f.json", data, size);
    return 0;
}
