/* What a field takes: its type, its bounds, and the sentence that says so.
 *
 * Each bound is written once; the text is made of it.
 *
 *   TAKES_COUNT(1, 1024)                a count from 1 to 1024
 *   TAKES_DURATION_FROM(100, ms, 1, h)  a duration from 100ms to 1h
 *   TAKES_RATIO(0, 1) "; 0: never"      a ratio from 0 to 1; 0: never
 *
 * Comes to: type, min, max, above_min, special, special_value, choices, expects;
 * the members of bide_option from its type on, without the offset, and those of
 * a row of a table of fields. The text is last, so that more may follow. */
#ifndef BIDE_LIB_TAKES_H
#define BIDE_LIB_TAKES_H

#include "bide/policy.h"

#define NS_ms  1e6
#define NS_s   1e9
#define NS_h   3600e9
#define NS_d   86400e9
#define MAX_NS 9223372036854775807.0

#define TAKES(type, min, max, expects)                                         \
    BIDE_OPTION_##type, min, max, false, NULL, 0, NULL, expects
#define TAKES_OVER(type, min, max, expects)                                    \
    BIDE_OPTION_##type, min, max, true, NULL, 0, NULL, expects
#define TAKES_OR(type, min, max, word, value, expects)                         \
    BIDE_OPTION_##type, min, max, false, word, value, NULL, expects ", or " word
#define TAKES_OVER_OR(type, min, max, word, value, expects)                    \
    BIDE_OPTION_##type, min, max, true, word, value, NULL, expects ", or " word

#define TAKES_FLAG TAKES(FLAG, 0, 0, "true or false")
#define TAKES_CHOICE(names, expects)                                           \
    BIDE_OPTION_CHOICE, 0, 0, false, NULL, 0, names, expects

#define TAKES_DELAYS                                                           \
    TAKES_OR(DELAYS, 0, MAX_NS, "none", 0, "a list of up to 16 durations")

#define TAKES_COUNT(min, max)                                                  \
    TAKES(COUNT, min, max, "a count from " #min " to " #max)
#define TAKES_COUNT_UP_TO(max) TAKES(COUNT, 0, max, "a count up to " #max)
#define TAKES_COUNT_OR(min, max, word, value)                                  \
    TAKES_OR(COUNT, min, max, word, value, "a count from " #min " to " #max)

#define TAKES_NUMBER(min, max)                                                 \
    TAKES(NUMBER, min, max, "a number from " #min " to " #max)

#define TAKES_RATIO(min, max)                                                  \
    TAKES(RATIO, min, max, "a ratio from " #min " to " #max)
#define TAKES_RATIO_OVER_0(max)                                                \
    TAKES_OVER(RATIO, 0, max, "a ratio over 0, up to " #max)

#define TAKES_RATE(min, max)                                                   \
    TAKES(RATE, min, max, "a rate from " #min "/s to " #max "/s")

#define TAKES_DURATION        TAKES(DURATION, 0, MAX_NS, "a duration")
#define TAKES_DURATION_OVER_0 TAKES_OVER(DURATION, 0, MAX_NS, "a duration over 0")
#define TAKES_DURATION_OR(word, value)                                         \
    TAKES_OR(DURATION, 0, MAX_NS, word, value, "a duration")
#define TAKES_DURATION_OVER_0_OR(word, value)                                  \
    TAKES_OVER_OR(DURATION, 0, MAX_NS, word, value, "a duration over 0")
#define TAKES_DURATION_FROM(min, min_unit, max, max_unit)                      \
    TAKES(DURATION, min *NS_##min_unit, max *NS_##max_unit,                    \
          "a duration from " #min #min_unit " to " #max #max_unit)

#endif
