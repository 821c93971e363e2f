#!/usr/bin/env python3
"""run_curl.py FAULT_SERVER CURL_BEFORE CURL_AFTER: a program without and with bide,
against a server that fails by script."""
import difflib
import os
import sys

import tap
from fault import Fault

EXAMPLES = os.path.join(tap.HERE, "..", "..", "examples")
POLICY = os.path.join(EXAMPLES, "policy.yaml")

# Each: what the server does, and what the program without bide makes of it: its
# exit code and what it prints. With bide the answer is always the same.
GOOD = "200;body=good"
CURL = {
    "good": (GOOD, 0, "good"),
    "unavailable": ("503;body=sorry," + GOOD, 1, "sorry"),
    "throttled": ("429;h=retry-after-ms:20;body=," + GOOD, 1, ""),
    "reset": ("reset,502;body=," + GOOD, 1, ""),
    "half_a_body": ("200;body=baad;cut=body," + GOOD, 1, "ba"),
}


def curl(fault, before, after):
    with open(os.path.join(EXAMPLES, "curl_before.c")) as f, \
            open(os.path.join(EXAMPLES, "curl_after.c")) as g:
        diff = list(difflib.ndiff(f.readlines()[1:], g.readlines()[1:]))
    changed = [line for line in diff if line[0] in "+-"]
    tap.case("curl_diff_is_small", sum(line[0] == "-" for line in changed) == 1
             and len([c for c in changed if c[2:].strip()]) <= 26,
             "".join(changed))

    for name, (script, code, text) in CURL.items():
        got = tap.run([before, fault.at(f"/s/{script}?id=before-{name}")])
        tap.case(f"curl_before_{name}", got[:2] == (code, text), got)
        tap.case(f"curl_before_{name}_asks_once",
                 fault.count("before-" + name)["requests"] == 1)
        got = tap.run([after, fault.at(f"/s/{script}?id=after-{name}")],
                      BIDE_POLICY=POLICY)
        tap.case(f"curl_after_{name}", got == (0, "good", ""), got)
        steps = script.count(",") + 1
        tap.case(f"curl_after_{name}_asks_{steps}_times",
                 fault.count("after-" + name)["requests"] == steps)

    got = tap.run([after, fault.at("/s/404;body=none?id=none")], BIDE_POLICY=POLICY)
    tap.case("curl_after_permanent_is_not_retried",
             got[:2] == (1, "none") and fault.count("none")["requests"] == 1, got)
    urls = [fault.at(f"/s/503;body=no,200;body={n}?id=thread-{n}") for n in "abc"]
    got = tap.run([after, *urls], BIDE_POLICY=POLICY)
    tap.case("curl_after_threads_share_a_policy", got == (0, "abc", ""), got)
    got = tap.run([after, fault.at("/s/200")],
                  BIDE_POLICY=os.path.join(EXAMPLES, "incident.jsonl"))
    tap.case("curl_after_mistakes_in_the_policy_are_shown",
             got[:2] == (2, "") and "incident.jsonl:3:1" in got[2], got)
    got = tap.run([after, fault.at("/", "closed")], BIDE_POLICY=POLICY)
    tap.case("curl_after_gives_up_in_the_end", got[:2] == (1, ""), got)


def main(server, *programs):
    with Fault(server) as fault:
        curl(fault, *programs)
    tap.finish()


main(*sys.argv[1:])
