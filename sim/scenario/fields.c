/* fields.c: every key of a scenario, in tables. The reader, the
 * reference page and the schema go by them: to add a key, add a row. */
#include "sim/scenario/load.h"

#define LAST                                                                   \
    {                                                                          \
        .key = NULL                                                            \
    }
#define AT(type, member) .offset = offsetof(type, member)

#define LEAST_NS 1.0      /* a duration over 0 */
#define MOST_NS  2.592e15 /* 30 days */
#define LEAST    1e-9     /* a number over 0 */

const char *const sim_repeat_words[] = { "true", "false", "key", NULL };
static const char *const order_words[] = { "fifo", "lifo", NULL };
static const char *const drop_words[] = { "none", "late", NULL };

/* clang-format off */

/* ===== scenario ===== */

#define M(member) AT(struct sim_model, member)
const struct sim_field sim_head_fields[] = {
    { "title", SIM_FIELD_TEXT, M(title), .preset = "", .expects = "text",
      .help = "A few words, for the head of a report." },
    { "about", SIM_FIELD_TEXT, M(about), .preset = "", .expects = "text",
      .help = "What happens, in a paragraph." },
    { "look_at", SIM_FIELD_TEXT, M(look_at), .preset = "", .expects = "text",
      .help = "What to look at in the result." },
    { "duration", SIM_FIELD_SPAN, M(duration_ns), .min = 1e6, .max = MOST_NS,
      .preset = "2m", .expects = "a duration from 1ms to 30d",
      .help = "How long is simulated." },
    { "warm_up", SIM_FIELD_SPAN, M(warm_up_ns), .min = 0, .max = MOST_NS,
      .preset = "0s", .expects = "a duration, less than `duration`",
      .help = "What happens before it does not count in the figures." },
    { "seed", SIM_FIELD_LARGE, M(seed), .min = 0, .preset = "1",
      .expects = "a count",
      .help = "Draws other luck; --seed goes before it." },
    LAST
};

/* ===== clients ===== */

#define F(member) AT(struct sim_model_fleet, member)
const struct sim_field sim_fleet_fields[] = {
    { "calls", SIM_FIELD_SERVICE, F(service), .preset = "the only one",
      .expects = "the name of a service", .help = "The service it calls." },
    { "policy", SIM_FIELD_POLICY, F(policy), .preset = "default",
      .expects = "the name of a policy",
      .help = "The policy of its calls." },
    { "rate", SIM_FIELD_RATE, F(rate), .min = LEAST, .max = 1e9,
      .preset = "", .expects = "a rate over 0, up to 1000000000/s",
      .help = "Open loop: calls of the whole fleet come at this rate, whatever "
              "becomes of them." },
    { "think", SIM_FIELD_DIST, F(think), .preset = "",
      .expects = "a distribution",
      .help = "Closed loop: each client makes its next call this long after "
              "the last one ended." },
    { "replay", SIM_FIELD_OTHER, .preset = "", .expects = "the path of a log",
      .help = "Calls come at the times of a log, which is looked for beside "
              "the scenario." },
    { "steady", SIM_FIELD_FLAG, F(steady), .preset = "false",
      .expects = "true or false",
      .help = "With `rate`: evenly spaced, not at random." },
    { "count", SIM_FIELD_COUNT, F(clients), .min = 1, .max = 2e7,
      .preset = "1", .expects = "a count from 1 to 20000000",
      .help = "How many clients there are." },
    { "processes", SIM_FIELD_COUNT, F(processes), .min = 1, .max = 1e4,
      .preset = "1", .expects = "a count from 1 to `count`, at most 10000",
      .help = "How many processes they are spread over; those in one share a "
              "budget, a breaker and limits." },
    { "from", SIM_FIELD_SPAN, F(from_ns), .min = 0, .max = MOST_NS,
      .preset = "0s", .expects = "a duration",
      .help = "No call begins before." },
    { "until", SIM_FIELD_SPAN, F(until_ns), .min = LEAST_NS, .max = MOST_NS,
      .preset = "the end", .expects = "a duration over `from`",
      .help = "No call begins then or later." },
    { "most_calls", SIM_FIELD_LARGE, F(most_calls), .min = 1,
      .preset = "no end", .expects = "a count from 1",
      .help = "Calls of each client (with `think`), or of all together." },
    { "idempotent", SIM_FIELD_WORD, F(repeat), .words = sim_repeat_words,
      .preset = "true", .expects = "true, false or key",
      .help = "Whether a call may be made twice; `key`: each carries an "
              "Idempotency-Key." },
    LAST
};

