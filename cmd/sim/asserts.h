/* bide sim --assert: parsed before anything is run, judged when all is known. */
#ifndef BIDE_CMD_SIM_ASSERTS_H
#define BIDE_CMD_SIM_ASSERTS_H

#include "base/json.h"
#include "cmd/sim/ask.h"
#include "sim/study/assert.h"

struct asserts {
    struct sim_assert *list[MOST_ASSERTS];
    const char *const *texts;
    uint32_t n;
    bool quiet; /* only what fails is printed */
};

/* -1 to go on, else an exit code: parsed before anything is run. */
int asserts_parse(struct asserts *a, const struct sim_ask *ask,
                  const char *const *variants, uint32_t n_variants);
void asserts_done(struct asserts *a);

/* Judges them all and prints each with what was measured, on `out` unless NULL;
 * the number that do not hold. `where` stands before each, or is "". */
uint32_t asserts_judge(const struct asserts *a, FILE *out,
                       const struct sim_interval *figures,
                       const char *const *variants, uint32_t n_variants,
                       const char *where);
void asserts_json(const struct asserts *a, struct bide__json *j,
                  const struct sim_interval *figures,
                  const char *const *variants, uint32_t n_variants);

/* "--sweep: message", the text, and a mark under what is meant. */
int complain_at(const char *flag, const char *text,
                const struct sim_fuss *fuss);

#endif
