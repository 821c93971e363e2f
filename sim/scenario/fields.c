/* fields.c: tables of all keys of a scenario. The reader, the reference page
 * and the schema use them: to add a key, add a row. */
#include "config/proxy/conf.h"
#include "sim/scenario/replay.h"
#include "sim/scenario/rows.h"
#include "sim/scenario/services.h"

const char *const sim_repeat_words[] = { "true", "false", "key", NULL };
static const char *const order_words[] = { "fifo", "lifo", NULL };
static const char *const drop_words[] = { "none", "late", NULL };
const char *const sim_balance_words[] = { "two_choices", "least_requests",
                                          "round_robin", "random", NULL };

/* clang-format off */

/* ===== scenario ===== */

#define S struct sim_model
static const struct bide__field head_fields[] = {
    { "title", AT(title), TAKES_PROSE,
      .help = "A few words, for the head of a report." },
    { "about", AT(about), TAKES_PROSE,
      .help = "What happens, in a paragraph." },
    { "look_at", AT(look_at), TAKES_PROSE,
      .help = "What to look at in the result." },
    { "duration", AT(duration_ns), TAKES_DURATION_FROM(1, ms, 30, d),
      .help = "How long is simulated." },
    { "warm_up", AT(warm_up_ns), TAKES_SPAN ", less than `duration`",
      .fallback = "0s",
      .help = "What happens before it does not count in the figures." },
    { "seed", AT(seed), TAKES_LARGE(0, "a count"),
      .help = "Draws other luck; --seed goes before it." },
    LAST
};
#undef S
static const struct sim_model head_init = {
    .duration_ns = 2 * BIDE_MINUTE, .seed = 1
};
const struct bide__table sim_head_table = {
    head_fields, .size = sizeof head_init, .init = &head_init
};

/* ===== clients ===== */

#define STEPS                                                                  \
    "write `load: [ { at: 60s, rate: 400/s, over: 30s } ]`"
#define S struct sim_rate_step
static const struct bide__field step_fields[] = {
    { "at", AT(at_ns), TAKES_SPAN, .required = true, .hint = STEPS,
      .help = "When the rate begins to change." },
    { "rate", AT(rate), TAKES(RATE, 0, 1000000000, "a rate up to 1000000000/s"),
      .required = true, .hint = STEPS,
      .help = "What it becomes; `0/s`: no calls." },
    { "over", AT(over_ns), TAKES_SPAN,
      .help = "How long the change takes, along a straight line; without it, "
              "the rate jumps." },
    { "for", AT(for_ns), TAKES_SPAN_OVER_0,
      .fallback = "for good",
      .help = "A burst: how long it lasts, from `at` on; then the rate is what "
              "it was before." },
    LAST
};
#undef S
static const struct sim_rate_step step_init = { 0 };
const struct bide__table sim_step_table = {
    step_fields, .size = sizeof step_init, .init = &step_init
};

#define S struct sim_model_queue
static const struct bide__field fleet_queue_fields[] = {
    { "workers", AT(workers), TAKES_COUNT(1, 1000),
      .help = "Processes that take from the queue; each has a breaker, and a "
              "budget, of its own." },
    { "at_once", AT(at_once), TAKES_COUNT(1, 1000),
      .help = "Messages that each of them works on at the same time." },
    { "waiting", AT(waiting), TAKES_COUNT(0, 10000000),
      .help = "Messages that are in the queue when the run begins." },
    { "fails_first", AT(fails_first), TAKES_RATIO(0, 1),
      .help = "Share of the first attempts that fail, in addition to those "
              "that the service fails." },
    { "poison", AT(poison), TAKES_RATIO(0, 1),
      .help = "Share of the messages that fail at every attempt." },
    { "pauses", AT(pauses), TAKES_FLAG,
      .help = "While the handler is not there (refused, throttled, breaker "
              "open), a worker takes nothing but a probe now and then." },
    { "forgives", AT(forgives), TAKES_FLAG,
      .help = "Attempts that found the handler so do not count." },
    LAST
};
#undef S
static const struct sim_model_queue queue_init = {
    .workers = 1, .at_once = 16, .pauses = true, .forgives = true
};
const struct bide__table sim_queue_table = {
    fleet_queue_fields, .size = sizeof queue_init, .init = &queue_init
};

