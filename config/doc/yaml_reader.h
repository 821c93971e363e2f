/* What the files that read YAML share. */
#ifndef BIDE_CONFIG_DOC_YAML_READER_H
#define BIDE_CONFIG_DOC_YAML_READER_H

#include <yaml.h>

#include "config/doc/build.h"

enum { BIDE__MAX_ANCHORS = 1000 };

struct bide__yaml_anchor {
    const char *name;
    struct bide__node *node;
    bool complete;
};

/* Threads: owned. */
struct bide__yaml {
    struct bide__builder b;
    yaml_parser_t parser;
    struct bide__yaml_anchor anchors[BIDE__MAX_ANCHORS];
    size_t n_anchors;
    struct bide__node nothing; /* what a wrong alias names; left out */
};

struct bide__mark bide__yaml_mark(const yaml_event_t *event);

/* Adds a mistake; `message` takes one text. */
void bide__yaml_mistake(struct bide__yaml *r, struct bide__mark mark,
                        const char *code, const char *help, const char *message,
                        const char *what) __attribute__((format(printf, 5, 0)));

/* Says what libyaml has stopped at. Always false. */
bool bide__yaml_error(struct bide__yaml *r);

/* Refuses characters that YAML does not allow, and tags that mean nothing. */
bool bide__yaml_printable(struct bide__yaml *r);
void bide__yaml_check_tag(struct bide__yaml *r, const yaml_event_t *event,
                          const yaml_char_t *tag);

#endif