/* ===== services ===== */

#define E(member) AT(struct sim_model_edge, member)
const struct sim_field sim_edge_fields[] = {
    { "service", SIM_FIELD_SERVICE, E(service), .preset = "required",
      .expects = "the name of a service", .help = "The service called." },
    { "policy", SIM_FIELD_POLICY, E(policy), .preset = "default",
      .expects = "the name of a policy", .help = "The policy of the calls." },
    { "times", SIM_FIELD_COUNT, E(times), .min = 1, .max = 1000,
      .preset = "1", .expects = "a count from 1 to 1000",
      .help = "Calls for each request, one after the other." },
    { "idempotent", SIM_FIELD_WORD, E(repeat), .words = sim_repeat_words,
      .preset = "true", .expects = "true, false or key",
      .help = "As for clients." },
    LAST
};

#define V(member) AT(struct sim_model_service, member)
static const struct sim_field queue_fields[] = {
    { "limit", SIM_FIELD_COUNT, V(queue), .min = 0, .max = 1e9,
      .word = "unbounded", .word_value = SIM_UNBOUNDED, .preset = "unbounded",
      .expects = "a count up to 1000000000, or unbounded",
      .help = "Places in it; a request that finds none is refused with 503." },
    { "order", SIM_FIELD_WORD, V(order), .words = order_words,
      .preset = "fifo", .expects = "fifo or lifo",
      .help = "Which waiting request a free worker takes: the oldest or the "
              "youngest." },
    { "drop", SIM_FIELD_EITHER, V(drop_late), .words = drop_words, .preset = "none",
      .expects = "none or late",
      .help = "`late`: what its client has given up, or whose deadline has "
              "passed, is not begun." },
    { "retry_after", SIM_FIELD_SPAN, V(retry_after_ns), .min = 0,
      .max = MOST_NS, .word = "when_free", .word_value = (double)SIM_WHEN_FREE,
      .preset = "", .expects = "a duration, or when_free",
      .help = "What a refusal's Retry-After says." },
    { "no_retry", SIM_FIELD_FLAG, V(refuse_overload), .preset = "false",
      .expects = "true or false",
      .help = "A refusal says: do not retry." },
    LAST
};
static const struct sim_field limit_fields[] = {
    { "rate", SIM_FIELD_RATE, V(limit_rate), .min = LEAST, .max = 1e9,
      .preset = "required", .expects = "a rate over 0, up to 1000000000/s",
      .help = "Requests that are let in; those over it get 429." },
    { "burst", SIM_FIELD_NUMBER, V(limit_burst), .min = 1, .max = 1e9,
      .preset = "a second's worth", .expects = "a number from 1",
      .help = "How many may come at once after a pause." },
    { "retry_after", SIM_FIELD_SPAN, V(retry_after_ns), .min = 0,
      .max = MOST_NS, .word = "when_free", .word_value = (double)SIM_WHEN_FREE,
      .preset = "", .expects = "a duration, or when_free",
      .help = "What a 429's Retry-After says; `when_free`: until there is "
              "room." },
    LAST
};
const struct sim_field sim_service_fields[] = {
    { "workers", SIM_FIELD_COUNT, V(workers), .min = 1, .max = 1e9,
      .word = "unbounded", .word_value = SIM_UNBOUNDED, .preset = "unbounded",
      .expects = "a count from 1, or unbounded",
      .help = "Requests worked on at once, in each shard." },
    { "shards", SIM_FIELD_COUNT, V(shards), .min = 1, .max = 100000,
      .preset = "1", .expects = "a count from 1 to 100000",
      .help = "Parts with workers and a queue of their own; a client's calls "
              "all go to one." },
    { "time", SIM_FIELD_DIST, V(time), .preset = "0s",
      .expects = "a distribution",
      .help = "How long a worker takes for a request." },
    { "network", SIM_FIELD_DIST, V(network), .preset = "0s",
      .expects = "a distribution", .help = "The way to it, and back." },
    { "queue", SIM_FIELD_GROUP, .fields = queue_fields, .preset = "",
      .expects = "a map", .help = "Where requests wait for a worker." },
    { "rate_limit", SIM_FIELD_GROUP, .fields = limit_fields, .preset = "",
      .expects = "a map", .help = "A limit on requests, in front of the "
                                  "queue." },
    { "cancels", SIM_FIELD_FLAG, V(cancels), .preset = "false",
      .expects = "true or false",
      .help = "Learns when a client gives up, and stops the work." },
    { "detached", SIM_FIELD_FLAG, V(detached), .preset = "false",
      .expects = "true or false",
      .help = "A worker is free while the calls below run." },
    { "error_rate", SIM_FIELD_SHARE, V(error_rate), .min = 0, .max = 1,
      .preset = "0%", .expects = "a ratio from 0 to 1",
      .help = "Share of the answers that are a 500." },
    { "lost_rate", SIM_FIELD_SHARE, V(lost_rate), .min = 0, .max = 1,
      .preset = "0%", .expects = "a ratio from 0 to 1",
      .help = "Share of the answers that are lost after the work was done." },
    { "keys", SIM_FIELD_FLAG, V(keys), .preset = "false",
      .expects = "true or false",
      .help = "Knows an Idempotency-Key again, and does the work once." },
    { "calls", SIM_FIELD_OTHER, .fields = sim_edge_fields, .preset = "",
      .expects = "a list of calls",
      .help = "Services that it calls for each request, when its own work is "
              "done." },
    LAST
};

