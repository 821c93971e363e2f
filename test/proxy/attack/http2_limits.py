#!/usr/bin/env python3
"""http2_limits.py BIDE: every limit of `proxy.http2`, reached and just not reached, by a
client that sends raw frames to the sidecar. The clock stands still, so that no bucket fills
again and no second passes unless a row says so."""
import contextlib

import h2raw
from attack import Origin, attacked, ok, run, tap, until
from clock import Clock
from h2raw import field, frame, request

GET, WAIT, PUT = request(b"GET", b"/"), request(b"GET", b"/wait"), request(b"PUT", b"/wait")
CANCEL = b"\0\0\0\x08"
KIB, MIB = 1 << 10, 1 << 20


def talk(origin, peer):
    while head := peer.head():
        origin.heads.append(head)
        if b" /wait" in head.split(b"\r\n")[0]:
            peer.head()  # never
            return
        if not peer.send(ok()):
            return


def odd(n):
    return range(1, 2 * n, 2)


def came_of(raw, data):
    """What is said of it, in a word."""
    for at in range(0, len(data), 8000):
        if not raw.send(data[at:at + 8000]):
            break
    seen = [f for f in raw.ping() if f[0] in ("GOAWAY", "RST_STREAM")]
    return h2raw.outcome(sorted(seen))  # the end of the connection says more


def heads(n):
    """A GET with so many fields in all; four are pseudo-fields, of which :authority
    counts."""
    return frame(1, 1, 5, GET + b"".join(
        field(b"x-%d" % i, b"v") for i in range(n - 1)))


def continued(n, data):
    return frame(1, 1, 1, GET) + b"".join(
        frame(9, 1, 4 if i == n - 1 else 0, data) for i in range(n))


def cancelled(n):
    return b"".join(frame(1, i, 5, WAIT) + frame(3, i, 0, CANCEL) for i in odd(n))


def provoked(n, first=1):
    """Each is reset by us: a field with a capital letter."""
    return b"".join(frame(1, i, 5, GET + field(b"A", b"b"))
                    for i in range(first, first + 2 * n, 2))


CALM = "goaway ENHANCE_YOUR_CALM"
RESETS = "  http2: { resets: 50, streams: 200 }\n"

# What; the configuration; bytes just within the limit; bytes over it; what is said then.
ROWS = [
    ("streams", "", b"".join(frame(1, i, 5, WAIT) for i in odd(100)),
     b"".join(frame(1, i, 5, WAIT) for i in odd(101)), "reset 201 REFUSED_STREAM"),
    ("CONTINUATION frames", "", continued(8, field(b"a", b"b")),
     continued(9, field(b"a", b"b")), CALM),
    ("... that are empty", "", continued(8, b""), continued(9, b""), CALM),
    ("resets by the client", RESETS, cancelled(50), cancelled(51), CALM),
    ("resets that a client provokes", "", None, provoked(101), CALM),
    ("PING", "", frame(6, 0, 0, bytes(8)) * 990, frame(6, 0, 0, bytes(8)) * 1001, CALM),
    ("SETTINGS", "", frame(4, 0, 0, b"\0\3\0\0\0\1") * 990,
     frame(4, 0, 0, b"\0\3\0\0\0\1") * 1001, CALM),
    ("PRIORITY", "", frame(2, 1, 0, bytes(5)) * 990, frame(2, 1, 0, bytes(5)) * 1010,
     CALM),
    ("empty DATA", "", frame(1, 1, 4, PUT) + frame(0, 1, 0) * 990,
     frame(1, 1, 4, PUT) + frame(0, 1, 0) * 1010, CALM),
    ("DATA that is padding", "", frame(1, 1, 4, PUT) + frame(0, 1, 8, b"\0") * 990,
     frame(1, 1, 4, PUT) + frame(0, 1, 8, b"\0") * 1010, CALM),
    ("WINDOW_UPDATE that opens nothing", "", frame(8, 0, 0, b"\0\0\0\1") * 990,
     frame(8, 0, 0, b"\0\0\0\1") * 1010, CALM),
]


