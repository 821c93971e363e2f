/* dep_make.h: dependencies, seeded or not, and one call of them. */
#ifndef BIDE_TEST_DEP_MAKE_H
#define BIDE_TEST_DEP_MAKE_H

#include <stdlib.h>

#include "fixture.h"

struct heap {
    size_t fails_at;  /* the nth allocation; 0: none */
    size_t allocated; /* how often */
    size_t released;
    size_t size;   /* of the last */
    size_t offset; /* what addresses are made odd by */
    char *block;   /* what malloc gave for the last */
};

static inline void *heap_alloc(void *ctx, size_t size)
{
    struct heap *h = ctx;
    h->allocated++;
    if (h->allocated == h->fails_at)
        return NULL;
    h->size = size;
    h->block = malloc(h->offset + size);
    return h->block + h->offset;
}

static inline void heap_release(void *ctx, void *memory)
{
    struct heap *h = ctx;
    assert_ptr_equal(memory, h->block + h->offset);
    h->released++;
    free(h->block);
    h->block = NULL;
}

static inline bide_host host_of(struct heap *h)
{
    return (
        bide_host){ .ctx = h, .alloc = heap_alloc, .release = heap_release };
}

static inline bide_dep *make(const bide_policy_conf *conf)
{
    bide_dep *dep = NULL;
    assert_int_equal(bide_dep_new(&dep, "payments", conf), 0);
    assert_non_null(dep);
    return dep;
}

static inline bide_dep *make_default(void)
{
    bide_policy_conf conf = defaults();
    return make(&conf);
}

/* One call: a failure, a retry, a success. */
static inline void use(bide_dep *dep)
{
    bide_call call;
    bide_op op = { .idempotent = true };
    int64_t now = S;
    bide_call_begin(&call, dep, &op, now);
    for (;;) {
        bide_decision d = bide_call_next(&call, now);
        if (d.action == BIDE_DONE)
            break;
        if (d.action == BIDE_WAIT) {
            now = d.at_ns;
            continue;
        }
        bide_outcome out = BIDE_OUTCOME_SUCCESS;
        if (d.attempt == 1)
            out.cls = BIDE_TRANSIENT;
        now += BIDE_MILLISECOND;
        assert_int_equal(bide_call_report(&call, d.attempt, &out, now), 0);
    }
    bide_call_end(&call, now);
}

#endif
