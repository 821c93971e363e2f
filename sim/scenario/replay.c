/* replay.c: a fleet that replays a log. Its path is relative to the scenario.
 * Only a regular file is accepted: a scenario from elsewhere must not make bide
 * wait for a device. */
#define _GNU_SOURCE /* stat */
#include "sim/scenario/replay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/doc/read_file.h"
#include "config/field/read.h"

/* The path of the log; NULL: out of memory. */
static const char *beside(struct sim_load *l, const struct bide__node *node)
{
    const char *name = l->base.tree->name;
    const char *slash = strrchr(name, '/');
    const char *path;

    if (node->text[0] == '/' || !slash)
        return node->text;
    path = bide__arena_printf(l->base.tree->arena, "%.*s/%s",
                              (int)(slash - name), name, node->text);
    if (!path)
        l->base.no_memory = true;
    return path;
}

static bool is_file(const char *path)
{
    struct stat st;

    return strcmp(path, "-") != 0 &&
           (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

/* Errors in reading a log are reported at the line of the scenario that names
 * it: that is the file the user is editing. */
static void refuse(struct sim_load *l, const struct bide__node *node,
                   bide_diagnostics *why)
{
    const bide_diagnostic *d = bide_diagnostics_at(why, 0);

    sim_mistake(l, node, "cannot-read",
                "a path is taken from where the scenario is", "the log %s %s",
                bide__node_found(l->base.tree, node),
                d ? d->message : "is not a file");
}

static void keep(struct sim_load *l, struct sim_model_fleet *fleet,
                 const int64_t *times, uint32_t n)
{
    fleet->replay_ns = sim_load_alloc(l, n, sizeof *times);
    if (!fleet->replay_ns)
        return;
    memcpy(fleet->replay_ns, times, n * sizeof *times);
    fleet->n_replay = n;
}

SIM_READER(sim_read_replay)
{
    struct sim_load *l = (struct sim_load *)load;
    bide_diagnostics *why;
    const char *path;
    int64_t *times = NULL;
    uint32_t n;
    char *text;
    size_t len;

    if (!bide__is_text(node)) {
        bide__wrong_field(load, f, key, node, NULL, NULL);
        return;
    }
    path = beside(l, node);
    why = path ? bide_diagnostics_new() : NULL;
    if (!why) {
        l->base.no_memory = true;
        return;
    }
    if (!is_file(path) || bide__read_file(path, &text, &len, why) < 0) {
        refuse(l, node, why);
    } else {
        if (sim_read_log(l, path, text, len, &times, &n) && n > 0)
            keep(l, into, times, n);
        else if (n == 0)
            sim_mistake(l, node, "bad-value", NULL, "the log %s holds no times",
                        bide__node_found(l->base.tree, node));
        free(times);
        free(text);
    }
    bide_diagnostics_free(why);
}
