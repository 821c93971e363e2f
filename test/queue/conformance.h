/* What every broker must do, as one suite.
 *
 *     static const struct conformance_broker sqlite = {
 *         .name = "sqlite", .url = fresh_file, .advance = move_clock,
 *         .kill_worker = close_its_lock };
 *     return conformance_run(&sqlite);
 *
 * Each case gets an empty queue, and moves time itself where the broker's clock can
 * be replaced; otherwise `advance` waits. */
#ifndef BIDE_TEST_QUEUE_CONFORMANCE_H
#define BIDE_TEST_QUEUE_CONFORMANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "queue/broker.h"

struct conformance_broker {
    const char *name;
    /* The URL of a broker whose queue `queue` is empty; valid until the next
     * call. */
    const char *(*url)(const char *queue);
    /* Sets the clock in a conf, if it can be replaced; or NULL. */
    void (*set_clock)(struct broker_conf *conf);
    /* Lets time pass: by the clock above, or by waiting. */
    void (*advance)(int64_t ms);
    /* Makes the broker believe that the process behind b was killed; b is gone
     * afterwards. */
    void (*kill_worker)(struct broker *b);
    int64_t lease_ms; /* to be used: short where time is real */
};

int conformance_run(const struct conformance_broker *broker);

#endif
