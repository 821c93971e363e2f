/* bide sim: what its files share.
 *
 *   cmd_sim.c   flags, and who is asked
 *   list.c      the scenarios that come with bide
 *   subject.c   operands and policy flags -> models
 *   run.c       a run: table, chart, JSON, CSV, report, assertions
 *   sweep.c     --sweep
 *   stability.c the map of load against trigger
 *   progress.c  the bar, and Ctrl-C
 *   selftest.c  models whose outcome is known */
#ifndef BIDE_CMD_SIM_CMD_H
#define BIDE_CMD_SIM_CMD_H

#include "base/json.h"
#include "sim/study/assert.h"
#include "sim/model/model_copy.h"
#include "sim/report/page.h"
#include "sim/study/stability.h"
#include "sim/study/summary.h"
#include "sim/study/sweep.h"
#include "cmd/common/cli.h"

enum { MOST_ASSERTS = 32, MOST_NAMED = 32, MOST_SUBJECTS = 16 };

/* A model to be run: as it was read, and as it is to be. */
struct sim_subject {
    const char *name; /* as it was asked for */
    struct sim_model *read, *draft;
};

/* All that was asked for. Threads: owned. */
struct sim_ask {
    struct policy_choice policy;
    uint32_t replications; /* 0: as many as are sensible */
    uint32_t threads;      /* 0: one for each core */
    int64_t duration_ns;   /* 0: the scenario's */
    uint32_t row;          /* of the selftest; 0: all */
    bool list, compare, json, quiet, no_progress;
    const char *print, *csv, *html, *svg, *metric, *loads, *triggers;
    const char *sweeps[2], *asserts[MOST_ASSERTS], *variants[MOST_NAMED];
    uint32_t n_sweeps, n_asserts, n_variants;
    char *command; /* the line that gives the same again */

    struct sim_subject subjects[MOST_SUBJECTS];
    uint32_t n_subjects;
    struct policy_choice compared[MOST_NAMED]; /* the policies beside each
                                                * other; their memory */
    uint32_t n_compared;
};

/* The line without what changes nothing of the result; or NULL. To be freed. */
char *sim_command_line(int argc, char **argv);

/* ===== models ===== */

/* --list and --print; and what to say of a scenario that is not there, behind
 * the flag that named it, or "": EXIT_USAGE. */
void sim_list_print(FILE *out);
int sim_scenario_print(const char *name);
int sim_no_such_scenario(const char *flag, const char *name);

/* Reads what the operands name; `usual` is run where they name no scenario, or
 * NULL: that is a mistake. -1 to go on, else an exit code. */
int subjects_read(struct sim_ask *ask, char **operands, int n,
                  const char *usual);
void subjects_done(struct sim_ask *ask);

/* Which text of a model a terminal might obey instead of showing it, or NULL.
 */
const char *unprintable_part(const struct sim_model *m);

/* The plan of a model: seed, threads and replications, the latter `usual`
 * unless given, and fewer if that would take long. */
struct sim_plan plan_for(const struct sim_ask *ask, const struct sim_model *m,
                         uint32_t usual);

/* More runs than anybody waits for are refused before the first: -1 to go on,
 * or an exit code. `points` is by how much they are multiplied. */
int runs_fit(uint64_t points, const struct sim_plan *plan);

/* ===== commands ===== */

int sim_run_command(struct sim_ask *ask);
int sim_sweep_command(struct sim_ask *ask);
int sim_stability_command(struct sim_ask *ask);
int sim_selftest_command(struct sim_ask *ask);

/* ===== progress ===== */

/* Threads: shared, by the pool's lock. */
struct progress {
    bool shown; /* on a terminal, and wanted */
    double began_s, last_s;
    double from, size; /* the part of all that is run now */
    uint64_t before;   /* events of the parts before it */
    uint64_t events;
    int width; /* of the longest line so far */
};

/* From here on Ctrl-C stops a run, and a second one the program. */
void progress_begin(struct progress *p, const struct sim_ask *ask);
bool progress_tell(void *self, double done, uint64_t events);

/* What is told from now on is part n of `of`. */
void progress_part(struct progress *p, uint32_t n, uint32_t of);

/* Takes the bar away; gives the seconds that it took. */
double progress_end(struct progress *p);

/* Whether Ctrl-C was pressed; the exit code is then EXIT_INTERRUPTED. */
bool was_interrupted(void);
enum { EXIT_INTERRUPTED = 130 };

/* ===== output ===== */

/* Whether standard output is for people: not --quiet, --json, or a file that is
 * written there. */
bool prints_for_people(const struct sim_ask *ask);

/* The figures, a row each, a column for each variant; in blocks where they do
 * not fit beside each other. */
void sim_table_print(FILE *out, const struct sim_summary *s, int width);

/* How many columns a text takes; and a text put into so many, cut if need be.
 */
int text_width(const char *text);
void print_padded(FILE *out, const char *text, int width, bool right);

/* How fast it went: only on a terminal, for it is not the same each time. */
void print_took(double took_s, uint64_t events);

/* "per_second", "share", "seconds", "times", "count". */
const char *unit_name(enum sim_figure f);

/* JSON: what begins each, an object of figures, and a summary's variants. */
void json_begin(struct bide__json *j, const struct sim_ask *ask,
                const struct sim_model *m, uint64_t seed,
                uint32_t replications);
void json_figures(struct bide__json *j, const struct sim_interval *figures);
void json_variants(struct bide__json *j, const struct sim_summary *s);

/* CSV. csv_open() opens PATH, or PATH/name if that is a directory ("-" is
 * standard output), csv_close() closes it; both complain. */
bool csv_is_directory(const char *path);
FILE *csv_open(const char *path, const char *name);
int csv_close(FILE *out, const char *path);
void csv_text(FILE *out, const char *text);
void csv_number(FILE *out, double x);
int csv_write(const struct sim_ask *ask, const struct sim_summary *s);

/* The report of --html, and the picture of --svg, where they were asked for. -1
 * to go on, or an exit code. */
int html_write(const struct sim_ask *ask, const struct sim_summary *s,
               struct sim_page_context *ctx);
int svg_write(const struct sim_ask *ask, const struct sim_summary *s);

/* ===== assertions ===== */

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
