/* call.c: a policy and a random walk of several calls, both from the input.
 *
 * The invariants are those of test/unit/walk.h; an input that runs out ends the
 * walk, and then nothing may be held and the books must balance. */
#include <stddef.h>
#include <stdint.h>

#include "../test/unit/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *at, *end;
};

static uint32_t take(void *state, uint32_t n)
{
    struct input *in = state;

    return in->at < in->end ? *in->at++ % n : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, data ? data + size : data };
    struct walk w = { .pick = take, .state = &in };
    bide_policy_conf conf = walk_conf(&w);

    walk_start(&w, &conf);
    while (in.at < in.end)
        walk_step(&w);
    walk_finish(&w);
    bide_dep_free(w.dep);
    return 0;
}