/* ===== faults ===== */

#define T(member) AT(struct sim_fault, member)
const struct sim_field sim_fault_fields[] = {
    { "service", SIM_FIELD_SERVICE, T(service), .preset = "the only one",
      .expects = "the name of a service", .help = "The service it happens to." },
    { "at", SIM_FIELD_SPAN, T(from_ns), .min = 0, .max = MOST_NS,
      .preset = "required", .expects = "a duration",
      .help = "When it begins." },
    { "for", SIM_FIELD_SPAN, T(to_ns), .min = LEAST_NS, .max = MOST_NS,
      .preset = "to the end", .expects = "a duration over 0",
      .help = "How long it lasts." },
    { "until", SIM_FIELD_SPAN, T(to_ns), .min = LEAST_NS, .max = MOST_NS,
      .preset = "to the end", .expects = "a duration over `at`",
      .help = "When it ends; instead of `for`." },
    { "stop", SIM_FIELD_FLAG, T(factor), .preset = "", .expects = "true",
      .help = "No work is begun; what is in hand is finished." },
    { "slow", SIM_FIELD_NUMBER, T(factor), .min = LEAST, .max = 1e6,
      .preset = "", .expects = "a number over 0",
      .help = "Work takes so many times as long." },
    { "error_rate", SIM_FIELD_SHARE, T(factor), .min = 0, .max = 1,
      .preset = "", .expects = "a ratio from 0 to 1",
      .help = "Share of the answers that are an error." },
    { "capacity", SIM_FIELD_SHARE, T(factor), .min = 0, .max = 1,
      .preset = "", .expects = "a ratio from 0 to 1",
      .help = "Share of the workers that are left." },
    { "crash", SIM_FIELD_FLAG, T(factor), .preset = "", .expects = "true",
      .help = "Connections are refused; what was in the queue and in hand is "
              "lost." },
    { "partition", SIM_FIELD_FLAG, T(factor), .preset = "", .expects = "true",
      .help = "Nothing gets through, to or fro: clients time out." },
    { "shard", SIM_FIELD_COUNT, T(shard), .min = 1, .max = 100000,
      .preset = "all", .expects = "the number of a shard, from 1",
      .help = "Only to this shard." },
    { "from", SIM_FIELD_FLEET, T(fleet), .preset = "all",
      .expects = "the name of a fleet of clients",
      .help = "With `partition`: only from this fleet." },
    { "every", SIM_FIELD_SPAN, T(every_ns), .min = LEAST_NS, .max = MOST_NS,
      .preset = "", .expects = "a duration over 0",
      .help = "Flapping: again and again, so far apart, ..." },
    { "down", SIM_FIELD_SPAN, T(for_ns), .min = LEAST_NS, .max = MOST_NS,
      .preset = "", .expects = "a duration over 0, up to `every`",
      .help = "... for so long each time." },
    LAST
};
/* clang-format on */
