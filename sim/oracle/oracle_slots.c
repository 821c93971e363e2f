/* Row 1: the birthday problem, which is the thundering herd without a server. */
#include <string.h>

#include "sim/model/luck.h"
#include "sim/oracle/oracle.h"
#include "sim/oracle/waits.h"

enum { CLIENTS = 1000, SLOTS = 1024, TIMES = 4000 };

/* Of one repetition. */
static void count(uint64_t seed, uint64_t time, double *pairs, double *alone)
{
    uint16_t in_slot[SLOTS];
    memset(in_slot, 0, sizeof in_slot);
    for (uint64_t i = 0; i < CLIENTS; i++)
        in_slot[sim_luck_word(seed, i, time, 0) % SLOTS]++;
    for (int i = 0; i < SLOTS; i++) {
        *pairs += in_slot[i] * (in_slot[i] - 1) / 2;
        *alone += in_slot[i] == 1;
    }
}

void sim_oracle_slots(struct sim_report *r)
{
    double pairs = 0, alone = 0, expected_pairs, expected_alone = CLIENTS;
    for (uint64_t time = 0; time < TIMES; time++)
        count(r->seed, time, &pairs, &alone);
    r->events += (uint64_t)CLIENTS * TIMES;
    expected_pairs = CLIENTS * (CLIENTS - 1.0) / 2 / SLOTS;
    for (int i = 1; i < CLIENTS; i++)
        expected_alone *= 1 - 1.0 / SLOTS;
    sim_expect(r, SIM_NEAR, expected_pairs, pairs / TIMES,
               0.005 * expected_pairs, "colliding pairs");
    sim_expect(r, SIM_NEAR, expected_alone, alone / TIMES,
               0.005 * expected_alone, "clients alone in their slot");
}
