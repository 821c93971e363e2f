/* What the examples of sim/ use and do not declare, header by header: see
 * "Examples in headers" in CONTRIBUTING.md. */

/* sim/model/dist.h */
uint64_t word;

/* sim/model/luck.h */
uint64_t seed, client, call;
uint32_t id, attempt;

/* sim/model/model_copy.h */
struct sim_model *model;
bide_policy_conf conf;

/* sim/model/promises.h */
struct sim_promises list;
uint64_t name;
int64_t now;

/* sim/oracle/harness.h */
uint64_t seed;
bide_policy_conf conf;
int64_t until_ns;

/* sim/report/bands.h */
struct sim_summary *summary;
uint32_t variant;
void *self;

/* sim/report/csv.h */
FILE *out;
struct sim_summary *summary;

/* sim/report/heat.h */
struct sim_page_context *ctx;
FILE *out;

/* sim/report/json.h */
struct sim_json_head head;
struct sim_summary *summary;

/* sim/report/load.h */
struct sim_summary *summary;
struct page *p;

/* sim/report/page.h */
struct sim_summary *summary;

/* sim/report/plot/band.h */
struct sim_summary *summary;
uint32_t v, service;

/* sim/report/parts.h */
struct page *p;

/* sim/report/stability.h */
struct sim_stability *map;
struct sim_axis loads, triggers;
FILE *out;
struct sim_page_context context;

/* sim/report/sweep.h */
struct sim_sweep *sweep;
enum sim_figure figures[5];
FILE *out;
struct sim_page_context context;

/* sim/report/timeline.h */
struct page_scale shown;
struct sim_summary *summary;
struct sim_result *run;
void draw(const struct sim_mark *mark, unsigned row, unsigned lane);

/* sim/scenario/builtin.h */
struct sim_model *model;
bide_diagnostics *notes;

/* sim/scenario/setting.h */
struct sim_model *draft;
const char *expected;

/* sim/study/assert.h */
const char *names_of_variants[2];
uint32_t n, variant;
struct sim_interval figures[SIM_FIGURES];
void die(const char *why);

/* sim/study/pool.h */
struct me *me;
uint64_t events;
void what_to_run(void *self, uint32_t n, struct sim_job *ret);
void keep_what_came(void *self, uint32_t n, struct sim_result *r);

/* sim/study/recovery.h */
struct sim_model *model;
uint32_t variant;
uint64_t seed;
struct sim_run_conf run_conf;

/* sim/study/twins.h */
uint32_t n, i;
bool mine;
struct sim_job job;
struct sim_run_conf run_conf;
struct sim_result *run;

/* sim/study/stability.h */
struct sim_model *model;
double loads[12];
int64_t lengths[6];
struct sim_plan plan;
uint32_t variant, load, length;

/* sim/study/plan.h */
struct sim_model *m;

/* sim/study/subject.h */
bide_diagnostics *notes;
struct sim_subject_policy policies[2];

/* sim/study/summary.h */
struct sim_summary *s;

/* sim/study/sweep.h */
struct sim_model *model;
struct sim_axis axes[2];
struct sim_fuss fuss;
struct sim_plan plan;
uint32_t x, y, variant;
void die(const char *why);

/* sim/study/together.h */
struct sim_plan first, second;

/* sim/model/profile.h */
int64_t duration_ns, at_ns;
double area;

/* sim/world/balance/balancer.h */
struct sim_world *world;
struct sim_balancer *b;
struct sim_model_service service;
uint32_t n_processes, part, server, attempt;
struct sim_choosing for_it;
bide_outcome outcome;
int64_t now;

/* sim/world/agenda.h */
struct sim_world *world;
struct sim_actor *actor;
struct sim_event event;
int64_t at_ns, until_ns;
uint32_t a, b;

/* sim/world/caller.h */
struct sim_world *world;
struct sim_service service;
bide_policy_conf conf;
uint32_t n_deps;
uint64_t client, number;

/* sim/world/fleet.h */
struct sim_world *world;
struct sim_caller caller;
double rate;

/* sim/world/ledger.h */
struct sim_ledger ledger;
uint64_t name, duplicates;

/* sim/world/record.h */
struct sim_build build;
struct sim_result *result;
int64_t now, duration;

/* sim/world/record_marks.h */
uint32_t slot, attempt, attempts;
uint64_t client;
bide_reason reason;
int64_t now;

/* sim/world/result.h */
struct sim_model *model;
struct sim_run_conf run_conf;
uint32_t variant, step;
uint64_t seed;

/* sim/world/service.h */
struct sim_world *world;
struct sim_caller caller;

/* sim/world/queue.h */
struct sim_world *world;
struct sim_caller caller;
const struct sim_model_queue *conf;

/* sim/world/stage.h */
struct sim_model *model;
uint64_t seed;

/* sim/world/timeouts.h */
struct sim_world *world;
struct sim_caller *caller;
uint32_t slot, generation, attempt;

/* sim/world/world.h */
uint64_t seed;
