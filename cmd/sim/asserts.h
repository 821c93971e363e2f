/* bide sim --assert: parsed before anything runs, judged at the end. */
#ifndef BIDE_CMD_SIM_ASSERTS_H
#define BIDE_CMD_SIM_ASSERTS_H

#include "base/json.h"
#include "cmd/sim/ask.h"
#include "sim/study/assert.h"

struct asserts {
    struct sim_assert *list[MOST_ASSERTS];
    const char *const *texts;
    uint32_t n;
    bool quiet; /* print only failures */
};

/* Call before anything runs. -1 to continue, else an exit code. */
int asserts_parse(struct asserts *a, const struct sim_ask *ask,
                  const char *const *variants, uint32_t n_variants);
void asserts_done(struct asserts *a);

/* Judges all assertions and prints each with its measured values on `out`,
 * unless that is NULL. Returns how many do not hold. `where` is printed before
 * each; it may be "". */
uint32_t asserts_judge(const struct asserts *a, FILE *out,
                       const struct sim_interval *figures,
                       const char *const *variants, uint32_t n_variants,
                       const char *where);
void asserts_json(const struct asserts *a, struct bide__json *j,
                  const struct sim_interval *figures,
                  const char *const *variants, uint32_t n_variants);

/* Prints "--sweep: message", the text, and a mark under the wrong part. */
int complain_at(const char *flag, const char *text,
                const struct sim_fuss *fuss);

#endif
