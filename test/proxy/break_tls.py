#!/usr/bin/env python3
"""break_tls.py BIDE: what TLS changes. A record that OpenSSL has made and could not
send must be sent before anything else, and whole: what is written next has to be
the same bytes."""
import os
import socket
import ssl
import subprocess
import time

import sidecar
from e2e_parts import (Origin, PATIENCE, Peer, get, ok, proxied, run, says, tap)

HERE = sidecar.work.name
TLS = (f"  tls: {{ certificate: {HERE}/cert.pem, key: {HERE}/key.pem }}\n")


def certificate():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=x", "-addext", "subjectAltName=DNS:x.example",
                    "-keyout", "key.pem", "-out", "cert.pem"], check=True,
                   cwd=HERE, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def connect(p, buffer=None):
    s = socket.socket()
    if buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    s.settimeout(PATIENCE)
    s.connect(("127.0.0.1", p.port))
    context = ssl.create_default_context(cafile=os.path.join(HERE, "cert.pem"))
    return Peer(context.wrap_socket(s, server_hostname="x.example"))


def heads(data):
    """The heads that an answer without a body is made of."""
    return data.split(b"\r\n\r\n")


def interims_that_nobody_reads():
    """A client that does not take an interim answer at once does without; but not
    half of it, and not in the place of another."""
    link = b"HTTP/1.1 103 Early Hints\r\nLink: " + b"l" * 3000 + b"\r\n\r\n"
    final = (b"HTTP/1.1 200 OK\r\nX-Final: " + b"f" * 8000 +
             b"\r\nContent-Length: 0\r\n\r\n")

    def talk(origin, peer):
        origin.request(peer)
        for _ in range(3000):
            if not peer.send(link):
                return
        peer.send(final)
        origin.sent = True
        peer.gone()

    o = Origin(talk)
    with proxied(o, more=TLS) as p:
        peer = connect(p, 4096)
        peer.send(get("/", b"Connection: close\r\n"))
        time.sleep(2)
        data = peer.all()
        got = heads(data)
        tap.case("interim answers that a client does not read leave the final one "
                 "as it is", got[-1] == b"" and
                 all(h.startswith(b"HTTP/1.1 103 Early Hints\r\nLink: l") and
                     len(h) == len(link) - 4 for h in got[:-2]) and
                 got[-2].startswith(b"HTTP/1.1 200 OK\r\nX-Final: f"),
                 [(len(h), h[:60]) for h in got
                  if not h.startswith(b"HTTP/1.1 103")])


def handshakes_that_never_end():
    """They cost a connection for timeouts.header, and nobody else anything."""
    o = Origin(says(ok()))
    with proxied(o, more=TLS + "  timeouts: { header: 5s }") as p:
        silent = [p.connect() for _ in range(20)]
        for i, s in enumerate(silent):
            s.sendall((b"", b"\x16", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/1.1",
                       b"\x80\x00" * 100)[i % 5])
        peer = connect(p)
        peer.send(get("/", b"Connection: close\r\n"))
        data = peer.all()
        tap.case("beside handshakes that never end others are served",
                 data.startswith(b"HTTP/1.1 200"), data)
        ends = [sidecar.everything(s) for s in silent]
        tap.case("they end", len(ends) == 20 and
                 all(b"HTTP/" not in e for e in ends), ends)


def much_through_tls():
    """In pieces that fit no record. One thread has the connection: OpenSSL's may not
    be read and written by two at once."""
    n = 5_000_000

    def talk(origin, peer):
        head = peer.head()
        while head:
            body = peer.take(n)
            origin.bodies.append(body)
            peer.send(ok(body))
            head = peer.head()

    o = Origin(talk)
    with proxied(o, more=TLS) as p:
        peer = connect(p)
        body = bytes(range(256)) * (n // 256 + 1)
        body = body[:n]
        peer.send(get("/", b"Content-Length: %d\r\nConnection: close\r\n" % n,
                      b"PUT") + body)
        head = peer.head()
        back = peer.take(n)
        tap.case("5 MB go through TLS and back", o.bodies[0] == body and
                 back == body and head.startswith(b"HTTP/1.1 200"),
                 (head, len(back)))


certificate()
run(interims_that_nobody_reads, handshakes_that_never_end, much_through_tls)