def rows():
    for name, more, just, over, expected in ROWS:
        clock = Clock()
        with attacked(Origin(talk), more=more, popen=clock.popen) as p:
            if just is not None:
                raw = h2raw.Raw(p.port)
                came = came_of(raw, just)
                tap.case(f"{name}: just not", came == "fine", came)
                raw.close()
            raw = h2raw.Raw(p.port)
            came = came_of(raw, over)
            tap.case(f"{name}: {expected}", came == expected, came)
            raw.close()
        clock.close()


def provoked_just_not():
    """A hundred a minute: each is reset, and the connection goes on; a minute later there
    are more."""
    clock = Clock()
    with attacked(Origin(talk), popen=clock.popen) as p:
        raw = h2raw.Raw(p.port)
        raw.send(provoked(100))
        seen = raw.ping()
        tap.case("100 resets that a client provokes: just not",
                 sum(f[0] == "RST_STREAM" for f in seen) == 100 and
                 seen[-1][0] == "PING", [f[0] for f in seen][-3:])
        clock.move(60)
        raw.send(provoked(100, 201))
        seen = raw.ping()
        tap.case("... and a hundred more in the next minute", seen[-1][0] == "PING",
                 [f[0] for f in seen][-3:])
        raw.close()
    clock.close()


def head_limits():
    """By what it is answered: 431 leaves the connection as it was."""
    with attacked(Origin(talk)) as p:
        for name, just, over in (
                ("100 fields", heads(100), heads(101)),
                ("16 KiB of them",
                 frame(1, 1, 5, GET + field(b"x", b"v" * 16000)),
                 frame(1, 1, 1, GET + field(b"x", b"v" * 16000)) +
                 frame(9, 1, 4, field(b"y", b"v" * 400)))):
            for data, expected in ((just, 200), (over, 431)):
                raw = h2raw.Raw(p.port)
                raw.send(data)
                seen = raw.until(lambda f: f[0] in ("GOAWAY", "HEADERS", "RST_STREAM"))
                got = h2raw.status(seen[-1][3]) if seen[-1][0] == "HEADERS" else seen[-1]
                tap.case(f"{name}: {expected}", got == expected, got)
                tap.case("... and the connection goes on", raw.get(3) == (200, b"ok"))
                raw.close()
        for n, size, expected in ((100, 10, 200), (101, 10, 431), (1, 16000, 200),
                                  (1, 17000, 431)):
            raw = h2raw.Raw(p.port)
            block = b"".join(field(b"x-%d" % i, b"v" * size) for i in range(n))
            raw.send(frame(1, 1, 4, request(b"POST", b"/")) + frame(0, 1, 0, b"body") +
                     frame(1, 1, 1, block[:16384]) + frame(9, 1, 4, block[16384:]))
            seen = raw.until(lambda f: f[0] in ("GOAWAY", "HEADERS", "RST_STREAM"))
            got = h2raw.status(seen[-1][3]) if seen[-1][0] == "HEADERS" else seen[-1]
            tap.case(f"trailers of {n} fields, {size} bytes each: {expected}",
                     got == expected, got)
            tap.case("... and the connection goes on", raw.get(3) == (200, b"ok"))
            raw.close()


# ===== windows =====

