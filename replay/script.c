/* A script: one JSON object per line, except for blank lines and lines that
 * begin with `#`. It is read and checked as a whole before anything runs, so
 * that all its errors are reported at once, and none in the middle of the
 * output. */
#include "replay/script.h"

#include <stdlib.h>
#include <string.h>

#include "config/doc/diag.h"
#include "replay/event.h"
#include "replay/reader.h"

/* ===== calls by name ===== */

static size_t name_hash(const char *name)
{
    uint64_t hash = 0;
    for (; *name; name++)
        hash = bide_rng_hash(hash, (unsigned char)*name, 0, 0);
    return (size_t)hash;
}

static struct replay_name *slot_of(struct replay_reader *r, const char *name)
{
    size_t i = name_hash(name) & (r->names_size - 1);
    while (r->names[i].name && strcmp(r->names[i].name, name) != 0)
        i = (i + 1) & (r->names_size - 1);
    return &r->names[i];
}

struct replay_name *replay_name_find(struct replay_reader *r, const char *name)
{
    struct replay_name *slot = r->names_size ? slot_of(r, name) : NULL;
    return slot && slot->name ? slot : NULL;
}

static bool grow_names(struct replay_reader *r)
{
    struct replay_name *old = r->names;
    size_t old_size = r->names_size;
    size_t size = old_size ? 2 * old_size : 64;
    struct replay_name *names = calloc(size, sizeof names[0]);
    if (!names)
        return false;
    r->names = names;
    r->names_size = size;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].name)
            *slot_of(r, old[i].name) = old[i];
    free(old);
    return true;
}

struct replay_name *replay_name_add(struct replay_reader *r, const char *name,
                                    uint32_t begin, bool burst)
{
    struct replay_name *slot = replay_name_find(r, name);
    if (slot)
        return slot;
    if (2 * r->n_names >= r->names_size && !grow_names(r)) {
        r->no_memory = true;
        return NULL;
    }
    *slot_of(r, name) = (struct replay_name){ name, begin, r->line, burst };
    r->n_names++;
    return NULL;
}

/* ===== lines ===== */

static bool add_event(struct replay_script *s, const struct replay_event *event)
{
    if (s->n_events == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 64;
        void *events = realloc(s->events, capacity * sizeof s->events[0]);
        if (!events)
            return false;
        s->events = events;
        s->capacity = capacity;
    }
    s->events[s->n_events++] = *event;
    return true;
}

/* Reports the JSON reader's findings with positions in the file, not the
 * line. */
static void pass_on(struct replay_reader *r, const bide_diagnostics *found)
{
    for (size_t i = 0; i < bide_diagnostics_size(found); i++) {
        const bide_diagnostic *d = bide_diagnostics_at(found, i);
        unsigned by = r->line - 1;
        struct bide__mark mark = { d->line + by, d->column, d->end_line + by,
                                   d->end_column };
        if (d->line == 0)
            mark = (struct bide__mark){ r->line, 1, r->line, 1 };
        bide__diag_at(r->notes, r->file, r->text, r->len, mark, d->severity,
                      d->code, d->help, "%s", d->message);
        r->mistakes += d->severity == BIDE_MISTAKE;
    }
}

static void read_line(struct replay_reader *r, const char *text, size_t len)
{
    bide_diagnostics *found = bide_diagnostics_new();
    struct replay_event event = { 0 };
    int rc = found ? bide__tree_json(&r->tree, r->file, text, len, found)
                   : BIDE_ENOMEM;
    if (rc == 0) {
        bool fine = replay_read_event(r, r->tree->root, &event);
        if (fine && !add_event(r->script, &event))
            r->no_memory = true;
        bide__tree_free(r->tree);
        r->tree = NULL;
    } else if (rc == BIDE_ENOMEM) {
        r->no_memory = true;
    } else {
        pass_on(r, found);
    }
    bide_diagnostics_free(found);
}

static bool says_nothing(const char *line, size_t len)
{
    size_t i = 0;
    while (i < len && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r'))
        i++;
    return i == len || line[i] == '#';
}

static void read_lines(struct replay_reader *r)
{
    const char *at = r->text, *end = r->text + r->len;
    while (at < end && r->mistakes < REPLAY_MISTAKES_MAX && !r->no_memory) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop ? stop : end) - at);
        r->line++;
        if (!says_nothing(at, len))
            read_line(r, at, len);
        at += len + 1;
    }
}

int replay_script_read(struct replay_script *script, const char *name,
                       const char *text, size_t len, bide_diagnostics *notes)
{
    struct replay_reader r = {
        .script = script, .notes = notes, .file = name, .text = text, .len = len
    };
    *script = (struct replay_script){ .arena = bide__arena_new() };
    if (!script->arena)
        return BIDE_ENOMEM;
    read_lines(&r);
    free(r.names);
    if (!r.mistakes && !r.no_memory)
        return 0;
    bide__diag_sort(notes);
    replay_script_done(script);
    return r.no_memory ? BIDE_ENOMEM : BIDE_EPARSE;
}

void replay_script_done(struct replay_script *script)
{
    bide__arena_free(script->arena);
    free(script->events);
    *script = (struct replay_script){ 0 };
}
