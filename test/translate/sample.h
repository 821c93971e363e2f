/* Random policies, and both directions of a translation as texts. */
#ifndef BIDE_TEST_TRANSLATE_SAMPLE_H
#define BIDE_TEST_TRANSLATE_SAMPLE_H

#include <stdint.h>

#include "config/translate/import.h"
#include "config/translate/import_proxy.h"
#include "config/translate/translate.h"

/* What one export gave. Free both. */
struct exported {
    char *document, *report;
};

struct exported export_with(bide__exporter *write, const char *target,
                            const bide_policy_conf *conf);
void exported_free(struct exported *e);

/* The policy file that an import gives, or NULL after mistakes, which are then
 * printed. Free it. */
char *import_with(bide__importer *read, const char *document);

/* The config that a policy file holds; a mistake in it fails the test. */
bide_config *config_of(const char *text);

/* The same numbers each time. */
uint64_t draw(uint64_t *state);
uint64_t below(uint64_t *state, uint64_t n);

/* Gives some options random values until the policy is valid. */
void random_policy(bide_policy_conf *conf, uint64_t *state);

/* Fails if an option or what is retried differs. */
void assert_same_policy(const bide_policy_conf *a, const bide_policy_conf *b,
                        const char *context);

#endif
