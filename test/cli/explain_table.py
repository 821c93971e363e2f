#!/usr/bin/env python3
"""explain_table.py BIDE TABLE: `bide explain --json` over all decisions.

A line of the table: the arguments, a bar, and what is expected of decision,
reason, class, hint_ms, hint_source, wait_min_ms and wait_max_ms; `-` is null.
For a first try or a stop what is not there is left out."""
import json
import shlex
import sys

import tap

KEYS = ["decision", "reason", "class", "hint_ms", "hint_source", "wait_min_ms",
        "wait_max_ms"]
RULES = ["cancelled", "client_timeout", "upload", "connection_wait",
         "permanent", "server_refused", "not_idempotent",
         "not_replayable", "attempts", "upstream_retries", "retries_off",
         "no_hint", "hint_too_long", "deadline", "breaker_open", "budget",
         "unreachable"]


def word(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return repr(value)
    return str(value).replace(" ", "_")


def chain_fault(found):
    """What is wrong with the chain of rules, or None."""
    rules = [r["rule"] for r in found["rules"]]
    applied = [r["rule"] for r in found["rules"] if r["applies"]]
    reason = found["reason"]
    if found["decision"] == "retry" and (rules != RULES or applied):
        return "a retry passes all the rules"
    if found["decision"] == "stop" and reason in RULES:
        first_try = len(rules) == 1
        if applied != [reason] or rules[-1] != reason:
            return "the last rule is the one that applies"
        if not first_try and rules != RULES[: len(rules)]:
            return "the rules stand in their order"
    if not all(r["detail"] for r in found["rules"]):
        return "each rule has a detail"
    return None


def wait_fault(found):
    wait, low, high = (found["wait" + k] for k in ("_ms", "_min_ms", "_max_ms"))
    if found["decision"] == "stop":
        return None if wait is low is high is None else "no wait when stopped"
    return None if low <= wait <= high else "the wait is within its range"


def check(bide, line):
    args, expected = (part.strip() for part in line.rsplit("|", 1))
    want = expected.split()
    want += ["-"] * (5 - len(want))
    if want[0] == "stop":
        want += ["-"] * (7 - len(want))
    if want[0] == "try":
        want += ["0"] * (7 - len(want))
    command = [bide, "explain", "--json", "--seed", "7"] + shlex.split(args)
    code, out, err = tap.run(command)
    try:
        found = json.loads(out)
    except ValueError:
        tap.case(args, False, f"exit code {code}\n{out}{err}")
        return
    got = [word(found[k]) for k in KEYS]
    fault = chain_fault(found) or wait_fault(found)
    code_ok = code == (1 if want[0] == "stop" else 0)
    tap.case(args or "nothing", got == want and not fault and code_ok,
             f"expected {' '.join(want)}\nfound    {' '.join(got)}, exit code "
             f"{code}\n{fault or ''}")


def main():
    bide, table = sys.argv[1:]
    for line in open(table, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            check(bide, line)
    tap.finish()


main()
