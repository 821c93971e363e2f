/* The answer to "would this policy have helped?", before any detail: how many
 * calls failed in the log, and how many would have failed. For one policy a
 * sentence, for several a table. */
#ifndef BIDE_REPLAY_ANSWER_H
#define BIDE_REPLAY_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct replay_log;
struct traffic;

/* Its calls that failed, as a share: "5.55%"; "0%" only if there are none. */
const char *replay_share(uint64_t part, uint64_t all, char buffer[24]);

/* "Failed before: 6662 of 120000 calls (5.55%); after: 214 (0.18%), ..." */
void replay_print_answer(FILE *out, const struct traffic *t, int width);

/* A row for the log, and one for each policy; for machines, a line each. */
void replay_print_compared(FILE *out, bool json, int width,
                           const struct traffic *t, size_t n,
                           const struct replay_log *log);

/* The one that fails the fewest calls, and of those adds the least load. */
const struct traffic *replay_best(const struct traffic *t, size_t n);

#endif
