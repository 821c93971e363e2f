#!/usr/bin/env python3
"""served.py postgresql|redis PROGRAM MODULE...: starts a durable server, and runs
PROGRAM with its URL. What PROGRAM says is TAP."""
import os
import subprocess
import sys

import tap
from servers import Postgres, Redis


def start(kind):
    return Postgres(durable=True) if kind == "postgresql" else Redis(durable=True)


def main(kind, program, *modules):
    with start(kind) as server:
        if kind == "postgresql":
            server.wait()
        env = {"BIDE_MODULES": os.path.dirname(os.path.abspath(modules[0]))} \
            if modules else {}
        return subprocess.run([program, server.url], stdin=subprocess.DEVNULL,
                              env=tap.environment(**env,
                                                  CMOCKA_MESSAGE_OUTPUT="TAP"),
                              timeout=170).returncode


sys.exit(main(*sys.argv[1:]))