class Sender:
    """Knows how much it may send: of the connection, and of each stream."""

    def __init__(self, p, window):
        self.raw = h2raw.Raw(p.port)
        self.window, self.all, self.of, self.seen = window, 65535, {}, []
        self.settle()

    def settle(self):
        """Takes what has come, until nothing more does."""
        quiet = 0
        while quiet < 5:
            seen = self.raw.ping(b"settle%02d" % (quiet % 100))
            self.seen += seen
            quiet += 1
            for kind, _, stream, data in seen:
                if kind != "WINDOW_UPDATE":
                    continue
                quiet, n = 0, int.from_bytes(data, "big")
                if stream:
                    self.of[stream] += n
                else:
                    self.all += n

    def open(self, stream):
        self.raw.send(frame(1, stream, 4, PUT))
        self.of[stream] = self.window

    def fill(self, stream):
        """As much as its window and the connection's allow; whether that is all of the
        connection's."""
        while self.of[stream] and self.all:
            n = min(self.of[stream], self.all, 16384)
            self.raw.send(frame(0, stream, 0, bytes(n)))
            self.of[stream] -= n
            self.all -= n
            if self.of[stream] == 0 or self.all == 0:
                self.settle()
        return self.all == 0

    def ends(self):
        return h2raw.outcome(f for f in self.seen if f[0] in ("GOAWAY", "RST_STREAM"))

    def one_more(self, stream):
        self.raw.send(frame(0, stream, 0, b"x"))
        return h2raw.outcome(f for f in self.raw.ping()
                             if f[0] in ("GOAWAY", "RST_STREAM"))


# The first request has the only place; the others wait for it, and their bodies are read up
# to limits.replay.
HELD = ("attempts: 1, attempt_timeout: 1h, limits: { in_flight: 1, queue: 100 }, "
        "when_refused: wait")
SLOW = "  timeouts: { body: 1h }\n"


def window():
    clock = Clock()
    with attacked(o := Origin(talk), policy=HELD, more=SLOW, popen=clock.popen) as p:
        s = Sender(p, 64 * KIB)
        s.raw.send(frame(1, 1, 5, WAIT))
        until(lambda: o.heads)
        s.open(3)
        s.fill(3)
        tap.case("a stream's window, to the last byte: just not", s.of[3] == 0 and
                 s.ends() == "fine", (s.of, s.ends()))
        s.open(5)
        s.fill(5)
        tap.case("... and another's, since each has its own", s.of[5] == 0 and
                 s.ends() == "fine", (s.of, s.ends()))
        came = s.one_more(3)
        tap.case("a byte more: FLOW_CONTROL_ERROR of the stream",
                 came == "reset 3 FLOW_CONTROL_ERROR", came)
        tap.case("... and the connection goes on", s.raw.ping()[-1][0] == "PING")
        s.raw.close()
    clock.close()


def connection_window():
    """It opens again as data comes, as long as the connection's memory allows: so it is
    reached by streams that nobody reads, with windows of a MiB each."""
    clock = Clock()
    with attacked(o := Origin(talk), policy=HELD, more=SLOW + "  http2: { window: 1MiB }\n",
                  popen=clock.popen) as p:
        s = Sender(p, MIB)
        s.raw.send(frame(1, 1, 5, WAIT))
        until(lambda: o.heads)
        stream = 1
        while s.all > 0 and stream < 41:
            stream += 2
            s.open(stream)
            s.fill(stream)
        held = sum(MIB - n for n in s.of.values())
        tap.case("the connection's window, to the last byte: just not", s.all == 0 and
                 s.ends() == "fine" and held <= 8 * MIB, (s.all, s.ends(), held))
        print(f"# {(stream - 1) // 2} streams")
        came = s.one_more(stream)
        tap.case("a byte more: FLOW_CONTROL_ERROR of the connection",
                 came == "goaway FLOW_CONTROL_ERROR", came)
        s.raw.close()
    clock.close()


# ===== time =====

