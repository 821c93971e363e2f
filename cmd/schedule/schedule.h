/* `bide schedule`: the waits of a policy (computed by cmd_schedule.c) as JSON
 * (json.c), as a table (table.c) and as a chart (picture.c). */
#ifndef BIDE_CMD_SCHEDULE_SCHEDULE_H
#define BIDE_CMD_SCHEDULE_SCHEDULE_H

#include "cmd/common/policy_choice.h"

struct schedule {
    struct policy_choice policy;
    uint32_t retries;
    uint32_t draws;
    bide_after after; /* whose waits are shown */
    bool json;
};

void schedule_json(const struct schedule *s);
void schedule_print(const struct schedule *s);

#endif