#define S struct sim_model_fleet
static const struct bide__field fleet_fields[] = {
    { "calls", AT(service), TAKES_SERVICE,
      .fallback = "the only one",
      .help = "The service it calls." },
    { "policy", AT(policy), TAKES_POLICY,
      .fallback = "default",
      .help = "The policy of its calls." },
    { "rate", AT(rate), TAKES_RATE_OVER_0(1000000000),
      .fallback = "",
      .help = "Open loop: calls of the whole fleet come at this rate, "
              "whatever becomes of them." },
    { "load", AT(load.steps), TAKES_AS(BIDE__LIST_OF, "a list of changes"),
      .hint = STEPS,
      .table = &sim_step_table,
      .n_offset = offsetof(S, load.n_steps), .most = 10000,
      .help = "How the rate changes over time; before the first change it is "
              "`rate`, or 0 without one." },
    { "repeat", AT(load.repeat_ns),
      TAKES(DURATION, 1e9, MOST_NS, "a duration from 1s"),
      .fallback = "never",
      .help = "With `load`: the list begins again after so long, as a day "
              "does." },
    { "every", AT(every_ns), TAKES_SPAN_OVER_0,
      .fallback = "",
      .help = "By the clock, as cron does: each client makes a call at `from`, "
              "and again after so long, whatever becomes of the last one." },
    { "spread", AT(spread_ns), TAKES_SPAN,
      .fallback = "0s",
      .help = "With `every` or `think`: clients begin within this time, each "
              "at a moment of its own; without it, all at once." },
    { "think", AT(think), TAKES_DIST,
      .help = "Closed loop: each client makes its next call this long after "
              "the last one ended." },
    { "replay", .offset = 0, TAKES_AS(BIDE__OTHER, "the path of a log"),
      .type_name = "see below",
      .read = sim_read_replay,
      .help = "Calls come at the times of a log, which is looked for beside "
              "the scenario." },
    { "steady", AT(steady), TAKES_FLAG,
      .help = "With `rate` or `load`: evenly spaced, not at random." },
    { "count", AT(clients), TAKES_COUNT(1, 20000000),
      .help = "How many clients there are." },
    { "processes", AT(processes),
      TAKES(COUNT, 1, 10000, "a count from 1 to `count`, at most 10000"),
      .help = "How many processes they are spread over; those in one share a "
              "budget, a breaker and limits." },
    { "from", AT(from_ns), TAKES_SPAN,
      .fallback = "0s",
      .help = "No call begins before." },
    { "until", AT(until_ns),
      TAKES(DURATION, 1, MOST_NS, "a duration over `from`"),
      .fallback = "the end",
      .help = "No call begins then or later." },
    { "most_calls", AT(most_calls), TAKES_LARGE(1, "a count from 1"),
      .fallback = "no end",
      .help = "Calls of each client (with `think`), or of all together." },
    { "idempotent", AT(repeat),
      TAKES_CHOICE(sim_repeat_words, "true, false or key"),
      .help = "Whether a call may be made twice; `key`: each carries an "
              "Idempotency-Key." },
    { "queue", AT(queue), TAKES_MAP(sim_queue_table),
      .hint = "write `queue: { at_once: 16 }`",
      .help = "Calls are messages in a queue, and workers, as `bide worker` "
              "is, hand them to the service; `policy: queue` is what it comes "
              "with." },
    LAST
};
#undef S
static const struct sim_model_fleet fleet_init = {
    .clients = 1, .processes = 1, .load = { .factor = 1 },
    .queue = { .at_once = 16, .pauses = true, .forgives = true }
};
const struct bide__table sim_fleet_table = {
    fleet_fields, .size = sizeof fleet_init, .init = &fleet_init
};

/* ===== services ===== */

#define S struct sim_model_edge
static const struct bide__field edge_fields[] = {
    { "service", AT(service), TAKES_SERVICE, .required = true,
      .help = "The service called." },
    { "policy", AT(policy), TAKES_POLICY,
      .fallback = "default",
      .help = "The policy of the calls." },
    { "times", AT(times), TAKES_COUNT(1, 1000),
      .help = "Calls for each request, one after the other." },
    { "parallel", AT(parallel), TAKES_FLAG,
      .help = "All of them at once, each to another shard if there are any; "
              "the slowest is waited for, and the first that fails ends the "
              "rest." },
    { "idempotent", AT(repeat),
      TAKES_CHOICE(sim_repeat_words, "true, false or key"),
      .help = "As for clients." },
    LAST
};
#undef S
static const struct sim_model_edge edge_init = {
    .times = 1, .service = SIM_NONE
};
const struct bide__table sim_edge_table = {
    edge_fields, .size = sizeof edge_init, .init = &edge_init
};

