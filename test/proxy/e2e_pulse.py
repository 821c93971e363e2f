#!/usr/bin/env python3
"""e2e_pulse.py BIDE: a worker that is stuck is noticed, by whoever asks for health
and by systemd's watchdog; one that is idle is not taken for it."""
import os
import socket
import urllib.error
import urllib.request

import sidecar
from parts import PATIENCE, Origin, ask, get, ok, proxied, run, says, tap, until
from ports import free_port, socket_path

HOLD = os.environ["BIDE_HOLD_WORKER"]
# A sanitizer's library must come first.
PRELOAD = ":".join(x for x in (os.environ.get("LD_PRELOAD"), HOLD) if x)


def health(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz",
                                    timeout=PATIENCE) as r:
            return r.status, r.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def stuck(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as r:
        return b"\nbide_proxy_stuck_workers 1\n" in r.read()


class Held:
    """One worker is held, from the moment that the file is there."""

    def __init__(self, name):
        self.file = os.path.join(sidecar.work.name, name)
        self.environment = {"BIDE_TEST_HOLD": self.file, "LD_PRELOAD": PRELOAD}

    def begin(self):
        with open(self.file, "w", encoding="ascii"):
            pass

    def held(self):
        return os.path.exists(self.file + ".held")

    def end(self):
        os.unlink(self.file)
        return until(lambda: not self.held())


def healthz():
    o, admin, h = Origin(says(ok())), free_port(), Held("hold")
    with proxied(o, more=f"  workers: 2\n  admin: 127.0.0.1:{admin}\n",
                 popen={"environment": h.environment}) as p:
        ask(p, get())
        tap.case("two workers are well", health(admin) == (200, "ok\n"))
        h.begin()
        # Idle workers are woken, to see whether they are there.
        tap.case("a worker can be held", until(h.held))
        tap.case("one that makes no progress is named, with 503", until(
            lambda: health(admin)[0] == 503) and "worker" in health(admin)[1] and
            "(1 of 2)" in health(admin)[1], health(admin))
        tap.case("and counted", stuck(admin))
        tap.case("and said", until(lambda: any("is stuck" in x for x in p.said)))
        tap.case("it goes on", h.end())
        tap.case("and is well again", until(lambda: health(admin) ==
                                            (200, "ok\n")))


def watchdog():
    o, h = Origin(says(ok())), Held("watchdog")
    path = socket_path("watchdog")
    notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notices.bind(path)

    def fed(seconds):
        """Whether systemd hears that all is well, in this time."""
        notices.settimeout(seconds)
        try:
            while notices.recv(999) != b"WATCHDOG=1":
                pass
            return True
        except TimeoutError:
            return False

    with proxied(o, more="  workers: 2\n", popen={"environment": dict(
            h.environment, NOTIFY_SOCKET=path, WATCHDOG_USEC="1000000")}) as p:
        ask(p, get())
        tap.case("idle workers feed the watchdog", all(fed(PATIENCE)
                                                       for _ in range(5)))
        h.begin()
        until(h.held)
        tap.case("one that is stuck starves it", until(lambda: not fed(2)))
        h.end()
        tap.case("and feeds it when it goes on", fed(PATIENCE))
    notices.close()


run(healthz, watchdog)
