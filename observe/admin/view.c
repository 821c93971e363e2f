/* The outer part of a state: the program, and the lists. */
#include "observe/admin/view.h"

#include "observe/admin/view_parts.h"

static void put_at(struct bide__json *j, const struct bide__view *v,
                   int64_t at_ns)
{
    bide__json_count(j, "at_ms",
                   (uint64_t)((at_ns + v->wall_offset_ns) / BIDE_MILLISECOND));
}

static void put_head(struct bide__json *j, const struct bide__view *v)
{
    bide__json_text(j, "program", v->program);
    bide__json_text(j, "version", bide_version());
    bide__json_count(
        j, "now_ms",
        (uint64_t)((v->now_ns + v->wall_offset_ns) / BIDE_MILLISECOND));
    bide__json_number(j, "uptime_s",
                      (double)((v->now_ns - v->start_ns) / BIDE_MILLISECOND) /
                          1000);
    bide__json_flag(j, "ready", v->ready);
    bide__json_flag(j, "draining", v->draining);
    bide__json_flag(j, "actions", v->actions);
    bide__json_list(j, "bounds_ms");
    for (unsigned i = 0; i <= BIDE_N_BUCKETS; i++)
        bide__json_number(j, NULL, (double)bide_bucket_ns(i) / 1e6);
    bide__json_end(j);
}

static void put_value(struct bide__json *j,
                      const struct bide__observed_value *v)
{
    bide__json_object(j, NULL);
    bide__json_text(j, "name", v->name);
    if (v->label) {
        bide__json_text(j, "label", v->label);
        bide__json_text(j, "label_value", v->label_value);
    }
    bide__json_number(j, "value", v->value);
    bide__json_text(j, "help", v->help);
    bide__json_end(j);
}

static void put_journal(struct bide__json *j, const struct bide__view *v)
{
    const struct bide__entry *all[BIDE__JOURNAL_SHOWN];
    size_t n = v->journal ? bide__journal_list(v->journal, all) : 0;

    bide__json_list(j, "decisions");
    for (size_t i = 0; i < n; i++)
        bide__view_decision(j, v, all[i]);
    bide__json_end(j);
    bide__json_list(j, "turns");
    for (size_t age = 0; v->journal && age < bide__journal_turns(v->journal);
         age++) {
        const struct bide__turn *t = bide__journal_turn(v->journal, age);
        bide__json_object(j, NULL);
        put_at(j, v, t->at_ns);
        bide__json_text(j, "dep", t->dep);
        bide__json_text(j, "from", bide_breaker_state_name(t->from));
        bide__json_text(j, "to", bide_breaker_state_name(t->to));
        bide__json_end(j);
    }
    bide__json_end(j);
}

void bide__view_write(struct bide__out *out, const struct bide__view *view)
{
    struct bide__json j;
    const struct bide__observed *w = view->observed;

    bide__json_into(&j, out);
    bide__json_object(&j, NULL);
    put_head(&j, view);
    bide__json_list(&j, "deps");
    for (size_t i = 0; i < w->n_deps; i++)
        bide__view_dep(&j, view, &w->deps[i]);
    bide__json_end(&j);
    bide__json_list(&j, "values");
    for (size_t i = 0; i < w->n_values; i++)
        put_value(&j, &w->values[i]);
    bide__json_end(&j);
    put_journal(&j, view);
    bide__json_end(&j);
}

void bide__view_history(struct bide__out *out, const struct bide__view *view)
{
    struct bide__json j;

    bide__json_into(&j, out);
    bide__json_object(&j, NULL);
    bide__json_object(&j, "deps");
    for (size_t i = 0; view->history && i < view->history->n; i++) {
        const struct bide__track *t = view->history->tracks[i];
        bide__json_list(&j, t->name);
        for (size_t age = bide__track_samples(t); age-- > 0;)
            bide__view_sample(&j, NULL, view, bide__track_sample(t, age));
        bide__json_end(&j);
    }
    bide__json_end(&j);
    bide__json_end(&j);
}
