#!/usr/bin/env python3
"""hours.py SUITE MODULE: waits and handlers of hours on SQS, against one whose clock is moved
(stub.py)."""
import os
import sys

import rig
import stub
import tap


def do(server, order):
    verb, *words = order.split()
    if verb == "advance":
        server.advance(float(words[0]))
    elif verb == "skip":
        return server.skip()
    elif verb == "received":
        return server.received
    elif verb == "fail":
        server.failing = {words[0]: int(words[1])}
    elif verb == "deny":
        server.denied = words[0]
    elif verb != "queue":
        raise RuntimeError("unknown: " + order)
    return None


os.environ["BIDE_MODULES"] = os.path.dirname(os.path.join(tap.START, sys.argv[2]))
with stub.Stub() as s:
    sys.exit(rig.run([os.path.join(tap.START, sys.argv[1]), s.url],
                     lambda order: do(s, order)))
