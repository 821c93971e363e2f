/* yaml.c: YAML, by the events of libyaml.
 *
 * libyaml finds the structure and the positions; what a policy file does not
 * need is refused here, by name: custom tags, merge keys, keys that are not
 * text, a second document. */
#include "config/doc/yaml.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "config/doc/yaml_reader.h"

static struct bide__node *read_node(struct bide__yaml *r, yaml_event_t *event,
                                    unsigned depth);

static bool next_event(struct bide__yaml *r, yaml_event_t *event)
{
    return yaml_parser_parse(&r->parser, event) || bide__yaml_error(r);
}

/* ===== anchors ===== */

static struct bide__yaml_anchor *find_anchor(struct bide__yaml *r,
                                             const char *name)
{
    for (size_t i = r->n_anchors; i > 0; i--)
        if (strcmp(r->anchors[i - 1].name, name) == 0)
            return &r->anchors[i - 1];
    return NULL;
}

/* Remembers a node by its name; the number of the anchor, -1 for none. */
static long define(struct bide__yaml *r, const yaml_char_t *name,
                   struct bide__node *node)
{
    struct bide__yaml_anchor *a = &r->anchors[r->n_anchors];

    if (!name)
        return -1;
    if (r->n_anchors == BIDE__MAX_ANCHORS) {
        bide__yaml_mistake(r, node->mark, "too-many-nodes", NULL,
                           "more than 1000 anchors, of which `%s` is one",
                           (const char *)name);
        bide__build_fail(&r->b, BIDE_EPARSE);
        return -1;
    }
    a->name = bide__arena_copy(r->b.tree->arena, (const char *)name,
                               strlen((const char *)name));
    a->node = node;
    a->complete = false;
    if (!a->name) {
        bide__build_fail(&r->b, BIDE_ENOMEM);
        return -1;
    }
    return (long)r->n_anchors++;
}

static void complete(struct bide__yaml *r, long anchor)
{
    if (anchor >= 0)
        r->anchors[anchor].complete = true;
}

/* What an alias names. */
static struct bide__node *read_alias(struct bide__yaml *r, yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct bide__yaml_anchor *a = find_anchor(r, name);
    struct bide__mark mark = bide__yaml_mark(event);

    if (a && a->complete)
        return bide__build_count(&r->b, a->node, a->node->weight) ? a->node
                                                                  : NULL;
    if (a)
        bide__yaml_mistake(r, mark, "bad-alias", NULL,
                           "the alias `*%s` stands inside of what it names",
                           name);
    else
        bide__yaml_mistake(
            r, mark, "bad-alias",
            "an anchor `&name` must come before its alias `*name`",
            "the alias `*%s` names nothing", name);
    return &r->nothing;
}

/* ===== nodes ===== */

static struct bide__node *read_scalar(struct bide__yaml *r, yaml_event_t *event,
                                      unsigned depth)
{
    struct bide__node *node =
        bide__build_node(&r->b, BIDE__SCALAR, bide__yaml_mark(event), depth);
    const char *tag = (const char *)event->data.scalar.tag;

    if (!node)
        return NULL;
    bide__yaml_check_tag(r, event, event->data.scalar.tag);
    node->len = event->data.scalar.length;
    node->text = bide__arena_copy(
        r->b.tree->arena, (const char *)event->data.scalar.value, node->len);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE ||
                   (tag && strcmp(tag, YAML_STR_TAG) == 0);
    complete(r, define(r, event->data.scalar.anchor, node));
    if (!node->text)
        bide__build_fail(&r->b, BIDE_ENOMEM);
    return r->b.rc ? NULL : node;
}

static struct bide__node *read_list(struct bide__yaml *r, yaml_event_t *event,
                                    unsigned depth)
{
    struct bide__node *list =
        bide__build_node(&r->b, BIDE__LIST, bide__yaml_mark(event), depth);
    long anchor;

    if (!list)
        return NULL;
    bide__yaml_check_tag(r, event, event->data.sequence_start.tag);
    anchor = define(r, event->data.sequence_start.anchor, list);
    while (r->b.rc == 0) {
        yaml_event_t next;
        struct bide__node *item;

        if (!next_event(r, &next))
            break;
        if (next.type == YAML_SEQUENCE_END_EVENT) {
            list->mark.end_line = (unsigned)next.end_mark.line + 1;
            list->mark.end_column = (unsigned)next.end_mark.column + 1;
            yaml_event_delete(&next);
            complete(r, anchor);
            return list;
        }
        item = read_node(r, &next, depth + 1);
        if (!item || (item != &r->nothing &&
                      !bide__build_add(&r->b, list, NULL, item, depth)))
            break;
    }
    return NULL;
}

