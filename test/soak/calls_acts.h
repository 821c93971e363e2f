/* test/soak/calls_acts.h: the ways in which the origin of the gRPC run (calls.py) treats
 * a call, and which call is treated how: that follows from a seed and its number. */
#ifndef BIDE_TEST_CALLS_ACTS_H
#define BIDE_TEST_CALLS_ACTS_H

#include <stdbool.h>
#include <stdint.h>

enum act_when { AT_END, AT_HEAD };
enum act_head { NO_HEAD, ONLY_TRAILERS, HEAD, HTML };
enum act_then { LEAVE, RESET, GO_AWAY, FINISH, HALF_FRAME, KILL };
enum { NO_STATUS = -1 };

/* Threads: immutable. */
struct act {
    char letter;        /* in the stories */
    uint8_t weight;     /* how often it is drawn */
    uint8_t when, head; /* enum act_when, act_head */
    bool message;
    int8_t status;      /* in the trailers */
    uint8_t then;       /* enum act_then */
    const char *more;   /* grpc-retry-pushback-ms, the HTTP status, or "later": its
                           trailers come after a while */
};

/* The first is for calls that do not fail. */
extern const struct act acts[];

/* What is done to a call when it comes for the nth time, from 0. One call in ten fails;
 * of those that have failed, a quarter fails again, and so on. */
const struct act *act_for(uint64_t seed, unsigned long call, unsigned nth);

/* The code of its RST_STREAM. */
uint32_t act_code(const struct act *a, unsigned long call);

#endif
