/* sample.c: draws random policies, runs exporters and importers on texts, and
 * compares policies. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/field/option_value.h"
#include "sample.h"

struct exported export_with(bide__exporter *write, const char *target,
                            const bide_policy_conf *conf)
{
    const struct bide__export_names names = { .policy = "p", .host = "p" };
    struct exported e = { NULL, NULL };
    struct bide__translation t;
    size_t size;
    FILE *out;

    assert_int_equal(bide__translation_init(&t, target, conf), 0);
    out = open_memstream(&e.document, &size);
    write(&t, &names, out);
    fclose(out);
    assert_int_equal(bide__translation_finish(&t), 0);
    out = open_memstream(&e.report, &size);
    bide__translation_print(&t, "export", out);
    fclose(out);
    bide__translation_done(&t);
    return e;
}

void exported_free(struct exported *e)
{
    free(e->document);
    free(e->report);
}

char *import_with(bide__importer *read, const char *document)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    struct bide__import im;
    char *text = NULL;
    size_t size;

    assert_int_equal(bide__import_init(&im, notes), 0);
    if (read(&im, "document", document, strlen(document)) == 0) {
        FILE *out = open_memstream(&text, &size);

        bide__import_write(out, &im);
        fclose(out);
    } else {
        bide_diagnostics_print(notes, stderr, false);
    }
    bide__import_done(&im);
    bide_diagnostics_free(notes);
    return text;
}

bide_config *config_of(const char *text)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    bide_config *config = NULL;

    if (bide_config_parse(&config, "policy", text, strlen(text), notes) < 0) {
        fputs(text, stderr);
        bide_diagnostics_print(notes, stderr, false);
        fail_msg("the policy file has mistakes");
    }
    bide_diagnostics_free(notes);
    return config;
}

/* ===== chance ===== */

uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t below(uint64_t *state, uint64_t n)
{
    return draw(state) % n;
}

static void random_text(char *text, size_t size, const bide_option *o,
                        uint64_t *state)
{
    static const char *const units[] = { "ns", "us", "ms", "s", "m" };
    unsigned long n = (unsigned long)below(state, 1000);
    int choices = 0;

    switch (o->type) {
    case BIDE_OPTION_DURATION:
        snprintf(text, size, "%lu%s", n, units[below(state, 5)]);
        break;
    case BIDE_OPTION_COUNT:
        snprintf(text, size, "%lu", below(state, 2) ? n % 8 : n);
        break;
    case BIDE_OPTION_RATIO:
    case BIDE_OPTION_NUMBER:
        snprintf(text, size, "%lu.%03lu", o->max > 1 ? n % 7 : 0,
                 (unsigned long)below(state, 1000));
        break;
    case BIDE_OPTION_RATE:
        snprintf(text, size, "%lu/s", n);
        break;
    case BIDE_OPTION_FLAG:
        snprintf(text, size, "%s", n % 2 ? "true" : "false");
        break;
    case BIDE_OPTION_DELAYS:
        snprintf(text, size, "[%lums, %lus]", n, n % 60);
        break;
    default:
        while (o->choices[choices])
            choices++;
        snprintf(text, size, "%s", o->choices[n % (unsigned)choices]);
    }
    if (o->special && below(state, 6) == 0)
        snprintf(text, size, "%s", o->special);
}

void random_policy(bide_policy_conf *conf, uint64_t *state)
{
    const bide_policy_conf start = *conf;
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    do {
        *conf = start;
        for (size_t i = 0; i < n; i++) {
            char text[BIDE__VALUE_TEXT];

            random_text(text, sizeof text, &options[i], state);
            if (below(state, 4) == 0)
                bide__option_set(conf, options[i].key, text, strlen(text));
        }
        if (conf->hedge.max > 0 && below(state, 2))
            conf->attempts = 1;
    } while (bide_policy_check(conf) < 0);
}

static void keep_registered(struct bide__retry_set *set)
{
    for (unsigned s = 0; s < 1000; s++)
        if (!bide__status_registered(s))
            set->status[s / 64] &= ~(UINT64_C(1) << s % 64);
}

void assert_same_policy(const bide_policy_conf *a, const bide_policy_conf *b,
                        const char *context)
{
    struct bide__retry_set sa, sb;
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++) {
        char x[BIDE__VALUE_TEXT], y[BIDE__VALUE_TEXT];

        if (!bide__option_same(a, b, &options[i]))
            fail_msg("%s: %s, not %s, in\n%s", options[i].key,
                     bide__option_text(b, &options[i], y, sizeof y),
                     bide__option_text(a, &options[i], x, sizeof x), context);
    }
    bide__retry_set_of(&sa, a, NULL);
    bide__retry_set_of(&sb, b, NULL);
    if (strstr(context, "kind: VirtualService")) { /* Istio takes no others */
        keep_registered(&sa);
        keep_registered(&sb);
    }
    if (memcmp(&sa, &sb, sizeof sa) != 0)
        fail_msg("what is retried differs in\n%s", context);
}
