#!/usr/bin/env python3
"""e2e_upgrade.py BIDE: another program takes the place of the one that serves,
under load, and every request is counted at both ends."""
import os
import shutil
import signal
import urllib.request

import sidecar
from parts import (PATIENCE, Answer, Load, Origin, ask, connect, get, ok,
                   proxied, run, says, stopped, tap, until)
from ports import free_port
from sidecar import FAST

# The program is replaced, so it is a copy.
HOME = os.path.join(sidecar.work.name, "bin")
PROGRAM = os.path.join(HOME, "bide-proxy")
ORIGINAL = os.path.dirname(sidecar.BIDE)
os.mkdir(HOME)
for name in ("bide", "bide-proxy", "bide-tls.so"):
    shutil.copy(os.path.join(ORIGINAL, name), HOME)
sidecar.BIDE = os.path.join(HOME, "bide")


def install(data=None):
    """Puts another program in its place, as a package manager does: by renaming.
    Without data, the right one."""
    if data is None:
        shutil.copy(os.path.join(ORIGINAL, "bide-proxy"), PROGRAM + ".new")
    else:
        with open(PROGRAM + ".new", "wb") as f:
            f.write(data)
        os.chmod(PROGRAM + ".new", 0o755)
    os.rename(PROGRAM + ".new", PROGRAM)


def upgrade(p, words="upgraded:"):
    """Tells it to; what it said then."""
    with p.heard:
        before = len(p.said)
        p.process.send_signal(signal.SIGUSR2)
        p.heard.wait_for(lambda: any(words in x for x in p.said[before:]),
                         timeout=PATIENCE)
        return "".join(p.said[before:])


def one_serves(p):
    return until(lambda: len(p.serving()) == 1)


def under_load():
    o = Origin(says(ok(b"fine")))
    with proxied(o, more="  workers: 2\n") as p:
        pids = {p.pid}
        kept, new = Load(p, 4), Load(p, 4, keep=False)
        for _ in range(5):
            kept.more(50)
            new.more(50)
            install()
            said = upgrade(p)
            pids.add(p.pid)
        kept.more(50)
        new.more(50)
        odd = kept.end() + new.end()
        n = len(kept.results) + len(new.results)
        tap.case("five upgrades under load: not a request fails",
                 "upgraded:" in said and not odd, (said, odd[:5]))
        tap.case("and each reaches the origin once", len(o.heads) == n,
                 (len(o.heads), n))
        tap.case("by six processes, of which one is left", len(pids) == 6 and
                 one_serves(p), pids)


def what_is_being_served():
    def talk(origin, peer):
        while head := origin.request(peer):
            if b"/slow" in head:
                peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsl")
                until(lambda: done)
                peer.send(b"ow")
            else:
                peer.send(ok(b"quick"))
    done = []
    o = Origin(talk)
    with proxied(o) as p:
        c = connect(p)
        c.send(get("/slow"))
        until(lambda: o.heads)
        upgrade(p)
        a = ask(p, get())
        done.append(1)
        tap.case("what is being served is finished by the old process, while the "
                 "new one serves", Answer(c).body == b"slow" and
                 a.body == b"quick")
        c.send(get())
        a = Answer(c)
        tap.case("who is connected to it may ask once more, and is told to go",
                 a.body == b"quick" and a.fields.get("connection") == "close", a)
        tap.case("and then it is gone", one_serves(p))


def state_is_taken_along():
    o = Origin(says(ok(b"no", b"", b"503 X")))
    policy = FAST + ", breaker: { min_calls: 5, open: 5m, open_max: 10m }"
    with proxied(o, policy=policy) as p:
        until(lambda: ask(p, get()).fields.get("x-bide-reason") ==
              "breaker_open")
        before = len(o.heads)
        upgrade(p)
        a = ask(p, get())
        tap.case("a breaker that was open is open in the new process",
                 a.fields.get("x-bide-reason") == "breaker_open" and
                 len(o.heads) == before, a)


