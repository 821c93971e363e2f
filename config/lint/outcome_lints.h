/* Lints of one policy: what it retries (outcomes.c), and what has no effect
 * (idle.c). */
#ifndef BIDE_CONFIG_LINT_OUTCOME_LINTS_H
#define BIDE_CONFIG_LINT_OUTCOME_LINTS_H

struct bide__linting;

/* Each adds its warnings. */
void bide__lint_outcomes(const struct bide__linting *l);
void bide__lint_idle(const struct bide__linting *l);

#endif
