/* What it all came to: the summary of a script, and the parts that it shares with
 * that of a log. */
#ifndef BIDE_REPLAY_SUMMARY_H
#define BIDE_REPLAY_SUMMARY_H

#include <stdio.h>

#include "bide/stats.h"
#include "replay/driver.h"
#include "replay/print.h"

struct bide__json;

/* How calls ended. */
void replay_json_ends(struct bide__json *j, const bide_stats *stats);
void replay_text_ends(FILE *out, const bide_stats *stats);

void replay_print_summary(struct replay_printer *p, const struct replay *r);

#endif