def broken():
    with open(os.path.join(ORIGINAL, "bide-proxy"), "rb") as f:
        whole = f.read()
    o = Origin(says(ok(b"old")))
    with proxied(o) as p:
        old = p.pid
        load = Load(p)
        for what, data in [("half a program", whole[:5000]),
                           ("an empty file", b""),
                           ("a program that fails", b"#!/bin/false\n")]:
            install(data)
            said = upgrade(p, "the old process continues")
            load.more(20)
            tap.case(f"{what} is no upgrade: the old process goes on",
                     "the old process continues" in said and p.pid == old, said)
        os.unlink(PROGRAM)
        said = upgrade(p, "the old process continues")
        tap.case("nor is one that is not there",
                 "No such file" in said and p.pid == old, said)
        os.kill(old, signal.SIGKILL)
        until(lambda: p.serving() and p.pid != old)
        load.more(20)
        odd = [r for r in load.end() if isinstance(r[0], ConnectionRefusedError)]
        tap.case("a crash starts the program that served, which is on no disk",
                 not odd and ask(p, get()).body == b"old", (odd[:5], p.said))
        install()
        text = p.text
        p.write("proxy: [")
        said = upgrade(p, "the old process continues")
        tap.case("a file with a mistake is no upgrade either",
                 ": error: " in said and "code 2" in said and
                 ask(p, get()).body == b"old", said)
        p.write(text)
        tap.case("and the right one is", "upgraded:" in upgrade(p) and
                 one_serves(p) and ask(p, get()).body == b"old")


def regress_good_then_broken():
    """The process before has left its seat, and the sockets that it opened are still
    the supervisor's, whatever becomes of who sits there next."""
    o = Origin(says(ok(b"fine")))
    with proxied(o) as p:
        upgrade(p)
        one_serves(p)
        text = p.text
        p.write("proxy: [")
        upgrade(p, "the old process continues")
        os.kill(p.pid, signal.SIGSTOP)      # it accepts nobody ...
        until(lambda: stopped(p))
        c = connect(p)
        c.send(get())
        old = p.pid
        os.kill(old, signal.SIGKILL)        # ... and never will
        tap.case("after a good upgrade and a broken one, a connection that waits "
                 "survives the serving process", Answer(c).body == b"fine", p.said)
        p.write(text)
        said = upgrade(p)
        tap.case("and the next good one finds its sockets", "upgraded:" in said and
                 ask(p, get()).body == b"fine", said)


def alone():
    """Without a supervisor there is nobody to start another process."""
    o = Origin(says(ok(b"fine")))
    with proxied(o, more="  supervise: false\n") as p:
        said = upgrade(p, "no upgrade")
        tap.case("without a supervisor, it says so and serves on",
                 "supervise" in said and ask(p, get()).body == b"fine", said)


def other_configuration():
    """What a reload cannot change, an upgrade can."""
    o, other = Origin(says(ok(b"one"))), Origin(says(ok(b"two")))
    admin, port = free_port(), free_port()
    with proxied(o, more="  workers: 2\n") as p:
        load = Load(p, 4, keep=False)
        load.more(30)
        p.write(p.text.replace(str(o.port), str(other.port)).replace(
            "workers: 2", f"workers: 3\n  admin: 127.0.0.1:{admin}").replace(
                "listen: 127.0.0.1:0", f"listen: [127.0.0.1:0, 127.0.0.1:{port}]"))
        said = upgrade(p)
        load.more(30)
        odd = load.end()
        with urllib.request.urlopen(f"http://127.0.0.1:{admin}/healthz",
                                    timeout=PATIENCE) as r:
            healthy = r.status
        tap.case("an upgrade takes another configuration, under load",
                 not odd and healthy == 200 and ask(p, get()).body == b"two" and
                 until(lambda: f"listening on 127.0.0.1:{port}" in
                       "".join(p.said)), (odd[:5], said))
        p.port = port
        tap.case("at another address, too", ask(p, get()).body == b"two")
        upgrade(p)
        with urllib.request.urlopen(f"http://127.0.0.1:{admin}/healthz",
                                    timeout=PATIENCE) as r:
            tap.case("the admin endpoint goes along", r.status == 200)
    other.stop()


run(under_load, what_is_being_served, state_is_taken_along, broken,
    regress_good_then_broken, alone,
    other_configuration)