#define S struct sim_model_service
static const struct bide__field queue_fields[] = {
    { "limit", AT(queue),
      TAKES_COUNT_OR_ANY(0, 1000000000, "a count up to 1000000000"),
      .help = "Places in it; a request that finds none is refused with 503." },
    { "order", AT(order), TAKES_CHOICE(order_words, "fifo or lifo"),
      .help = "Which waiting request a free worker takes: the oldest or the "
              "youngest." },
    { "drop", AT(drop_late), TAKES_EITHER(drop_words, "none or late"),
      .help = "`late`: what its client has given up, or whose deadline has "
              "passed, is not begun." },
    { "retry_after", AT(retry_after_ns),
      TAKES_SPAN_OR("when_free", SIM_WHEN_FREE),
      .fallback = "",
      .help = "What a refusal's Retry-After says; `when_free`: when there will "
              "be a place, which is kept for the client." },
    { "no_retry", AT(refuse_overload), TAKES_FLAG,
      .help = "A refusal says: do not retry." },
    LAST
};
static const struct bide__table queue_table = { .fields = queue_fields };
static const struct bide__field limit_fields[] = {
    { "rate", AT(limit_rate), TAKES_RATE_OVER_0(1000000000),
      .required = true,
      .hint = "write `rate_limit: { rate: 100/s }`",
      .help = "Requests that are let in; those over it get 429." },
    { "burst", AT(limit_burst),
      TAKES(NUMBER, 1, 1000000000, "a number from 1"),
      .fallback = "a second's worth",
      .help = "How many may come at once after a pause." },
    { "retry_after", AT(retry_after_ns),
      TAKES_SPAN_OR("when_free", SIM_WHEN_FREE),
      .fallback = "",
      .help = "What a 429's Retry-After says; `when_free`: when there will be "
              "room, which is kept for the client." },
    LAST
};
static const struct bide__table limit_table = { .fields = limit_fields };
static const struct bide__field service_fields[] = {
    { "workers", AT(workers),
      TAKES_COUNT_OR_ANY(1, 1000000000, "a count from 1"),
      .help = "Requests worked on at once, by each server." },
    { "servers", AT(servers), TAKES_COUNT(1, 10000),
      .help = "Equivalent servers, in each shard; each has workers and a queue "
              "of its own. A retry or a hedge goes to another one." },
    { "balance", AT(balance.by),
      TAKES_BALANCE,
      .help = "Which server an attempt goes to: the less busy of two drawn at "
              "random (as in the sidecar), the least busy of all, each in "
              "turn, or any. Each process of a caller balances for itself, and "
              "knows of its own requests only." },
    { "ejection", AT(balance.ejection), TAKES_MAP(bide__ejection_table),
      .hint = "write `ejection: { consecutive: 5 }`",
      .help = "Taking servers out that fail, as the sidecar does; without this "
              "key, no process does." },
    { "slow_start", AT(balance.slow_start_ns), TAKES_SPAN,
      .help = "With `ejection`: how long the share of a server grows after its "
              "return." },
    { "shards", AT(shards), TAKES_COUNT(1, 100000),
      .help = "Parts with servers of their own; a client's calls all go to "
              "one." },
    { "time", AT(time), TAKES_DIST,
      .fallback = "0s",
      .help = "How long a worker takes for a request." },
    { "network", AT(network), TAKES_DIST,
      .fallback = "0s",
      .help = "The way to it, and back." },
    { "queue", .offset = 0, TAKES_MAP(queue_table),
      .help = "Where requests wait for a worker." },
    { "rate_limit", .offset = 0, TAKES_MAP(limit_table),
      .help = "A limit on requests, in front of the queue." },
    { "cancels", AT(cancels), TAKES_FLAG,
      .help = "Learns when a client gives up, and stops the work." },
    { "detached", AT(detached), TAKES_FLAG,
      .help = "A worker is free while the calls below run." },
    { "error_rate", AT(error_rate), TAKES_RATIO(0, 1),
      .help = "Share of the answers that are a 500." },
    { "lost_rate", AT(lost_rate), TAKES_RATIO(0, 1),
      .help = "Share of the answers that are lost after the work was done." },
    { "keys", AT(keys), TAKES_FLAG,
      .help = "Knows an Idempotency-Key again, and does the work once." },
    { "calls", .offset = 0, TAKES_AS(BIDE__OTHER, "a list of calls"),
      .type_name = "see below",
      .read = sim_read_calls,
      .schema = sim_schema_calls,
      .table = &sim_edge_table,
      .help = "Services that it calls for each request, when its own work is "
              "done." },
    LAST
};
#undef S
static const struct sim_model_service service_init = {
    .workers = SIM_UNBOUNDED, .queue = SIM_UNBOUNDED, .shards = 1,
    .servers = 1,
    .balance = { .ejection = BIDE__EJECTION_INIT,
                 .slow_start_ns = 10 * BIDE_SECOND },
};
const struct bide__table sim_service_table = {
    service_fields, .size = sizeof service_init, .init = &service_init
};

