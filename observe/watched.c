/* The names of what is observed. */
#include "watched.h"

static const struct {
    const char *key, *text;
} states[] = {
#define X(name, key, text) { key, text },
    BIDE__ENDPOINT_STATES(X)
#undef X
};

const char *bide__endpoint_state_name(enum bide__endpoint_state state)
{
    return (unsigned)state < BIDE__N_ENDPOINT_STATES ? states[state].key : "?";
}

const char *bide__endpoint_state_text(enum bide__endpoint_state state)
{
    return (unsigned)state < BIDE__N_ENDPOINT_STATES ? states[state].text : "?";
}
