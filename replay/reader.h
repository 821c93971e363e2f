/* Reading scripts: what script.c (lines and names), event.c (one
 * event) and value.c (one value) share. */
#ifndef BIDE_REPLAY_READER_H
#define BIDE_REPLAY_READER_H

#include "base/arena.h"
#include "config/doc/tree.h"
#include "replay/script.h"

/* No more errors are reported after that many. */
enum { REPLAY_MISTAKES_MAX = 20 };

/* Threads: owned. */
struct replay_reader {
    struct replay_script *script;
    bide_diagnostics *notes;
    const char *file;
    const char *text; /* all of the script */
    size_t len;
    struct bide__tree *tree; /* of the current line */
    unsigned line;
    int64_t last_ns; /* the time of the event above */
    unsigned mistakes;
    bool no_memory;

    bool dated; /* times are dates, and time 0 is: */
    int64_t date_ns;

    struct replay_name { /* a table of the calls that began */
        const char *name;
        uint32_t begin;
        unsigned line;
        bool burst;
    } * names;
    size_t n_names, names_size; /* a power of 2, or 0 */
};

/* Tells a mistake at a node of the line (NULL: the line). Always false. */
bool replay_mistake(struct replay_reader *r, const struct bide__node *node,
                    const char *code, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Each reads a node; false if it was a mistake, which has been told. A NULL
 * node is fine and leaves *ret as it was. */
bool replay_read_text(struct replay_reader *r, const struct bide__node *node,
                      const char **ret);
bool replay_read_flag(struct replay_reader *r, const struct bide__node *node,
                      bool *ret);
bool replay_read_count(struct replay_reader *r, const struct bide__node *node,
                       uint32_t min, uint32_t max, uint32_t *ret);
bool replay_read_duration(struct replay_reader *r,
                          const struct bide__node *node, int64_t *ret_ns);
bool replay_read_time(struct replay_reader *r, const struct bide__node *node,
                      int64_t *ret_ns);
bool replay_read_choice(struct replay_reader *r, const struct bide__node *node,
                        const char *const *names, const char *what, int *ret);

/* Whether the map has no key but these. */
bool replay_only_keys(struct replay_reader *r, const struct bide__node *map,
                      const char *const *known);

/* The calls by name. Adding gives NULL, or the one that has the name already.
 */
struct replay_name *replay_name_find(struct replay_reader *r, const char *name);
struct replay_name *replay_name_add(struct replay_reader *r, const char *name,
                                    uint32_t begin, bool burst);

#endif
