#!/usr/bin/env python3
"""hedge.py BIDE: a hedged call to an origin that hangs ends as a timeout, 504
`attempts` or `deadline`, however little is left of the budget for hedges."""
from parts import FAST, Origin, ask, attacked, get, run, tap

OFF = ", breaker: { kind: off }"


def hangs(o, peer):
    if o.request(peer):
        peer.gone()


def hanging():
    for what, policy in [
            ("one hedge", "hedge: { after: 10ms, max: 1, extra_load: 5% }"),
            ("three hedges", "hedge: { after: 10ms, max: 3, extra_load: 100% }"),
            ("none left in the budget", "hedge: { after: 10ms, max: 2 }, "
             "budget: { floor: 0/s }"),
            ("a deadline", "hedge: { after: 10ms, max: 2 }, deadline: 300ms")]:
        o = Origin(hangs)
        with attacked(o, policy=FAST + OFF + ", attempts: 1, "
                      "attempt_timeout: 300ms, " + policy) as p:
            got = [ask(p, get()) for _ in range(8)]
            ends = {(a.status, a.fields.get("x-bide-reason")) for a in got}
            tap.case(f"a hedged call to an origin that hangs, {what}: 504",
                     ends <= {(504, "attempts"), (504, "deadline")}, ends)


run(hanging)
