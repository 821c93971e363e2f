/* `bide replay` from the inside.
 *
 *   script or log --> script.c / log.c   read, check, compact
 *                      |
 *                      v
 *   run.c / traffic.c   say what begins, and what attempts meet
 *                      |
 *                      v
 *   driver.c   asks the engine on virtual time, tells every answer
 *                      |
 *                      v
 *   print.c    rows for people or machines
 *
 * The same input gives the same bytes. */
#ifndef BIDE_REPLAY_REPLAY_H
#define BIDE_REPLAY_REPLAY_H

#include "replay/driver.h"
#include "replay/log.h"
#include "replay/print.h"
#include "replay/script.h"

struct replay_log;
struct replay_printer;
struct replay_script;

/* 0, BIDE_ENOMEM, or BIDE_ESTATE: more decisions than decisions_max; for a log,
 * than that plus 100 per line. */
int replay_run_script(const struct replay_script *script,
                      const struct replay_settings *settings,
                      struct replay_printer *printer);
int replay_run_log(const struct replay_log *log,
                   const struct replay_settings *settings,
                   struct replay_printer *printer);

#endif
