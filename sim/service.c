#include "service.h"

#include <stdlib.h>
#include <string.h>

#include "luck.h"
#include "memory.h"

/* What an event of the service is about. */
enum { FINISH, REFUSE, RESUME };

static const struct sim_fault *fault_now(const struct sim_service *s,
                                         enum sim_fault_kind kind, int64_t now)
{
    for (uint32_t i = 0; i < s->n_faults; i++) {
        const struct sim_fault *f = &s->faults[i];
        if (f->kind == kind && f->from_ns <= now && now < f->to_ns)
            return f;
    }
    return NULL;
}

static uint64_t luck_of(const struct sim_service *s, const struct sim_world *w,
                        const struct sim_request *r, enum sim_luck_use use)
{
    return sim_luck_word(w->seed, r->client, r->call,
                         sim_luck_what(use, s->part, r->attempt));
}

/* ===== what is in hand ===== */

static uint32_t keep(struct sim_service *s, const struct sim_request *r)
{
    uint32_t i;
    if (s->n_free > 0) {
        i = s->free[--s->n_free];
    } else {
        s->work = sim_grow(s->work, s->n_work, &s->work_room, sizeof *s->work);
        i = s->n_work++;
    }
    s->work[i] = *r;
    return i;
}

static struct sim_request let_go(struct sim_service *s, uint32_t i)
{
    s->free = sim_grow(s->free, s->n_free, &s->free_room, sizeof *s->free);
    s->free[s->n_free++] = i;
    return s->work[i];
}

static void begin(struct sim_service *s, struct sim_world *w,
                  const struct sim_request *r)
{
    int64_t took = sim_dist_draw(&s->time, luck_of(s, w, r, SIM_LUCK_SERVICE));
    const struct sim_fault *slow = fault_now(s, SIM_SLOW, w->now_ns);
    if (slow)
        took = (int64_t)((double)took * slow->factor);
    s->busy++;
    sim_world_at(w, w->now_ns + took, &s->actor, FINISH, keep(s, r));
}

/* ===== the queue ===== */

static void enqueue(struct sim_service *s, const struct sim_request *r)
{
    if (s->n_waiting == s->room) {
        uint32_t old = s->room;
        s->waiting = sim_grow(s->waiting, s->n_waiting, &s->room,
                              sizeof *s->waiting);
        memcpy(s->waiting + old, s->waiting, s->first * sizeof *s->waiting);
    }
    s->waiting[(s->first + s->n_waiting++) & (s->room - 1)] = *r;
}

/* Puts free workers to work. */
static void work_on(struct sim_service *s, struct sim_world *w)
{
    if (s->n_waiting == 0 || fault_now(s, SIM_STOP, w->now_ns))
        return;
    while (s->n_waiting > 0 && s->busy < s->workers) {
        struct sim_request r = s->waiting[s->first];
        s->first = (s->first + 1) & (s->room - 1);
        s->n_waiting--;
        begin(s, w, &r);
    }
}

static void submit(void *self, struct sim_world *w, const struct sim_request *r)
{
    struct sim_service *s = self;
    s->arrived++;
    if (s->busy < s->workers && !fault_now(s, SIM_STOP, w->now_ns)) {
        begin(s, w, r);
    } else if (s->n_waiting < s->queue) {
        s->waited++;
        enqueue(s, r);
    } else {
        s->refused++;
        sim_world_at(w, w->now_ns, &s->actor, REFUSE, keep(s, r));
    }
}

/* ===== answers ===== */

static void refuse(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    static const bide_outcome full = { .cls = BIDE_TRANSIENT, .status = 503,
                                       .not_processed = true };
    struct sim_request r = let_go(s, i);
    r.from->answer(r.from->self, w, &r, &full);
}

static bool goes_wrong(const struct sim_service *s, const struct sim_world *w,
                       const struct sim_request *r)
{
    const struct sim_fault *fault = fault_now(s, SIM_FAIL, w->now_ns);
    double rate = fault ? fault->factor : s->error_rate;
    return rate > 0 &&
           sim_luck_unit(luck_of(s, w, r, SIM_LUCK_ERROR)) < rate;
}

static void finish(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    static const bide_outcome error = { .cls = BIDE_TRANSIENT, .status = 500 };
    struct sim_request r = let_go(s, i);
    s->busy--;
    s->finished++;
    bide_outcome out = BIDE_OUTCOME_SUCCESS;
    if (goes_wrong(s, w, &r))
        out = error;
    work_on(s, w);
    r.from->answer(r.from->self, w, &r, &out);
}

static void act(struct sim_actor *self, struct sim_world *w, uint32_t what,
                uint32_t i)
{
    struct sim_service *s = self->self;
    if (what == FINISH)
        finish(s, w, i);
    else if (what == REFUSE)
        refuse(s, w, i);
    else
        work_on(s, w);
}

void sim_service_init(struct sim_service *s, struct sim_world *w)
{
    s->target = (struct sim_target){ s, submit };
    s->actor = (struct sim_actor){ act, s };
    for (uint32_t i = 0; i < s->n_faults; i++)
        if (s->faults[i].kind == SIM_STOP)
            sim_world_at(w, s->faults[i].to_ns, &s->actor, RESUME, 0);
}

void sim_service_done(struct sim_service *s)
{
    free(s->waiting);
    free(s->work);
    free(s->free);
}
