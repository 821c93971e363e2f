/* Which phase of an attempt, and of an exchange, may follow which: the pictures in
 * attempt.h and exchange.h as tables. */
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"

#define TO(phase) (1u << ATTEMPT_##phase)

const uint16_t attempt_moves[ATTEMPT_OVER + 1] = {
    [ATTEMPT_NEW] =
        TO(HELD_UP) | TO(IN_LINE) | TO(ASKING) | TO(JUDGED) | TO(OVER),
    [ATTEMPT_HELD_UP] = TO(NEW) | TO(ANSWERED) | TO(JUDGED) | TO(OVER),
    [ATTEMPT_IN_LINE] = TO(CONNECTING) | TO(ASKING) | TO(JUDGED) | TO(OVER),
    [ATTEMPT_CONNECTING] = TO(ASKING) | TO(JUDGED) | TO(OVER),
    [ATTEMPT_ASKING] = TO(ANSWERED) | TO(JUDGED) | TO(OVER),
    [ATTEMPT_ANSWERED] = TO(JUDGED) | TO(OVER),
    [ATTEMPT_JUDGED] = TO(SAVED) | TO(PASSED_ON) | TO(OVER),
    [ATTEMPT_SAVED] = TO(SAVED) | TO(PASSED_ON) | TO(OVER),
    [ATTEMPT_PASSED_ON] = TO(OVER),
};

#undef TO
#define TO(phase) (1u << EXCHANGE_##phase)

const uint8_t exchange_moves[EXCHANGE_OVER + 1] = {
    [EXCHANGE_HEAD] = TO(CALL) | TO(ANSWER) | TO(OVER),
    [EXCHANGE_CALL] = TO(STEP) | TO(SETTLED),
    [EXCHANGE_STEP] = TO(CALL),
    [EXCHANGE_SETTLED] = TO(CALL) | TO(SETTLED) | TO(ANSWER) | TO(OVER),
    [EXCHANGE_ANSWER] = TO(SETTLED) | TO(TUNNEL) | TO(OVER),
    [EXCHANGE_TUNNEL] = TO(OVER),
};
