"""What the tests of `bide run` share. Waits are of a millisecond, and nothing
that is asserted depends on how long anything takes."""
import os
import subprocess
import sys
import time

import tap

BIDE = os.path.abspath(sys.argv[1])
FAST = ["--base", "1ms", "--cap", "1ms"]


def command(*args):
    """`bide run` with short waits; strings are split at blanks."""
    words = [w for a in args for w in (a.split() if isinstance(a, str) else a)]
    return [BIDE, "run", *FAST, *words]


def run(*args, stdin=None, env=None, **more):
    """Gives exit code, stdout, stderr; bytes, as they came."""
    source = {"input": stdin} if stdin is not None else \
        {"stdin": subprocess.DEVNULL}
    source.update(more)
    p = subprocess.run(command(*args), env=tap.environment(**(env or {})),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=100, **source)
    return p.returncode, p.stdout, p.stderr


def sh(script):
    """A command that is a script."""
    return ["--", "sh", "-c", script]


def same(name, found, expected):
    tap.case(name, found == expected,
             f"expected {str(expected)[:2000]}\nfound    {str(found)[:2000]}")


def until(condition, what="something"):
    """Waits for a condition that is bound to come; tells if it does not."""
    for _ in range(6000):
        if condition():
            return True
        time.sleep(0.01)
    tap.case(f"waiting for {what}", False)
    return False


def state(pid):
    """As the kernel has it: R runs, S sleeps, T is stopped; "" is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii",
                  errors="replace") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def alive(pid):
    """A zombie is not alive."""
    return state(pid) not in ("", "Z")
