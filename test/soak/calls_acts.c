/* What is done to calls, and which of them. */
#include "calls_acts.h"

#include <stddef.h>

#include "calls_wire.h"

enum { FAILING = 10, AGAIN = 4, OF_ALL = 100, RARE = 1 };

/* clang-format off */
const struct act acts[] = {
    { 'O', 0,      AT_END,  HEAD,          true,  0,         LEAVE, NULL },
    /* Listed by the policy: goes again. */
    { 'U', OF_ALL, AT_END,  ONLY_TRAILERS, false, 14,        LEAVE, NULL },
    { 'M', OF_ALL, AT_END,  HEAD,          false, 14,        LEAVE, NULL },
    { 'W', OF_ALL, AT_END,  HEAD,          false, 14,        LEAVE, "later" },
    { '0', OF_ALL, AT_END,  ONLY_TRAILERS, false, 14,        LEAVE, "0" },
    { '5', OF_ALL, AT_END,  ONLY_TRAILERS, false, 14,        LEAVE, "5" },
    /* The last word. */
    { '-', OF_ALL, AT_END,  ONLY_TRAILERS, false, 14,        LEAVE, "-1" },
    { 's', OF_ALL, AT_END,  ONLY_TRAILERS, false, 14,        LEAVE, "soon" },
    { 'B', OF_ALL, AT_END,  ONLY_TRAILERS, false, 10,        LEAVE, NULL },
    { 'I', OF_ALL, AT_END,  HEAD,          false, 13,        LEAVE, NULL },
    { 'n', OF_ALL, AT_END,  HEAD,          false, NO_STATUS, LEAVE, NULL },
    { 'N', OF_ALL, AT_END,  HEAD,          true,  NO_STATUS, LEAVE, NULL },
    { 'h', OF_ALL, AT_END,  HTML,          true,  NO_STATUS, LEAVE, "503" },
    { 'H', OF_ALL, AT_END,  HTML,          true,  NO_STATUS, LEAVE, "404" },
    { 't', OF_ALL, AT_HEAD, HEAD,          true,  0,         RESET, NULL },
    { 'f', OF_ALL, AT_END,  HEAD,          true,  14,        LEAVE, NULL },
    /* Not begun. */
    { 'r', OF_ALL, AT_HEAD, NO_HEAD,       false, NO_STATUS, RESET, NULL },
    { 'R', OF_ALL, AT_END,  NO_HEAD,       false, NO_STATUS, RESET, NULL },
    { 'g', RARE,   AT_HEAD, NO_HEAD,       false, NO_STATUS, GO_AWAY, NULL },
    /* Broken: before the head, after it, after a message. */
    { 'c', OF_ALL, AT_END,  NO_HEAD,       false, NO_STATUS, RESET, NULL },
    { 'd', OF_ALL, AT_END,  HEAD,          false, NO_STATUS, RESET, NULL },
    { 'e', OF_ALL, AT_END,  HEAD,          true,  NO_STATUS, RESET, NULL },
    /* The connection ends, and all that is on it: there, after the head, in the
     * middle of a message; after the whole answer; by a reset. */
    { 'x', RARE,   AT_END,  NO_HEAD,       false, NO_STATUS, FINISH, NULL },
    { 'y', RARE,   AT_END,  HEAD,          false, NO_STATUS, FINISH, NULL },
    { 'z', RARE,   AT_END,  HEAD,          false, NO_STATUS, HALF_FRAME, NULL },
    { 'q', RARE,   AT_END,  HEAD,          true,  0,         FINISH, NULL },
    { 'k', RARE,   AT_END,  NO_HEAD,       false, NO_STATUS, KILL, NULL },
};
/* clang-format on */

enum { N_ACTS = sizeof acts / sizeof acts[0] };

static const struct act *draw(uint64_t bits)
{
    unsigned all = 0;
    for (int i = 0; i < N_ACTS; i++)
        all += acts[i].weight;
    unsigned at = (unsigned)(bits % all);
    for (int i = 0;; i++) {
        if (at < acts[i].weight)
            return &acts[i];
        at -= acts[i].weight;
    }
}

const struct act *act_for(uint64_t seed, unsigned long call, unsigned nth)
{
    uint64_t bits = mixed(seed ^ mixed(call));
    if (bits % FAILING != 0)
        return &acts[0];
    for (unsigned i = 0; i < nth; i++) {
        bits = mixed(bits);
        if (bits % AGAIN != 0)
            return &acts[0];
    }
    return draw(mixed(~bits));
}

/* REFUSED_STREAM says that nothing was done; the others leave it open. */
uint32_t act_code(const struct act *a, unsigned long call)
{
    static const uint32_t codes[] = { 0, 1, 2, 3, 5, 8, 11, 0xbeef };
    enum { REFUSED = 7, N_CODES = sizeof codes / sizeof codes[0] };
    return a->letter == 'r' || a->letter == 'R' ? REFUSED
           : a->letter == 't'                   ? 0
                                                : codes[call % N_CODES];
}
