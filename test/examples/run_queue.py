#!/usr/bin/env python3
"""run_queue.py QUEUE BIDE [MODULE]: a program with a queue inside. Orders survive it when
it is killed, are seen by `bide worker`, wait while the kitchen is closed; in SQLite, and on
a PostgreSQL whose module the library loads."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import servers
import tap

PATIENCE = 120  # seconds


class Kitchen:
    """The program, on one broker, in a folder of its own."""

    def __init__(self, program, bide, url, folder, module):
        self.program, self.bide, self.url = program, bide, url
        self.folder = folder
        more = {"BIDE_MODULES": os.path.dirname(module)} if module else {}
        self.env = tap.environment(**more)

    def run(self, *args):
        p = subprocess.run([self.program, self.url, *args], cwd=self.folder, env=self.env,
                           capture_output=True, text=True, timeout=PATIENCE)
        return p.returncode, p.stdout, p.stderr

    def start(self, *args):
        return subprocess.Popen([self.program, self.url, *args], cwd=self.folder,
                                env=self.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def counts(self):
        out = subprocess.run([self.bide, "worker", "ls", "--json", "--queue", "orders",
                              "--broker", self.url], env=self.env, capture_output=True,
                             text=True, timeout=PATIENCE)
        return json.loads(out.stdout) if out.returncode == 0 else {"error": out.stderr}

    def until(self, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if what():
                return True
            time.sleep(0.1)
        return False


def end(p, number):
    p.send_signal(number)
    out, err = p.communicate(timeout=PATIENCE)
    return p.returncode, out, err


def cooked(out):
    return sorted(line.split(" (")[0] for line in out.splitlines()
                  if line.startswith("cooked"))


def all_of_it(k, name):
    code, out, err = k.run("put", "two pizzas", "one salad", "burnt", "unknown")
    tap.case(f"{name}_orders_are_put", code == 0 and out.count("queued ") == 4, err)
    tap.case(f"{name}_bide_sees_them", k.counts().get("waiting") == 4, k.counts())
    code, out, err = k.run("cook", "--all")
    tap.case(f"{name}_all_are_cooked_but_one",
             code == 0 and cooked(out) == ["cooked burnt", "cooked one salad",
                                           "cooked two pizzas"]
             and "3 done, 1 dead" in out, out + err)
    tap.case(f"{name}_what_fails_is_told",
             "again: burnt (it is black)" in err and "dead: unknown (not on the menu)"
             in err, err)
    tap.case(f"{name}_the_dead_one_is_kept", k.counts().get("dead") == 1, k.counts())


def killed(k, name):
    """One that holds an order is killed: the next has it."""
    k.run("put", "stew")
    p = k.start("cook")
    held = k.until(lambda: k.counts().get("running") == 1)
    end(p, signal.SIGKILL)
    p = k.start("cook")
    again = k.until(lambda: any(m["state"] == "running" and m["deliveries"] == 2
                                for m in k.counts().get("messages", [])))
    tap.case(f"{name}_a_killed_ones_order_is_taken_over", held and again, k.counts())
    code, out, err = end(p, signal.SIGTERM)
    tap.case(f"{name}_sigterm_gives_it_back",
             code == 0 and "0 done, 0 dead" in out and k.counts().get("waiting") == 1,
             f"{code} {out}{err} {k.counts()}")


def closed(k):
    """The kitchen is away: orders wait, and no attempt is lost."""
    with open(os.path.join(k.folder, "closed"), "w", encoding="ascii"):
        pass
    k.run("put", "soup", "bread")
    p = k.start("cook", "--all")
    first = p.stderr.readline()
    while first.startswith("again"):
        first = p.stderr.readline()
    os.unlink(os.path.join(k.folder, "closed"))
    out, err = p.communicate(timeout=PATIENCE)
    tap.case("closed_it_pauses", first == "paused: the kitchen is closed\n", first)
    tap.case("open_again_all_are_cooked_at_the_first_attempt",
             "goes on" in err and out.count("(attempt 1,") == 2, out + err)


def main(program, bide, module=None):
    program, bide = (os.path.join(tap.START, p) for p in (program, bide))
    module = module and os.path.join(tap.START, module)
    with tempfile.TemporaryDirectory(prefix="bide-orders-") as folder:
        k = Kitchen(program, bide, f"sqlite:{folder}/orders.db", folder, None)
        code, _, err = Kitchen(program, bide, "nowhere:x", folder, None).run("put", "x")
        tap.case("another_broker_is_named", code == 1 and "`nowhere` is not a broker"
                 in err, err)
        all_of_it(k, "sqlite")
        closed(k)
        killed(k, "sqlite")
    if module:
        with servers.Postgres(durable=True) as server, \
                tempfile.TemporaryDirectory(prefix="bide-orders-") as folder:
            server.wait()
            all_of_it(Kitchen(program, bide, server.url, folder, module), "postgresql")
    tap.finish()


main(*sys.argv[1:])