def settings_in_time():
    clock = Clock()
    with attacked(Origin(talk), more="  timeouts: { header: 1h, idle: 1h }\n",
                  popen=clock.popen) as p:
        raw = h2raw.Raw(p.port, greet=False)
        raw.send(h2raw.PREFACE + frame(4, 0, 0))
        tap.case("SETTINGS that are not acknowledged", raw.ping()[-1][0] == "PING")
        clock.move(9.9)
        tap.case("... for 9.9 seconds: just not", raw.get(1) == (200, b"ok"))
        clock.move(0.2)
        came = h2raw.outcome(raw.until(lambda f: f[0] == "GOAWAY"))
        tap.case("... for ten: SETTINGS_TIMEOUT", came == "goaway SETTINGS_TIMEOUT", came)
        raw.close()
        raw = h2raw.Raw(p.port, greet=False)
        raw.send(h2raw.PREFACE + frame(4, 0, 0))
        raw.ping()
        clock.move(9.9)
        raw.send(frame(4, 0, 1))
        raw.ping()
        clock.move(1000)
        tap.case("SETTINGS that are acknowledged in time are", raw.get(1) == (200, b"ok"))
        raw.close()


def head_in_time():
    """From its first frame to its last, also beside a request that is under way."""
    clock = Clock()
    with attacked(o := Origin(talk), policy="attempts: 1, attempt_timeout: 1h",
                  popen=clock.popen) as p:
        raw = h2raw.Raw(p.port)
        raw.send(frame(1, 1, 5, WAIT))
        until(lambda: o.heads)
        raw.ping()
        raw.send(frame(1, 3, 1, GET[:20]))
        clock.move(9.9)
        raw.send(frame(9, 3, 4, GET[20:]))
        seen = raw.until(lambda f: f[2] == 3 and f[1] & 1 or f[0] == "GOAWAY")
        tap.case("a head that ends within timeouts.header: just not",
                 seen[-1][0] == "DATA", seen)
        raw.send(frame(1, 5, 1, GET[:20]))
        raw.socket.settimeout(0.5)
        seen = []

        def ended():
            clock.move(10.1)  # it may not have been read before
            with contextlib.suppress(TimeoutError):
                seen.append(raw.next())
            return seen and (seen[-1] is None or seen[-1][0] == "GOAWAY")
        until(ended)
        came = h2raw.outcome(f for f in seen if f and f[0] == "GOAWAY")
        tap.case(f"... that does not: {CALM}", came == CALM, seen)
        raw.close()
    clock.close()


def preface_in_time():
    """Its first words make it HTTP/2; SETTINGS are part of it (RFC 9113, 3.4)."""
    clock = Clock()
    with attacked(Origin(talk), popen=clock.popen) as p:
        for name, sent in (("a preface without SETTINGS", h2raw.PREFACE),
                           ("half of them", h2raw.PREFACE + frame(4, 0, 0, b"x" * 6)[:7])):
            raw = h2raw.Raw(p.port, greet=False)
            raw.send(sent)
            raw.until(lambda f: f[0] == "SETTINGS")
            clock.move(9.9)
            other = h2raw.Raw(p.port)
            tap.case(f"{name}, others meanwhile", other.get(1) == (200, b"ok"))
            other.close()
            raw.socket.settimeout(0.2)
            try:
                came = raw.next()
            except TimeoutError:
                came = "nothing"
            tap.case(f"{name} for 9.9 seconds: just not", came == "nothing" or
                     came[0] != "GOAWAY", came)
            raw.socket.settimeout(30)
            clock.move(0.2)
            came = h2raw.outcome(raw.until(lambda f: f[0] == "GOAWAY"))
            tap.case(f"{name} for ten: SETTINGS_TIMEOUT",
                     came == "goaway SETTINGS_TIMEOUT", came)
            tap.case("... and it is closed", raw.next() is None)
            raw.close()
        raw = h2raw.Raw(p.port, greet=False)
        raw.send(h2raw.PREFACE[:10])
        raw.socket.settimeout(0.5)

        def closed():
            clock.move(10.1)  # it may not have been read before
            try:
                return raw.socket.recv(4096)[:9] in (b"", b"HTTP/1.1 ")
            except TimeoutError:
                return False
        tap.case("half of its first words for ten seconds: closed", until(closed))
        raw.close()
    clock.close()


run(rows, provoked_just_not, head_limits, window, connection_window, settings_in_time,
    preface_in_time, head_in_time)
