"""What the attacks share: a sidecar that must come up in bounded time, the process
that really serves, its metrics, and crowds of clients."""
import contextlib
import fcntl
import os
import re
import socket
import struct
import threading
import urllib.request

import sidecar
from parts import (CLOSE_WAIT, PATIENCE, Answer, Nginx, Origin,  # noqa: F401
                   Peer, admin, all_gone, ask, connect, end, fields, get, ok,
                   run, says, sockets, until)
from ports import free_port, socket_path  # noqa: F401
from sidecar import BIDE, FAST, OPEN, config, tap, work  # noqa: F401

ADMIN = "  admin: 127.0.0.1:0\n"


class Sidecar(sidecar.Sidecar):
    """One that is killed if it does not say within a while that it listens."""

    def __init__(self, *arguments, **how):
        guard = threading.Timer(PATIENCE, self.give_up)
        guard.start()
        try:
            super().__init__(*arguments, **how)
        except SystemExit as e:
            raise RuntimeError(str(e)) from None
        finally:
            guard.cancel()

    def give_up(self):
        if hasattr(self, "process"):
            self.process.kill()


@contextlib.contextmanager
def attacked(*origins, log=False, popen=None, **how):
    """A sidecar in front of these, with an admin endpoint. At the end it must be
    the process that it was at the start, and end as told."""
    ports = [o if isinstance(o, int) else o.port for o in origins]
    how["more"] = ADMIN + how.get("more", "")
    p = Sidecar(sidecar.config(ports, **how), log=log, **(popen or {}))
    before = serving(p)
    try:
        yield p
        tap.case("it is still the process that was started", until(
            lambda: serving(p) == before and p.process.poll() is None, 1),
            (before, serving(p), "".join(p.said[-40:])))
    finally:
        end(p)
        for o in origins:
            if not isinstance(o, int):
                o.stop()


def children(pid):
    found = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children",
                      encoding="ascii") as f:
                found += [int(child) for child in f.read().split()]
    return found


def serving(p):
    """The processes that serve: the children of a supervisor, else itself."""
    return sorted(children(p.process.pid)) or [p.process.pid]


def metrics(p):
    """Every series and its value."""
    with urllib.request.urlopen(admin(p) + "metrics", timeout=PATIENCE) as r:
        text = r.read().decode()
    return {name: float(value) for name, value in
            re.findall(r"^([a-z_]+(?:\{.*\})?) (\S+)$", text, re.M)}


def series(p, name, *labels):
    """The sum of all series of this name that have these labels."""
    return sum(v for k, v in metrics(p).items() if k.split("{")[0] == name and
               all(label in k for label in labels))


def opened(p):
    """How often a breaker has opened."""
    return series(p, "bide_breaker_transitions_total", 'to="open"')


def named(p, reason):
    """Whether the metrics know this reason, and have counted it."""
    return any(v > 0 for k, v in metrics(p).items() if f'"{reason}"' in k)


def crowd(p, n, data, receive_buffer=None):
    """So many clients, each of which has sent this."""
    found = []
    for _ in range(n):
        peer = Peer(p.connect(receive_buffer))
        peer.send(data)
        found.append(peer)
    return found


def leave(clients):
    for c in clients:
        c.close()


def honest(p, n=10, data=None):
    """The statuses of so many requests that mean no harm."""
    return [ask(p, data or get("/honest")).status for _ in range(n)]


def drip(peer, data, pause=0.05):
    """Sends this again and again until the other side has had enough; what it says
    then, or None if it never has."""
    stop = threading.Event()

    def send():
        while not stop.wait(pause) and peer.send(data):
            pass
    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        peer.socket.settimeout(PATIENCE)
        got = b""
        while piece := peer.socket.recv(65536):
            got += piece
        return got
    except TimeoutError:
        return None
    except ConnectionError:
        return got
    finally:
        stop.set()
        thread.join()


def ended(p):
    """Asks it to end, once; its exit code, or None if it does not."""
    p.process.terminate()
    try:
        return p.process.wait(PATIENCE)
    except Exception:
        p.process.kill()
        p.process.wait()
        return None


def sent(peer):
    """Waits until the other side has read all that this one has sent."""
    return until(lambda: unread(peer.socket) == 0)


def unread(s):
    """Bytes that were sent and are not acknowledged (SIOCOUTQ)."""
    return struct.unpack("i", fcntl.ioctl(s, 0x5411, b"\0\0\0\0"))[0]


def has_ended(s):
    """How a connection ended: "closed", "reset", or "open" so far."""
    try:
        s.setblocking(False)
        return "open" if s.recv(1, socket.MSG_PEEK) else "closed"
    except BlockingIOError:
        return "open"
    except ConnectionError:
        return "reset"
