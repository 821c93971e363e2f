/* reference.c: writes the tables of keys as a page.
 *
 * sim_scenario_reference() wrote docs/scenario-reference.md; a test writes it
 * again and compares, so the page always agrees with the code. */
#include "sim/scenario/reference.h"

#include "config/field/reference.h"
#include "sim/scenario/load.h"

static const char intro[] =
    "# Scenarios: the reference\n\n"
    "This page is written by `bide sim --reference` from the tables that the\n"
    "program itself reads, and a test compares the two. How to write a\n"
    "scenario is in [simulator.md](simulator.md).\n\n"
    "A scenario is YAML, or JSON if its name ends in `.json`. `bide check "
    "FILE`\n"
    "reports every error in it; `bide sim --print NAME` prints a whole one to\n"
    "start from. At its top:\n\n"
    "| section | | |\n"
    "|---|---|---|\n"
    "| `version` | required | `1` |\n"
    "| `scenario` | | what it is about, and how long it is |\n"
    "| `policies` | required | named policies, exactly as in a "
    "[policy file](policy-reference.md) |\n"
    "| `clients` | required | fleets of clients, by name |\n"
    "| `services` | required | what they call, by name |\n"
    "| `faults` | | a list of what goes wrong, and when |\n"
    "| `variants` | | the same with other policies, to be put side by side |\n"
    "\nDurations, ratios and rates are written as in policy files. Clients "
    "and\n"
    "services have names of their own: no two of them are alike.\n";

static const char distributions[] =
    "\n## Distributions\n\n"
    "`time`, `network` and `think` take a duration, which is always that "
    "long,\n"
    "or one of these:\n\n"
    "| written | |\n"
    "|---|---|\n"
    "| `{ exponential: 100ms }` | by its mean |\n"
    "| `{ normal: { mean: 10ms, deviation: 2ms } }` | no duration is negative: "
    "what would be is turned around |\n"
    "| `{ lognormal: { median: 20ms, sigma: 0.8 } }` | or `p99: 130ms` instead "
    "of `sigma` |\n"
    "| `{ pareto: { least: 5ms, alpha: 1.5 } }` | a long tail; the mean is "
    "infinite for an `alpha` of 1 or less |\n"
    "| `{ mixture: [ { share: 95%, exponential: 10ms }, { share: 5%, constant: "
    "1s } ] }` | one of several; the shares make 100 % |\n"
    "| `{ histogram: [ { upto: 10ms, share: 50% }, { upto: 1s, share: 50% } ] "
    "}` | what was measured: bars in rising order, evenly within each |\n"
    "| `{ percentiles: { p50: 10ms, p99: 80ms, p99.9: 1s } }` | what was "
    "measured: in rising order; between two of them along a power law, below "
    "the first evenly from 0, and never over the last |\n";

static const char variants[] =
    "\n## `variants`\n\n"
    "Each is the same model on the same luck, with other policies, with "
    "another way\nto choose among servers, or with other workers of a queue. "
    "At most 32.\n"
    "\n```yaml\nvariants:\n"
    "  naive: naive                                  # every caller by this "
    "policy\n"
    "  bide: { web: default }                        # the calls of the "
    "clients "
    "`web`\n"
    "  one layer: { web: default, api: once }        # all the calls of the "
    "service `api`\n"
    "  mixed: { api > db: once }                     # those of `api` to `db`\n"
    "  careless: { web: { idempotent: true } }       # the clients say "
    "otherwise\n"
    "  in turn: { db: { balance: round_robin } }     # the servers of `db`; "
    "also\n"
    "                                                # `ejection` and "
    "`slow_start`\n"
    "  no pause: { jobs: { queue: { pauses: false } } }  # how a queue is "
    "worked on\n"
    "```\n";

static const char logs[] =
    "\n## Logs to replay\n\n"
    "One call for each line; a line begins with seconds (`1763278800.25`) or "
    "an\n"
    "RFC 3339 time (`2026-11-16T07:40:00Z`), or is of an access log\n"
    "(`[16/Nov/2026:07:40:00 +0100]`). What follows is not looked at. The "
    "first\n"
    "line's time is the beginning; lines of a log that names whole seconds "
    "are\n"
    "spread evenly over each. Empty lines, and those that begin with `#`, are\n"
    "skipped.\n";

void sim_scenario_reference(FILE *out)
{
    fputs(intro, out);
    bide__reference_table(out, "`scenario`",
                          "What it is about, and how long it is.",
                          &sim_head_table);
    bide__reference_table(
        out, "`clients`",
        "Fleets by name. One of `rate` (or `load`), `think`, `every` and "
        "`replay` says when calls come.",
        &sim_fleet_table);
    bide__reference_table(
        out, "`services`",
        "Services by name. Without any key, a service answers at once.",
        &sim_service_table);
    bide__reference_table(
        out, "`calls` of a service",
        "A list; each call is a map with these keys, or the name of a "
        "service.",
        &sim_edge_table);
    bide__reference_table(
        out, "`faults`",
        "A list. Each has one of `stop`, `slow`, `error_rate`, "
        "`capacity`, `crash`, `refuse` and `partition`.",
        &sim_fault_table);
    fputs(distributions, out);
    fputs(variants, out);
    fputs(logs, out);
}
