#!/usr/bin/env python3
"""run_key.py BIDE: what invocations with one --key share, however they end, and
what the file that they share it in must be like."""
import json
import os
import random
import resource
import signal
import subprocess
import tempfile
import time

import run_tools as t
import tap

POLICY = """\
version: 1
policies:
  default: { attempt_timeout: none, nested: retry,
             backoff: { base: 1ms, cap: 2ms },
             budget: { window: 1h, floor: 0.00556/s },
             breaker: { window: 1h, min_calls: 30, failure_rate: 50%, open: 5m,
                        open_max: 5m, probes: 1 } }
  many: { extends: default, attempts: 100, breaker: { kind: "off" } }
  count: { extends: default, breaker: { kind: count } }
  short: { extends: default,
           breaker: { window: 1h, min_calls: 4, open: 1ms, open_max: 1ms,
                      open_jitter: 0%, probes: 1 } }
  ring: { extends: short, breaker: { kind: count, window_calls: 10,
                                     min_calls: 4, open: 1ms, open_max: 1ms } }
  places: { extends: default, attempts: 1, breaker: { kind: "off" },
            limits: { in_flight: 1 } }
  other: { extends: default, budget: { window: 30m } }
  forced: { extends: default, breaker: { mode: forced_open } }
"""


class Place:
    """A directory for state, and a policy."""

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory()
        self.path = self.dir.name
        self.policy = os.path.join(self.path, "policy.yaml")
        with open(self.policy, "w", encoding="ascii") as f:
            f.write(POLICY)

    def args(self, policy, key):
        return ["-p", f"{self.policy}:{policy}", "-k", key]

    def file(self, key):
        return os.path.join(self.path, "bide", key + ".state")

    def run(self, policy, *args, key="k"):
        return t.run(self.args(policy, key), *args,
                     env={"XDG_RUNTIME_DIR": self.path})

    def reason(self, policy, script="exit 1", key="k"):
        """Exit code, attempts, reason."""
        code, out, err = self.run(policy, "-q --log-file -", t.sh(script), key=key)
        events = [json.loads(line) for line in out.splitlines()]
        if not events:
            return code, 0, err.decode()
        return (code, sum(e["event"] == "try" for e in events),
                events[-1]["reason"])

    def start(self, policy, script, *args, key="k"):
        return subprocess.Popen(
            t.command(self.args(policy, key), *args, t.sh(script)),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=tap.environment(XDG_RUNTIME_DIR=self.path))

    def limited(self, size):
        """With no file to become larger than that."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return t.run("-k k", "true", env={"XDG_RUNTIME_DIR": self.path},
                     preexec_fn=limit)

    def done(self):
        self.dir.cleanup()


def shared():
    p = Place()
    t.same("the first has a whole budget", p.reason("many"),
           (1, 21, "budget"))
    t.same("the second has none", p.reason("many"), (1, 1, "budget"))
    t.same("another key has its own", p.reason("many", key="l"),
           (1, 21, "budget"))
    t.same("success needs none", p.reason("many", "exit 0"),
           (0, 1, "success"))
    for name in ("default", "count"):
        found = [p.reason(name, key=name) for _ in range(40)]
        t.same(f"{name}: the breaker opens", found[-1],
               (75, 0, "breaker_open"))
        t.same(f"{name}: after 30 attempts", sum(f[1] for f in found), 30)
    _, _, err = p.run("count", "true", key="count")
    tap.case("an open breaker is told, and for how long",
             err.startswith(b"bide run: not run: the breaker is open, for "
                            b"another "), err)
    for _ in range(2):
        p.reason("short", key="short")
    time.sleep(0.01)  # open is 1 ms, and a run may take less
    t.same("the breaker closes after a probe", p.reason(
        "short", "exit 0", key="short"), (0, 1, "success"))
    t.same("what was spent stays spent under another policy",
           p.reason("other"), (1, 1, "budget"))
    p.done()


def not_shared():
    p = Place()
    t.same("without a key neither budget nor breaker counts", t.run(
        "-q --attempts 60", ["-p", p.policy + ":many"],
        t.sh("echo x; exit 1"))[1], b"x\n" * 60)
    t.same("but a breaker that is forced open does", t.run(
        "-q", ["-p", p.policy + ":forced"], "true")[0], 75)
    p.done()


def storm():
    """A hundred at once, all failing."""
    for name, key in (("many", "a"), ("default", "b")):
        p = Place()
        log = os.path.join(p.path, "log")
        running = [p.start(name, f"echo x >>{log}; exit 3", key=key)
                   for _ in range(100)]
        codes = {r.wait(timeout=100) for r in running}
        with open(log, encoding="ascii") as f:
            n = len(f.readlines())
        if name == "many":
            t.same("a storm: exit codes", codes, {3})
            t.same("a storm: the budget holds for all", n, 120)
        else:
            tap.case("a storm: exit codes with a breaker", codes <= {3, 75},
                     codes)
            tap.case("a storm: the breaker opened", 30 <= n <= 120, n)
            t.same("a storm: it stays open", p.reason(name, key=key),
                   (75, 0, "breaker_open"))
        t.same("a storm: nothing but the file is left",
               os.listdir(os.path.join(p.path, "bide")), [key + ".state"])
        p.done()


def places():
    p = Place()
    gate = os.path.join(p.path, "gate")
    held = p.start("places", f"touch {gate}; exec sleep 60")
    t.until(lambda: os.path.exists(gate), "the first")
    t.same("a place is taken", p.reason("places", "exit 0"),
           (75, 0, "in_flight"))
    held.terminate()
    held.wait(timeout=60)
    t.same("it is free again", p.reason("places", "exit 0"),
           (0, 1, "success"))
    os.unlink(gate)
    held = p.start("places", f"touch {gate}; exec sleep 60")
    t.until(lambda: os.path.exists(gate), "the second")
    held.kill()
    held.wait(timeout=60)
    t.same("it is free after a kill", p.reason("places", "exit 0"),
           (0, 1, "success"))
    p.done()


def killed():
    """kill -9 at any moment, again and again: no wedge, nothing left."""
    p = Place()
    for i in range(60):
        r = p.start("many", "exit 1", key=f"k{i % 3}")
        for _ in range(i * 40):
            pass
        if i % 2:
            t.until(lambda k=i: os.path.exists(p.file(f"k{k % 3}")) or
                    r.poll() is not None, "a file")
        r.send_signal(signal.SIGKILL)
        r.wait(timeout=60)
    for i in range(3):
        code, n, reason = p.reason("many", key=f"k{i}")
        tap.case(f"k{i} works", code == 1 and 1 <= n <= 21 and
                 reason == "budget", (code, n, reason))
        t.same(f"k{i} lets successes through",
               p.reason("many", "exit 0", key=f"k{i}"), (0, 1, "success"))
    p.done()


def rewrite(path, at, data):
    with open(path, "r+b") as f:
        f.seek(at)
        f.write(data)


def files():
    p = Place()
    p.reason("many")
    st = os.stat(p.file("k"))
    t.same("a file for its owner alone", st.st_mode & 0o777, 0o600)
    t.same("in a directory of its owner", os.stat(
        os.path.join(p.path, "bide")).st_mode & 0o777, 0o700)
    size = st.st_size
    for what, damage in [
            ("empty", lambda: os.truncate(p.file("k"), 0)),
            ("cut off", lambda: os.truncate(p.file("k"), size - 1)),
            ("too long", lambda: os.truncate(p.file("k"), size + 1)),
            ("no header", lambda: rewrite(p.file("k"), 0, b"\0" * 4096)),
            ("another version", lambda: rewrite(p.file("k"), 16, b"\xff")),
            ("another boot", lambda: rewrite(p.file("k"), 32, b"zzzz")),
            ("removed", lambda: os.unlink(p.file("k")))]:
        t.same(f"{what}: before", p.reason("many")[2], "budget")
        damage()
        t.same(f"{what}: starts anew", p.reason("many"), (1, 21, "budget"))
        t.same(f"{what}: one file of the right size",
               [os.stat(p.file("k")).st_size,
                os.listdir(os.path.join(p.path, "bide"))],
               [size, ["k.state"]])
    old = os.stat(p.file("k")).st_mtime - 8 * 24 * 3600
    for name in ("old.state", ".old.1.state", "young.state"):
        path = os.path.join(p.path, "bide", name)
        with open(path, "w", encoding="ascii"):
            pass
        if "old" in name:
            os.utime(path, (old, old))
    p.reason("many", key="new")
    t.same("old files are removed when one is made",
           sorted(os.listdir(os.path.join(p.path, "bide"))),
           ["k.state", "new.state", "young.state"])
    os.utime(p.file("k"), (old, old))
    p.reason("many")
    tap.case("use makes a file young",
             os.stat(p.file("k")).st_mtime > old + 24 * 3600)
    p.done()


def listed(p, *args):
    _, out, err = t.run("--list", *args, env={"XDG_RUNTIME_DIR": p.path})
    return out.decode() + err.decode()


def looked_after():
    p = Place()
    tap.case("--list: none yet", "no key" in listed(p), listed(p))
    p.reason("many", key="one")
    for _ in range(10):
        p.reason("count", key="two")
    held = p.start("many", "exec sleep 60", key="three")
    t.until(lambda: os.path.exists(p.file("three")), "a file")
    with open(p.file("damaged"), "wb") as f:
        f.write(b"x" * 100)
    keys = json.loads(listed(p, "--json"))["keys"]
    t.same("--list --json", [(k["key"], k["breaker"], k["in_use"], k["stale"])
                             for k in keys],
           [("damaged", None, False, True), ("one", "closed", False, False),
            ("three", None, True, False), ("two", "open", False, False)])
    t.same("--list --json: counts", [(k["runs"], k["failed"]) for k in keys
                                     if k["key"] == "one"], [(1, 1)])
    lines = listed(p).splitlines()
    tap.case("--list", [line.split()[0] for line in lines] ==
             ["damaged", "one", "three", "two"] and "stale" in lines[0] and
             "1 of 1 runs failed" in lines[1] and "in use" in lines[2] and
             "breaker open for another" in lines[3], lines)
    held.terminate()
    held.wait(timeout=60)
    t.same("before --reset", p.reason("count", "exit 0", key="two"),
           (75, 0, "breaker_open"))
    env = {"XDG_RUNTIME_DIR": p.path}
    t.same("--reset without a command", t.run("-k two --reset", env=env),
           (0, b"", b""))
    t.same("after --reset", p.reason("count", "exit 0", key="two"),
           (0, 1, "success"))
    code, _, err = t.run("-k nosuch --reset", env=env)
    tap.case("--reset of what is not there", code == 0 and b"nosuch" in err,
             err)
    for _ in range(10):
        p.reason("count", key="two")
    t.same("--reset and a command", p.run(
        "count", "--reset", t.sh("exit 0"), key="two")[0], 0)
    code, _, err = t.run("--reset", "true", env=env)
    tap.case("--reset needs a key", code == 2 and b"--key" in err, err)
    p.done()


def damaged():
    """Whatever is in the file: the key works again at once, or as soon as a
    breaker may be open by the policy."""
    p = Place()
    rnd = random.Random(7)
    junk = [b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 7 + b"\x40"]
    for name in ("short", "ring", "many", "places"):
        for i in range(8):
            p.reason(name, key=name)
            size = os.stat(p.file(name)).st_size
            with open(p.file(name), "r+b") as f:
                for _ in range([1, 20, 400, 0][i % 4]):
                    f.seek(4096 + 8 * rnd.randrange((size - 4096) // 8))
                    f.write(rnd.choice(junk + [rnd.randbytes(8)]))
                if i % 4 == 3:
                    f.seek(4096)
                    f.write(rnd.randbytes(size - 4096) if i > 4 else
                            b"\xff" * (size - 4096))
            found = []
            tap.case(f"{name}: damaged, and not stuck ({i})", t.until(
                lambda: found.append(p.reason(name, "exit 0", key=name)) or
                found[-1][0] == 0, f"a success: {found[-1:]}"), found[-3:])
    # cut off while a process has it mapped: no bus error
    ready = os.path.join(p.path, "ready")
    go = os.path.join(p.path, "go")
    held = p.start("many", f"touch {ready}; until [ -e {go} ]; do sleep .01; "
                   "done; exit 5", "--attempts 2 -q", key="cut")
    t.until(lambda: os.path.exists(ready), "the command")
    os.truncate(p.file("cut"), 0)
    with open(go, "w", encoding="ascii"):
        pass
    code = held.wait(timeout=60)
    if "handle_sigbus=2" not in os.environ.get("ASAN_OPTIONS", ""):
        # there the sanitizer keeps the signal to itself
        t.same("cut off while it is in use", code, 5)
    t.same("... and it starts anew", p.reason("many", "exit 0", key="cut"),
           (0, 1, "success"))
    p.done()


def refused():
    p = Place()
    p.reason("many")
    os.rename(p.file("k"), p.file("k") + ".away")
    os.symlink(p.file("k") + ".away", p.file("k"))
    code, _, err = p.run("many", "true")
    tap.case("a link is not followed", code == 125 and b"--key k" in err, err)
    os.unlink(p.file("k"))
    os.mkfifo(p.file("k"))
    code, _, err = p.run("many", "true")
    tap.case("a pipe is no file", code == 125 and b"--key k" in err, err)
    os.unlink(p.file("k"))
    with open(p.file("k"), "w", encoding="ascii") as f:
        os.fchmod(f.fileno(), 0o666)
    code, _, err = p.run("many", "true")
    tap.case("others may write to it", code == 125 and b"--key k" in err, err)
    state = os.path.join(p.path, "bide")
    os.chmod(state, 0o755)
    code, _, err = p.run("many", "true")
    tap.case("a directory that is open to others",
             code == 125 and b"0700" in err, err)
    os.rename(state, state + ".away")
    os.symlink(state + ".away", state)
    code, _, err = p.run("many", "true")
    tap.case("a directory that is a link", code == 125 and b"--key k" in err,
             err)
    os.unlink(state)
    os.mkdir(os.path.join(p.path, "x"))
    os.rmdir(os.path.join(p.path, "x"))
    code, _, err = t.run("-k k", "true", env={
        "XDG_RUNTIME_DIR": os.path.join(p.path, "x")})
    tap.case("a directory that cannot be made",
             code == 125 and err.count(b"\n") == 1, err)
    p.done()
    p = Place()
    code, _, err = p.limited(1024)
    tap.case("no room for its file", code == 125 and b"too large" in err, err)
    t.same("nothing is left of it", os.listdir(os.path.join(p.path, "bide")),
           [])
    p.done()


def main():
    shared()
    not_shared()
    storm()
    places()
    killed()
    files()
    looked_after()
    damaged()
    refused()
    tap.finish()


main()
