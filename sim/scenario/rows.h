/* Macros for the rows of a scenario's tables, in addition to
 * config/field/rows.h. */
#ifndef BIDE_SIM_SCENARIO_ROWS_H
#define BIDE_SIM_SCENARIO_ROWS_H

#include "config/field/rows.h"
#include "sim/scenario/dist.h"

#define MOST_NS  2.592e15 /* 30 days */
#define LEAST    1e-9     /* for numbers over 0 */

#define TAKES_SPAN        TAKES(DURATION, 0, MOST_NS, "a duration")
#define TAKES_SPAN_OVER_0 TAKES(DURATION, 1, MOST_NS, "a duration over 0")
#define TAKES_SPAN_OR(word, value)                                             \
    TAKES_OR(DURATION, 0, MOST_NS, word, value, "a duration")
#define TAKES_RATE_OVER_0(max)                                                 \
    TAKES(RATE, LEAST, max, "a rate over 0, up to " #max "/s")
#define TAKES_COUNT_OR_ANY(min, max, expects)                                  \
    TAKES_OR(COUNT, min, max, "unbounded", SIM_UNBOUNDED, expects)
#define TAKES_LARGE(min, expects)                                              \
    BIDE__LARGE, min, 18446744073709551615.0, false, NULL, 0, NULL, expects
#define TAKES_TRUE TAKES(FLAG, 0, 0, "true")

#define TAKES_PROSE TAKES_TEXT("text"), .read = sim_read_text
#define TAKES_DIST                                                             \
    TAKES_AS(BIDE__OTHER, "a distribution"), .type_name = "distribution",      \
        .read = sim_read_dist, .set = sim_set_dist, .schema = sim_schema_dist
#define TAKES_POLICY                                                           \
    TAKES_AS(BIDE__NAME, "the name of a policy"), .read = sim_read_policy
#define TAKES_SERVICE                                                          \
    TAKES_AS(BIDE__NAME, "the name of a service"), .read = sim_read_service
#define TAKES_BALANCE                                                          \
    TAKES_CHOICE(sim_balance_words,                                            \
                 "two_choices, least_requests, round_robin or random")
#define TAKES_FLEET                                                            \
    TAKES_AS(BIDE__NAME, "the name of a fleet of clients"),                    \
        .read = sim_read_fleet

/* What the schema says of values that only scenarios have (schema.c). */
void sim_schema_dist(struct bide__json *j, const struct bide__field *f);
void sim_schema_calls(struct bide__json *j, const struct bide__field *f);

#endif
