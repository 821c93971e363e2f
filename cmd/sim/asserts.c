/* --assert: parsed before anything runs, judged at the end. */
#include "cmd/sim/asserts.h"

#include <string.h>

#include "base/utf8.h"
#include "cmd/common/output.h"
#include "cmd/sim/ask.h"
#include "sim/study/figure_text.h"

int complain_at(const char *flag, const char *text, const struct sim_fuss *fuss)
{
    struct paint p = paint_for(stderr);
    size_t most = strnlen(text, fuss->at + fuss->len);
    size_t before = most < fuss->at ? most : fuss->at;
    int at = (int)bide__utf8_count(text, before);
    int len = (int)bide__utf8_count(text + before, most - before);

    complain("sim", "--%s: %s", flag, fuss->message);
    fprintf(stderr, "  %s\n  %*s%s", text, at, "", p.red);
    for (int i = 0; i < (len > 0 ? len : 1); i++)
        putc('^', stderr);
    fprintf(stderr, "%s\n", p.plain);
    return EXIT_USAGE;
}

/* ===== before ===== */

static void suggest_figure(const char *text, const struct sim_fuss *fuss)
{
    const char *known[SIM_FIGURES + 1];
    char found[64];

    if (strncmp(fuss->message, "unknown figure", 14) != 0)
        return;
    for (int f = 0; f < SIM_FIGURES; f++)
        known[f] = sim_figure_name((enum sim_figure)f);
    known[SIM_FIGURES] = NULL;
    snprintf(found, sizeof found, "%.*s", (int)fuss->len, text + fuss->at);
    suggest(found, known);
    fprintf(stderr, "  figures:");
    for (int f = 0; f < SIM_FIGURES; f++)
        fprintf(stderr, "%s %s", f ? "," : "", known[f]);
    putc('\n', stderr);
}

static void suggest_variant(const struct sim_fuss *fuss,
                            const char *const *names, uint32_t n)
{
    if (strncmp(fuss->message, "there is no variant", 19) != 0)
        return;
    fprintf(stderr, "  variants:");
    for (uint32_t v = 0; v < n; v++)
        fprintf(stderr, "%s '%s'", v ? "," : "", names[v]);
    fprintf(stderr, "%s\n", n ? "" : " none");
}

int asserts_parse(struct asserts *a, const struct sim_ask *ask,
                  const char *const *variants, uint32_t n_variants)
{
    struct sim_fuss fuss;

    *a = (struct asserts){ .texts = ask->asserts, .quiet = ask->quiet };
    for (uint32_t i = 0; i < ask->n_asserts; i++) {
        const char *text = ask->asserts[i];
        if (sim_assert_parse(&a->list[i], text, &fuss) < 0) {
            complain_at("assert", text, &fuss);
            suggest_figure(text, &fuss);
            return EXIT_USAGE;
        }
        a->n++;
        if (sim_assert_bind(a->list[i], variants, n_variants, &fuss) < 0) {
            complain_at("assert", text, &fuss);
            suggest_variant(&fuss, variants, n_variants);
            return EXIT_USAGE;
        }
    }
    return -1;
}

void asserts_done(struct asserts *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        sim_assert_free(a->list[i]);
    a->n = 0;
}

/* ===== after ===== */

static const char *verdict_text(enum sim_verdict v)
{
    return v == SIM_HOLDS ? "holds" : v == SIM_FAILS ? "FAILS" : "UNKNOWN";
}

/* "amplification 1.32x, recover never": the values it was judged by. */
static void print_measured(FILE *out, const struct sim_assert *a,
                           const struct sim_interval *figures,
                           const char *const *variants, uint32_t variant)
{
    char buffer[SIM_TEXT];
    enum sim_figure f;
    uint32_t v;

    for (uint32_t n = 0; sim_assert_figure(a, n, variant, &v, &f); n++)
        fprintf(out, "%s%s%s%s %s", n ? ", " : "",
                sim_assert_named(a) ? variants[v] : "",
                sim_assert_named(a) ? "." : "", sim_figure_name(f),
                sim_interval_text(f, &figures[v * SIM_FIGURES + f], use_utf8(),
                                  buffer, sizeof buffer));
}

static enum sim_verdict judge_one(const struct asserts *a, uint32_t i,
                                  FILE *out, const struct sim_interval *figures,
                                  const char *const *variants, uint32_t variant,
                                  const char *where)
{
    enum sim_verdict v = sim_assert_judge(a->list[i], figures, variant);
    bool named = sim_assert_named(a->list[i]);

    if (!out || (a->quiet && v == SIM_HOLDS))
        return v;
    struct paint p = paint_for(out);
    fprintf(out, "%s%s%s  %s%s%s%s%s%s\n         ",
            v == SIM_HOLDS ? p.green : p.red, verdict_text(v), p.plain, where,
            *where ? ": " : "", named ? "" : variants[variant],
            named || !*variants[variant] ? "" : ": ", a->texts[i], "");
    print_measured(out, a->list[i], figures, variants, variant);
    putc('\n', out);
    return v;
}

uint32_t asserts_judge(const struct asserts *a, FILE *out,
                       const struct sim_interval *figures,
                       const char *const *variants, uint32_t n_variants,
                       const char *where)
{
    uint32_t failed = 0;

    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t v = 0;
             v < (sim_assert_named(a->list[i]) ? 1 : n_variants); v++)
            failed +=
                judge_one(a, i, out, figures, variants, v, where) != SIM_HOLDS
                    ? 1
                    : 0;
    return failed;
}

void asserts_json(const struct asserts *a, struct bide__json *j,
                  const struct sim_interval *figures,
                  const char *const *variants, uint32_t n_variants)
{
    bide__json_list(j, "assertions");
    for (uint32_t i = 0; i < a->n; i++) {
        bool named = sim_assert_named(a->list[i]);
        for (uint32_t v = 0; v < (named ? 1 : n_variants); v++) {
            enum sim_verdict verdict = sim_assert_judge(a->list[i], figures, v);
            bide__json_object(j, NULL);
            bide__json_text(j, "text", a->texts[i]);
            if (named)
                bide__json_null(j, "variant");
            else
                bide__json_text(j, "variant", variants[v]);
            bide__json_flag(j, "holds", verdict == SIM_HOLDS);
            bide__json_flag(j, "unknown", verdict == SIM_UNKNOWN);
            bide__json_end(j);
        }
    }
    bide__json_end(j);
}