/* Reports what cannot be a key, and leaves out its member. */
static bool fit_for_key(struct bide__yaml *r, const struct bide__node *key)
{
    if (key == &r->nothing)
        return false;
    if (key->kind != BIDE__SCALAR) {
        bide__yaml_mistake(r, key->mark, "bad-key", NULL,
                           "a key must be text, and this is %s",
                           bide__node_found(r->b.tree, key));
        return false;
    }
    if (bide__node_is(key, "<<") && !key->quoted) {
        bide__yaml_mistake(r, key->mark, "merge-key",
                           "use `extends:` to build one policy on another",
                           "merge keys (`%s`) are not supported", "<<");
        return false;
    }
    return true;
}

/* Reads a key and its value; false at the end of the map, or if it fails. */
static bool read_member(struct bide__yaml *r, struct bide__node *map,
                        unsigned depth)
{
    yaml_event_t event;
    struct bide__node *key, *value;
    bool fits;

    if (!next_event(r, &event))
        return false;
    if (event.type == YAML_MAPPING_END_EVENT) {
        map->mark.end_line = (unsigned)event.end_mark.line + 1;
        map->mark.end_column = (unsigned)event.end_mark.column + 1;
        yaml_event_delete(&event);
        return false;
    }
    key = read_node(r, &event, depth + 1);
    if (!key || !next_event(r, &event))
        return false;
    fits = fit_for_key(r, key);
    value = read_node(r, &event, depth + 1);
    if (!value)
        return false;
    return !fits || value == &r->nothing ||
           bide__build_add(&r->b, map, key, value, depth);
}

static struct bide__node *read_map(struct bide__yaml *r, yaml_event_t *event,
                                   unsigned depth)
{
    struct bide__node *map =
        bide__build_node(&r->b, BIDE__MAP, bide__yaml_mark(event), depth);
    long anchor;

    if (!map)
        return NULL;
    bide__yaml_check_tag(r, event, event->data.mapping_start.tag);
    anchor = define(r, event->data.mapping_start.anchor, map);
    while (r->b.rc == 0 && read_member(r, map, depth))
        ;
    if (r->b.rc != 0 || !bide__build_map_done(&r->b, map))
        return NULL;
    complete(r, anchor);
    return map;
}

/* Reads what an event begins, and deletes the event. */
static struct bide__node *read_node(struct bide__yaml *r, yaml_event_t *event,
                                    unsigned depth)
{
    struct bide__node *node;

    switch (event->type) {
    case YAML_ALIAS_EVENT:
        node = read_alias(r, event);
        break;
    case YAML_SCALAR_EVENT:
        node = read_scalar(r, event, depth);
        break;
    case YAML_SEQUENCE_START_EVENT:
        node = read_list(r, event, depth);
        break;
    case YAML_MAPPING_START_EVENT:
        node = read_map(r, event, depth);
        break;
    default: /* libyaml does not do that */
        bide__build_fail(&r->b, BIDE_EPARSE);
        node = NULL;
    }
    yaml_event_delete(event);
    return node;
}

/* ===== the stream ===== */

static void read_document(struct bide__yaml *r)
{
    yaml_event_t event;

    if (next_event(r, &event))
        r->b.tree->root = read_node(r, &event, 1);
    if (r->b.tree->root == &r->nothing)
        r->b.tree->root = NULL;
}

/* One document, and nothing after it. */
static void read_stream(struct bide__yaml *r)
{
    bool done = false;
    int documents = 0;

    while (r->b.rc == 0 && !done) {
        yaml_event_t event;
        bool starts;

        if (!next_event(r, &event))
            return;
        starts = event.type == YAML_DOCUMENT_START_EVENT;
        done = event.type == YAML_STREAM_END_EVENT;
        if (starts && ++documents == 2) {
            bide__yaml_mistake(r, bide__yaml_mark(&event), "second-document",
                               "put it into a file of its own",
                               "a second document begins here: %s",
                               "a policy file is only one");
            done = true;
        }
        yaml_event_delete(&event);
        if (starts && !done)
            read_document(r);
    }
}

static void read_text(struct bide__yaml *r)
{
    const struct bide__tree *t = r->b.tree;

    if (!yaml_parser_initialize(&r->parser)) {
        bide__build_fail(&r->b, BIDE_ENOMEM);
        return;
    }
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)t->text,
                                 t->len);
    read_stream(r);
    yaml_parser_delete(&r->parser);
}

int bide__tree_try_yaml(struct bide__tree **ret, bool *ret_mistaken,
                        const char *name, const char *text, size_t len,
                        bide_diagnostics *notes)
{
    struct bide__yaml *r = calloc(1, sizeof *r);
    int rc;

    if (!r)
        return BIDE_ENOMEM;
    rc = bide__build_begin(&r->b, name, text, len, notes);
    if (r->b.tree) {
        if (rc == 0 && bide__yaml_printable(r))
            read_text(r);
        rc = bide__build_end(&r->b, ret, ret_mistaken);
    }
    free(r);
    return rc;
}
