/* The outer part of a state: the program, and the lists. */
#include "observe/admin/view.h"

#include "observe/admin/view_parts.h"

static void put_at(struct bide__json *j, const struct bide__view *v,
                   int64_t at_ns, const char *key)
{
    bide__json_count(
        j, key, (uint64_t)((at_ns + v->wall_offset_ns) / BIDE_MILLISECOND));
}

static void put_head(struct bide__json *j, const struct bide__view *v)
{
    bide__json_text(j, "program", v->program);
    bide__json_text(j, "version", bide_version());
    if (v->file)
        bide__json_text(j, "file", v->file);
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

/* ===== topics ===== */

/* FNV-1a. */
uint64_t bide__view_topic(const char *dep)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *dep; dep++)
        hash = (hash ^ (unsigned char)*dep) * UINT64_C(1099511628211);
    return hash ? hash : 1;
}

/* NULL: there is none, or not any more. */
static const char *topic_name(const struct bide__view *v)
{
    for (size_t i = 0; v->topic && i < v->observed->n_deps; i++)
        if (bide__view_topic(v->observed->deps[i].name) == v->topic)
            return v->observed->deps[i].name;
    return NULL;
}

static void put_journal(struct bide__json *j, const struct bide__view *v)
{
    const struct bide__entry *all[BIDE__JOURNAL_SHOWN];
    size_t n =
        v->journal ? bide__journal_list(v->journal, topic_name(v), all) : 0;

    bide__json_list(j, "decisions");
    for (size_t i = 0; i < n; i++)
        bide__view_decision(j, v, all[i]);
    bide__json_end(j);
    bide__json_list(j, "turns");
    for (size_t age = 0; v->journal && age < bide__journal_turns(v->journal);
         age++) {
        const struct bide__turn *t = bide__journal_turn(v->journal, age);
        bide__json_object(j, NULL);
        put_at(j, v, t->at_ns, "at_ms");
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
        if (!view->topic || bide__view_topic(w->deps[i].name) == view->topic)
            bide__view_dep(&j, view, &w->deps[i]);
        else
            bide__view_brief(&j, view, &w->deps[i]);
    bide__json_end(&j);
    bide__json_list(&j, "values");
    for (size_t i = 0; i < w->n_values; i++)
        put_value(&j, &w->values[i]);
    bide__json_end(&j);
    put_journal(&j, view);
    bide__json_end(&j);
}

typedef void put_samples(struct bide__json *j, const struct bide__view *view,
                         const struct bide__track *t);

static void put_full(struct bide__json *j, const struct bide__view *view,
                     const struct bide__track *t)
{
    for (size_t age = bide__track_samples(t); age-- > 0;)
        bide__view_sample(j, NULL, view, bide__track_sample(t, age));
}

/* Reasons that are nobody's failure are left out, as on the page. */
static uint64_t failed(const struct bide__sample *s)
{
    uint64_t n = 0;
    for (unsigned r = BIDE_BECAUSE_CANCELLED; r < BIDE__DONE_REASONS; r++)
        if (r != BIDE_BECAUSE_CANCELLED && r != BIDE_BECAUSE_PERMANENT)
            n += s->refused[r];
    return n;
}

static void put_brief(struct bide__json *j, const struct bide__view *view,
                      const struct bide__track *t)
{
    enum { MINUTE = 60 };
    size_t n = bide__track_samples(t);

    for (size_t age = n < MINUTE ? n : MINUTE; age-- > 0;) {
        const struct bide__sample *s = bide__track_sample(t, age);
        uint64_t aside = s->refused[BIDE_BECAUSE_CANCELLED] +
                         s->refused[BIDE_BECAUSE_PERMANENT];
        bide__json_list(j, NULL);
        put_at(j, view, s->at_ns, NULL);
        bide__json_number(j, NULL, (double)(int)(s->seconds * 1000) / 1000);
        bide__json_count(j, NULL, s->first + s->late + failed(s) + aside);
        bide__json_count(j, NULL, failed(s));
        bide__json_count(j, NULL, s->backoff + s->hint + s->immediate);
        bide__json_end(j);
    }
}

static void write_history(struct bide__out *out, const struct bide__view *view,
                          put_samples *put)
{
    struct bide__json j;

    bide__json_into(&j, out);
    bide__json_object(&j, NULL);
    bide__json_object(&j, "deps");
    for (size_t i = 0; view->history && i < view->history->n; i++) {
        const struct bide__track *t = view->history->tracks[i];
        if (view->topic && bide__view_topic(t->name) != view->topic)
            continue;
        bide__json_list(&j, t->name);
        put(&j, view, t);
        bide__json_end(&j);
    }
    bide__json_end(&j);
    bide__json_end(&j);
}

void bide__view_history(struct bide__out *out, const struct bide__view *view)
{
    write_history(out, view, put_full);
}

void bide__view_brief_history(struct bide__out *out,
                              const struct bide__view *view)
{
    write_history(out, view, put_brief);
}
