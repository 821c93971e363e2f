/* The parts of the view: a dependency (view_dep.c), and what stands around them
 * (view_parts.c). */
#ifndef BIDE_OBSERVE_ADMIN_VIEW_PARTS_H
#define BIDE_OBSERVE_ADMIN_VIEW_PARTS_H

#include "base/json.h"
#include "bide/policy.h"
#include "observe/event/history.h"
#include "observe/event/journal.h"

struct bide__view;

/* The parts, for view.c. */
void bide__view_dep(struct bide__json *j, const struct bide__view *view,
                    const struct bide__observed_dep *d);
void bide__view_brief(struct bide__json *j, const struct bide__view *view,
                      const struct bide__observed_dep *d);
void bide__view_sample(struct bide__json *j, const char *key,
                       const struct bide__view *view,
                       const struct bide__sample *s);
void bide__view_decision(struct bide__json *j, const struct bide__view *view,
                         const struct bide__entry *entry);
void bide__view_rules(struct bide__json *j, const bide_policy_conf *conf);

#endif
