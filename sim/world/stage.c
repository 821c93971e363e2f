/* A run: the world runs from one recorded moment to the next. */
#include "sim/world/stage.h"

#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/world/record.h"

enum { USUAL_STEPS = 300, LOOKS = 200, BEATS_OF_A_SHORT_RUN = 120 };

int64_t sim_beat_length(int64_t duration_ns)
{
    int64_t length_ns = duration_ns / BEATS_OF_A_SHORT_RUN;
    if (length_ns > BIDE_SECOND)
        return BIDE_SECOND;
    return length_ns > 1 ? length_ns : 1;
}

/* Steps are whole milliseconds, unless they would be shorter than one. */
static void lay_out(struct sim_result *r, uint32_t steps)
{
    int64_t duration = r->model->duration_ns;
    int64_t n = steps ? steps : USUAL_STEPS;
    r->step_ns = (duration + n - 1) / n;
    if (!steps && r->step_ns > BIDE_MILLISECOND)
        r->step_ns = (r->step_ns + BIDE_MILLISECOND - 1) / BIDE_MILLISECOND *
                     BIDE_MILLISECOND;
    if (r->step_ns < 1)
        r->step_ns = 1;
    r->n_steps = (uint32_t)((duration + r->step_ns - 1) / r->step_ns);
}

/* Whether to continue. */
static bool tell(const struct sim_run_conf *run_conf, const struct sim_build *build,
                 int64_t now)
{
    double done = (double)now / (double)build->model->duration_ns;
    return !run_conf->progress ||
           run_conf->progress(run_conf->self, done, build->world.events);
}

/* Runs up to each moment of the record, and reports progress regularly. Returns
 * the time that it reached. */
static int64_t play(struct sim_build *build, struct sim_record *rec,
                    const struct sim_run_conf *run_conf)
{
    int64_t duration = build->model->duration_ns, now = 0, looked = 0;
    while (now < duration) {
        int64_t next = sim_record_next(rec, now);
        int64_t look = looked + duration / LOOKS + 1;
        bool stops = false;
        if (next > look)
            next = look;
        sim_world_run(&build->world, next - 1);
        now = next;
        sim_record_at(rec, now);
        if (now >= look) {
            looked = now;
            stops = !tell(run_conf, build, now);
        }
        if (stops)
            break;
    }
    return now;
}

struct sim_result *sim_run(const struct sim_model *m, uint32_t variant,
                           uint64_t seed, const struct sim_run_conf *run_conf)
{
    static const struct sim_run_conf nobody = { 0 };
    struct sim_result *r = sim_new(1, sizeof *r);
    struct sim_build build;
    struct sim_record *rec = sim_new(1, sizeof *rec);
    if (!run_conf)
        run_conf = &nobody;
    r->model = m;
    r->variant = variant;
    r->seed = seed;
    r->beats.length_ns =
        run_conf->beat_ns ? run_conf->beat_ns : sim_beat_length(m->duration_ns);
    lay_out(r, run_conf->steps);
    sim_build_init(&build, m, variant, seed, run_conf->samples);
    sim_record_init(rec, &build, r);
    sim_record_end(rec, play(&build, rec, run_conf));
    sim_record_done(rec);
    sim_build_done(&build);
    free(rec);
    return r;
}
