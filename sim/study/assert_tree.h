/* An assertion as a tree: assert.c builds it and assert_judge.c walks it.
 * Threads: immutable, once bound. */
#ifndef BIDE_SIM_STUDY_ASSERT_TREE_H
#define BIDE_SIM_STUDY_ASSERT_TREE_H

#include "sim/study/assert.h"

enum sim_compare { SIM_LT, SIM_LE, SIM_GT, SIM_GE, SIM_EQ, SIM_NE };

/* One side of a comparison. */
struct sim_side {
    bool is_figure;
    enum sim_figure figure;
    double number;
    uint32_t variant; /* SIM_NONE: each in turn */
    char *name;       /* of the variant, as typed; or NULL */
    size_t at, len;   /* where it was typed */
};

enum sim_node_kind {
    SIM_NODE_COMPARE,
    SIM_NODE_NOT,
    SIM_NODE_AND,
    SIM_NODE_OR
};

struct sim_node {
    enum sim_node_kind kind;
    enum sim_compare compare;
    struct sim_side left, right; /* of COMPARE */
    uint32_t a, b;               /* indexes of the child nodes */
};

struct sim_assert {
    struct sim_node *nodes;
    uint32_t n, room;
    uint32_t top;
};

#endif
