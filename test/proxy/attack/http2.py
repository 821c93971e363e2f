#!/usr/bin/env python3
"""http2.py BIDE: what is done to servers of HTTP/2, done to the sidecar: streams reset as
fast as they are opened, resets that it is made to send itself, heads without end, heads
that unpack into far more, windows that never open or open too far, requests that mean
something else in HTTP/1.1. It serves others meanwhile, holds no more memory than its
limits allow, and no endpoint sees what is malformed."""
import os
import random
import socket
import threading

import h2raw
import http2_peer
from attack import BIDE, Origin, attacked, ok, run, serving, tap, until
from h2raw import field, frame, request

HEAD = request(b"GET", b"/")
WAIT = request(b"GET", b"/wait")
CANCEL = b"\0\0\0\x08"
MIB = 1 << 20
BIG = ok(b"x" * MIB)


def talk(origin, peer):
    while head := origin.request(peer):
        first = head.split(b"\r\n")[0]
        if b" /wait" in first:
            peer.head()
            return
        if not peer.send(BIG if b" /big" in first else ok()):
            return


def resident(p):
    pages = 0
    for pid in serving(p):
        with open(f"/proc/{pid}/statm", encoding="ascii") as f:
            pages += int(f.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def sanitized():
    """Sanitizers have their own ways with memory."""
    with open(BIDE + "-proxy", "rb") as f:
        data = f.read()
    return b"__asan_" in data or b"__tsan_" in data


def serves(p, what):
    """Somebody else is served, over either version."""
    c = http2_peer.Client(p.port)
    s = c.get("GET", "/")
    c.close()
    tap.case(f"{what}: others are served", (s.status, s.body) == (200, b"ok") and
             p.request()[0] == 200, repr(s))


def ends(p, name, data, expected):
    """Bytes after the greeting; how the connection ends, or that it goes on."""
    raw = h2raw.Raw(p.port)
    for at in range(0, len(data), 4000):
        if not raw.send(data[at:at + 4000]):
            break
    came = [f for f in raw.ping() if f[0] == "GOAWAY"]
    code = h2raw.CODES[int.from_bytes(came[0][3][4:8], "big")] if came else "fine"
    tap.case(f"{name}: {expected}", code == expected, code)
    raw.close()
    serves(p, name)


# ===== floods =====

def floods():
    with attacked(Origin(talk)) as p:
        odd = range(1, 6001, 2)
        ends(p, "streams reset at once (CVE-2023-44487)", b"".join(
            frame(1, i, 5, WAIT) + frame(3, i, 0, CANCEL) for i in odd),
            "ENHANCE_YOUR_CALM")
        # CVE-2025-8671: each is reset by us, for another reason.
        bad = [lambda i: frame(1, i, 5, WAIT) + frame(8, i, 0, bytes(4)),
               lambda i: frame(1, i, 5, WAIT) + frame(0, i, 1, b"x"),
               lambda i: frame(1, i, 4, request(b"PUT", b"/wait") +
                               field(b"content-length", b"1")) +
               frame(0, i, 1, b"xx"),
               lambda i: frame(1, i, 5, WAIT) + frame(8, i, 0, b"\x7f\xff\xff\xff"),
               lambda i: frame(1, i, 5, WAIT) + frame(2, i, 0, bytes(4))]
        ends(p, "resets that it is made to send (CVE-2025-8671)", b"".join(
            bad[i // 2 % len(bad)](i) for i in range(1, 601, 2)), "ENHANCE_YOUR_CALM")
        ends(p, "a head without end", frame(1, 1, 1, HEAD) + b"".join(
            frame(9, 1, 0, field(b"a", b"b" * 100)) for _ in range(1000)),
            "ENHANCE_YOUR_CALM")
        ends(p, "a head of empty frames", frame(1, 1, 1, b"") +
             frame(9, 1, 0) * 1000, "ENHANCE_YOUR_CALM")
        ends(p, "SETTINGS", frame(4, 0, 0, b"\0\3\0\0\0\1") * 3000,
             "ENHANCE_YOUR_CALM")
        ends(p, "empty DATA", frame(1, 1, 4, request(b"PUT", b"/wait")) +
             frame(0, 1, 0) * 3000, "ENHANCE_YOUR_CALM")
        ends(p, "WINDOW_UPDATE by one", frame(8, 0, 0, b"\0\0\0\1") * 3000,
             "ENHANCE_YOUR_CALM")
        ends(p, "a window of all there is", frame(8, 0, 0, b"\x7f\xff\xff\xff"),
             "FLOW_CONTROL_ERROR")


# ===== memory =====

def bombs():
    """A field of 4 kB that is said once and meant a thousand times."""
    with attacked(Origin(talk)) as p:
        serves(p, "before")
        before = resident(p)
        insert = b"\x40" + h2raw.number(1, 7) + b"a" + h2raw.number(4000, 7) + b"x" * 4000
        held = []
        for _ in range(20):
            raw = h2raw.Raw(p.port)
            raw.send(frame(1, 1, 5, HEAD + insert))
            for i in range(3, 101, 2):
                raw.send(frame(1, i, 5, HEAD + b"\xbe" * 16000))
            held.append(raw)
        for raw in held:
            raw.ping()
        grown = resident(p) - before
        tap.case("20 connections with heads that unpack to 64 MB each: less than 64 MiB",
                 grown < 64 * MIB or sanitized(), grown)
        serves(p, "bombs")
        for raw in held:
            raw.close()


def unread():
    """Answers of a MiB, a hundred at once on each of four connections, whose windows are
    open and which nobody reads."""
    with attacked(Origin(talk)) as p:
        serves(p, "before")
        before = resident(p)
        held = []
        for _ in range(4):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.connect(("127.0.0.1", p.port))
            s.sendall(h2raw.PREFACE + frame(4, 0, 0, b"\0\4\x7f\xff\xff\xff") +
                      frame(4, 0, 1) + frame(8, 0, 0, b"\x7f\xff\0\0") +
                      b"".join(frame(1, i, 5, request(b"GET", b"/big"))
                               for i in range(1, 201, 2)))
            held.append(s)
        serves(p, "answers that nobody reads")
        until(lambda: False, 2)
        grown = resident(p) - before
        tap.case("400 answers that nobody reads: no more than 8 MiB for a connection",
                 grown < 4 * 8 * MIB or sanitized(), grown)
        for s in held:
            s.close()
        serves(p, "after them")


# ===== requests that are two =====

SMUGGLED = [
    [(b"x", b"y\r\nGET /evil HTTP/1.1")], [(b"x\r\ny", b"z")], [(b"x: y", b"z")],
    [(b"transfer-encoding", b"chunked")], [(b"connection", b"x")],
    [(b"content-length", b"0"), (b"content-length", b"5")],
    [(b"content-length", b"+0")], [(b"content-length", b"0x0")],
    [(b"content-length", b"")], [(b"host", b"evil")], [(b"x", b"a\0b")],
    [(b"X", b"y")], [(b"", b"y")], [(b"x", b" y")], [(b"te", b"gzip")],
    [(b"upgrade", b"h2c")], [(b":path", b"/evil")], [(b"x y", b"z")],
]
PATHS = [b"/evil HTTP/1.1\r\nx: y", b"/a b", b"/a\tb", b"", b"evil", b"/a\0b", b"/\r\n",
         b"http://evil/"]
METHODS = [b"GET /evil HTTP/1.1\r\n\r\nGET", b"G T", b"", b"GET\r\n", b"G:T"]
AUTHORITIES = [b"a\r\nx: y", b"a b", b"user@evil", b"a/evil"]


def smuggling():
    with attacked(o := Origin(talk)) as p:
        heads = [HEAD + b"".join(field(*f) for f in fields) for fields in SMUGGLED]
        heads += [request(b"GET", path) for path in PATHS]
        heads += [request(m, b"/") for m in METHODS]
        heads += [field(b":method", b"GET") + field(b":scheme", b"http") +
                  field(b":path", b"/") + field(b":authority", a) for a in AUTHORITIES]
        for n, head in enumerate(heads):
            raw = h2raw.Raw(p.port)
            raw.send(frame(1, 1, 5, head))
            came = h2raw.outcome(raw.ping())
            tap.case(f"malformed request {n}", came == "reset 1 PROTOCOL_ERROR",
                     f"{came} {head!r}")
            tap.case(f"malformed request {n}: the next is served",
                     raw.get(3) == (200, b"ok"))
            raw.close()
        tap.case("no endpoint has seen any of it", len(o.heads) == len(heads) and
                 not any(b"evil" in h for h in o.heads), [h for h in o.heads
                                                          if b"evil" in h][:3])


# ===== noise =====

def noise():
    """Frames of any kind, most of them nearly right, by eight at once."""
    with attacked(Origin(talk)) as p:
        def one(seed):
            rng = random.Random(seed)
            for _ in range(60):
                raw = h2raw.Raw(p.port)
                out = b""
                for _ in range(rng.randrange(1, 60)):
                    kind = rng.choice((0, 0, 1, 1, 1, 2, 3, 4, 6, 7, 8, 9, 10))
                    stream = rng.choice((0, 1, 1, 3, 5, rng.randrange(0, 200)))
                    body = rng.choice((
                        b"", HEAD, WAIT, request(b"PUT", b"/wait"), bytes(4), bytes(5),
                        bytes(8), rng.randbytes(rng.randrange(0, 40)),
                        HEAD + field(b"content-length", b"3"), b"\0\4\0\0\0\0",
                        b"\0\1\0\0\0\0", rng.randbytes(20000)[:rng.randrange(17000)]))
                    out += frame(kind, stream, rng.choice((0, 1, 4, 5, 8, 32, 255)),
                                 body)
                raw.send(out)
                if rng.random() < 0.5:
                    raw.socket.settimeout(0.05)
                    try:
                        raw.ping()
                    except OSError:
                        pass
                raw.close()
        threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        serves(p, "noise")


run(floods, bombs, unread, smuggling, noise)
