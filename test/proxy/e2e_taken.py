#!/usr/bin/env python3
"""e2e_taken.py BIDE: the sidecar is started where another process listens: the one before
it, which is ending, or somebody who stays."""
import os
import socket
import subprocess

import sidecar
from clock import Clock
from parts import PATIENCE, run, tap
from ports import free_port
from sidecar import config


def told(p, words):
    """Reads until it says this; whether it does."""
    for line in p.stderr:
        if words in line:
            return True
    return False


def waits_for_who_is_ending():
    """An address that is taken at the start, by the one before, as a rule: the clock stands
    still, and then three seconds pass."""
    for key in "listen", "admin":
        for freed in True, False:
            clock, busy = Clock(), socket.create_server(("127.0.0.1", 0))
            at = f"127.0.0.1:{busy.getsockname()[1]}"
            text = config([free_port()])
            text = text.replace("127.0.0.1:0", at) if key == "listen" else text.replace(
                "proxy:\n", f"proxy:\n  admin: {at}\n")
            file = os.path.join(sidecar.work.name, f"{key} {freed}.yaml")
            with open(file, "w", encoding="utf-8") as f:
                f.write(text)
            p = subprocess.Popen(
                [sidecar.BIDE, "proxy", "-c", file], stderr=subprocess.PIPE, text=True,
                env=tap.environment(**clock.popen["environment"]))
            tap.case(f"proxy.{key} is taken: it says that it waits",
                     told(p, f"{at} is taken; waiting"))
            if freed:
                busy.close()
                tap.case("... and starts when it is free", told(p, "listening on"))
                clock.run()
                p.terminate()
            else:
                clock.move(3.1)
                tap.case("... for three seconds", told(p, "in use"))
            tap.case("... and ends as it should", p.wait(PATIENCE) == (0 if freed else 1))
            busy.close()
            p.stderr.close()
            clock.close()


run(waits_for_who_is_ending)
