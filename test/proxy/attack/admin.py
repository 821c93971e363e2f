#!/usr/bin/env python3
"""admin.py BIDE: whatever clients without a token do to the admin endpoint, it
answers /healthz and /metrics."""
import socket
import urllib.parse

from attack import (PATIENCE, Origin, Peer, admin, ask, attacked, get, leave,
                    ok, run, says, tap)


def flood(p, n, data, read_nothing=True):
    """So many clients of the admin endpoint who have asked this and do not read."""
    where = urllib.parse.urlsplit(admin(p))
    clients = []
    for _ in range(n):
        s = socket.socket()
        s.settimeout(PATIENCE)
        if read_nothing:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        try:
            s.connect((where.hostname, where.port))
        except OSError:
            continue
        s.setblocking(False)
        try:
            s.send(data)
        except OSError:
            pass
        clients.append(Peer(s))
        s.setblocking(False)
    return clients


def asked(p, path):
    """What one who behaves is told."""
    where = urllib.parse.urlsplit(admin(p))
    try:
        s = socket.create_connection((where.hostname, where.port), PATIENCE)
        s.sendall(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\n"
                  b"Connection: close\r\n\r\n")
        got = b""
        while piece := s.recv(65536):
            got += piece
        s.close()
        return got
    except OSError as e:
        return repr(e).encode()


def asking(path):
    return b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"


ATTACKS = {
    "64 that ask for the stream and do not read": (64, asking("/api/stream")),
    "300 that ask for the stream and do not read": (300, asking("/api/stream")),
    "300 that ask for all there is, again and again": (
        300, asking("/api/state") * 50 + asking("/metrics") * 50),
    "300 that ask for the dashboard and do not read": (300, asking("/") * 20),
    "300 that ask for metrics and do not read": (300, asking("/metrics") * 50),
    "300 that ask for health and do not read": (300, asking("/healthz") * 300),
    "300 that say nothing": (300, b""),
    "300 that say half of it": (300, b"GET /metrics HTTP/1.1\r\nHos"),
    "300 that announce a body": (300, b"POST /api/drain HTTP/1.1\r\n"
                                 b"Host: localhost\r\n"
                                 b"Content-Length: 100000\r\n\r\nx"),
    "300 that talk nonsense": (300, b"\x16\x03\x01" * 3000),
}


def floods():
    o = Origin(says(ok()))
    with attacked(o) as p:
        for what, (n, data) in ATTACKS.items():
            clients = flood(p, n, data)
            got = [asked(p, "/healthz") for _ in range(3)]
            tap.case(f"{what}: /healthz answers", all(
                g.startswith(b"HTTP/1.1 200") for g in got),
                [g[:100] for g in got])
            got = [asked(p, "/metrics") for _ in range(3)]
            tap.case(f"{what}: /metrics answers", all(
                g.startswith(b"HTTP/1.1 200") and b"bide_calls_total" in g
                for g in got), [g[:100] for g in got])
            tap.case(f"{what}: requests are served", ask(p, get()).status == 200)
            leave(clients)


def all_at_once():
    o = Origin(says(ok()))
    with attacked(o) as p:
        clients = []
        for n, data in ATTACKS.values():
            clients += flood(p, 64, data)
        got = [asked(p, path)[:12] for path in ("/healthz", "/metrics") * 3]
        tap.case("all of them at once: it answers", set(got) ==
                 {b"HTTP/1.1 200"}, got)
        leave(clients)
        tap.case("afterwards all else, too", all(
            asked(p, path).startswith(b"HTTP/1.1 200")
            for path in ("/", "/api/state", "/api/history", "/readyz")))


run(floods, all_at_once)