/* ===== faults ===== */

#define S struct sim_fault
static const struct bide__field fault_fields[] = {
    { "service", AT(service), TAKES_SERVICE,
      .fallback = "the only one",
      .help = "The service it happens to." },
    { "at", AT(from_ns), TAKES_SPAN, .required = true,
      .hint = "add `at: 30s`",
      .help = "When it begins." },
    { "for", AT(to_ns), TAKES_SPAN_OVER_0,
      .fallback = "to the end",
      .help = "How long it lasts." },
    { "until", AT(to_ns), TAKES(DURATION, 1, MOST_NS, "a duration over `at`"),
      .fallback = "to the end",
      .help = "When it ends; instead of `for`." },
    { "stop", AT(factor), TAKES_TRUE,
      .help = "No work is begun; what is in hand is finished." },
    { "slow", AT(factor), TAKES(NUMBER, LEAST, 1000000, "a number over 0"),
      .help = "Work takes so many times as long." },
    { "error_rate", AT(factor), TAKES_RATIO(0, 1),
      .help = "Share of the answers that are an error." },
    { "at_once", AT(at_once), TAKES_FLAG,
      .help = "With `error_rate`: without any work, as a server that has lost "
              "its database answers." },
    { "capacity", AT(factor), TAKES_RATIO(0, 1),
      .help = "Share of the capacity that is left: fewer workers and, for the "
              "fraction of one, slower ones." },
    { "crash", AT(factor), TAKES_TRUE,
      .help = "Connections are refused; what was in the queue and in hand is "
              "lost." },
    { "refuse", AT(factor), TAKES_TRUE,
      .help = "Connections are refused; what was in the queue and in hand is "
              "finished, as in an orderly restart." },
    { "partition", AT(factor), TAKES_TRUE,
      .help = "Nothing gets through, to or fro: clients time out." },
    { "shard", AT(shard),
      TAKES(COUNT, 1, 100000, "the number of a shard, from 1"),
      .fallback = "all",
      .help = "Only to this shard." },
    { "server", AT(server),
      TAKES(COUNT, 1, 10000, "the number of a server, from 1"),
      .fallback = "all",
      .help = "Only to this server, of each shard." },
    { "servers", AT(n_servers),
      TAKES(COUNT, 1, 10000, "how many servers it happens to, from 1"),
      .fallback = "all",
      .help = "To so many servers, of each shard." },
    { "in_turn", AT(in_turn), TAKES_FLAG,
      .help = "With `every`: to the next server, or the next `servers`, each "
              "time; once for each, without `for` or `until`." },
    { "from", AT(fleet), TAKES_FLEET,
      .fallback = "all",
      .help = "With `partition`: only from this fleet." },
    { "every", AT(every_ns), TAKES_SPAN_OVER_0,
      .help = "Flapping: again and again, so far apart, ..." },
    { "down", AT(for_ns), TAKES_SPAN_OVER_0 ", up to `every`",
      .help = "... for so long each time." },
    LAST
};
#undef S
const struct bide__table sim_fault_table = { .fields = fault_fields };
/* clang-format on */
